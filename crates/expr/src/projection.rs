//! Which paths a program can touch.

use crate::{
    cel,
    json::FEW,
    program::{Expr, Filter, Program, Root, Slot, Step, StepKind},
};

/// How many steps a program is followed. `.*` and unions branch, so that the
/// branches of a short text may be more than memory holds; where the steps run
/// out, everything below is read.
const MOST_STEPS: usize = 4_000;

/// A set of paths; everything at and below its leaves is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    pub(crate) whole: bool,
    /// In ascending order of the names. They are looked up for every field of
    /// every object, and a list is quicker for that than a tree.
    pub(crate) fields: Vec<(Box<str>, Projection)>,
    /// What is read of every field that is not named.
    pub(crate) other_fields: Option<Box<Projection>>,
    /// What is read of every element of a list.
    pub(crate) items: Option<Box<Projection>>,
    /// What is left out although the whole is read.
    pub(crate) gaps: Option<Gaps>,
}

/// Fields that are left out, or that have such fields; one without any is left
/// out itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gaps(Vec<(Box<str>, Gaps)>);

impl Gaps {
    /// What is left out at or below a field.
    pub(crate) fn named(&self, name: &[u8]) -> Option<&Self> {
        self.0.iter().find(|(field, _)| field.as_bytes() == name).map(|(_, gaps)| gaps)
    }

    /// Whether all of it is left out.
    pub(crate) fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, way: &[&str]) {
        let Some((first, rest)) = way.split_first() else { return };
        match self.0.iter_mut().find(|(field, _)| field.as_ref() == *first) {
            // It is left out already.
            Some((_, gaps)) if gaps.is_whole() => {}
            Some((_, gaps)) if rest.is_empty() => gaps.0.clear(),
            Some((_, gaps)) => gaps.add(rest),
            None => {
                let mut gaps = Self::default();
                gaps.add(rest);
                self.0.push(((*first).into(), gaps));
            }
        }
    }
}

/// A step on the way to what an expression touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Field(Box<str>),
    /// The elements of a list.
    Items,
    /// The elements of a list, or the values of a map.
    Any,
}

/// What is read at the end of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    Whole,
    /// The keys of a map, or the length of a list.
    Keys,
    /// Whether there is something, and of which kind.
    Shallow,
}

impl Projection {
    /// Everything.
    pub fn everything() -> Self {
        Self { whole: true, ..Self::default() }
    }

    /// Everything but what is at and below these paths of field names.
    pub fn everything_but<'n>(ways: impl IntoIterator<Item = &'n [&'n str]>) -> Self {
        let mut gaps = Gaps::default();
        for way in ways {
            gaps.add(way);
        }
        Self { whole: true, gaps: Some(gaps), ..Self::default() }
    }

    /// Adds what a program can touch.
    pub fn add(&mut self, program: &Program) {
        match &program.root {
            Root::Path(root) => self.add_expr(root, &[], &mut { MOST_STEPS }),
            Root::Cel(root) => cel::touch(root, self),
        }
    }

    /// Adds a path of field names, with everything below it.
    pub fn add_fields(&mut self, names: &[&str]) {
        let mut node = self;
        for name in names {
            node = node.below(name);
        }
        node.whole = true;
    }

    /// Adds what is read at the end of a way.
    pub(crate) fn touch(&mut self, way: &[Way], leaf: Leaf) {
        self.touch_some(way, leaf, &mut { MOST_STEPS });
    }

    fn touch_some(&mut self, way: &[Way], leaf: Leaf, left: &mut usize) {
        if self.whole {
            return;
        }
        let Some(fewer) = left.checked_sub(1) else {
            self.whole = true;
            return;
        };
        *left = fewer;
        match (way.split_first(), leaf) {
            (None, Leaf::Whole) => self.whole = true,
            (None, Leaf::Keys) => {
                self.other_fields.get_or_insert_default();
            }
            (None, Leaf::Shallow) => {}
            (Some((Way::Field(name), rest)), _) => self.below(name).touch_some(rest, leaf, left),
            (Some((Way::Items, rest)), _) => {
                self.items.get_or_insert_default().touch_some(rest, leaf, left);
            }
            (Some((Way::Any, rest)), _) => {
                self.items.get_or_insert_default().touch_some(rest, leaf, left);
                self.other_fields.get_or_insert_default().touch_some(rest, leaf, left);
            }
        }
    }

    /// What is read of a field.
    fn below(&mut self, name: &str) -> &mut Self {
        let at = match self.fields.binary_search_by(|(field, _)| field.as_ref().cmp(name)) {
            Ok(at) => at,
            Err(at) => {
                self.fields.insert(at, (name.into(), Self::default()));
                at
            }
        };
        &mut self.fields[at].1
    }

    /// What is read of a field that is named.
    pub(crate) fn named(&self, name: &[u8]) -> Option<&Self> {
        let at = if self.fields.len() <= FEW {
            self.fields.iter().position(|(field, _)| field.as_bytes() == name)?
        } else {
            self.fields.binary_search_by(|(field, _)| field.as_bytes().cmp(name)).ok()?
        };
        self.fields.get(at).map(|(_, projection)| projection)
    }

    /// Whether anything at or below a path of field names is read. Case does
    /// not count, so that no spelling of a name is overlooked.
    pub fn reaches(&self, way: &[&str]) -> bool {
        let Some((first, rest)) = way.split_first() else { return true };
        let named = self.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(first));
        self.whole
            || named.map(|(_, below)| below).any(|below| below.reaches(rest))
            || self.other_fields.as_ref().is_some_and(|below| below.reaches(rest))
    }

    /// Whether nothing is read but what is below one field.
    pub fn is_within(&self, field: &str) -> bool {
        !self.whole
            && self.other_fields.is_none()
            && self.items.is_none()
            && self.fields.iter().all(|(name, _)| name.as_ref() == field)
    }

    /// The paths, as a user would write them; of a path at whose end only the
    /// presence or the keys are read, the path itself.
    pub fn paths(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.collect("$", &mut found);
        found
    }

    fn collect(&self, path: &str, found: &mut Vec<String>) {
        if self.whole {
            found.push(path.to_owned());
            return;
        }
        let before = found.len();
        for (name, below) in &self.fields {
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            let step = if plain { format!(".{name}") } else { format!("['{name}']") };
            below.collect(&format!("{path}{step}"), found);
        }
        for (step, below) in [(".*", &self.other_fields), ("[*]", &self.items)] {
            if let Some(below) = below.as_ref().filter(|below| ***below != Self::default()) {
                below.collect(&format!("{path}{step}"), found);
            }
        }
        if found.len() == before && path != "$" {
            found.push(path.to_owned());
        }
    }

    /// Follows an expression from the object, or from where its element is.
    fn add_expr(&mut self, expr: &Expr, element: &[&StepKind], left: &mut usize) {
        let Expr::Walk { from, steps } = expr else { return };
        let mut way: Vec<&StepKind> = match from {
            Slot::Object => Vec::new(),
            Slot::Element => element.to_vec(),
        };
        for step in steps {
            if let StepKind::Filter(filter) = &step.kind {
                way.push(&ANY_ITEM);
                self.add_filter(filter, &way, left);
            } else {
                way.push(&step.kind);
            }
        }
        self.add_way(&way, left);
    }

    fn add_filter(&mut self, filter: &Filter, element: &[&StepKind], left: &mut usize) {
        self.add_expr(&filter.left, element, left);
        if let Some((_, right)) = &filter.test {
            self.add_expr(right, element, left);
        }
    }

    fn add_way(&mut self, way: &[&StepKind], left: &mut usize) {
        let (Some((step, rest)), Some(fewer)) = (way.split_first(), left.checked_sub(1)) else {
            self.whole = true;
            return;
        };
        *left = fewer;
        match step {
            StepKind::Field(name) => {
                self.below(name).add_way(rest, left);
            }
            StepKind::Index(_) | StepKind::Slice { .. } | StepKind::Filter(_) => {
                self.items.get_or_insert_default().add_way(rest, left);
            }
            StepKind::Every => {
                self.items.get_or_insert_default().add_way(rest, left);
                self.other_fields.get_or_insert_default().add_way(rest, left);
            }
            // It can lead anywhere.
            StepKind::Descend => self.whole = true,
            StepKind::Union(steps) => {
                for Step { kind, .. } in steps {
                    let mut way = vec![kind];
                    way.extend(rest);
                    self.add_way(&way, left);
                }
            }
        }
    }
}

const ANY_ITEM: StepKind = StepKind::Slice { from: None, to: None, step: 1 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn what_is_left_out_is_skipped_and_the_rest_is_read() {
        let ways: [&[&str]; 3] = [&["a", "b"], &["a", "b", "c"], &["d", "e"]];
        let bytes = br#"{"a":{"b":{"c":1},"x":[{"b":2}]},"b":3,"d":[{"e":4}]}"#;
        let value = read(bytes, &Projection::everything_but(ways)).unwrap().to_value();
        assert_eq!(value.to_string(), r#"{"a":{"x":[{"b":2}]},"b":3,"d":[{"e":4}]}"#);
    }

    #[test]
    fn of_many_fields_each_is_found() {
        let names: Vec<_> = (0..2 * FEW).map(|at| format!("f{at}")).collect();
        for count in 0..names.len() {
            let mut projection = Projection::default();
            for name in names.iter().rev().take(count) {
                projection.add_fields(&[name]);
            }
            let found = names.iter().filter(|name| projection.named(name.as_bytes()).is_some());
            assert_eq!(found.count(), count);
        }
    }
}

//! Which paths a program can touch.

use std::collections::BTreeMap;

use crate::program::{Expr, Filter, Program, Slot, Step, StepKind};

/// A set of paths; everything at and below its leaves is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    pub(crate) whole: bool,
    pub(crate) fields: BTreeMap<Box<str>, Projection>,
    /// What is read of every field that is not named.
    pub(crate) other_fields: Option<Box<Projection>>,
    /// What is read of every element of a list.
    pub(crate) items: Option<Box<Projection>>,
}

impl Projection {
    /// Everything.
    pub fn everything() -> Self {
        Self { whole: true, ..Self::default() }
    }

    /// Adds what a program can touch.
    pub fn add(&mut self, program: &Program) {
        self.add_expr(&program.root, &[]);
    }

    /// Adds a path of field names, with everything below it.
    pub fn add_fields(&mut self, names: &[&str]) {
        let mut node = self;
        for name in names {
            node = node.fields.entry((*name).into()).or_default();
        }
        node.whole = true;
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

    /// The paths, as a user would write them.
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
        for (name, below) in &self.fields {
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            let step = if plain { format!(".{name}") } else { format!("['{name}']") };
            below.collect(&format!("{path}{step}"), found);
        }
        for (step, below) in [(".*", &self.other_fields), ("[*]", &self.items)] {
            if let Some(below) = below {
                below.collect(&format!("{path}{step}"), found);
            }
        }
    }

    /// Follows an expression from the object, or from where its element is.
    fn add_expr(&mut self, expr: &Expr, element: &[&StepKind]) {
        let Expr::Walk { from, steps } = expr else { return };
        let mut way: Vec<&StepKind> = match from {
            Slot::Object => Vec::new(),
            Slot::Element => element.to_vec(),
        };
        for step in steps {
            if let StepKind::Filter(filter) = &step.kind {
                way.push(&ANY_ITEM);
                self.add_filter(filter, &way);
            } else {
                way.push(&step.kind);
            }
        }
        self.add_way(&way);
    }

    fn add_filter(&mut self, filter: &Filter, element: &[&StepKind]) {
        self.add_expr(&filter.left, element);
        if let Some((_, right)) = &filter.test {
            self.add_expr(right, element);
        }
    }

    fn add_way(&mut self, way: &[&StepKind]) {
        let Some((step, rest)) = way.split_first() else {
            self.whole = true;
            return;
        };
        match step {
            StepKind::Field(name) => {
                self.fields.entry(name.clone()).or_default().add_way(rest);
            }
            StepKind::Index(_) | StepKind::Slice { .. } | StepKind::Filter(_) => {
                self.items.get_or_insert_default().add_way(rest);
            }
            StepKind::Every => {
                self.items.get_or_insert_default().add_way(rest);
                self.other_fields.get_or_insert_default().add_way(rest);
            }
            // It can lead anywhere.
            StepKind::Descend => self.whole = true,
            StepKind::Union(steps) => {
                for Step { kind, .. } in steps {
                    let mut way = vec![kind];
                    way.extend(rest);
                    self.add_way(&way);
                }
            }
        }
    }
}

const ANY_ITEM: StepKind = StepKind::Slice { from: None, to: None, step: 1 };

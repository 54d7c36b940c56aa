//! Which paths of the object an expression can touch.
//!
//! Every part is asked from where in the object its value comes. A value that
//! is only stepped through is read as far as the steps need it; one that is
//! compared, computed with or given back is read whole.

use super::{
    node::{Kind, Loop, LoopKind, Node, Slot, Step, StepKind, Variables},
    value::Value,
};
use crate::projection::{Leaf, Projection, Way};

/// From so many places a value may come before all are read whole.
const MOST_PLACES: usize = 24;

/// Adds what an expression touches.
pub(crate) fn add(root: &Node, projection: &mut Projection) {
    Touches { projection, locals: Vec::new() }.whole(root);
}

/// The places from which a value may come.
type Places = Vec<Vec<Way>>;

struct Touches<'p> {
    projection: &'p mut Projection,
    /// Where the values of the variables come from.
    locals: Vec<Places>,
}

impl Touches<'_> {
    fn whole(&mut self, node: &Node) {
        for place in self.trace(node) {
            self.projection.touch(&place, Leaf::Whole);
        }
    }

    fn all_whole<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        nodes.into_iter().for_each(|node| self.whole(node));
    }

    /// The places one step further; they are looked at.
    fn step(&mut self, places: &Places, step: &Way) -> Places {
        let further = places.iter().map(|place| {
            let mut place = place.clone();
            place.push(step.clone());
            self.projection.touch(&place, Leaf::Shallow);
            place
        });
        further.collect()
    }

    fn keys(&mut self, places: &Places) {
        for place in places {
            self.projection.touch(place, Leaf::Keys);
        }
    }

    /// Both, unless they are too many to follow.
    fn union(&mut self, mut places: Places, more: Places) -> Places {
        places.extend(more);
        if places.len() <= MOST_PLACES {
            return places;
        }
        for place in &places {
            self.projection.touch(place, Leaf::Whole);
        }
        Vec::new()
    }

    /// Where a value comes from; nowhere if it is computed, or read whole.
    fn trace(&mut self, node: &Node) -> Places {
        match &node.kind {
            Kind::Constant(_) | Kind::Fail(_) => Vec::new(),
            Kind::Slot(slot) => self.slot(*slot),
            Kind::Walk { from, steps } => self.walk(*from, steps),
            Kind::Select { of, field } | Kind::OptionalSelect { of, field } => {
                let places = self.trace(of);
                self.step(&places, &Way::Field(field.clone()))
            }
            Kind::Has { of, field } => {
                let places = self.trace(of);
                self.step(&places, &Way::Field(field.clone()));
                Vec::new()
            }
            Kind::Index { of, key } | Kind::OptionalIndex { of, key } => {
                let places = self.trace(of);
                self.whole(key);
                let way = match key.constant() {
                    Some(Value::Text(name)) => Way::Field(name.as_str().into()),
                    _ => Way::Any,
                };
                self.step(&places, &way)
            }
            Kind::Conditional(parts) => {
                let [test, yes, no] = &**parts;
                self.whole(test);
                let (yes, no) = (self.trace(yes), self.trace(no));
                self.union(yes, no)
            }
            Kind::Call { name, args, .. } => self.call(name, args),
            Kind::Loop(looped) => self.looped(looped),
            Kind::Bind { value, body } | Kind::OptionalMap { of: value, body, .. } => {
                let places = self.trace(value);
                self.locals.push(places);
                let found = self.trace(body);
                self.locals.pop();
                found
            }
            Kind::OrElse { of, other, .. } => {
                let (of, other) = (self.trace(of), self.trace(other));
                self.union(of, other)
            }
            Kind::Not(_)
            | Kind::And(_)
            | Kind::Or(_)
            | Kind::Match { .. }
            | Kind::List(_)
            | Kind::Map(_) => {
                self.all_whole(node.parts());
                Vec::new()
            }
        }
    }

    fn walk(&mut self, from: Slot, steps: &[Step]) -> Places {
        let mut places = self.slot(from);
        for Step { kind, .. } in steps {
            let way = match kind {
                StepKind::Field(name) => Way::Field(name.clone()),
                StepKind::Index(_) => Way::Items,
            };
            places = self.step(&places, &way);
        }
        places
    }

    fn slot(&self, slot: Slot) -> Places {
        match slot {
            Slot::Root(0) => vec![Vec::new()],
            Slot::Root(_) => Vec::new(),
            Slot::Local(at) => self.locals.get(at).cloned().unwrap_or_default(),
        }
    }

    fn call(&mut self, name: &str, args: &[Node]) -> Places {
        match (name, args) {
            ("dyn" | "optional.of" | "value", [of]) => self.trace(of),
            ("hasValue" | "type", [of]) => {
                self.trace(of);
                Vec::new()
            }
            ("size", [of]) => {
                let places = self.trace(of);
                self.keys(&places);
                Vec::new()
            }
            ("optional.ofNonZeroValue", [of]) => {
                let places = self.trace(of);
                self.keys(&places);
                places
            }
            ("first" | "last", [of]) => {
                let places = self.trace(of);
                self.step(&places, &Way::Items)
            }
            // What is in a value does not matter to whether it is null.
            ("==" | "!=", [of, null] | [null, of])
                if matches!(null.constant(), Some(Value::Null)) =>
            {
                self.trace(of);
                Vec::new()
            }
            ("in", [value, within]) => {
                self.whole(value);
                let places = self.trace(within);
                match value.constant() {
                    Some(Value::Text(name)) => {
                        self.step(&places, &Way::Field(name.as_str().into()));
                    }
                    _ => self.keys(&places),
                }
                for mut place in places {
                    place.push(Way::Items);
                    self.projection.touch(&place, Leaf::Whole);
                }
                Vec::new()
            }
            _ => {
                self.all_whole(args);
                Vec::new()
            }
        }
    }

    fn looped(&mut self, looped: &Loop) -> Places {
        let Loop { kind, source, variables, filter, body } = looped;
        let places = self.trace(source);
        // A map is gone through by its keys, and a list has its length.
        self.keys(&places);
        match variables {
            Variables::One => {
                let items = self.step(&places, &Way::Items);
                self.locals.push(items);
            }
            Variables::Two => {
                let values = self.step(&places, &Way::Any);
                self.locals.extend([Vec::new(), values]);
            }
        }
        self.all_whole(filter);
        self.whole(body);
        self.locals.truncate(self.locals.len().saturating_sub(variables.count()));
        match kind {
            // What comes out are elements of what went in.
            LoopKind::Filter | LoopKind::SortBy => places,
            _ => Vec::new(),
        }
    }
}

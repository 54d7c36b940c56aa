//! What an expression costs at least, before there is an object.
//!
//! Lists of the object are taken to be short, so that nothing sensible is
//! refused: what is refused here would be stopped on nearly every object.

use super::{
    node::{Kind, Loop, Node, Slot},
    value::Value,
};
use crate::{budget::Budget, json_path::SyntaxError};

/// What a part costs.
const STEP: u64 = 24;

/// How long a list of the object is taken to be.
const ASSUMED: u64 = 20;

/// Refuses what no evaluation can pay for.
pub(crate) fn check(root: &Node) -> Result<(), SyntaxError> {
    let mut estimate = Estimate { locals: Vec::new(), hopeless: None };
    let (cost, _) = estimate.of(root);
    match estimate.hopeless {
        Some(at) => {
            let allowed = Budget::DEFAULT.steps();
            let reason = format!("this costs at least {cost} steps, and {allowed} are allowed");
            Err(SyntaxError { at, reason })
        }
        None => Ok(()),
    }
}

struct Estimate {
    /// How long the lists in the variables are, where that is known.
    locals: Vec<Option<u64>>,
    /// The innermost part that costs too much.
    hopeless: Option<usize>,
}

impl Estimate {
    /// What a part costs, and how long its value is if that is known.
    fn of(&mut self, node: &Node) -> (u64, Option<u64>) {
        let (cost, length) = match &node.kind {
            Kind::Constant(value) => (0, value.length().map(|length| length as u64)),
            Kind::Slot(Slot::Local(at)) => (0, self.locals.get(*at).copied().flatten()),
            Kind::List(items) => (self.sum(node.parts()), Some(items.len() as u64)),
            Kind::Map(entries) => (self.sum(node.parts()), Some(entries.len() as u64)),
            // Only the first is sure to be looked at.
            Kind::And(parts) | Kind::Or(parts) => (self.sum(parts.first()), None),
            Kind::Conditional(parts) => {
                let [test, yes, no] = &**parts;
                let before = self.hopeless;
                let cheaper = self.of(yes).0.min(self.of(no).0);
                if cheaper <= Budget::DEFAULT.steps() {
                    self.hopeless = before;
                }
                (self.of(test).0.saturating_add(cheaper), None)
            }
            Kind::OrElse { of, .. } => (self.of(of).0, None),
            Kind::Call { name, args, .. } => {
                let length = match (&**name, &args[..]) {
                    ("lists.range", [count]) => match count.constant() {
                        Some(Value::Int(count)) => u64::try_from(*count).ok(),
                        _ => None,
                    },
                    _ => None,
                };
                (self.sum(args).saturating_add(length.unwrap_or_default()), length)
            }
            Kind::Loop(looped) => (self.looped(looped), None),
            Kind::Bind { value, body } => {
                let (cost, length) = self.of(value);
                self.locals.push(length);
                let (of_body, length) = self.of(body);
                self.locals.pop();
                (cost.saturating_add(of_body), length)
            }
            Kind::OptionalMap { of, body, .. } => {
                self.locals.push(None);
                let of_body = self.of(body).0;
                self.locals.pop();
                (self.of(of).0.saturating_add(of_body), None)
            }
            _ => (self.sum(node.parts()), None),
        };
        let cost = cost.saturating_add(STEP);
        if cost > Budget::DEFAULT.steps() {
            self.hopeless.get_or_insert(node.at);
        }
        (cost, length)
    }

    fn sum<'n>(&mut self, parts: impl IntoIterator<Item = &'n Node>) -> u64 {
        parts.into_iter().fold(0, |sum: u64, part| sum.saturating_add(self.of(part).0))
    }

    fn looped(&mut self, looped: &Loop) -> u64 {
        let Loop { source, variables, filter, body, .. } = looped;
        let (cost, length) = self.of(source);
        let before = self.locals.len();
        self.locals.resize(before + variables.count(), None);
        // A filter may let nothing pass.
        let each = match filter {
            Some(filter) => self.of(filter).0,
            None => self.of(body).0,
        };
        self.locals.truncate(before);
        let times = length.unwrap_or(ASSUMED);
        cost.saturating_add(times.saturating_mul(each.saturating_add(STEP)))
    }
}

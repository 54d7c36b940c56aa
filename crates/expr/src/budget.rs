//! What an evaluation may cost.

use crate::{
    eval::{EvalError, Reason},
    json::Json,
};

/// What an evaluation may still cost. Every value that is looked at costs one;
/// texts that are compared and values that are copied cost by their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(u64);

impl Budget {
    /// Enough for every sensible expression on the largest object.
    pub const DEFAULT: Self = Self(10_000_000);

    /// A budget of so many steps.
    pub const fn new(steps: u64) -> Self {
        Self(steps)
    }

    pub(crate) fn spend(&mut self, at: usize) -> Result<(), EvalError> {
        self.spend_many(at, 1)
    }

    pub(crate) fn spend_many(&mut self, at: usize, steps: usize) -> Result<(), EvalError> {
        let left = u64::try_from(steps).ok().and_then(|steps| self.0.checked_sub(steps));
        self.0 = left.ok_or(EvalError { at, reason: Reason::TooCostly })?;
        Ok(())
    }

    /// Spends what a copy of a value takes in memory, in units of a few bytes.
    pub(crate) fn spend_on_copy(&mut self, value: &Json<'_>) -> Result<(), EvalError> {
        const EACH: usize = 8;
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            let text = match value {
                Json::Text(text) => text.len(),
                Json::List(items) => {
                    waiting.extend(items);
                    0
                }
                Json::Map(fields) => {
                    waiting.extend(fields.iter().map(|(_, value)| value));
                    0
                }
                Json::Null | Json::Bool(_) | Json::Number(_) => 0,
            };
            self.spend_many(0, EACH + text / EACH)?;
        }
        Ok(())
    }
}

//! What an evaluation may cost.

use crate::{
    eval::{EvalError, Reason},
    json::Json,
};

/// What an evaluation may still cost. Every value that is looked at costs one;
/// texts that are compared and values that are copied cost by their size. A
/// unit is about a nanosecond. What is built is counted in bytes besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    steps: u64,
    bytes: usize,
}

/// What one evaluation may build, with what lies between two reallocations
/// counted in.
const MOST_BYTES: usize = 8 * 1024 * 1024;

impl Budget {
    /// Enough for every sensible expression on the largest object.
    pub const DEFAULT: Self = Self::new(10_000_000);

    /// A budget of so many steps.
    pub const fn new(steps: u64) -> Self {
        Self { steps, bytes: MOST_BYTES }
    }

    /// How many steps are left.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes the steps of one part of an expression.
    #[inline]
    pub(crate) fn take(&mut self, steps: usize) -> Result<(), Reason> {
        let left = self.steps.checked_sub(steps as u64);
        self.steps = left.unwrap_or_default();
        left.map(|_| ()).ok_or(Reason::TooCostly)
    }

    /// Takes what must be allocated for something, before it is.
    pub(crate) fn build(&mut self, bytes: usize) -> Result<(), Reason> {
        /// What it costs to ask for memory and to give it back.
        const ONCE: usize = 80;
        /// So many bytes are written in the time of one step.
        const AT_ONCE: usize = 8;
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or_default();
        left.ok_or(Reason::TooLarge)?;
        self.take(ONCE + bytes / AT_ONCE)
    }

    pub(crate) fn spend(&mut self, at: usize) -> Result<(), EvalError> {
        self.spend_many(at, 1)
    }

    pub(crate) fn spend_many(&mut self, at: usize, steps: usize) -> Result<(), EvalError> {
        self.take(steps).map_err(|reason| EvalError { at, reason })
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

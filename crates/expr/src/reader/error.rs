//! Why bytes cannot be read.

/// What is wrong with bytes, and where. It holds nothing of what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {at}")]
pub struct ReadError {
    /// How many bytes stand before what is wrong.
    pub at: usize,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("the JSON ends too early")]
    Cut,
    #[error("there is no value")]
    NoValue,
    #[error("there is no key")]
    NoKey,
    #[error("there is no colon after a key")]
    NoColon,
    #[error("a list neither goes on nor ends")]
    InList,
    #[error("a map neither goes on nor ends")]
    InMap,
    #[error("there is a bracket that does not belong there")]
    Bracket,
    #[error("there is a control character in a text")]
    Control,
    #[error("there is an unknown escape in a text")]
    Escape,
    #[error("there is a text that is not Unicode")]
    Unicode,
    #[error("there is a number without its digits")]
    NoDigit,
    #[error("there is a number that is too large")]
    TooLarge,
    #[error("the JSON is nested too deeply")]
    TooDeep,
    #[error("something follows the JSON")]
    Trailing,
}

impl Problem {
    /// The error for these bytes: where they have ended, that is what is wrong.
    #[cold]
    pub(super) fn at(self, at: usize, bytes: &[u8]) -> ReadError {
        if at < bytes.len() {
            ReadError { at, problem: self }
        } else {
            ReadError { at: bytes.len(), problem: Self::Cut }
        }
    }
}

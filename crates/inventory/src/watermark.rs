//! What a destination has recorded about its copy, and what follows from it.

use jiff::Timestamp;

use crate::{
    change::{Change, Content, Watermark},
    key::PartitionKey,
};

/// One microsecond is the unit of sequences.
const A_DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// A destination's own record of the last export that it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Who wrote it, and how far it had come.
    pub token: Token,
    /// What the destination then held, if that was exactly the view.
    pub content: Option<Content>,
    /// Everything that decides the bytes beside the rows: layout, templates,
    /// format, schema, version of the encoder.
    pub projection: String,
    /// Whether an export began after it and did not end.
    pub dirty: bool,
    /// Partitions whose rows a document holds in full.
    pub covered: Vec<PartitionKey>,
    /// Partitions that it held before and that could not be read since: a
    /// restart waits for them too.
    pub missing: Vec<Missing>,
}

/// A partition that could not be read in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub partition: PartitionKey,
    pub since: Timestamp,
}

/// What an export is conditional on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Random for each process.
    pub writer: String,
    /// The sequence of the export.
    pub sequence: i64,
}

/// Under which terms an export may be written.
#[derive(Clone, Debug)]
pub struct Terms<'a> {
    /// Who writes.
    pub writer: &'a str,
    /// What must be recorded for the export to be valid.
    pub expected: &'a Expected,
    /// Whether a record that says the copy is current is believed.
    pub trust: Trust,
    /// The clock, in microseconds.
    pub now: i64,
}

/// What a pair knows of the record at its destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// It has not been read in this process.
    #[default]
    Unread,
    /// There was none when we last looked.
    Nothing,
    /// It was this when we last read or wrote it.
    Token(Token),
}

/// Whether a record is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// A copy whose record equals the view is left alone.
    Record,
    /// The copy itself is looked at, whatever is recorded.
    Nothing,
}

/// What an export has to do at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The copy is what it should be; nothing is written.
    Nothing,
    /// The copy is as the cursor says: what has changed is written.
    Apply,
    /// The copy is compared row by row, and the difference is written.
    Compare,
}

/// Why nothing may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The record is not the one that was last seen here.
    Conflict { cause: Conflict, found: Option<Token> },
    /// The record's number is higher than ours: gather again above it.
    Behind(i64),
    /// The copy is not what a partial change is for: everything is needed.
    OutOfStep,
}

/// What a record that is not the one we last saw means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// It is ours: an export whose answer was lost has succeeded.
    OurOwn,
    /// Somebody else has written.
    Foreign,
}

/// Decides what an export does at a destination that has recorded this.
///
/// The one place where compare-and-set, first contact and repair are decided,
/// so that no backend can be more daring than another.
pub fn judge(
    recorded: Option<&Recorded>,
    terms: &Terms<'_>,
    (change, watermark): (&Change, &Watermark),
    projection: &str,
) -> Result<Step, Refusal> {
    let found = recorded.map(|recorded| &recorded.token);
    if let Some(cause) = conflict(terms.expected, found, terms.writer) {
        return Err(Refusal::Conflict { cause, found: found.cloned() });
    }
    if let Some(token) = found
        && is_behind(watermark.sequence, token, terms)
    {
        return Err(Refusal::Behind(token.sequence));
    }
    match change {
        Change::All { .. } => {
            let current = terms.trust == Trust::Record
                && found.is_some_and(|token| is_plausible(token.sequence, terms.now))
                && is_current(recorded, watermark.content, projection);
            Ok(if current { Step::Nothing } else { Step::Compare })
        }
        Change::Since { .. } => {
            let in_step = recorded
                .is_some_and(|recorded| !recorded.dirty && recorded.projection == projection);
            if !in_step {
                Err(Refusal::OutOfStep)
            } else if change.is_empty() {
                Ok(Step::Nothing)
            } else {
                Ok(Step::Apply)
            }
        }
    }
}

/// Whether a copy that is met for the first time can be left alone.
///
/// Only a record that says exactly what we would write counts. One that says
/// nothing about the rows, because the export that wrote it was capped or met
/// something uncovered, never does.
fn is_current(recorded: Option<&Recorded>, wanted: Option<Content>, projection: &str) -> bool {
    recorded.is_some_and(|recorded| {
        !recorded.dirty
            && recorded.projection == projection
            && recorded.content.is_some()
            && recorded.content == wanted
    })
}

/// Compares the record at a destination with the one we last read or wrote.
fn conflict(expected: &Expected, found: Option<&Token>, writer: &str) -> Option<Conflict> {
    let as_expected = match expected {
        Expected::Unread => true,
        Expected::Nothing => found.is_none(),
        Expected::Token(token) => found == Some(token),
    };
    match found {
        _ if as_expected => None,
        Some(token) if token.writer == writer => Some(Conflict::OurOwn),
        _ => Some(Conflict::Foreign),
    }
}

/// Whether an export would be recorded under a number that is already past.
/// Our own number may come again: nothing has changed since.
fn is_behind(sequence: i64, token: &Token, terms: &Terms<'_>) -> bool {
    let past =
        token.sequence > sequence || (token.sequence == sequence && token.writer != terms.writer);
    past && is_plausible(token.sequence, terms.now)
}

/// A number that is more than a day ahead of the clock cannot be right; it is
/// ignored, and overwritten after a comparison.
fn is_plausible(recorded: i64, now: i64) -> bool {
    recorded <= now.saturating_add(A_DAY)
}

#[cfg(test)]
mod tests;

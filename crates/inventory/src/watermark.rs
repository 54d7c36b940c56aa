//! What a destination has recorded about its copy, and what follows from it.

use crate::change::Content;

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
}

/// What an export is conditional on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Random for each process.
    pub writer: String,
    /// The sequence of the export.
    pub sequence: i64,
}

/// What a first contact with a destination has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact {
    /// It holds what it should; nothing is written.
    Current,
    /// It has to be compared row by row.
    Compare,
}

/// Whether a destination that is met for the first time can be left alone.
///
/// Only a record that says exactly what we would write counts. One that says
/// nothing about the rows, because the export that wrote it was capped or met
/// something uncovered, never does.
pub fn first_contact(
    recorded: Option<&Recorded>,
    wanted: Option<Content>,
    projection: &str,
) -> Contact {
    match recorded {
        Some(Recorded { content: Some(content), projection: theirs, dirty: false, .. })
            if wanted == Some(*content) && theirs == projection =>
        {
            Contact::Current
        }
        _ => Contact::Compare,
    }
}

/// What a record that is not the one we last saw means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// There is none.
    None,
    /// It is ours: an export whose answer was lost has succeeded.
    OurOwn,
    /// Somebody else has written.
    Foreign,
}

/// Compares the record at a destination with the one we last read or wrote.
pub fn conflict(expected: Option<&Token>, found: Option<&Token>, writer: &str) -> Conflict {
    match found {
        _ if expected == found => Conflict::None,
        Some(token) if token.writer == writer => Conflict::OurOwn,
        _ => Conflict::Foreign,
    }
}

/// The number above which ours must continue, given one that was recorded.
///
/// One that is more than a day ahead of the clock cannot be right; it is
/// ignored, and overwritten after a comparison.
pub fn lift_to(recorded: i64, now: i64) -> Option<i64> {
    (recorded <= now.saturating_add(A_DAY)).then_some(recorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Recorded {
        Recorded {
            token: Token { writer: "w1".into(), sequence: 7 },
            content: Some(Content { rows: 2, ..Content::default() }),
            projection: "p".into(),
            dirty: false,
        }
    }

    #[track_caller]
    fn check(recorded: Option<Recorded>, projection: &str, expected: Contact) {
        let wanted = Some(Content { rows: 2, ..Content::default() });
        assert_eq!(first_contact(recorded.as_ref(), wanted, projection), expected);
    }

    #[test]
    fn only_a_clean_record_of_the_same_rows_and_bytes_spares_the_comparison() {
        check(Some(recorded()), "p", Contact::Current);
        check(None, "p", Contact::Compare);
        check(Some(Recorded { content: None, ..recorded() }), "p", Contact::Compare);
        check(
            Some(Recorded { content: Some(Content::default()), ..recorded() }),
            "p",
            Contact::Compare,
        );
    }

    /// Trace 4: rows are the same and the path template is not.
    #[test]
    fn another_projection_is_written_anew() {
        check(Some(recorded()), "another", Contact::Compare);
    }

    /// Trace 5: an export was killed half way.
    #[test]
    fn a_dirty_destination_is_compared_whatever_its_digest() {
        check(Some(Recorded { dirty: true, ..recorded() }), "p", Contact::Compare);
    }

    #[test]
    fn an_unknown_content_never_equals() {
        let nothing = Recorded { content: None, ..recorded() };
        assert_eq!(first_contact(Some(&nothing), None, "p"), Contact::Compare);
    }

    #[test]
    fn a_record_that_moved_is_ours_or_somebody_elses() {
        let token = |writer: &str, sequence| Token { writer: writer.into(), sequence };
        let (ours, later, theirs) = (token("w1", 7), token("w1", 9), token("w2", 8));
        assert_eq!(conflict(Some(&ours), Some(&ours), "w1"), Conflict::None);
        assert_eq!(conflict(None, None, "w1"), Conflict::None);
        assert_eq!(conflict(Some(&ours), Some(&later), "w1"), Conflict::OurOwn);
        assert_eq!(conflict(Some(&ours), Some(&theirs), "w1"), Conflict::Foreign);
        assert_eq!(conflict(Some(&ours), None, "w1"), Conflict::Foreign);
    }

    #[test]
    fn a_number_from_the_far_future_is_ignored() {
        assert_eq!(lift_to(5, 0), Some(5));
        assert_eq!(lift_to(A_DAY, 0), Some(A_DAY));
        assert_eq!(lift_to(A_DAY + 1, 0), None);
    }
}

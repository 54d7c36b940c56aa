use super::*;
use crate::{Confines, Digest, Row, row::Identity};

const OURS: &str = "w1";

fn token(writer: &str, sequence: i64) -> Token {
    Token { writer: writer.into(), sequence }
}

const TWO_ROWS: Option<Content> = Some(Content { rows: 2, digest: Digest::EMPTY });

fn recorded() -> Recorded {
    Recorded {
        token: token("w0", 7),
        content: TWO_ROWS,
        projection: "p".into(),
        dirty: false,
        covered: Vec::new(),
        missing: Vec::new(),
    }
}

fn everything() -> Change {
    let confines = Confines { settled: true, ..Confines::default() };
    Change::All { rows: Vec::new(), confines }
}

fn since(upserts: Vec<Row>) -> Change {
    Change::Since { upserts, deletes: Vec::new(), partitions: Vec::new() }
}

fn one_row() -> Change {
    since(vec![Row::new(&Identity::default(), b"null")])
}

/// An export of two rows under number 9 by w1, which knows `expected`.
struct Case {
    recorded: Option<Recorded>,
    expected: Expected,
    change: Change,
    trust: Trust,
    sequence: i64,
}

fn first_contact(recorded: Option<Recorded>) -> Case {
    let (expected, trust) = (Expected::Unread, Trust::Record);
    Case { recorded, expected, change: everything(), trust, sequence: 9 }
}

fn delta(recorded: Option<Recorded>, expected: Expected, change: Change) -> Case {
    Case { recorded, expected, change, trust: Trust::Record, sequence: 9 }
}

#[track_caller]
fn check(case: &Case, expected: Result<Step, Refusal>) {
    let terms = Terms { writer: OURS, expected: &case.expected, trust: case.trust, now: 0 };
    let watermark = Watermark { sequence: case.sequence, content: TWO_ROWS };
    let outcome = judge(case.recorded.as_ref(), &terms, (&case.change, &watermark), "p");
    assert_eq!(outcome, expected);
}

#[test]
fn only_a_clean_record_of_the_same_rows_and_bytes_spares_the_comparison() {
    check(&first_contact(Some(recorded())), Ok(Step::Nothing));
    check(&first_contact(None), Ok(Step::Compare));
    let unknown = Recorded { content: None, ..recorded() };
    check(&first_contact(Some(unknown)), Ok(Step::Compare));
    let fewer = Recorded { content: Some(Content::default()), ..recorded() };
    check(&first_contact(Some(fewer)), Ok(Step::Compare));
}

#[test]
fn an_unknown_content_never_equals() {
    let unknown = Recorded { content: None, ..recorded() };
    let (terms_of, change) = (Expected::Unread, everything());
    let terms = Terms { writer: OURS, expected: &terms_of, trust: Trust::Record, now: 0 };
    let watermark = Watermark { sequence: 9, content: None };
    assert_eq!(judge(Some(&unknown), &terms, (&change, &watermark), "p"), Ok(Step::Compare));
}

/// Trace 4: rows are the same and the path template is not.
#[test]
fn another_projection_is_written_anew() {
    let another = Recorded { projection: "another".into(), ..recorded() };
    check(&first_contact(Some(another.clone())), Ok(Step::Compare));
    let known = Expected::Token(token("w0", 7));
    check(&delta(Some(another), known, one_row()), Err(Refusal::OutOfStep));
}

/// Trace 5: an export was killed half way.
#[test]
fn a_dirty_destination_is_compared_whatever_its_digest() {
    let dirty = Recorded { dirty: true, ..recorded() };
    check(&first_contact(Some(dirty.clone())), Ok(Step::Compare));
    let known = Expected::Token(token("w0", 7));
    check(&delta(Some(dirty), known, one_row()), Err(Refusal::OutOfStep));
}

#[test]
fn a_full_comparison_believes_no_record() {
    let case = Case { trust: Trust::Nothing, ..first_contact(Some(recorded())) };
    check(&case, Ok(Step::Compare));
}

#[test]
fn a_change_is_applied_where_the_record_is_the_one_we_know() {
    let known = || Expected::Token(token("w0", 7));
    check(&delta(Some(recorded()), known(), one_row()), Ok(Step::Apply));
    check(&delta(Some(recorded()), known(), since(Vec::new())), Ok(Step::Nothing));
    check(&delta(None, Expected::Nothing, one_row()), Err(Refusal::OutOfStep));
}

/// R14.
#[test]
fn a_record_that_moved_is_ours_or_somebody_elses() {
    let known = || Expected::Token(token(OURS, 7));
    let moved = |writer, sequence| Recorded { token: token(writer, sequence), ..recorded() };
    let refused = |cause, found| Err(Refusal::Conflict { cause, found });
    check(
        &delta(Some(moved(OURS, 8)), known(), one_row()),
        refused(Conflict::OurOwn, Some(token(OURS, 8))),
    );
    check(
        &delta(Some(moved("w2", 8)), known(), since(Vec::new())),
        refused(Conflict::Foreign, Some(token("w2", 8))),
    );
    check(&delta(None, known(), one_row()), refused(Conflict::Foreign, None));
    check(
        &delta(Some(moved("w2", 8)), Expected::Nothing, everything()),
        refused(Conflict::Foreign, Some(token("w2", 8))),
    );
}

/// R11.
#[test]
fn a_higher_number_lifts_ours_and_one_from_the_far_future_is_overwritten() {
    let at = |sequence| Recorded { token: token("w0", sequence), ..recorded() };
    check(&first_contact(Some(at(10))), Err(Refusal::Behind(10)));
    check(&first_contact(Some(at(9))), Err(Refusal::Behind(9)));
    check(&first_contact(Some(at(8))), Ok(Step::Nothing));
    check(&first_contact(Some(at(A_DAY))), Err(Refusal::Behind(A_DAY)));
    check(&first_contact(Some(at(A_DAY + 1))), Ok(Step::Compare));
}

#[test]
fn our_own_number_may_come_again() {
    let ours = Recorded { token: token(OURS, 9), ..recorded() };
    check(&first_contact(Some(ours.clone())), Ok(Step::Nothing));
    let known = Expected::Token(token(OURS, 9));
    check(&delta(Some(ours), known, since(Vec::new())), Ok(Step::Nothing));
}

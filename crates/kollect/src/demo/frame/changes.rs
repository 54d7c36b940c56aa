//! The last changes, and in which copies they stand.

use super::{
    Line, Tone,
    layout::{left, right},
};
use crate::demo::{
    board::Board,
    summary::millis,
    tally::{Arrival, Copy, Made},
};

/// How wide a time is, the latency of a copy, and a commit.
const TIME: usize = 8;
const LATENCY: usize = 9;
const COMMIT: usize = 11;
/// Narrower than this, a commit has no room; wider, the kind of an object has.
const NARROW: usize = 70;
const WIDE: usize = 100;

/// The newest changes, the newest first, in so many rows.
pub(super) fn changes(board: &Board<'_>, width: usize, rows: usize) -> Vec<Line> {
    let shape = Shape::of(width);
    let title = |text: &str, columns| left(text, columns);
    let mut head = title(" change", 1 + TIME + shape.object + shape.what);
    head += &right("SQLite", LATENCY);
    head += &right("Git", LATENCY);
    if shape.has_commit {
        head += &right("commit", COMMIT);
    }
    let mut lines = vec![Line::default().with(Tone::Quiet, head)];
    let shown = board.tally.recent().rev().take(rows.saturating_sub(1));
    lines.extend(shown.map(|made| shape.line(made)));
    // The picture keeps its height, so that nothing below it jumps.
    lines.resize_with(rows, Line::default);
    lines
}

/// How columns share the width.
struct Shape {
    object: usize,
    what: usize,
    has_kind: bool,
    has_commit: bool,
}

impl Shape {
    fn of(width: usize) -> Self {
        let has_commit = width >= NARROW;
        let commit = if has_commit { COMMIT } else { 0 };
        let room = width.saturating_sub(2 + TIME + 2 * LATENCY + commit);
        // What changes is told in few words.
        let object = room.saturating_sub(24).max(room / 2);
        Self { object, what: room - object, has_kind: width >= WIDE, has_commit }
    }

    fn line(&self, made: &Made) -> Line {
        let time = format!("{:.1}s", made.heard.as_secs_f64());
        let object = made.row.shown();
        let object = if self.has_kind { format!("{} {object}", made.row.kind) } else { object };
        // A column ends before the next one begins, however full it is.
        let cell =
            |text: &str, columns: usize| format!("{} ", left(text, columns.saturating_sub(1)));
        let line = Line::default()
            .with(Tone::Quiet, format!(" {}", cell(&time, TIME)))
            .with(Tone::Plain, cell(&object, self.object))
            .with(Tone::Plain, cell(&made.what, self.what));
        let latency = |line: Line, copy: Copy| {
            let (tone, text) = match made.arrival(copy) {
                None => (Tone::Waiting, "...".to_owned()),
                Some(Arrival { took: None, .. }) => (Tone::Good, "there".to_owned()),
                Some(Arrival { took: Some(took), .. }) => (Tone::Good, millis(*took)),
            };
            line.with(tone, right(&text, LATENCY))
        };
        let line = latency(latency(line, Copy::Sqlite), Copy::Git);
        match made.arrival(Copy::Git) {
            Some(arrival) if self.has_commit => {
                let mark: String = arrival.mark.chars().take(9).collect();
                line.with(Tone::Quiet, right(&mark, COMMIT))
            }
            _ => line,
        }
    }
}

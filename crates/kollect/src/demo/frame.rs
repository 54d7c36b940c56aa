//! How everything that is known looks on a terminal: lines of toned text, for
//! any width and height.

mod changes;
mod layout;

use std::time::Duration;

use self::{
    changes::changes,
    layout::{left, right},
};
use super::{
    board::{Board, Phase, Scene},
    samples::Sample,
    summary::millis,
    tally::Copy,
};

/// Below this nothing can be told apart, and above it eyes get lost.
const WIDTHS: (usize, usize) = (40, 118);
/// So many changes are shown before there is room for anything else.
const FEWEST_CHANGES: usize = 4;

/// How a piece of text sounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Quiet,
    Strong,
    Good,
    Waiting,
    Bad,
}

/// A line: pieces of text, each with its tone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(pub(super) Vec<(Tone, String)>);

impl Line {
    fn with(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push((tone, text.into()));
        self
    }

    /// How many columns it takes.
    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// What of it fits into so many columns.
    fn cut(self, columns: usize) -> Self {
        let mut room = columns;
        let piece = |(tone, text): (Tone, String)| {
            let kept: String = text.chars().take(room).collect();
            room -= kept.chars().count();
            (tone, kept)
        };
        Self(self.0.into_iter().map(piece).collect())
    }

    /// Without its tones.
    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// The whole picture, for a terminal of so many columns and rows.
pub(super) fn frame(board: &Board<'_>, (columns, rows): (usize, usize)) -> Vec<Line> {
    let width = columns.clamp(WIDTHS.0, WIDTHS.1);
    let mut top = vec![heading(board, width), Line::default()];
    top.extend(table(board, width));
    top.push(Line::default());
    top.extend(state(board));
    top.push(Line::default());
    let room = rows.saturating_sub(top.len());
    // All commands if there is room for them, else one of them, else none.
    let hints = hints(board.scene);
    let one = hints.get(2..3).unwrap_or_default().to_vec();
    let bottoms = [hints, one, Vec::new()].map(|lines| (height(&lines, columns), lines));
    let fits = |(taken, _): &(usize, Vec<Line>)| room >= taken + FEWEST_CHANGES || *taken == 0;
    let (taken, bottom) = bottoms.into_iter().find(fits).unwrap_or_default();
    let room = room.saturating_sub(taken);
    let mut lines = top;
    lines.extend(changes(board, width, room));
    let mut lines: Vec<_> = lines.into_iter().map(|line| line.cut(width.min(columns))).collect();
    lines.extend(bottom);
    lines.truncate(rows);
    lines
}

/// So many rows are taken: what is longer than a row goes on in the next one.
fn height(lines: &[Line], columns: usize) -> usize {
    lines.iter().map(|line| line.width().div_ceil(columns.max(1)).max(1)).sum()
}

fn heading(board: &Board<'_>, width: usize) -> Line {
    let phase = match board.phase {
        Phase::Starting => "setting up  ",
        Phase::Changing => "",
        Phase::Settling => "catching up  ",
    };
    let clock = format!("{phase}{}", clock(board.now));
    let name = " kollect demo  ";
    let taken = name.chars().count() + clock.chars().count() + 1;
    let title = left(&board.scene.title, width.saturating_sub(taken));
    Line::default()
        .with(Tone::Strong, name)
        .with(Tone::Plain, title)
        .with(Tone::Quiet, format!(" {clock}"))
}

/// Minutes and seconds.
fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// A row for each target, and one for all.
fn table(board: &Board<'_>, width: usize) -> Vec<Line> {
    let (number, changed) = if width < 60 { (7, "chg") } else { (10, "changed") };
    let room = width.saturating_sub(2 + 4 * number);
    let name = if width < 72 { room } else { room.min(18) };
    let kind = room - name;
    let cells = |line: Line, cells: [(Tone, String); 4]| {
        let cell = |line: Line, (tone, text): (Tone, String)| line.with(tone, right(&text, number));
        cells.into_iter().fold(line, cell)
    };
    let begin = |tone, first: &str, second: &str| {
        let line = Line::default().with(tone, format!(" {}", left(first, name)));
        line.with(Tone::Quiet, left(second, kind))
    };
    let titles = ["rows", changed, "Git", "SQLite"].map(|title| (Tone::Quiet, title.to_owned()));
    let mut lines = vec![cells(begin(Tone::Quiet, "target", "kind"), titles)];
    for sample in &board.scene.samples {
        let line = begin(Tone::Plain, sample.name, sample.kind);
        match board.status.targets.get(sample.name).and_then(|state| state.trouble.as_ref()) {
            Some(trouble) => {
                let trouble = left(trouble, width.saturating_sub(line.width() + 1));
                lines.push(line.with(Tone::Bad, format!(" {trouble}")));
            }
            None => lines.push(cells(line, counts(board, Some(sample)))),
        }
    }
    lines.push(cells(begin(Tone::Strong, "all", ""), counts(board, None)));
    lines
}

/// Rows, changes, and rows in each copy; of one target, or of all.
fn counts(board: &Board<'_>, sample: Option<&Sample>) -> [(Tone, String); 4] {
    let rows = match sample {
        Some(sample) => {
            let state = board.status.targets.get(sample.name);
            state.and_then(|state| state.rows).and_then(|rows| usize::try_from(rows).ok())
        }
        None => board.status.rows,
    };
    let samples: Vec<_> = match sample {
        Some(sample) => vec![*sample],
        None => board.scene.samples.clone(),
    };
    let changed: usize =
        samples.iter().map(|one| board.tally.changed(Copy::Sqlite, one.kind)).sum();
    let copied = |copy| {
        let copied = board.tally.rows(copy, |key| samples.iter().any(|sample| sample.is_of(key)));
        let tone = if rows == Some(copied) { Tone::Good } else { Tone::Waiting };
        (tone, copied.to_string())
    };
    let tone = if sample.is_none() { Tone::Strong } else { Tone::Plain };
    let quiet = if changed == 0 { Tone::Quiet } else { tone };
    let rows = rows.map_or("-".to_owned(), |rows| rows.to_string());
    [(tone, rows), (quiet, changed.to_string()), copied(Copy::Git), copied(Copy::Sqlite)]
}

/// What the operator says of the inventory, and how quick the copies are.
fn state(board: &Board<'_>) -> Vec<Line> {
    let status = board.status;
    let first = match (board.trouble, status.is_synced) {
        (Some(trouble), _) => Line::default().with(Tone::Bad, format!(" {trouble}")),
        (None, true) => Line::default()
            .with(Tone::Good, " Synced=True")
            .with(Tone::Quiet, "   every sink has acknowledged everything"),
        (None, false) => Line::default()
            .with(Tone::Waiting, " Synced=False")
            .with(Tone::Quiet, format!("  {}", status.reason)),
    };
    let mut lines = vec![first];
    lines.extend(Copy::ALL.map(|copy| speed(board, copy)));
    lines
}

/// How one copy is doing.
fn speed(board: &Board<'_>, copy: Copy) -> Line {
    let (tone, state) = match board.status.sinks.iter().find(|sink| sink.is_of(copy)) {
        Some(sink) if sink.is_synced => (Tone::Good, "synced"),
        Some(sink) => (Tone::Waiting, sink.reason.as_str()),
        None => (Tone::Quiet, "-"),
    };
    let mut line = Line::default()
        .with(Tone::Plain, format!(" {:<7}", copy.name()))
        .with(tone, left(state, 12));
    if let (Some(half), Some(most)) =
        (board.tally.percentile(copy, 50), board.tally.percentile(copy, 99))
    {
        let text = format!("p50 {:>7}   p99 {:>7}", millis(half), millis(most));
        line = line.with(Tone::Plain, text);
    }
    match (copy, board.tip) {
        (Copy::Git, Some(tip)) => {
            let tip: String = tip.chars().take(9).collect();
            let commits = if board.commits == 1 { "commit" } else { "commits" };
            line.with(Tone::Quiet, format!("   {} {commits}, now {tip}", board.commits))
        }
        _ => line,
    }
}

fn hints(scene: &Scene) -> Vec<Line> {
    let mut lines = vec![
        Line::default(),
        Line::default().with(Tone::Quiet, " try in another terminal; ^C ends this:"),
    ];
    let hint =
        |(command, _): &(String, _)| Line::default().with(Tone::Plain, format!(" {command}"));
    lines.extend(scene.hints.iter().map(hint));
    lines
}

#[cfg(test)]
mod tests;

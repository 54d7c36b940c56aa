//! Shows what happens: a picture on a terminal, a line for each event where
//! nobody looks on.

use std::{
    io::{self, Write},
    time::Duration,
};

use super::{
    board::{self, Board, Scene},
    frame::frame,
    screen::{Manner, Screen, size},
    tally::{Copy, Made},
};

/// So often a picture is drawn.
const APART: Duration = Duration::from_millis(100);
/// And so often all of it, whatever somebody has typed over it.
const SURELY: Duration = Duration::from_secs(2);

/// Whoever looks on.
pub(super) enum Show<'a, W: Write> {
    /// A file or a pipe.
    Lines {
        out: &'a mut W,
        is_filled: bool,
        trouble: Option<String>,
    },
    Picture {
        screen: Screen<'a, W>,
        drawn: Option<Duration>,
        wholly: Option<Duration>,
    },
}

impl<'a, W: Write> Show<'a, W> {
    /// Says what is about to happen, and begins.
    pub(super) fn begin(out: &'a mut W, scene: &Scene) -> io::Result<Self> {
        for line in &scene.notes {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "try in another terminal:")?;
        for (command, _) in &scene.hints {
            writeln!(out, "  {command}")?;
        }
        out.flush()?;
        Ok(match Manner::of_terminal() {
            None => Self::Lines { out, is_filled: false, trouble: None },
            Some(manner) => {
                let screen = Screen::enter(out, manner)?;
                Self::Picture { screen, drawn: None, wholly: None }
            }
        })
    }

    /// Shows what is known, and which changes have just arrived in a copy.
    pub(super) fn look(&mut self, board: &Board<'_>, arrived: &[Made]) -> io::Result<()> {
        let now = board.now;
        let is_due = |last: Option<Duration>, apart| last.is_none_or(|last| now >= last + apart);
        match self {
            Self::Lines { out, is_filled, trouble } => {
                if trouble.as_deref() != board.trouble {
                    *trouble = board.trouble.map(str::to_owned);
                    if let Some(trouble) = trouble {
                        writeln!(out, "{:>6.1}s  {trouble}", now.as_secs_f64())?;
                    }
                }
                lines(out, is_filled, board, arrived)
            }
            Self::Picture { screen, drawn, wholly } => {
                if !is_due(*drawn, APART) {
                    return Ok(());
                }
                *drawn = Some(now);
                if is_due(*wholly, SURELY) {
                    *wholly = Some(now);
                    screen.forget();
                }
                screen.draw(&frame(board, size()))
            }
        }
    }
}

fn lines(
    out: &mut impl Write,
    is_filled: &mut bool,
    board: &Board<'_>,
    arrived: &[Made],
) -> io::Result<()> {
    let rows = Copy::ALL.map(|copy| board.tally.rows(copy, |_| true));
    if !*is_filled && rows.iter().all(|rows| *rows > 0) {
        *is_filled = true;
        let [git, sqlite] = rows;
        let now = board.now.as_secs_f64();
        writeln!(out, "{now:>6.1}s  {git} rows in Git, {sqlite} rows in SQLite")?;
    }
    for made in arrived.iter().filter(|made| made.is_everywhere()) {
        writeln!(out, "{}", board::line(made, board.now))?;
    }
    out.flush()
}

//! Makes the picture of the demo from a real run of it.

mod svg;
mod terminal;

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use self::terminal::{Frame, Terminal};
use crate::{run, say};

/// Where the picture goes.
const PICTURE: &str = "docs/images/demo.svg";
/// Columns and rows of the terminal that it is taken of.
const SIZE: (usize, usize) = (118, 36);
/// How long the demo runs; long enough for a screen full of changes.
const RUN: &str = "20s";

/// Runs the demo in a terminal of its own, and draws the last frame in which
/// nothing waits.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut build = run::cargo(root)?;
    run::check(build.args(["build", "--release", "--package", "kollect"]))?;
    say::progress(&format!("running the demo for {RUN}"));
    let (columns, rows) = SIZE;
    let demo = format!(
        "stty cols {columns} rows {rows}; exec cargo run --quiet --release --package kollect -- demo --for {RUN}"
    );
    // `script` gives a program a terminal, and us what it writes there.
    let mut script = run::program(root, "script");
    script.args(["--quiet", "--return", "--command", &demo, "/dev/null"]);
    script.envs([("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8")]).env_remove("NO_COLOR");
    let said = run::capture(script.stdin(std::process::Stdio::null()))?;
    let mut terminal = Terminal::new(columns, rows);
    terminal.hear(&said);
    let frames = terminal.frames();
    let Some(frame) = frames.iter().rev().find(|frame| is_calm(frame)).or(frames.last()) else {
        bail!("the demo has drawn nothing; it said: {said}");
    };
    let path = root.join(PICTURE);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("could not create {}", parent.display()))?;
    }
    fs::write(&path, svg::drawn(frame, columns))
        .with_context(|| format!("could not write {}", path.display()))?;
    say::result(PICTURE);
    Ok(())
}

/// Whether all that is shown has arrived, and changes go on.
fn is_calm(frame: &Frame) -> bool {
    /// The colour of what is waited for.
    const YELLOW: u8 = 3;
    let waits = frame.iter().flatten().any(|cell| cell.style.colour == Some(YELLOW));
    let top: String = frame.iter().take(1).flatten().map(|cell| cell.char).collect();
    !waits && !top.contains("catching up")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_of_a_moment_in_which_nothing_waits() {
        let mut terminal = Terminal::new(20, 2);
        let frame = |text: &str| format!("\x1b[H{text}\x1b[J\x1b[?2026l");
        let said = ["demo \x1b[32mok\x1b[0m", "demo \x1b[33m...\x1b[0m", "demo catching up"];
        terminal.hear(&format!("\x1b[?1049h{}", said.map(frame).concat()));
        let calm: Vec<_> = terminal.frames().iter().map(is_calm).collect();
        assert_eq!(calm, [true, false, false]);
    }
}

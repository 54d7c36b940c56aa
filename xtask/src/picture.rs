//! Makes the picture of the demo from a real run of it.

mod svg;
mod terminal;

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use self::terminal::Terminal;
use crate::{run, say};

/// Where the picture goes.
const PICTURE: &str = "docs/images/demo.svg";
/// Columns and rows of the terminal that it is taken of.
const SIZE: (usize, usize) = (104, 34);
/// How long the demo runs; long enough for a screen full of changes.
const RUN: &str = "20s";

/// Runs the demo in a terminal of its own, and draws the last frame of it.
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
    let Some(frame) = terminal.last_frame() else {
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

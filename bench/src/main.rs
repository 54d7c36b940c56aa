//! Measures the budgets, one process a size, and prints `name=value` lines.
//!
//! `cargo xtask bench inventory` builds this for speed and runs it. A figure
//! is only worth something beside the others of the same run.

mod collect;
mod expr;
mod extract;
mod group;
mod inventory;
mod measure;
mod operator;
mod sinks;
mod objects;

use std::{
    env,
    io::{self, Write},
    process::Command,
};

use anyhow::{Context, bail};

const SIZES: [(&str, usize); 4] =
    [("1k", 1_000), ("10k", 10_000), ("100k", 100_000), ("1m", 1_000_000)];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["collect", rest @ ..] => collect::run(rest),
        ["extract"] => extract::run().and_then(|()| expr::run()),
        ["operator", rest @ ..] => operator::run(rest),
        ["sinks"] => sinks::run(),
        ["inventory"] => every_size(),
        ["inventory", "partitions"] => inventory::partitions(),
        ["inventory", "outage"] => inventory::outage(),
        ["inventory", size] => {
            let known = SIZES.iter().find(|(name, _)| name == size);
            let (name, rows) = known.with_context(|| format!("{size} is no size"))?;
            inventory::run(name, *rows)
        }
        _ => bail!(
            "usage: bench collect … | extract | operator … | sinks | inventory [1k|10k|100k|1m|partitions|outage]"
        ),
    }
}

/// Runs each size in a process of its own, so that none inherits the heap of
/// another, and prints what compares them.
fn every_size() -> anyhow::Result<()> {
    let own = env::current_exe().context("cannot find the benchmark itself")?;
    let mut figures = String::new();
    for size in SIZES.iter().map(|(name, _)| *name).chain(["partitions", "outage"]) {
        let output = Command::new(&own).args(["inventory", size]).output()?;
        if !output.status.success() {
            bail!("size {size} failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        io::stdout().write_all(text.as_bytes())?;
        figures.push_str(&text);
    }
    let figure = |name: &str| -> Option<f64> {
        let line = figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        line.parse().ok()
    };
    let ratio = figure("inventory.change_ns.1m").zip(figure("inventory.change_ns.1k"));
    let (large, small) = ratio.context("a size printed no change_ns")?;
    writeln!(io::stdout(), "inventory.change_ratio_1m_1k={:.2}", large / small)?;
    Ok(())
}

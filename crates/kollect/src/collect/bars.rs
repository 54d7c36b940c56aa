//! How far it is, for a person at a terminal.

use std::{sync::Arc, time::Duration};

use indicatif::{HumanBytes, HumanCount, MultiProgress, ProgressBar, ProgressStyle};
use kollect_collect::Progress;

use super::world::World;

/// How often the sign of life moves.
const TICK: Duration = Duration::from_millis(120);

/// A line for each cluster; nothing at all where nobody looks on.
#[derive(Default)]
pub(super) struct Bars {
    all: MultiProgress,
    bars: Vec<Bar>,
}

struct Bar {
    cluster: String,
    line: ProgressBar,
    world: Arc<World>,
    progress: Arc<Progress>,
}

impl Bars {
    pub(super) fn add(&mut self, cluster: &str, world: Arc<World>, progress: Arc<Progress>) {
        let line = self.all.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            line.set_style(style);
        }
        line.enable_steady_tick(TICK);
        self.bars.push(Bar { cluster: cluster.to_owned(), line, world, progress });
    }

    pub(super) fn draw(&self) {
        for Bar { cluster, line, world, progress } in &self.bars {
            let rows = world.ledger().with(|store| store.rows()) as u64;
            line.set_message(text(cluster, progress.so_far(), rows));
        }
    }

    /// One has ended; what came of it is said elsewhere.
    pub(super) fn end(&self, at: Option<usize>) {
        if let Some(bar) = at.and_then(|at| self.bars.get(at)) {
            bar.line.finish_and_clear();
        }
    }
}

fn text(cluster: &str, (objects, bytes): (u64, u64), rows: u64) -> String {
    let name = if cluster.is_empty() { String::new() } else { format!("{cluster}: ") };
    let (objects, rows, bytes) = (HumanCount(objects), HumanCount(rows), HumanBytes(bytes));
    format!("{name}{objects} objects, {rows} rows, {bytes}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_objects_rows_and_bytes_of_its_cluster() {
        let line = "prod: 20,000 objects, 19,998 rows, 103.00 MiB";
        assert_eq!(text("prod", (20_000, 103 << 20), 19_998), line);
        assert_eq!(text("", (1, 0), 0), "1 objects, 0 rows, 0 B");
    }
}

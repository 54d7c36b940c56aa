//! What one process found out about itself, as it tells the one that started it.

use std::{
    env,
    io::{self, Write as _},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::measure::{float, memory};

/// What it took to read everything once.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Reading {
    pub(super) seconds: f64,
    /// Of the processor, by all threads, in the program and in the system.
    pub(super) cpu_seconds: f64,
    /// Resident memory some seconds later, in bytes, and at the most.
    pub(super) steady: usize,
    pub(super) peak: usize,
    /// How many bytes came; 0 where nobody counts.
    pub(super) bytes: usize,
    /// How many rows there are; 0 where none are made.
    pub(super) rows: usize,
}

/// Two clocks that began together.
pub(super) struct Clocks {
    wall: Instant,
    cpu: Duration,
}

impl Clocks {
    #[expect(clippy::disallowed_methods, reason = "a benchmark is about the clock")]
    pub(super) fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu() }
    }

    /// Seconds since, on the wall and of the processor.
    pub(super) fn seconds(&self) -> (f64, f64) {
        (self.wall.elapsed().as_secs_f64(), cpu().saturating_sub(self.cpu).as_secs_f64())
    }
}

/// What this process has had of the processor.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.try_into().unwrap_or_default()
}

impl Reading {
    /// Takes the memory as it is now.
    pub(super) fn new((seconds, cpu_seconds): (f64, f64), bytes: usize, rows: usize) -> Self {
        let (steady, peak) = (memory("VmRSS:"), memory("VmHWM:"));
        Self { seconds, cpu_seconds, steady, peak, bytes, rows }
    }

    pub(super) fn tell(&self) -> anyhow::Result<()> {
        Ok(writeln!(io::stdout(), "{}", serde_json::to_string(self)?)?)
    }

    /// Has it from a process of its own, which inherits no heap from another.
    pub(super) fn of(arguments: &[&str]) -> anyhow::Result<Self> {
        let own = env::current_exe().context("cannot find the benchmark itself")?;
        let child =
            Command::new(own).arg("collect").args(arguments).stderr(Stdio::inherit()).output()?;
        ensure!(child.status.success(), "{arguments:?} failed");
        serde_json::from_slice(&child.stdout).with_context(|| format!("{arguments:?} said nothing"))
    }
}

/// The one in the middle.
pub(super) fn median(readings: &[Reading], figure: impl Fn(&Reading) -> f64) -> f64 {
    let mut figures: Vec<_> = readings.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// Bytes in MiB.
pub(super) fn mebibytes(bytes: usize) -> f64 {
    float(bytes) / float(1 << 20)
}

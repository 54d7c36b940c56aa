//! The clock, the heap, and reproducible chance.

use std::{
    fs,
    io::{self, Write},
    time::{Duration, Instant},
};

/// How long something takes, and what it gives.
#[expect(clippy::disallowed_methods, reason = "a benchmark is about the clock")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let outcome = work();
    (start.elapsed(), outcome)
}

/// Resident memory of this process in bytes.
pub(crate) fn resident() -> usize {
    memory("VmRSS:")
}

/// What the system says of this process' memory under a name, in bytes.
pub(crate) fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let kibibytes = line.trim().trim_end_matches("kB").trim().parse::<usize>();
    kibibytes.unwrap_or_default() * 1024
}

/// Seconds that this process has spent on a processor, in steps of a tick.
pub(crate) fn processor_time() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks = behind_name.split(' ').skip(11).take(2);
    let ticks: usize = ticks.filter_map(|ticks| ticks.parse::<usize>().ok()).sum();
    // Linux has told programs about hundredths of seconds for thirty years.
    float(ticks) / 100.0
}

/// Prints one figure.
pub(crate) fn print(name: &str, value: f64) -> io::Result<()> {
    let digits = if value < 10.0 { 2 } else { 0 };
    writeln!(io::stdout(), "{name}={value:.digits$}")
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap_or_default()
    }
}

/// A number for a figure.
#[expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]
pub(crate) fn float(number: usize) -> f64 {
    number as f64
}

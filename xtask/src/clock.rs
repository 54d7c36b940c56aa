//! How long something took; nothing here decides by the time.

use std::time::{Duration, Instant};

/// Measures from its start.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "only shown to whoever waits")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// The time so far, for reading.
    pub(crate) fn reading(self) -> String {
        spell(self.elapsed())
    }
}

fn spell(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_time_is_spelt_in_seconds_and_a_long_one_in_minutes() {
        assert_eq!(spell(Duration::from_millis(1_234)), "1.2 s");
        assert_eq!(spell(Duration::from_secs(185)), "3 min 05 s");
    }
}

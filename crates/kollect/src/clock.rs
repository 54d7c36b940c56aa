//! The one clock, and the one source of chance.

use std::{
    hash::{BuildHasher, RandomState},
    time::Instant,
};

use jiff::Timestamp;
use kollect_inventory::schedule::Moment;
use kollect_sinks::Clock;

/// Time since the program began, and the time of day.
#[derive(Debug)]
pub(crate) struct ProcessClock(Instant);

impl ProcessClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that others get their time from"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for ProcessClock {
    fn moment(&self) -> Moment {
        self.0.elapsed()
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::now()
    }

    fn chance(&self) -> f64 {
        let number = u32::try_from(random() >> 32).unwrap_or_default();
        f64::from(number) / f64::from(u32::MAX)
    }
}

/// A name that no other process has.
pub(crate) fn writer() -> String {
    format!("{:016x}{:016x}", random(), random())
}

/// The standard library seeds its hashers from the operating system's chance.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

//! What the operator says while it runs: lines on standard error, for programs
//! or for people.

mod line;

use std::panic::{self, PanicHookInfo};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    filter::Targets,
    fmt::{self, MakeWriter},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use self::line::Line;
use crate::args::operator::logs::{LogLevel, Speech};

/// From now on, whatever this process has to say goes out as `speech` has it;
/// panics too. A second call changes nothing.
pub(crate) fn start<W>(speech: Speech, to: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = fmt::layer().event_format(Line::new(speech)).with_writer(to);
    let began = tracing_subscriber::registry().with(lines).with(worth(speech.level)).try_init();
    if began.is_ok() {
        panic::set_hook(Box::new(say_panic));
    }
}

/// Libraries say much that is nobody's business as long as it goes well.
fn worth(level: LogLevel) -> Targets {
    let own = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    Targets::new().with_default(own.min(LevelFilter::WARN)).with_target("kollect", own)
}

/// A panic ends one task, and is a bug; its place says which.
fn say_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let error = info.payload_as_str().unwrap_or("a panic without words");
    tracing::error!(place, error, "panic");
}

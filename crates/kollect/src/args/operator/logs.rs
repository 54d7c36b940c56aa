//! How the operator speaks, by its own flags and by upstream's.

use clap::{ArgAction::Set, Args as Arguments, ValueEnum};

use crate::args::go::truth;

#[derive(Debug, Arguments)]
pub(crate) struct LogArgs {
    /// How log lines look; json unless --zap-encoder or --zap-devel says otherwise
    #[arg(long, value_enum)]
    log_format: Option<LogFormat>,

    /// What is worth a line; info unless --zap-log-level or --zap-devel says otherwise
    #[arg(long, value_enum)]
    log_level: Option<LogLevel>,

    /// For people at a console, and more of it
    #[arg(long, value_name = "BOOL", action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    zap_devel: Option<bool>,

    /// As --log-format
    #[arg(long, value_enum)]
    zap_encoder: Option<LogFormat>,

    /// As --log-level; a number is debug, and one above 1 is trace
    #[arg(long, value_name = "LEVEL", value_parser = zap_level)]
    zap_log_level: Option<LogLevel>,

    /// How times are written
    #[arg(long, value_enum, default_value_t = TimeFormat::Iso8601)]
    zap_time_encoding: TimeFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For programs: one object a line
    Json,
    /// For people
    Console,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    /// What an administrator must see to
    Error,
    /// And what the operator gets over by itself
    Warn,
    /// And what has changed
    Info,
    /// And what happens
    Debug,
    /// And how
    Trace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeFormat {
    /// Seconds since 1970
    Epoch,
    /// Milliseconds since 1970
    Millis,
    /// Nanoseconds since 1970
    Nano,
    /// 2006-01-02T15:04:05.000Z
    Iso8601,
    /// 2006-01-02T15:04:05Z
    Rfc3339,
    /// 2006-01-02T15:04:05.999999999Z
    Rfc3339nano,
}

/// How the operator speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Speech {
    pub(crate) format: LogFormat,
    pub(crate) level: LogLevel,
    pub(crate) time: TimeFormat,
}

impl LogArgs {
    /// Our own flags go before upstream's, and those that say one thing before
    /// the one that says several.
    pub(crate) fn speech(&self) -> Speech {
        let Self {
            log_format,
            log_level,
            zap_devel,
            zap_encoder,
            zap_log_level,
            zap_time_encoding,
        } = self;
        let (format, level) = match zap_devel {
            Some(true) => (LogFormat::Console, LogLevel::Debug),
            Some(false) | None => (LogFormat::Json, LogLevel::Info),
        };
        Speech {
            format: log_format.or(*zap_encoder).unwrap_or(format),
            level: log_level.or(*zap_log_level).unwrap_or(level),
            time: *zap_time_encoding,
        }
    }
}

/// Reads a level of zap's: a word, or how verbose it should be.
fn zap_level(text: &str) -> Result<LogLevel, &'static str> {
    match text {
        "panic" | "error" => Ok(LogLevel::Error),
        "warn" => Ok(LogLevel::Warn),
        "info" => Ok(LogLevel::Info),
        "debug" => Ok(LogLevel::Debug),
        number => match number.parse::<u32>() {
            Ok(1) => Ok(LogLevel::Debug),
            Ok(2..) => Ok(LogLevel::Trace),
            Ok(0) | Err(_) => Err("must be debug, info, warn, error, panic or a number above 0"),
        },
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        logs: LogArgs,
    }

    #[track_caller]
    fn check(flags: &[&str], format: LogFormat, level: LogLevel) {
        let flags = ["kollect"].iter().chain(flags);
        let speech = Only::try_parse_from(flags).unwrap().logs.speech();
        assert_eq!((speech.format, speech.level), (format, level));
    }

    #[test]
    fn programs_read_it_unless_somebody_says_otherwise() {
        use LogFormat::{Console, Json};
        use LogLevel::{Debug, Error, Info, Trace, Warn};
        check(&[], Json, Info);
        check(&["--zap-devel"], Console, Debug);
        check(&["--zap-devel=false"], Json, Info);
        check(&["--zap-devel", "--zap-encoder=json", "--zap-log-level=error"], Json, Error);
        check(&["--zap-log-level", "1"], Json, Debug);
        check(&["--zap-log-level", "5"], Json, Trace);
        check(
            &[
                "--zap-encoder=json",
                "--log-format=console",
                "--zap-log-level=5",
                "--log-level=warn",
            ],
            Console,
            Warn,
        );
    }

    #[test]
    fn what_is_no_level_is_refused() {
        for text in ["0", "-1", "loud", ""] {
            assert!(zap_level(text).is_err(), "{text}");
        }
    }
}

//! One line of the log.

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

use crate::args::operator::logs::{LogFormat, Speech, TimeFormat};

/// Writes events as lines.
///
/// The keys `level`, `ts` and `msg` are upstream's, so that what reads its
/// lines reads these. Where an event was made is not said: `target` is the name
/// of a KollectTarget here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line(Speech);

/// What an event says.
#[derive(Debug, Default)]
struct Said {
    message: String,
    fields: Vec<(&'static str, Value)>,
}

impl Line {
    pub(super) fn new(speech: Speech) -> Self {
        Self(speech)
    }

    fn write(
        self,
        to: &mut impl fmt::Write,
        level: Level,
        said: &Said,
        now: Timestamp,
    ) -> fmt::Result {
        let time = time(self.0.time, now);
        match self.0.format {
            LogFormat::Json => json(to, level, said, &time),
            LogFormat::Console => console(to, level, said, &time),
        }
    }
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut said = Said::default();
        event.record(&mut said);
        self.write(&mut writer, *event.metadata().level(), &said, Timestamp::now())?;
        writeln!(writer)
    }
}

impl Said {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            ("message", other) => self.message = other.to_string(),
            (name, value) => self.fields.push((name, value)),
        }
    }
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }
}

/// One object. Whoever reads it by eye finds the same things first.
fn json(to: &mut impl fmt::Write, level: Level, said: &Said, time: &Value) -> fmt::Result {
    let level = level.as_str().to_ascii_lowercase();
    let message = Value::from(said.message.as_str());
    write!(to, "{{\"level\":\"{level}\",\"ts\":{time},\"msg\":{message}")?;
    for (name, value) in &said.fields {
        write!(to, ",{}:{value}", Value::from(*name))?;
    }
    to.write_char('}')
}

/// Time, level, message, and fields as `name=value`.
fn console(to: &mut impl fmt::Write, level: Level, said: &Said, time: &Value) -> fmt::Result {
    write!(to, "{} {level:<5} {}", plain(time), line(&said.message))?;
    for (name, value) in &said.fields {
        write!(to, " {name}={}", plain(value))?;
    }
    Ok(())
}

/// A value for people: quoted only if one could not see where it ends.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_ascii_graphic() && !"\"=".contains(one))
}

/// What somebody else has said may hold line breaks, and must not make lines.
fn line(text: &str) -> String {
    text.replace(|one: char| one.is_control(), " ")
}

fn time(format: TimeFormat, now: Timestamp) -> Value {
    let spelled = |format: &str| Value::from(now.strftime(format).to_string());
    match format {
        TimeFormat::Epoch => Value::from(now.as_duration().as_secs_f64()),
        TimeFormat::Millis => Value::from(now.as_millisecond()),
        TimeFormat::Nano => i64::try_from(now.as_nanosecond()).map_or(Value::Null, Value::from),
        TimeFormat::Iso8601 => spelled("%Y-%m-%dT%H:%M:%S.%3fZ"),
        TimeFormat::Rfc3339 => spelled("%Y-%m-%dT%H:%M:%SZ"),
        TimeFormat::Rfc3339nano => spelled("%Y-%m-%dT%H:%M:%S.%9fZ"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::operator::logs::LogLevel;

    #[track_caller]
    fn check(format: LogFormat, encoding: TimeFormat, expected: &str) {
        let said = Said {
            message: "export failed\ntwice".to_owned(),
            fields: vec![
                ("sink", "shop/rows".into()),
                ("error", "no \"route\"".into()),
                ("attempts", 3.into()),
            ],
        };
        let line = Line::new(Speech { format, level: LogLevel::Info, time: encoding });
        let now = Timestamp::from_millisecond(1_500).unwrap();
        let mut text = String::new();
        line.write(&mut text, Level::WARN, &said, now).unwrap();
        assert_eq!(text, expected);
    }

    #[test]
    fn a_line_for_programs_is_one_object_with_the_names_of_zap() {
        check(
            LogFormat::Json,
            TimeFormat::Iso8601,
            r#"{"level":"warn","ts":"1970-01-01T00:00:01.500Z","msg":"export failed\ntwice","sink":"shop/rows","error":"no \"route\"","attempts":3}"#,
        );
    }

    #[test]
    fn a_line_for_people_is_one_line() {
        check(
            LogFormat::Console,
            TimeFormat::Rfc3339,
            r#"1970-01-01T00:00:01Z WARN  export failed twice sink=shop/rows error="no \"route\"" attempts=3"#,
        );
    }

    #[test]
    fn times_are_written_as_zap_writes_them() {
        let now = Timestamp::from_nanosecond(1_500_000_001).unwrap();
        let texts = [
            (TimeFormat::Epoch, "1.500000001"),
            (TimeFormat::Millis, "1500"),
            (TimeFormat::Nano, "1500000001"),
            (TimeFormat::Rfc3339nano, "\"1970-01-01T00:00:01.500000001Z\""),
        ];
        for (format, expected) in texts {
            assert_eq!(time(format, now).to_string(), expected);
        }
    }
}

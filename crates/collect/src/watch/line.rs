//! Lines of a watch, each an event.

use std::{borrow::Cow, ops::ControlFlow};

use memchr::memchr;
use serde::Deserialize;

/// No API server stores larger objects; a limit keeps a broken stream from
/// filling the memory.
const LONGEST: usize = 16 * 1024 * 1024;

/// Cuts what arrives into lines. Only a line that straddles chunks is kept.
#[derive(Debug, Default)]
pub(super) struct Lines {
    part: Vec<u8>,
}

/// A line that nobody can have meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Lines {
    /// Takes the next bytes, and hands out every line that ends in them, until
    /// somebody has heard enough.
    pub(super) fn feed<B>(
        &mut self,
        chunk: &[u8],
        mut each: impl FnMut(&[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, TooLong> {
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            rest = after.get(1..).unwrap_or_default();
            let heard = if self.part.is_empty() {
                each(line)
            } else {
                self.keep(line)?;
                let heard = each(&self.part);
                self.part.clear();
                heard
            };
            if heard.is_break() {
                return Ok(heard);
            }
        }
        self.keep(rest)?;
        Ok(ControlFlow::Continue(()))
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.part.len() + bytes.len() > LONGEST {
            return Err(TooLong);
        }
        self.part.extend_from_slice(bytes);
        Ok(())
    }
}

/// What a line tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) kind: Kind,
    /// The bytes of the object alone.
    pub(super) object: Cow<'a, [u8]>,
    /// The object's version; empty if it has none.
    pub(super) version: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The object was not there before.
    Added,
    Modified,
    Deleted,
    /// Nothing happened up to a version.
    Bookmark,
    /// Nothing happened up to a version, and everything that was there before
    /// has been told.
    InitialEnd,
    /// The object is a refusal.
    Error,
}

impl<'a> Line<'a> {
    /// Reads a line; nothing if it is no event.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        Self::usual(line).or_else(|| Self::odd(line))
    }

    /// As servers write it: the type, the object, and nothing else. So the
    /// object is what stands between, and need not be looked for.
    fn usual(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii().strip_prefix(br#"{"type":""#)?;
        let (kind, rest) = line.split_at_checked(memchr(b'"', line)?)?;
        let object = rest.strip_prefix(br#"","object":"#)?.strip_suffix(b"}")?;
        Self::of(kind, Cow::Borrowed(object))
    }

    /// In whatever order and spelling.
    fn odd(line: &'a [u8]) -> Option<Self> {
        let event: Event = serde_json::from_slice(line).ok()?;
        let object = serde_json::to_vec(&event.object).ok()?;
        Self::of(event.kind.as_bytes(), Cow::Owned(object))
    }

    /// Reads of the object what a watch must know. That reads all of it, so
    /// whatever is cut or garbled is noticed before anybody believes it.
    fn of(kind: &[u8], object: Cow<'a, [u8]>) -> Option<Self> {
        let Object { metadata } = match object.trim_ascii_start().first() {
            Some(b'{') => serde_json::from_slice(&object).ok()?,
            _ => return None,
        };
        let Metadata { resource_version: version, annotations } = metadata.unwrap_or_default();
        let kind = match kind {
            b"ADDED" => Kind::Added,
            b"MODIFIED" => Kind::Modified,
            b"DELETED" => Kind::Deleted,
            b"ERROR" => Kind::Error,
            b"BOOKMARK" => match annotations.unwrap_or_default().initial_events_end.as_deref() {
                Some("true") => Kind::InitialEnd,
                _ => Kind::Bookmark,
            },
            _ => return None,
        };
        Some(Self { kind, object, version: version.unwrap_or_default() })
    }
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    object: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Object {
    metadata: Option<Metadata>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: Option<String>,
    annotations: Option<Annotations>,
}

#[derive(Default, Deserialize)]
struct Annotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    initial_events_end: Option<String>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &[u8], chunk: usize) -> Vec<Vec<u8>> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for part in text.chunks(chunk) {
            let fed = lines.feed(part, |line| {
                found.push(line.to_vec());
                ControlFlow::<()>::Continue(())
            });
            assert_eq!(fed, Ok(ControlFlow::Continue(())));
        }
        found
    }

    #[track_caller]
    fn check(line: &str, kind: Kind, version: &str, object: &str) {
        let line = Line::read(line.as_bytes()).unwrap();
        assert_eq!((line.kind, line.version.as_str()), (kind, version));
        assert_eq!(std::str::from_utf8(&line.object).unwrap(), object);
    }

    #[test]
    fn the_object_is_what_stands_between() {
        let object = r#"{"metadata":{"resourceVersion":"7"},"a":"}\n\"type\":"}"#;
        for (kind, expected) in [
            ("ADDED", Kind::Added),
            ("MODIFIED", Kind::Modified),
            ("DELETED", Kind::Deleted),
            ("BOOKMARK", Kind::Bookmark),
            ("ERROR", Kind::Error),
        ] {
            check(&format!(r#"{{"type":"{kind}","object":{object}}}"#), expected, "7", object);
        }
    }

    #[test]
    fn any_order_and_spelling_will_do() {
        let object = r#"{"metadata":{"resourceVersion":"7"}}"#;
        for line in [
            format!(r#"{{"object":{object},"type":"DELETED"}}"#),
            format!("{{ \"type\" : \"DELETED\" , \"object\" : {object} }}\r"),
            format!(r#"{{"type":"DELETED","object":{object},"more":[1]}}"#),
        ] {
            check(&line, Kind::Deleted, "7", object);
        }
    }

    #[test]
    fn a_bookmark_may_end_what_was_there_before() {
        let line = r#"{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true","x":"y"},"resourceVersion":"9"}}}"#;
        assert_eq!(Line::read(line.as_bytes()).unwrap().kind, Kind::InitialEnd);
    }

    #[test]
    fn what_is_cut_or_garbled_is_no_event() {
        let line = br#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"},"a":[1]}}"#;
        for end in 0..line.len() {
            assert_eq!(Line::read(&line[..end]), None, "{end}");
        }
        for line in [
            r#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"},"a":oops}}"#,
            r#"{"type":"ADDED","object":7}"#,
            r#"{"type":"ADDED","object":[{}]}"#,
            r#"{"type":"ADDED"}"#,
            r#"{"type":"RENAMED","object":{}}"#,
            "<html>",
        ] {
            assert_eq!(Line::read(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut lines = Lines::default();
        let part = vec![b'x'; LONGEST];
        let ignored = |_: &[u8]| ControlFlow::<()>::Continue(());
        assert_eq!(lines.feed(&part, ignored), Ok(ControlFlow::Continue(())));
        assert_eq!(lines.feed(b"x", ignored), Err(TooLong));
    }

    #[test]
    fn whoever_has_heard_enough_hears_no_more() {
        let mut heard = 0;
        let fed = Lines::default().feed(b"a\nb\nc\n", |line| {
            heard += 1;
            if line == b"b" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((fed, heard), (Ok(ControlFlow::Break(())), 2));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn lines_are_the_same_whatever_the_chunks(
            text in proptest::collection::vec("[a-c]{0,6}", 0..8),
            chunk in 1_usize..12,
        ) {
            let whole: String = text.iter().flat_map(|line| [line, "\n"]).collect();
            let expected: Vec<_> = text.iter().map(|line| line.as_bytes().to_vec()).collect();
            prop_assert_eq!(lines(whole.as_bytes(), chunk), expected);
        }

        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            for start in [&b""[..], br#"{"type":""#, br#"{"type":"ADDED","object":{"#] {
                drop(Line::read(&[start, &bytes].concat()));
            }
        }
    }
}

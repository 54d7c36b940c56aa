//! Lines of a watch, each an event.

use std::{borrow::Cow, fmt, iter::once_with, ops::ControlFlow};

use memchr::memchr;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Unexpected, Visitor},
};

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
    /// What a line may tell, the likeliest first; nothing if it is no event. The
    /// first whose object is JSON to its end is right.
    pub(super) fn readings(line: &'a [u8]) -> impl Iterator<Item = Self> {
        let (usual, odd) = (once_with(|| Self::usual(line)), once_with(|| Self::odd(line)));
        usual.chain(odd).flatten()
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

    /// Reads of the object what a watch must know. Of an object that somebody
    /// else reads, that is its version and nothing after it.
    fn of(kind: &[u8], object: Cow<'a, [u8]>) -> Option<Self> {
        if object.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let kind = match kind {
            b"ADDED" => Kind::Added,
            b"MODIFIED" => Kind::Modified,
            b"DELETED" => Kind::Deleted,
            b"ERROR" | b"BOOKMARK" => return Self::of_the_stream(kind, object),
            _ => return None,
        };
        let version = version_of(&object)?;
        Some(Self { kind, object, version })
    }

    /// Of the stream itself; all of the object is read.
    fn of_the_stream(kind: &[u8], object: Cow<'a, [u8]>) -> Option<Self> {
        let Object { metadata } = serde_json::from_slice(&object).ok()?;
        let Metadata { resource_version: version, annotations } = metadata.unwrap_or_default();
        let is_end = annotations.unwrap_or_default().initial_events_end.as_deref() == Some("true");
        let kind = match kind {
            b"ERROR" => Kind::Error,
            _ if is_end => Kind::InitialEnd,
            _ => Kind::Bookmark,
        };
        Some(Self { kind, object, version: version.unwrap_or_default() })
    }
}

/// Whether bytes are JSON from the first to the last.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// The version of an object, empty if it has none; nothing if the bytes are no
/// JSON up to there. What comes after the version is not looked at.
fn version_of(object: &[u8]) -> Option<String> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_slice(object);
    let sought = Sought { path: &["metadata", "resourceVersion"], found: &mut found };
    let read = sought.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match (found, read) {
        (Some(version), _) => Some(version),
        (None, Ok(())) => Some(String::new()),
        (None, Err(_)) => None,
    }
}

/// A text at the end of a path of names. Once it is found, nothing more is read,
/// which the parser takes for an error.
struct Sought<'a> {
    path: &'a [&'a str],
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Sought<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sought<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a version")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if !self.path.is_empty() {
            return Err(E::invalid_type(Unexpected::Str(text), &self));
        }
        *self.found = Some(text.to_owned());
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Some((name, path)) = self.path.split_first() else {
            return Err(A::Error::invalid_type(Unexpected::Map, &self));
        };
        while let Some(is_it) = fields.next_key_seed(Is(name))? {
            if is_it {
                fields.next_value_seed(Sought { path, found: &mut *self.found })?;
                if self.found.is_some() {
                    return Ok(());
                }
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Whether a name is this one.
struct Is<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<bool, E> {
        Ok(name == self.0.as_bytes())
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

    fn read(line: &[u8]) -> Option<Line<'_>> {
        Line::readings(line).find(|line| is_whole(&line.object))
    }

    #[track_caller]
    fn check(line: &str, kind: Kind, version: &str, object: &str) {
        let line = read(line.as_bytes()).unwrap();
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
    fn an_object_may_have_no_version_and_its_version_may_come_last() {
        for (object, version) in [
            ("{}", ""),
            (r#"{"metadata":null}"#, ""),
            (r#"{"metadata":{"resourceVersion":null},"a":1}"#, ""),
            (r#"{"resourceVersion":"1","spec":{"metadata":{"resourceVersion":"2"}}}"#, ""),
            (
                r#"{"a":[{}],"metadata":{"labels":{"resourceVersion":"1"},"resourceVersion":"7"}}"#,
                "7",
            ),
            (r#"{"meta\u0064ata":{"resourceVersion":"7\u0031"}}"#, "71"),
        ] {
            check(
                &format!(r#"{{"type":"ADDED","object":{object}}}"#),
                Kind::Added,
                version,
                object,
            );
        }
    }

    #[test]
    fn a_bookmark_may_end_what_was_there_before() {
        let line = r#"{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true","x":"y"},"resourceVersion":"9"}}}"#;
        assert_eq!(read(line.as_bytes()).unwrap().kind, Kind::InitialEnd);
    }

    #[test]
    fn what_is_cut_or_garbled_is_no_event() {
        let line = br#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"},"a":[1]}}"#;
        for end in 0..line.len() {
            assert_eq!(read(&line[..end]), None, "{end}");
        }
        for line in [
            r#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"},"a":oops}}"#,
            r#"{"type":"ADDED","object":{"a":oops,"metadata":{"resourceVersion":"7"}}}"#,
            r#"{"type":"ADDED","object":{"metadata":{"resourceVersion":7}}}"#,
            r#"{"type":"ADDED","object":{"metadata":"7"}}"#,
            r#"{"type":"ADDED","object":{}}}"#,
            r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"},"a":oops}}"#,
            r#"{"type":"ADDED","object":7}"#,
            r#"{"type":"ADDED","object":[{}]}"#,
            r#"{"type":"ADDED"}"#,
            r#"{"type":"RENAMED","object":{}}"#,
            "<html>",
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
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
                drop(read(&[start, &bytes].concat()));
            }
        }
    }
}

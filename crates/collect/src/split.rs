//! Splits the items off a list while its bytes arrive.
//!
//! Nothing ever holds a page: an item that lies within one chunk is handed out
//! where it lies, one that straddles chunks is put together in a buffer that is
//! used again and again. Everything around the items is small, and is kept to
//! be read when the list has ended, because servers write `metadata` first for
//! their own kinds and last for custom ones.

use memchr::memchr2;
use serde::Deserialize;

/// No API server stores larger objects; a limit keeps a broken stream from
/// filling the memory.
const LARGEST_ITEM: usize = 16 * 1024 * 1024;
/// Everything around the items.
const LARGEST_FRAME: usize = 1024 * 1024;

/// Takes a list apart.
#[derive(Debug, Default)]
pub struct Splitter {
    /// What stands around the items, with an empty list in their place.
    frame: Vec<u8>,
    /// The part of an item that came with earlier chunks.
    item: Vec<u8>,
    place: Place,
    /// How deep in objects and lists, counted from where the place begins.
    depth: usize,
    text: Text,
    /// Where the last text at the top began in the frame.
    word: usize,
    items: Items,
}

/// Which bytes come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Around the items.
    #[default]
    Frame,
    /// Between two items.
    Between,
    /// In an item.
    Item,
}

/// Whether the next byte is part of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    /// After a backslash.
    Escaped,
}

/// How far the way to the items has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Items {
    #[default]
    Unseen,
    /// Their name was read; their list comes next.
    Named,
    Seen,
}

/// What a list says beside its items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub api_version: String,
    #[serde(default)]
    pub metadata: ListMeta,
}

/// What a list says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListMeta {
    #[serde(default)]
    pub resource_version: String,
    /// What to ask the next page with; empty on the last one.
    #[serde(default, rename = "continue")]
    pub next: String,
    pub remaining_item_count: Option<i64>,
}

/// Why bytes are no list.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    #[error("an item of the list is larger than {LARGEST_ITEM} bytes")]
    ItemTooLarge,
    #[error("the list says more than {LARGEST_FRAME} bytes around its items")]
    FrameTooLarge,
    #[error("an item of the list is not an object")]
    NotAnObject,
    #[error("a status stands in place of the list")]
    NotAList,
    #[error("the list ends too early")]
    Truncated,
    #[error("the list goes on with the page that it came from")]
    Circular,
    #[error("the list is malformed")]
    Malformed(#[source] serde_json::Error),
}

impl Splitter {
    /// Takes the next bytes, and hands out every item that ends in them.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), SplitError> {
        let mut rest = chunk;
        while !rest.is_empty() {
            rest = match self.place {
                Place::Frame => self.frame(rest)?,
                Place::Between => self.between(rest)?,
                Place::Item => self.item(rest, &mut each)?,
            };
        }
        Ok(())
    }

    /// The list has ended: what it said beside its items.
    pub fn finish(self) -> Result<Frame, SplitError> {
        if self.place != Place::Frame || self.depth != 0 || self.frame.is_empty() {
            return Err(SplitError::Truncated);
        }
        let frame: Frame = serde_json::from_slice(&self.frame).map_err(SplitError::Malformed)?;
        if frame.kind == "Status" { Err(SplitError::NotAList) } else { Ok(frame) }
    }

    /// Keeps what stands around the items, up to where they begin.
    fn frame<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], SplitError> {
        for (at, byte) in bytes.iter().enumerate() {
            let at_top = self.depth == 1 && self.text == Text::Outside;
            if self.frame.len() >= LARGEST_FRAME {
                return Err(SplitError::FrameTooLarge);
            }
            self.frame.push(*byte);
            if at_top {
                self.at_top(*byte);
            }
            self.step(*byte);
            if self.text == Text::Outside && *byte == b'"' && self.depth == 1 {
                self.word_ended();
            }
            if at_top && *byte == b'[' && self.items == Items::Named {
                (self.items, self.place, self.depth) = (Items::Seen, Place::Between, 0);
                return Ok(bytes.get(at + 1..).unwrap_or_default());
            }
        }
        Ok(&[])
    }

    /// Looks at a byte between the members of the list's own object.
    fn at_top(&mut self, byte: u8) {
        match byte {
            b'"' => self.word = self.frame.len(),
            b':' | b'[' | b' ' | b'\n' | b'\r' | b'\t' => {}
            // Something else than a list was there.
            _ if self.items == Items::Named => self.items = Items::Unseen,
            _ => {}
        }
    }

    /// A text at the top has ended; values that are texts cannot be mistaken
    /// for the name, because a list must follow.
    fn word_ended(&mut self) {
        let word = self.frame.get(self.word..self.frame.len() - 1);
        self.items = match self.items {
            Items::Seen => Items::Seen,
            Items::Unseen | Items::Named if word == Some(b"items") => Items::Named,
            Items::Unseen | Items::Named => Items::Unseen,
        };
    }

    /// Looks for the next item, or for the end of the items.
    fn between<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], SplitError> {
        let blank = |byte: &u8| matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t');
        let Some(at) = bytes.iter().position(|byte| !blank(byte)) else { return Ok(&[]) };
        match bytes.get(at) {
            Some(b'{') => {
                (self.place, self.depth) = (Place::Item, 0);
                self.item.clear();
                Ok(bytes.get(at..).unwrap_or_default())
            }
            Some(b']') => {
                self.frame.push(b']');
                (self.place, self.depth) = (Place::Frame, 1);
                Ok(bytes.get(at + 1..).unwrap_or_default())
            }
            _ => Err(SplitError::NotAnObject),
        }
    }

    /// Hands an item out where it ends, or keeps what there is of it.
    fn item<'a>(
        &mut self,
        bytes: &'a [u8],
        each: &mut impl FnMut(&[u8]),
    ) -> Result<&'a [u8], SplitError> {
        let end = self.item_end(bytes);
        let (part, rest) =
            bytes.split_at_checked(end.unwrap_or(bytes.len())).unwrap_or((bytes, &[]));
        if self.item.len() + part.len() > LARGEST_ITEM {
            return Err(SplitError::ItemTooLarge);
        }
        if end.is_none() {
            self.item.extend_from_slice(part);
            return Ok(rest);
        }
        self.place = Place::Between;
        if self.item.is_empty() {
            each(part);
        } else {
            self.item.extend_from_slice(part);
            each(&self.item);
            self.item.clear();
        }
        Ok(rest)
    }

    /// Just behind the item's last byte, if that is among these.
    ///
    /// Nearly all the time of a list is spent here, so what is followed stays
    /// in registers and most bytes are never looked at one by one.
    fn item_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let (mut depth, mut text, mut at) = (self.depth, self.text, 0);
        let end = loop {
            let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { break None };
            let found = match text {
                Text::Outside => rest.iter().position(|byte| is_structure(*byte)),
                Text::Inside => memchr2(b'"', b'\\', rest),
                Text::Escaped => Some(0),
            };
            let Some(step) = found else { break None };
            at += step + 1;
            match (text, rest.get(step)) {
                (Text::Outside, Some(b'"')) | (Text::Escaped, _) => text = Text::Inside,
                (Text::Inside, Some(b'"')) => text = Text::Outside,
                (Text::Inside, _) => text = Text::Escaped,
                (Text::Outside, Some(b'{' | b'[')) => depth += 1,
                (Text::Outside, _) if depth <= 1 => {
                    depth = 0;
                    break Some(at);
                }
                (Text::Outside, _) => depth -= 1,
            }
        };
        (self.depth, self.text) = (depth, text);
        end
    }

    /// Follows texts and nesting by one byte.
    fn step(&mut self, byte: u8) {
        self.text = match (self.text, byte) {
            (Text::Inside, b'\\') => Text::Escaped,
            (Text::Inside, b'"') => Text::Outside,
            (Text::Outside, b'"') | (Text::Escaped | Text::Inside, _) => Text::Inside,
            (Text::Outside, b'{' | b'[') => {
                self.depth += 1;
                Text::Outside
            }
            (Text::Outside, b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                Text::Outside
            }
            (Text::Outside, _) => Text::Outside,
        };
    }
}

/// Whether a byte outside of texts opens or closes something.
fn is_structure(byte: u8) -> bool {
    matches!(byte, b'"' | b'{' | b'}' | b'[' | b']')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn split(list: &[u8], chunk: usize) -> Result<(Vec<Value>, Frame), SplitError> {
        let mut splitter = Splitter::default();
        let mut items = Vec::new();
        for part in list.chunks(chunk) {
            splitter.feed(part, |item| items.push(serde_json::from_slice(item).unwrap()))?;
        }
        Ok((items, splitter.finish()?))
    }

    #[track_caller]
    fn check(list: &str, names: &[&str], version: &str) {
        for chunk in [1, 2, 3, 7, 64, 4096] {
            let (items, frame) = split(list.as_bytes(), chunk).unwrap();
            let found: Vec<_> = items.iter().map(|item| item["n"].as_str().unwrap()).collect();
            assert_eq!(found, names, "chunks of {chunk}");
            assert_eq!(frame.metadata.resource_version, version);
        }
    }

    #[test]
    fn metadata_may_come_first_or_last() {
        check(
            r#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"n":"a"},{"n":"b"}]}"#,
            &["a", "b"],
            "7",
        );
        check(
            "{\n \"items\" : [ {\"n\":\"a\"}\n,\n{\"n\":\"b\"} ],\n\"metadata\":{\"resourceVersion\":\"7\"}}\n",
            &["a", "b"],
            "7",
        );
    }

    #[test]
    fn a_list_may_be_empty_or_null_or_absent() {
        check(r#"{"items":[],"metadata":{"resourceVersion":"7"}}"#, &[], "7");
        check(r#"{"items":null,"metadata":{"resourceVersion":"7"}}"#, &[], "7");
        check(r#"{"kind":"PodList","metadata":{}}"#, &[], "");
    }

    #[test]
    fn what_looks_like_structure_in_a_text_is_none() {
        check(
            r#"{"items":[{"n":"a","x":"\"}],{\\"},{"n":"b","y":[{"z":"\\"}]}],"metadata":{"resourceVersion":"7"}}"#,
            &["a", "b"],
            "7",
        );
    }

    #[test]
    fn only_the_items_of_the_list_itself_count() {
        check(
            r#"{"note":"items","metadata":{"items":[1,2],"resourceVersion":"7"},"list":["items",[3]],"items":[{"n":"a"}]}"#,
            &["a"],
            "7",
        );
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let refused = |list: &str| split(list.as_bytes(), 5).unwrap_err().to_string();
        assert_eq!(refused(r#"{"items":[{"n":"a"}"#), "the list ends too early");
        assert_eq!(refused(r#"{"items":[{"n":"a"#), "the list ends too early");
        assert_eq!(refused(""), "the list ends too early");
        assert_eq!(refused(r#"{"items":[1]}"#), "an item of the list is not an object");
        let status = r#"{"kind":"Status","metadata":{},"code":500}"#;
        assert_eq!(refused(status), "a status stands in place of the list");
        assert_eq!(refused("<html>"), "the list is malformed");
        assert_eq!(refused("{]}{"), "the list ends too early");
        assert_eq!(
            refused(&format!("{{\"x\":\"{}", "y".repeat(LARGEST_FRAME))),
            "the list says more than 1048576 bytes around its items"
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i32>().prop_map(|number| json!(number)),
            "[a-z\"\\\\{}\\[\\],:é]{0,12}".prop_map(|text| json!(text)),
            Just(json!(null)),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-z\"\\\\{}]{0,6}", inner, 0..4)
                    .prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn items_are_what_a_parser_finds(
            items in proptest::collection::vec(proptest::collection::btree_map("[a-z\"]{0,5}", value(), 0..4), 0..6),
            around in value(),
            chunk in 1_usize..80,
        ) {
            let list = json!({"a": around, "items": items, "metadata": {"resourceVersion": "9"}, "z": around});
            for text in [list.to_string(), serde_json::to_string_pretty(&list).unwrap()] {
                let (found, frame) = split(text.as_bytes(), chunk).unwrap();
                prop_assert_eq!(&json!(found), &list["items"]);
                prop_assert_eq!(&frame.metadata.resource_version, "9");
            }
        }

        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), chunk in 1_usize..20) {
            for start in [&b""[..], b"{\"items\":[", b"{\"items\":[{"] {
                let mut splitter = Splitter::default();
                let list = [start, &bytes].concat();
                let mut parts = list.chunks(chunk);
                let fed = parts.try_for_each(|part| splitter.feed(part, |_| {}));
                drop(fed.and_then(|()| splitter.finish()));
            }
        }
    }
}

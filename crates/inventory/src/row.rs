//! A row: what is known about one object, encoded once.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{change::Place, json};

/// What names a row, and the kind of its object.
///
/// A row is identified by target, namespace, name and uid; a recreated object
/// is a new row.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity<'a> {
    /// Namespace of the target; of the object, for rows of cluster targets.
    #[serde(borrow)]
    pub target_namespace: Cow<'a, str>,
    /// Name of the target.
    #[serde(borrow)]
    pub target_name: Cow<'a, str>,
    /// Namespace of the object; empty for cluster-scoped kinds.
    #[serde(borrow)]
    pub namespace: Cow<'a, str>,
    /// Name of the object.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The object's uid.
    #[serde(borrow)]
    pub uid: Cow<'a, str>,
    /// API group of the kind; empty for the core group.
    #[serde(borrow, default)]
    pub group: Cow<'a, str>,
    /// API version of the kind.
    #[serde(borrow)]
    pub version: Cow<'a, str>,
    /// The kind.
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
}

/// First half of the SHA-256 of a row's canonical JSON.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowHash(pub u128);

/// One row as canonical JSON, with its hash; cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    bytes: Arc<[u8]>,
    hash: RowHash,
}

impl Row {
    /// Encodes a row. `attributes` is canonical JSON: an object, or `null`.
    pub fn new(identity: &Identity<'_>, attributes: &[u8]) -> Self {
        Self::build(identity, |out| out.extend_from_slice(attributes))
    }

    /// Encodes a row whose attributes are written in place.
    pub fn build(identity: &Identity<'_>, attributes: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut bytes = Vec::with_capacity(1024);
        identity.write(&mut bytes);
        bytes.extend_from_slice(ATTRIBUTES);
        attributes(&mut bytes);
        bytes.push(b'}');
        let hash = RowHash::of(&bytes);
        Self { bytes: bytes.into(), hash }
    }

    /// Encodes a row from a value, for readers of documents and for tests.
    pub fn of_value(identity: &Identity<'_>, attributes: &Value) -> Self {
        let mut text = Vec::new();
        json::write_value(attributes, &mut text);
        Self::new(identity, &text)
    }

    /// The row as canonical JSON.
    pub fn as_json(&self) -> &[u8] {
        &self.bytes
    }

    /// The hash that tells whether a row has changed.
    pub fn hash(&self) -> RowHash {
        self.hash
    }

    /// What names the row. It is read off the front; the attributes are not touched.
    pub fn identity(&self) -> Identity<'_> {
        Identity::read(&self.bytes)
    }

    /// The attributes as canonical JSON.
    pub fn attributes(&self) -> &[u8] {
        let start = attributes_start(&self.bytes);
        let end = self.bytes.len().saturating_sub(1);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The bytes, shared.
    pub(crate) fn share(&self) -> Arc<[u8]> {
        Arc::clone(&self.bytes)
    }

    /// A row from the parts of one.
    pub(crate) fn from_parts(bytes: Arc<[u8]>, hash: RowHash) -> Self {
        Self { bytes, hash }
    }

    /// What is left when the row is gone: its front, without the attributes.
    pub(crate) fn tombstone(&self) -> Arc<[u8]> {
        let end = attributes_start(&self.bytes).saturating_sub(ATTRIBUTES.len());
        self.bytes.get(..end).unwrap_or_default().into()
    }
}

impl RowHash {
    fn of(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        let (half, _) = digest.split_at(16);
        Self(half.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte)))
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.bytes))
    }
}

impl fmt::Debug for RowHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

const ATTRIBUTES: &[u8] = b",\"attributes\":";

/// Where the attributes begin. The members before them are texts, in which a
/// quote is always escaped, so the first unescaped match is the member.
fn attributes_start(bytes: &[u8]) -> usize {
    let mut reader = Reader { bytes, at: 1 };
    while let Some(key) = reader.key() {
        if key == b"attributes" {
            return reader.at;
        }
        reader.text();
    }
    bytes.len()
}

impl<'a> Identity<'a> {
    /// Where the row says that it is; all rows of a partition say the same.
    pub fn place(&self) -> Place<'_> {
        (&self.target_namespace, &self.target_name, &self.namespace)
    }

    /// The same identity with nothing borrowed.
    pub fn into_owned(self) -> Identity<'static> {
        let owned = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        Identity {
            target_namespace: owned(self.target_namespace),
            target_name: owned(self.target_name),
            namespace: owned(self.namespace),
            name: owned(self.name),
            uid: owned(self.uid),
            group: owned(self.group),
            version: owned(self.version),
            kind: owned(self.kind),
        }
    }

    /// Appends the members before `attributes`, without a closing brace.
    fn write(&self, out: &mut Vec<u8>) {
        let Self { target_namespace, target_name, namespace, name, uid, group, version, kind } =
            self;
        let members = [
            ("{\"targetNamespace\":", target_namespace),
            (",\"targetName\":", target_name),
            (",\"namespace\":", namespace),
            (",\"name\":", name),
            (",\"group\":", group),
            (",\"version\":", version),
            (",\"kind\":", kind),
            (",\"uid\":", uid),
        ];
        for (prefix, text) in members {
            if prefix != ",\"group\":" || !text.is_empty() {
                out.extend_from_slice(prefix.as_bytes());
                json::write_text(text, out);
            }
        }
    }

    /// Reads the front of a row, whole or cut before its attributes.
    pub(crate) fn read(bytes: &'a [u8]) -> Self {
        let mut identity = Identity::default();
        let mut reader = Reader { bytes, at: 1 };
        while let Some(key) = reader.key() {
            let field = match key {
                b"targetNamespace" => &mut identity.target_namespace,
                b"targetName" => &mut identity.target_name,
                b"namespace" => &mut identity.namespace,
                b"name" => &mut identity.name,
                b"group" => &mut identity.group,
                b"version" => &mut identity.version,
                b"kind" => &mut identity.kind,
                b"uid" => &mut identity.uid,
                _ => break,
            };
            *field = reader.text();
        }
        identity
    }
}

/// Reads the front of a row: texts only, as we wrote them.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next key, up to behind its colon.
    fn key(&mut self) -> Option<&'a [u8]> {
        if self.bytes.get(self.at) == Some(&b',') {
            self.at += 1;
        }
        let start = self.at + 1;
        let length = self.bytes.get(start..)?.iter().position(|byte| *byte == b'"')?;
        self.at = start + length + 2;
        self.bytes.get(start..start + length)
    }

    /// The next text; borrowed unless something in it is escaped.
    fn text(&mut self) -> Cow<'a, str> {
        let start = self.at + 1;
        let mut end = start;
        let mut plain = true;
        while let Some(byte) = self.bytes.get(end) {
            match byte {
                b'"' => break,
                b'\\' => {
                    plain = false;
                    end += 2;
                }
                _ => end += 1,
            }
        }
        self.at = end + 1;
        let inside = self.bytes.get(start..end).unwrap_or_default();
        if plain {
            return String::from_utf8_lossy(inside);
        }
        let quoted = self.bytes.get(start - 1..=end).unwrap_or_default();
        Cow::Owned(serde_json::from_slice(quoted).unwrap_or_default())
    }
}

/// The order in which rows stand in everything that leaves the process.
///
/// Target, namespace, name, uid, then the kind; each compared as a whole, which
/// a NUL between them brings about.
pub fn sort(rows: &mut [Row]) {
    rows.sort_by_cached_key(|row| {
        let Identity { target_namespace, target_name, namespace, name, uid, group, version, kind } =
            row.identity();
        let fields = [target_namespace, target_name, namespace, name, uid, group, version, kind];
        let mut key = Vec::with_capacity(fields.iter().map(|field| field.len() + 1).sum());
        for field in fields {
            key.extend_from_slice(field.as_bytes());
            key.push(0);
        }
        key
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn identity() -> Identity<'static> {
        Identity {
            target_namespace: "shop".into(),
            target_name: "workloads".into(),
            namespace: "shop".into(),
            name: "web".into(),
            uid: "u-1".into(),
            group: "apps".into(),
            version: "v1".into(),
            kind: "Deployment".into(),
        }
    }

    #[test]
    fn members_stand_in_the_order_of_the_contract() {
        let row = Row::of_value(&identity(), &json!({"b": 1, "a": null}));
        assert_eq!(
            format!("{row:?}"),
            r#"{"targetNamespace":"shop","targetName":"workloads","namespace":"shop","name":"web","group":"apps","version":"v1","kind":"Deployment","uid":"u-1","attributes":{"a":null,"b":1}}"#
        );
    }

    #[test]
    fn the_core_group_is_left_out() {
        let core = Identity { group: "".into(), ..identity() };
        let row = Row::of_value(&core, &Value::Null);
        assert!(!format!("{row:?}").contains("group"));
        assert_eq!(row.identity(), core);
        assert_eq!(row.attributes(), b"null");
    }

    #[test]
    fn a_tombstone_keeps_identity_and_kind() {
        let row = Row::of_value(&identity(), &json!({"secret": 1}));
        let front = row.tombstone();
        assert_eq!(Identity::read(&front), identity());
        assert!(front.len() < row.as_json().len());
    }

    #[test]
    fn the_order_is_that_of_whole_fields() {
        let named = |target: &str, name: &str, uid: &str| {
            let identity = Identity {
                target_name: target.to_owned().into(),
                name: name.to_owned().into(),
                uid: uid.to_owned().into(),
                ..identity()
            };
            Row::of_value(&identity, &Value::Null)
        };
        let mut rows = vec![
            named("b", "a", "1"),
            named("a-", "z", "1"),
            named("a", "z", "2"),
            named("a", "z", "1"),
        ];
        let expected = vec![
            named("a", "z", "1"),
            named("a", "z", "2"),
            named("a-", "z", "1"),
            named("b", "a", "1"),
        ];
        sort(&mut rows);
        assert_eq!(rows, expected);
    }

    proptest! {
        #[test]
        fn identity_and_attributes_read_back(texts in proptest::collection::vec("\\PC{0,12}|[\\x00-\\x7f]{0,8}", 8), note in "\\PC*") {
            let at = |index: usize| Cow::Owned(texts[index].clone());
            let identity = Identity {
                target_namespace: at(0), target_name: at(1), namespace: at(2), name: at(3),
                uid: at(4), group: at(5), version: at(6), kind: at(7),
            };
            let attributes = json!({"note": note, "attributes": {"x": ",\"attributes\":"}});
            let row = Row::of_value(&identity, &attributes);
            prop_assert_eq!(row.identity(), identity.clone());
            let front = row.tombstone();
            prop_assert_eq!(Identity::read(&front), identity);
            let back: Value = serde_json::from_slice(row.attributes()).unwrap();
            prop_assert_eq!(back, attributes);
        }
    }
}

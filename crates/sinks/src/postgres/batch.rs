//! Rows as statements carry them.

use std::{borrow::Cow, collections::HashSet, error::Error};

use bytes::{BufMut as _, BytesMut};
use kollect_inventory::{Identity, Row, Tombstone};
use memchr::memmem;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::Owner;
use crate::sink::RefusedRow;

/// What a stored row is found by within its inventory and cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RowKey<'r> {
    pub(super) target: Cow<'r, str>,
    pub(super) uid: Cow<'r, str>,
}

/// A row that is to be stored.
#[derive(Clone, Debug)]
pub(super) struct Wanted<'r> {
    pub(super) key: RowKey<'r>,
    pub(super) namespace: Cow<'r, str>,
    pub(super) payload: Jsonb<'r>,
}

/// JSON in the form that the server reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jsonb<'r>(pub(super) &'r [u8]);

/// Rows that can be stored, in the order of their keys, and those that cannot.
#[derive(Debug, Default)]
pub(super) struct Batch<'r> {
    pub(super) wanted: Vec<Wanted<'r>>,
    pub(super) refused: Vec<RefusedRow>,
    /// Keys of refused rows under which something older may be stored.
    pub(super) refused_keys: Vec<RowKey<'r>>,
    /// Bytes of the rows.
    pub(super) bytes: usize,
}

impl<'r> RowKey<'r> {
    pub(super) fn of(identity: &Identity<'r>) -> Self {
        // Objects that no server has seen have no uid; their names tell them apart.
        let uid = match identity.uid.as_ref() {
            "" => Cow::Owned(format!("{}/{}", identity.namespace, identity.name)),
            _ => identity.uid.clone(),
        };
        Self { target: identity.target_name.clone(), uid }
    }

    fn has_nul(&self) -> bool {
        self.target.contains('\0') || self.uid.contains('\0')
    }
}

impl<'r> Batch<'r> {
    pub(super) fn new(rows: impl Iterator<Item = &'r Row>, owner: Owner<'r>) -> Self {
        let mut batch = Self::default();
        let mut seen = HashSet::new();
        for row in rows {
            let identity = row.identity();
            let key = RowKey::of(&identity);
            let json = row.as_json();
            let reason = if !seen.insert(key.clone()) {
                Some("another row has its target and uid")
            } else if str::from_utf8(json).is_err() {
                Some("its text is not UTF-8")
            } else if has_nul(json) || key.has_nul() {
                Some("it holds a NUL character, which PostgreSQL does not keep")
            } else {
                None
            };
            if let Some(reason) = reason {
                batch.refused.push(RefusedRow {
                    identity: identity.into_owned(),
                    reason: reason.to_owned(),
                });
                if !key.has_nul() {
                    batch.refused_keys.push(key);
                }
                continue;
            }
            let namespace = resource_namespace(identity.namespace, owner);
            batch.bytes += json.len() + key.target.len() + key.uid.len() + namespace.len();
            batch.wanted.push(Wanted { key, namespace, payload: Jsonb(json) });
        }
        // In the order of the key a first export appends to its index.
        batch.wanted.sort_by(|one, other| one.key.cmp(&other.key));
        batch
    }
}

/// Keys of rows that are gone and not wanted again.
pub(super) fn gone<'r>(deletes: &'r [Tombstone], batch: &Batch<'r>) -> Vec<RowKey<'r>> {
    let keys = deletes.iter().map(|tombstone| RowKey::of(&tombstone.identity()));
    let is_wanted =
        |key: &RowKey<'r>| batch.wanted.binary_search_by(|row| row.key.cmp(key)).is_ok();
    keys.filter(|key| !is_wanted(key) && !key.has_nul()).collect()
}

/// What rows have as the namespace of their object.
pub(super) fn resource_namespace<'r>(namespace: Cow<'r, str>, owner: Owner<'r>) -> Cow<'r, str> {
    if namespace.is_empty() { Cow::Borrowed(owner.namespace) } else { namespace }
}

/// Whether canonical JSON spells a NUL: as `\u0000`, and after an even number
/// of backslashes.
fn has_nul(json: &[u8]) -> bool {
    memmem::find_iter(json, br"\u0000").any(|at| {
        let before = json.iter().take(at).rev().take_while(|byte| **byte == b'\\');
        before.count().is_multiple_of(2)
    })
}

impl ToSql for Jsonb<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        // The version of the format.
        out.put_u8(1);
        out.put_slice(self.0);
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::JSONB
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner<'static> = Owner { namespace: "shop", name: "web", cluster: "eu-1" };

    fn row(name: &str, uid: &str, namespace: &str, attributes: &str) -> Row {
        let identity = Identity {
            target_namespace: "shop".into(),
            target_name: "things".into(),
            namespace: namespace.into(),
            name: name.into(),
            uid: uid.into(),
            version: "v1".into(),
            kind: "Thing".into(),
            ..Identity::default()
        };
        Row::new(&identity, attributes.as_bytes())
    }

    #[test]
    fn keys_are_uids_or_else_namespace_and_name() {
        let rows = [row("b", "2", "", "{}"), row("a", "", "pay", "{}")];
        let batch = Batch::new(rows.iter(), OWNER);
        let keys: Vec<_> = batch.wanted.iter().map(|row| row.key.uid.as_ref()).collect();
        assert_eq!(keys, ["2", "pay/a"]);
        assert_eq!(batch.wanted[0].namespace, "shop");
    }

    #[test]
    fn what_cannot_be_stored_is_named_and_the_rest_is_not_held_up() {
        let rows = [
            row("a", "1", "n", "{}"),
            row("b", "1", "n", "{}"),
            row("c", "3", "n", r#"{"x":"a\u0000b"}"#),
            row("d", "4", "n", r#"{"x":"a\\u0000b"}"#),
            row("e\0", "", "n", "{}"),
        ];
        let batch = Batch::new(rows.iter(), OWNER);
        let stored: Vec<_> = batch.wanted.iter().map(|row| row.key.uid.as_ref()).collect();
        assert_eq!(stored, ["1", "4"]);
        let refused: Vec<_> = batch.refused.iter().map(|row| row.identity.name.as_ref()).collect();
        assert_eq!(refused, ["b", "c", "e\0"]);
        let kept: Vec<_> = batch.refused_keys.iter().map(|key| key.uid.as_ref()).collect();
        assert_eq!(kept, ["1", "3"]);
    }

    #[test]
    fn a_nul_is_told_from_a_backslash_before_the_same_letters() {
        assert!(has_nul(br#""\u0000""#) && has_nul(br#""\\\u0000""#));
        assert!(!has_nul(br#""\\u0000""#) && !has_nul(br#""u0000""#) && !has_nul(br#""\u0001""#));
    }
}

//! Writes rows: what has changed, or what a comparison finds.

use std::borrow::Cow;

use kollect_inventory::{Change, Identity, PartitionChange, PartitionKey, Place, Row};
use rusqlite::{Connection, Statement, types::ValueRef};

use super::{
    Owner,
    error::{Fault, is_about_the_row},
};
use crate::{
    progress::Progress,
    sink::{Export, RefusedRow},
};

/// After so many rows we say that we are alive and look whether anybody waits.
const STRIDE: u64 = 4096;

/// What was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) upserted: u64,
    pub(super) deleted: u64,
    pub(super) bytes: u64,
    pub(super) statements: u64,
    pub(super) refused: Vec<RefusedRow>,
}

/// Writes the rows of one inventory within a transaction.
pub(super) struct Writer<'t> {
    connection: &'t Connection,
    owner: Owner<'t>,
    at: String,
    progress: &'t Progress,
    upsert: Statement<'t>,
    delete: Statement<'t>,
    /// Rows since we last said that we are alive.
    unsaid: u64,
    written: Written,
}

/// What a stored row is found by within its inventory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'r> {
    target: Cow<'r, str>,
    namespace: Cow<'r, str>,
    uid: Cow<'r, str>,
}

/// Rows that a comparison has found to differ.
struct Difference {
    /// Stored rows that are gone.
    surplus: Vec<i64>,
    /// Positions of wanted rows that are not stored as they should be.
    wanting: Vec<usize>,
}

const UPSERT: &str = "INSERT INTO inventory_items (\
    inventory_namespace, inventory_name, cluster, target_name, resource_namespace, source_uid, \
    payload, exported_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
    ON CONFLICT (\
    inventory_namespace, inventory_name, cluster, target_name, resource_namespace, source_uid) \
    DO UPDATE SET payload = excluded.payload, exported_at = excluded.exported_at \
    WHERE payload IS NOT excluded.payload";

const DELETE: &str = "DELETE FROM inventory_items \
    WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3 \
    AND target_name = ?4 AND resource_namespace = ?5 AND source_uid = ?6";

const STORED: &str = "SELECT rowid, target_name, resource_namespace, source_uid, payload \
    FROM inventory_items \
    WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3";

const IN_ORDER: &str = "ORDER BY target_name, resource_namespace, source_uid";

impl<'t> Writer<'t> {
    pub(super) fn new(
        connection: &'t Connection,
        owner: Owner<'t>,
        export: &'t Export,
    ) -> Result<Self, Fault> {
        Ok(Self {
            connection,
            owner,
            at: export.at.to_string(),
            progress: &export.progress,
            upsert: connection.prepare(UPSERT)?,
            delete: connection.prepare(DELETE)?,
            unsaid: 0,
            written: Written::default(),
        })
    }

    pub(super) fn change(&mut self, change: &Change) -> Result<(), Fault> {
        match change {
            Change::All { rows, confines } => {
                let permits = confines.permits();
                self.replace(rows, None, |place| permits.delete(place))
            }
            Change::Since { upserts, deletes, partitions } => {
                for (partition, change) in partitions {
                    let rows = match change {
                        PartitionChange::Replace(rows) => rows.as_slice(),
                        PartitionChange::Drop => &[],
                    };
                    // A namespace and no namespace may share a range of the key.
                    self.replace(rows, Some(partition), |place| place == partition.place())?;
                }
                for tombstone in deletes {
                    let key = Key::of(tombstone.identity(), self.owner);
                    self.delete(&key)?;
                }
                for row in upserts {
                    self.upsert(&Key::of(row.identity(), self.owner), row)?;
                }
                Ok(())
            }
        }
    }

    /// What was written, all of it said.
    pub(super) fn finish(self) -> Result<Written, Fault> {
        self.progress.accepted(self.unsaid);
        if self.progress.is_abandoned() {
            return Err(Fault::abandoned());
        }
        Ok(self.written)
    }

    /// Makes what is stored, in all or in one partition, equal to rows; what
    /// is surplus goes where that is permitted.
    fn replace(
        &mut self,
        rows: &[Row],
        partition: Option<&PartitionKey>,
        may_delete: impl Fn(Place<'_>) -> bool,
    ) -> Result<(), Fault> {
        let mut wanted: Vec<_> =
            rows.iter().map(|row| (Key::of(row.identity(), self.owner), row)).collect();
        // In the order of the key a first export appends to the table.
        wanted.sort_by(|(one, _), (other, _)| one.cmp(other));
        wanted.dedup_by(|(key, row), (first, _)| {
            let twice = key == first;
            if twice {
                self.refuse(row, "another row has its target, namespace and uid");
            }
            twice
        });
        let Difference { surplus, wanting } = self.difference(&wanted, partition, may_delete)?;
        let mut statement =
            self.connection.prepare("DELETE FROM inventory_items WHERE rowid = ?1")?;
        for rowid in surplus {
            self.written.deleted += statement.execute([rowid])? as u64;
            self.count(size_of::<i64>())?;
        }
        for (key, row) in wanting.into_iter().filter_map(|at| wanted.get(at)) {
            self.upsert(key, row)?;
        }
        Ok(())
    }

    /// Walks through what is stored and what is wanted side by side, both in
    /// the order of the key; nothing is written meanwhile.
    fn difference(
        &mut self,
        wanted: &[(Key<'_>, &Row)],
        partition: Option<&PartitionKey>,
        may_delete: impl Fn(Place<'_>) -> bool,
    ) -> Result<Difference, Fault> {
        let [namespace, name, cluster] = self.owner.parameters();
        let mut statement;
        let mut stored = if let Some(partition) = partition {
            let within = "AND target_name = ?4 AND resource_namespace = ?5";
            let resource_namespace = resource_namespace(&partition.namespace, self.owner);
            statement = self.connection.prepare(&format!("{STORED} {within} {IN_ORDER}"))?;
            let target = partition.target.name.as_str();
            statement.query([namespace, name, cluster, target, resource_namespace])?
        } else {
            statement = self.connection.prepare(&format!("{STORED} {IN_ORDER}"))?;
            statement.query([namespace, name, cluster])?
        };
        self.written.statements += 1;
        let mut found = Difference { surplus: Vec::new(), wanting: Vec::new() };
        let (mut at, mut seen) = (0, 0_u64);
        while let Some(row) = stored.next()? {
            seen += 1;
            if seen.is_multiple_of(STRIDE) {
                // Whoever compares much writes little, and does not hang.
                self.progress.accepted(STRIDE);
                if self.progress.is_abandoned() {
                    return Err(Fault::abandoned());
                }
            }
            let key = Key::stored([row.get_ref(1)?, row.get_ref(2)?, row.get_ref(3)?]);
            let payload = row.get_ref(4)?.as_bytes().unwrap_or_default();
            while let Some((next, _)) = wanted.get(at)
                && key.as_ref().is_some_and(|key| next < key)
            {
                found.wanting.push(at);
                at += 1;
            }
            match wanted.get(at) {
                Some((next, row)) if key.as_ref() == Some(next) => {
                    if row.as_json() != payload {
                        found.wanting.push(at);
                    }
                    at += 1;
                }
                _ if is_gone(key.as_ref(), payload, &may_delete) => {
                    found.surplus.push(row.get(0)?);
                }
                _ => {}
            }
        }
        found.wanting.extend(at..wanted.len());
        Ok(found)
    }

    fn upsert(&mut self, key: &Key<'_>, row: &Row) -> Result<(), Fault> {
        let Ok(payload) = str::from_utf8(row.as_json()) else {
            self.refuse(row, "its text is not UTF-8");
            return Ok(());
        };
        // SQLite keeps such a text, but reads it only up to there.
        if has_nul(&row.identity()) {
            self.refuse(row, "its name holds a NUL character");
            return Ok(());
        }
        let [namespace, name, cluster] = self.owner.parameters();
        let Key { target, namespace: resource, uid } = key;
        let values = [namespace, name, cluster, target, resource, uid, payload, &self.at];
        let bytes = values.iter().map(|value| value.len()).sum();
        match self.upsert.execute(values) {
            Ok(changed) => self.written.upserted += changed as u64,
            // A trigger may have ended the transaction; then nothing can be isolated.
            Err(error) if is_about_the_row(&error) && !self.connection.is_autocommit() => {
                self.refuse(row, &error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        self.count(bytes)
    }

    fn delete(&mut self, key: &Key<'_>) -> Result<(), Fault> {
        let [namespace, name, cluster] = self.owner.parameters();
        let Key { target, namespace: resource, uid } = key;
        let values = [namespace, name, cluster, target, resource, uid];
        self.written.deleted += self.delete.execute(values)? as u64;
        self.count(values.iter().map(|value| value.len()).sum())
    }

    fn refuse(&mut self, row: &Row, reason: &str) {
        let identity = row.identity().into_owned();
        self.written.refused.push(RefusedRow { identity, reason: reason.to_owned() });
    }

    /// Counts a statement for one row.
    fn count(&mut self, bytes: usize) -> Result<(), Fault> {
        self.written.statements += 1;
        self.written.bytes += bytes as u64;
        self.unsaid += 1;
        if self.unsaid == STRIDE {
            self.progress.accepted(std::mem::take(&mut self.unsaid));
            if self.progress.is_abandoned() {
                return Err(Fault::abandoned());
            }
        }
        Ok(())
    }
}

/// Deletes all rows of an inventory; says how many.
pub(super) fn remove_all(
    connection: &Connection,
    owner: Owner<'_>,
) -> Result<u64, rusqlite::Error> {
    let text = "DELETE FROM inventory_items \
        WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3";
    Ok(connection.execute(text, owner.parameters())? as u64)
}

impl<'r> Key<'r> {
    fn of(identity: Identity<'r>, owner: Owner<'r>) -> Self {
        let namespace = match identity.namespace {
            empty if empty.is_empty() => Cow::Borrowed(owner.namespace),
            namespace => namespace,
        };
        // Objects that no server has seen have no uid; their names tell them apart.
        let uid = if identity.uid.is_empty() { identity.name } else { identity.uid };
        Self { target: identity.target_name, namespace, uid }
    }

    /// The key of a stored row, unless somebody has put something else there.
    fn stored([target, namespace, uid]: [ValueRef<'r>; 3]) -> Option<Self> {
        let text = |value: ValueRef<'r>| value.as_str().ok().map(Cow::Borrowed);
        Some(Self { target: text(target)?, namespace: text(namespace)?, uid: text(uid)? })
    }
}

/// What rows have as the namespace of their object.
fn resource_namespace<'a>(namespace: &'a str, owner: Owner<'a>) -> &'a str {
    if namespace.is_empty() { owner.namespace } else { namespace }
}

/// Whether a stored row that is not wanted may be deleted.
///
/// Only its text says exactly where it is. Where somebody has spoiled that,
/// the key has to do.
fn is_gone(key: Option<&Key<'_>>, payload: &[u8], may_delete: impl Fn(Place<'_>) -> bool) -> bool {
    match (serde_json::from_slice::<Identity<'_>>(payload), key) {
        (Ok(identity), _) => may_delete(identity.place()),
        (Err(_), Some(key)) => may_delete((&key.namespace, &key.target, &key.namespace)),
        (Err(_), None) => may_delete(("", "", "")),
    }
}

fn has_nul(identity: &Identity<'_>) -> bool {
    let Identity { target_namespace, target_name, namespace, name, uid, group, version, kind } =
        identity;
    [target_namespace, target_name, namespace, name, uid, group, version, kind]
        .into_iter()
        .any(|text| text.contains('\0'))
}

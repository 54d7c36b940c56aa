//! Writes many rows, or what a comparison finds, within a transaction.

use std::{
    collections::{HashMap, HashSet},
    pin::pin,
    time::SystemTime,
};

use kollect_inventory::{Change, PartitionChange, PartitionKey, Place, Row};
use tokio_postgres::{
    binary_copy::BinaryCopyInWriter,
    types::{ToSql, Type},
};

use super::{
    Owner,
    batch::{Batch, RowKey, Wanted, gone},
    connect::Session,
    error::Fault,
    layout::Key,
    statements::{STAGE, Text},
};
use crate::{
    progress::Progress,
    sink::{Export, RefusedRow},
};

/// So many rows, or so many bytes of them, are staged at once: a statement
/// ends before anybody thinks that it hangs.
const CHUNK_ROWS: usize = 10_000;
const CHUNK_BYTES: usize = 8 << 20;
/// After so many rows on the way we say that we are alive.
const STRIDE: usize = 1024;

/// What was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) upserted: u64,
    pub(super) deleted: u64,
    pub(super) refused: Vec<RefusedRow>,
}

/// Whether rows that the server refuses are looked for one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// One bad row ends the transaction.
    Plain,
    /// A bad row is found, named and left out.
    Isolating,
}

/// Writes the rows of one inventory within a transaction.
pub(super) struct Writer<'a> {
    pub(super) session: &'a mut Session,
    pub(super) owner: Owner<'a>,
    at: SystemTime,
    progress: &'a Progress,
    care: Care,
    pub(super) written: Written,
}

/// Whether keys that are written are remembered, to tell what is surplus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Keeps,
    Forgets,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        owner: Owner<'a>,
        export: &'a Export,
        care: Care,
    ) -> Self {
        let at = SystemTime::from(export.at);
        Self { session, owner, at, progress: &export.progress, care, written: Written::default() }
    }

    pub(super) async fn change(&mut self, change: &Change) -> Result<(), Fault> {
        match change {
            Change::All { rows, confines } => {
                let permits = confines.permits();
                self.replace(rows.iter(), None, |place| permits.delete(place)).await
            }
            Change::Since { upserts, deletes, partitions } => {
                if !partitions.is_empty() {
                    self.replace_partitions(partitions).await?;
                }
                let mut batch = Batch::new(upserts.iter(), self.owner);
                self.delete(&gone(deletes, &batch)).await?;
                self.written.refused.append(&mut batch.refused);
                self.merge_all(&batch.wanted, upserts, Memory::Forgets).await
            }
        }
    }

    pub(super) fn finish(self) -> Written {
        self.written
    }

    /// Makes partitions equal to their rows, all at once.
    async fn replace_partitions(
        &mut self,
        partitions: &[(PartitionKey, PartitionChange)],
    ) -> Result<(), Fault> {
        let rows = partitions.iter().flat_map(|(_, change)| match change {
            PartitionChange::Replace(rows) => rows.as_slice(),
            PartitionChange::Drop => &[],
        });
        let places: HashSet<Place<'_>> = partitions.iter().map(|(key, _)| key.place()).collect();
        let keys: Vec<_> = partitions.iter().map(|(key, _)| key).collect();
        self.replace(rows, Some(&keys), |place| places.contains(&place)).await
    }

    /// Makes what is stored, in all or in some partitions, equal to rows; what
    /// is surplus goes where that is permitted.
    async fn replace<'r>(
        &mut self,
        rows: impl Iterator<Item = &'r Row> + Clone,
        within: Option<&[&PartitionKey]>,
        may_delete: impl Fn(Place<'_>) -> bool,
    ) -> Result<(), Fault>
    where
        'a: 'r,
    {
        let owner = self.owner;
        let mut batch = Batch::new(rows.clone(), owner);
        self.written.refused.append(&mut batch.refused);
        self.keep(&batch.refused_keys).await?;
        self.merge_all(&batch.wanted, rows, Memory::Keeps).await?;
        self.remove_surplus(within, may_delete).await
    }

    /// Stages and merges rows, chunk by chunk.
    async fn merge_all<'r>(
        &mut self,
        wanted: &[Wanted<'_>],
        rows: impl IntoIterator<Item = &'r Row>,
        memory: Memory,
    ) -> Result<(), Fault> {
        let mut bad = Vec::new();
        for chunk in chunks(wanted) {
            let mut parts = vec![chunk];
            while let Some(part) = parts.pop() {
                match self.merge_with_care(part, memory).await {
                    Ok(foreign) => bad.extend(foreign),
                    Err(fault) => {
                        let reason = match fault.about_a_row() {
                            Some(reason) if self.care == Care::Isolating => reason,
                            _ => return Err(fault),
                        };
                        match part {
                            [one] => {
                                self.keep(std::slice::from_ref(&one.key)).await?;
                                bad.push((one.key.clone(), reason));
                            }
                            several => {
                                let (front, back) = several.split_at(several.len() / 2);
                                parts.extend([back, front]);
                            }
                        }
                    }
                }
            }
            self.progress.accepted(chunk.len() as u64);
            if self.progress.is_abandoned() {
                return Err(Fault::abandoned());
            }
        }
        self.refuse(&bad, rows);
        Ok(())
    }

    /// Names the rows that were refused under these keys.
    fn refuse<'r>(
        &mut self,
        bad: &[(RowKey<'_>, String)],
        rows: impl IntoIterator<Item = &'r Row>,
    ) {
        if bad.is_empty() {
            return;
        }
        let bad: HashMap<_, _> = bad.iter().map(|(key, reason)| (key, reason)).collect();
        for row in rows {
            let identity = row.identity();
            if let Some(reason) = bad.get(&RowKey::of(&identity)) {
                let (identity, reason) = (identity.into_owned(), (*reason).clone());
                self.written.refused.push(RefusedRow { identity, reason });
            }
        }
    }

    /// Merges rows so that a failure leaves the transaction as it was before.
    async fn merge_with_care<'k>(
        &mut self,
        rows: &[Wanted<'k>],
        memory: Memory,
    ) -> Result<Vec<(RowKey<'k>, String)>, Fault> {
        if self.care == Care::Plain {
            return self.merge(rows, memory).await;
        }
        self.say("SAVEPOINT kollect").await?;
        match self.merge(rows, memory).await {
            Ok(foreign) => {
                self.say("RELEASE SAVEPOINT kollect").await?;
                Ok(foreign)
            }
            Err(fault) if fault.about_a_row().is_some() => {
                self.say("ROLLBACK TO SAVEPOINT kollect").await?;
                Err(fault)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Stages rows and writes those that differ; returns those that another
    /// cluster keeps us from writing.
    async fn merge<'k>(
        &mut self,
        rows: &[Wanted<'k>],
        memory: Memory,
    ) -> Result<Vec<(RowKey<'k>, String)>, Fault> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.stage(rows).await?;
        let Owner { namespace, name, cluster } = self.owner;
        let at = self.at;
        let foreign = if self.session.layout()?.key == Key::Plain {
            self.foreign(rows).await?
        } else {
            Vec::new()
        };
        self.written.upserted +=
            self.execute(Text::Merge, &[&namespace, &name, &cluster, &at]).await?;
        if memory == Memory::Keeps {
            self.execute(Text::KeepStaged, &[]).await?;
        }
        self.say("TRUNCATE pg_temp.kollect_rows").await?;
        Ok(foreign)
    }

    async fn stage(&mut self, rows: &[Wanted<'_>]) -> Result<(), Fault> {
        self.session.statements += 1;
        let sink = self.session.client.copy_in(STAGE).await?;
        let types = [Type::TEXT, Type::TEXT, Type::TEXT, Type::JSONB];
        let mut copy = pin!(BinaryCopyInWriter::new(sink, &types));
        for (at, row) in rows.iter().enumerate() {
            let Wanted { key, namespace, payload } = row;
            let values: [&(dyn ToSql + Sync); 4] = [&key.target, &key.uid, namespace, payload];
            copy.as_mut().write(&values).await?;
            if (at + 1).is_multiple_of(STRIDE) {
                self.progress.alive();
            }
        }
        copy.as_mut().finish().await?;
        Ok(())
    }

    /// Rows that another cluster has, in a table whose key does not tell
    /// clusters apart.
    async fn foreign<'k>(
        &mut self,
        rows: &[Wanted<'k>],
    ) -> Result<Vec<(RowKey<'k>, String)>, Fault> {
        let Owner { namespace, name, cluster } = self.owner;
        let statement = self.session.prepare(Text::Foreign).await?;
        self.session.statements += 1;
        let found = self.session.client.query(&statement, &[&namespace, &name, &cluster]).await?;
        let mut foreign = Vec::new();
        for row in found {
            let (target, uid): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
            let other: &str = row.try_get(2)?;
            let is_it = |one: &&Wanted<'k>| one.key.target == target && one.key.uid == uid;
            let reason = format!(
                "the key of the table does not hold the cluster, and cluster {other:?} has this \
                 row: add cluster to the primary key, or give each cluster its own table"
            );
            foreign.extend(rows.iter().find(is_it).map(|one| (one.key.clone(), reason)));
        }
        Ok(foreign)
    }

    async fn delete(&mut self, keys: &[RowKey<'_>]) -> Result<(), Fault> {
        let Owner { namespace, name, cluster } = self.owner;
        for keys in keys.chunks(CHUNK_ROWS) {
            let (targets, uids) = arrays(keys);
            let parameters: [&(dyn ToSql + Sync); 5] =
                [&namespace, &name, &cluster, &targets, &uids];
            self.written.deleted += self.execute(Text::Delete, &parameters).await?;
            self.progress.accepted(keys.len() as u64);
        }
        Ok(())
    }

    /// Remembers keys that must not count as surplus.
    async fn keep(&mut self, keys: &[RowKey<'_>]) -> Result<(), Fault> {
        if keys.is_empty() {
            return Ok(());
        }
        let (targets, uids) = arrays(keys);
        self.execute(Text::Keep, &[&targets, &uids]).await?;
        Ok(())
    }

    pub(super) async fn execute(
        &mut self,
        text: Text,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Fault> {
        let statement = self.session.prepare(text).await?;
        self.session.statements += 1;
        Ok(self.session.client.execute(&statement, parameters).await?)
    }

    pub(super) async fn say(&mut self, text: &str) -> Result<(), Fault> {
        self.session.statements += 1;
        Ok(self.session.client.batch_execute(text).await?)
    }
}

/// Pieces that are neither too many rows nor too many bytes.
fn chunks<'w, 'r>(wanted: &'w [Wanted<'r>]) -> Vec<&'w [Wanted<'r>]> {
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, row) in wanted.iter().enumerate() {
        let size = row.payload.0.len();
        if at > start && (at - start == CHUNK_ROWS || bytes + size > CHUNK_BYTES) {
            chunks.extend(wanted.get(start..at));
            (start, bytes) = (at, 0);
        }
        bytes += size;
    }
    chunks.extend(wanted.get(start..).filter(|rest| !rest.is_empty()));
    chunks
}

fn arrays<'k>(keys: &'k [RowKey<'_>]) -> (Vec<&'k str>, Vec<&'k str>) {
    keys.iter().map(|key| (key.target.as_ref(), key.uid.as_ref())).unzip()
}

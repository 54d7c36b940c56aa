//! A small change: one statement, one round trip.

use std::time::SystemTime;

use kollect_inventory::{
    Change,
    watermark::{Expected, Recorded, Step},
};
use tokio_postgres::types::ToSql;

use super::{
    Owner, Turn,
    batch::{Batch, RowKey, gone},
    connect::Session,
    error::Fault,
    record::Columns,
    statements::Text,
    write::Written,
};
use crate::sink::Receipt;

/// Beyond so many rows, or so many bytes, staging costs less.
const MOST_ROWS: usize = 1_000;
const MOST_BYTES: usize = 4 << 20;

/// What one statement carries.
struct Load<'a> {
    owner: Owner<'a>,
    at: SystemTime,
    batch: Batch<'a>,
    gone: Vec<RowKey<'a>>,
    /// What will be recorded, and what must be before.
    recorded: Recorded,
    before: Recorded,
}

impl Turn<'_> {
    /// Writes the change at once, if it is small and the record is as
    /// expected; none if somebody has to look closer.
    pub(super) async fn delta(
        &self,
        session: &mut Session,
    ) -> Result<Option<(Receipt, Option<String>)>, Fault> {
        let has_records = session.layout()?.records.is_ok();
        let Some(load) = self.load(has_records) else { return Ok(None) };
        if !has_records {
            self.mark_dirty();
        }
        let row = match load.send(session, has_records).await {
            Ok(row) => row,
            // One of the rows is found where they are written with care.
            Err(fault) if fault.about_a_row().is_some() => {
                if !has_records {
                    self.destination.remember(self.owner.parts(), Some(load.before));
                }
                return Ok(None);
            }
            Err(fault) => return Err(fault),
        };
        let [moved, upserted, deleted] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?]
            .map(|count: i64| count.unsigned_abs());
        if moved == 0 {
            if !has_records {
                self.destination.remember(self.owner.parts(), Some(load.before));
            }
            return Ok(None);
        }
        self.export.progress.accepted(upserted + deleted + 1);
        let written = Written { upserted, deleted, refused: load.batch.refused };
        Ok(Some((self.receipt(session, written, load.recorded)?, row.try_get(3)?)))
    }

    /// The change as one statement, if it can be one.
    fn load(&self, has_records: bool) -> Option<Load<'_>> {
        let Change::Since { upserts, deletes, partitions } = &*self.export.change else {
            return None;
        };
        let is_small = upserts.len() + deletes.len() <= MOST_ROWS
            && upserts.iter().map(|row| row.as_json().len()).sum::<usize>() <= MOST_BYTES;
        let Expected::Token(token) = &self.export.expected else { return None };
        if !is_small || !partitions.is_empty() {
            return None;
        }
        let before = if has_records {
            // The statement makes sure that it is so.
            Recorded {
                token: token.clone(),
                content: None,
                projection: self.projection.clone(),
                dirty: false,
                covered: Vec::new(),
                missing: Vec::new(),
            }
        } else {
            self.destination.remembered(self.owner.parts())?
        };
        if !matches!(self.export.judge(Some(&before), &self.projection), Ok(Step::Apply)) {
            return None;
        }
        let batch = Batch::new(upserts.iter(), self.owner);
        Some(Load {
            owner: self.owner,
            at: SystemTime::from(self.export.at),
            gone: gone(deletes, &batch),
            recorded: self.export.record(&self.projection, &batch.refused),
            batch,
            before,
        })
    }
}

impl Load<'_> {
    async fn send(
        &self,
        session: &mut Session,
        has_records: bool,
    ) -> Result<tokio_postgres::Row, Fault> {
        let Owner { namespace, name, cluster } = self.owner;
        let wanted = &self.batch.wanted;
        let targets: Vec<_> = wanted.iter().map(|row| row.key.target.as_ref()).collect();
        let uids: Vec<_> = wanted.iter().map(|row| row.key.uid.as_ref()).collect();
        let namespaces: Vec<_> = wanted.iter().map(|row| row.namespace.as_ref()).collect();
        let payloads: Vec<_> = wanted.iter().map(|row| row.payload).collect();
        let gone_targets: Vec<_> = self.gone.iter().map(|key| key.target.as_ref()).collect();
        let gone_uids: Vec<_> = self.gone.iter().map(|key| key.uid.as_ref()).collect();
        let Columns { writer, sequence, digest, rows, projection } = Columns::of(&self.recorded);
        let token = &self.before.token;
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&namespace, &name, &cluster, &self.at];
        if has_records {
            parameters.extend([
                &writer as &(dyn ToSql + Sync),
                &sequence,
                &digest,
                &rows,
                &projection,
            ]);
        }
        parameters.extend([&targets as &(dyn ToSql + Sync), &uids, &namespaces, &payloads]);
        parameters.extend([&gone_targets as &(dyn ToSql + Sync), &gone_uids]);
        if has_records {
            parameters.extend([&token.writer as &(dyn ToSql + Sync), &token.sequence]);
        }
        let text = if has_records { Text::Delta } else { Text::DeltaAlone };
        let statement = session.prepare(text).await?;
        session.statements += 1;
        session.client.query_one(&statement, &parameters).await.map_err(Fault::at_commit)
    }
}

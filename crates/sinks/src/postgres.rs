//! Copies in a table of a PostgreSQL database, with a record beside it and a
//! view for each profile.
//!
//! Every export is one transaction, so readers see whole states only. A small
//! change is one statement and one round trip, which holds the rows, the
//! deletes, and the record on the condition that it is the one we know.

pub(crate) mod dsn;
pub(crate) mod settings;
pub(crate) mod tls;
pub(crate) mod destination;
mod connect;
mod layout;
mod statements;
mod batch;
mod record;
mod delta;
mod write;
mod surplus;
mod views;
mod columns;
mod error;

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;
use kollect_inventory::watermark::{Recorded, Step};

use self::{
    connect::Session,
    destination::PostgresDestination,
    error::Fault,
    layout::Layout,
    record::Stored,
    statements::{STAGES, Text},
    write::{Care, Writer, Written},
};
use crate::{
    progress::Progress,
    sink::{Export, Farewell, InventoryKey, Receipt, Sink, SinkError, Wrote},
};

/// Grows when the same rows would be stored in another way.
const FORMAT: &str = "postgres 1";

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Keeps copies of inventories in a PostgreSQL table.
#[derive(Debug)]
pub struct PostgresSink {
    destination: Arc<PostgresDestination>,
    cluster: Arc<str>,
}

impl PostgresSink {
    pub fn new(destination: Arc<PostgresDestination>, cluster: &str) -> Self {
        Self { destination, cluster: cluster.into() }
    }
}

#[async_trait]
impl Sink for PostgresSink {
    async fn probe(&self) -> Result<String, SinkError> {
        let settings = &self.destination.settings;
        self.destination
            .apart("look at the database", async |session| {
                let row = session.client.query_one("SHOW server_version", &[]).await?;
                let version: String = row.try_get(0)?;
                let table = settings.table.items();
                let state = match Layout::look(&session.client, settings).await? {
                    None => "is not there yet".to_owned(),
                    Some(Layout { records: Ok(()), .. }) => {
                        let text = format!("SELECT count(*) FROM {}", settings.table.records());
                        let count: i64 = session.client.query_one(&text, &[]).await?.try_get(0)?;
                        format!("is there, inventories recorded: {count}")
                    }
                    Some(Layout { records: Err(reason), .. }) => {
                        format!("is there, and no place for records: {reason}")
                    }
                };
                let proof = if settings.is_insecure() {
                    "; the server's certificate is not verified"
                } else {
                    ""
                };
                Ok(format!("PostgreSQL {version}, {table} {state}{proof}"))
            })
            .await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let turn = Turn {
            destination: &self.destination,
            owner: Owner::new(&export.inventory, &self.cluster),
            export,
            projection: format!("{FORMAT} {}", export.schema.fingerprint()),
        };
        self.destination
            .turn("write the export", &export.progress, async |session| turn.export(session).await)
            .await
    }

    async fn retire(
        &self,
        inventory: &InventoryKey,
        farewell: Farewell,
    ) -> Result<Receipt, SinkError> {
        let owner = Owner::new(inventory, &self.cluster);
        let settings = &self.destination.settings;
        self.destination.remember(owner.parts(), None);
        self.destination
            .turn("take leave of the inventory", &Progress::default(), async |session| {
                match Layout::look(&session.client, settings).await? {
                    Some(layout) => {
                        session.set_layout(layout, settings);
                        retire(session, settings, owner, farewell).await
                    }
                    None => Ok(Receipt::unchanged(None)),
                }
            })
            .await
    }
}

/// Whose rows these are.
#[derive(Clone, Copy, Debug)]
struct Owner<'a> {
    namespace: &'a str,
    name: &'a str,
    cluster: &'a str,
}

impl<'a> Owner<'a> {
    fn new(inventory: &'a InventoryKey, cluster: &'a str) -> Self {
        Self { namespace: &inventory.namespace, name: &inventory.name, cluster }
    }

    fn parts(&self) -> [&'a str; 3] {
        [self.namespace, self.name, self.cluster]
    }
}

/// One export that has a connection for itself.
struct Turn<'a> {
    destination: &'a PostgresDestination,
    owner: Owner<'a>,
    export: &'a Export,
    projection: String,
}

/// What a transaction came to.
enum Outcome {
    Written(Written, Recorded),
    /// Somebody has done it meanwhile.
    Nothing(Stored),
}

impl Turn<'_> {
    async fn export(&self, session: &mut Session) -> Result<Receipt, Fault> {
        // The turn may have come late.
        if self.export.progress.is_abandoned() {
            return Err(Fault::abandoned());
        }
        session.find_layout(&self.destination.settings).await?;
        let (sent, statements) = (session.sent(), session.statements);
        let (mut receipt, views) = match self.delta(session).await? {
            Some(done) => done,
            None => self.judge_and_write(session).await?,
        };
        // From here on nothing may fail: the rows are committed.
        let takes_views = session.layout()?.takes_views;
        let schema = &self.export.schema;
        let due = views::recorded_as(&schema.fingerprint());
        if takes_views
            && views.as_ref() != Some(&due)
            && self.destination.tries(self.owner.parts(), &due)
        {
            let table = &self.destination.settings.table;
            receipt.warnings.extend(views::refresh(session, table, self.owner, schema).await);
        }
        if receipt.wrote != Wrote::Nothing {
            receipt.bytes = session.sent() - sent;
            receipt.statements = session.statements - statements;
        }
        Ok(receipt)
    }

    /// Reads what is recorded, decides by it, and writes.
    async fn judge_and_write(
        &self,
        session: &mut Session,
    ) -> Result<(Receipt, Option<String>), Fault> {
        let stored = self.read(session, Text::Read).await?;
        let views = stored.views.clone();
        let step = self.export.judge(stored.recorded.as_ref(), &self.projection)?;
        if step == Step::Nothing {
            return Ok((Receipt::unchanged(stored.recorded.as_ref()), views));
        }
        if !session.has_stages {
            session.client.batch_execute(STAGES).await?;
            session.has_stages = true;
        }
        let mut outcome = self.transaction(session, Care::Plain).await;
        if outcome.as_ref().err().is_some_and(|fault| fault.about_a_row().is_some()) {
            outcome = self.transaction(session, Care::Isolating).await;
        }
        let receipt = match outcome? {
            Outcome::Written(written, recorded) => self.receipt(session, written, recorded),
            Outcome::Nothing(stored) => Ok(Receipt::unchanged(stored.recorded.as_ref())),
        };
        Ok((receipt?, views))
    }

    fn receipt(
        &self,
        session: &Session,
        written: Written,
        recorded: Recorded,
    ) -> Result<Receipt, Fault> {
        let Written { upserted, deleted, refused } = written;
        let mut receipt = Receipt {
            wrote: Wrote::Rows { upserted, deleted },
            token: Some(recorded.token.clone()),
            checksum: None,
            bytes: 0,
            statements: 0,
            refused,
            warnings: Vec::new(),
        };
        let is_first = self.export.change.is_everything();
        if is_first && self.destination.settings.is_insecure() {
            receipt.warnings.push("the server's certificate is not verified".to_owned());
        }
        if let Err(reason) = &session.layout()?.records {
            self.destination.remember(self.owner.parts(), Some(recorded));
            if is_first {
                let text = format!(
                    "{reason}, so nothing is recorded there: every start compares all rows, \
                     and two writers would not notice each other"
                );
                receipt.warnings.push(text);
            }
        }
        Ok(receipt)
    }

    /// Judges again while nobody else can write, then writes.
    async fn transaction(&self, session: &mut Session, care: Care) -> Result<Outcome, Fault> {
        session.statements += 1;
        session.client.batch_execute(BEGIN).await?;
        let outcome = match self.write(session, care).await {
            Ok(outcome) if !self.export.progress.is_abandoned() => outcome,
            ended => {
                session.statements += 1;
                // A connection that cannot even do this is not used again.
                session.client.batch_execute("ROLLBACK").await.ok();
                return Err(ended.err().unwrap_or_else(Fault::abandoned));
            }
        };
        if session.layout()?.records.is_err() {
            self.mark_dirty();
        }
        session.statements += 1;
        session.client.batch_execute("COMMIT").await.map_err(Fault::at_commit)?;
        Ok(outcome)
    }

    async fn write(&self, session: &mut Session, care: Care) -> Result<Outcome, Fault> {
        let lock = self.destination.settings.table.lock(&self.owner.parts());
        let text = format!("SELECT pg_advisory_xact_lock({lock})");
        session.statements += 1;
        session.client.batch_execute(&text).await?;
        let stored = self.read(session, Text::ReadToWrite).await?;
        if self.export.judge(stored.recorded.as_ref(), &self.projection)? == Step::Nothing {
            return Ok(Outcome::Nothing(stored));
        }
        let mut writer = Writer::new(session, self.owner, self.export, care);
        writer.change(&self.export.change).await?;
        let written = writer.finish();
        let recorded = self.export.record(&self.projection, &written.refused);
        if stored.recorded.as_ref() != Some(&recorded) && session.layout()?.records.is_ok() {
            let at = SystemTime::from(self.export.at);
            record::write(session, self.owner, &recorded, at).await?;
        }
        Ok(Outcome::Written(written, recorded))
    }

    /// What is recorded in the database, or what we remember where it has no
    /// place for that.
    async fn read(&self, session: &mut Session, text: Text) -> Result<Stored, Fault> {
        if session.layout()?.records.is_ok() {
            return record::read(session, self.owner, text).await;
        }
        let recorded = self.destination.remembered(self.owner.parts());
        Ok(Stored { recorded, views: None })
    }

    /// What we remember is in doubt until the commit is known to count.
    fn mark_dirty(&self) {
        if let Some(recorded) = self.destination.remembered(self.owner.parts()) {
            let dirty = Recorded { dirty: true, ..recorded };
            self.destination.remember(self.owner.parts(), Some(dirty));
        }
    }
}

async fn retire(
    session: &mut Session,
    settings: &settings::PostgresSettings,
    owner: Owner<'_>,
    farewell: Farewell,
) -> Result<Receipt, Fault> {
    let mut receipt = Receipt::unchanged(None);
    let Owner { namespace, name, cluster } = owner;
    let owner: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&namespace, &name, &cluster];
    let (sent, statements) = (session.sent(), session.statements);
    session.client.batch_execute("BEGIN").await?;
    let Layout { records, takes_views, .. } = session.layout()?.clone();
    if records.is_ok() {
        let text = session.text(Text::Forget)?;
        session.client.execute(&text, &owner).await?;
    }
    if farewell == Farewell::Deleted {
        let text = session.text(Text::RemoveAll)?;
        let deleted = session.client.execute(&text, &owner).await?;
        receipt.wrote = Wrote::Rows { upserted: 0, deleted };
        if takes_views {
            views::drop_unused(session, &settings.table).await?;
        }
    }
    session.client.batch_execute("COMMIT").await.map_err(Fault::at_commit)?;
    session.statements += 4;
    receipt.statements = session.statements - statements;
    receipt.bytes = session.sent() - sent;
    Ok(receipt)
}

//! Views for people: one for each profile, over the rows of its targets.

use serde_json::{Value, json};

use super::{
    Owner,
    columns::{self, Shown},
    connect::Session,
    error::Fault,
    layout::{Table, identifier, literal},
};
use crate::schema::{ProfileSchema, Schema};

/// Tells our views from those of others.
const MARK: &str = "made by Kollect; dropped when nothing uses it";

/// What is recorded once the views are as the schema with this fingerprint
/// wants them; the number grows when the same schema gives other views.
pub(super) fn recorded_as(fingerprint: &str) -> String {
    format!("1 {fingerprint}")
}

/// Makes the views as the schema wants them; says what the user should know.
///
/// The rows are committed before and do not depend on it: a failure is one of
/// the things to know.
pub(super) async fn refresh(
    session: &mut Session,
    table: &Table,
    owner: Owner<'_>,
    schema: &Schema,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut views = Views { session, table, warnings: &mut warnings };
    let outcome = views.make_all(owner, schema).await;
    if let Err(fault) = outcome {
        views.session.client.batch_execute("ROLLBACK").await.ok();
        let error = fault.during("make the views");
        warnings.push(format!("the views could not be made: {}", told(&error)));
    }
    warnings
}

/// Drops our views that no record names.
pub(super) async fn drop_unused(session: &mut Session, table: &Table) -> Result<(), Fault> {
    let text = format!(
        "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE c.relkind = 'v' AND n.nspname = $1 AND obj_description(c.oid, 'pg_class') = $2 \
        AND NOT EXISTS (SELECT FROM {} AS record, jsonb_to_recordset(record.views->'shows') \
        AS shown (view text) WHERE shown.view = c.relname) \
        AND pg_has_role(c.relowner, 'USAGE')",
        table.records()
    );
    let rows = session.client.query(&text, &[&table.schema, &mark(table)]).await?;
    session.statements += 1;
    for row in rows {
        let view: &str = row.try_get(0)?;
        // Somebody may have built upon it; then it stays, and shows nothing.
        let text = format!("SAVEPOINT unused; DROP VIEW {}", qualified(table, view));
        session.statements += 1;
        if session.client.batch_execute(&text).await.is_err() {
            session.client.batch_execute("ROLLBACK TO SAVEPOINT unused").await?;
        }
    }
    Ok(())
}

struct Views<'a> {
    session: &'a mut Session,
    table: &'a Table,
    warnings: &'a mut Vec<String>,
}

/// A view, or something else that has its name.
struct Found {
    is_ours: bool,
    columns: Vec<(String, String)>,
    /// Statements that give others the rights that they had.
    grants: Vec<String>,
}

impl Views<'_> {
    async fn make_all(&mut self, owner: Owner<'_>, schema: &Schema) -> Result<(), Fault> {
        let lock = self.table.lock(&["views"]);
        self.say(&format!(
            "BEGIN; SET LOCAL lock_timeout = '2s'; SELECT pg_advisory_xact_lock({lock})"
        ))
        .await?;
        let mut shows = Vec::new();
        let mut is_done = true;
        for profile in &schema.profiles {
            self.say("SAVEPOINT profile").await?;
            match self.make(owner, profile).await {
                Ok(view) => shows.extend(view.iter().flat_map(|view| shown(view, profile))),
                Err(fault) => {
                    self.say("ROLLBACK TO SAVEPOINT profile").await?;
                    // If there is an older one, it goes on showing what it can.
                    shows.extend(shown(&self.name(owner, profile), profile));
                    is_done = false;
                    let (name, error) = (&profile.name, fault.during("make the view"));
                    let text =
                        format!("the view of profile {name} could not be made: {}", told(&error));
                    self.warnings.push(text);
                }
            }
        }
        let made_for = is_done.then(|| recorded_as(&schema.fingerprint()));
        let views = json!({"schema": made_for, "shows": shows}).to_string();
        let text = format!(
            "UPDATE {} SET views = $4::text::jsonb \
            WHERE inventory_namespace = $1 AND inventory_name = $2 AND cluster = $3",
            self.table.records()
        );
        let Owner { namespace, name, cluster } = owner;
        self.session.client.execute(&text, &[&namespace, &name, &cluster, &views]).await?;
        drop_unused(self.session, self.table).await?;
        self.say("COMMIT").await
    }

    /// Makes the view of one profile, unless something else has its name.
    async fn make(
        &mut self,
        owner: Owner<'_>,
        profile: &ProfileSchema,
    ) -> Result<Option<String>, Fault> {
        let view = self.name(owner, profile);
        let name = qualified(self.table, &view);
        let columns = columns::columns(profile);
        let body = columns::body(self.table, &view, &columns);
        let create = match self.find(&view).await? {
            None => format!("CREATE VIEW {name} AS {body}"),
            Some(found) if !found.is_ours => {
                self.warnings
                    .push(format!("profile {} has no view: {name} is taken", profile.name));
                return Ok(None);
            }
            Some(found) if found.is_front_of(&columns) => {
                format!("CREATE OR REPLACE VIEW {name} AS {body}")
            }
            Some(found) => {
                let grants: Vec<_> =
                    found.grants.iter().map(|grant| grant.replace("{}", &name)).collect();
                format!("DROP VIEW {name}; CREATE VIEW {name} AS {body}; {}", grants.join("; "))
            }
        };
        let comment = format!("COMMENT ON VIEW {name} IS {}", literal(&mark(self.table)));
        self.say(&format!("{create}; {comment}")).await?;
        Ok(Some(view))
    }

    fn name(&self, owner: Owner<'_>, profile: &ProfileSchema) -> String {
        let home = if profile.namespace.is_empty() { owner.namespace } else { &profile.namespace };
        columns::view(self.table, home, &profile.name)
    }

    async fn find(&mut self, view: &str) -> Result<Option<Found>, Fault> {
        let text = "SELECT c.relkind = 'v' \
            AND obj_description(c.oid, 'pg_class') IS NOT DISTINCT FROM $3, \
            ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 \
                AND NOT attisdropped ORDER BY attnum), \
            ARRAY(SELECT format_type(atttypid, atttypmod) FROM pg_attribute \
                WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum), \
            ARRAY(SELECT format('GRANT %s ON {} TO %s%s', acl.privilege_type, \
                CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE acl.grantee::regrole::text END, \
                CASE WHEN acl.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) \
                FROM aclexplode(c.relacl) acl WHERE acl.grantee <> c.relowner) \
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1 AND c.relname = $2";
        self.session.statements += 1;
        let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
            [&self.table.schema, &view, &mark(self.table)];
        let Some(row) = self.session.client.query_opt(text, &parameters).await? else {
            return Ok(None);
        };
        let (names, kinds): (Vec<String>, Vec<String>) = (row.try_get(1)?, row.try_get(2)?);
        let columns = names.into_iter().zip(kinds).collect();
        Ok(Some(Found { is_ours: row.try_get(0)?, columns, grants: row.try_get(3)? }))
    }

    async fn say(&mut self, text: &str) -> Result<(), Fault> {
        self.session.statements += 1;
        Ok(self.session.client.batch_execute(text).await?)
    }
}

impl Found {
    /// Whether the columns begin with those that are there: then the view can
    /// be replaced without anybody noticing.
    fn is_front_of(&self, columns: &[Shown]) -> bool {
        self.columns.len() <= columns.len()
            && self
                .columns
                .iter()
                .zip(columns)
                .all(|((title, kind), column)| *title == column.title && kind == column.kind)
    }
}

/// Whose rows are seen through a view.
fn shown(view: &str, profile: &ProfileSchema) -> Vec<Value> {
    let targets = profile.targets.iter().map(|target| {
        let namespace = target.namespace.as_deref().unwrap_or_default();
        json!({"view": view, "target": target.name, "namespace": namespace})
    });
    targets.collect()
}

/// Several tables of a schema may have views.
fn mark(table: &Table) -> String {
    format!("{MARK} ({})", table.name)
}

fn qualified(table: &Table, view: &str) -> String {
    format!("{}.{}", identifier(&table.schema), identifier(view))
}

/// An error and its cause.
fn told(error: &crate::sink::SinkError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

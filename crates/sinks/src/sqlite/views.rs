//! Views for people: one for each profile, over the rows of its targets.
//!
//! A view's text says which columns there are; a table says whose rows are
//! seen through it. So a view changes only when its profile does, however many
//! inventories and clusters share it.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::{
    Owner,
    columns::{self, MARK, identifier},
    record,
};
use crate::schema::{ProfileSchema, Schema};

/// What is recorded once the views are as the schema with this fingerprint
/// wants them; the number grows when the same schema gives other views.
pub(super) fn recorded_as(fingerprint: &str) -> String {
    format!("1 {fingerprint}")
}

/// Whether somebody has dropped a view of the inventory.
pub(super) fn is_one_missing(
    connection: &Connection,
    owner: Owner<'_>,
) -> Result<bool, rusqlite::Error> {
    let text = "SELECT EXISTS (SELECT 1 FROM inventory_items_kollect_views AS used \
        WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3 \
        AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'view' \
        AND name = used.view COLLATE NOCASE))";
    connection.query_row(text, owner.parameters(), |row| row.get(0))
}

/// Makes the views as the schema wants them; says what the user should know.
///
/// The rows are committed before and do not depend on it: a failure is one of
/// the things to know, and the next export tries again.
pub(super) fn refresh(
    connection: &mut Connection,
    owner: Owner<'_>,
    schema: &Schema,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Err(error) = make_all(connection, owner, schema, &mut warnings) {
        warnings.push(format!("the views could not be made: {error}"));
    }
    warnings
}

fn make_all(
    connection: &mut Connection,
    owner: Owner<'_>,
    schema: &Schema,
    warnings: &mut Vec<String>,
) -> Result<(), rusqlite::Error> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    release(&transaction, owner)?;
    for profile in &schema.profiles {
        let savepoint = transaction.savepoint()?;
        match make(&savepoint, owner, profile) {
            Ok(warning) => {
                warnings.extend(warning);
                savepoint.commit()?;
            }
            Err(error) => {
                let name = &profile.name;
                warnings.push(format!("the view of profile {name} could not be made: {error}"));
            }
        }
    }
    drop_unused(&transaction)?;
    record::note_views(&transaction, owner, &recorded_as(&schema.fingerprint()))?;
    transaction.commit()
}

/// Makes the view of one profile, or shares it with those who have it.
fn make(
    connection: &Connection,
    owner: Owner<'_>,
    profile: &ProfileSchema,
) -> Result<Option<String>, rusqlite::Error> {
    let columns = columns::columns(profile);
    let home = if profile.namespace.is_empty() { owner.namespace } else { &profile.namespace };
    let candidates = [profile.name.clone(), format!("{home}/{}", profile.name)];
    let [plain, qualified] = &candidates;
    let (view, warning) = if is_free(connection, plain, &profile.namespace, &columns)? {
        (plain, None)
    } else if is_free(connection, qualified, &profile.namespace, &columns)? {
        (qualified, Some(format!("{plain:?} is taken: the view of the profile is {qualified:?}")))
    } else {
        let text = format!("profile {plain} has no view: {plain:?} and {qualified:?} are taken");
        return Ok(Some(text));
    };
    claim(connection, owner, profile, (view, &columns))?;
    let wanted = columns::create_view(view, &columns);
    if found(connection, view)?.is_none_or(|(_, text)| text != wanted) {
        connection.execute_batch(&format!("DROP VIEW IF EXISTS {}", identifier(view)))?;
        connection.execute_batch(&wanted)?;
        // SQLite looks at the columns of a view when it is first read.
        connection.prepare(&format!("SELECT * FROM {}", identifier(view)))?;
    }
    Ok(warning)
}

/// Whether a profile may have a view of this name: nothing has it, or a view
/// of the same profile, or one with the same columns.
fn is_free(
    connection: &Connection,
    view: &str,
    namespace: &str,
    columns: &str,
) -> Result<bool, rusqlite::Error> {
    let reserved = view.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"));
    if reserved || view.is_empty() {
        return Ok(false);
    }
    if found(connection, view)?.is_some_and(|(kind, text)| kind != "view" || !text.contains(MARK)) {
        return Ok(false);
    }
    let text = "SELECT NOT EXISTS (SELECT 1 FROM inventory_items_kollect_views \
        WHERE view = ?1 AND profile_namespace <> ?2 AND shape <> ?3)";
    connection.query_row(text, [view, namespace, columns], |row| row.get(0))
}

/// Type and text of what has a name.
fn found(connection: &Connection, name: &str) -> Result<Option<(String, String)>, rusqlite::Error> {
    let text = "SELECT type, coalesce(sql, '') FROM sqlite_master \
        WHERE name = ?1 COLLATE NOCASE AND type <> 'trigger'";
    connection.query_row(text, [name], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Says that the profile's rows are seen through the view. Whoever shares the
/// profile has its newest columns.
fn claim(
    connection: &Connection,
    owner: Owner<'_>,
    profile: &ProfileSchema,
    (view, columns): (&str, &str),
) -> Result<(), rusqlite::Error> {
    let text = "UPDATE inventory_items_kollect_views SET shape = ?3 \
        WHERE view = ?1 AND profile_namespace = ?2 AND shape <> ?3";
    connection.execute(text, [view, &profile.namespace, columns])?;
    let text = "INSERT OR REPLACE INTO inventory_items_kollect_views (\
        inventory_namespace, inventory_name, cluster, view, target_name, target_namespace, \
        profile_namespace, shape) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut insert = connection.prepare(text)?;
    let [namespace, name, cluster] = owner.parameters();
    for target in &profile.targets {
        // A cluster target's rows are in many namespaces.
        let home = target.namespace.as_deref().unwrap_or_default();
        let profile = &profile.namespace;
        insert.execute(params![
            namespace,
            name,
            cluster,
            view,
            target.name,
            home,
            profile,
            columns
        ])?;
    }
    Ok(())
}

/// Forgets what is seen of an inventory.
pub(super) fn release(connection: &Connection, owner: Owner<'_>) -> Result<(), rusqlite::Error> {
    let text = "DELETE FROM inventory_items_kollect_views \
        WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3";
    connection.execute(text, owner.parameters())?;
    Ok(())
}

/// Drops our views that show nobody's rows.
pub(super) fn drop_unused(connection: &Connection) -> Result<(), rusqlite::Error> {
    let text = "SELECT name FROM sqlite_master WHERE type = 'view' AND instr(sql, ?1) > 0 \
        AND name COLLATE NOCASE NOT IN (SELECT view FROM inventory_items_kollect_views)";
    let mut statement = connection.prepare(text)?;
    let unused = statement.query_map([MARK], |row| row.get::<_, String>(0))?;
    for view in unused.collect::<Result<Vec<_>, _>>()? {
        connection.execute_batch(&format!("DROP VIEW {}", identifier(&view)))?;
    }
    Ok(())
}

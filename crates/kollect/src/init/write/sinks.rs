//! The sinks of a starting configuration.

use super::{
    File, Wish,
    text::{head, joined, scalar},
};
use crate::args::init::SinkChoice;

/// What the inventory is called; its copies carry the name.
pub(super) const INVENTORY: &str = "inventory";

/// What a sink is called.
pub(super) fn name(sink: SinkChoice) -> &'static str {
    match sink {
        SinkChoice::Sqlite => "inventory-sqlite",
        SinkChoice::File => "inventory-files",
        SinkChoice::Git => "inventory-git",
        SinkChoice::Postgres => "inventory-postgres",
    }
}

/// The list of an inventory that a sink belongs to.
pub(super) fn list(sink: SinkChoice) -> &'static str {
    match sink {
        SinkChoice::Sqlite | SinkChoice::Postgres => "databaseSinkRefs",
        SinkChoice::File | SinkChoice::Git => "snapshotSinkRefs",
    }
}

pub(super) fn file(sink: SinkChoice, wish: &Wish) -> File {
    let home = &wish.home;
    let local = "The path is relative to the current directory on the command line, and to the\n\
                 directory of the namespace below --local-sink-root in the operator.";
    let (comment, spec, about) = match sink {
        SinkChoice::Sqlite => (
            format!("A database file with a view for each profile, ready for SQL.\n{local}"),
            "  type: sqlite\n  sqlite:\n    path: inventory.db\n".to_owned(),
            "a SQLite database, inventory.db".to_owned(),
        ),
        SinkChoice::File => (
            format!(
                "One YAML document for the inventory, below a directory.\n{local}\n\
                 With the layout perResource there is a file for each object."
            ),
            "  type: file\n  file:\n    path: inventory\n  serialization:\n    format: yaml\n  \
             layout:\n    mode: document\n"
                .to_owned(),
            "a YAML document below the directory inventory".to_owned(),
        ),
        SinkChoice::Git => (
            format!(
                "A commit for every change, in a branch of a Git repository.\n\
                 Its credentials are in a Secret, which has to be made:\n  \
                 kubectl create secret generic {} -n {home} --from-literal=token=…\n\
                 For `kollect collect` put that Secret into a file of this directory; a value\n\
                 such as ${{env:GIT_TOKEN}} is taken from the environment.",
                name(sink)
            ),
            format!(
                "  type: git\n  endpoint: {}\n  secretRef:\n    name: {}\n  git:\n    \
                 branch: main\n  serialization:\n    format: yaml\n",
                scalar(&wish.endpoint),
                name(sink)
            ),
            format!("the Git repository {}", wish.endpoint),
        ),
        SinkChoice::Postgres => (
            format!(
                "The current rows in a table, which is made if it is missing.\n\
                 The connection string is in a Secret, which has to be made:\n  \
                 kubectl create secret generic {} -n {home} --from-literal=dsn=postgres://…\n\
                 For `kollect collect` put that Secret into a file of this directory; a value\n\
                 such as ${{env:DATABASE_URL}} is taken from the environment.",
                name(sink)
            ),
            format!(
                "  type: postgres\n  postgres:\n    databaseRef:\n      name: {}\n    \
                 table: inventory_items\n",
                name(sink)
            ),
            "a PostgreSQL table, inventory_items".to_owned(),
        ),
    };
    let kind = match list(sink) {
        "databaseSinkRefs" => "KollectDatabaseSink",
        _ => "KollectSnapshotSink",
    };
    let head = joined(&head(&comment, kind, name(sink), home));
    let text = format!("{head}spec:\n{spec}");
    File { name: format!("sink-{}.yaml", sink.name()), text, about }
}

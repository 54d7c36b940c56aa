//! Looks at the copies themselves, as anybody else could.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::Context as _;
use kollect_sinks::GitBranch;
use rusqlite::{Connection, OpenFlags};

use super::{
    row::{self, Row, RowKey},
    tally::Look,
};

const BRANCH: &str = "main";

/// The branch in the repository.
#[derive(Debug)]
pub(super) struct GitCopy {
    branch: GitBranch,
    /// Where it was before.
    base: Option<String>,
    tip: Option<String>,
    /// How many commits have come since it was first looked at.
    pub(super) commits: usize,
}

impl GitCopy {
    pub(super) fn new(path: PathBuf) -> anyhow::Result<Self> {
        let mut branch = GitBranch::new(path, BRANCH);
        let base = branch.tip()?;
        Ok(Self { branch, base, tip: None, commits: 0 })
    }

    /// What is new since the last look, if anything.
    pub(super) fn look(&mut self) -> anyhow::Result<Option<Look>> {
        let tip = self.branch.tip()?;
        let Some(new) = tip.filter(|tip| self.tip.as_ref() != Some(tip)) else { return Ok(None) };
        let mut at = Some(new.clone());
        let known = self.tip.as_ref().or(self.base.as_ref());
        while at.is_some() && at.as_ref() != known {
            self.commits += 1;
            at = match at {
                Some(commit) => self.branch.parent(&commit)?,
                None => None,
            };
        }
        let files = self.branch.differences(self.tip.as_deref(), &new)?;
        let rows = files.into_iter().filter_map(|(path, content)| {
            let row = content.map(|content| row::of_yaml(&String::from_utf8_lossy(&content)));
            Some((RowKey::of_path(&path)?, row))
        });
        let rows = rows.collect();
        self.tip = Some(new.clone());
        Ok(Some(Look { rows, mark: new }))
    }

    /// The newest commit.
    pub(super) fn tip(&self) -> Option<&str> {
        self.tip.as_deref()
    }

    /// Counts the rows in the newest commit, from the beginning.
    pub(super) fn count(&mut self) -> anyhow::Result<usize> {
        let Some(tip) = self.branch.tip()? else { return Ok(0) };
        let files = self.branch.differences(None, &tip)?;
        Ok(files.iter().filter(|(path, _)| RowKey::of_path(path).is_some()).count())
    }
}

/// The database.
#[derive(Debug)]
pub(super) struct SqliteCopy {
    path: PathBuf,
    connection: Option<Connection>,
    /// Changes with every transaction of others.
    version: i64,
    rows: BTreeMap<RowKey, Row>,
}

impl SqliteCopy {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, connection: None, version: 0, rows: BTreeMap::new() }
    }

    /// What is new since the last look, if anything.
    pub(super) fn look(&mut self) -> anyhow::Result<Option<Look>> {
        let Some(connection) = opened(&self.path, &mut self.connection)? else { return Ok(None) };
        let version: i64 =
            connection
                .query_row("SELECT data_version FROM pragma_data_version", [], |row| row.get(0))?;
        if version == self.version {
            return Ok(None);
        }
        self.version = version;
        let mut statement = connection.prepare("SELECT payload FROM inventory_items")?;
        let payloads = statement.query_map([], |row| row.get::<_, String>(0))?;
        let mut now = BTreeMap::new();
        for payload in payloads {
            now.extend(row::of_json(&payload?));
        }
        let is_new = |(key, row): &(&RowKey, &Row)| self.rows.get(*key) != Some(row);
        let mut rows: Vec<_> =
            now.iter().filter(is_new).map(|(key, row)| (key.clone(), Some(row.clone()))).collect();
        let gone = self.rows.keys().filter(|key| !now.contains_key(*key));
        rows.extend(gone.map(|key| (key.clone(), None)));
        self.rows = now;
        Ok((!rows.is_empty()).then(|| Look { rows, mark: String::new() }))
    }

    /// Counts the rows.
    pub(super) fn count(&mut self) -> anyhow::Result<usize> {
        let Some(connection) = opened(&self.path, &mut self.connection)? else { return Ok(0) };
        let count = "SELECT count(*) FROM inventory_items";
        let count: i64 = connection.query_row(count, [], |row| row.get(0))?;
        Ok(usize::try_from(count)?)
    }
}

/// The connection, once the table is there.
fn opened<'a>(
    path: &PathBuf,
    connection: &'a mut Option<Connection>,
) -> anyhow::Result<Option<&'a Connection>> {
    if connection.is_none() && path.exists() {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags);
        let opened = opened.with_context(|| format!("cannot open {}", path.display()))?;
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'inventory_items'";
        let is_made = opened.query_row(tables, [], |row| row.get::<_, i64>(0))? > 0;
        if is_made {
            *connection = Some(opened);
        }
    }
    Ok(connection.as_ref())
}

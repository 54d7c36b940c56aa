//! The same on a PostgreSQL server that syncs, with TLS, and what it costs there.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::{Context as _, anyhow};
use kollect_api::AddressPolicy;
use kollect_sinks::{
    Credentials, Family, InventoryKey, LocalPaths, Opener, Receipt, Sink, SinkKey, SinkSpec, Unit,
    conformance::{Cluster, Process},
    guard::{Guard, SystemResolver},
};
use kollect_testenv::{Durability, Postgres, postgres_programs};
use tokio::runtime::Runtime;

use super::{namespace, number, value};
use crate::measure::{Chance, float, print, timed};

/// Single changes whose mean is taken.
const CHANGES: usize = 200;
const SIZES: [(&str, usize); 3] = [("1k", 1_000), ("10k", 10_000), ("100k", 100_000)];
/// Rows that change together.
const BATCHES: [usize; 7] = [1, 10, 100, 300, 1_000, 3_000, 10_000];

pub(super) fn run() -> anyhow::Result<()> {
    let programs = postgres_programs().context("PostgreSQL is missing: run `cargo xtask env`")?;
    let server = Postgres::start(&programs, Durability::Synced)?;
    // What the server does by itself would be counted as ours.
    for setting in ["autovacuum = off", "checkpoint_timeout = '1h'", "max_wal_size = '8GB'"] {
        server.execute("postgres", &format!("ALTER SYSTEM SET {setting}"));
    }
    server.execute("postgres", "SELECT pg_reload_conf()");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut changes = Vec::new();
    for (name, rows) in SIZES {
        let mut copy = Copy::new(&server, &runtime, name, rows)?;
        changes.push(copy.measure(name)?);
        if name == "100k" {
            copy.batches()?;
        }
    }
    let (Some(small), Some(large)) = (changes.first(), changes.last()) else { return Ok(()) };
    let ratio = |what: fn(&Receipt) -> u64| number(what(large)) / number(what(small));
    print("postgres.change_bytes_ratio_100k_1k", ratio(|one| one.bytes))?;
    print("postgres.change_statements_ratio_100k_1k", ratio(|one| one.statements))?;
    Ok(())
}

/// A copy in a database of its own.
struct Copy<'a> {
    server: &'a Postgres,
    runtime: &'a Runtime,
    database: String,
    cluster: Cluster,
    rows: usize,
    chance: Chance,
    process: Process,
}

impl<'a> Copy<'a> {
    fn new(
        server: &'a Postgres,
        runtime: &'a Runtime,
        name: &str,
        rows: usize,
    ) -> anyhow::Result<Self> {
        let mut chance = Chance::new(7);
        let mut cluster = Cluster::default();
        for object in 0..rows {
            cluster.put(&namespace(object), &format!("object-{object}"), &value(&mut chance));
        }
        let database = server.database(&format!("bench_{name}"));
        let inventory = InventoryKey { namespace: "shop".into(), name: "web".into() };
        let process = Process::start(open(server, &database)?, Unit::Rows, &cluster, inventory)
            .map_err(|error| anyhow!(error))?;
        Ok(Self { server, runtime, database, cluster, rows, chance, process })
    }

    /// What the first export costs, one change, and none.
    fn measure(&mut self, name: &str) -> anyhow::Result<Receipt> {
        let first = self.copy()?;
        print(&format!("postgres.first_rows_per_s.{name}"), float(self.rows) / first)?;
        self.change(1);
        self.copy()?;
        self.server.execute(&self.database, "VACUUM ANALYZE");
        self.server.execute(&self.database, "CHECKPOINT");
        let before = self.wal()?;
        let mut spent = 0.0;
        for _ in 0..CHANGES {
            self.change(1);
            spent += self.copy()?;
        }
        let wal = (self.wal()? - before) / float(CHANGES);
        let receipt = self.process.receipt().context("nothing was written")?;
        print(&format!("postgres.change_ms.{name}"), spent * 1e3 / float(CHANGES))?;
        print(&format!("postgres.change_bytes.{name}"), number(receipt.bytes))?;
        print(&format!("postgres.change_statements.{name}"), number(receipt.statements))?;
        print(&format!("postgres.change_wal_bytes.{name}"), wal)?;
        // Else a look at the record would tidy up after the changes.
        self.server.execute(&self.database, "VACUUM");
        self.server.execute(&self.database, "CHECKPOINT");
        let before = self.wal()?;
        for _ in 0..10 {
            self.runtime.block_on(self.process.verify());
        }
        print(&format!("postgres.idle_wal_bytes.{name}"), self.wal()? - before)?;
        Ok(receipt)
    }

    /// What rows cost that change together.
    fn batches(&mut self) -> anyhow::Result<()> {
        for rows in BATCHES {
            let rounds = (2_000 / rows).clamp(3, 50);
            let mut spent = 0.0;
            for _ in 0..rounds {
                self.change(rows);
                spent += self.copy()?;
            }
            let rate = float(rows * rounds) / spent;
            print(&format!("postgres.changed_rows_per_s.batch_{rows}"), rate)?;
        }
        Ok(())
    }

    /// Changes so many objects that lie anywhere.
    fn change(&mut self, count: usize) {
        let start = self.chance.below(self.rows);
        for step in 0..count {
            // A stride without a common divisor meets every object once.
            let object = (start + step * 7_919) % self.rows;
            let (namespace, name) = (namespace(object), format!("object-{object}"));
            self.cluster.put(&namespace, &name, &value(&mut self.chance));
            self.process.watch(&self.cluster, &namespace, &name);
        }
    }

    /// Copies; says how many seconds it took.
    fn copy(&mut self) -> anyhow::Result<f64> {
        let (took, outcome) = timed(|| self.runtime.block_on(self.process.copy()));
        outcome.map(|()| took.as_secs_f64()).map_err(|error| anyhow!(error))
    }

    /// Bytes of the server's log so far.
    fn wal(&self) -> anyhow::Result<f64> {
        let query = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')";
        let rows = self.server.query("postgres", query);
        let text = rows.first().and_then(|row| row.first()).context("no answer")?;
        Ok(text.parse()?)
    }
}

fn open(server: &Postgres, database: &str) -> anyhow::Result<Arc<dyn Sink>> {
    let spec = serde_json::json!({
        "type": "postgres",
        "cluster": "eu-1",
        "tls": {"caSecretRef": {"name": "ca"}},
        "postgres": {"databaseRef": {"name": "db"}, "table": "inventory_items"},
    });
    let spec = SinkSpec::Database(Box::new(serde_json::from_value(spec)?));
    let values = BTreeMap::from([("dsn".to_owned(), server.dsn(database))]);
    let credentials = Credentials::new(values, "1").with_ca(server.ca_pem());
    let policy = AddressPolicy { private: false, allowed: vec!["127.0.0.0/8".parse()?] };
    let opener = Opener::new(LocalPaths::Anywhere).with_guard(Guard::new(policy, SystemResolver));
    let key = SinkKey {
        family: Family::Database,
        namespace: "shop".to_owned(),
        name: "bench".to_owned(),
    };
    Ok(opener.open(&key, &spec, &credentials)?)
}

//! Databases of their own on a real server.

mod faults;
mod tables;
mod tls;
mod views;

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use kollect_api::{AddressPolicy, DatabaseSinkSpec};
use kollect_inventory::{Identity, Row, sort};
use kollect_sinks::{
    Credentials, InventoryKey, LocalPathError, PostgresDestination, PostgresSettings, PostgresSink,
    Sink, Unit,
    conformance::{Cluster, Destination, Opening, Process, Tampering},
    guard::{Guard, SystemResolver},
};
use kollect_testenv::Postgres;
use serde_json::{Value, json};

use crate::support::{conforms, finds_every_mutant};

/// A database, and as whom we write to it.
#[derive(Debug)]
pub(crate) struct Database {
    server: &'static Postgres,
    name: String,
    role: Role,
}

#[derive(Debug)]
enum Role {
    /// Makes its tables.
    Owner,
    /// May write the tables of others, and nothing else.
    Writer(String),
}

impl Database {
    fn owned(server: &'static Postgres) -> Self {
        Self { server, name: server.database("conformance"), role: Role::Owner }
    }

    fn granted(server: &'static Postgres) -> Self {
        let name = server.database("granted");
        let role = server.role("writer");
        let make = include_str!("../../../../docs/guide/postgres.sql");
        server.execute(&name, &make.replace("kollect_writer", &role));
        Self { server, name, role: Role::Writer(role) }
    }

    fn sink(&self, cluster: &str, password: &str) -> Result<Arc<dyn Sink>, String> {
        let (dsn, mode) = match &self.role {
            Role::Owner => (self.server.dsn(&self.name), "ensure"),
            Role::Writer(role) => (self.server.dsn_of(role, &self.name), "existing"),
        };
        let dsn = dsn.replace(self.server.password(), password) + "?sslmode=verify-full";
        let settings = json!({
            "cluster": cluster,
            "tls": {"caSecretRef": {"name": "ca"}},
            "provisioning": {"mode": mode},
        });
        open((&dsn, &self.server.ca_pem()), settings, guard(&["127.0.0.0/8"]))
    }

    fn ask(&self, statement: &str) -> Result<Vec<Vec<String>>, String> {
        self.server.ask(&self.name, statement).map_err(text)
    }
}

#[async_trait]
impl Destination for Database {
    async fn open(&self, cluster: &str) -> Result<Arc<dyn Sink>, String> {
        self.sink(cluster, self.server.password())
    }

    async fn open_as_stranger(&self, cluster: &str) -> Result<Option<Arc<dyn Sink>>, String> {
        self.sink(cluster, "wrong").map(Some)
    }

    async fn read(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Option<Vec<Row>>, String> {
        if self.ask("SELECT 1 FROM pg_tables WHERE tablename = 'inventory_items'")?.is_empty() {
            return Ok(None);
        }
        let found = self.ask(&format!(
            "SELECT payload FROM inventory_items WHERE {}",
            owned_by(cluster, inventory)
        ))?;
        let mut rows =
            found.iter().flatten().map(|text| row(text)).collect::<Result<Vec<_>, _>>()?;
        sort(&mut rows);
        Ok(Some(rows))
    }

    async fn tamper(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
        tampering: Tampering,
    ) -> Result<(), String> {
        let verb = match tampering {
            Tampering::Delete => "DELETE FROM inventory_items",
            Tampering::Edit => {
                "UPDATE inventory_items \
                SET payload = jsonb_set(payload, '{attributes}', '{\"value\":\"forged\"}')"
            }
        };
        let owner = owned_by(cluster, inventory);
        self.ask(&format!(
            "{verb} WHERE ctid = (SELECT max(ctid) FROM inventory_items WHERE {owner})"
        ))?;
        Ok(())
    }

    /// Where every row is and which transactions have touched it.
    async fn fingerprint(&self) -> Result<String, String> {
        let of = |table: &str| {
            self.ask(&format!(
                "SELECT md5(string_agg(concat_ws(' ', ctid, xmin, xmax), ',' ORDER BY ctid)) \
                FROM {table}"
            ))
        };
        Ok(format!("{:?} {:?}", of("inventory_items")?, of("inventory_items_kollect")?))
    }

    fn refuses_name(&self) -> Option<&'static str> {
        Some("b\0ad")
    }
}

/// A sink by its connection string, the certificates to trust, and what else
/// its manifest says.
fn open((dsn, ca): (&str, &str), more: Value, guard: Guard) -> Result<Arc<dyn Sink>, String> {
    let mut spec = json!({
        "type": "postgres",
        "cluster": "eu-1",
        "postgres": {"databaseRef": {"name": "db"}, "table": "inventory_items"},
    });
    let fields = spec.as_object_mut().zip(more.as_object().cloned());
    if let Some((all, more)) = fields {
        all.extend(more);
    }
    let spec: DatabaseSinkSpec = serde_json::from_value(spec).map_err(text)?;
    let cluster = spec.common.cluster.clone().unwrap_or_default();
    let values = BTreeMap::from([("dsn".to_owned(), dsn.to_owned())]);
    let credentials = Credentials::new(values, "1").with_ca(ca);
    let resolve = |path: &str| Ok::<_, LocalPathError>(path.into());
    let settings = PostgresSettings::new(&spec, &credentials, resolve).map_err(text)?;
    let destination = PostgresDestination::new(settings, guard);
    Ok(Arc::new(PostgresSink::new(Arc::new(destination), &cluster)))
}

/// Lets sinks be in these ranges.
fn guard(allowed: &[&str]) -> Guard {
    let allowed = allowed.iter().filter_map(|range| range.parse().ok()).collect();
    Guard::new(AddressPolicy { private: false, allowed }, SystemResolver)
}

fn inventory() -> InventoryKey {
    InventoryKey { namespace: "shop".to_owned(), name: "web".to_owned() }
}

/// A process that copies a cluster as `shop/web`.
fn process(sink: Arc<dyn Sink>, cluster: &Cluster) -> Process {
    Process::start(sink, Unit::Rows, cluster, inventory()).unwrap_or_else(|error| panic!("{error}"))
}

fn owned_by(cluster: &str, inventory: &InventoryKey) -> String {
    let InventoryKey { namespace, name } = inventory;
    format!(
        "inventory_namespace = '{namespace}' AND inventory_name = '{name}' \
        AND cluster = '{cluster}'"
    )
}

/// The server keeps JSON in its own order; read again, it is canonical.
fn row(payload: &str) -> Result<Row, String> {
    let identity: Identity<'_> = serde_json::from_str(payload).map_err(text)?;
    let value: Value = serde_json::from_str(payload).map_err(text)?;
    Ok(Row::of_value(&identity, value.get("attributes").unwrap_or(&Value::Null)))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[tokio::test]
async fn postgres_conforms() {
    let Some(server) = Postgres::shared() else { return };
    let make = || -> Opening {
        Box::pin(async { Ok(Box::new(Database::owned(server)) as Box<dyn Destination>) })
    };
    conforms(&make).await;
}

#[tokio::test]
async fn postgres_conforms_for_a_role_that_may_not_create_tables() {
    let Some(server) = Postgres::shared() else { return };
    let make = || -> Opening {
        Box::pin(async { Ok(Box::new(Database::granted(server)) as Box<dyn Destination>) })
    };
    conforms(&make).await;
}

#[tokio::test]
async fn a_bug_in_it_is_found() {
    let Some(server) = Postgres::shared() else { return };
    let make = || -> Opening {
        Box::pin(async { Ok(Box::new(Database::owned(server)) as Box<dyn Destination>) })
    };
    finds_every_mutant(&make).await;
}

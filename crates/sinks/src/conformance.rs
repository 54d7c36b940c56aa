//! The tests that every sink must pass against its real destination.
//!
//! A case builds a small cluster, lets one or more processes copy it, and
//! looks at what a reader of the destination sees. Cases drive the same pairs
//! that the operator runs, without their timers, so that nothing here depends
//! on a clock. [`MemoryDestination`](crate::MemoryDestination) is the
//! reference.

mod cluster;
mod churn;
mod process;
mod basics;
mod restarts;
mod writers;
mod histories;
mod mutants;

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use async_trait::async_trait;
use kollect_inventory::Row;

pub use self::{churn::Churn, cluster::Cluster, mutants::Mutant, process::Process};
use crate::{
    deliver::pair::Unit,
    schema::Schema,
    sink::{InventoryKey, Sink},
};

/// A destination under test. It is empty when the case begins.
#[async_trait]
pub trait Destination: fmt::Debug + Send + Sync {
    /// What the destination wants to be given.
    fn unit(&self) -> Unit {
        Unit::Rows
    }

    /// A sink as a process that has just started opens it.
    async fn open(&self, cluster: &str) -> Result<Arc<dyn Sink>, String>;

    /// The same with credentials that are wrong; none if there are none.
    async fn open_as_stranger(&self, _cluster: &str) -> Result<Option<Arc<dyn Sink>>, String> {
        Ok(None)
    }

    /// The rows of an inventory as a reader sees them, in canonical order;
    /// none if nothing was ever written.
    async fn read(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Option<Vec<Row>>, String>;

    /// Does something to one row of the copy, behind our back.
    async fn tamper(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
        tampering: Tampering,
    ) -> Result<(), String>;

    /// Something that differs whenever anything has been written.
    async fn fingerprint(&self) -> Result<String, String>;

    /// Whether copies stay when their inventory is deleted.
    fn keeps_copies(&self) -> bool {
        false
    }

    /// A name that the destination does not take, if there is one.
    fn refuses_name(&self) -> Option<&'static str> {
        None
    }
}

/// What somebody else does to a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tampering {
    Delete,
    Edit,
}

/// Makes an empty destination.
pub type Make<'a> = &'a (dyn Fn() -> Opening + Sync);
/// A destination in the making.
pub type Opening = Pin<Box<dyn Future<Output = Result<Box<dyn Destination>, String>> + Send>>;

/// What a case is handed.
#[derive(Debug)]
pub struct Arena {
    destination: Box<dyn Destination>,
    mutant: Option<Mutant>,
}

/// How one case went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub case: &'static str,
    /// What was not as it should be.
    pub failure: Option<String>,
}

type Case =
    (&'static str, for<'a> fn(&'a Arena) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>);
type Verdict = Result<(), String>;

/// Lists cases under the names of their functions.
macro_rules! cases {
    ($($module:ident :: $case:ident),* $(,)?) => {
        &[$((stringify!($case), |arena| Box::pin($module::$case(arena)))),*]
    };
}

const CASES: &[Case] = cases![
    basics::first_contact_writes_every_row,
    basics::a_change_writes_what_changed,
    basics::a_deleted_object_is_deleted,
    basics::the_last_row_leaves_an_empty_copy,
    basics::an_idle_copy_is_not_written,
    basics::the_same_export_twice_changes_nothing,
    basics::ten_thousand_rows_arrive,
    basics::six_megabytes_arrive,
    basics::hostile_names_arrive_and_stay_apart,
    basics::a_row_that_is_refused_stops_no_other,
    basics::a_deleted_inventory_is_retired,
    basics::wrong_credentials_fail_and_right_ones_heal,
    restarts::an_equal_copy_is_left_alone,
    restarts::only_the_drift_is_written,
    restarts::a_foreign_edit_is_found_by_the_full_comparison,
    restarts::an_uncovered_partition_is_untouched_and_healed,
    restarts::a_namespace_that_left_goes_only_when_that_is_known,
    restarts::a_capped_batch_is_completed_after_a_restart,
    restarts::another_schema_is_written_anew,
    restarts::a_lost_answer_is_repaired,
    writers::two_clusters_stand_side_by_side,
    writers::two_inventories_stand_side_by_side,
    writers::who_was_overtaken_writes_nothing,
    writers::racing_writers_end_in_one_state,
    histories::a_row_deleted_in_flight_and_recreated_leaves_no_ghost,
    histories::an_acknowledgement_that_comes_late_moves_nothing,
    histories::a_partition_that_comes_and_goes_takes_its_rows_along,
    histories::random_histories_end_in_the_cluster,
];

/// Runs every case against a destination of its own.
pub async fn run(make: Make<'_>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for case in CASES {
        outcomes.push(play(case, make, None).await);
    }
    outcomes
}

/// Runs cases with a sink that has been broken on purpose, until one fails;
/// if none does, the suite is blind.
pub async fn finds(make: Make<'_>, mutant: Mutant) -> bool {
    for case in CASES {
        if play(case, make, Some(mutant)).await.failure.is_some() {
            return true;
        }
    }
    false
}

async fn play((case, play): &Case, make: Make<'_>, mutant: Option<Mutant>) -> Outcome {
    let verdict = match make().await {
        Ok(destination) => play(&Arena { destination, mutant }).await,
        Err(error) => Err(format!("cannot make the destination: {error}")),
    };
    Outcome { case, failure: verdict.err() }
}

/// The outcomes that are not as they should be, one a line.
pub fn failures(outcomes: &[Outcome]) -> String {
    let line = |outcome: &Outcome| {
        outcome.failure.as_ref().map(|failure| format!("{}: {failure}\n", outcome.case))
    };
    outcomes.iter().filter_map(line).collect()
}

impl Arena {
    /// A process that copies a cluster as inventory `shop/web` of cluster
    /// `eu-1`.
    async fn process(&self, cluster: &Cluster) -> Result<Process, String> {
        Process::start(self.sink("eu-1").await?, self.destination.unit(), cluster, inventory())
    }

    /// A sink as a fresh process opens it.
    async fn sink(&self, cluster: &str) -> Result<Arc<dyn Sink>, String> {
        let sink = self.destination.open(cluster).await?;
        Ok(match self.mutant {
            Some(mutant) => mutant.of(sink),
            None => sink,
        })
    }

    /// Compares what a reader sees with the cluster.
    async fn expect(&self, cluster: &Cluster) -> Verdict {
        self.expect_at("eu-1", &inventory(), cluster).await
    }

    async fn expect_at(&self, name: &str, inventory: &InventoryKey, cluster: &Cluster) -> Verdict {
        let found = self.destination.read(name, inventory).await?;
        let found = found.ok_or("nothing was written")?;
        same(&found, &cluster.rows())
    }
}

/// Whether two sets of rows are the same; where they differ, if not.
fn same(found: &[Row], expected: &[Row]) -> Verdict {
    let show = |row: Option<&Row>| {
        row.map_or_else(
            || "nothing".to_owned(),
            |row| String::from_utf8_lossy(row.as_json()).into(),
        )
    };
    let differs = |at: &usize| found.get(*at) != expected.get(*at);
    match (0..found.len().max(expected.len())).find(differs) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{} rows instead of {}; row {at} is {} instead of {}",
            found.len(),
            expected.len(),
            show(found.get(at)),
            show(expected.get(at)),
        )),
    }
}

fn ensure(condition: bool, failure: impl FnOnce() -> String) -> Verdict {
    if condition { Ok(()) } else { Err(failure()) }
}

fn inventory() -> InventoryKey {
    InventoryKey { namespace: "shop".to_owned(), name: "web".to_owned() }
}

fn schema(names: &[&str]) -> Arc<Schema> {
    use crate::schema::{Column, ColumnType, ProfileSchema};
    let column = |name: &&str| Column { name: (*name).to_owned(), value: ColumnType::Any };
    let profile = ProfileSchema {
        name: "things".to_owned(),
        targets: vec![cluster::target()],
        columns: names.iter().map(column).collect(),
        ..ProfileSchema::default()
    };
    Arc::new(Schema { profiles: vec![profile] })
}

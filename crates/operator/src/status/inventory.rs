//! What inventories say about themselves.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kollect_api::{ClusterInventoryStatus, InventoryStatus, SinkExport, TargetSummary, Watermark};
use kollect_inventory::schedule::ErrorClass;
use kollect_sinks::{PairState, Phase, SinkKey, Wrote};
use kollect_validate::Object;

use super::{Conditions, seconds};
use crate::plan::{
    Trouble,
    inventory::{InventoryPlan, PairPlan},
};

/// So many targets are summed up by name.
const MOST_TARGETS: usize = 100;

/// What is known of an inventory beside its plan.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) rows: usize,
    /// Its targets: rows, and whether each is well.
    pub(crate) targets: Vec<(String, usize, bool)>,
    /// How its copies are, or why there is none.
    pub(crate) pairs: BTreeMap<SinkKey, Result<PairState, Trouble>>,
}

/// How one copy is, in the words of conditions.
struct Verdict {
    is_synced: bool,
    reason: &'static str,
    message: String,
    class: Option<ErrorClass>,
}

/// The status that an inventory of either kind should have.
pub(crate) fn status(plan: &InventoryPlan, facts: &Facts, now: Timestamp) -> InventoryStatus {
    let before = before(&plan.object);
    let generation = plan.object.meta().generation;
    let mut conditions = Conditions::new(&before.conditions, generation, now);
    let verdicts: Vec<_> =
        plan.pairs.iter().map(|pair| (pair, verdict(facts.pairs.get(&pair.sink)))).collect();
    let exports: Vec<_> = verdicts
        .iter()
        .map(|(pair, verdict)| export(pair, verdict, (&before, facts), now))
        .collect();
    if let Some(Trouble { reason, message }) = &plan.trouble {
        conditions.set("Degraded", true, reason, message);
        conditions.set("Ready", false, reason, message);
        conditions.set("Synced", false, reason, message);
    } else {
        let is_cluster = matches!(*plan.object, Object::ClusterInventory(_));
        overall(&verdicts, &mut conditions, is_cluster);
    }
    let summaries =
        facts.targets.iter().take(MOST_TARGETS).map(|(name, rows, ready)| TargetSummary {
            name: name.clone(),
            item_count: i64::try_from(*rows).ok(),
            ready: Some(*ready),
        });
    InventoryStatus {
        conditions: conditions.done(),
        observed_generation: generation,
        item_count: i64::try_from(facts.rows).ok(),
        last_export_time: exports
            .iter()
            .filter_map(|one| one.last_export_time.clone())
            .max_by_key(|time| time.0),
        sink_exports: exports,
        targets: summaries.collect(),
        watermark: None,
        coverage: Vec::new(),
        coverage_total: None,
    }
}

/// The status that a cluster inventory should have.
pub(crate) fn of_cluster(
    plan: &InventoryPlan,
    facts: &Facts,
    now: Timestamp,
) -> ClusterInventoryStatus {
    ClusterInventoryStatus {
        inventory: status(plan, facts, now),
        target_count: i64::try_from(facts.targets.len()).ok(),
        namespace_shard_count: None,
        namespace_shards: Vec::new(),
    }
}

fn before(object: &Object) -> InventoryStatus {
    match object {
        Object::Inventory(one) => one.status.clone().unwrap_or_default(),
        Object::ClusterInventory(one) => {
            one.status.clone().map(|status| status.inventory).unwrap_or_default()
        }
        _ => InventoryStatus::default(),
    }
}

fn verdict(state: Option<&Result<PairState, Trouble>>) -> Verdict {
    let progressing = |message: &str| Verdict {
        is_synced: false,
        reason: "Progressing",
        message: message.to_owned(),
        class: None,
    };
    match state {
        None => progressing("it has not begun"),
        Some(Err(Trouble { reason, message })) => Verdict {
            is_synced: false,
            reason,
            message: message.clone(),
            class: (*reason != "Progressing").then_some(ErrorClass::Terminal),
        },
        Some(Ok(state)) => match &state.phase {
            Phase::Starting => progressing("nothing has been exported yet"),
            Phase::Progressing(why) => progressing(why),
            Phase::Exported => Verdict {
                is_synced: true,
                reason: "Exported",
                message: "the sink has acknowledged every row".to_owned(),
                class: None,
            },
            Phase::Partial { refused, total } => {
                let first = refused.first().map(|row| {
                    let identity = &row.identity;
                    format!("{}/{}: {}", identity.namespace, identity.name, row.reason)
                });
                let first = first.unwrap_or_default();
                let message = format!("the sink refuses {total} rows; the first: {first}");
                Verdict { is_synced: false, reason: "PartiallySynced", message, class: None }
            }
            Phase::Failed { class, message, .. } => Verdict {
                is_synced: false,
                reason: "ExportFailed",
                message: message.clone(),
                class: Some(*class),
            },
        },
    }
}

/// What all copies together come to.
fn overall(verdicts: &[(&PairPlan, Verdict)], conditions: &mut Conditions<'_>, is_cluster: bool) {
    if verdicts.is_empty() {
        let reason = if is_cluster { "RolledUp" } else { "NoExport" };
        let message = "no sink is named";
        conditions.set("Ready", true, reason, message);
        conditions.set("Synced", true, reason, message);
        conditions.set("SinkReachable", true, "NoSinksConfigured", message);
        return;
    }
    let synced = verdicts.iter().filter(|(_, verdict)| verdict.is_synced).count();
    let failed: Vec<_> = verdicts.iter().filter(|(_, verdict)| verdict.class.is_some()).collect();
    let words = |verdicts: &mut dyn Iterator<Item = &(&PairPlan, Verdict)>| {
        let one = |(pair, verdict): &(&PairPlan, Verdict)| {
            format!("{}: {}", pair.sink.name, verdict.message)
        };
        verdicts.map(one).collect::<Vec<_>>().join("; ")
    };
    if synced == verdicts.len() {
        let message = format!("{synced} of {synced} sinks have acknowledged every row");
        for name in ["Ready", "Synced"] {
            conditions.set(name, true, "Exported", &message);
        }
        conditions.set("SinkReachable", true, "ExportSucceeded", &message);
        return;
    }
    let message = words(&mut verdicts.iter().filter(|(_, verdict)| !verdict.is_synced));
    let is_partial = verdicts.iter().any(|(_, verdict)| verdict.reason == "PartiallySynced");
    let reason = if synced > 0 || is_partial { "PartiallySynced" } else { "Progressing" };
    conditions.set("Synced", false, reason, &message);
    if failed.len() < verdicts.len() {
        conditions.set("Ready", failed.is_empty() || synced > 0, reason, &message);
    } else {
        let is_terminal =
            failed.iter().all(|(_, verdict)| verdict.class == Some(ErrorClass::Terminal));
        let own =
            failed.iter().find_map(|(_, one)| (one.reason != "ExportFailed").then_some(one.reason));
        let reason = own.unwrap_or(if is_terminal { "ExportTerminal" } else { "Progressing" });
        conditions.set("Degraded", true, reason, &message);
        conditions.set("Ready", false, reason, &message);
    }
    let first = failed.first();
    let reason = first.map_or("SinksReachable", |(_, verdict)| verdict.reason);
    let message = if first.is_none() { "no sink has refused anything" } else { &message };
    conditions.set("SinkReachable", first.is_none(), reason, message);
}

fn export(
    pair: &PairPlan,
    verdict: &Verdict,
    (before, facts): (&InventoryStatus, &Facts),
    now: Timestamp,
) -> SinkExport {
    let known = before.sink_exports.iter().find(|one| one.name == pair.sink.name);
    let conditions: &[Condition] = known.map_or(&[], |known| &known.conditions);
    let mut conditions = Conditions::new(conditions, None, now);
    conditions.set("Synced", verdict.is_synced, verdict.reason, &verdict.message);
    let state = facts.pairs.get(&pair.sink).and_then(|state| state.as_ref().ok());
    let time = state.and_then(|state| state.last_export).map(|time| Time(seconds(time)));
    let digest = state.and_then(|state| state.content).map(|content| content.digest.to_string());
    let watermark = state.and_then(|state| {
        let token = state.receipt.as_ref()?.token.as_ref()?;
        Some(Watermark {
            sequence: Some(token.sequence),
            rows: state.content.and_then(|content| i64::try_from(content.rows).ok()),
            digest: digest.clone(),
            time: time.clone(),
        })
    });
    let wrote = state.and_then(|state| state.receipt.as_ref()).map(|receipt| &receipt.wrote);
    let reference = match wrote {
        Some(Wrote::Commit { id, .. }) => Some(id.clone()),
        _ => None,
    };
    SinkExport {
        name: pair.sink.name.clone(),
        namespace: Some(pair.sink.namespace.clone()),
        last_export_time: time.or_else(|| known?.last_export_time.clone()),
        last_checksum: digest.map(|digest| format!("sum128:{digest}")),
        last_export_ref: reference.or_else(|| known?.last_export_ref.clone()),
        conditions: conditions.done(),
        watermark,
        coverage: Vec::new(),
        coverage_total: None,
    }
}

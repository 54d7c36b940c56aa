//! What an inventory says about one of its copies.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kollect_api::{SinkExport, Watermark};
use kollect_inventory::schedule::ErrorClass;
use kollect_sinks::{PairState, Phase, SinkKey, Wrote};

use super::super::{Conditions, seconds};
use crate::plan::{Trouble, inventory::PairPlan};

/// How one copy is, in the words of conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) is_synced: bool,
    pub(super) reason: String,
    pub(super) message: String,
    /// How it failed, if it did.
    pub(super) class: Option<ErrorClass>,
}

/// What is known of a copy.
pub(super) type Known<'a> = Option<&'a Result<PairState, Trouble>>;

impl Verdict {
    fn new(is_synced: bool, reason: &str, message: impl Into<String>) -> Self {
        Self { is_synced, reason: reason.to_owned(), message: message.into(), class: None }
    }

    fn progressing(why: &str) -> Self {
        Self::new(false, "Progressing", why)
    }

    /// What a condition of before said. R22: it stands until there is a result.
    fn of(condition: &Condition) -> Self {
        let is_synced = condition.status == "True";
        Self::new(is_synced, &condition.reason, condition.message.as_str())
    }

    pub(super) fn failed(&self) -> bool {
        self.class.is_some()
    }
}

/// How a copy is. One that has no result in a process that has just begun is as
/// it was.
pub(super) fn verdict(state: Known<'_>, before: Option<&SinkExport>) -> Verdict {
    let stands = || {
        let mut conditions = before?.conditions.iter();
        conditions.find(|condition| condition.type_ == "Synced").map(Verdict::of)
    };
    let waiting = |why: &str| stands().unwrap_or_else(|| Verdict::progressing(why));
    match state {
        None => waiting("it has not begun"),
        Some(Err(Trouble { reason: "Progressing", message })) => waiting(message),
        Some(Err(Trouble { reason, message })) => Verdict {
            class: Some(ErrorClass::Terminal),
            ..Verdict::new(false, reason, message.as_str())
        },
        Some(Ok(state)) => match &state.phase {
            Phase::Starting => waiting("nothing has been exported yet"),
            Phase::Progressing(why) if state.last_export.is_none() => waiting(why),
            Phase::Progressing(why) => Verdict::progressing(why),
            Phase::Exported => {
                Verdict::new(true, "Exported", "the sink has acknowledged every row")
            }
            Phase::Partial { refused, total } => {
                let first = refused.first().map(|row| {
                    let identity = &row.identity;
                    format!("{}/{}: {}", identity.namespace, identity.name, row.reason)
                });
                let first = first.unwrap_or_default();
                let message = format!("the sink refuses {total} rows; the first: {first}");
                Verdict::new(false, "PartiallySynced", message)
            }
            Phase::Failed { class, message, .. } => Verdict {
                class: Some(*class),
                ..Verdict::new(false, "ExportFailed", message.as_str())
            },
        },
    }
}

/// What a copy is called in a status: two families may use the same name.
pub(super) fn name(sink: &SinkKey) -> String {
    format!("{}/{}", sink.family, sink.name)
}

/// The entry of a copy. What it does not know of an export it keeps from before.
pub(super) fn entry(
    pair: &PairPlan,
    verdict: &Verdict,
    (state, known): (Known<'_>, Option<&SinkExport>),
    (is_cluster, now): (bool, Timestamp),
) -> SinkExport {
    let conditions: &[Condition] = known.map_or(&[], |known| &known.conditions);
    let mut conditions = Conditions::new(conditions, None, now);
    conditions.set("Synced", verdict.is_synced, &verdict.reason, &verdict.message);
    let state = state.and_then(|state| state.as_ref().ok());
    let time = state.and_then(|state| state.last_export).map(|time| Time(seconds(time)));
    let watermark = state.and_then(|state| {
        let token = state.receipt.as_ref()?.token.as_ref()?;
        Some(Watermark {
            sequence: Some(token.sequence),
            rows: state.content.and_then(|content| i64::try_from(content.rows).ok()),
            digest: state.content.map(|content| content.digest.to_string()),
            time: time.clone(),
        })
    });
    let wrote = state.and_then(|state| state.receipt.as_ref()).map(|receipt| &receipt.wrote);
    let reference = match wrote {
        Some(Wrote::Commit { id, .. }) => Some(id.clone()),
        _ => None,
    };
    let checksum = state.and_then(|state| state.checksum.clone());
    SinkExport {
        name: name(&pair.sink),
        namespace: is_cluster.then(|| pair.sink.namespace.clone()),
        last_export_time: time.or_else(|| known?.last_export_time.clone()),
        last_checksum: checksum.or_else(|| known?.last_checksum.clone()),
        last_export_ref: reference.or_else(|| known?.last_export_ref.clone()),
        conditions: conditions.done(),
        watermark: watermark.or_else(|| known?.watermark.clone()),
        coverage: Vec::new(),
        coverage_total: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(status: &str, reason: &str) -> SinkExport {
        let condition = Condition {
            type_: "Synced".to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: "as it was".to_owned(),
            observed_generation: None,
            last_transition_time: Time(Timestamp::UNIX_EPOCH),
        };
        SinkExport { conditions: vec![condition], ..SinkExport::default() }
    }

    #[test]
    fn after_a_restart_the_old_word_stands_until_there_is_a_result() {
        let old = before("True", "Exported");
        let starting = Ok(PairState::default());
        assert!(verdict(Some(&starting), Some(&old)).is_synced);
        assert!(verdict(None, Some(&old)).is_synced);
        assert_eq!(
            verdict(Some(&starting), None),
            Verdict::progressing("nothing has been exported yet")
        );
        let failed = Ok(PairState {
            phase: Phase::Failed {
                class: ErrorClass::Transient,
                message: "refused".to_owned(),
                attempts: 1,
                retry_at: Timestamp::UNIX_EPOCH,
            },
            ..PairState::default()
        });
        let failed = verdict(Some(&failed), Some(&old));
        assert_eq!((failed.is_synced, failed.reason.as_str()), (false, "ExportFailed"));
    }

    #[test]
    fn a_copy_that_falls_behind_is_not_what_it_was() {
        let behind = Ok(PairState {
            phase: Phase::Progressing("behind".to_owned()),
            last_export: Some(Timestamp::UNIX_EPOCH),
            ..PairState::default()
        });
        assert!(!verdict(Some(&behind), Some(&before("True", "Exported"))).is_synced);
    }

    #[test]
    fn a_missing_sink_is_told_by_its_own_word() {
        let missing = Err(Trouble::new("SinkNotFound", "there is no such sink"));
        let verdict = verdict(Some(&missing), None);
        assert_eq!(
            (verdict.reason.as_str(), verdict.class),
            ("SinkNotFound", Some(ErrorClass::Terminal))
        );
    }
}

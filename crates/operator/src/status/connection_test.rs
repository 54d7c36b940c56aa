//! What connection tests say about themselves.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kollect_api::ConnectionTestStatus;

use super::{Conditions, seconds};
use crate::{
    plan::{Trouble, connection_test::TestPlan},
    probes::trial::Verdict,
};

/// The status that a test should have: what came of it, and before that what
/// it said before. What it has said of itself as it stands now is not changed
/// any more.
pub(crate) fn status(plan: &TestPlan, verdict: Option<&Verdict>) -> ConnectionTestStatus {
    let before = plan.test().status.clone().unwrap_or_default();
    let Some(Verdict { outcome, latency, at }) = verdict.filter(|_| !plan.is_done()) else {
        return before;
    };
    let generation = plan.test().metadata.generation;
    let mut conditions = Conditions::new(&before.conditions, generation, *at);
    match outcome {
        Ok(message) => {
            conditions.set("ConnectionVerified", true, "ConnectionOK", message);
            conditions.set("Ready", true, "ProbeSucceeded", message);
        }
        Err(Trouble { reason, message }) => {
            conditions.set("ConnectionVerified", false, reason, message);
            conditions.set("Ready", false, reason, message);
        }
    }
    ConnectionTestStatus {
        conditions: conditions.done(),
        observed_generation: generation,
        latency_ms: latency.and_then(|latency| i64::try_from(latency.as_millis()).ok()),
        completed: Some(true),
        completed_at: Some(Time(seconds(*at))),
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use jiff::Timestamp;
    use kollect_validate::{Kind, Object};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        objects::{News, Objects},
        plan::{Knowledge, Planner},
        settings::Settings,
    };

    /// What a test of this generation says after what it said before.
    fn said(generation: i64, before: &Value, verdict: Option<&Verdict>) -> Value {
        let object = json!({
            "metadata": {"name": "t", "namespace": "shop", "uid": "u", "generation": generation},
            "spec": {"sinkRef": {"databaseSinkRef": "rows"}},
            "status": before,
        });
        let object = Object::decode(Kind::ConnectionTest, object).unwrap();
        let mut objects = Objects::default();
        objects.take(News::Set(Arc::new(object)));
        let plan = Planner::default().plan(&objects, &Settings::default(), &Knowledge::default());
        let plan = plan.tests.values().next().unwrap();
        serde_json::to_value(status(plan, verdict)).unwrap()
    }

    fn verdict(outcome: Result<&str, Trouble>, latency: Option<u64>, second: i64) -> Verdict {
        Verdict {
            outcome: outcome.map(str::to_owned),
            latency: latency.map(Duration::from_millis),
            at: Timestamp::from_second(second).unwrap(),
        }
    }

    fn words(status: &Value) -> Vec<String> {
        let conditions = status["conditions"].as_array().unwrap().iter();
        let words =
            conditions.map(|one| format!("{} {} {}", one["type"], one["status"], one["reason"]));
        words.map(|text| text.replace('"', "")).collect()
    }

    #[test]
    fn a_test_says_what_came_of_it_and_how_long_it_took() {
        let good = verdict(Ok("it is there"), Some(7), 60);
        let status = said(1, &Value::Null, Some(&good));
        assert_eq!(
            words(&status),
            ["ConnectionVerified True ConnectionOK", "Ready True ProbeSucceeded"]
        );
        assert_eq!((&status["latencyMs"], &status["completed"]), (&json!(7), &json!(true)));
        assert_eq!(status["completedAt"], "1970-01-01T00:01:00Z");
        assert_eq!(status["observedGeneration"], 1);
    }

    #[test]
    fn a_failure_completes_it_too() {
        let trouble = Trouble::new("SinkNotFound", "there is none");
        let status = said(1, &Value::Null, Some(&verdict(Err(trouble), None, 60)));
        assert_eq!(
            words(&status),
            ["ConnectionVerified False SinkNotFound", "Ready False SinkNotFound"]
        );
        assert_eq!((&status["latencyMs"], &status["completed"]), (&Value::Null, &json!(true)));
    }

    #[test]
    fn what_was_said_stands_until_the_test_has_been_run_again() {
        let good = verdict(Ok("it is there"), Some(7), 60);
        let first = said(1, &Value::Null, Some(&good));
        let later = verdict(Ok("it is there"), Some(9), 90);
        assert_eq!(said(1, &first, Some(&later)), first, "once is enough");
        assert_eq!(said(2, &first, None), first, "it is being run");
        let trouble = Trouble::new("SinkNotFound", "there is none");
        let second = said(2, &first, Some(&verdict(Err(trouble), None, 100)));
        assert_eq!(second["observedGeneration"], 2);
        assert_eq!(second["latencyMs"], Value::Null, "the older one means nothing");
        assert_eq!(second["completedAt"], "1970-01-01T00:01:40Z");
    }
}

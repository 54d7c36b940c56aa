//! What sinks say about themselves.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kollect_api::{Preview, SinkStatus};

use super::{Conditions, seconds};
use crate::{
    plan::{Trouble, sink::SinkPlan},
    probes::{Finding, Insight},
};

const VERIFIED: &str = "ConnectionVerified";
const DEGRADED: &str = "Degraded";
const INSECURE: &str = "TLSInsecure";

/// The status that a sink should have.
pub(crate) fn status(plan: &SinkPlan, known: &Insight, now: Timestamp) -> SinkStatus {
    let before = plan.status();
    let generation = plan.object.meta().generation;
    let mut conditions = Conditions::new(&before.conditions, generation, now);
    match (&plan.trouble, &known.finding) {
        (Some(Trouble { reason, message }), _) => conditions.set(DEGRADED, true, reason, message),
        (None, Finding::Pending) => {
            conditions.keep(VERIFIED);
            // What was wrong with the spec may be right by now.
            if !is_degraded_by_spec(&before.conditions) {
                conditions.keep(DEGRADED);
            }
        }
        (None, Finding::Unasked) => {
            // Who asked once and got a good answer may read it until the sink
            // is edited.
            if is_verified(&before.conditions, generation) {
                conditions.keep(VERIFIED);
            }
        }
        (None, Finding::Known(Ok(message))) => {
            conditions.set(VERIFIED, true, "ConnectionOK", message);
        }
        (None, Finding::Known(Err(Trouble { reason, message }))) => {
            conditions.set(VERIFIED, false, reason, message);
            conditions.set(DEGRADED, true, reason, message);
        }
    }
    match known.is_insecure {
        Some(true) => conditions.set(INSECURE, true, "InsecureSkipVerify", TOLD),
        Some(false) => {}
        None => conditions.keep(INSECURE),
    }
    SinkStatus { conditions: conditions.done(), preview: preview(plan, before.preview, now) }
}

const TOLD: &str = "the server's certificate is not verified, by spec.tls or by the connection \
                    string: anyone on the way can read and alter the data";

/// Whether the last probe was good, and of the sink as it is now.
pub(crate) fn is_verified(conditions: &[Condition], generation: Option<i64>) -> bool {
    conditions.iter().any(|one| {
        one.type_ == VERIFIED && one.status == "True" && one.observed_generation == generation
    })
}

fn is_degraded_by_spec(conditions: &[Condition]) -> bool {
    conditions.iter().any(|one| one.type_ == DEGRADED && one.reason == "InvalidSpec")
}

/// The preview. Its time moves when it does.
fn preview(plan: &SinkPlan, before: Option<Preview>, now: Timestamp) -> Option<Preview> {
    let wanted = plan.preview.clone()?;
    let before = before.unwrap_or_default();
    let is_same = wanted == Preview { rendered_at: None, ..before.clone() };
    let rendered_at = before.rendered_at.filter(|_| is_same);
    Some(Preview { rendered_at: rendered_at.or(Some(Time(seconds(now)))), ..wanted })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kollect_validate::{Kind, Object};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        objects::{News, Objects},
        plan::{Knowledge, Planner},
        settings::Settings,
    };

    struct Scene {
        object: Value,
    }

    impl Scene {
        fn new(spec: Value) -> Self {
            let meta = json!({"name": "s", "namespace": "shop", "uid": "u", "generation": 1});
            let mut scene = Self { object: json!({"metadata": meta, "spec": {"type": "git"}}) };
            scene.object["spec"]["endpoint"] = json!("https://git.example/x.git");
            scene.edit(spec);
            scene
        }

        fn edit(&mut self, spec: Value) {
            let changes = spec.as_object().unwrap().clone();
            self.object["spec"].as_object_mut().unwrap().extend(changes);
            let generation = self.object["metadata"]["generation"].as_i64().unwrap();
            self.object["metadata"]["generation"] = json!(generation + 1);
        }

        fn annotate(&mut self, name: &str, value: &str) {
            self.object["metadata"]["annotations"] = json!({name: value});
        }

        /// Says what is to be said, and what is then said as `Type=True Reason`.
        fn say(&mut self, finding: Finding, is_insecure: Option<bool>, second: i64) -> Vec<String> {
            let object = Object::decode(Kind::SnapshotSink, self.object.clone()).unwrap();
            let mut objects = Objects::default();
            objects.take(News::Set(Arc::new(object)));
            let plan =
                Planner::default().plan(&objects, &Settings::default(), &Knowledge::default());
            let plan = plan.sinks.values().next().unwrap();
            let now = Timestamp::from_second(second).unwrap();
            let status = status(plan, &Insight { finding, is_insecure }, now);
            self.object["status"] = serde_json::to_value(&status).unwrap();
            let said = |one: &Condition| format!("{}={} {}", one.type_, one.status, one.reason);
            status.conditions.iter().map(said).collect()
        }
    }

    fn good() -> Finding {
        Finding::Known(Ok("it is there".to_owned()))
    }

    fn bad() -> Finding {
        Finding::Known(Err(Trouble::new("ConnectionTestFailed", "it is not")))
    }

    #[test]
    fn a_sink_that_answers_is_verified() {
        let mut scene = Scene::new(json!({}));
        let said = scene.say(good(), Some(false), 1);
        assert_eq!(said, ["ConnectionVerified=True ConnectionOK"]);
        let condition = &scene.object["status"]["conditions"][0];
        assert_eq!(condition["observedGeneration"], 2);
        assert_eq!(condition["message"], "it is there");
    }

    #[test]
    fn one_that_does_not_is_degraded_until_it_does() {
        let mut scene = Scene::new(json!({}));
        let said = scene.say(bad(), Some(false), 1);
        let failed =
            ["ConnectionVerified=False ConnectionTestFailed", "Degraded=True ConnectionTestFailed"];
        assert_eq!(said, failed);
        assert_eq!(scene.say(Finding::Pending, Some(false), 2), failed, "it is being asked");
        assert_eq!(scene.say(good(), Some(false), 3), ["ConnectionVerified=True ConnectionOK"]);
    }

    #[test]
    fn what_was_said_stands_until_more_is_known() {
        let mut scene = Scene::new(json!({}));
        assert_eq!(scene.say(Finding::Pending, None, 1), Vec::<String>::new());
        scene.say(good(), Some(true), 2);
        let before = scene.object["status"].clone();
        scene.edit(json!({"cluster": "x"}));
        scene.say(Finding::Pending, None, 3);
        assert_eq!(scene.object["status"], before, "as after a restart");
    }

    #[test]
    fn an_equal_outcome_changes_nothing() {
        let mut scene = Scene::new(json!({}));
        scene.say(bad(), Some(true), 1);
        let before = scene.object["status"].clone();
        scene.say(bad(), Some(true), 100);
        assert_eq!(scene.object["status"], before);
    }

    #[test]
    fn a_sink_that_is_not_probed_is_not_verified() {
        let mut scene = Scene::new(json!({}));
        scene.say(bad(), Some(false), 1);
        scene.edit(json!({"connectionTest": false}));
        assert_eq!(scene.say(Finding::Unasked, Some(false), 2), Vec::<String>::new());
    }

    #[test]
    fn what_was_found_good_once_stands_until_the_sink_is_edited() {
        let mut scene = Scene::new(json!({"connectionTest": false}));
        let good_once = scene.say(good(), Some(false), 1);
        assert_eq!(scene.say(Finding::Unasked, Some(false), 2), good_once);
        scene.edit(json!({"cluster": "x"}));
        assert_eq!(scene.say(Finding::Unasked, Some(false), 3), Vec::<String>::new());
    }

    #[test]
    fn a_sink_that_admission_refuses_says_so() {
        let mut scene = Scene::new(json!({"endpoint": "https://localhost/x.git"}));
        assert_eq!(scene.say(Finding::Unasked, Some(false), 1), ["Degraded=True InvalidSpec"]);
        scene.edit(json!({"endpoint": "https://git.example/x.git"}));
        assert_eq!(scene.say(Finding::Pending, Some(false), 2), Vec::<String>::new());
    }

    #[test]
    fn whom_anybody_could_impersonate_says_so_however_probing_goes() {
        let mut scene = Scene::new(json!({"connectionTest": false}));
        let insecure = ["TLSInsecure=True InsecureSkipVerify"];
        assert_eq!(scene.say(Finding::Unasked, Some(true), 1), insecure);
        assert_eq!(scene.say(Finding::Unasked, None, 2), insecure, "its Secret is not read yet");
        assert_eq!(scene.say(Finding::Unasked, Some(false), 3), Vec::<String>::new());
    }

    #[test]
    fn a_preview_keeps_its_time_until_it_changes_and_goes_when_nobody_asks() {
        let mut scene = Scene::new(json!({}));
        scene.annotate("kollect.dev/preview", "True");
        let rendered = |scene: &Scene| scene.object["status"]["preview"]["renderedAt"].clone();
        scene.say(good(), Some(false), 1);
        assert_eq!(rendered(&scene), "1970-01-01T00:00:01Z");
        scene.say(good(), Some(false), 2);
        assert_eq!(rendered(&scene), "1970-01-01T00:00:01Z");
        scene.edit(json!({"cluster": "eu-1"}));
        scene.say(good(), Some(false), 3);
        assert_eq!(rendered(&scene), "1970-01-01T00:00:03Z");
        scene.annotate("kollect.dev/preview", "false");
        scene.say(good(), Some(false), 4);
        assert_eq!(scene.object["status"]["preview"], Value::Null);
    }
}

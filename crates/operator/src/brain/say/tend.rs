//! Sinks and connection tests: what they say, and what else is written to
//! them once they have said it.

use std::sync::Arc;

use jiff::Timestamp;
use kollect_api::annotation;
use kollect_validate::Object;
use serde_json::json;
use tokio::time::Instant;

use super::{AGAIN, Key, Saying, Speaker};
use crate::{
    brain::{
        facts::saying,
        write::{delete, path},
    },
    eyes::resource,
    objects::Name,
    plan::{
        Plan,
        sink::{Probing, SinkPlan},
    },
    probes::{Finding, Insight, Probes},
    status,
};

/// What every sink and connection test should say.
pub(in crate::brain) fn statuses(plan: &Plan, probes: &Probes, now: Timestamp) -> Vec<Saying> {
    let sinks = plan.sinks.iter().filter_map(|(key, sink)| {
        saying(&sink.object, &status::sink::status(sink, &probes.of_sink(key), now))
    });
    let tests = plan.tests.iter().filter_map(|(name, test)| {
        let wanted = status::connection_test::status(test, probes.of_test(name, test));
        saying(&test.object, &wanted)
    });
    sinks.chain(tests).collect()
}

impl Speaker {
    /// Takes the wish for a probe from sinks that have been granted it, gives
    /// connection tests their owner, and deletes those whose time is over.
    pub(in crate::brain) fn tend(&mut self, plan: &Plan, probes: &Probes, now: Timestamp) {
        let instant = Instant::now();
        self.tended.retain(|_, (_, at)| instant < *at + AGAIN);
        for (key, sink) in &plan.sinks {
            if is_granted(sink, &probes.of_sink(key)) {
                self.amend(
                    &sink.object,
                    json!({"annotations": {annotation::TEST_CONNECTION: null}}),
                );
            }
        }
        for test in plan.tests.values() {
            if test.is_over(now) {
                self.delete(&test.object);
                continue;
            }
            let sink = test.sink.as_ref().ok().and_then(|key| plan.sinks.get(key));
            if let Some(owners) = test.owners(sink.map(|sink| &*sink.object)) {
                self.amend(&test.object, json!({"ownerReferences": owners}));
            }
        }
    }

    /// Changes what stands in an object's metadata, unless somebody else has
    /// changed the object meanwhile.
    fn amend(&mut self, object: &Arc<Object>, mut metadata: serde_json::Value) {
        let Some(key) = self.may_tend(object) else { return };
        metadata["resourceVersion"] = json!(object.meta().resource_version);
        let uri = path(&resource(key.0), &key.1);
        let body = json!({"metadata": metadata});
        self.send(object, (uri, "application/merge-patch+json", body), Vec::new());
    }

    /// Deletes an object, unless somebody has changed it meanwhile.
    fn delete(&mut self, object: &Object) {
        let Some(key) = self.may_tend(object) else { return };
        let meta = object.meta();
        let options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": {"uid": meta.uid, "resourceVersion": meta.resource_version},
        });
        let (client, uri) = (self.client.clone(), path(&resource(key.0), &key.1));
        self.write(object, async move { delete(&client, &uri, options.to_string()).await });
    }

    /// Whether an object may be written to now: nothing is on its way there,
    /// and the same was not just tried in vain.
    pub(super) fn may_tend(&mut self, object: &Object) -> Option<Key> {
        let key = (object.kind(), Name::of(object));
        let version = object.meta().resource_version.clone();
        let is_tried = self.tended.get(&key).is_some_and(|(tried, _)| *tried == version);
        if is_tried || self.busy.contains(&key) {
            return None;
        }
        self.tended.insert(key.clone(), (version, Instant::now()));
        Some(key)
    }
}

/// Whether a sink that asked for one good probe has had it, and says so.
fn is_granted(sink: &SinkPlan, known: &Insight) -> bool {
    let generation = sink.object.meta().generation;
    sink.probing == Probing::UntilGood
        && matches!(known.finding, Finding::Known(Ok(_)))
        && status::sink::is_verified(&sink.status().conditions, generation)
}

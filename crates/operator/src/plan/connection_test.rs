//! What each connection test comes to: which sink it is about, whether it has
//! been run, and when it goes.

use std::{collections::BTreeMap, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kollect_api::{ConnectionTest, ConnectionTestSinkRef, GROUP, VERSION};
use kollect_sinks::{Family, SinkKey};
use kollect_validate::{Kind, Object, Report, Surroundings};

use super::Trouble;
use crate::objects::{Name, Objects, Typed as _};

/// What a connection test comes to.
#[derive(Clone, Debug)]
pub(crate) struct TestPlan {
    pub(crate) object: Arc<Object>,
    test: ConnectionTest,
    /// The sink that it is about, or why it is about none.
    pub(crate) sink: Result<SinkKey, Trouble>,
}

impl TestPlan {
    /// Changes whenever the test has to be run again.
    pub(crate) fn edition(&self) -> String {
        let meta = &self.test.metadata;
        format!("{:?} {:?}", meta.uid, meta.generation)
    }

    pub(crate) fn test(&self) -> &ConnectionTest {
        &self.test
    }

    /// Whether it says that it has been run as it stands now.
    pub(crate) fn is_done(&self) -> bool {
        let status = self.test.status.as_ref();
        status.is_some_and(|status| {
            status.completed == Some(true)
                && status.observed_generation == self.test.metadata.generation
        })
    }

    /// Whether its time is over. The clock is what it says about itself, so
    /// that a restart does not set it back.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        let status = self.test.status.as_ref().filter(|_| self.is_done());
        let Some(completed) = status.and_then(|status| status.completed_at.as_ref()) else {
            return false;
        };
        let seconds = i64::from(self.test.spec.ttl_seconds_after_finished.max(0));
        now.duration_since(completed.0) >= SignedDuration::from_secs(seconds)
    }

    /// The owners that it should have, if they are others than it has.
    ///
    /// The sink becomes the one that controls it, unless somebody else does or
    /// the spec says no. A sink that was created again does not adopt the tests
    /// of the one before: they go with that.
    pub(crate) fn owners(&self, sink: Option<&Object>) -> Option<Vec<OwnerReference>> {
        let has = self.test.metadata.owner_references.clone().unwrap_or_default();
        let wants = self.test.spec.owner_sink != Some(false);
        let sink = sink.filter(|_| wants);
        let is_wanted = |owner: &OwnerReference| {
            sink.is_some_and(|sink| owner.kind == sink.kind().name() && owner.name == sink.name())
        };
        let mut owners: Vec<_> = has
            .iter()
            .filter(|owner| !is_ours(owner) || is_wanted(owner) || (wants && sink.is_none()))
            .cloned()
            .collect();
        let is_controlled = owners.iter().any(|owner| owner.controller == Some(true));
        if let Some(sink) = sink.filter(|_| !is_controlled) {
            owners.push(OwnerReference {
                api_version: format!("{GROUP}/{VERSION}"),
                kind: sink.kind().name().to_owned(),
                name: sink.name().to_owned(),
                uid: sink.meta().uid.clone()?,
                controller: Some(true),
                block_owner_deletion: None,
            });
        }
        (owners != has).then_some(owners)
    }
}

/// What every connection test comes to; one that is being deleted is as good
/// as gone.
pub(super) fn all(objects: &Objects) -> BTreeMap<Name, TestPlan> {
    let mut plans = BTreeMap::new();
    for (name, object) in objects.of_kind(Kind::ConnectionTest) {
        let Some(test) = ConnectionTest::of(object) else { continue };
        if test.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let plan = TestPlan {
            object: Arc::clone(object),
            test: test.clone(),
            sink: sink(object, &name.namespace, &test.spec.sink_ref),
        };
        plans.insert(name.clone(), plan);
    }
    plans
}

/// The sink that a test names.
fn sink(
    object: &Object,
    namespace: &str,
    reference: &ConnectionTestSinkRef,
) -> Result<SinkKey, Trouble> {
    let invalid = |message: String| Trouble::new("InvalidSinkRef", message);
    let mut report = Report::default();
    kollect_validate::check(object, &Surroundings::default(), &mut report);
    if let Some(violation) = report.violations.first() {
        return Err(invalid(violation.to_string()));
    }
    let ConnectionTestSinkRef { snapshot_sink_ref, database_sink_ref, event_sink_ref } = reference;
    let named = [
        (Family::Snapshot, snapshot_sink_ref),
        (Family::Database, database_sink_ref),
        (Family::Event, event_sink_ref),
    ];
    let mut named = named.into_iter().filter_map(|(family, name)| {
        let name = name.clone().filter(|name| !name.is_empty())?;
        Some(SinkKey { family, namespace: namespace.to_owned(), name })
    });
    named.next().ok_or_else(|| invalid("spec.sinkRef names no sink".to_owned()))
}

/// Whether an owner is one that we gave.
fn is_ours(owner: &OwnerReference) -> bool {
    let kinds = [Kind::SnapshotSink, Kind::DatabaseSink, Kind::EventSink];
    owner.api_version.split('/').next() == Some(GROUP)
        && owner.controller == Some(true)
        && kinds.iter().any(|kind| kind.name() == owner.kind)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::objects::News;

    fn plan(spec: Value, more: Value) -> TestPlan {
        let mut object = json!({
            "metadata": {"name": "t", "namespace": "shop", "uid": "u", "generation": 2},
            "spec": spec,
        });
        for (pointer, value) in more.as_object().unwrap() {
            match pointer.as_str() {
                "status" => object["status"] = value.clone(),
                field => object["metadata"][field] = value.clone(),
            }
        }
        let object = Object::decode(Kind::ConnectionTest, object).unwrap();
        let mut objects = Objects::default();
        objects.take(News::Set(Arc::new(object)));
        all(&objects).into_values().next().unwrap()
    }

    fn database(name: &str, uid: &str) -> Object {
        let object = json!({
            "metadata": {"name": name, "namespace": "shop", "uid": uid},
            "spec": {"type": "sqlite", "sqlite": {"path": "x"}},
        });
        Object::decode(Kind::DatabaseSink, object).unwrap()
    }

    fn of_rows() -> Value {
        json!({"sinkRef": {"databaseSinkRef": "rows"}})
    }

    #[test]
    fn a_test_names_exactly_one_sink_of_its_namespace() {
        let named = plan(of_rows(), json!({})).sink.unwrap();
        assert_eq!((named.family, named.namespace.as_str()), (Family::Database, "shop"));
        assert_eq!(named.name, "rows");
        for reference in [
            json!({}),
            json!({"databaseSinkRef": "a", "eventSinkRef": "b"}),
            json!({"databaseSinkRef": "a/b"}),
        ] {
            let plan = plan(json!({"sinkRef": reference}), json!({}));
            assert_eq!(plan.sink.unwrap_err().reason, "InvalidSinkRef");
        }
    }

    fn finished(generation: i64, ttl: i32) -> TestPlan {
        let mut spec = of_rows();
        spec["ttlSecondsAfterFinished"] = json!(ttl);
        let status = json!({
            "completed": true, "observedGeneration": generation,
            "completedAt": "2026-01-01T00:00:00Z",
        });
        plan(spec, json!({"status": status}))
    }

    #[test]
    fn a_test_goes_its_time_after_it_has_finished() {
        let at = |second: i64| {
            let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
            start + SignedDuration::from_secs(second)
        };
        let test = finished(2, 300);
        assert!(test.is_done() && !test.is_over(at(299)) && test.is_over(at(300)));
        assert!(finished(2, 0).is_over(at(0)), "at once");
        assert!(!plan(of_rows(), json!({})).is_over(at(1_000)), "it has not been run");
    }

    #[test]
    fn an_edited_test_is_neither_done_nor_over() {
        let edited = finished(1, 0);
        assert!(!edited.is_done());
        assert!(!edited.is_over("2030-01-01T00:00:00Z".parse().unwrap()));
    }

    #[test]
    fn the_sink_becomes_the_owner_that_controls_it() {
        let sink = database("rows", "s1");
        let owners = plan(of_rows(), json!({})).owners(Some(&sink)).unwrap();
        let [first] = owners.as_slice() else { panic!("{owners:?}") };
        assert_eq!((first.kind.as_str(), first.uid.as_str()), ("KollectDatabaseSink", "s1"));
        assert_eq!(
            (first.api_version.as_str(), first.controller),
            ("kollect.dev/v1alpha1", Some(true))
        );
        let owned = plan(of_rows(), json!({"ownerReferences": owners}));
        assert_eq!(owned.owners(Some(&sink)), None, "once is enough");
        assert_eq!(owned.owners(Some(&database("rows", "s2"))), None, "it goes with the first");
        assert_eq!(owned.owners(None), None);
    }

    #[test]
    fn another_sink_or_none_takes_the_place_of_the_owner() {
        let owners = plan(of_rows(), json!({})).owners(Some(&database("rows", "s1"))).unwrap();
        let metadata = json!({"ownerReferences": owners});
        let moved = plan(json!({"sinkRef": {"databaseSinkRef": "new"}}), metadata.clone());
        let after = moved.owners(Some(&database("new", "n"))).unwrap();
        assert_eq!(after.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["new"]);
        let mut freed = of_rows();
        freed["ownerSink"] = json!(false);
        let freed = plan(freed, metadata);
        assert_eq!(freed.owners(Some(&database("rows", "s1"))), Some(vec![]));
    }

    #[test]
    fn owners_of_somebody_else_stay() {
        let theirs = json!([{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "y", "controller": true,
        }]);
        let plan = plan(of_rows(), json!({"ownerReferences": theirs}));
        assert_eq!(plan.owners(Some(&database("rows", "s1"))), None);
    }
}

//! What each sink comes to: when it is probed, and what its copies look like.

use std::{collections::BTreeMap, error::Error, sync::Arc};

use kollect_api::{Preview, SinkStatus, annotation};
use kollect_sinks::{Family, SinkKey, SinkSpec, preview};
use kollect_validate::{Kind, Object, Report, Surroundings};

use super::{Planner, Trouble};
use crate::{objects::Objects, settings::Settings};

/// What a sink comes to.
#[derive(Clone, Debug)]
pub(crate) struct SinkPlan {
    pub(crate) object: Arc<Object>,
    /// What it says; the cluster has a name in it wherever one is known.
    pub(crate) spec: SinkSpec,
    /// Why it is not admitted, if so; then it is not probed.
    pub(crate) trouble: Option<Trouble>,
    pub(crate) probing: Probing,
    /// What an export would look like, where somebody wants to see it. When
    /// that was rendered is not known here.
    pub(crate) preview: Option<Preview>,
}

/// When a sink is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probing {
    /// Whenever it, or a Secret that it names, has changed; and once more when
    /// its annotation begins to ask for it.
    Always {
        is_asked: bool,
    },
    /// Until it has succeeded once: its annotation asks for it.
    UntilGood,
    Never,
}

impl SinkPlan {
    fn new(object: &Arc<Object>, key: &SinkKey, settings: &Settings) -> Option<Self> {
        let spec = with_cluster(spec_of(object)?, settings);
        // An interval below the floor of a scope is lifted to it, not refused;
        // therefore no scope has to be known.
        let around = Surroundings { policy: settings.policy.clone(), ..Surroundings::default() };
        let mut report = Report::default();
        kollect_validate::check(object, &around, &mut report);
        let violation = report.violations.first();
        let is_asked = is_annotated(object, annotation::TEST_CONNECTION);
        Some(Self {
            object: Arc::clone(object),
            trouble: violation.map(|one| Trouble::new("InvalidSpec", one.to_string())),
            probing: match spec.common().connection_test {
                None | Some(true) => Probing::Always { is_asked },
                Some(false) if is_asked => Probing::UntilGood,
                Some(false) => Probing::Never,
            },
            preview: is_annotated(object, annotation::PREVIEW)
                .then(|| rendered(key, &spec, &report)),
            spec,
        })
    }

    /// Changes whenever the sink has to be probed again, its Secrets aside.
    pub(crate) fn edition(&self) -> String {
        let meta = self.object.meta();
        format!("{:?} {:?}", meta.uid, meta.generation)
    }

    /// What it says about itself.
    pub(crate) fn status(&self) -> SinkStatus {
        let status = match &*self.object {
            Object::SnapshotSink(sink) => &sink.status,
            Object::DatabaseSink(sink) => &sink.status,
            Object::EventSink(sink) => &sink.status,
            _ => &None,
        };
        status.clone().unwrap_or_default()
    }
}

impl Planner {
    /// What every sink comes to. What was made of an object holds until there
    /// is another.
    pub(super) fn sinks(
        &mut self,
        objects: &Objects,
        settings: &Settings,
    ) -> BTreeMap<SinkKey, Arc<SinkPlan>> {
        let kinds = [Kind::SnapshotSink, Kind::DatabaseSink, Kind::EventSink].into_iter();
        let mut plans = BTreeMap::new();
        for (_, object) in kinds.flat_map(|kind| objects.of_kind(kind)) {
            let Some(key) = key_of(object) else { continue };
            let known = self.sinks.get(&key).filter(|one| Arc::ptr_eq(&one.object, object));
            let plan = match known {
                Some(plan) => Some(Arc::clone(plan)),
                None => SinkPlan::new(object, &key, settings).map(Arc::new),
            };
            plans.extend(plan.map(|plan| (key, plan)));
        }
        self.sinks.clone_from(&plans);
        plans
    }
}

/// What an object says about a sink, if it is one.
pub(crate) fn spec_of(object: &Object) -> Option<SinkSpec> {
    match object {
        Object::SnapshotSink(sink) => Some(SinkSpec::Snapshot(Box::new(sink.spec.clone()))),
        Object::DatabaseSink(sink) => Some(SinkSpec::Database(Box::new(sink.spec.clone()))),
        Object::EventSink(sink) => Some(SinkSpec::Event(Box::new(sink.spec.clone()))),
        _ => None,
    }
}

/// The same, with the cluster's name where the sink does not say one.
pub(crate) fn with_cluster(mut spec: SinkSpec, settings: &Settings) -> SinkSpec {
    let own = spec.common().cluster.as_deref();
    if own.is_none_or(str::is_empty) && !settings.cluster.is_empty() {
        spec.common_mut().cluster = Some(settings.cluster.clone());
    }
    spec
}

fn key_of(object: &Object) -> Option<SinkKey> {
    let family = match object.kind() {
        Kind::SnapshotSink => Family::Snapshot,
        Kind::DatabaseSink => Family::Database,
        Kind::EventSink => Family::Event,
        _ => return None,
    };
    let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
    Some(SinkKey { family, namespace, name })
}

/// Whether an annotation says `true`, in whatever case.
fn is_annotated(object: &Object, name: &str) -> bool {
    let annotations = object.meta().annotations.as_ref();
    let value = annotations.and_then(|annotations| annotations.get(name));
    value.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

/// What an export would look like; where it cannot be said, why.
fn rendered(key: &SinkKey, spec: &SinkSpec, report: &Report) -> Preview {
    let remarks = report.warnings.iter().map(ToString::to_string);
    match preview(key, spec) {
        Ok(preview) => Preview { warnings: remarks.collect(), ..preview },
        Err(error) => {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            let why = format!("there is no preview: {error}{cause}");
            Preview { warnings: remarks.chain([why]).collect(), ..Preview::default() }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::objects::News;

    fn sink(annotations: Value, spec: Value) -> Arc<Object> {
        let object = json!({
            "metadata": {
                "name": "audit", "namespace": "shop", "uid": "u", "generation": 3,
                "annotations": annotations,
            },
            "spec": spec,
        });
        Arc::new(Object::decode(Kind::SnapshotSink, object).unwrap())
    }

    fn git(more: Value) -> Value {
        let mut spec = json!({"type": "git", "endpoint": "https://git.example/audit.git"});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    }

    fn plan(annotations: Value, spec: Value) -> Arc<SinkPlan> {
        let mut objects = Objects::default();
        objects.take(News::Set(sink(annotations, spec)));
        let settings = Settings { cluster: "eu-1".to_owned(), ..Settings::default() };
        let plans = Planner::default().sinks(&objects, &settings);
        Arc::clone(plans.values().next().unwrap())
    }

    #[track_caller]
    fn probed(annotation: &str, connection_test: Value, expected: Probing) {
        let annotations = json!({"kollect.dev/test-connection": annotation});
        let spec = git(json!({"connectionTest": connection_test}));
        assert_eq!(plan(annotations, spec).probing, expected);
    }

    #[test]
    fn a_sink_is_probed_unless_it_says_no_and_nobody_asks() {
        probed("", Value::Null, Probing::Always { is_asked: false });
        probed("TRUE", json!(true), Probing::Always { is_asked: true });
        probed("True", json!(false), Probing::UntilGood);
        probed("yes", json!(false), Probing::Never);
    }

    #[test]
    fn what_admission_refuses_is_in_trouble() {
        let good = plan(json!({}), git(json!({})));
        assert_eq!(good.trouble, None);
        let bad = plan(json!({}), git(json!({"endpoint": "https://127.0.0.1/x.git"})));
        assert_eq!(bad.trouble.as_ref().map(|trouble| trouble.reason), Some("InvalidSpec"));
    }

    #[test]
    fn an_interval_below_a_floor_is_no_trouble() {
        let plan = plan(json!({}), git(json!({"exportMinInterval": "1s"})));
        assert_eq!(plan.trouble, None);
    }

    #[test]
    fn a_preview_is_rendered_for_whoever_asks_with_the_remarks_of_admission() {
        assert_eq!(plan(json!({}), git(json!({}))).preview, None);
        let preview = plan(json!({"kollect.dev/preview": "true"}), git(json!({})));
        let preview = preview.preview.clone().unwrap();
        assert_eq!(preview.object_path.as_deref(), Some("inventory/team-a/api.yaml"));
        let subject = preview.git.unwrap().sample_commit_subject.unwrap();
        assert!(subject.starts_with("chore(eu-1/team-a/api)"), "{subject}");
        assert_eq!(
            preview.warnings,
            ["spec.serialization.format: not given: documents are written as YAML"]
        );
        let foreign = json!({"type": "s3", "endpoint": "s3://bucket"});
        let preview = plan(json!({"kollect.dev/preview": "true"}), foreign);
        let warnings = preview.preview.clone().unwrap().warnings;
        assert!(warnings.iter().any(|one| one.starts_with("there is no preview")), "{warnings:?}");
    }

    #[test]
    fn what_was_made_of_an_object_holds_until_there_is_another() {
        let mut objects = Objects::default();
        let (mut planner, settings) = (Planner::default(), Settings::default());
        let key = SinkKey {
            family: Family::Snapshot,
            namespace: "shop".to_owned(),
            name: "audit".to_owned(),
        };
        objects.take(News::Set(sink(json!({}), git(json!({})))));
        let first = Arc::clone(&planner.sinks(&objects, &settings)[&key]);
        assert!(Arc::ptr_eq(&first, &planner.sinks(&objects, &settings)[&key]));
        objects.take(News::Set(sink(json!({}), git(json!({"cluster": "x"})))));
        assert!(!Arc::ptr_eq(&first, &planner.sinks(&objects, &settings)[&key]));
    }
}

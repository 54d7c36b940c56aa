use serde_json::{Value, json};

use super::*;
use crate::{
    objects::News,
    plan::{Knowledge, Plan, Planner},
};

fn object(kind: Kind, namespace: &str, name: &str, spec: Value) -> Arc<Object> {
    let object = json!({"metadata": {"name": name, "namespace": namespace}, "spec": spec});
    Arc::new(Object::decode(kind, object).unwrap())
}

fn plan(objects: impl IntoIterator<Item = Arc<Object>>) -> Plan {
    let mut known = Objects::default();
    for object in objects {
        known.take(News::Set(object));
    }
    let mut settings = Settings::default();
    settings.policy.local_paths = kollect_validate::LocalPaths::Below("/copies".into());
    Planner::default().plan(&known, &settings, &Knowledge::default())
}

fn sqlite(namespace: &str, path: &str) -> Arc<Object> {
    let spec = json!({"type": "sqlite", "sqlite": {"path": path}});
    object(Kind::DatabaseSink, namespace, "rows", spec)
}

fn inventory(namespace: &str, reference: Value) -> Arc<Object> {
    object(Kind::Inventory, namespace, "i", json!({"databaseSinkRefs": [reference]}))
}

/// Where the one sink of the one inventory is, and what is wrong with it.
fn sink(plan: &Plan) -> (&str, Option<&Trouble>) {
    let pair = &plan.inventories.values().next().unwrap().pairs[0];
    (&pair.sink.namespace, pair.spec.as_ref().err())
}

#[test]
fn an_inventory_has_its_sinks_in_its_own_namespace() {
    let elsewhere = json!({"name": "rows", "namespace": "b"});
    let plan = plan([sqlite("b", "rows.db"), inventory("a", elsewhere)]);
    let (namespace, trouble) = sink(&plan);
    assert_eq!((namespace, trouble.unwrap().reason), ("a", "SinkNotFound"));
    let refused = plan.inventories.values().next().unwrap().trouble.as_ref();
    assert_eq!(refused.unwrap().reason, "InvalidSpec");
}

#[test]
fn a_sink_that_admission_would_refuse_is_not_opened() {
    let good = plan([sqlite("a", "rows.db"), inventory("a", json!({"name": "rows"}))]);
    assert_eq!(sink(&good).1, None);
    let bad = plan([sqlite("a", "../rows.db"), inventory("a", json!({"name": "rows"}))]);
    let trouble = sink(&bad).1.unwrap();
    assert_eq!(trouble.reason, "ExportTerminal");
    assert!(trouble.message.contains("database sink a/rows is invalid"), "{trouble:?}");
}

#[test]
fn nothing_is_done_for_an_inventory_that_has_the_name_of_one_of_the_cluster() {
    let refs = json!({
        "namespaces": ["a"], "databaseSinkRefs": [{"name": "rows", "namespace": "cluster"}],
    });
    let plan = plan([
        sqlite("cluster", "rows.db"),
        inventory("cluster", json!({"name": "rows"})),
        object(Kind::ClusterInventory, "", "i", refs),
    ]);
    let (key, one) = plan.inventories.iter().next().unwrap();
    assert_eq!((plan.inventories.len(), key.namespace.as_str()), (1, "cluster"));
    assert_eq!(one.object.kind(), Kind::ClusterInventory);
    let [nameless] = &plan.nameless[..] else { panic!("{:?}", plan.nameless) };
    assert!(nameless.pairs.is_empty());
    let trouble = nameless.trouble.as_ref().unwrap();
    assert_eq!(trouble.reason, "InvalidSpec");
    assert!(trouble.message.contains("reserved"), "{trouble:?}");
}

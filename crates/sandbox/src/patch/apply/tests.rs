use serde_json::json;

use super::*;
use crate::{patch::managers::Operation, recorded};

fn writer(name: &str) -> Writer {
    Writer {
        name: name.into(),
        operation: Operation::Apply,
        subresource: String::new(),
        api_version: "v1".into(),
        time: "then".into(),
    }
}

fn pods() -> Option<Schema<'static>> {
    recorded::schemas().get("io.k8s.api.core.v1.Pod").map(Schema::new)
}

fn pod(containers: &Value) -> Value {
    json!({"metadata": {"name": "p"}, "spec": {"containers": containers}})
}

#[test]
fn what_a_manager_no_longer_says_goes_and_what_others_say_stays() {
    let both = pod(&json!([{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]));
    let object = apply(&Value::Null, &both, &writer("one"), pods(), false).unwrap();
    let other = pod(&json!([{"name": "b", "image": "1"}]));
    let object = apply(&object, &other, &writer("two"), pods(), false).unwrap();
    let less = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n"}});
    let object = apply(&object, &less, &writer("one"), pods(), false).unwrap();
    assert_eq!(
        object["spec"],
        json!({"containers": [{"name": "b", "image": "1"}], "nodeName": "n"})
    );
}

#[test]
fn a_field_of_somebody_else_is_a_conflict_unless_it_is_taken_by_force() {
    let first = pod(&json!([{"name": "a", "image": "1"}]));
    let second = pod(&json!([{"name": "a", "image": "2"}]));
    let object = apply(&Value::Null, &first, &writer("one"), pods(), false).unwrap();
    assert_eq!(
        apply(&object, &second, &writer("two"), pods(), false),
        Err(Conflicts(vec![("\"one\"".into(), ".spec.containers[name=\"a\"].image".into())]))
    );
    let object = apply(&object, &second, &writer("two"), pods(), true).unwrap();
    assert_eq!(object["spec"]["containers"][0]["image"], "2");
    assert_eq!(apply(&object, &second, &writer("two"), pods(), false), Ok(object.clone()));
    assert_eq!(
        object["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}}})
    );
}

#[test]
fn what_was_updated_belongs_to_whoever_did_it() {
    let old = json!({"metadata": {"name": "p", "labels": {"a": "1"}}});
    let mut new = json!({"metadata": {"name": "p", "labels": {"a": "2"}}});
    let update = Writer { operation: Operation::Update, ..writer("three") };
    managers::note(&old, &mut new, &update, pods());
    assert_eq!(
        new["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:metadata": {"f:labels": {"f:a": {}}}})
    );
    let config = json!({"metadata": {"name": "p", "labels": {"a": "3"}}});
    let refused = apply(&new, &config, &writer("one"), pods(), false);
    let expected = ("\"three\" using v1".to_owned(), ".metadata.labels.a".to_owned());
    assert_eq!(refused, Err(Conflicts(vec![expected])));
}

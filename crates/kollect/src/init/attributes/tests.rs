use kollect_api::Target;
use kollect_extract::{Plan, Verdict, Wanted};
use serde_json::json;

use super::*;

fn gvk(group: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind { group: group.to_owned(), version: "v1".to_owned(), kind: kind.to_owned() }
}

/// A definition with these columns and this schema.
fn defined(columns: Value, schema: Value) -> Told {
    let version = json!({
        "name": "v1", "additionalPrinterColumns": columns, "schema": {"openAPIV3Schema": schema},
    });
    let older = json!({"name": "v1beta1", "additionalPrinterColumns": [
        {"name": "Old", "type": "string", "jsonPath": ".spec.old"}]});
    let definition = json!({"spec": {"versions": [older, version]}});
    Told { definition: Some(definition), open_api: None }
}

/// Attributes as lines of name, path, type, `?` if optional.
fn lines(chosen: &[Chosen]) -> Vec<String> {
    let line = |one: &Chosen| {
        let optional = if one.optional { " ?" } else { "" };
        format!("{} {} {}{optional}", one.name, one.path, one.value_type.unwrap_or("any"))
    };
    chosen.iter().map(line).collect()
}

#[track_caller]
fn check(told: &Told, expected: &[&str]) {
    assert_eq!(lines(&choose(&gvk("shop.example.org", "Widget"), told)), expected);
}

fn column(name: &str, value_type: &str, path: &str) -> Value {
    json!({"name": name, "type": value_type, "jsonPath": path})
}

#[test]
fn printer_columns_become_typed_attributes() {
    let columns = json!([
        column("Replicas", "integer", ".spec.replicas"),
        column("Load", "number", ".status.load"),
        column("Paused", "boolean", ".spec.paused"),
        column("Expires", "date", ".status.notAfter"),
        column("Last Sync", "date", ".status.lastSync"),
        column("Zone", "string", ".metadata.labels.topology\\.kubernetes\\.io/zone"),
        column("Age", "date", ".metadata.creationTimestamp"),
    ]);
    let expected = [
        "replicas $.spec.replicas int",
        "load $.status.load number",
        "paused $.spec.paused bool",
        "expires $.status.notAfter string",
        "zone {.metadata.labels.topology\\.kubernetes\\.io/zone} string",
    ];
    check(&defined(columns, json!({})), &expected);
}

#[test]
fn a_filter_for_one_element_becomes_an_expression() {
    let columns = json!([
        column("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status"),
        column("Odd", "string", ".status.conditions[?(@.type!=\"Ready\")].status"),
        column("First", "string", ".spec.hosts[0]"),
        column("Hosts", "string", ".spec.rules[*].host"),
    ]);
    let expected = [
        "ready cel:object.status.conditions.filter(c, c.type == \"Ready\")[0].status string ?",
        "odd {.status.conditions[?(@.type!=\"Ready\")].status} string ?",
        "first {.spec.hosts[0]} string ?",
        "hosts {.spec.rules[*].host} any ?",
    ];
    check(&defined(columns, json!({})), &expected);
}

#[test]
fn the_schema_knows_types_better_than_a_column() {
    let columns = json!([
        column("Hosts", "string", ".spec.hosts"),
        column("Port", "string", ".spec.port"),
        column("Size", "string", ".spec.size"),
    ]);
    let spec = json!({"type": "object", "properties": {
        "hosts": {"type": "array"}, "port": {"x-kubernetes-int-or-string": true}}});
    let schema = json!({"properties": {"spec": spec}});
    let expected = ["hosts $.spec.hosts list", "port $.spec.port any", "size $.spec.size string"];
    check(&defined(columns, schema), &expected);
}

#[test]
fn columns_for_wide_tables_come_last_and_those_that_cannot_be_read_are_left_out() {
    let columns = json!([
        {"name": "Wide", "type": "string", "jsonPath": ".spec.wide", "priority": 1},
        column("Broken", "string", ".spec.a[?("),
        column("Shown", "string", ".spec.shown"),
        {"name": "no path"},
    ]);
    check(&defined(columns, json!({})), &["shown $.spec.shown string", "wide $.spec.wide string"]);
}

#[test]
fn names_are_unique_and_hide_nothing() {
    let columns = json!([
        column("Secret", "string", ".spec.secretName"),
        column("State", "string", ".status.state"),
        column("STATE", "string", ".spec.state"),
        column("Name", "string", ".spec.issuerRef.name"),
        column("Password", "string", ".spec.password"),
        column("%", "integer", ".status.percent"),
    ]);
    let expected = [
        "secretName $.spec.secretName string",
        "state $.status.state string",
        "specState $.spec.state string",
        "issuerRefName $.spec.issuerRef.name string",
        "percent $.status.percent int",
    ];
    check(&defined(columns, json!({})), &expected);
}

fn schema_of_a_widget() -> Value {
    let text = || json!({"type": "string"});
    let condition = json!({"type": "object", "properties": {"type": text(), "status": text()}});
    let spec = json!({"type": "object", "required": ["plan"], "properties": {
        "replicas": {"type": "integer", "description": "How many are wanted. More is better."},
        "plan": text(), "colour": text(), "password": text(), "note": {"type": "object"},
        "backup": {"type": "object", "properties": {"schedule": text(), "colour": text()}},
        "hosts": {"type": "array", "items": text()}, "rules": {"type": "array", "items": condition},
    }});
    let status = json!({"type": "object", "properties": {
        "phase": text(), "observedGeneration": {"type": "integer"}, "lastSeen": text(),
        "message": text(), "seenAt": {"type": "string", "format": "date-time"},
        "conditions": {"type": "array", "items": condition},
    }});
    json!({"type": "object", "properties": {
        "apiVersion": text(), "kind": text(), "metadata": {"type": "object"},
        "spec": spec, "status": status,
    }})
}

#[test]
fn without_columns_the_schema_gives_what_lasts_and_means_something() {
    let told = defined(
        json!([column("Age", "date", ".metadata.creationTimestamp")]),
        schema_of_a_widget(),
    );
    let expected = [
        "backupSchedule $.spec.backup.schedule string",
        "colour $.spec.colour string",
        "hosts $.spec.hosts list",
        "plan $.spec.plan string",
        "replicas $.spec.replicas int",
        "phase $.status.phase string",
        "ready cel:object.status.conditions.filter(c, c.type == \"Ready\")[0].status string ?",
    ];
    check(&told, &expected);
    let chosen = choose(&gvk("shop.example.org", "Widget"), &told);
    let replicas = chosen.iter().find(|one| one.name == "replicas").unwrap();
    assert_eq!(replicas.origin, "the schema: How many are wanted");
}

#[test]
fn a_large_schema_gives_few_attributes() {
    let fields: serde_json::Map<_, _> =
        (0..500).map(|n| (format!("field{n}"), json!({"type": "string"}))).collect();
    let schema = json!({"properties": {"spec": {"type": "object", "properties": fields}}});
    assert_eq!(choose(&gvk("a.example.org", "A"), &defined(json!([]), schema)).len(), 8);
    let columns: Vec<_> =
        (0..50).map(|n| column(&format!("C{n}"), "string", &format!(".spec.c{n}"))).collect();
    assert_eq!(choose(&gvk("a.example.org", "A"), &defined(json!(columns), json!({}))).len(), 12);
}

#[test]
fn references_of_a_document_are_followed_and_circles_end() {
    let document = json!({"components": {"schemas": {
        "Lease": {
            "x-kubernetes-group-version-kind": [{"group": "coordination.k8s.io", "version": "v1", "kind": "Lease"}],
            "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/LeaseSpec"}], "default": {}},
                           "status": {"$ref": "#/components/schemas/Circle"}},
        },
        "LeaseSpec": {"type": "object", "properties": {
            "holderIdentity": {"type": "string"}, "acquireTime": {"$ref": "#/components/schemas/Time"},
            "size": {"allOf": [{"$ref": "#/components/schemas/Quantity"}]}}},
        "Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
        "Time": {"type": "string", "format": "date-time"},
        "Circle": {"$ref": "#/components/schemas/Circle"},
    }}});
    let told = Told { definition: None, open_api: Some(document) };
    let chosen = lines(&choose(&gvk("coordination.k8s.io", "Lease"), &told));
    assert_eq!(chosen, ["holderIdentity $.spec.holderIdentity string", "size $.spec.size any"]);
}

#[test]
fn a_kind_about_which_nothing_is_said_has_its_age_and_its_labels() {
    let expected = ["created $.metadata.creationTimestamp string", "labels $.metadata.labels map"];
    check(&Told::default(), &expected);
    check(&defined(json!([]), json!({"type": "object"})), &expected);
    let odd = Told { definition: Some(json!("?")), open_api: Some(json!([1])) };
    check(&odd, &expected);
}

#[test]
fn the_data_of_secrets_is_never_chosen() {
    let secret = json!({"x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Secret"}],
        "properties": {"data": {"type": "object"}, "stringData": {"type": "object"}, "type": {"type": "string"}}});
    let told = Told {
        definition: None,
        open_api: Some(json!({"components": {"schemas": {"Secret": secret}}})),
    };
    let chosen = lines(&choose(&gvk("", "Secret"), &told));
    assert_eq!(chosen, ["type $.type string", "created $.metadata.creationTimestamp string"]);
}

/// The expression for a condition gives what kubectl shows, and nothing where
/// there is none.
#[test]
fn a_condition_is_read_as_kubectl_shows_it() {
    let columns =
        json!([column("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status")]);
    let chosen = choose(&gvk("shop.example.org", "Widget"), &defined(columns, json!({})));
    let attribute =
        json!({"name": chosen[0].name, "path": chosen[0].path, "optional": chosen[0].optional});
    let profile = serde_json::from_value(json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile", "metadata": {"name": "w"},
        "spec": {"targetGVK": {"group": "shop.example.org", "version": "v1", "kind": "Widget"}, "attributes": [attribute]},
    }));
    let profile = profile.unwrap();
    let target: Target = serde_json::from_value(json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectTarget",
        "metadata": {"name": "w", "namespace": "shop"}, "spec": {"profileRef": "w"},
    }))
    .unwrap();
    let plan = Plan::compile(&profile, Wanted::from(&target), &[]).unwrap();
    let attributes = |status: Value| {
        let object = json!({"apiVersion": "shop.example.org/v1", "kind": "Widget",
            "metadata": {"name": "a", "namespace": "shop"}, "status": status});
        match plan.row(&serde_json::to_vec(&object).unwrap(), None) {
            Verdict::Keep { row, .. } => serde_json::from_slice::<Value>(row.attributes()).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let conditions =
        json!([{"type": "Synced", "status": "False"}, {"type": "Ready", "status": "True"}]);
    assert_eq!(attributes(json!({"conditions": conditions})), json!({"ready": "True"}));
    assert_eq!(attributes(json!({"conditions": []})), json!({}));
    assert_eq!(attributes(json!({})), json!({}));
}

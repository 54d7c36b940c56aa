//! What a profile reads.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn profile(spec: Value) -> Value {
    object(Kind::Profile, "images", spec)
}

/// A profile of Deployments with further fields.
fn deployments(mut spec: Value) -> Value {
    spec["targetGVK"] = json!({ "group": "apps", "version": "v1", "kind": "Deployment" });
    profile(spec)
}

fn reads(path: &str) -> Value {
    deployments(json!({ "attributes": [{ "name": "value", "path": path }] }))
}

pub(crate) fn cases() -> Vec<Case> {
    [kinds(), attributes(), paths(), helm(), exports(), pointers(), metrics(), labels()].concat()
}

fn kinds() -> Vec<Case> {
    let of = |gvk: Value| profile(json!({ "targetGVK": gvk }));
    vec![
        accepted(Rule::Pro01, of(json!({ "version": "v1", "kind": "Pod" }))),
        refused(
            Rule::Pro01,
            of(json!({ "version": "", "kind": "Pod" })),
            "spec.targetGVK.version: Required value: the API version, such as v1",
        ),
        refused(
            Rule::Pro01,
            of(json!({ "version": "v1", "kind": " " })),
            "spec.targetGVK.kind: Required value: the kind, such as Deployment",
        ),
        refused(
            Rule::Pro01,
            of(json!({ "version": "v1" })),
            "spec.targetGVK.kind: Required value: Kind as in a manifest, such as `Deployment`",
        ),
        refused(
            Rule::Pro01,
            profile(json!({})),
            "spec.targetGVK: Required value: The kind of object to collect",
        ),
        accepted(Rule::ProW4, reads("$.spec.replicas")),
        accepted(Rule::ProW4, deployments(json!({ "export": { "mode": "Resource" } }))),
        refused(
            Rule::ProW4,
            of(json!({ "version": "v1", "kind": "Pod" })),
            "spec: neither attributes nor export is given: rows will hold identity only",
        ),
    ]
}

fn attributes() -> Vec<Case> {
    let of = |attributes: Value| deployments(json!({ "attributes": attributes }));
    vec![
        accepted(
            Rule::Pro02,
            of(json!([{ "name": "a", "path": "$.a" }, { "name": "b", "path": "$.a" }])),
        ),
        refused(
            Rule::Pro02,
            of(json!([{ "name": "", "path": "$.a" }])),
            "spec.attributes[0].name: Required value: the key of the value in the row",
        ),
        refused(
            Rule::Pro02,
            of(json!([{ "name": " ", "path": "$.a" }])),
            "spec.attributes[0].name: Required value: the key of the value in the row",
        ),
        refused(
            Rule::Pro02,
            of(json!([{ "path": "$.a" }])),
            "spec.attributes[0].name: Required value: Key in the row. Unique within the profile",
        ),
        refused(
            Rule::Pro02,
            of(json!([{ "name": "a", "path": "$.a" }, { "name": "a", "path": "$.b" }])),
            r#"spec.attributes[1].name: Duplicate value: "a": it stands earlier in the list"#,
        ),
        accepted(Rule::Pro03, reads("$.spec")),
        refused(
            Rule::Pro03,
            reads(""),
            "spec.attributes[0].path: Required value: where the value is",
        ),
        refused(
            Rule::Pro03,
            reads("  "),
            "spec.attributes[0].path: Required value: where the value is",
        ),
        refused(
            Rule::Pro03,
            of(json!([{ "name": "a" }])),
            "spec.attributes[0].path: Required value: Where the value is",
        ),
    ]
}

/// Paths that are none of the three forms, and what is said about them.
const UNSOUND: [(Rule, &str, &str); 17] = [
    (
        Rule::Pro05,
        "cel:object.spec +",
        r#"spec.attributes[0].path: Invalid value: "cel:object.spec +": expected a value, not the end (character 18)"#,
    ),
    (
        Rule::Pro05,
        "cel: 1 + 'a'",
        r#"spec.attributes[0].path: Invalid value: "cel: 1 + 'a'": + does not take int, string (character 8)"#,
    ),
    (
        Rule::Pro05,
        "cel:lists.range(9000000000).map(x, x)",
        r#"spec.attributes[0].path: Invalid value: "cel:lists.range(9000000000).map(x, x)": this costs at least 441000000072 steps, and 10000000 are allowed (character 5)"#,
    ),
    (
        Rule::Pro04,
        "object.spec.replicas",
        r#"spec.attributes[0].path: Invalid value: "object.spec.replicas": CEL needs its prefix; write cel:object.spec.replicas"#,
    ),
    (
        Rule::Pro04,
        "object['spec']",
        r#"spec.attributes[0].path: Invalid value: "object['spec']": CEL needs its prefix; write cel:object['spec']"#,
    ),
    (
        Rule::Pro06,
        "metadata.name",
        r#"spec.attributes[0].path: Invalid value: "metadata.name": must be a JSONPath such as $.spec.replicas or {.spec.replicas}, CEL such as cel:object.spec.replicas, or a Helm field such as helm:release.chartVersion"#,
    ),
    (
        Rule::Pro06,
        ".metadata.name",
        r#"spec.attributes[0].path: Invalid value: ".metadata.name": must be a JSONPath such as $.spec.replicas or {.spec.replicas}, CEL such as cel:object.spec.replicas, or a Helm field such as helm:release.chartVersion"#,
    ),
    (
        Rule::Pro06,
        "cel: ",
        r#"spec.attributes[0].path: Invalid value: "cel:": the expression after cel: is missing"#,
    ),
    (
        Rule::Pro06,
        "CEL:object.spec",
        r#"spec.attributes[0].path: Invalid value: "CEL:object.spec": must be a JSONPath such as $.spec.replicas or {.spec.replicas}, CEL such as cel:object.spec.replicas, or a Helm field such as helm:release.chartVersion"#,
    ),
    (
        Rule::Pro06,
        "helm:chart",
        r#"spec.attributes[0].path: Invalid value: "helm:chart": must be a JSONPath such as $.spec.replicas or {.spec.replicas}, CEL such as cel:object.spec.replicas, or a Helm field such as helm:release.chartVersion"#,
    ),
    (
        Rule::Pro06,
        "name={.metadata.name}",
        r#"spec.attributes[0].path: Invalid value: "name={.metadata.name}": must be a JSONPath such as $.spec.replicas or {.spec.replicas}, CEL such as cel:object.spec.replicas, or a Helm field such as helm:release.chartVersion"#,
    ),
    (
        Rule::Pro06,
        "{.metadata.name}!",
        r#"spec.attributes[0].path: Invalid value: "{.metadata.name}!": nothing may stand after the path (character 17)"#,
    ),
    (
        Rule::Pro06,
        "{.a}{.b}",
        r#"spec.attributes[0].path: Invalid value: "{.a}{.b}": nothing may stand after the path (character 5)"#,
    ),
    (
        Rule::Pro06,
        "{.a",
        r#"spec.attributes[0].path: Invalid value: "{.a": the closing brace is missing here (character 4)"#,
    ),
    (
        Rule::Pro06,
        "$.a}{.b}",
        r#"spec.attributes[0].path: Invalid value: "$.a}{.b}": nothing may stand after the path (character 4)"#,
    ),
    (
        Rule::Pro06,
        "{}",
        r#"spec.attributes[0].path: Invalid value: "{}": a field is missing, such as .spec (character 2)"#,
    ),
    (
        Rule::Pro06,
        "$",
        r#"spec.attributes[0].path: Invalid value: "$": must name a field, such as $.spec"#,
    ),
];
fn paths() -> Vec<Case> {
    let sound = [
        "$.spec.replicas",
        "$['spec']['replicas']",
        "{.spec.template.spec.containers[*].image}",
        "{$.spec.replicas}",
        "{.metadata.annotations['a}b']}",
        r"{.metadata.annotations['it\'s']}",
        "cel:object.spec.replicas",
        "cel:object.spec.template.spec.containers.map(c, c.image)",
        " cel:{'a': object.spec} ",
        "helm:release.chartVersion",
    ];
    let ready = "{.status.conditions[?(@.type==\"Ready\")].status}";
    let more = [
        accepted(Rule::Pro04, reads("cel:object['spec']")),
        accepted(Rule::ProW1, reads("{.status.conditions[0].status}")),
        refused(
            Rule::ProW1,
            reads(ready),
            "spec.attributes[0].path: uses a filter, which is slower than naming the field",
        ),
    ];
    let sound = sound.map(|path| accepted(Rule::Pro06, reads(path)));
    let unsound = UNSOUND.map(|(rule, path, says)| refused(rule, reads(path), says));
    sound.into_iter().chain(unsound).chain(more).collect()
}

fn helm() -> Vec<Case> {
    let sound = ["releaseName", "chart.metadata.version", "info.status", "config.image.tag"];
    let unsound = [
        (
            "helm:release",
            r#"spec.attributes[0].path: Invalid value: "helm:release": a field of the release is missing, such as helm:release.chartVersion"#,
        ),
        (
            "helm:release.",
            r#"spec.attributes[0].path: Invalid value: "helm:release.": a field of the release is missing, such as helm:release.chartVersion"#,
        ),
        (
            "helm:release.chart",
            r#"spec.attributes[0].path: Invalid value: "helm:release.chart": holds chart.templates, which is never exported; name a field below it"#,
        ),
        (
            "helm:release.chart.values.db",
            r#"spec.attributes[0].path: Invalid value: "helm:release.chart.values.db": the part chart.values of a release is never exported"#,
        ),
        (
            "helm:release.manifest",
            r#"spec.attributes[0].path: Invalid value: "helm:release.manifest": the part manifest of a release is never exported"#,
        ),
        (
            "helm:release.Hooks.0",
            r#"spec.attributes[0].path: Invalid value: "helm:release.Hooks.0": the part hooks of a release is never exported"#,
        ),
        (
            "helm:release..manifest",
            r#"spec.attributes[0].path: Invalid value: "helm:release..manifest": must be names separated by single dots, such as helm:release.info.status"#,
        ),
        (
            "helm:release.chart['values']",
            r#"spec.attributes[0].path: Invalid value: "helm:release.chart['values']": must be names separated by single dots, such as helm:release.info.status"#,
        ),
    ];
    let sound = sound.map(|field| accepted(Rule::Pro07, reads(&format!("helm:release.{field}"))));
    let unsound = unsound.map(|(path, says)| refused(Rule::Pro07, reads(path), says));
    sound.into_iter().chain(unsound).collect()
}

fn exports() -> Vec<Case> {
    let one = json!([{ "name": "resource", "path": "$.spec" }]);
    vec![
        accepted(Rule::Pro09, deployments(json!({ "export": {}, "attributes": one }))),
        accepted(Rule::Pro09, deployments(json!({ "export": { "mode": "Resource" } }))),
        refused(
            Rule::Pro09,
            deployments(json!({ "export": {} })),
            "spec.attributes: Required value: needed when export.mode is Attributes",
        ),
        accepted(
            Rule::Pro10,
            deployments(
                json!({ "export": { "mode": "Resource", "as": "copy" }, "attributes": one }),
            ),
        ),
        accepted(Rule::Pro10, deployments(json!({ "export": {}, "attributes": one }))),
        refused(
            Rule::Pro10,
            deployments(json!({ "export": { "mode": "Resource" }, "attributes": one })),
            r#"spec.export.as: Invalid value: "resource": is the name of an attribute too; choose another key for the copy"#,
        ),
    ]
}

fn pointers() -> Vec<Case> {
    let drops = |pointer: &str| {
        let export = json!({ "mode": "Resource", "prune": { "jsonPointers": [pointer] } });
        deployments(json!({ "export": export }))
    };
    let expresses = |expression: &str| {
        let export = json!({ "mode": "Resource", "prune": { "cel": [expression] } });
        deployments(json!({ "export": export }))
    };
    vec![
        accepted(Rule::Pro05, expresses("object.spec.containers.map(c, '/spec/' + c.name)")),
        refused(
            Rule::Pro05,
            expresses("'/spec'"),
            r#"spec.export.prune.cel[0]: Invalid value: "'/spec'": a list of strings is needed, and this is string (character 1)"#,
        ),
        accepted(Rule::Pro11, drops("/metadata/annotations/example.org~1build~0x")),
        refused(
            Rule::Pro11,
            drops(""),
            "spec.export.prune.jsonPointers[0]: Required value: a pointer such as /status/conditions",
        ),
        refused(
            Rule::Pro11,
            drops("status"),
            r#"spec.export.prune.jsonPointers[0]: Invalid value: "status": must start with /"#,
        ),
        refused(
            Rule::Pro11,
            drops("/a~2b"),
            r#"spec.export.prune.jsonPointers[0]: Invalid value: "/a~2b": ~ must be followed by 0 (for ~) or 1 (for /)"#,
        ),
        refused(
            Rule::Pro11,
            drops("/a~"),
            r#"spec.export.prune.jsonPointers[0]: Invalid value: "/a~": ~ must be followed by 0 (for ~) or 1 (for /)"#,
        ),
    ]
}

/// A profile with the attributes `replicas`, `team` and more, and one metric.
fn with_metrics(metrics: Value) -> Value {
    let names = [
        "replicas",
        "team",
        "gvk",
        "profile_namespace",
        "__x",
        "9lives",
        "with-dash",
        "a",
        "b",
        "c",
        "d",
    ];
    let attributes = names.map(|name| json!({ "name": name, "path": "$.spec.replicas" }));
    deployments(json!({ "attributes": attributes, "metrics": metrics }))
}

fn metrics() -> Vec<Case> {
    let labelled = |labels: Value| {
        with_metrics(json!([{ "name": "wanted", "path": "replicas", "labels": labels }]))
    };
    vec![
        accepted(Rule::Pro13, labelled(json!(["team", "a", "b", "c", "d"]))),
        refused(
            Rule::Pro13,
            with_metrics(json!([{ "name": " ", "path": "replicas" }])),
            "spec.metrics[0].name: Required value: the value of the series label",
        ),
        refused(
            Rule::Pro13,
            with_metrics(json!([
                { "name": "wanted", "path": "replicas" },
                { "name": "wanted", "path": "team" },
            ])),
            r#"spec.metrics[1].name: Duplicate value: "wanted": it stands earlier in the list"#,
        ),
        refused(
            Rule::Pro13,
            with_metrics(json!([{ "name": "x", "path": "" }])),
            r#"spec.metrics[0].path: Invalid value: "": must be the name of an entry of spec.attributes"#,
        ),
        refused(
            Rule::Pro13,
            with_metrics(json!([{ "name": "x", "path": "$.spec" }])),
            r#"spec.metrics[0].path: Invalid value: "$.spec": must be the name of an entry of spec.attributes"#,
        ),
        refused(
            Rule::Pro13,
            with_metrics(json!([{ "name": "x" }])),
            "spec.metrics[0].path: Required value: Name of the attribute whose numeric values are summed",
        ),
        refused(
            Rule::Pro13,
            labelled(json!(["team", "owner"])),
            r#"spec.metrics[0].labels[1]: Invalid value: "owner": must be the name of an entry of spec.attributes"#,
        ),
        refused(
            Rule::Pro13,
            labelled(json!(["team", "team"])),
            r#"spec.metrics[0].labels[1]: Duplicate value: "team": it stands earlier in the list"#,
        ),
        refused(
            Rule::Pro13,
            labelled(json!(["team", "a", "b", "c", "d", "replicas"])),
            "spec.metrics[0].labels: Too many: 6: at most 5 labels are allowed",
        ),
    ]
}

fn labels() -> Vec<Case> {
    let labelled = |label: &str| {
        with_metrics(json!([{ "name": "wanted", "path": "replicas", "labels": [label] }]))
    };
    let unsound = [
        (
            "gvk",
            r#"spec.metrics[0].labels[0]: Invalid value: "gvk": must be letters, digits and underscores, not begin with a digit or two underscores, and not be profile, profile_namespace, gvk or series"#,
        ),
        (
            "profile_namespace",
            r#"spec.metrics[0].labels[0]: Invalid value: "profile_namespace": must be letters, digits and underscores, not begin with a digit or two underscores, and not be profile, profile_namespace, gvk or series"#,
        ),
        (
            "__x",
            r#"spec.metrics[0].labels[0]: Invalid value: "__x": must be letters, digits and underscores, not begin with a digit or two underscores, and not be profile, profile_namespace, gvk or series"#,
        ),
        (
            "9lives",
            r#"spec.metrics[0].labels[0]: Invalid value: "9lives": must be letters, digits and underscores, not begin with a digit or two underscores, and not be profile, profile_namespace, gvk or series"#,
        ),
        (
            "with-dash",
            r#"spec.metrics[0].labels[0]: Invalid value: "with-dash": must be letters, digits and underscores, not begin with a digit or two underscores, and not be profile, profile_namespace, gvk or series"#,
        ),
    ];
    let unsound = unsound.map(|(label, says)| refused(Rule::Pro14, labelled(label), says));
    [accepted(Rule::Pro14, labelled("team"))].into_iter().chain(unsound).collect()
}

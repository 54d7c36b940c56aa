//! What making a row costs, beside skipping the same bytes.

use std::hint::black_box;

use allocation_counter::measure as allocations;
use kollect_api::{Profile, Target};
use kollect_extract::{Plan, Verdict, Wanted, select::Namespace};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::measure::{Chance, float, print, timed};

const ROUNDS: usize = 20_000;

/// Every figure of both kinds.
pub(crate) fn run() -> anyhow::Result<()> {
    for (name, object) in [("deployment", deployment()), ("pod", pod())] {
        kind(name, &object)?;
    }
    Ok(())
}

fn kind(name: &str, object: &Value) -> anyhow::Result<()> {
    let bytes = serde_json::to_vec(object)?;
    let pod = if name == "pod" { "$.spec" } else { "$.spec.template.spec" };
    let row = json!([
        {"name": "image", "path": format!("{pod}.containers[0].image")},
        {"name": "images", "path": format!("{pod}.containers[*].image")},
        {"name": "app", "path": "$.metadata.labels.app"},
    ]);
    let mut ten = row.as_array().cloned().unwrap_or_default();
    for path in [
        "$.metadata.creationTimestamp",
        "$.metadata.annotations.team",
        "$.spec.replicas",
        "$.status.phase",
        "$.status.conditions[?(@.type==\"Ready\")].status",
        "$.metadata.labels",
        "$.status.readyReplicas",
    ] {
        ten.push(json!({"name": path.replace(['$', '.'], ""), "path": path, "optional": true}));
    }
    let say = |case: &str, figure: &str, value: f64| {
        print(&format!("extract.{name}.{case}.{figure}"), value)
    };
    print(&format!("extract.{name}.bytes"), float(bytes.len()))?;
    let skip = skipping(&bytes);
    say("skip", "ns", skip)?;
    for (case, spec) in [
        ("row", json!({"attributes": row})),
        ("profile10", json!({"attributes": ten})),
        ("resource", json!({"export": {"mode": "Resource", "include": "All"}})),
    ] {
        let (ns, allocs) = rows(&plan(name, spec)?, &bytes)?;
        say(case, "ns", ns)?;
        say(case, "allocs", allocs)?;
        print(&format!("extract.{name}.{case}_to_skip"), ns / skip)?;
    }
    Ok(())
}

fn skipping(bytes: &[u8]) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let (time, ()) = timed(|| {
            for _ in 0..ROUNDS {
                black_box(serde_json::from_slice::<IgnoredAny>(black_box(bytes)).is_ok());
            }
        });
        best = best.min(time.as_secs_f64() * 1e9 / float(ROUNDS));
    }
    best
}

fn rows(plan: &Plan, bytes: &[u8]) -> anyhow::Result<(f64, f64)> {
    let namespace = Namespace::default();
    let verdict = plan.row(bytes, Some(&namespace));
    anyhow::ensure!(matches!(verdict, Verdict::Keep { .. }), "{verdict:?}");
    let mut best = f64::MAX;
    for _ in 0..5 {
        let (time, ()) = timed(|| {
            for _ in 0..ROUNDS {
                black_box(plan.row(black_box(bytes), Some(&namespace)));
            }
        });
        best = best.min(time.as_secs_f64() * 1e9 / float(ROUNDS));
    }
    let counts = allocations(|| drop(black_box(plan.row(bytes, Some(&namespace)))));
    Ok((best, float(usize::try_from(counts.count_total)?)))
}

fn plan(name: &str, spec: Value) -> anyhow::Result<Plan> {
    let kind = if name == "pod" {
        json!({"version": "v1", "kind": "Pod"})
    } else {
        json!({"group": "apps", "version": "v1", "kind": "Deployment"})
    };
    let mut profile = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile", "metadata": {}, "spec": spec,
    });
    profile["spec"]["targetGVK"] = kind;
    let target = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectTarget",
        "metadata": {"name": "bench", "namespace": "shop"}, "spec": {"profileRef": "p"},
    });
    let target: Target = serde_json::from_value(target)?;
    let profile: Profile = serde_json::from_value(profile)?;
    Plan::compile(&profile, Wanted::from(&target), &[])
        .map_err(|errors| anyhow::anyhow!("the profile makes no plan: {errors:?}"))
}

/// Metadata as a server sends it: nearly half of it managed fields.
fn metadata(chance: &mut Chance) -> Value {
    let mut word = || format!("{:016x}", chance.next());
    let fields: serde_json::Map<String, Value> =
        (0..60).map(|at| (format!("f:{}-{at}", word()), json!({".": {}, "f:type": {}}))).collect();
    json!({
        "name": "web", "namespace": "shop", "uid": "11111111-aaaa-4bbb-8ccc-000000000001",
        "resourceVersion": "123456", "creationTimestamp": "2026-11-01T08:30:00Z", "generation": 7,
        "labels": {"app": word(), "app.kubernetes.io/part-of": word(), "tier": "backend"},
        "annotations": {"team": word(), "checksum/config": format!("{}{}", word(), word())},
        "managedFields": [{"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:metadata": fields}}],
    })
}

fn containers(chance: &mut Chance) -> Value {
    let mut word = || format!("{:016x}", chance.next());
    let container = |name: &str, word: &mut dyn FnMut() -> String| {
        let env: Vec<_> =
            (0..8).map(|at| json!({"name": format!("SETTING_{at}"), "value": word()})).collect();
        json!({
            "name": name, "image": format!("registry.example/{name}@sha256:{}{}{}{}", word(), word(), word(), word()),
            "env": env, "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m"}},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/app", "readOnly": true}],
        })
    };
    json!([container("web", &mut word), container("proxy", &mut word)])
}

fn deployment() -> Value {
    let mut chance = Chance::new(3);
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(&mut chance),
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers(&mut chance)}},
        },
        "status": {"readyReplicas": 3, "conditions": [{"type": "Available", "status": "True"}]},
    })
}

fn pod() -> Value {
    let mut chance = Chance::new(5);
    let statuses: Vec<_> = (0..2)
        .map(|_| json!({"imageID": format!("sha256:{:016x}", chance.next()), "ready": true, "restartCount": 0, "state": {"running": {"startedAt": "2026-11-01T08:30:00Z"}}}))
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata(&mut chance),
        "spec": {"nodeName": "node-7", "containers": containers(&mut chance), "volumes": [{"name": "config", "configMap": {"name": "web"}}]},
        "status": {"phase": "Running", "podIP": "10.0.0.7", "containerStatuses": statuses,
            "conditions": [{"type": "Initialized", "status": "True"}, {"type": "Ready", "status": "True"}]},
    })
}

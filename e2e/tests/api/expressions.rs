//! JSONPath against the real kubectl.

use e2e::cluster;
use kollect_expr::{Budget, Projection, json_path, read};
use kollect_testenv::ControlPlane;
use serde_json::{Value, json};

/// An object with the corners that paths turn.
fn spec() -> Value {
    json!({
        "b": 1, "f": 1.5, "t": true, "txt": "s", "nul": null, "empty": {},
        "list": [{"k": "x", "n": 1, "on": true}, {"n": 2, "on": false}, {"k": "y", "n": 3, "on": true}],
        "one": ["z"], "none": [], "nums": [3, 1, 2], "nest": [[1, 2], [3]],
        "m": {"x": {"q": 1, "deep": [{"q": 7}]}, "y": {"q": 2}},
        "app.io/name": "web", "with-dash": {"a_b": 1},
        "containers": [
            {"name": "web", "image": "a", "ports": [{"port": 80}, {"port": 443}]},
            {"name": "side", "image": "b", "ports": []},
        ],
    })
}

/// Ways down into the object.
const WAYS: &str = r"b f t txt nul empty list one none nums nest m m.x m.x.deep with-dash
    with-dash.a_b zz containers app\.io/name";

/// What may stand behind each of them.
const STEPS: &str = r#".q .n [*] [0] [-1] [1] [5] [-4] [0:1] [0:2] [1:] [:1] [-1:] [::2] [1:1] [0,1]
    [0,-1] ['q'] ['x','y'] [*].n [*].k [*].name [0].n [?(@.n==2)].n [?(@.n!=2)].n [?(@.n>1)].n
    [?(@.n<=2)].n [?(@.k=="x")].n [?(@.k)].n [?(@.on==true)].n [?(@.name=="web")].image
    [?(@.k==1)].n [?(@.n=="1")].n [?(@=="z")] [?(@>1)]"#;

/// And some that go further.
const DEEPER: &str = r#"{.spec.containers[*].ports[0].port} {.spec.containers[0].ports[*].port}
    {.spec.containers[?(@.name=="side")].ports} {.spec.list[?(@.n==$.spec.b)].k} {..q}
    {.spec.m..q} {.spec.m.*.q} {.spec.*.q} {$.spec.b} {@.spec.b} {['spec']['b']}
    {.spec['app\.io/name']} {.kind}"#;

/// A few hundred paths: every way down, with every step behind it.
fn paths() -> Vec<String> {
    let steps = || [""].into_iter().chain(STEPS.split_whitespace());
    let ways = WAYS.split_whitespace();
    let built = ways.flat_map(|way| steps().map(move |step| format!("{{.spec.{way}{step}}}")));
    built.chain(DEEPER.split_whitespace().map(str::to_owned)).collect()
}

/// Where kubectl's answer depends on the order of a map.
fn is_unordered(path: &str) -> bool {
    path.contains("..") || path.contains(".*")
}

fn ours(path: &str, object: &Value) -> Result<Value, String> {
    let program = json_path::compile(path).map_err(|error| error.point_at(path))?;
    let mut projection = Projection::default();
    projection.add(&program);
    let bytes = serde_json::to_vec(object).map_err(|error| error.to_string())?;
    let json = read(&bytes, &projection).map_err(|error| error.to_string())?;
    let found = program.evaluate(&json, &mut Budget::DEFAULT.clone());
    let found = found.map_err(|error| error.to_string())?;
    Ok(found.into_iter().map(kollect_expr::Json::to_value).collect())
}

/// What kubectl prints for paths that stand behind each other, one list each.
fn theirs(cluster: &ControlPlane, namespace: &str, paths: &[&str]) -> Option<Vec<Value>> {
    let output = format!("jsonpath-as-json={}", paths.concat());
    let get =
        cluster.kubectl(["get", "thing", "corners", "-n", namespace, "-o", &output]).run().ok()?;
    let lists = serde_json::Deserializer::from_str(&get.stdout).into_iter::<Value>();
    get.success.then(|| lists.filter_map(Result::ok).collect())
}

fn sorted(list: &Value) -> Vec<String> {
    let mut texts: Vec<_> = list.as_array().into_iter().flatten().map(Value::to_string).collect();
    texts.sort();
    texts
}

#[test]
fn paths_lead_where_kubectls_lead() {
    let Some(cluster) = cluster() else { return };
    let namespace = cluster.namespace("paths");
    let object = json!({
        "apiVersion": "example.org/v1",
        "kind": "Thing",
        "metadata": {"name": "corners", "namespace": namespace},
        "spec": spec(),
    });
    cluster.apply(include_str!("../../../fixtures/thing-crd.yaml"));
    cluster.established(&["things.example.org"]);
    cluster.kubectl(["create", "-f", "-"]).stdin(object.to_string()).stdout();

    let paths = paths();
    assert!(paths.len() > 500, "only {} paths", paths.len());
    let (good, bad): (Vec<_>, Vec<_>) = paths.iter().partition(|path| ours(path, &object).is_ok());
    for chunk in good.chunks(60) {
        let chunk: Vec<_> = chunk.iter().map(|path| path.as_str()).collect();
        let found = theirs(cluster, &namespace, &chunk);
        let found = found.unwrap_or_else(|| {
            let refused = |path: &&&str| theirs(cluster, &namespace, &[path]).is_none();
            panic!("kubectl refuses {:#?}", chunk.iter().filter(refused).collect::<Vec<_>>())
        });
        assert_eq!(found.len(), chunk.len());
        for (path, theirs) in chunk.iter().zip(&found) {
            let ours = ours(path, &object).unwrap_or_default();
            if is_unordered(path) {
                assert_eq!(sorted(&ours), sorted(theirs), "{path}");
            } else {
                assert_eq!(&ours, theirs, "{path}");
            }
        }
    }
    // One call each, so only every fourth of what neither takes.
    assert!(bad.len() > 40, "only {} paths fail", bad.len());
    for path in bad.iter().step_by(4) {
        let found = theirs(cluster, &namespace, &[path.as_str()]);
        assert_eq!(found, None, "{path}: {:?}", ours(path, &object));
    }
}

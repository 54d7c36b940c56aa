//! The operator as a process: what it serves, what it says, how it ends.

mod metrics;

use std::{fs, net::SocketAddr};

use kollect_testenv::{ControlPlane, assets};
use serde_json::{Value, json};

use super::{
    client::{Trust, get},
    support::{Scene, until},
};

const HEALTH: &str = "--health-probe-bind-address=127.0.0.1:0";
const METRICS: &str = "--metrics-bind-address=127.0.0.1:0";

#[cfg(test)]
impl Scene {
    /// The lines of the log so far.
    fn lines(&self) -> Vec<Value> {
        let log = self.log();
        // The last one may be in the making.
        let whole = log.rsplit_once('\n').map(|(whole, _)| whole).unwrap_or_default();
        let line = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        whole.lines().map(line).collect()
    }

    /// Waits until something was said so often, and returns the last of these.
    #[track_caller]
    fn said(&self, times: usize, is_it: impl Fn(&Value) -> bool) -> Value {
        let said = until(|| {
            let mut said = self.lines().into_iter().filter(|line| is_it(line));
            said.nth(times - 1)
        });
        said.unwrap_or_else(|| panic!("it was not said: {}", self.log()))
    }

    /// Where the operator that was started as that many-th serves something.
    #[track_caller]
    fn address(&self, operator: usize, server: &str) -> SocketAddr {
        let line = self.said(operator, |line| line["server"] == server);
        line["address"].as_str().unwrap().parse().unwrap()
    }

    /// Waits until a path is answered with a status.
    #[track_caller]
    fn answers(&self, address: SocketAddr, path: &str, status: u16) -> String {
        let found = until(|| {
            let (code, body) = get(address, path, &Trust::Plain, None).ok()?;
            (code == status).then_some(body)
        });
        let last = get(address, path, &Trust::Plain, None);
        found.unwrap_or_else(|| panic!("{path} is {last:?}, not {status}; {}", self.log()))
    }

    /// A token of a new service account.
    fn token(&self, account: &str) -> String {
        let namespace = &self.namespace;
        self.cluster.kubectl(["create", "serviceaccount", account, "-n", namespace]).stdout();
        let token = ["create", "token", account, "-n", namespace];
        self.cluster.kubectl(token).stdout().trim().to_owned()
    }

    /// Lets an account read metrics.
    fn welcome(&self, account: &str) {
        let name = format!("metrics-{}", self.namespace);
        let role = ["create", "clusterrole", &name, "--verb=get", "--non-resource-url=/metrics"];
        self.cluster.kubectl(role).stdout();
        let account = format!("--serviceaccount={}:{account}", self.namespace);
        let role = format!("--clusterrole={name}");
        self.cluster.kubectl(["create", "clusterrolebinding", &name, &role, &account]).stdout();
    }

    fn holder(&self) -> String {
        let path = "jsonpath={.spec.holderIdentity}";
        let lease = ["get", "lease", "3274ac8a.kollect.dev", "-n", &self.namespace, "-o", path];
        self.cluster.kubectl(lease).stdout()
    }
}

#[test]
fn readiness_names_what_is_missing_and_comes_with_it() {
    let Some(assets) = assets() else { return };
    // Nobody has installed our kinds here. It ends with the process.
    let cluster: &'static ControlPlane = Box::leak(Box::new(ControlPlane::start(&assets).unwrap()));
    let scene = Scene::on(cluster, "unready");
    let operator = scene.operator_with(&[HEALTH]);
    let address = scene.address(1, "health");
    assert_eq!(scene.answers(address, "/healthz", 200), "ok");
    let is_named = |body: &String| {
        let at = format!("KollectTarget in {}: ", scene.namespace);
        body.starts_with("[-]kinds: not listed: ") && body.contains(&at)
    };
    let named = until(|| Some(scene.answers(address, "/readyz", 503)).filter(is_named));
    assert!(named.is_some(), "{:?}", get(address, "/readyz", &Trust::Plain, None));
    let crds = e2e::repository().join("deploy/crds");
    cluster.kubectl(["apply", "--server-side", "-f", crds.to_str().unwrap()]).stdout();
    assert_eq!(scene.answers(address, "/readyz", 200), "ok");
    let verbose = scene.answers(address, "/readyz?verbose", 200);
    assert_eq!(verbose, "[+]kinds ok\n[+]targets ok\nall checks passed\n");
    assert_eq!(scene.answers(address, "/healthz?verbose", 200), "[+]loop ok\nall checks passed\n");
    assert_eq!(get(address, "/metrics", &Trust::Plain, None).unwrap().0, 404);
    assert_eq!(operator.stop(), Some(0));
}

#[test]
fn metrics_are_for_those_who_may_read_them() {
    let Some(scene) = Scene::new("metrics") else { return };
    let _operator = scene.operator_with(&[METRICS]);
    let address = scene.address(1, "metrics");
    let (ann, bob) = (scene.token("ann"), scene.token("bob"));
    scene.welcome("ann");
    let ask = |token: Option<&str>| get(address, "/metrics", &Trust::Anybody, token).unwrap();
    assert_eq!(ask(None), (401, "Unauthorized\n".to_owned()));
    assert_eq!(ask(Some("nobody's")), (401, "Unauthorized\n".to_owned()));
    assert_eq!(ask(Some(&bob)), (403, "Forbidden\n".to_owned()));
    let (status, body) = ask(Some(&ann));
    assert_eq!(status, 200, "{body}; {}", scene.log());
    assert!(body.contains("\nkollect_build_info{version="), "{body}");
    assert!(get(address, "/metrics", &Trust::Plain, Some(&ann)).is_err(), "it is served over TLS");
    assert!(!scene.log().contains(&ann), "a token was logged");
}

#[test]
fn a_certificate_that_was_given_is_shown_and_a_newer_one_after_it() {
    let Some(scene) = Scene::new("certificate") else { return };
    let directory = tempfile::tempdir().unwrap();
    let renew = || {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(directory.path().join("tls.crt"), made.cert.pem()).unwrap();
        fs::write(directory.path().join("tls.key"), made.signing_key.serialize_pem()).unwrap();
        Trust::This(made.cert.pem())
    };
    let old = renew();
    let path = format!("--metrics-cert-path={}", directory.path().display());
    let _operator = scene.operator_with(&[METRICS, &path]);
    let address = scene.address(1, "metrics");
    let ask = |trust: &Trust| get(address, "/metrics", trust, None).map(|(status, _)| status);
    assert_eq!(ask(&old), Ok(401));
    let new = renew();
    assert!(ask(&new) == Ok(401) && ask(&old).is_err(), "{:?} {:?}", ask(&new), ask(&old));
}

#[test]
fn every_line_of_the_log_is_an_object_and_none_holds_a_secret() {
    let Some(scene) = Scene::new("logs") else { return };
    let operator = scene.operator_with(&["--allow-sink-cidrs", "127.0.0.0/8", "--log-level=debug"]);
    scene.put("a", "canary-in-a-row");
    scene.basics();
    // Nobody listens there.
    let dsn = "postgres://canary-user:canary-password@127.0.0.1:1/rows?sslmode=disable";
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "stringData": {"dsn": dsn},
        "metadata": {"name": "dsn", "namespace": scene.namespace},
    });
    scene.cluster.apply(&secret.to_string());
    scene.apply(
        "KollectDatabaseSink",
        "closed",
        json!({"type": "postgres", "postgres": {"databaseRef": {"name": "dsn"}, "table": "rows"}}),
    );
    scene.apply("KollectTarget", "lost", json!({"profileRef": "nowhere"}));
    let sinks = json!({"databaseSinkRefs": [{"name": "rows"}, {"name": "closed"}]});
    scene.apply("KollectInventory", "i", sinks);
    scene.has("t", &["a=canary-in-a-row"]);
    let failed = scene.said(1, |line| line["msg"] == "export failed");
    assert_eq!(failed["controller"], "kollectinventory");
    assert_eq!(failed["namespace"], scene.namespace);
    assert_eq!(failed["inventory"], "i");
    assert_eq!(failed["sink"], format!("{}/closed", scene.namespace));
    assert_eq!(failed["reason"], "ExportFailed");
    assert_eq!(failed["error_class"], "transient");
    let degraded = scene.said(1, |line| line["msg"] == "target degraded");
    assert_eq!(degraded["target"], "lost");
    assert_eq!(degraded["reason"], "ProfileNotFound");
    scene.apply(
        "KollectProfile",
        "nowhere",
        json!({
            "targetGVK": {"version": "v1", "kind": "ConfigMap"},
            "attributes": [{"name": "value", "path": "$.data.value"}],
        }),
    );
    let recovered = scene.said(1, |line| line["msg"] == "target recovered");
    assert_eq!(recovered["target"], "lost");
    assert_eq!(operator.stop(), Some(0));
    let lines = scene.lines();
    assert_eq!(lines.last().unwrap()["msg"], "stopped");
    let is_whole = |line: &Value| ["level", "ts", "msg"].iter().all(|key| line[key].is_string());
    assert!(lines.iter().all(is_whole), "{}", scene.log());
    assert!(!scene.log().contains("canary"), "{}", scene.log());
}

#[test]
fn a_follower_serves_and_whoever_is_told_to_stop_gives_the_lease_back() {
    let Some(scene) = Scene::new("lease") else { return };
    let election = scene.election("10s", "5s");
    let mut flags: Vec<_> = election.iter().map(String::as_str).collect();
    flags.extend([HEALTH, METRICS, "--metrics-secure=false"]);
    let leads = |number: usize| {
        let body = scene.answers(scene.address(number, "metrics"), "/metrics", 200);
        body.contains("leader_election_master_status{name=\"3274ac8a.kollect.dev\"} 1")
    };
    let first = scene.operator_with(&flags);
    let leader = scene.address(1, "health");
    let ready = scene.answers(leader, "/readyz?verbose", 200);
    assert_eq!(ready, "[+]lease ok\n[+]kinds ok\n[+]targets ok\nall checks passed\n");
    assert!(leads(1));
    let second = scene.operator_with(&flags);
    let ready = scene.answers(scene.address(2, "health"), "/readyz?verbose", 200);
    assert_eq!(ready, "[+]lease ok\nall checks passed\n");
    assert!(!leads(2));
    let waiting = scene.said(1, |line| line["msg"] == "waiting for the lease");
    assert_eq!(waiting["holder"], scene.holder());
    assert_eq!(second.stop(), Some(0), "who only waits has nothing to end");
    assert_eq!(first.stop(), Some(0));
    assert_eq!(scene.holder(), "");
}

#[test]
fn whoever_loses_the_lease_ends() {
    let Some(scene) = Scene::new("lost") else { return };
    let election = scene.election("10s", "5s");
    let operator = scene.operator_with(&election.each_ref().map(String::as_str));
    scene.said(1, |line| line["msg"] == "lease acquired");
    let patch = r#"{"spec":{"holderIdentity":"somebody"}}"#;
    let lease = ["patch", "lease", "3274ac8a.kollect.dev", "-n", &scene.namespace];
    scene.cluster.kubectl(lease.iter().chain(&["--type=merge", "-p", patch])).stdout();
    assert_eq!(operator.ended(), Some(1));
    let lost = scene.said(1, |line| line["msg"] == "lease lost");
    assert_eq!(lost["holder"], "somebody");
    assert_eq!(scene.holder(), "somebody", "what is another's is left alone");
}

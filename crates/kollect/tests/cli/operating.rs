//! What the operator says before it reaches a cluster.

use std::{fs, net::TcpListener};

use serde_json::Value;

use super::support::{Run, kollect};

/// The lines of a log, each of them an object.
#[cfg(test)]
fn lines(run: &Run) -> Vec<Value> {
    let line = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
    run.stderr.lines().map(line).collect()
}

/// The error that ended a start.
#[cfg(test)]
#[track_caller]
fn failure(flags: &[&str]) -> String {
    let run = kollect(&[&["operator", "--health-probe-bind-address=0"], flags].concat());
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    let last = lines(&run).pop().unwrap();
    assert_eq!(last["level"], "error");
    last["error"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_not_served_ends_the_start() {
    for (flag, why) in [
        ("--validating-webhooks-enabled=true", "serves no webhook"),
        ("--inventory-http-enabled", "does not serve inventories over HTTP"),
        ("--enable-pprof", "serves no profiles"),
    ] {
        let error = failure(&[flag]);
        assert!(error.starts_with(flag.split('=').next().unwrap()), "{error}");
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_port_that_somebody_else_has_ends_the_start() {
    let somebody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = somebody.local_addr().unwrap().to_string();
    for flag in ["--health-probe-bind-address", "--metrics-bind-address"] {
        let error = failure(&[flag, &address]);
        let expected = format!("{flag}: cannot listen at {address}: Address already in use");
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_certificate_that_is_not_there_ends_the_start() {
    let error =
        failure(&["--metrics-bind-address=127.0.0.1:0", "--metrics-cert-path=/nowhere/at/all"]);
    assert!(error.starts_with("--metrics-cert-path: could not read /nowhere/at/all/tls.crt"));
}

#[test]
fn what_has_no_effect_is_said_and_why() {
    let flags = [
        "operator",
        "--health-probe-bind-address=0",
        "--kubeconfig=/nowhere",
        "--reconcile-rate-limit=5ms",
        "--validating-webhooks-enabled=false",
        "--allow-sink-cidrs=127.0.0.0/8",
    ];
    let run = kollect(&flags);
    assert_eq!(run.code, Some(1));
    let warnings: Vec<_> = lines(&run).into_iter().filter(|line| line["level"] == "warn").collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_eq!(warnings[0]["flag"], "--reconcile-rate-limit");
    assert!(warnings[0]["reason"].is_string());
    assert_eq!(warnings[1]["ranges"], "127.0.0.0/8");
}

#[test]
fn a_file_says_what_flags_say_and_a_wrong_name_in_it_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("operator.yaml");
    let name = file.to_str().unwrap();
    fs::write(&file, "log-format: console\nhealth-probe-bind-address: '0'\nkubeconfig: /nowhere\n")
        .unwrap();
    let run = kollect(&["operator", "--config", name]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains(" ERROR the operator has failed error="), "{}", run.stderr);
    fs::write(&file, "leader-elekt: true\n").unwrap();
    let run = kollect(&["operator", "--config", name]);
    let expected = format!("kollect: --config {name}: there is no setting \"leader-elekt\"\n");
    assert_eq!((run.code, run.stderr), (Some(1), expected));
}

#[test]
fn the_operator_says_its_version_as_upstream_does() {
    let run = kollect(&["operator", "--version"]);
    assert_eq!((run.code, run.stdout), (Some(0), kollect(&["--version"]).stdout));
}

#[test]
fn a_flag_that_there_is_not_is_a_mistake_of_the_caller() {
    assert_eq!(kollect(&["operator", "--leader-elekt"]).code, Some(2));
    assert_eq!(kollect(&["operator", "--leader-elect=perhaps"]).code, Some(2));
}

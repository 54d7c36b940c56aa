//! What a test may rely on: the servers answer, keep their rules, and never stay behind.

use std::{os::unix::fs::symlink, sync::Mutex, sync::mpsc, thread, time::Duration};

use kollect_testenv::{Assets, ControlPlane, StartError, WaitError, assets};

use self::support::{Trace, owner, signal, start};

/// Starting is work for all cores, so the tests that start their own do it one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn the_server_is_the_one_that_is_built_here() {
    let Some(plane) = ControlPlane::shared() else { return };
    let version = plane.kubectl(["version", "--output=json"]).stdout();
    let version: serde_json::Value = serde_json::from_str(&version).expect("JSON");
    let built = include_str!("../go.mod")
        .lines()
        .find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes ")?.split(' ').next())
        .expect("a version of Kubernetes");
    assert_eq!(version["serverVersion"]["gitVersion"], built);
}

#[test]
fn it_is_ready_within_seconds_and_has_its_namespaces_and_roles() {
    let Some(plane) = ControlPlane::shared() else { return };
    eprintln!("ready after {:?}", plane.ready_after());
    assert!(plane.ready_after() < Duration::from_secs(30));
    plane.kubectl(["get", "namespace", "default"]).stdout();
    plane.kubectl(["get", "clusterrole", "cluster-admin", "system:discovery"]).stdout();
}

#[test]
fn kubectl_keeps_its_cache_beside_the_servers() {
    let Some(plane) = ControlPlane::shared() else { return };
    plane.kubectl(["get", "namespaces"]).stdout();
    assert!(plane.directory().join("cache").is_dir());
}

#[test]
fn a_limited_user_may_do_what_is_granted_and_nothing_else() {
    let Some(plane) = ControlPlane::shared() else { return };
    let namespace = plane.namespace("limited");
    let config = plane.user("ann@example.com", &["readers"]).expect("a user");
    let list = || plane.kubectl(["get", "configmaps", "-n", &namespace]).as_config(&config);

    let refused = list().run().expect("an answer");
    assert!(!refused.success);
    assert!(refused.stderr.contains("\"ann@example.com\" cannot list"), "{}", refused.stderr);

    let role = ["create", "role", "read", "--verb=list", "--resource=configmaps"];
    let binding = ["create", "rolebinding", "read", "--role=read", "--group=readers"];
    for grant in [role, binding] {
        plane.kubectl(["-n", &namespace].iter().chain(&grant)).stdout();
    }
    list().stdout();

    let create = ["create", "configmap", "one", "-n", &namespace];
    let refused = plane.kubectl(create).as_config(&config).run().expect("an answer");
    assert!(refused.stderr.contains("cannot create"), "{}", refused.stderr);
}

#[test]
fn a_user_is_in_both_groups_of_its_certificate() {
    let Some(plane) = ControlPlane::shared() else { return };
    let config = plane.user("ben", &["readers", "writers"]).expect("a user");
    let whoami = ["auth", "whoami", "--output=jsonpath={.status.userInfo.groups}"];
    let groups = plane.kubectl(whoami).as_config(&config).stdout();
    assert_eq!(groups, r#"["readers","writers","system:authenticated"]"#);
}

#[test]
fn the_token_of_a_service_account_names_it() {
    let Some(plane) = ControlPlane::shared() else { return };
    let namespace = plane.namespace("tokens");
    let config = plane.service_account(&namespace, "reader").expect("a token");
    let whoami = ["auth", "whoami", "--output=jsonpath={.status.userInfo.username}"];
    let name = plane.kubectl(whoami).as_config(&config).stdout();
    assert_eq!(name, format!("system:serviceaccount:{namespace}:reader"));

    let again = plane.service_account(&namespace, "reader").expect("a second token");
    assert_ne!(again, config);
}

#[test]
fn a_service_account_in_no_namespace_is_refused() {
    let Some(plane) = ControlPlane::shared() else { return };
    let error = plane.service_account("nowhere", "reader").expect_err("no namespace");
    assert!(error.to_string().contains("\"nowhere\" not found"), "{error}");
}

#[test]
fn a_pod_is_accepted_though_no_controller_runs() {
    let Some(plane) = ControlPlane::shared() else { return };
    let namespace = plane.namespace("pods");
    plane.kubectl(["run", "web", "--image=web", "-n", &namespace]).stdout();
}

#[test]
fn a_custom_resource_can_be_used_once_it_is_established() {
    let Some(plane) = ControlPlane::shared() else { return };
    let schema = serde_json::json!({ "openAPIV3Schema": { "type": "object" } });
    let version = serde_json::json!({
        "name": "v1", "served": true, "storage": true, "schema": schema,
    });
    let crd = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "plural": "widgets", "singular": "widget", "kind": "Widget" },
            "versions": [version],
        },
    });
    plane.apply(&crd.to_string());
    plane.established(&["widgets.example.com"]);
    plane.kubectl(["get", "widgets"]).stdout();
}

#[test]
fn dropping_it_leaves_nothing_behind() {
    let Some(assets) = assets() else { return };
    let _one = ONE_AT_A_TIME.lock();
    let plane = start(&assets);
    let trace = Trace::of(&plane);
    drop(plane);
    trace.assert_gone();
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let Some(assets) = assets() else { return };
    let _one = ONE_AT_A_TIME.lock();
    let (sender, receiver) = mpsc::channel();
    let panicking = thread::spawn(move || {
        let plane = start(&assets);
        sender.send(Trace::of(&plane)).expect("a receiver");
        panic!("this panic is part of the test");
    });
    assert!(panicking.join().is_err());
    receiver.recv().expect("a trace").assert_gone();
}

#[test]
fn a_killed_process_leaves_nothing_behind() {
    let Some(_) = assets() else { return };
    let _one = ONE_AT_A_TIME.lock();
    let (mut owner, trace) = owner();
    owner.kill().expect("a running owner");
    owner.wait().expect("an ended owner");
    trace.assert_gone_soon();
}

#[test]
fn an_interrupted_process_group_leaves_nothing_behind() {
    let Some(_) = assets() else { return };
    let _one = ONE_AT_A_TIME.lock();
    let (mut owner, trace) = owner();
    signal("INT", &format!("-{}", owner.id()));
    assert!(!owner.wait().expect("an ended owner").success());
    trace.assert_gone_soon();
}

#[test]
fn a_process_that_ends_by_itself_leaves_nothing_behind() {
    let Some(_) = assets() else { return };
    let _one = ONE_AT_A_TIME.lock();
    let (mut owner, trace) = owner();
    drop(owner.stdin.take());
    assert!(owner.wait().expect("an ended owner").success());
    trace.assert_gone_soon();
}

#[test]
fn the_keeper_outlives_the_signals_of_an_impatient_user() {
    let Some(assets) = assets() else { return };
    let _one = ONE_AT_A_TIME.lock();
    let plane = start(&assets);
    let trace = Trace::of(&plane);
    for name in ["HUP", "INT", "QUIT", "TERM"] {
        signal(name, &trace.processes.keeper.to_string());
    }
    plane.kubectl(["get", "--raw", "/readyz"]).stdout();
    trace.assert_complete();
    drop(plane);
    trace.assert_gone();
}

#[test]
fn a_server_that_ends_early_is_reported_with_its_last_lines() {
    // A shell does not know the flags of a server, says so and ends.
    let directory = tempfile::tempdir().expect("a directory");
    for program in ["etcd", "kube-apiserver", "kubectl"] {
        symlink("/bin/sh", directory.path().join(program)).expect("a link");
    }
    let shells = Assets::in_directory(directory.path()).expect("three programs");
    let error = ControlPlane::start(&shells).err().expect("no control plane");
    assert!(
        matches!(&error, StartError::Wait(WaitError::Ended { log, .. }) if log.contains("option")),
        "{error:?}"
    );
}

/// Marked as a test, which all of it is, so that it may panic like one.
#[cfg(test)]
mod support {
    use std::{
        io::{BufRead as _, BufReader},
        os::unix::process::CommandExt as _,
        path::{Path, PathBuf},
        process::{Child, Command, Stdio},
        thread,
        time::Duration,
    };

    use kollect_testenv::{Assets, ControlPlane, Processes};

    /// What must be gone when a control plane is gone.
    pub(super) struct Trace {
        pub(super) processes: Processes,
        directory: PathBuf,
    }

    impl Trace {
        pub(super) fn of(plane: &ControlPlane) -> Self {
            let trace =
                Self { processes: plane.processes(), directory: plane.directory().to_owned() };
            trace.assert_complete();
            trace
        }

        #[track_caller]
        pub(super) fn assert_complete(&self) {
            assert_eq!(self.processes.running().len(), 3);
            assert!(self.directory.is_dir());
        }

        #[track_caller]
        pub(super) fn assert_gone(&self) {
            assert_eq!(self.processes.running(), Vec::<u32>::new());
            assert!(!self.directory.exists());
        }

        /// Nobody tells us when the keeper of another process has done its work,
        /// so this looks again and again, for at most ten seconds.
        #[track_caller]
        pub(super) fn assert_gone_soon(&self) {
            for _ in 0..1000 {
                if self.processes.running().is_empty() && !self.directory.exists() {
                    return;
                }
                thread::sleep(Duration::from_millis(10));
            }
            self.assert_gone();
        }
    }

    /// Starts the program of this crate, in a process group of its own, as the
    /// owner of a control plane.
    pub(super) fn owner() -> (Child, Trace) {
        let mut owner = Command::new(env!("CARGO_BIN_EXE_kollect-testenv"))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(owner.stdout.take().expect("an output")).lines();
        let lines: Vec<String> = lines.take(2).map(|line| line.expect("a line")).collect();
        let kubeconfig = lines[0].strip_prefix("export KUBECONFIG=").expect("a kubeconfig");
        let ids: Vec<u32> = lines[1]
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|word| word.parse().ok())
            .collect();
        let [keeper, etcd, apiserver] = ids[..] else { panic!("three ids in {:?}", lines[1]) };
        let directory = Path::new(kubeconfig).parent().expect("a directory").to_owned();
        let trace = Trace { processes: Processes { keeper, etcd, apiserver }, directory };
        trace.assert_complete();
        (owner, trace)
    }

    #[track_caller]
    pub(super) fn signal(name: &str, to: &str) {
        let status = Command::new("sh").args(["-c", "kill -s \"$0\" -- \"$1\"", name, to]).status();
        assert!(status.expect("a shell").success());
    }

    #[track_caller]
    pub(super) fn start(assets: &Assets) -> ControlPlane {
        ControlPlane::start(assets).unwrap_or_else(|error| panic!("{error}: {error:?}"))
    }
}

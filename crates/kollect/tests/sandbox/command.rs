use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn kollect(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kollect"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn fixture(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kubectl");
    directory.join(name).display().to_string()
}

/// A sandbox in a process of its own; killed when it is dropped.
struct Served {
    child: Child,
    /// Held open: who closes it ends the one who writes.
    _stdout: BufReader<ChildStdout>,
    introduction: String,
    config: PathBuf,
}

impl Served {
    /// Starts it, and waits until it has said all that it says.
    fn start(place: &Path, arguments: &[&str], last: &str) -> Self {
        let config = place.join("kubeconfig");
        let mut command = kollect(&["sandbox"]);
        command.args(arguments).arg("--kubeconfig").arg(&config).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut introduction = String::new();
        while !introduction.contains(last) {
            assert!(stdout.read_line(&mut introduction).unwrap() > 0, "{introduction}");
        }
        Self { child, _stdout: stdout, introduction, config }
    }

    fn collect(&self, kind: &str) -> Output {
        let arguments = ["collect", kind, "-A", "-o", "ndjson", "--kubeconfig"];
        kollect(&arguments).arg(&self.config).output().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended by itself is no harm.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn it_serves_what_it_is_given_over_tls_until_it_is_told_to_end() {
    let directory = tempfile::tempdir().unwrap();
    let (shop, things, gadget) =
        (fixture("shop.yaml"), fixture("things.yaml"), fixture("gadget.yaml"));
    let objects = ["--tls", "--objects", &gadget, "--objects", &shop, "--objects", &things];
    let load = ["--load", "services=1500,pods=20", "--rate", "100"];
    let last = "20 pods are made up when they are read; 100 of them change in a second";
    let mut served = Served::start(directory.path(), &[&objects[..], &load[..]].concat(), last);
    assert!(served.introduction.contains("a simulated cluster is at https://127.0.0.1:"));
    assert!(served.introduction.contains("it holds 8 of your objects"));
    for (kind, count) in [("deployments", 1), ("ingresses", 1)] {
        let output = served.collect(kind);
        let lines = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), count, "{lines}{}", String::from_utf8_lossy(&output.stderr));
    }
    let config = directory.path().join("config");
    let mut init = kollect(&["init", "gadgets", "--output-dir"]);
    let output = init.arg(config).arg("--kubeconfig").arg(&served.config).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    kill_process(Pid::from_child(&served.child), Signal::TERM).unwrap();
    assert!(served.child.wait().unwrap().success());
    assert!(!served.config.exists());
}

#[track_caller]
fn refused(arguments: &[&str], why: &str) {
    let output = kollect(&["sandbox"]).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(why), "{text}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
}

#[test]
fn what_cannot_be_served_is_refused_with_a_reason() {
    let somebody = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = somebody.local_addr().unwrap().port().to_string();
    refused(&["--port", &port], &format!("cannot listen on port {port} of this machine"));
    refused(&["--load", "nothings=3"], "there is no kind nothings");
    refused(&["--load", "pods"], "say how many of which kind, as in pods=1000");
    refused(&["--rate", "3"], "--load");
    refused(&["--objects", &fixture("gadget.yaml")], "no kind Gadget of example.org/v1 is defined");
    refused(&["--objects", "/nowhere/at/all"], "/nowhere/at/all");
}

#[test]
fn a_kubeconfig_that_is_there_stays() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config");
    fs::write(&file, "mine").unwrap();
    refused(&["--kubeconfig", file.to_str().unwrap()], "is there already, and is left as it is");
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

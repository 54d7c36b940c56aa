//! `kollect collect --watch`, as a user runs it.

use std::fs;

use kollect_sandbox::{Denial, DenialScope, Sandbox};
use serde_json::Value;

use support::{Watching, cluster, deployment};

#[cfg(test)]
mod support {
    use std::{
        fs,
        io::{BufRead as _, BufReader, Read},
        path::Path,
        process::{Child, Command, ExitStatus, Stdio},
        sync::mpsc::{Receiver, channel},
        thread,
        time::Duration,
    };

    use kollect_sandbox::Sandbox;
    use serde_json::json;

    /// Nothing takes so long.
    const LIMIT: Duration = Duration::from_mins(1);

    pub(super) fn cluster() -> Sandbox {
        let sandbox = Sandbox::start().unwrap();
        for name in ["mall", "shop"] {
            let metadata = json!({"name": name});
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
            sandbox.put(namespace).unwrap();
        }
        sandbox
    }

    pub(super) fn deployment(sandbox: &Sandbox, namespace: &str, name: &str, image: &str) {
        let object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": image}]}}},
        });
        sandbox.put(object).unwrap();
    }

    /// A run that goes on; ended when it is dropped.
    pub(super) struct Watching {
        child: Child,
        stdout: Receiver<String>,
        stderr: Receiver<String>,
        heard: Vec<String>,
    }

    impl Watching {
        pub(super) fn start(place: &Path, sandbox: &Sandbox, arguments: &[&str]) -> Self {
            let kubeconfig = place.join("kubeconfig");
            fs::write(&kubeconfig, sandbox.kubeconfig()).unwrap();
            let mut child = Command::new(env!("CARGO_BIN_EXE_kollect"))
                .args(["collect", "--watch", "--kubeconfig"])
                .arg(&kubeconfig)
                .args(arguments)
                .current_dir(place)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let stdout = lines(child.stdout.take().unwrap());
            let stderr = lines(child.stderr.take().unwrap());
            Self { child, stdout, stderr, heard: Vec::new() }
        }

        /// Waits for a line on standard output.
        #[track_caller]
        pub(super) fn prints(&mut self, is_it: impl Fn(&str) -> bool) -> String {
            Self::wait(&self.stdout, &mut self.heard, is_it)
        }

        /// Waits for a line on standard error.
        #[track_caller]
        pub(super) fn says(&mut self, is_it: impl Fn(&str) -> bool) -> String {
            Self::wait(&self.stderr, &mut self.heard, is_it)
        }

        #[track_caller]
        fn wait(
            lines: &Receiver<String>,
            heard: &mut Vec<String>,
            is_it: impl Fn(&str) -> bool,
        ) -> String {
            loop {
                let Ok(line) = lines.recv_timeout(LIMIT) else {
                    panic!("waited in vain; heard {heard:#?}");
                };
                heard.push(line.clone());
                if is_it(&line) {
                    return line;
                }
            }
        }

        /// Tells it to stop, as Ctrl-C does.
        pub(super) fn interrupt(mut self) -> ExitStatus {
            let process = self.child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
            self.child.wait().unwrap()
        }
    }

    impl Drop for Watching {
        fn drop(&mut self) {
            // One that has ended by itself is no harm.
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }

    fn lines(source: impl Read + Send + 'static) -> Receiver<String> {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            for line in BufReader::new(source).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        receiver
    }
}

#[test]
fn changes_are_printed_as_they_come() {
    let (place, sandbox) = (tempfile::tempdir().unwrap(), cluster());
    deployment(&sandbox, "shop", "web", "web:1");
    let mut run = Watching::start(place.path(), &sandbox, &["deployments", "-A", "-o", "ndjson"]);
    let first = run.prints(|_| true);
    let record: Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&record["change"], &record["row"]["name"]), (&"added".into(), &"web".into()));
    deployment(&sandbox, "shop", "web", "web:2");
    let changed = run.prints(|_| true);
    assert!(changed.contains(r#""change":"changed""#) && changed.contains("web:2"), "{changed}");
    sandbox.delete("apps", "deployments", Some("shop"), "web");
    let gone = run.prints(|_| true);
    assert!(gone.contains(r#""change":"deleted""#) && gone.contains("web:2"), "{gone}");
    assert!(run.interrupt().success());
}

#[test]
fn what_may_not_be_read_is_said_and_the_rest_goes_on() {
    let (place, sandbox) = (tempfile::tempdir().unwrap(), cluster());
    let mall = || DenialScope::Namespace("mall".to_owned());
    sandbox.deny(Denial::read("apps", "deployments", mall()));
    let mut run = Watching::start(place.path(), &sandbox, &["deployments", "-A", "-o", "table"]);
    let said = run.says(|line| line.contains("mall"));
    assert!(said.starts_with("skipped: ") && said.contains("forbidden"), "{said}");
    deployment(&sandbox, "shop", "web", "web:1");
    assert!(run.prints(|_| true).starts_with("+ shop  web"));
    assert!(run.interrupt().success());
}

#[test]
fn sinks_are_kept_current_until_the_end() {
    let (place, sandbox) = (tempfile::tempdir().unwrap(), cluster());
    deployment(&sandbox, "shop", "web", "web:1");
    let mut run = Watching::start(place.path(), &sandbox, &["deployments", "--output", "copy"]);
    run.says(|line| line.contains("1 files written"));
    let file = place.path().join("copy/inventory/default/deployments.yaml");
    let text = || fs::read_to_string(&file).unwrap();
    assert!(text().contains("web:1"));
    deployment(&sandbox, "shop", "web", "web:2");
    run.says(|line| line.contains("1 files written"));
    assert!(text().contains("web:2"));
    assert!(run.interrupt().success());
}

#[test]
fn formats_that_are_one_document_are_refused() {
    let (place, sandbox) = (tempfile::tempdir().unwrap(), cluster());
    let mut run = Watching::start(place.path(), &sandbox, &["deployments", "-o", "yaml"]);
    run.says(|line| line.contains("--watch prints changes; -o must be ndjson or table"));
    assert_eq!(Sandbox::requests(&sandbox).len(), 0);
}

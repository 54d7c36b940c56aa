use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use kollect_sandbox::{Sandbox, Settings, Transport};
use kollect_testenv::{ControlPlane, Kubectl};

/// Whom a script talks to.
#[derive(Clone, Copy)]
enum Server<'a> {
    Real(&'a ControlPlane),
    /// By the path of its kubeconfig.
    Sandbox(&'a ControlPlane, &'a Path),
}

impl Server<'_> {
    fn kubectl(self, arguments: &[String]) -> Kubectl {
        match self {
            Self::Real(plane) => plane.kubectl(arguments),
            Self::Sandbox(plane, config) => plane.kubectl(arguments).as_config(config),
        }
    }
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kubectl")
}

/// The words of a command; quotes hold a word together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    for word in &mut words {
        if Path::new(word.as_str()).extension().is_some_and(|extension| extension == "yaml") {
            *word = scripts().join(&*word).display().to_string();
        }
    }
    words
}

/// Leaves out what no two servers say alike: times, ages, addresses, and the
/// width of columns that hold them.
fn normal(text: &str) -> String {
    let is_age = |word: &str| {
        let rest = word.trim_end_matches(['s', 'm', 'h', 'd']);
        rest.len() < word.len() && rest.chars().all(|char| "0123456789smhd".contains(char))
    };
    let is_address = |word: &str| word.starts_with("10.") && word.split('.').count() == 4;
    let is_time = |word: &str| {
        let word = word.trim_matches('"');
        word.starts_with("20") && word.contains('T') && word.ends_with('Z')
    };
    let line = |line: &str| {
        let words: Vec<String> = line
            .split_whitespace()
            .map(|word| match word {
                word if is_age(word) => "<age>".to_owned(),
                word if is_address(word) => "<address>".to_owned(),
                word if is_time(word) => "<time>".to_owned(),
                word => without_chance(word),
            })
            .collect();
        let mut line = words.join(" ");
        // Days and hours are several words.
        for label in [
            "CreationTimestamp:",
            "Created on:",
            "Resource Version:",
            "resourceVersion:",
            "nodePort:",
        ] {
            if line.starts_with(label) || line.starts_with(&format!("- {label}")) {
                label.clone_into(&mut line);
            }
        }
        line
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Leaves out what is drawn by lot: identities, and the ports of nodes.
fn without_chance(word: &str) -> String {
    let is_identity = |part: &str| {
        part.len() == 36
            && part.split('-').map(str::len).eq([8, 4, 4, 4, 12])
            && part.chars().all(|char| char == '-' || char.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = word
        .split('=')
        .map(|part| if is_identity(part) { "<uid>" } else { part })
        .map(|part| match part.split_once(':') {
            Some((port, node)) if port.parse::<u16>().is_ok() && node.ends_with("/TCP") => {
                "<node port>"
            }
            _ => part,
        })
        .collect();
    parts.join("=")
}

/// What the commands of a script lead to, one after another.
fn transcript(script: &str, server: Server<'_>) -> Vec<String> {
    let text = fs::read_to_string(scripts().join(script)).unwrap();
    let commands = text.lines().filter_map(|line| line.strip_prefix("kubectl "));
    commands
        .map(|command| {
            let output = server.kubectl(&words(command)).run().unwrap();
            let (out, errors) = (normal(&output.stdout), normal(&output.stderr));
            format!("$ {command}\n{out}\n{errors}\n{}", output.success)
        })
        .collect()
}

/// What something leads to on a real server, and on the sandbox.
fn on_both<T: Send>(what: impl Fn(Server<'_>) -> T + Sync) -> Option<(T, T)> {
    let plane = ControlPlane::shared()?;
    // What passes unencrypted passes encrypted, and not the other way around.
    let settings = Settings { transport: Transport::Https, ..Settings::default() };
    let sandbox = Sandbox::start_with(settings).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("kubeconfig");
    fs::write(&config, sandbox.kubeconfig()).unwrap();
    Some(thread::scope(|scope| {
        let real = scope.spawn(|| what(Server::Real(plane)));
        let ours = what(Server::Sandbox(plane, &config));
        (real.join().unwrap(), ours)
    }))
}

#[track_caller]
fn check(script: &str) {
    let Some((real, ours)) = on_both(|server| transcript(script, server)) else { return };
    let different: Vec<String> = real
        .iter()
        .zip(&ours)
        .filter(|(real, ours)| real != ours)
        .map(|(real, ours)| format!("{real}\nbut the sandbox:\n{ours}"))
        .collect();
    assert!(different.is_empty(), "a real server says:\n{}", different.join("\n\n"));
}

/// A call that goes on; ended when it is dropped.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(server: Server<'_>, command: &str) -> Self {
        let mut child = server.kubectl(&words(command)).start().unwrap();
        let lines = lines(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next line; nothing takes so long as we wait for it.
    #[track_caller]
    fn next(&self) -> String {
        normal(&self.lines.recv_timeout(Duration::from_mins(1)).unwrap())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // One that has ended by itself is no harm.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// What a watch says while things change.
fn watched(server: Server<'_>) -> Vec<String> {
    let run = |command: &str| assert!(server.kubectl(&words(command)).run().unwrap().success);
    run("create namespace watched");
    run("create configmap first -n watched");
    let watching = Watching::start(server, "get configmaps -n watched -w --output-watch-events");
    let mut said = vec![watching.next(), watching.next()];
    for (command, lines) in [
        ("create deployment other -n watched --image=x", 0),
        ("create configmap second -n watched --from-literal=a=b", 1),
        ("patch configmap second -n watched --type=merge -p '{\"data\":{\"c\":\"d\"}}'", 1),
        ("label configmap first -n watched a=b", 1),
        ("delete configmap first -n watched", 1),
    ] {
        run(command);
        said.extend((0..lines).map(|_| watching.next()));
    }
    said
}

/// Everything that an explanation says but what it says in words: those are not
/// recorded of built-in kinds.
fn without_words(explanation: &str) -> String {
    let (head, rest) = explanation.split_once("DESCRIPTION:").unwrap();
    let (_, fields) = rest.split_once("FIELDS:").unwrap();
    normal(&[head, fields].concat())
}

#[test]
fn built_in_kinds_have_the_fields_of_a_real_server() {
    let explained = |server: Server<'_>| -> Vec<String> {
        let kinds = ["deployment", "pod", "service", "ingress", "cronjob", "configmap", "hpa"];
        let explain = |kind: &str| words(&format!("explain {kind} --recursive"));
        let run = |kind| without_words(&server.kubectl(&explain(kind)).run().unwrap().stdout);
        kinds.map(run).to_vec()
    };
    let Some((real, ours)) = on_both(explained) else { return };
    for (ours, real) in ours.iter().zip(&real) {
        assert_eq!(ours, real, "the sandbox says the first, a real server the second");
    }
    assert!(real[1].lines().count() > 500, "{}", real[1]);
}

#[test]
fn what_is_served_is_called_as_on_a_real_server() {
    let named = |server: Server<'_>| -> Vec<String> {
        let command = words("api-resources -o wide --no-headers --sort-by=name");
        let text = normal(&server.kubectl(&command).run().unwrap().stdout);
        text.lines().map(str::to_owned).collect()
    };
    let Some((real, ours)) = on_both(named) else { return };
    let other: Vec<&String> = ours.iter().filter(|line| !real.contains(line)).collect();
    assert!(other.is_empty(), "a real server does not say: {other:#?}");
    assert!(ours.len() > 40, "{ours:#?}");
}

#[test]
fn watches_are_as_on_a_real_server() {
    let Some((real, ours)) = on_both(watched) else { return };
    assert_eq!(ours, real, "the sandbox says the first, a real server the second");
    assert_eq!(real.len(), 6, "{real:?}");
}

#[test]
fn built_in_kinds_are_as_on_a_real_server() {
    check("objects.sh");
}

#[test]
fn what_kubectl_makes_is_as_on_a_real_server() {
    check("create.sh");
}

#[test]
fn whatever_way_one_looks_it_is_as_on_a_real_server() {
    check("look.sh");
}

#[test]
fn whatever_way_one_changes_things_it_is_as_on_a_real_server() {
    check("change.sh");
}

#[test]
fn custom_kinds_are_as_on_a_real_server() {
    check("definitions.sh");
}

#[test]
fn owners_of_fields_are_as_on_a_real_server() {
    check("owners.sh");
}

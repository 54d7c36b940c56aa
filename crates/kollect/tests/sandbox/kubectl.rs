use std::{
    fs,
    path::{Path, PathBuf},
};

use kollect_sandbox::Sandbox;
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
    let line = |line: &str| {
        let words: Vec<&str> = line
            .split_whitespace()
            .map(|word| match word {
                word if is_age(word) => "<age>",
                word if is_address(word) => "<address>",
                word => word,
            })
            .collect();
        words.join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
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

#[track_caller]
fn check(script: &str) {
    let Some(plane) = ControlPlane::shared() else { return };
    let sandbox = Sandbox::start().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("kubeconfig");
    fs::write(&config, sandbox.kubeconfig()).unwrap();
    let real = transcript(script, Server::Real(plane));
    let ours = transcript(script, Server::Sandbox(plane, &config));
    for (ours, real) in ours.iter().zip(&real) {
        assert_eq!(ours, real, "the sandbox says the first, a real server the second");
    }
    assert_eq!(ours.len(), real.len());
}

#[test]
fn built_in_kinds_are_as_on_a_real_server() {
    check("objects.sh");
}

#[test]
fn custom_kinds_are_as_on_a_real_server() {
    check("definitions.sh");
}

#[test]
fn owners_of_fields_are_as_on_a_real_server() {
    check("owners.sh");
}

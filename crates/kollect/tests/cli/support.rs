//! How the binary is run, and what it left behind.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The text of every sample.
pub(super) fn texts_below(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(texts_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    texts
}

/// What a run left behind.
pub(super) struct Run {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

#[track_caller]
pub(super) fn kollect(arguments: &[&str]) -> Run {
    with_input(arguments, "")
}

#[track_caller]
pub(super) fn with_input(arguments: &[&str], input: &str) -> Run {
    run_in(Path::new("."), arguments, input)
}

#[track_caller]
pub(super) fn run_in(place: &Path, arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kollect"))
        .args(arguments)
        .current_dir(place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails before it reads closes the pipe; that is no failure of the test.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

pub(super) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes one file into a new directory and validates it.
#[track_caller]
pub(super) fn validate(name: &str, content: impl AsRef<[u8]>) -> Run {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, content).unwrap();
    let mut run = kollect(&["validate", path.to_str().unwrap()]);
    run.stdout = run.stdout.replace(&format!("{}/", directory.path().display()), "");
    run
}

pub(super) const TARGET: &str = "apiVersion: kollect.dev/v1alpha1
kind: KollectTarget
metadata: {name: web, namespace: shop}
spec:
  profileRef: images
";

//! Scenarios on a real API server.
//!
//! Each file in `tests/` is one area. They share a control plane with the
//! custom resource definitions installed; each test makes a namespace of its
//! own. [`cluster`] is where every one of them begins, or [`servers`] if it can
//! run on the sandbox, too. [`record`] is what the
//! sandbox knows of real servers.

pub mod record;
mod server;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use kollect_testenv::ControlPlane;

pub use server::{Server, servers};

/// The shared control plane with our definitions and the test doubles of
/// foreign ones; nothing if no servers are at hand and none are demanded.
pub fn cluster() -> Option<&'static ControlPlane> {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    let cluster = ControlPlane::shared()?;
    INSTALLED.get_or_init(|| install(|arguments| cluster.kubectl(arguments).stdout()));
    Some(cluster)
}

/// Installs the definitions by kubectl, and waits until they are served.
fn install(kubectl: impl Fn(&[&str]) -> String) {
    for directory in ["deploy/crds", "fixtures/foreign-crds"] {
        let directory = repository().join(directory).display().to_string();
        kubectl(&["apply", "--server-side", "-f", &directory]);
    }
    let names = kubectl(&["get", "crd", "-o", "name"]);
    let names: Vec<_> = names.lines().filter_map(|line| line.split('/').nth(1)).collect();
    let wait = ["wait", "--for=condition=Established", "--timeout=30s", "crd"];
    kubectl(&[&wait[..], &names[..]].concat());
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every sample that can be applied, in the order of their paths.
///
/// What a server has printed, with its versions and states, is none.
pub fn samples() -> Vec<PathBuf> {
    let directory = repository().join("deploy/samples");
    let mut samples = Vec::new();
    gather(&directory, &mut samples);
    samples.retain(|path| !path.starts_with(directory.join("shop/cluster")));
    samples.sort();
    samples
}

fn gather(directory: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
}

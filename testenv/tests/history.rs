//! What a test may rely on when it ends a control plane and starts it again.

use std::sync::Mutex;

use kollect_testenv::{History, RestartError, assets};

use self::support::{contents, is_there, make, start, start_from};

/// Starting is work for all cores, so these tests do it one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn a_control_plane_comes_back_with_what_it_knew_with_nothing_and_with_what_it_knew_earlier() {
    let Some(assets) = assets() else { return };
    let _one = ONE_AT_A_TIME.lock();
    let mut plane = start(&assets);
    let ann = plane.user("ann", &["system:masters"]).expect("a user");
    let directory = tempfile::tempdir().expect("a directory");
    let saved = directory.path().join("saved");
    let address = plane.address();
    make(&plane, "early");

    let before = plane.processes();
    plane.save(&saved).expect("saved");
    assert_eq!(before.running(), [before.keeper], "the servers are new ones, the keeper is not");
    assert_eq!(plane.processes().running().len(), 3);
    make(&plane, "late");

    plane.pause().expect("paused");
    plane.pause().expect("it is already");
    assert!(!plane.kubectl(["get", "--raw", "/readyz"]).run().expect("kubectl").success);
    plane.restart(History::Same).expect("the same");
    assert!(is_there(&plane, "early") && is_there(&plane, "late"));

    plane.restart(History::Saved(&saved)).expect("the saved one");
    assert!(is_there(&plane, "early") && !is_there(&plane, "late"));

    plane.restart(History::Empty).expect("an empty one");
    assert!(!is_there(&plane, "early") && !is_there(&plane, "late"));

    assert_eq!(plane.address(), address);
    plane.kubectl(["get", "namespaces"]).as_config(&ann).stdout();

    let (processes, directory) = (plane.processes(), plane.directory().to_owned());
    drop(plane);
    assert!(processes.running().is_empty() && !directory.exists());
}

#[test]
fn what_was_saved_can_be_started_from_and_stays_as_it_is() {
    let Some(assets) = assets() else { return };
    let _one = ONE_AT_A_TIME.lock();
    let directory = tempfile::tempdir().expect("a directory");
    let saved = directory.path().join("saved");
    let mut first = start(&assets);
    make(&first, "kept");
    first.save(&saved).expect("saved");
    drop(first);

    let before = contents(&saved);
    let mut second = start_from(&assets, &saved);
    assert!(is_there(&second, "kept"));
    make(&second, "another");
    let again = second.save(&saved).expect_err("there is something already");
    assert!(matches!(again, RestartError::Data(_)), "{again}");
    assert!(is_there(&second, "another"), "it goes on all the same");
    second.pause().expect("paused");
    assert!(contents(&saved) == before, "nobody changes what was saved");

    let (processes, directory) = (second.processes(), second.directory().to_owned());
    assert_eq!(processes.running(), [processes.keeper]);
    drop(second);
    assert!(processes.running().is_empty() && !directory.exists());
}

#[cfg(test)]
mod support {
    use std::{fs, path::Path};

    use kollect_testenv::{Assets, ControlPlane};

    pub(super) fn start(assets: &Assets) -> ControlPlane {
        ControlPlane::start(assets).unwrap_or_else(|error| panic!("{error}: {error:?}"))
    }

    pub(super) fn start_from(assets: &Assets, saved: &Path) -> ControlPlane {
        ControlPlane::start_from(assets, saved).unwrap_or_else(|error| panic!("{error}: {error:?}"))
    }

    pub(super) fn make(plane: &ControlPlane, name: &str) {
        plane.kubectl(["create", "configmap", name]).stdout();
    }

    pub(super) fn is_there(plane: &ControlPlane, name: &str) -> bool {
        let names = plane.kubectl(["get", "configmaps", "--output=name"]).stdout();
        names.lines().any(|line| line == format!("configmap/{name}"))
    }

    /// Every file below a directory, with its bytes.
    pub(super) fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                found.extend(contents(&path));
            } else {
                let bytes = fs::read(&path).expect("a file");
                found.push((path.display().to_string(), bytes));
            }
        }
        found.sort();
        found
    }
}

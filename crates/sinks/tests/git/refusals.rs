//! What is refused, and in whose words.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use kollect_inventory::schedule::ErrorClass;
use kollect_sinks::SinkError;
use kollect_testenv::{GitServer, Protocol, git};

use super::support::{Repository, cluster, document, export, https, tip};

fn hook(repository: &Path, name: &str, script: &str) {
    let path = repository.join("hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A protected branch is a hook of the server, on every server that we know.
#[tokio::test]
async fn a_protected_branch_is_terminal_in_the_servers_words() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git", &[]).unwrap();
    let sink = document(&https(&server, "copy.git"));
    sink.export(&export(&cluster(1).rows())).await.unwrap();
    let before = tip(&path);
    let words = "main is protected: ask the platform team";
    for (name, said) in [
        ("pre-receive", format!("pre-receive hook declined: {words}")),
        (
            "update",
            format!("hook declined: {words}; error: hook declined to update refs/heads/main"),
        ),
    ] {
        hook(&path, name, &format!("echo '{words}' >&2; exit 1"));
        let mut next = export(&cluster(2).rows());
        next.watermark.sequence += 1;
        let error = sink.export(&next).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Terminal);
        assert_eq!(
            error.to_string(),
            format!("the destination rejected the export: the branch main was not moved: {said}")
        );
        fs::remove_file(path.join("hooks").join(name)).unwrap();
        assert_eq!(tip(&path), before);
    }
}

#[tokio::test]
async fn objects_named_by_sha256_are_refused_by_name() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let on_disk = Repository::with(&["--object-format", "sha256"]);
    let path = server.repository("copy.git", &[]).unwrap();
    fs::remove_dir_all(&path).unwrap();
    let arguments = ["init", "--quiet", "--bare", "--object-format", "sha256", "copy.git"];
    git(path.parent().unwrap(), &arguments).unwrap();
    for reach in [on_disk.reach(), https(&server, "copy.git")] {
        let error = document(&reach).export(&export(&cluster(1).rows())).await.unwrap_err();
        let SinkError::Unusable(text) = error else { panic!("{error:?}") };
        assert!(text.contains("SHA-256, which is not supported"), "{text}");
    }
}

#[tokio::test]
async fn what_is_no_bare_repository_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    git(directory.path(), &["init", "--quiet", "work"]).unwrap();
    let at = |path: &str| {
        let endpoint = format!("file://{}/{path}", directory.path().display());
        crate::reach::Reach { endpoint, ..Default::default() }
    };
    for (path, reason) in [
        ("nothing", "there is no bare Git repository at"),
        ("work", "there is no bare Git repository at"),
        ("work/.git", "is not bare: somebody works in it"),
    ] {
        let error = document(&at(path)).probe().await.unwrap_err();
        let SinkError::Unusable(text) = error else { panic!("{error:?}") };
        assert!(text.contains(reason), "{text}");
    }
}

#[tokio::test]
async fn a_repository_that_is_not_there_is_refused() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let error = document(&https(&server, "nothing.git")).probe().await.unwrap_err();
    assert!(matches!(error, SinkError::Refused { .. }), "{error:?}");
    assert_eq!(error.class(), ErrorClass::Terminal);
}

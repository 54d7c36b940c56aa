//! A repository that holds much that is not ours.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use kollect_testenv::{GitServer, Protocol, git};

use super::support::{Repository, cluster, https, process, rows, tip};
use crate::reach::Reach;

const FILES: usize = 100_000;

/// Makes a history of two commits with so many files, as fast as Git can.
fn fill(repository: &Path) {
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(repository)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = std::io::BufWriter::new(import.stdin.take().unwrap());
    let commit = "commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\n";
    write!(input, "{commit}data 5\nfirst\n").unwrap();
    for file in 0..FILES {
        let (folder, text) = (file / 100, format!("file {file}\n"));
        write!(input, "M 100644 inline others/{folder}/{file}.txt\ndata {}\n{text}\n", text.len())
            .unwrap();
    }
    write!(input, "{commit}data 6\nsecond\nM 100755 inline run.sh\ndata 0\n\n").unwrap();
    drop(input);
    assert!(import.wait().unwrap().success());
}

async fn takes_a_copy(reach: &Reach, repository: &Path) {
    fill(repository);
    let before = tip(repository);
    let mut cluster = cluster(3);
    let mut process = process(reach, "eu-1", &cluster);
    process.copy().await.unwrap();
    cluster.put("shop", "object-1", "2");
    process.watch(&cluster, "shop", "object-1");
    process.copy().await.unwrap();
    assert!(process.receipt().unwrap().statements <= 12);
    assert_eq!(rows(repository, "eu-1"), cluster.rows());
    let range = format!("{before}..main");
    let touched = git(repository, &["log", "--format=", "--name-only", &range]).unwrap();
    let is_ours = |path: &str| path.starts_with("eu-1/") || path.starts_with(".kollect/");
    assert!(touched.lines().filter(|line| !line.is_empty()).all(is_ours), "{touched}");
    let script = git(repository, &["ls-tree", "main", "run.sh"]).unwrap();
    assert!(script.starts_with("100755"), "{script}");
}

#[tokio::test]
async fn a_hundred_thousand_files_of_others_stay_on_disk() {
    let repository = Repository::new();
    takes_a_copy(&repository.reach(), &repository.path).await;
}

#[tokio::test]
async fn a_hundred_thousand_files_of_others_stay_behind_https_with_filters() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git", &[("uploadpack.allowFilter", "true")]).unwrap();
    takes_a_copy(&https(&server, "copy.git"), &path).await;
}

#[tokio::test]
async fn a_hundred_thousand_files_of_others_stay_behind_https_without_filters() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git", &[]).unwrap();
    takes_a_copy(&https(&server, "copy.git"), &path).await;
}

//! Others on the same branch.

use std::{fs, thread};

use kollect_testenv::{GitServer, Protocol, git};

use super::support::{
    Repository, check, clone, cluster, commit_by_hand, https, process, rows, tip,
};
use crate::reach::Reach;

/// Trace 9: only contention, and nobody's commit is lost.
async fn all_day(reach: &Reach, repository: &std::path::Path) {
    let mut worlds = [cluster(20), cluster(20)];
    let mut processes = [process(reach, "eu-1", &worlds[0]), process(reach, "us-1", &worlds[1])];
    let [first, second] = &mut processes;
    first.copy().await.unwrap();
    second.copy().await.unwrap();
    let person = {
        let repository = repository.to_owned();
        thread::spawn(move || {
            for round in 0..6 {
                commit_by_hand(&repository, &format!("notes/{round}.txt"), "by hand");
            }
        })
    };
    for round in 0..12 {
        for (at, world) in worlds.iter_mut().enumerate() {
            let name = format!("object-{}", (round * 7 + at) % 20);
            world.put("shop", &name, &format!("round {round}"));
            processes[at].watch(world, "shop", &name);
        }
        let [first, second] = &mut processes;
        let (one, other) = tokio::join!(first.copy(), second.copy());
        one.and(other).unwrap();
        // What each of them wrote is what changed: nobody compared all rows.
        for process in &processes {
            assert!(process.receipt().unwrap().statements <= 14, "{:?}", process.receipt());
        }
    }
    person.join().unwrap();
    assert_eq!(rows(repository, "eu-1"), worlds[0].rows());
    assert_eq!(rows(repository, "us-1"), worlds[1].rows());
    let by_hand = git(repository, &["log", "--author", "Somebody", "--format=%s", "main"]);
    assert_eq!(by_hand.unwrap().lines().count(), 6, "a person's commits were lost");
    let ours = git(repository, &["log", "--author", "kollect", "--format=%s", "main"]);
    assert_eq!(ours.unwrap().lines().count(), 2 + 2 * 12);
    check(repository);
}

#[tokio::test]
async fn two_operators_and_a_person_share_a_branch_on_disk() {
    let repository = Repository::new();
    all_day(&repository.reach(), &repository.path).await;
}

#[tokio::test]
async fn two_operators_and_a_person_share_a_branch_behind_https() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git", &[("uploadpack.allowFilter", "true")]).unwrap();
    all_day(&https(&server, "copy.git"), &path).await;
}

#[tokio::test]
async fn a_branch_that_is_rewritten_gets_everything_again() {
    let repository = Repository::new();
    let mut cluster = cluster(5);
    let mut process = process(&repository.reach(), "eu-1", &cluster);
    process.copy().await.unwrap();
    let clone = clone(&repository.path);
    git(clone.path(), &["checkout", "--quiet", "--orphan", "fresh"]).unwrap();
    git(clone.path(), &["rm", "-r", "--force", "--quiet", "."]).unwrap();
    fs::write(clone.path().join("README"), "begin again").unwrap();
    git(clone.path(), &["add", "README"]).unwrap();
    git(clone.path(), &["commit", "--quiet", "--message", "by hand"]).unwrap();
    git(clone.path(), &["push", "--quiet", "--force", "origin", "HEAD:main"]).unwrap();
    cluster.put("shop", "object-1", "2");
    process.watch(&cluster, "shop", "object-1");
    process.copy().await.unwrap();
    assert_eq!(rows(&repository.path, "eu-1"), cluster.rows());
    assert_eq!(git(&repository.path, &["show", "main:README"]).unwrap(), "begin again");
    check(&repository.path);
}

#[tokio::test]
async fn a_branch_that_is_deleted_is_made_again() {
    let repository = Repository::new();
    let mut cluster = cluster(5);
    let mut process = process(&repository.reach(), "eu-1", &cluster);
    process.copy().await.unwrap();
    git(&repository.path, &["update-ref", "-d", "refs/heads/main"]).unwrap();
    cluster.put("shop", "object-1", "2");
    process.watch(&cluster, "shop", "object-1");
    process.copy().await.unwrap();
    assert_eq!(rows(&repository.path, "eu-1"), cluster.rows());
}

/// What a killed process left behind blocks nobody.
#[tokio::test]
async fn a_lock_of_a_process_that_is_gone_is_taken_over() {
    let repository = Repository::new();
    let mut cluster = cluster(2);
    let mut process = process(&repository.reach(), "eu-1", &cluster);
    process.copy().await.unwrap();
    let lock = repository.path.join("refs/heads/main.lock");
    fs::write(&lock, "kollect one 1 another-boot\n").unwrap();
    let before = tip(&repository.path);
    cluster.put("shop", "object-1", "2");
    process.watch(&cluster, "shop", "object-1");
    process.copy().await.unwrap();
    assert_ne!(tip(&repository.path), before);
    assert!(!lock.exists());
}

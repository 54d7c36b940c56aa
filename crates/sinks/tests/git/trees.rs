//! What a commit costs, and what is on the branch afterwards.

use kollect_testenv::git;
use serde_json::json;

use super::support::{
    Repository, check, cluster, commit_by_hand, document, export, process, rows, tip, with,
};

#[tokio::test]
async fn a_changed_row_costs_its_file_and_the_folders_above() {
    let repository = Repository::new();
    let mut cluster = cluster(2000);
    let mut process = process(&repository.reach(), "eu-1", &cluster);
    process.copy().await.unwrap();
    cluster.put("shop", "object-7", "2");
    process.watch(&cluster, "shop", "object-7");
    process.copy().await.unwrap();
    // The commit; the root; three folders and a file; four folders and the watermark.
    assert_eq!(process.receipt().unwrap().statements, 11);
    let changed = git(&repository.path, &["diff", "--name-only", "main~1", "main"]).unwrap();
    assert_eq!(changed, ".kollect/eu-1/shop/web/watermark\neu-1/web/shop/object-7.ndjson");
    assert_eq!(rows(&repository.path, "eu-1"), cluster.rows());
    check(&repository.path);
}

#[tokio::test]
async fn nothing_is_committed_when_nothing_changed() {
    let repository = Repository::new();
    let cluster = cluster(3);
    process(&repository.reach(), "eu-1", &cluster).copy().await.unwrap();
    let before = tip(&repository.path);
    let mut second = process(&repository.reach(), "eu-1", &cluster);
    second.copy().await.unwrap();
    second.verify().await;
    assert_eq!(tip(&repository.path), before);
}

#[tokio::test]
async fn a_packed_repository_and_a_packed_branch_are_read() {
    let repository = Repository::new();
    let mut cluster = cluster(50);
    let mut process = process(&repository.reach(), "eu-1", &cluster);
    for round in 0..5 {
        cluster.put("shop", "object-7", &format!("round {round}"));
        process.watch(&cluster, "shop", "object-7");
        process.copy().await.unwrap();
        git(&repository.path, &["gc", "--quiet", "--prune=now"]).unwrap();
    }
    assert!(!repository.path.join("refs/heads/main").exists(), "the branch is not packed");
    // Somebody who knows nothing reads differences, and finds nothing to do.
    let before = tip(&repository.path);
    let mut fresh = super::support::process(&repository.reach(), "eu-1", &cluster);
    fresh.copy().await.unwrap();
    assert_eq!(tip(&repository.path), before);
    assert_eq!(rows(&repository.path, "eu-1"), cluster.rows());
}

/// The user wants others' commits gone, and is warned of it.
#[tokio::test]
async fn a_forced_push_drops_what_others_put_on_top() {
    let repository = Repository::new();
    let reach = with(repository.reach(), "git", json!({"pushPolicy": "ForcePush"}));
    let mut cluster = cluster(3);
    let mut process = process(&reach, "eu-1", &cluster);
    process.copy().await.unwrap();
    commit_by_hand(&repository.path, "by-hand.txt", "hello");
    cluster.put("shop", "object-1", "2");
    process.watch(&cluster, "shop", "object-1");
    process.copy().await.unwrap();
    assert_eq!(rows(&repository.path, "eu-1"), cluster.rows());
    assert!(
        git(&repository.path, &["rev-parse", "--verify", "--quiet", "main:by-hand.txt"]).is_err()
    );
    check(&repository.path);
}

/// R30, and the user's own word against it.
#[tokio::test]
async fn an_older_document_goes_unless_it_is_to_stay() {
    for (prune, expected) in [
        (None, "b/shop/web-stack.ndjson"),
        (Some(false), "a/shop/web-stack.ndjson\nb/shop/web-stack.ndjson"),
    ] {
        let repository = Repository::new();
        for (at, folder) in ["a", "b"].into_iter().enumerate() {
            let template = json!(format!("{folder}/{{namespace}}/{{name}}{{extension}}"));
            let reach = with(repository.reach(), "pathTemplate", template);
            let reach = with(reach, "git", json!({"prune": prune}));
            let mut export = export(&cluster(2).rows());
            export.watermark.sequence += i64::try_from(at).unwrap();
            document(&reach).export(&export).await.unwrap();
        }
        let files = git(&repository.path, &["ls-tree", "-r", "--name-only", "main", "a", "b"]);
        assert_eq!(files.unwrap(), expected);
    }
}

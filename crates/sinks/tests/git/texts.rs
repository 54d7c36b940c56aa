//! What commits say, and what they hold, byte by byte.

use kollect_inventory::{Row, envelope};
use kollect_sinks::Farewell;
use kollect_testenv::git;
use serde_json::{Map, Value, json};

use super::support::{Repository, check, export, tip};
use crate::reach::{self, Reach};

/// The running example of the export contract.
const EXAMPLE: &str = r#"[
{"targetNamespace":"shop","targetName":"edges","namespace":"shop","name":"web","version":"v1","kind":"Service","uid":"22222222-aaaa-4bbb-8ccc-000000000002","attributes":{"external":null,"ports":[80,443],"type":"ClusterIP"}},
{"targetNamespace":"shop","targetName":"workloads","namespace":"shop","name":"web","group":"apps","version":"v1","kind":"Deployment","uid":"11111111-aaaa-4bbb-8ccc-000000000001","attributes":{"image":"registry.example/web:2.4.1","note":"a\u003cb \u0026 \"q\"","replicas":3}}]"#;

fn example() -> Vec<Row> {
    envelope::decode(EXAMPLE.as_bytes()).unwrap().rows
}

/// As users write it, with nothing but these blocks.
fn plain(repository: &Repository, blocks: Value) -> Reach {
    let Value::Object(mut more) = blocks else { return repository.reach() };
    more.insert("pathTemplate".to_owned(), json!(null));
    more.insert("serialization".to_owned(), json!(null));
    Reach { more: Map::from_iter(more), ..repository.reach() }
}

#[tokio::test]
async fn a_commit_says_what_its_templates_say() {
    let repository = Repository::new();
    let blocks = json!({"git": {
        "commitBody": "Source {path}",
        "commitTrailers": [
            "Kollect-Checksum: {checksumShort}", " ", "Kollect-Generation: {generation}",
        ],
    }});
    let sink = reach::open_git(&plain(&repository, blocks), "eu-1", r#"{"mode":"document"}"#);
    sink.unwrap().export(&export(&example())).await.unwrap();
    let expected = "chore(eu-1/shop/web-stack): export 2 items @ 3d168c33ce26\n\n\
        Source inventory/shop/web-stack.yaml\n\n\
        Kollect-Checksum: 3d168c33ce26\n\n\
        Kollect-Generation: 7";
    assert_eq!(git(&repository.path, &["log", "-1", "--format=%B"]).unwrap(), expected);
    let who = "%an <%ae> %at %cn <%ce> %ct";
    let who = git(&repository.path, &["log", "-1", &format!("--format={who}")]).unwrap();
    let kollect = "kollect <kollect@kollect.dev> 1772600767";
    assert_eq!(who, format!("{kollect} {kollect}"));
}

/// R29: in trees the digest of the view stands where documents have the
/// contract checksum.
#[tokio::test]
async fn a_tree_is_known_by_its_digest_and_every_placeholder_is_filled_in() {
    let repository = Repository::new();
    let all = "{cluster} {namespace} {name} {exportGeneration} {itemCount} {checksum} \
        {checksumShort} {exportedAt} {sink} {path} {other}";
    let blocks = json!({"git": {
        "commitMessage": all, "author": {"name": "Ann", "email": "ann@example.org"},
    }});
    let sink = reach::open_git(&plain(&repository, blocks), "", r#"{"mode":"perResource"}"#);
    let export = export(&example());
    let digest = export.watermark.content.unwrap().digest.to_string();
    sink.unwrap().export(&export).await.unwrap();
    let short = digest.get(..12).unwrap();
    let expected = format!(
        "default shop web-stack 7 2 {digest} {short} 2026-03-04T05:06:07Z audit \
         inventory/shop/web-stack.yaml {{other}}"
    );
    assert_eq!(git(&repository.path, &["log", "-1", "--format=%B"]).unwrap(), expected);
    let author = git(&repository.path, &["log", "-1", "--format=%an <%ae>"]).unwrap();
    assert_eq!(author, "Ann <ann@example.org>");
}

/// The ids are those of other implementations of the contract.
#[tokio::test]
async fn a_document_and_a_tree_have_the_ids_of_the_contract() {
    let cases = [
        (
            r#"{"mode":"document"}"#,
            "a091974d38341e8455f5d9ff004a09daed080829",
            vec![("inventory/shop/web-stack.yaml", "8118051497706ddbe4fbb58a2d7fc51ac872d502")],
        ),
        (
            r#"{"mode":"perResource","content":"item"}"#,
            "a4571254aa6754b2044593f74904b3c8efd8d808",
            vec![
                ("eu-1/shop/deployment/web.yaml", "0bc24ba41a59b8e2889c5792bc9e02d0f21e6a5a"),
                ("eu-1/shop/service/web.yaml", "e37621d4edc5bedd94047651de7d5a1bd2301f2d"),
            ],
        ),
    ];
    for (layout, root, files) in cases {
        let repository = Repository::new();
        let sink = reach::open_git(&plain(&repository, json!({})), "eu-1", layout).unwrap();
        sink.export(&export(&example())).await.unwrap();
        for (path, blob) in files {
            let found = git(&repository.path, &["rev-parse", &format!("main:{path}")]).unwrap();
            assert_eq!(found, blob, "{path}");
        }
        // Our own folder is not part of the contract.
        let output = std::process::Command::new("sh")
            .args(["-c", "git ls-tree main | grep -v .kollect | git mktree"])
            .current_dir(&repository.path)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), root, "{output:?}");
        check(&repository.path);
    }
}

#[tokio::test]
async fn who_leaves_says_so_and_leaves_the_files() {
    let repository = Repository::new();
    let layout = r#"{"mode":"perResource"}"#;
    let sink = reach::open_git(&plain(&repository, json!({})), "eu-1", layout).unwrap();
    let export = export(&example());
    sink.export(&export).await.unwrap();
    sink.retire(&export.inventory, Farewell::Released).await.unwrap();
    let subject = git(&repository.path, &["log", "-1", "--format=%s"]).unwrap();
    assert_eq!(subject, "chore(eu-1/shop/web-stack): the sink is no longer written to");
    let files = git(&repository.path, &["ls-tree", "-r", "--name-only", "main"]).unwrap();
    assert_eq!(files, "eu-1/shop/deployment/web.yaml\neu-1/shop/service/web.yaml");
    let before = tip(&repository.path);
    sink.retire(&export.inventory, Farewell::Deleted).await.unwrap();
    assert_eq!(tip(&repository.path), before, "there was nothing left to say");
}

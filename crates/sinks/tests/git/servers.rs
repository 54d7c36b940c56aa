//! What is asked of a server, and what happens when it does not answer.

use kollect_inventory::Effect;
use kollect_sinks::SinkError;
use kollect_testenv::{GitServer, Protocol, SshServer, git, has_sshd};
use serde_json::json;

use super::support::{
    check, cluster, commit_by_hand, document, export, https, process, rows, ssh, tip, with,
};

#[tokio::test]
async fn a_change_costs_a_look_and_a_push() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git", &[("uploadpack.allowFilter", "true")]).unwrap();
    let mut cluster = cluster(20);
    let mut process = process(&https(&server, "copy.git"), "eu-1", &cluster);
    process.copy().await.unwrap();
    server.requests();
    cluster.put("shop", "object-1", "2");
    process.watch(&cluster, "shop", "object-1");
    process.copy().await.unwrap();
    let expected = ["POST /copy.git/git-upload-pack", "POST /copy.git/git-receive-pack"];
    assert_eq!(server.requests(), expected);
    process.verify().await;
    assert_eq!(server.requests(), ["POST /copy.git/git-upload-pack"]);
    // When somebody else has been there, their folders are fetched, and no file.
    commit_by_hand(&path, "notes.txt", "hello");
    cluster.put("shop", "object-1", "3");
    process.watch(&cluster, "shop", "object-1");
    process.copy().await.unwrap();
    let upload = "POST /copy.git/git-upload-pack";
    assert_eq!(server.requests(), [upload, upload, "POST /copy.git/git-receive-pack"]);
    assert_eq!(rows(&path, "eu-1"), cluster.rows());
    check(&path);
}

/// Nobody knows whether it counted; the next export finds out.
#[tokio::test]
async fn a_push_whose_answer_is_lost_is_found_by_the_next() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git", &[]).unwrap();
    let sink = document(&https(&server, "copy.git"));
    server.be_silent_about(1);
    let first = export(&cluster(2).rows());
    let error = sink.export(&first).await.unwrap_err();
    assert!(matches!(error, SinkError::Unreachable { .. }), "{error:?}");
    assert_eq!(error.effect(), Effect::Unknown);
    let after = tip(&path);
    // It did count: the same rows are there, and nothing is written.
    let receipt = sink.export(&first).await.unwrap();
    assert_eq!(receipt.wrote, kollect_sinks::Wrote::Nothing);
    assert_eq!(tip(&path), after);
}

#[tokio::test]
async fn a_server_that_has_moved_is_followed() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git", &[]).unwrap();
    let mut reach = https(&server, "copy.git");
    reach.endpoint = server.moved_url("copy.git");
    let cluster = cluster(2);
    process(&reach, "eu-1", &cluster).copy().await.unwrap();
    assert_eq!(rows(&path, "eu-1"), cluster.rows());
}

#[tokio::test]
async fn who_cannot_be_trusted_is_not_told_anything() {
    let server = GitServer::start(Protocol::Any).unwrap();
    server.repository("copy.git", &[]).unwrap();
    let stranger = with(https(&server, "copy.git"), "tls", json!(null));
    let error = document(&stranger).probe().await.unwrap_err();
    assert!(matches!(error, SinkError::Refused { .. }), "{error:?}");
    assert!(server.requests().is_empty());
    let careless = json!({"insecureSkipVerify": true});
    let careless = with(https(&server, "copy.git"), "tls", careless);
    document(&careless).probe().await.unwrap();
}

#[tokio::test]
async fn a_probe_says_what_it_saw() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git", &[]).unwrap();
    let reach = with(https(&server, "copy.git"), "options", json!({"probe": "write"}));
    let sink = document(&reach);
    let said = sink.probe().await.unwrap();
    assert_eq!(said, "the repository has no branch main yet, and may be pushed to");
    sink.export(&export(&cluster(1).rows())).await.unwrap();
    let said = sink.probe().await.unwrap();
    assert_eq!(said, format!("the branch main is at {}, and may be pushed to", tip(&path)));
    git(&path, &["config", "http.receivepack", "false"]).unwrap();
    assert!(matches!(sink.probe().await.unwrap_err(), SinkError::Refused { .. }));
}

#[tokio::test]
async fn ssh_lets_the_right_key_in_and_believes_the_right_server() {
    if !has_sshd() {
        return;
    }
    let server = SshServer::start(Protocol::Any).unwrap();
    let path = server.repository("copy.git").unwrap();
    let right = ssh(&server, "copy.git");
    document(&right).export(&export(&cluster(2).rows())).await.unwrap();
    check(&path);
    let mut strange = right.clone();
    strange.secret.insert("ssh-privatekey".into(), server.strange_key());
    let error = document(&strange).probe().await.unwrap_err();
    assert!(matches!(error, SinkError::Refused { .. }), "{error:?}");
    let other = SshServer::start(Protocol::Any).unwrap();
    let mut mistaken = right.clone();
    let theirs = other.known_hosts();
    let key = theirs.split_once(' ').unwrap().1;
    let own = server.known_hosts();
    let host = own.split_once(' ').unwrap().0;
    mistaken.secret.insert("known_hosts".into(), format!("{host} {key}"));
    let error = document(&mistaken).probe().await.unwrap_err();
    assert!(matches!(error, SinkError::Refused { .. }), "{error:?}");
    let missing = ssh(&server, "nothing.git");
    let error = document(&missing).probe().await.unwrap_err();
    assert!(matches!(error, SinkError::Refused { .. }), "{error:?}");
}

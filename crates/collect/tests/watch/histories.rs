//! Histories that are gone, or are another's.

use kollect_sandbox::{Fault, On};

use super::{
    door::Door,
    support::{Scene, delete, is_list, is_watch, put, sandbox, widgets},
};

#[tokio::test]
async fn history_that_is_gone_is_listed_again_and_what_was_deleted_meanwhile_goes() {
    for refuses in [false, true] {
        let sandbox = sandbox();
        if refuses {
            sandbox.inject(On::watch("widgets"), Fault::RefuseWatchList);
        }
        put(&sandbox, "shop", "a", "red");
        put(&sandbox, "shop", "b", "red");
        let scene = Scene::of(&sandbox.url()).await;
        scene
            .follows(async {
                scene.hears("end", 1).await;
                sandbox.clear_requests();
                let fault = sandbox.inject(On::watch("widgets"), Fault::Status(503));
                sandbox.define(widgets());
                sandbox.requested(is_watch).await;
                assert!(delete(&sandbox, "shop", "a"));
                put(&sandbox, "shop", "c", "blue");
                sandbox.compact();
                sandbox.lift(fault);
                scene.hears("end", 2).await;
            })
            .await;
        assert_eq!(scene.rows(), ["shop/b: red", "shop/c: blue"]);
        assert_eq!(scene.rows(), scene.fresh().await);
        // It was never in doubt for anybody.
        assert_eq!(scene.count("Replaced") + scene.count("Unreachable"), 0);
        assert!(scene.is_covered());
    }
}

#[tokio::test]
async fn history_that_is_gone_may_be_told_by_a_status_too() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    let scene = Scene::of(&sandbox.url()).await;
    scene
        .follows(async {
            scene.hears("end", 1).await;
            sandbox.clear_requests();
            sandbox.inject(On::watch("widgets").nth(1), Fault::Status(410));
            sandbox.define(widgets());
            scene.hears("end", 2).await;
            put(&sandbox, "shop", "b", "blue");
            scene.is_like_a_fresh_list().await;
        })
        .await;
    // The list is not older than what was known.
    let requests: Vec<_> = sandbox.requests().into_iter().filter(is_watch).collect();
    let again = requests.iter().find(|request| request.query.contains_key("sendInitialEvents"));
    assert!(again.unwrap().parameter("resourceVersion").parse::<u64>().unwrap() > 0);
}

#[tokio::test]
async fn every_resumption_asks_how_far_the_server_is() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    let scene = Scene::of(&sandbox.url()).await;
    scene
        .follows(async {
            scene.hears("end", 1).await;
            sandbox.clear_requests();
            sandbox.define(widgets());
            sandbox.requested(is_watch).await;
        })
        .await;
    let probe = sandbox.requests().into_iter().find(is_list).unwrap();
    assert_eq!((probe.parameter("limit"), probe.parameter("resourceVersion")), ("1", ""));
}

#[tokio::test]
async fn a_server_that_was_restored_from_a_backup_is_listed_without_a_version() {
    let (now, backup) = (sandbox(), sandbox());
    for number in 0..20 {
        put(&now, "shop", &format!("a{number}"), "red");
    }
    put(&now, "shop", "kept", "red");
    put(&backup, "shop", "kept", "blue");
    put(&backup, "mall", "returned", "green");
    assert!(backup.version() < now.version());
    let door = Door::to(&now).await;
    let scene = Scene::of(&door.url()).await;
    scene
        .follows(async {
            scene.hears("end", 1).await;
            assert_eq!(scene.rows().len(), 21);
            door.leads_to(&backup);
            scene.hears("Replaced", 1).await;
            scene.hears("recovered", 1).await;
            put(&backup, "mall", "new", "green");
            scene.is_like_a_fresh_list().await;
        })
        .await;
    assert_eq!(scene.rows(), ["mall/new: green", "mall/returned: green", "shop/kept: blue"]);
    assert!(scene.is_covered());
}

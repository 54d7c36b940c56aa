//! Inventories that share a directory, and leave it.

use std::thread;

use kollect_inventory::Change;
use kollect_sinks::{Farewell, SinkError, Wrote};
use serde_json::json;

use super::support::{Directory, Pair, all, files, row, since, tombstones, tree};

/// Trace 14.
#[test]
fn copies_that_were_kept_may_be_taken_over() {
    for farewell in [Farewell::Deleted, Farewell::Released] {
        let directory = Directory::new();
        let first = Pair::new(&directory, "first", tree());
        Pair::new(&directory, "first", tree()).export(all(&[row("shop", "web", 1)])).unwrap();
        let receipt = first.retire(farewell).unwrap();
        assert_eq!(receipt.wrote, Wrote::Nothing);
        assert_eq!(files(&directory), ["eu-1/shop/pod/web.yaml"]);
        assert_eq!(directory.names(".kollect"), [".lock", ".unfinished"]);
        let mut second = Pair::new(&directory, "second", tree());
        let receipt = second.export(all(&[row("shop", "web", 2)])).unwrap();
        assert_eq!(receipt.refused, []);
        assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 2\n");
    }
}

#[test]
fn copies_go_with_their_inventory_where_that_was_asked_for() {
    let directory = Directory::new();
    let mut settings = tree();
    settings["options"] = json!({"onInventoryDelete": "prune"});
    let mut pair = Pair::new(&directory, "web", settings);
    pair.export(all(&[row("shop", "web", 1), row("mail", "web", 1)])).unwrap();
    directory.write("eu-1/mail/mine", "a person's");
    assert_eq!(
        pair.retire(Farewell::Deleted).unwrap().wrote,
        Wrote::Files { written: 0, removed: 2 }
    );
    assert_eq!(files(&directory), ["eu-1/mail/mine"]);
    assert_eq!(
        pair.retire(Farewell::Deleted).unwrap().wrote,
        Wrote::Files { written: 0, removed: 0 }
    );
}

#[test]
fn a_path_belongs_to_one_inventory_at_a_time() {
    let directory = Directory::new();
    let mut first = Pair::new(&directory, "first", tree());
    first.export(all(&[row("shop", "web", 1)])).unwrap();
    let mut second = Pair::new(&directory, "second", tree());
    let receipt = second.export(all(&[row("shop", "web", 2), row("shop", "api", 2)])).unwrap();
    let reason = "the path \"eu-1/shop/pod/web.yaml\" of shop/second belongs to \
                  shop/first of cluster eu-1";
    assert_eq!(receipt.refused[0].reason, reason);
    assert_eq!(receipt.refused[0].identity.name, "web");
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 1\n");
    assert_eq!(directory.read("eu-1/shop/pod/api.yaml"), "value: 2\n");

    // It is still refused after other changes, and is not forgotten.
    let receipt = second.export(since(&[row("shop", "web", 3), row("shop", "new", 3)])).unwrap();
    assert_eq!(receipt.refused.len(), 1);
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 1\n");
    let before = directory.stamps();
    assert_eq!(second.export(since(&[])).unwrap().refused.len(), 1);
    assert_eq!(directory.stamps(), before);

    // Its owner leaves it, and even an export without a change takes it.
    first.export(all(&[])).unwrap();
    assert_eq!(files(&directory), ["eu-1/shop/pod/api.yaml", "eu-1/shop/pod/new.yaml"]);
    let receipt = second.export(since(&[])).unwrap();
    assert_eq!(
        (receipt.refused.len(), receipt.wrote),
        (0, Wrote::Files { written: 1, removed: 0 })
    );
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 3\n");
    let receipt = first.export(since(&[row("shop", "web", 1)])).unwrap();
    assert_eq!(receipt.refused.len(), 1);
}

#[test]
fn a_contested_row_that_goes_takes_nothing_with_it() {
    let directory = Directory::new();
    Pair::new(&directory, "first", tree()).export(all(&[row("shop", "web", 1)])).unwrap();
    let mut second = Pair::new(&directory, "second", tree());
    second.export(all(&[row("shop", "web", 2)])).unwrap();
    let deletes = tombstones(&[row("shop", "web", 2)]);
    let gone = Change::Since { upserts: vec![], deletes, partitions: vec![] };
    let receipt = second.export(gone).unwrap();
    assert_eq!(
        (receipt.refused.len(), receipt.wrote),
        (0, Wrote::Files { written: 0, removed: 0 })
    );
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 1\n");
}

#[test]
fn pairs_on_one_directory_take_turns() {
    let directory = Directory::new();
    // One of them has opened the directory on its own, as another process would.
    let apart = Directory::at(directory.path("."));
    thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let directory = if name == "d" { &apart } else { &directory };
            scope.spawn(move || {
                let mut pair = Pair::new(directory, name, tree());
                for value in 0..8 {
                    let rows = [row("shop", name, value)];
                    let change = if value == 0 { all(&rows) } else { since(&rows) };
                    // Who comes from elsewhere may find it occupied for long.
                    while let Err(error) = pair.export(change.clone()) {
                        assert!(matches!(error, SinkError::Unreachable { .. }), "{error}");
                    }
                }
            });
        }
    });
    assert_eq!(
        files(&directory),
        ["a", "b", "c", "d"].map(|name| format!("eu-1/shop/pod/{name}.yaml"))
    );
    assert!(files(&directory).iter().all(|path| directory.read(path) == "value: 7\n"));
}

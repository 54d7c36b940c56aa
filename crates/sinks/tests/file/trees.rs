//! A file for each row, and what a change of rows does to them.

use std::{fs, slice};

use kollect_inventory::{Change, PartitionChange, watermark::Trust};
use kollect_sinks::{SinkError, Wrote};
use proptest::prelude::*;
use serde_json::json;

use super::{
    support::{
        Directory, Pair, all, confined, document, export, files, partition, row, since, tombstones,
        tree,
    },
    view::{View, step},
};

#[test]
fn a_row_is_a_file_and_follows_it() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    let [web, api] = ["web", "api"].map(|name| row("shop", name, 1));
    let receipt = pair.export(all(&[web.clone(), api.clone()])).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 2, removed: 0 });
    assert_eq!(files(&directory), ["eu-1/shop/pod/api.yaml", "eu-1/shop/pod/web.yaml"]);

    let receipt = pair.export(since(&[row("shop", "web", 2)])).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 1, removed: 0 });
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 2\n");

    let deletes = tombstones(&[web, api]);
    let gone = Change::Since { upserts: vec![], deletes, partitions: vec![] };
    let receipt = pair.export(gone).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 0, removed: 2 });
    assert_eq!(directory.names("."), [".kollect"]);
    assert_eq!(directory.names(".kollect/eu-1/shop/web"), ["watermark"]);
}

#[test]
fn unchanged_files_are_untouched() {
    let directory = Directory::new();
    let rows: Vec<_> = (0..100).map(|at| row("shop", &format!("web-{at}"), 1)).collect();
    Pair::new(&directory, "web", tree()).export(all(&rows)).unwrap();
    let before = directory.stamps();

    let mut restarted = Pair::new(&directory, "web", tree());
    let receipt = restarted.export(all(&rows)).unwrap();
    assert_eq!((receipt.wrote, receipt.bytes), (Wrote::Nothing, 0));
    let receipt = restarted.export(since(&[])).unwrap();
    assert_eq!((receipt.wrote, receipt.bytes, receipt.statements), (Wrote::Nothing, 0, 0));
    assert_eq!(directory.stamps(), before);

    let mut compared = export("web", all(&rows));
    compared.trust = Trust::Nothing;
    let receipt = restarted.run(compared).unwrap();
    assert_eq!((receipt.wrote, receipt.statements), (Wrote::Files { written: 0, removed: 0 }, 1));
    let content = |stamps: &[(String, _)]| -> Vec<_> {
        stamps.iter().filter(|(path, _)| !path.ends_with("watermark")).cloned().collect()
    };
    assert_eq!(content(&directory.stamps()), content(&before));
}

#[test]
fn the_first_change_after_a_restart_costs_what_it_changes() {
    let directory = Directory::new();
    let rows: Vec<_> = (0..100).map(|at| row("shop", &format!("web-{at}"), 1)).collect();
    Pair::new(&directory, "web", tree()).export(all(&rows)).unwrap();
    let mut restarted = Pair::new(&directory, "web", tree());
    restarted.export(all(&rows)).unwrap();
    let receipt = restarted.export(since(&[row("shop", "web-7", 2)])).unwrap();
    assert_eq!((receipt.wrote, receipt.statements), (Wrote::Files { written: 1, removed: 0 }, 3));
}

#[test]
fn a_partial_change_needs_what_it_is_for() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    let error = pair.export(since(&[row("shop", "web", 1)])).unwrap_err();
    assert!(matches!(error, SinkError::OutOfStep), "{error}");
    pair.export(all(&[row("shop", "web", 1)])).unwrap();
    let mut restarted = Pair::new(&directory, "web", tree());
    restarted.expected = pair.expected.clone();
    restarted.writer.clone_from(&pair.writer);
    restarted.sequence = pair.sequence;
    let error = restarted.export(since(&[row("shop", "web", 2)])).unwrap_err();
    assert!(matches!(error, SinkError::OutOfStep), "{error}");
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 1\n");
}

#[test]
fn a_foreign_edit_is_repaired_by_a_comparison() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    let rows = ["a", "b", "c"].map(|name| row("shop", name, 1));
    pair.export(all(&rows)).unwrap();
    directory.write("eu-1/shop/pod/a.yaml", "value: 9\n");
    fs::remove_file(directory.path("eu-1/shop/pod/b.yaml")).unwrap();
    directory.write("eu-1/shop/pod/mine.yaml", "a person's\n");
    let mut compared = export("web", all(&rows));
    compared.trust = Trust::Nothing;
    let receipt = pair.run(compared).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 2, removed: 0 });
    assert_eq!(directory.read("eu-1/shop/pod/a.yaml"), "value: 1\n");
    assert_eq!(directory.read("eu-1/shop/pod/mine.yaml"), "a person's\n");
}

#[test]
fn files_are_removed_only_where_everything_is_known() {
    let directory = Directory::new();
    let rows = [row("shop", "web", 1), row("mail", "web", 1), row("gone", "web", 1)];
    Pair::new(&directory, "web", tree()).export(all(&rows)).unwrap();
    let mut restarted = Pair::new(&directory, "web", tree());
    let unsettled = confined(&[], &["shop"], &["mail"], false);
    restarted.export(unsettled).unwrap();
    assert_eq!(files(&directory), ["eu-1/gone/pod/web.yaml", "eu-1/mail/pod/web.yaml"]);
    restarted.export(confined(&[], &["shop"], &["mail"], true)).unwrap();
    assert_eq!(files(&directory), ["eu-1/mail/pod/web.yaml"]);
    // Trace 6: it heals, and what was deleted meanwhile goes.
    let healed = vec![(partition("mail"), PartitionChange::Replace(vec![row("mail", "new", 1)]))];
    let change = Change::Since { upserts: vec![], deletes: vec![], partitions: healed };
    restarted.export(change).unwrap();
    assert_eq!(files(&directory), ["eu-1/mail/pod/new.yaml"]);
    let dropped = vec![(partition("mail"), PartitionChange::Drop)];
    let change = Change::Since { upserts: vec![], deletes: vec![], partitions: dropped };
    let receipt = restarted.export(change).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 0, removed: 1 });
    assert_eq!(files(&directory), Vec::<String>::new());
}

#[test]
fn a_healed_partition_rewrites_nothing_that_is_as_it_should_be() {
    let directory = Directory::new();
    let rows = [row("shop", "web", 1), row("mail", "web", 1), row("mail", "old", 1)];
    Pair::new(&directory, "web", tree()).export(all(&rows)).unwrap();
    let mut restarted = Pair::new(&directory, "web", tree());
    restarted.export(confined(&rows[..1], &["shop"], &["mail"], true)).unwrap();
    let before = directory.stamp("eu-1/mail/pod/web.yaml");
    let healed = vec![(partition("mail"), PartitionChange::Replace(vec![rows[1].clone()]))];
    let change = Change::Since { upserts: vec![], deletes: vec![], partitions: healed };
    let receipt = restarted.export(change).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 0, removed: 1 });
    assert_eq!(directory.stamp("eu-1/mail/pod/web.yaml"), before);
    assert_eq!(files(&directory), ["eu-1/mail/pod/web.yaml", "eu-1/shop/pod/web.yaml"]);
}

#[test]
fn a_row_that_was_read_before_its_partition_keeps_its_file() {
    let directory = Directory::new();
    let mail = row("mail", "web", 1);
    Pair::new(&directory, "web", tree()).export(all(slice::from_ref(&mail))).unwrap();
    let mut restarted = Pair::new(&directory, "web", tree());
    restarted.export(confined(&[], &["shop"], &["mail"], true)).unwrap();
    restarted.export(since(slice::from_ref(&mail))).unwrap();
    let healed = vec![(partition("mail"), PartitionChange::Replace(vec![mail]))];
    let change = Change::Since { upserts: vec![], deletes: vec![], partitions: healed };
    restarted.export(change).unwrap();
    assert_eq!(files(&directory), ["eu-1/mail/pod/web.yaml"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever came before, a directory is as if it had been written at once.
    #[test]
    fn a_directory_fed_by_changes_is_the_one_written_at_once(
        steps in proptest::collection::vec(step(), 1..10),
        mode in proptest::sample::select(vec!["perResource", "split"]),
    ) {
        let settings = json!({"layout": {
            "mode": mode, "content": "attributes", "pathTemplate": "{sourceName}{extension}",
        }});
        let directory = Directory::new();
        let mut pair = Pair::new(&directory, "web", settings.clone());
        let mut view = View::default();
        pair.export(all(&[])).unwrap();
        for step in steps {
            let change = view.take(step).unwrap_or_else(|| {
                pair = Pair::new(&directory, "web", settings.clone());
                all(&view.rows())
            });
            pair.export(change).unwrap();
            let expected = Directory::new();
            Pair::new(&expected, "web", settings.clone()).export(all(&view.rows())).unwrap();
            prop_assert_eq!(directory.contents(), expected.contents());
        }
    }
}

/// Trace 4.
#[test]
fn another_layout_moves_everything() {
    let directory = Directory::new();
    let rows = [row("shop", "web", 1)];
    Pair::new(&directory, "web", tree()).export(all(&rows)).unwrap();
    let flat = json!({"layout": {
        "mode": "split", "content": "attributes", "pathTemplate": "{sourceName}{extension}",
    }});
    Pair::new(&directory, "web", flat).export(all(&rows)).unwrap();
    assert_eq!(files(&directory), ["inventory/shop/web.yaml", "web.yaml"]);
    Pair::new(&directory, "web", document("yaml")).export(all(&rows)).unwrap();
    assert_eq!(files(&directory), ["inventory/shop/web.yaml"]);
    assert!(directory.read("inventory/shop/web.yaml").starts_with("- attributes:"));
    Pair::new(&directory, "web", tree()).export(all(&rows)).unwrap();
    assert_eq!(files(&directory), ["eu-1/shop/pod/web.yaml"]);
}

#[test]
fn an_index_is_written_only_for_what_it_lists() {
    let directory = Directory::new();
    let split = json!({"layout": {"mode": "split", "content": "attributes"}});
    let mut pair = Pair::new(&directory, "web", split);
    let rows = [row("shop", "web", 1)];
    pair.export(all(&rows)).unwrap();
    let before = directory.stamp("inventory/shop/web.yaml");
    let mut compared = export("web", all(&rows));
    compared.trust = Trust::Nothing;
    pair.run(compared).unwrap();
    assert_eq!(directory.stamp("inventory/shop/web.yaml"), before);
    let receipt = pair.export(since(&[row("shop", "api", 1)])).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 2, removed: 0 });
    assert!(directory.read("inventory/shop/web.yaml").contains("itemCount: 2"));
}

#[test]
fn a_change_costs_the_same_in_a_small_and_in_a_large_tree() {
    let cost = |count: usize| {
        let directory = Directory::new();
        let mut pair = Pair::new(&directory, "web", tree());
        let rows: Vec<_> = (0..count).map(|at| row("shop", &format!("web-{at}"), 1)).collect();
        pair.export(all(&rows)).unwrap();
        let changed = pair.export(since(&[row("shop", "web-7", 2)])).unwrap();
        assert_eq!(changed.wrote, Wrote::Files { written: 1, removed: 0 });
        (changed.statements, changed.bytes)
    };
    let (small, large) = (cost(1_000), cost(20_000));
    assert_eq!(small.0, large.0);
    // The number of rows in the record has one digit more.
    assert_eq!(small.1 + 1, large.1);
}

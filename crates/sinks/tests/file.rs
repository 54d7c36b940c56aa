//! Copies in a directory: what is special about files.
//!
//! Traces and rules are those of the rules of change.

use std::{fs, os::unix::fs::symlink, slice};

use kollect_inventory::{Change, Effect, PartitionChange, watermark::Trust};
use kollect_sinks::{Farewell, Patience, Sink as _, SinkError, Wrote};
use serde_json::json;
use support::{
    Directory, Pair, all, attributes, confined, document, export, files, partition, row, since,
    tombstones, tree,
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

/// Trace 5, and the same for every other moment at which a process may die.
#[test]
fn an_export_that_was_killed_at_any_step_is_repaired() {
    let old = [row("shop", "stays", 1), row("shop", "goes", 1), row("shop", "changes", 1)];
    let new = [row("shop", "stays", 1), row("shop", "comes", 1), row("shop", "changes", 2)];
    // A first export has no record to mark.
    let moments = (0..=6).flat_map(|moment| [(moment, First::Yes), (moment, First::No)]);
    for (dead_after, first) in moments {
        for wanted in [&old[..], &new[..], &[]] {
            let directory = Directory::new();
            Pair::new(&directory, "web", tree()).export(all(&old)).unwrap();
            let after = Directory::new();
            Pair::new(&after, "web", tree()).export(all(&new)).unwrap();
            directory.advance(&after, dead_after);
            if first == First::Yes {
                fs::remove_file(directory.path(".kollect/eu-1/shop/web/watermark")).unwrap();
            }

            let mut restarted = Pair::new(&directory, "web", tree());
            let receipt = restarted.export(all(wanted)).unwrap();
            assert_eq!(receipt.warnings, Vec::<String>::new());
            let expected = Directory::new();
            Pair::new(&expected, "web", tree()).export(all(wanted)).unwrap();
            assert_eq!(directory.contents(), expected.contents(), "dead after {dead_after}");
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum First {
    Yes,
    No,
}

#[test]
fn what_a_killed_process_left_unfinished_goes() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    pair.export(all(&[row("shop", "web", 1)])).unwrap();
    directory.write(".kollect/.unfinished/0", "half a fi");
    directory.write(".kollect/.unfinished/1999", "");
    let mut compared = export("web", all(&[row("shop", "web", 1)]));
    compared.trust = Trust::Nothing;
    pair.run(compared).unwrap();
    assert_eq!(directory.names(".kollect/.unfinished"), Vec::<String>::new());
}

#[test]
fn an_export_that_nobody_waits_for_ends_where_it_is() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    pair.export(all(&[row("shop", "web", 1)])).unwrap();
    let abandoned = export("web", since(&[row("shop", "web", 2)]));
    abandoned.progress.abandon();
    let error = pair.run(abandoned).unwrap_err();
    assert_eq!(error.effect(), Effect::None);
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 1\n");
}

#[test]
fn a_broken_list_removes_nothing_and_is_written_anew() {
    let directory = Directory::new();
    let rows: Vec<_> = (0..5).map(|at| row("shop", &format!("web-{at}"), 1)).collect();
    Pair::new(&directory, "web", tree()).export(all(&rows)).unwrap();
    for shard in directory.names(".kollect/eu-1/shop/web") {
        directory.write(&format!(".kollect/eu-1/shop/web/{shard}"), "broken");
    }
    let receipt = Pair::new(&directory, "web", tree()).export(all(&rows[..1])).unwrap();
    assert_eq!(receipt.warnings.len(), 6, "{:?}", receipt.warnings);
    assert_eq!(files(&directory).len(), 5);
    assert_eq!(directory.names(".kollect/eu-1/shop/web").len(), 2);
    let receipt = Pair::new(&directory, "web", tree()).export(all(&[])).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 0, removed: 1 });
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
fn a_document_whose_path_is_taken_is_refused() {
    let directory = Directory::new();
    let objects = json!({"layout": {
        "mode": "perResource", "pathTemplate": "inventory/{sourceNamespace}/{sourceName}{extension}",
    }});
    Pair::new(&directory, "first", objects).export(all(&[row("shop", "second", 1)])).unwrap();
    let mut second = Pair::new(&directory, "second", document("yaml"));
    let error = second.export(all(&[])).unwrap_err();
    let expected = "the destination rejected the export: the path \
                    \"inventory/shop/second.yaml\" of shop/second belongs to shop/first of cluster eu-1";
    assert_eq!((error.to_string().as_str(), error.effect()), (expected, Effect::None));
}

#[test]
fn a_link_does_not_lead_out() {
    let outside = tempfile::tempdir().unwrap();
    let directory = Directory::new();
    fs::create_dir_all(directory.path("eu-1/mail/pod")).unwrap();
    symlink(outside.path(), directory.path("eu-1/shop")).unwrap();
    fs::write(outside.path().join("theirs"), "theirs").unwrap();
    symlink(outside.path().join("theirs"), directory.path("eu-1/mail/pod/web.yaml")).unwrap();
    let mut pair = Pair::new(&directory, "web", tree());
    let receipt = pair.export(all(&[row("shop", "web", 1), row("mail", "web", 1)])).unwrap();
    assert_eq!(receipt.refused.len(), 1);
    assert_eq!(receipt.refused[0].identity.namespace, "shop");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(outside.path().join("theirs")).unwrap(), "theirs");
    assert_eq!(directory.read("eu-1/mail/pod/web.yaml"), "value: 1\n");
    assert!(fs::symlink_metadata(directory.path("eu-1/mail/pod/web.yaml")).unwrap().is_file());
}

#[test]
fn a_row_whose_path_cannot_be_used_is_refused_alone() {
    let directory = Directory::new();
    fs::create_dir_all(directory.path("directory")).unwrap();
    directory.write("directory/mine", "a person's");
    directory.write("file", "a person's");
    let bare = json!({"layout": {
        "mode": "perResource", "content": "attributes",
        "pathTemplate": "{targetName}/{sourceName}", "filename": {"maxSegmentLength": 255},
    }});
    let mut settings = bare;
    settings["layout"]["pathTemplate"] = json!("{sourceName}/{uid}");
    let long = "n".repeat(253);
    let names = ["file", "fine", long.as_str()];
    let mut rows: Vec<_> = names.iter().map(|name| row("shop", name, 1)).collect();
    let mut pair = Pair::new(&directory, "web", settings.clone());
    let receipt = pair.export(all(&rows)).unwrap();
    let refused: Vec<_> = receipt.refused.iter().map(|row| &*row.identity.name).collect();
    assert_eq!(refused, ["file"]);
    assert_eq!(directory.read("file"), "a person's");
    // Out of the way, it comes with the next export, whatever that is about.
    fs::remove_file(directory.path("file")).unwrap();
    rows.push(row("shop", "other", 1));
    let receipt = pair.export(since(&rows[3..])).unwrap();
    assert_eq!(
        (receipt.refused.len(), receipt.wrote),
        (0, Wrote::Files { written: 2, removed: 0 })
    );

    settings["layout"]["pathTemplate"] = json!("{sourceName}");
    let mut flat = Pair::new(&directory, "flat", settings);
    let receipt = flat.export(all(&[row("shop", "directory", 1), row("shop", "x", 1)])).unwrap();
    assert_eq!(receipt.refused.len(), 1);
    assert_eq!(directory.read("directory/mine"), "a person's");
    let before = directory.stamps();
    assert_eq!(flat.export(since(&[])).unwrap().refused.len(), 1);
    assert_eq!(directory.stamps(), before);
}

#[test]
fn too_long_a_name_is_refused_alone() {
    let directory = Directory::new();
    let settings = json!({"layout": {
        "mode": "perResource", "content": "attributes",
        "pathTemplate": "{sourceName}-{sourceName}", "filename": {"maxSegmentLength": 255},
    }});
    let rows = [row("shop", &"n".repeat(253), 1), row("shop", "web", 1)];
    let receipt = Pair::new(&directory, "web", settings).export(all(&rows)).unwrap();
    assert_eq!(receipt.refused.len(), 1);
    assert_eq!(files(&directory), ["web-web"]);
}

#[test]
fn a_file_makes_room_for_a_folder_of_its_name_and_back() {
    let directory = Directory::new();
    let template = |text: &str| json!({"layout": {"mode": "perResource", "content": "attributes", "pathTemplate": text}});
    let rows = [row("shop", "web", 1)];
    for (text, expected) in
        [("{sourceName}", "web"), ("{sourceName}/{uid}", "web/shop-web"), ("{sourceName}", "web")]
    {
        let receipt = Pair::new(&directory, "web", template(text)).export(all(&rows)).unwrap();
        assert_eq!((receipt.refused.len(), files(&directory)), (0, vec![expected.to_owned()]));
    }
}

#[test]
fn hostile_names_stay_where_they_belong() {
    let directory = Directory::new();
    let settings = json!({"layout": {
        "mode": "perResource", "content": "attributes", "pathTemplate": "{sourceName}/{uid}{extension}",
    }});
    let long = "n".repeat(253);
    let names = [
        "../../etc/passwd",
        "/etc/passwd",
        "a/b",
        "..",
        ".",
        ".kollect",
        ".git",
        "CON",
        "a\\b",
        "ünïcode-日本",
        "tab\tnew\nline",
        &long,
        "x:y",
        " ",
        "-rf",
        "watermark",
        "~",
        "$HOME",
    ];
    let rows: Vec<_> = names.iter().zip(1..).map(|(name, at)| row("shop", name, at)).collect();
    let mut pair = Pair::new(&directory, "web", settings);
    let receipt = pair.export(all(&rows)).unwrap();
    assert_eq!(receipt.refused, []);
    assert_eq!(receipt.wrote, Wrote::Files { written: names.len() as u64, removed: 0 });
    let watermark = directory.read(".kollect/eu-1/shop/web/watermark");
    assert!(watermark.starts_with('{'), "{watermark}");
    assert_eq!(directory.names(".kollect"), [".lock", ".unfinished", "eu-1"]);
    let receipt = Pair::new(&directory, "web", json!({"layout": {
        "mode": "perResource", "content": "attributes", "pathTemplate": "{sourceName}/{uid}{extension}",
    }}))
    .export(all(&[]))
    .unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 0, removed: names.len() as u64 });
    assert_eq!(directory.names("."), [".kollect"]);
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

#[test]
fn a_document_is_written_when_it_changes() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", document("json"));
    let receipt = pair.export(all(&[])).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 1, removed: 0 });
    let path = "inventory/shop/web.json";
    let text = directory.read(path);
    assert!(
        text.contains(
            "\"itemCount\":0,\"exportedAt\":\"2026-01-01T00:00:00Z\",\"cluster\":\"eu-1\""
        ),
        "{text}"
    );
    pair.rows = vec![row("shop", "web", 1)];
    pair.export(since(&[row("shop", "web", 1)])).unwrap();
    let before = directory.stamp(path);
    let mut later = export("web", all(&[row("shop", "web", 1)]));
    later.trust = Trust::Nothing;
    later.at = "2026-01-02T00:00:00Z".parse().unwrap();
    let receipt = pair.run(later).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 0, removed: 0 });
    assert_eq!(directory.stamp(path), before);
    let mut edited = export("web", all(&[row("shop", "web", 1)]));
    edited.generation = 8;
    pair.run(edited).unwrap();
    assert!(directory.read(path).contains("\"generation\":8"));
}

#[test]
fn a_document_is_cut_and_becomes_one_again() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", document("json"));
    let mut rows: Vec<_> = (0..12).map(|at| row("shop", &format!("web-{at:02}"), 1)).collect();
    let cut = |rows: &[_], limit| {
        let mut export = export("web", all(rows));
        export.limit = limit;
        export
    };
    pair.run(cut(&rows, None)).unwrap();
    assert_eq!(files(&directory), ["inventory/shop/web.json"]);
    pair.run(cut(&rows, Some(1000))).unwrap();
    let parts = files(&directory);
    assert!(parts.len() > 2 && parts.iter().all(|part| part.contains(".part-000")), "{parts:?}");
    let before = directory.stamps();
    rows[11] = row("shop", "web-11", 2);
    let receipt = pair.run(cut(&rows, Some(1000))).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 1, removed: 0 });
    assert_eq!(
        directory.stamps().iter().filter(|one| before.contains(one)).count(),
        before.len() - 2
    );
    let large = "x".repeat(2000);
    rows.push(row("shop", &large, 1));
    let receipt = pair.run(cut(&rows, Some(1000))).unwrap();
    assert_eq!(receipt.refused.len(), 1);
    assert!(receipt.refused[0].reason.ends_with("and 1000 are allowed"));
    let receipt = pair.run(cut(&rows, None)).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 1, removed: parts.len() as u64 });
    assert_eq!(files(&directory), ["inventory/shop/web.json"]);
}

/// R5 for documents.
#[test]
fn a_document_waits_for_what_it_held_and_then_carries_it_over() {
    for format in ["json", "yaml", "ndjson"] {
        let directory = Directory::new();
        let (web, mail) = (row("shop", "web", 1), row("mail", "web", 1));
        let path = format!("inventory/shop/web.{format}");
        let both = |change| {
            let mut export = export("web", change);
            support::set_rows(&mut export, &[web.clone(), mail.clone()], &["mail", "shop"], &[]);
            export
        };
        Pair::new(&directory, "web", document(format))
            .run(both(all(&[web.clone(), mail.clone()])))
            .unwrap();
        let before = directory.read(&path);

        let mut restarted = Pair::new(&directory, "web", document(format));
        let changed = row("shop", "web", 2);
        let partial = |patience| {
            let change = confined(slice::from_ref(&changed), &["shop"], &["mail"], true);
            let mut export = export("web", change);
            support::set_rows(&mut export, slice::from_ref(&changed), &["shop"], &["mail"]);
            export.patience = patience;
            export
        };
        let error = restarted.run(partial(Patience::Waits)).unwrap_err();
        assert!(
            matches!(&error, SinkError::Waiting(held) if *held == [partition("mail")]),
            "{error}"
        );
        assert_eq!(directory.read(&path), before);
        restarted.run(partial(Patience::IsOver)).unwrap();
        let carried = directory.read(&path);
        assert!(carried.contains("mail") && carried != before, "{carried}");
        let watermark = directory.read(".kollect/eu-1/shop/web/watermark");
        assert!(watermark.contains("\"missing\":[{\"namespace\":\"mail\""), "{watermark}");
        assert!(!watermark.contains("digest"), "{watermark}");

        // A partial change goes on carrying it, and a restart waits again.
        let mut change = partial(Patience::Waits);
        change.change = since(&[row("shop", "web", 3)]).into();
        support::set_rows(&mut change, &[row("shop", "web", 3)], &["shop"], &["mail"]);
        restarted.run(change).unwrap();
        assert!(directory.read(&path).contains("mail"));
        let error = Pair::new(&directory, "web", document(format))
            .run(partial(Patience::Waits))
            .unwrap_err();
        assert!(matches!(error, SinkError::Waiting(_)), "{error}");

        // It has been read: its rows are what they are.
        let mut healed = export("web", all(slice::from_ref(&web)));
        support::set_rows(&mut healed, slice::from_ref(&web), &["mail", "shop"], &[]);
        Pair::new(&directory, "web", document(format)).run(healed).unwrap();
        assert!(!directory.read(&path).contains("mail"));
    }
}

#[test]
fn a_document_keeps_what_may_be_there_while_nobody_knows() {
    let directory = Directory::new();
    let path = "inventory/shop/web.yaml";
    let rows = [row("mail", "web", 1)];
    Pair::new(&directory, "web", document("yaml")).export(all(&rows)).unwrap();
    // The namespaces have not been listed: that of the row is in neither list.
    let mut early = export("web", confined(&[], &["shop"], &[], false));
    support::set_confines(&mut early, &[], &["shop"], false);
    early.patience = Patience::Waits;
    let mut restarted = Pair::new(&directory, "web", document("yaml"));
    let error = restarted.run(early.clone()).unwrap_err();
    assert!(matches!(error, SinkError::Waiting(_)), "{error}");
    early.patience = Patience::IsOver;
    restarted.run(early).unwrap();
    assert!(directory.read(path).contains("namespace: mail"));
}

#[test]
fn a_document_that_cannot_be_written_leaves_the_old_one() {
    let directory = Directory::new();
    let rows = [row("shop", "web", 1)];
    Pair::new(&directory, "web", document("yaml")).export(all(&rows)).unwrap();
    directory.write("copies/shop/web/mine", "a person's");
    let mut moved = document("yaml");
    moved["pathTemplate"] = json!("copies/{namespace}/{name}");
    let error = Pair::new(&directory, "web", moved.clone()).export(all(&rows)).unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown);
    assert_eq!(files(&directory), ["copies/shop/web/mine", "inventory/shop/web.yaml"]);
    fs::remove_dir_all(directory.path("copies")).unwrap();
    Pair::new(&directory, "web", moved.clone()).export(all(&rows)).unwrap();
    assert_eq!(files(&directory), ["copies/shop/web"]);
    moved["pathTemplate"] = json!("copies/{namespace}/{name}/all");
    Pair::new(&directory, "web", moved).export(all(&rows)).unwrap();
    assert_eq!(files(&directory), ["copies/shop/web/all"]);
}

#[test]
fn another_process_is_kept_out_and_says_so() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    pair.export(all(&[row("shop", "web", 1)])).unwrap();
    let lock = fs::File::open(directory.path(".kollect/.lock")).unwrap();
    lock.lock().unwrap();
    let error = pair.export(since(&[row("shop", "web", 2)])).unwrap_err();
    assert_eq!(error.effect(), Effect::None);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.starts_with("another process is writing to "), "{cause}");
    lock.unlock().unwrap();
    pair.export(since(&[row("shop", "web", 2)])).unwrap();
}

#[test]
fn a_second_writer_is_noticed() {
    let directory = Directory::new();
    let mut first = Pair::new(&directory, "web", tree());
    first.export(all(&[row("shop", "web", 1)])).unwrap();
    let mut second = Pair::new(&directory, "web", tree());
    second.export(all(&[row("shop", "web", 2)])).unwrap();
    let error = first.export(since(&[row("shop", "web", 3)])).unwrap_err();
    assert!(matches!(error, SinkError::Conflict { .. }), "{error}");
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 2\n");
}

#[test]
fn a_missing_directory_is_made_and_a_file_in_its_place_is_not_replaced() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        let directory = Directory::at(root.path().join(name));
        let pair = Pair::new(&directory, "web", tree());
        support::block_on(pair.sink.probe())
    };
    let said = at("a/b").unwrap();
    assert!(said.starts_with("files can be written to "), "{said}");
    fs::write(root.path().join("file"), "a person's").unwrap();
    assert!(at("file").is_err());
    assert!(at("file/below").is_err());
}

#[test]
fn rows_that_can_have_no_file_are_named_until_they_can() {
    let directory = Directory::new();
    let manifests = json!({"layout": {"mode": "perResource", "content": "manifest"}});
    let mut pair = Pair::new(&directory, "web", manifests);
    let good = attributes("shop", "good", &json!({"resource": {"kind": "Pod"}}));
    let bad = attributes("shop", "bad", &json!({}));
    assert_eq!(pair.export(all(&[good, bad])).unwrap().refused.len(), 1);
    assert!(!directory.read(".kollect/eu-1/shop/web/watermark").contains("digest"));
    let other = attributes("shop", "other", &json!({"resource": {"kind": "Pod"}}));
    assert_eq!(pair.export(since(&[other])).unwrap().refused.len(), 1);
    let mended = attributes("shop", "bad", &json!({"resource": {"kind": "Pod"}}));
    assert_eq!(pair.export(since(&[mended])).unwrap().refused.len(), 0);
    assert_eq!(files(&directory).len(), 3);
}

#[cfg(test)]
mod support {
    use std::{
        collections::BTreeMap,
        os::unix::fs::MetadataExt as _,
        path::{Path, PathBuf},
        sync::Arc,
    };

    use kollect_inventory::{
        Confines, Content, Dedupe, Digest, Freshness, Identity, PartitionKey, Row, Store, Sweep,
        TargetKey, Tombstone, Watermark, sort, watermark::Expected,
    };
    use kollect_sinks::{
        Document, Export, FileDestination, FileSink, InventoryKey, Progress, Receipt, Schema,
    };
    use serde_json::Value;
    use tempfile::TempDir;

    use super::*;

    /// A directory that copies are written to.
    pub(super) struct Directory {
        root: PathBuf,
        destination: Arc<FileDestination>,
        _made: Option<TempDir>,
    }

    impl Directory {
        pub(super) fn new() -> Self {
            let made = tempfile::tempdir().unwrap();
            let root = made.path().to_owned();
            Self { _made: Some(made), ..Self::at(root) }
        }

        pub(super) fn at(root: PathBuf) -> Self {
            let destination = Arc::new(FileDestination::new(root.clone()));
            Self { root, destination, _made: None }
        }

        pub(super) fn path(&self, path: &str) -> PathBuf {
            self.root.join(path)
        }

        pub(super) fn read(&self, path: &str) -> String {
            fs::read_to_string(self.path(path)).unwrap()
        }

        pub(super) fn write(&self, path: &str, text: &str) {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            fs::write(self.path(path), text).unwrap();
        }

        pub(super) fn names(&self, path: &str) -> Vec<String> {
            let entries = fs::read_dir(self.path(path)).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }

        /// Everything but the watermarks and what stands for the lock.
        pub(super) fn contents(&self) -> BTreeMap<String, String> {
            let files = walk(&self.root, &self.root);
            let kept = files.into_iter().filter(|path| !path.ends_with("/watermark"));
            kept.map(|path| (path.clone(), self.read(&path))).collect()
        }

        /// What would change if a file were touched.
        pub(super) fn stamp(&self, path: &str) -> (i64, i64, u64) {
            let found = fs::symlink_metadata(self.path(path)).unwrap();
            (found.mtime(), found.mtime_nsec(), found.ino())
        }

        pub(super) fn stamps(&self) -> Vec<(String, (i64, i64, u64))> {
            let files = walk(&self.root, &self.root);
            files.into_iter().map(|path| (path.clone(), self.stamp(&path))).collect()
        }

        /// Does what an export does up to a step on the way to another state.
        pub(super) fn advance(&self, after: &Self, steps: usize) {
            let (before, then) = (self.contents(), after.contents());
            let ours = |path: &str| path.starts_with(".kollect");
            let watermark = ".kollect/eu-1/shop/web/watermark";
            if steps >= 1 {
                self.write(watermark, &self.read(watermark).replace(":false", ":true"));
            }
            if steps >= 2 {
                for (path, lines) in then.iter().filter(|(path, _)| ours(path)) {
                    let mut union: Vec<_> = lines.lines().collect();
                    union.extend(before.get(path).into_iter().flat_map(|lines| lines.lines()));
                    union.sort_unstable();
                    union.dedup();
                    self.write(path, &(union.join("\n") + "\n"));
                }
            }
            let written = then.iter().filter(|(path, _)| !ours(path));
            let written: Vec<_> =
                written.filter(|(path, text)| before.get(*path) != Some(text)).collect();
            let count = match steps {
                0..=2 => 0,
                3 => 1,
                _ => written.len(),
            };
            for (path, text) in written.into_iter().take(count) {
                self.write(path, text);
            }
            let gone = |path: &&String| !then.contains_key(*path);
            if steps >= 5 {
                for path in before.keys().filter(gone).filter(|path| !ours(path)) {
                    fs::remove_file(self.path(path)).unwrap();
                }
            }
            if steps >= 6 {
                for path in before.keys().filter(gone).filter(|path| ours(path)) {
                    fs::remove_file(self.path(path)).unwrap();
                }
                for (path, lines) in then.iter().filter(|(path, _)| ours(path)) {
                    self.write(path, lines);
                }
            }
        }
    }

    fn walk(folder: &Path, root: &Path) -> Vec<String> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                paths.extend(walk(&entry.path(), root));
            } else {
                paths.push(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
        paths.retain(|path| path != ".kollect/.lock");
        paths.sort();
        paths
    }

    /// The files that are not our own.
    pub(super) fn files(directory: &Directory) -> Vec<String> {
        let mut files = walk(&directory.root, &directory.root);
        files.retain(|path| !path.starts_with(".kollect/"));
        files
    }

    /// One inventory in one process.
    pub(super) struct Pair {
        pub(super) sink: FileSink,
        inventory: InventoryKey,
        pub(super) writer: Arc<str>,
        pub(super) sequence: i64,
        pub(super) expected: Expected,
        pub(super) rows: Vec<Row>,
    }

    impl Pair {
        pub(super) fn new(directory: &Directory, name: &str, settings: Value) -> Self {
            static PROCESSES: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(1);
            let process = PROCESSES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let mut spec = json!({"type": "file", "file": {"path": "/x"}, "cluster": "eu-1"});
            spec.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
            let spec = serde_json::from_value(spec).unwrap();
            Self {
                sink: FileSink::new(Arc::clone(&directory.destination), spec),
                inventory: InventoryKey { namespace: "shop".into(), name: name.into() },
                writer: format!("writer-{process:06}").into(),
                sequence: 1_000_000_000_000 + 1_000_000 * process,
                expected: Expected::Unread,
                rows: Vec::new(),
            }
        }

        pub(super) fn export(&mut self, change: Change) -> Result<Receipt, SinkError> {
            let mut export = export(&self.inventory.name, change);
            if matches!(*export.change, Change::Since { .. }) {
                let rows = self.rows.clone();
                set_rows(&mut export, &rows, &["gone", "mail", "shop"], &[]);
            }
            self.run(export)
        }

        pub(super) fn run(&mut self, mut export: Export) -> Result<Receipt, SinkError> {
            let verifies = export.change.is_empty();
            export.inventory = self.inventory.clone();
            export.writer = Arc::clone(&self.writer);
            export.expected = self.expected.clone();
            self.sequence += i64::from(!verifies);
            export.watermark.sequence = self.sequence;
            let receipt = block_on(self.sink.export(&export))?;
            self.expected = receipt.token.clone().map_or(Expected::Nothing, Expected::Token);
            Ok(receipt)
        }

        pub(super) fn retire(&self, farewell: Farewell) -> Result<Receipt, SinkError> {
            block_on(self.sink.retire(&self.inventory, farewell))
        }
    }

    pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(future)
    }

    pub(super) fn tree() -> Value {
        json!({"layout": {"mode": "perResource", "content": "attributes"}})
    }

    pub(super) fn document(format: &str) -> Value {
        json!({"layout": {"mode": "document"}, "serialization": {"format": format}})
    }

    pub(super) fn row(namespace: &str, name: &str, value: i64) -> Row {
        attributes(namespace, name, &json!({ "value": value }))
    }

    pub(super) fn attributes(namespace: &str, name: &str, attributes: &Value) -> Row {
        let identity = Identity {
            target_namespace: namespace.into(),
            target_name: "pods".into(),
            namespace: namespace.into(),
            name: name.into(),
            uid: format!("{namespace}-{name}").into(),
            group: "".into(),
            version: "v1".into(),
            kind: "Pod".into(),
        };
        Row::of_value(&identity, attributes)
    }

    pub(super) fn partition(namespace: &str) -> PartitionKey {
        let target = TargetKey { namespace: Some(namespace.into()), name: "pods".into() };
        PartitionKey { target, namespace: namespace.into() }
    }

    fn confines(covered: &[&str], uncovered: &[&str], settled: bool) -> Confines {
        let keys = |names: &[&str]| names.iter().map(|name| partition(name)).collect();
        Confines { covered: keys(covered), uncovered: keys(uncovered), settled }
    }

    /// A comparison with all rows of a view that is known in full.
    pub(super) fn all(rows: &[Row]) -> Change {
        confined(rows, &["gone", "mail", "shop"], &[], true)
    }

    pub(super) fn confined(
        rows: &[Row],
        covered: &[&str],
        uncovered: &[&str],
        settled: bool,
    ) -> Change {
        Change::All { rows: rows.to_vec(), confines: confines(covered, uncovered, settled) }
    }

    pub(super) fn since(rows: &[Row]) -> Change {
        Change::Since { upserts: rows.to_vec(), deletes: vec![], partitions: vec![] }
    }

    /// What is left of rows once they are gone.
    pub(super) fn tombstones(rows: &[Row]) -> Vec<Tombstone> {
        let mut store = Store::new(1);
        let view = store.add_view(Dedupe::KeepAll);
        let inside = store.join(&partition(&rows[0].identity().namespace));
        store.attach(view, inside);
        store.settle(view);
        let list = store.begin_list(inside);
        let freshness = |version| Freshness { list, version };
        for row in rows {
            store.upsert(inside, freshness(1), row);
        }
        store.end_list(inside, list, Sweep::Yes);
        let cursor = store.open_cursor(view);
        let batch = store.gather(cursor, usize::MAX).unwrap();
        store.acknowledge(cursor, batch.ticket);
        for row in rows {
            store.delete(inside, freshness(2), &row.identity().name);
        }
        match store.gather(cursor, usize::MAX).unwrap().change {
            Change::Since { deletes, .. } => deletes,
            Change::All { .. } => panic!("the cursor was lost"),
        }
    }

    pub(super) fn export(name: &str, change: Change) -> Export {
        let rows = match &change {
            Change::All { rows, .. } => rows.clone(),
            Change::Since { upserts, .. } => upserts.clone(),
        };
        let (covered, uncovered) = match &change {
            Change::All { confines, .. } => (confines.covered.clone(), confines.uncovered.clone()),
            Change::Since { .. } => (vec![], vec![]),
        };
        let digest = rows.iter().fold(Digest::EMPTY, |sum, row| sum.with(row.hash()));
        let content = Some(Content { rows: rows.len(), digest }).filter(|_| uncovered.is_empty());
        let confines = Confines { covered, uncovered, settled: true };
        let mut sorted = rows;
        sort(&mut sorted);
        Export {
            inventory: InventoryKey { namespace: "shop".into(), name: name.into() },
            generation: 7,
            schema: Arc::new(Schema::default()),
            change: Arc::new(change),
            watermark: Watermark { sequence: 0, content },
            document: Some(Arc::new(Document { rows: sorted, confines })),
            limit: None,
            expected: Expected::Unread,
            writer: "".into(),
            trust: Trust::Record,
            patience: Patience::IsOver,
            at: "2026-01-01T00:00:00Z".parse().unwrap(),
            progress: Progress::default(),
        }
    }

    /// Says what the whole view holds.
    pub(super) fn set_rows(
        export: &mut Export,
        rows: &[Row],
        covered: &[&str],
        uncovered: &[&str],
    ) {
        let mut rows = rows.to_vec();
        sort(&mut rows);
        let digest = rows.iter().fold(Digest::EMPTY, |sum, row| sum.with(row.hash()));
        let content = Content { rows: rows.len(), digest };
        export.watermark.content = Some(content).filter(|_| uncovered.is_empty());
        let confines = confines(covered, uncovered, true);
        export.document = Some(Arc::new(Document { rows, confines }));
    }

    /// Says what is known of a view that is not settled.
    pub(super) fn set_confines(export: &mut Export, rows: &[Row], covered: &[&str], settled: bool) {
        export.watermark.content = None;
        let confines = confines(covered, &[], settled);
        export.document = Some(Arc::new(Document { rows: rows.to_vec(), confines }));
    }
}

//! Documents, and parts of them.

use std::{fs, slice};

use kollect_inventory::{Effect, watermark::Trust};
use kollect_sinks::{Patience, SinkError, Wrote};
use serde_json::json;

use super::support::{
    Directory, Pair, all, attributes, confined, document, export, files, partition, row,
    set_confines, set_rows, since,
};

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
            set_rows(&mut export, &[web.clone(), mail.clone()], &["mail", "shop"], &[]);
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
            set_rows(&mut export, slice::from_ref(&changed), &["shop"], &["mail"]);
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
        set_rows(&mut change, &[row("shop", "web", 3)], &["shop"], &["mail"]);
        restarted.run(change).unwrap();
        assert!(directory.read(&path).contains("mail"));
        let error = Pair::new(&directory, "web", document(format))
            .run(partial(Patience::Waits))
            .unwrap_err();
        assert!(matches!(error, SinkError::Waiting(_)), "{error}");

        // It has been read: its rows are what they are.
        let mut healed = export("web", all(slice::from_ref(&web)));
        set_rows(&mut healed, slice::from_ref(&web), &["mail", "shop"], &[]);
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
    set_confines(&mut early, &[], &["shop"], false);
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
fn a_row_that_a_document_cannot_hold_is_refused_alone() {
    let directory = Directory::new();
    let mut deep = json!(1);
    for _ in 0..150 {
        deep = json!([deep]);
    }
    let rows = [attributes("shop", "deep", &deep), row("shop", "web", 1)];
    let mut pair = Pair::new(&directory, "web", document("yaml"));
    let receipt = pair.export(all(&rows)).unwrap();
    assert_eq!(receipt.refused.len(), 1);
    assert_eq!(receipt.refused[0].identity.name, "deep");
    assert!(directory.read("inventory/shop/web.yaml").contains("name: web"));
    assert!(!directory.read(".kollect/eu-1/shop/web/watermark").contains("digest"));
}

//! Paths that cannot be used, or should lead elsewhere.

use std::{fs, os::unix::fs::symlink};

use kollect_sinks::{Sink as _, Wrote};
use serde_json::json;

use super::support::{Directory, Pair, all, attributes, block_on, files, row, since, tree};

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
fn a_missing_directory_is_made_and_a_file_in_its_place_is_not_replaced() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        let directory = Directory::at(root.path().join(name));
        let mut pair = Pair::new(&directory, "web", tree());
        let said = block_on(pair.sink.probe());
        (
            said,
            fs::exists(root.path().join(name)).is_ok_and(|is_there| is_there),
            pair.export(all(&[])),
        )
    };
    let (said, is_made, exported) = at("a/b");
    assert!(said.unwrap().starts_with("files can be written to "));
    assert!(!is_made, "a probe makes nothing");
    exported.unwrap();
    fs::write(root.path().join("file"), "a person's").unwrap();
    for name in ["file", "file/below"] {
        let (said, _, exported) = at(name);
        assert!(said.is_err() && exported.is_err());
    }
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

//! Files at a destination, byte for byte.
//!
//! What lies in `fixtures/contract` is a promise to whoever reads our copies:
//! to change a file there is to break the export contract.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kollect_api::Format;
use kollect_inventory::{Identity, Row};
use kollect_sinks::{
    encode::{self, Content},
    layout::{manifest::SetManifest, path::Edition},
};
use serde_json::json;
use support::{
    as_yaml, at_rest, check, config_map, deployments, directory_of, exported_at, inventory, layout,
    recorded, recorded_tree, tree_of, vector, web_stack, with_resources,
};

#[test]
fn every_layout_is_as_recorded() {
    for mode in ["document", "perResource", "split"] {
        for content in ["item", "attributes", "manifest"] {
            for format in ["yaml", "json", "ndjson"] {
                let rows = if content == "manifest" { with_resources() } else { web_stack() };
                let settings = json!({"mode": mode, "content": content});
                let found = tree_of(&layout(format, settings), &rows);
                let name = format!("layouts/{mode}/{content}/{format}");
                assert_eq!(at_rest(&found), at_rest(&recorded_tree(&name)), "{name}");
            }
        }
    }
}

#[test]
fn a_directory_is_as_recorded() {
    for mode in ["document", "perResource", "split"] {
        for content in ["item", "attributes", "manifest"] {
            for format in ["yaml", "json", "ndjson"] {
                let rows = if content == "manifest" { with_resources() } else { web_stack() };
                let mut sink = json!({
                    "type": "file", "file": {"path": "/x"}, "serialization": {"format": format},
                    "layout": {"mode": mode, "content": content},
                });
                // The recorded documents do not name their cluster.
                if mode != "document" {
                    sink["cluster"] = json!("eu-1");
                }
                let name = format!("layouts/{mode}/{content}/{format}");
                assert_eq!(
                    at_rest(&directory_of(sink, rows)),
                    at_rest(&recorded_tree(&name)),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn the_contract_gives_lengths_and_digests() {
    for (name, length, digest) in [
        (
            "layouts/document/item/yaml/inventory/shop/web-stack.yaml",
            488,
            "f38c0a0ef1be122728b87215ead4a2117be2e50bb0a020acb0b169f9adc55227",
        ),
        (
            "layouts/document/item/json/inventory/shop/web-stack.json",
            695,
            "8552d8dc6d64f6229afa75ff7b67a69fa745976439401c909d3a577acb0125ce",
        ),
        (
            "layouts/document/item/ndjson/inventory/shop/web-stack.ndjson",
            499,
            "b138f6ff329adefcfc866bcd8cc82a3ec005fa9484d70c1f8194ec9fdfeeb5cb",
        ),
        (
            "layouts/perResource/item/yaml/eu-1/shop/deployment/web.yaml",
            233,
            "4cbae7fb47242b3de81e8aa978c77c91f2432de29e97aed87cede24356a12705",
        ),
        (
            "layouts/perResource/item/yaml/eu-1/shop/service/web.yaml",
            205,
            "ef51245360835963ffe54e8935f65869ce9d300ced637b3ec14517fb1eceabb5",
        ),
        (
            "layouts/perResource/attributes/yaml/eu-1/shop/deployment/web.yaml",
            62,
            "09c33fc2f062d43e48c4809b7688b2f97f2b9fe91b9c34c1ff85d40200826b7a",
        ),
        (
            "layouts/perResource/item/json/eu-1/shop/deployment/web.json",
            333,
            "980b1172f275d5de51fe5a2d7b6fbbc0b0b9a8749785c74ab8f94447b9eac1b0",
        ),
        (
            "layouts/split/item/yaml/inventory/shop/web-stack.yaml",
            241,
            "93d3d95a5d0fc7b590e66332da161b1d2478f7b17c89332d66c4a15b7355d421",
        ),
        (
            "set-manifest.json",
            347,
            "005308d9102144f40c8a721f7ed06e8c197f0668b5c06eccaf224541ff39f16e",
        ),
        (
            "manifest-config-map.yaml",
            113,
            "1de45ee0b640c07203f4ac1bcf62b58e787b1051dd7a7f93052184868fed16c6",
        ),
    ] {
        vector(name, length, digest);
    }
}

#[test]
fn the_manifest_of_a_set_is_as_recorded() {
    let edition = inventory();
    let manifest = SetManifest {
        cluster: "eu-1",
        edition: &edition,
        part_total: 2,
        exported_at: exported_at(),
        paths: vec!["eu-1/shop/service/web.yaml", "eu-1/shop/deployment/web.yaml"],
    };
    assert_eq!(manifest.path(), Ok("inventory/shop/web-stack.manifest.json".to_owned()));
    recorded("set-manifest.json", &manifest.encode().unwrap());
}

#[test]
fn the_manifest_of_an_object_is_as_recorded() {
    let content = Content::Manifest { key: "resource".into() };
    let found = encode::row(&config_map(), &content, Format::Yaml).unwrap();
    recorded("manifest-config-map.yaml", &found);
}

#[test]
fn a_document_of_deployments_is_as_recorded() {
    let found = encode::document(&support::header(), &deployments(), Format::Yaml).unwrap();
    recorded("deployments.yaml", &found);
}

#[test]
fn keys_texts_and_numbers_are_spelled_as_recorded() {
    let long = "aaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbb cccccccccccccccccccccccccccc \
                dddddddddddddddddddddddddd eeeeeeeeeeeee";
    let value = json!({
        "z10": 1, "z9": 2, "Z": 3, "_a": 4, "a.b": 5, "arr": [], "colon": "a: b",
        "date": "2026-03-04", "exp": 1e-7, "huge": 1e21, "long": long, "multi": "l1\nl2\n",
        "n": "null", "nest": [{"b": 1, "a": [1, 2]}], "octal": "0777", "on": true,
        "sexa": "1:30", "tab": "a\tb", "trail": "x ", "yes": "yes",
    });
    recorded("yaml-edges.yaml", as_yaml(&value).as_bytes());
}

#[test]
fn texts_that_can_only_be_texts_have_no_quotes() {
    for text in "a\\b :x a,b 12e = << Infinity v1 a<b&\"q\" 1.2.3 2026-02-29 1:60 0o8 +".split(' ')
    {
        assert_eq!(as_yaml(&json!(text)), format!("{text}\n"));
    }
}

#[test]
fn texts_that_collide_with_an_indicator_have_single_quotes() {
    for text in "*x &x !x %x @x `x {x [x |x >x x: #x \"x - ? : --- ...".split(' ') {
        assert_eq!(as_yaml(&json!(text)), format!("'{text}'\n"));
    }
    for text in [" lead", "x ", "- x", "x #y", "a: b", "a\u{2028}"] {
        assert_eq!(as_yaml(&json!(text)), format!("'{text}'\n"));
    }
    assert_eq!(as_yaml(&json!("'x")), "'''x'\n");
}

#[test]
fn texts_that_look_like_another_type_have_double_quotes() {
    let words = "y Y N n yes on off True null NULL Null ~ 123 0x1f 0777 1:30 .5 +1 1_000 0b1 0o7 \
                 1e3 .inf .nan 2026-03-04 2026-03-04T05:06:07Z";
    for text in words.split(' ').chain([""]) {
        assert_eq!(as_yaml(&json!(text)), format!("\"{text}\"\n"));
    }
    assert_eq!(as_yaml(&json!({"on": true, "": 1})), "\"\": 1\n\"on\": true\n");
}

#[test]
fn texts_of_several_lines_are_blocks_unless_that_would_change_them() {
    for (text, expected) in [
        ("a\nb", "|-\n  a\n  b\n"),
        ("a\nb\n", "|\n  a\n  b\n"),
        ("a\nb\n\n", "|+\n  a\n  b\n\n"),
        ("trail\n ", "\"trail\\n \"\n"),
        ("\u{1f44d}", "\"\\U0001F44D\"\n"),
        ("\u{7f}\u{85}\u{feff}\0", "\"\\x7F\\N\\uFEFF\\0\"\n"),
    ] {
        assert_eq!(as_yaml(&json!(text)), expected);
    }
}

#[test]
fn numbers_are_spelled_for_their_format() {
    for (number, in_json, in_yaml) in [
        (json!(3.0), "3", "3"),
        (json!(1_000_000), "1000000", "1000000"),
        (json!(1_234_567.5), "1234567.5", "1.2345675e+06"),
        (json!(0.00001), "0.00001", "1e-05"),
        (json!(1e20), "100000000000000000000", "1e+20"),
        (json!(1e21), "1e+21", "1e+21"),
        (json!(u64::MAX), "18446744073709551615", "18446744073709551615"),
        (json!(9_007_199_254_740_993_i64), "9007199254740993", "9007199254740993"),
        (json!(0.0001), "0.0001", "0.0001"),
        (json!(123_456.5), "123456.5", "123456.5"),
    ] {
        let row = Row::of_value(&Identity::default(), &json!({"n": number}));
        let file = |format| encode::row(&row, &Content::Attributes, format).unwrap();
        check(&file(Format::Json), &format!("{{\n  \"n\": {in_json}\n}}\n"));
        check(&file(Format::Yaml), &format!("\"n\": {in_yaml}\n"));
    }
}

#[test]
fn json_escapes_what_html_and_javascript_would_trip_over() {
    let text = "\" \\ \u{8}\u{c}\n\r\t\u{1} < > & \u{2028}\u{2029} \u{7f} é / '";
    let row = Row::of_value(&Identity::default(), &json!({ text: [text, {}, [], {"a": [[1]]}] }));
    let found = encode::row(&row, &Content::Attributes, Format::Json).unwrap();
    recorded("json-escapes.json", &found);
}

#[test]
fn no_rows_are_an_empty_document() {
    let empty = |format| encode::document(&support::header(), &[], format).unwrap();
    check(&empty(Format::Yaml), "[]\n");
    check(&empty(Format::Ndjson), "");
    recorded("envelope-empty.json", &empty(Format::Json));
}

#[test]
fn a_row_without_attributes_is_an_empty_object() {
    let row = Row::of_value(&Identity::default(), &json!(null));
    for (format, expected) in
        [(Format::Yaml, "{}\n"), (Format::Json, "{}\n"), (Format::Ndjson, "{}\n")]
    {
        check(&encode::row(&row, &Content::Attributes, format).unwrap(), expected);
    }
}

#[test]
fn documents_are_where_readers_look_for_them() {
    let path = |settings: serde_json::Value, part| {
        support::resolve(settings).document_path(&inventory(), part).unwrap()
    };
    let yaml = json!({"type": "git", "cluster": "eu-1"});
    assert_eq!(path(yaml.clone(), None), "inventory/shop/web-stack.yaml");
    assert_eq!(path(yaml, Some((1, 3))), "inventory/shop/web-stack.part-0001-of-0003.yaml");
    let bare = json!({"type": "git", "pathTemplate": "{cluster}/{namespace}/{name}.{generation}"});
    assert_eq!(path(bare, Some((2, 3))), "default/shop/web-stack.7.part-0002-of-0003");
    let bucket = json!({"type": "s3"});
    assert_eq!(path(bucket, None), "inventory/shop/web-stack.json");
    let parquet =
        |cluster| json!({"type": "s3", "cluster": cluster, "objectStore": {"format": "parquet"}});
    for (cluster, part, expected) in [
        ("eu-1", None, "inventory/cluster=eu-1/ns=shop/name=web-stack/generation=7.parquet"),
        (
            "eu west/1",
            Some((1, 2)),
            "inventory/cluster=eu_west_1/ns=shop/name=web-stack.part-0001-of-0002/generation=7.parquet",
        ),
        ("", None, "inventory/cluster=default/ns=shop/name=web-stack/generation=7.parquet"),
    ] {
        assert_eq!(path(parquet(cluster), part), expected);
    }
}

#[test]
fn objects_are_where_readers_look_for_them() {
    let path = |settings: serde_json::Value, identity: &Identity<'_>| {
        layout("yaml", settings).object_path(&inventory(), identity).unwrap()
    };
    let rows = web_stack();
    let [service, deployment] = [rows[0].identity(), rows[1].identity()];
    let default = json!({"mode": "perResource"});
    assert_eq!(path(default.clone(), &deployment), "eu-1/shop/deployment/web.yaml");
    assert_eq!(path(default.clone(), &service), "eu-1/shop/service/web.yaml");
    let node = Identity { name: "n1".into(), kind: "Node".into(), ..Identity::default() };
    assert_eq!(path(default, &node), "eu-1/node/n1.yaml");
    let grouped = json!({"pathTemplate": "{group}/{kind}/{sourceName}{extension}"});
    assert_eq!(path(grouped.clone(), &deployment), "apps/deployment/web.yaml");
    assert_eq!(path(grouped, &service), "service/web.yaml");
    let spelled = json!({
        "pathTemplate": "{group}/{kind}/{sourceName}{extension}",
        "filename": {"groupInPath": "never", "lowercaseKind": false},
    });
    assert_eq!(path(spelled, &deployment), "Deployment/web.yaml");
}

#[test]
fn yaml_is_what_kubernetes_tools_write() {
    let corpus = support::read("yaml-oracle.jsonl");
    let mut count = 0;
    for line in corpus.split_terminator('\n') {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(json!(as_yaml(&case["json"])), case["yaml"], "{}", case["json"]);
        count += 1;
    }
    assert!(count > 300, "{count} cases");
}

#[cfg(test)]
mod support {
    use std::{fs, path::Path, sync::Arc};

    use kollect_inventory::{
        Change, Confines, Watermark,
        digest::hexadecimal,
        envelope::Header,
        sort,
        watermark::{Expected, Trust},
    };
    use kollect_sinks::{
        Document, Export, FileDestination, FileSink, InventoryKey, Patience, Progress, Schema,
        Sink as _,
        layout::{Layout, tree::Tree},
    };
    use serde_json::Value;
    use sha2::{Digest as _, Sha256};

    use super::*;

    pub(super) type Files = BTreeMap<String, Vec<u8>>;

    const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/contract");

    fn row(identity: [&'static str; 8], attributes: Value) -> Row {
        let [target_namespace, target_name, namespace, name, group, version, kind, uid] =
            identity.map(Into::into);
        let identity =
            Identity { target_namespace, target_name, namespace, name, uid, group, version, kind };
        Row::of_value(&identity, &attributes)
    }

    const WEB: [&str; 8] = [
        "shop",
        "workloads",
        "shop",
        "web",
        "apps",
        "v1",
        "Deployment",
        "11111111-aaaa-4bbb-8ccc-000000000001",
    ];
    const EDGE: [&str; 8] = [
        "shop",
        "edges",
        "shop",
        "web",
        "",
        "v1",
        "Service",
        "22222222-aaaa-4bbb-8ccc-000000000002",
    ];

    fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
        sort(&mut rows);
        rows
    }

    /// The running example: a Deployment and a Service of one shop.
    pub(super) fn web_stack() -> Vec<Row> {
        let web =
            json!({"image": "registry.example/web:2.4.1", "note": "a<b & \"q\"", "replicas": 3});
        let edge = json!({"type": "ClusterIP", "ports": [80, 443], "external": null});
        sorted(vec![row(WEB, web), row(EDGE, edge)])
    }

    /// The same objects, with copies of them in their rows.
    pub(super) fn with_resources() -> Vec<Row> {
        let web = json!({"replicas": 3, "resource": {
            "apiVersion": "apps/v1", "kind": "Deployment",
            "spec": {"replicas": 3, "template": {"spec": {"containers": [
                {"name": "web", "image": "registry.example/web:2.4.1", "args": [], "env": null},
            ]}}},
        }});
        let edge = json!({"resource": {
            "apiVersion": "v1", "kind": "Service",
            "spec": {"type": "ClusterIP", "ports": [{"port": 80}, {"port": 443}]},
        }});
        sorted(vec![row(WEB, web), row(EDGE, edge)])
    }

    pub(super) fn config_map() -> Row {
        let identity = ["shop", "settings", "shop", "web", "", "v1", "ConfigMap", "3"];
        let resource = json!({
            "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"labels": {"app": "web"}},
            "data": {"mode": "dark", "app.conf": "a=1\nb=2\n"},
        });
        row(identity, json!({"resource": resource}))
    }

    /// Two Deployments of a shop, as extraction makes rows of them.
    pub(super) fn deployments() -> Vec<Row> {
        let of = |name, uid| ["shop", "workloads", "shop", name, "apps", "v1", "Deployment", uid];
        let checkout = json!({
            "containers": 2, "fq": "shop/checkout", "ha": true,
            "image": "registry.example/checkout:1.4.2",
            "images": ["registry.example/checkout:1.4.2", "registry.example/envoy:v1.31"],
            "note": "p99<250ms & rising", "owner": null, "replicas": 3,
        });
        let cart = json!({
            "containers": 1, "fq": "shop/cart", "ha": false,
            "image": "registry.example/cart:2.0.0", "images": "registry.example/cart:2.0.0",
            "owner": null, "replicas": 1,
        });
        sorted(vec![row(of("checkout", "0a1b"), checkout), row(of("cart", "0c2d"), cart)])
    }

    pub(super) fn exported_at() -> Timestamp {
        "2026-03-04T05:06:07.89Z".parse().unwrap()
    }

    pub(super) fn header() -> Header<'static> {
        Header { generation: 7, exported_at: exported_at(), ..Header::default() }
    }

    pub(super) fn inventory() -> Edition {
        let inventory = InventoryKey { namespace: "shop".into(), name: "web-stack".into() };
        Edition { inventory, generation: 7 }
    }

    pub(super) fn resolve(sink: Value) -> Layout {
        Layout::resolve(&serde_json::from_value(sink).unwrap(), &Schema::default()).unwrap()
    }

    pub(super) fn layout(format: &str, layout: Value) -> Layout {
        resolve(json!({
            "type": "git", "cluster": "eu-1", "serialization": {"format": format}, "layout": layout,
        }))
    }

    /// All files of a view.
    pub(super) fn tree_of(layout: &Layout, rows: &[Row]) -> Files {
        if layout.mode() == kollect_api::LayoutMode::Document {
            let path = layout.document_path(&inventory(), None).unwrap();
            let content = encode::document(&header(), rows, layout.format()).unwrap();
            return Files::from([(path, content)]);
        }
        let mut tree = Tree::new(layout.clone(), inventory()).unwrap();
        let applied = tree.apply([], rows.iter().cloned());
        assert!(applied.refused.is_empty());
        let index = tree.index(exported_at()).unwrap();
        let files = applied.files.into_iter().chain(index);
        files.map(|file| (file.path, file.content.unwrap())).collect()
    }

    /// All files that a sink writes to a directory, but for its own.
    pub(super) fn directory_of(sink: Value, rows: Vec<Row>) -> Files {
        let directory = tempfile::tempdir().unwrap();
        let destination = Arc::new(FileDestination::new(directory.path().to_owned()));
        let sink = FileSink::new(destination, serde_json::from_value(sink).unwrap());
        let Edition { inventory, generation } = inventory();
        let confines = Confines { settled: true, ..Confines::default() };
        let export = Export {
            inventory,
            generation,
            schema: Arc::new(Schema::default()),
            change: Arc::new(Change::All { rows: rows.clone(), confines: confines.clone() }),
            watermark: Watermark { sequence: 1, content: None },
            document: Some(Arc::new(Document { rows, confines })),
            limit: None,
            expected: Expected::Unread,
            writer: "golden".into(),
            trust: Trust::Nothing,
            patience: Patience::Waits,
            at: exported_at(),
            progress: Progress::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let receipt = runtime.block_on(sink.export(&export)).unwrap();
        assert!(receipt.refused.is_empty());
        fs::remove_dir_all(directory.path().join(".kollect")).unwrap();
        files_below(directory.path())
    }

    /// All files below a folder of the fixtures.
    pub(super) fn recorded_tree(name: &str) -> Files {
        files_below(&Path::new(FIXTURES).join(name))
    }

    fn files_below(root: &Path) -> Files {
        fn walk(folder: &Path, root: &Path, files: &mut Files) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, files);
                } else {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        let mut files = Files::new();
        walk(root, root, &mut files);
        files
    }

    pub(super) fn at_rest(files: &Files) -> BTreeMap<&str, String> {
        files
            .iter()
            .map(|(path, content)| (path.as_str(), String::from_utf8(content.clone()).unwrap()))
            .collect()
    }

    pub(super) fn read(name: &str) -> String {
        fs::read_to_string(Path::new(FIXTURES).join(name)).unwrap()
    }

    #[track_caller]
    pub(super) fn recorded(name: &str, found: &[u8]) {
        check(found, &read(name));
    }

    #[track_caller]
    pub(super) fn check(found: &[u8], expected: &str) {
        assert_eq!(String::from_utf8_lossy(found), expected);
    }

    #[track_caller]
    pub(super) fn vector(name: &str, length: usize, digest: &str) {
        let file = read(name);
        let found = hexadecimal(&Sha256::digest(file.as_bytes()));
        assert_eq!((file.len(), found.as_str()), (length, digest), "{name}");
    }

    pub(super) fn as_yaml(value: &Value) -> String {
        let row = Row::of_value(&Identity::default(), &json!({"value": value}));
        let content = Content::Manifest { key: "value".into() };
        String::from_utf8(encode::row(&row, &content, Format::Yaml).unwrap()).unwrap()
    }
}

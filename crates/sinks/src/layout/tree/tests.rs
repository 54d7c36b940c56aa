use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{schema::Schema, sink::InventoryKey};

fn layout(settings: serde_json::Value) -> Layout {
    let spec =
        json!({"type": "file", "file": {"path": "/x"}, "cluster": "eu-1", "layout": settings});
    Layout::resolve(&serde_json::from_value(spec).unwrap(), &Schema::default()).unwrap()
}

fn tree(settings: serde_json::Value) -> Tree {
    let inventory = InventoryKey { namespace: "shop".into(), name: "web".into() };
    Tree::new(layout(settings), Edition { inventory, generation: 1 }).unwrap()
}

fn attributes_tree() -> Tree {
    tree(json!({"mode": "perResource", "content": "attributes"}))
}

fn identity(target: &str, name: &str, uid: &str) -> Identity<'static> {
    Identity {
        target_namespace: "shop".into(),
        target_name: target.to_owned().into(),
        namespace: "shop".into(),
        name: name.to_owned().into(),
        uid: uid.to_owned().into(),
        group: "apps".into(),
        version: "v1".into(),
        kind: "Deployment".into(),
    }
}

fn row(target: &str, name: &str, uid: &str, value: i64) -> Row {
    Row::of_value(&identity(target, name, uid), &json!({"value": value}))
}

/// Paths and contents, with a dash for a file that goes.
fn shown(applied: &Applied) -> Vec<String> {
    let show = |file: &FileOp| match &file.content {
        Some(content) => format!("{} {}", file.path, String::from_utf8_lossy(content).trim()),
        None => format!("{} -", file.path),
    };
    applied.files.iter().map(show).collect()
}

fn suffix(uid: &str) -> String {
    short_hash(format!("apps\0v1\0{uid}").as_bytes())
}

#[test]
fn a_row_is_a_file() {
    let mut tree = attributes_tree();
    let web = "eu-1/shop/deployment/web.yaml";
    let applied = tree.apply([], [row("a", "web", "1", 1)]);
    assert_eq!(shown(&applied), [format!("{web} value: 1")]);
    assert_eq!(applied.gained, [Line::of(web, &identity("a", "web", "1"))]);
    let same = tree.apply([], [row("a", "web", "1", 1)]);
    assert_eq!((same.files.len(), same.visited), (0, 0));
    let applied = tree.apply([], [row("a", "web", "1", 2)]);
    assert_eq!(shown(&applied), [format!("{web} value: 2")]);
    assert_eq!((applied.gained.len(), applied.lost.len()), (0, 0));
    let applied = tree.apply([&identity("a", "web", "1")], []);
    assert_eq!(shown(&applied), [format!("{web} -")]);
    assert_eq!(applied.lost, [Line::of(web, &identity("a", "web", "1"))]);
}

#[test]
fn a_recreated_object_does_not_collide_with_itself() {
    let mut tree = attributes_tree();
    tree.apply([], [row("a", "web", "1", 1)]);
    let applied = tree.apply([&identity("a", "web", "1")], [row("a", "web", "2", 2)]);
    assert_eq!(shown(&applied), ["eu-1/shop/deployment/web.yaml value: 2"]);
}

#[test]
fn equal_content_is_one_file_of_several_owners() {
    let mut tree = attributes_tree();
    tree.apply([], [row("a", "web", "1", 1)]);
    let applied = tree.apply([], [row("b", "web", "1", 1)]);
    assert_eq!(shown(&applied), Vec::<String>::new());
    assert_eq!(applied.gained.len(), 1);
    let applied = tree.apply([&identity("a", "web", "1")], []);
    assert!(applied.files.iter().all(|file| file.content.is_some()));
    assert_eq!(applied.lost.len(), 1);
}

#[test]
fn a_collision_moves_all_that_collide_and_its_end_moves_them_back() {
    let mut tree = attributes_tree();
    let [first, second] = ["1", "2"].map(suffix);
    tree.apply([], [row("a", "web", "1", 1)]);
    let applied = tree.apply([], [row("b", "web", "2", 2)]);
    let mut expected = vec![
        format!("eu-1/shop/deployment/web-{first}.yaml value: 1"),
        format!("eu-1/shop/deployment/web-{second}.yaml value: 2"),
    ];
    expected.sort();
    expected.insert(0, "eu-1/shop/deployment/web.yaml -".into());
    assert_eq!(shown(&applied), expected);
    let applied = tree.apply([&identity("a", "web", "1")], []);
    let mut expected = vec![
        format!("eu-1/shop/deployment/web-{first}.yaml -"),
        format!("eu-1/shop/deployment/web-{second}.yaml -"),
    ];
    expected.sort();
    expected.push("eu-1/shop/deployment/web.yaml value: 2".into());
    assert_eq!(shown(&applied), expected);
    assert!(tree.wanted.is_empty());
}

#[test]
fn one_object_in_two_targets_gets_two_files() {
    let mut tree = attributes_tree();
    let applied = tree.apply([], [row("a", "web", "1", 1), row("b", "web", "1", 2)]);
    let paths: BTreeSet<_> = applied.files.iter().map(|file| file.path.len()).collect();
    assert_eq!(applied.files.len(), 2);
    assert_eq!(paths, BTreeSet::from(["eu-1/shop/deployment/web-.yaml".len() + 64]));
}

#[test]
fn a_name_that_looks_like_a_suffix_keeps_its_path() {
    let mut tree = attributes_tree();
    tree.apply([], [row("a", "web", "1", 1), row("b", "web", "2", 2)]);
    let twin = format!("web-{}", suffix("1"));
    let applied = tree.apply([], [row("c", &twin, "3", 3)]);
    assert_eq!(applied.files.len(), 2);
    assert!(shown(&applied).contains(&format!("eu-1/shop/deployment/{twin}.yaml value: 3")));
    let applied = tree.apply([&identity("c", &twin, "3")], []);
    assert!(shown(&applied).contains(&format!("eu-1/shop/deployment/{twin}.yaml value: 1")));
}

#[test]
fn the_path_of_the_index_is_not_for_rows() {
    let settings = json!({
        "mode": "split", "content": "attributes",
        "pathTemplate": "inventory/{sourceNamespace}/{sourceName}{extension}",
    });
    let mut tree = tree(settings);
    let applied = tree.apply([], [row("a", "web", "1", 1)]);
    assert_eq!(shown(&applied), [format!("inventory/shop/web-{}.yaml value: 1", suffix("1"))]);
    let index = tree.index(Timestamp::UNIX_EPOCH).unwrap().unwrap();
    assert_eq!(index.path, "inventory/shop/web.yaml");
}

#[test]
fn a_row_without_its_manifest_is_named_and_its_old_file_goes() {
    let mut tree = tree(json!({"mode": "perResource", "content": "manifest"}));
    let web = identity("a", "web", "1");
    let applied = tree.apply([], [Row::of_value(&web, &json!({"resource": {"kind": "X"}}))]);
    assert_eq!(shown(&applied), ["eu-1/shop/deployment/web.yaml kind: X"]);
    let broken = Row::of_value(&web, &json!({"other": 1}));
    let applied = tree.apply([], [broken, row("a", "api", "2", 1)]);
    assert_eq!(shown(&applied), ["eu-1/shop/deployment/web.yaml -"]);
    let reasons: Vec<_> = applied
        .refused
        .iter()
        .filter_map(|refused| std::error::Error::source(&refused.reason).map(ToString::to_string))
        .collect();
    assert_eq!(
        reasons,
        [
            r#"the row of Deployment shop/web holds no object under "resource""#,
            r#"the row of Deployment shop/api holds no object under "resource""#,
        ]
    );
}

#[test]
fn rows_are_found_by_their_place_and_by_their_file() {
    let mut tree = attributes_tree();
    let applied = tree.apply(
        [],
        [
            row("a", "web", "1", 1),
            row("b", "web", "2", 2),
            row("b", "web", "1", 3),
            row("a", "api", "3", 1),
            row("ab", "api", "3", 1),
        ],
    );
    for (target, names) in [("a", &["api", "web"][..]), ("b", &["web", "web"]), ("", &[])] {
        let rows = tree.rows_in(("shop", target, "shop"));
        let found: Vec<_> = rows.iter().map(|row| row.identity().name.into_owned()).collect();
        assert_eq!(found, names, "{target}");
    }
    let counts: Vec<_> = applied.files.iter().map(|file| tree.rows_at(&file.path).len()).collect();
    // Two targets share the file of `api`; short and long suffixes are found alike.
    assert_eq!(counts, [2, 1, 1, 1]);
    assert!(tree.rows_at("eu-1/shop/deployment/web.yaml").is_empty());
}

#[test]
fn a_row_without_a_path_is_refused() {
    let mut tree = tree(json!({"mode": "perResource", "pathTemplate": "{sourceName}"}));
    let applied = tree.apply([], [row("a", "...", "1", 1)]);
    assert!(matches!(
        applied.refused.as_slice(),
        [Refused { reason: RefusedBecause::Path(PathError::Empty), .. }]
    ));
}

#[test]
fn a_change_of_kind_moves_the_file() {
    let mut tree = attributes_tree();
    tree.apply([], [row("a", "web", "1", 1)]);
    let moved = Identity { kind: "Rollout".into(), ..identity("a", "web", "1") };
    let applied = tree.apply([], [Row::of_value(&moved, &json!({"value": 1}))]);
    assert_eq!(
        shown(&applied),
        ["eu-1/shop/deployment/web.yaml -", "eu-1/shop/rollout/web.yaml value: 1"]
    );
}

#[test]
fn the_cost_follows_the_change() {
    let mut tree = attributes_tree();
    let rows: Vec<_> =
        (0..1000).map(|at| row("a", &format!("web-{at}"), &format!("u-{at}"), at)).collect();
    assert_eq!(tree.apply([], rows).visited, 1000);
    assert_eq!(tree.apply([], [row("a", "web-7", "u-7", 0)]).visited, 1);
    assert_eq!(tree.apply([&identity("a", "web-8", "u-8")], []).visited, 0);
    let collision = tree.apply([], [row("b", "web-9", "other", 0)]);
    assert_eq!((collision.visited, collision.files.len()), (2, 3));
    let end = tree.apply([&identity("b", "web-9", "other")], []);
    assert_eq!((end.visited, end.files.len()), (1, 3));
}

/// What is in a destination after all that was applied to it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Destination {
    files: BTreeMap<String, Vec<u8>>,
    lines: BTreeSet<Line>,
}

impl Destination {
    fn take(&mut self, applied: Applied) {
        for line in &applied.lost {
            assert!(self.lines.remove(line), "{line:?} was never there");
        }
        self.lines.extend(applied.gained);
        for file in applied.files {
            match file.content {
                Some(content) => self.files.insert(file.path, content),
                None => self.files.remove(&file.path),
            };
        }
    }
}

/// A change: one of few targets, names and uids, and a value or a delete.
fn change() -> impl Strategy<Value = (u8, u8, u8, Option<i64>)> {
    (0_u8..3, 0_u8..4, 0_u8..3, proptest::option::weighted(0.7, 0_i64..3))
}

proptest! {
    #[test]
    fn a_tree_fed_by_changes_is_the_tree_built_at_once(
        batches in proptest::collection::vec(proptest::collection::vec(change(), 0..6), 0..12),
        content in proptest::sample::select(vec!["item", "attributes"]),
    ) {
        let settings = json!({"mode": "split", "content": content});
        // The last name is the one that a suffix gives to the first.
        let names = ["web".to_owned(), "Web:".to_owned(), "web.".to_owned(), format!("web-{}", suffix("u-0"))];
        let mut fed = tree(settings.clone());
        let mut destination = Destination::default();
        let mut rows: BTreeMap<(u8, u8, u8), Row> = BTreeMap::new();
        for batch in batches {
            let mut deletes = Vec::new();
            let mut upserts = Vec::new();
            for (target, name, uid, value) in batch {
                let (target_name, uid_text) = (format!("t-{target}"), format!("u-{uid}"));
                let identity = identity(&target_name, &names[usize::from(name)], &uid_text);
                match value {
                    None if !upserts.iter().any(|(key, _)| *key == (target, name, uid)) => {
                        rows.remove(&(target, name, uid));
                        deletes.push(identity);
                    }
                    None => {}
                    Some(value) => {
                        let row = Row::of_value(&identity, &json!({"value": value}));
                        rows.insert((target, name, uid), row.clone());
                        upserts.push(((target, name, uid), row));
                    }
                }
            }
            destination.take(fed.apply(&deletes, upserts.into_iter().map(|(_, row)| row)));
        }
        let mut built = tree(settings);
        let mut expected = Destination::default();
        expected.take(built.apply([], rows.into_values().rev()));
        prop_assert_eq!(destination, expected);
        let now = Timestamp::UNIX_EPOCH;
        prop_assert_eq!(fed.index(now).unwrap(), built.index(now).unwrap());
        prop_assert_eq!(fed.wanted, built.wanted);
    }
}

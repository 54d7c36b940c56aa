use kollect_api::{Index, Serialization};

use super::*;
use crate::{schema::ProfileSchema, sink::InventoryKey};

fn sink(settings: serde_json::Value) -> SnapshotSinkSpec {
    let mut spec = serde_json::json!({"type": "git"});
    for (name, value) in settings.as_object().unwrap() {
        spec[name] = value.clone();
    }
    serde_json::from_value(spec).unwrap()
}

fn embedding(key: &str) -> ProfileSchema {
    ProfileSchema { embeds: Some(key.into()), ..ProfileSchema::default() }
}

fn edition(namespace: &str, name: &str) -> Edition {
    let inventory = InventoryKey { namespace: namespace.into(), name: name.into() };
    Edition { inventory, generation: 1 }
}

#[track_caller]
fn check(settings: serde_json::Value, profiles: &[ProfileSchema], expected: (LayoutMode, Content)) {
    let layout = Layout::resolve(&sink(settings), &Schema { profiles: profiles.to_vec() }).unwrap();
    assert_eq!((layout.mode(), layout.content().clone()), expected);
    assert_eq!(layout.cluster(), "default");
    assert_eq!(layout.format(), Format::Yaml);
}

fn manifest(key: &str) -> Content {
    Content::Manifest { key: key.into() }
}

#[test]
fn profiles_that_embed_the_object_make_a_file_for_each() {
    let plain = ProfileSchema::default();
    let none = serde_json::json!({});
    let document = || (LayoutMode::Document, Content::Item);
    let both = [embedding("raw"), embedding("raw")];
    check(none.clone(), &both, (LayoutMode::PerResource, manifest("raw")));
    check(none.clone(), &[], document());
    check(none.clone(), std::slice::from_ref(&plain), document());
    check(none.clone(), &[embedding("raw"), plain], document());
    check(none, &[embedding("raw"), embedding("resource")], document());
}

#[test]
fn what_the_author_chose_stays() {
    let profiles = [embedding("raw")];
    let layout = |mode: &str| serde_json::json!({"layout": {"mode": mode}});
    check(layout("document"), &profiles, (LayoutMode::Document, Content::Item));
    check(layout("split"), &profiles, (LayoutMode::Split, manifest("raw")));
    check(layout("split"), &[], (LayoutMode::Split, Content::Item));
    let content = |content: &str| serde_json::json!({"layout": {"content": content}});
    check(content("item"), &profiles, (LayoutMode::PerResource, Content::Item));
    check(content("attributes"), &[], (LayoutMode::Document, Content::Attributes));
    check(content("manifest"), &[], (LayoutMode::Document, manifest("resource")));
    let mixed = [embedding("raw"), ProfileSchema::default()];
    check(content("manifest"), &mixed, (LayoutMode::Document, manifest("raw")));
}

#[test]
fn an_index_belongs_to_trees() {
    let inventory = edition("shop", "web");
    let path = |layout: serde_json::Value| {
        let layout =
            Layout::resolve(&sink(serde_json::json!({"layout": layout})), &Schema::default())
                .unwrap();
        layout.index_path(&inventory).transpose().unwrap()
    };
    let default = Some("inventory/shop/web.yaml".to_owned());
    assert_eq!(path(serde_json::json!({"mode": "split"})), default);
    assert_eq!(
        path(serde_json::json!({"mode": "perResource", "index": {"enabled": true}})),
        default
    );
    assert_eq!(path(serde_json::json!({"mode": "split", "index": {"enabled": false}})), None);
    assert_eq!(path(serde_json::json!({"mode": "document", "index": {"enabled": true}})), None);
    let elsewhere =
        serde_json::json!({"mode": "split", "index": {"pathTemplate": "{namespace}/{name}"}});
    assert_eq!(path(elsewhere), Some("shop/web".to_owned()));
}

#[test]
fn the_format_is_decided_in_one_place() {
    let mut spec = sink(serde_json::json!({}));
    assert_eq!(effective_format(&spec), Format::Yaml);
    spec.sink_type = SnapshotType::S3;
    assert_eq!(effective_format(&spec), Format::Json);
    spec.object_store = serde_json::from_value(serde_json::json!({"format": "parquet"})).unwrap();
    assert_eq!(effective_format(&spec), Format::Parquet);
    spec.common.serialization =
        Some(Serialization { format: Some(Format::Csv), ..Serialization::default() });
    assert_eq!(effective_format(&spec), Format::Csv);
}

#[test]
fn a_layout_that_cannot_work_is_refused() {
    let refused = |settings| {
        let error = Layout::resolve(&sink(settings), &Schema::default()).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        (error.to_string(), source.unwrap_or_default())
    };
    assert_eq!(
        refused(serde_json::json!({"pathTemplate": "{name}"})),
        (
            "pathTemplate cannot be used".into(),
            "it lacks {namespace}, so different things would share a path".into()
        )
    );
    assert_eq!(
        refused(serde_json::json!({"layout": {"pathTemplate": "{sourceName}/.."}})),
        ("layout.pathTemplate cannot be used".into(), "it contains `..`".into())
    );
    let index = Index { path_template: Some("/x".into()), ..Index::default() };
    assert_eq!(
        refused(serde_json::json!({"layout": {"index": index}})),
        ("layout.index.pathTemplate cannot be used".into(), "it begins with a slash".into())
    );
    assert_eq!(
        refused(serde_json::json!({
            "layout": {"mode": "split"}, "serialization": {"format": "parquet"},
        })),
        ("a tree of files cannot be written as Parquet".into(), String::new())
    );
}

proptest::proptest! {
    #[test]
    fn no_path_leads_elsewhere(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "{cluster}", "{sourceNamespace}", "{sourceName}", "{group}", "{kind}", "{uid}",
                "{targetName}", "/", "\\", ".", " ", "x", "{extension}", ".git", ".kollect",
            ]),
            0..8,
        ),
        texts in proptest::collection::vec("\\PC{0,12}|[./\\\\: -]{0,8}|\\.git", 6),
    ) {
        let template = format!("{}{{uid}}", pieces.concat());
        let spec = sink(serde_json::json!({"layout": {"pathTemplate": template}, "cluster": texts[0]}));
        let Ok(layout) = Layout::resolve(&spec, &Schema::default()) else { return Ok(()) };
        let at = |index: usize| std::borrow::Cow::Owned(texts[index].clone());
        let identity = Identity {
            namespace: at(1), name: at(2), group: at(3), kind: at(4), uid: at(5),
            ..Identity::default()
        };
        let inventory = edition(&texts[1], &texts[2]);
        let paths = [
            layout.object_path(&inventory, &identity),
            layout.document_path(&inventory, None),
            layout.document_path(&inventory, Some((1, 2))),
        ];
        for path in paths.into_iter().flatten() {
            for segment in path.split('/') {
                proptest::prop_assert!(!matches!(segment, "" | "." | ".."), "{path:?}");
                proptest::prop_assert!(!segment.eq_ignore_ascii_case(".git"), "{path:?}");
            }
            proptest::prop_assert!(!path.contains('\0') && !path.starts_with(".kollect/"));
        }
    }
}

#[test]
fn a_layout_can_be_told_from_another_by_its_description() {
    let describe =
        |settings| Layout::resolve(&sink(settings), &Schema::default()).unwrap().describe();
    let plain = describe(serde_json::json!({}));
    assert_eq!(
        plain,
        "document\nitem\n.yaml\n\"default\"\n\"inventory/{namespace}/{name}{extension}\"\n\
         \"{cluster}/{sourceNamespace}/{kind}/{sourceName}{extension}\"\nNone\n63 true true\n"
    );
    for other in [
        serde_json::json!({"cluster": "eu-1"}),
        serde_json::json!({"pathTemplate": "{namespace}/{name}"}),
        serde_json::json!({"serialization": {"format": "json"}}),
        serde_json::json!({"layout": {"mode": "split"}}),
        serde_json::json!({"layout": {"filename": {"lowercaseKind": false}}}),
    ] {
        assert_ne!(describe(other.clone()), plain, "{other}");
    }
}

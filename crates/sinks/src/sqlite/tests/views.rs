//! What people see through views.

use kollect_inventory::TargetKey;
use serde_json::{Map, Value, json};

use super::support::{File, profile, row, row_of, wrote};
use crate::{
    ColumnType::{Any, Boolean, Integer, Json, Number, Text},
    Farewell, ProfileSchema, Sink as _, Wrote,
};

#[tokio::test]
async fn a_profile_is_a_view_with_a_column_for_each_attribute() {
    let file = File::new();
    let images = profile("deployment-images", &[("image", Text), ("replicas", Integer)]);
    let mut pair = file.pair("shop", "eu-1").with_schema(vec![images]);
    let web = row("shop", "web", &json!({"image": "web:2", "replicas": 3}));
    // Rows of other targets are no part of it.
    let edge = row_of("edges", "shop", "web", &json!({"image": "no"}));
    let receipt = pair.all(&[web, edge]).await.unwrap();
    assert_eq!(receipt.warnings, Vec::<String>::new());
    let found = file.query(r#"SELECT image, replicas FROM "deployment-images""#);
    assert_eq!(found, [["web:2", "3"]]);
    let found = file.query(r#"SELECT * FROM "deployment-images""#);
    assert_eq!(found, [["eu-1", "shop", "web", "web:2", "3"]]);
}

#[tokio::test]
async fn a_value_of_another_type_reads_as_none() {
    let file = File::new();
    let types = [Text, Integer, Number, Boolean, Json, Any];
    let names = ["t", "i", "n", "b", "j", "a"];
    let columns: Vec<_> = names.into_iter().zip(types).collect();
    let mut pair = file.pair("shop", "eu-1").with_schema(vec![profile("types", &columns)]);
    let values = [
        json!("text"),
        json!(7),
        json!(1.5),
        json!(true),
        json!([1, {"k": "v"}]),
        json!({"k": 1}),
        json!(null),
    ];
    let rows: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(at, value)| {
            let all: Map<_, _> =
                names.map(|name| (name.to_owned(), value.clone())).into_iter().collect();
            row("shop", &at.to_string(), &Value::Object(all))
        })
        .chain([row("shop", "none", &json!(null))])
        .collect();
    pair.all(&rows).await.unwrap();
    let expected = [
        ["text", "null", "null", "null", "null", "text"],
        ["null", "7", "7", "null", "null", "7"],
        ["null", "null", "1.5", "null", "null", "1.5"],
        ["null", "null", "null", "1", "null", "1"],
        ["null", "null", "null", "null", r#"[1,{"k":"v"}]"#, r#"[1,{"k":"v"}]"#],
        ["null", "null", "null", "null", r#"{"k":1}"#, r#"{"k":1}"#],
        ["null", "null", "null", "null", "null", "null"],
        ["null", "null", "null", "null", "null", "null"],
    ];
    assert_eq!(file.query("SELECT t, i, n, b, j, a FROM types ORDER BY name"), expected);
}

#[tokio::test]
async fn any_name_is_a_column() {
    let file = File::new();
    let names = [
        "a.b",
        "a\"b",
        "a'b",
        "$",
        "$.a",
        "[0]",
        "a[1]",
        "a\\b",
        "größe",
        "🚢",
        "a<b>&c",
        "tab\t",
        "select",
        "--",
        "; DROP TABLE inventory_items",
        "",
        " ",
        "\\u0041",
        "a\\\"b",
        "NAME",
    ];
    let columns = names.map(|name| (name, Text));
    let mut pair = file.pair("shop", "eu-1").with_schema(vec![profile("hostile", &columns)]);
    let all: Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!(format!("<{name}>")))).collect();
    let receipt = pair.all(&[row("shop", "web", &Value::Object(all))]).await.unwrap();
    assert_eq!(receipt.warnings, Vec::<String>::new());
    let mut expected: Vec<_> = ["eu-1", "shop", "web"].map(str::to_owned).into();
    expected.extend(names.map(|name| format!("<{name}>")));
    assert_eq!(file.query("SELECT * FROM hostile"), [expected]);
    assert_eq!(file.query(r#"SELECT "a""b", resource_name FROM hostile"#), [["<a\"b>", "web"]]);
}

#[tokio::test]
async fn any_profile_name_is_a_view_or_a_warning() {
    let file = File::new();
    let names = ["a\"b'c; --", "Inventory_Items", "inventory_items_kollect", "sqlite_stat", "mine"];
    file.reader()
        .execute_batch("CREATE TABLE mine (id); CREATE VIEW \"shop/mine\" AS SELECT 1")
        .unwrap();
    let profiles = names.map(|name| profile(name, &[("image", Text)]));
    let mut pair = file.pair("shop", "eu-1").with_schema(profiles.to_vec());
    let receipt = pair.all(&[row("shop", "web", &json!({"image": "web:2"}))]).await.unwrap();
    assert_eq!(receipt.wrote, wrote(1, 0));
    assert_eq!(receipt.warnings.len(), 4, "{:?}", receipt.warnings);
    assert_eq!(
        receipt.warnings.last().unwrap(),
        r#"profile mine has no view: "mine" and "shop/mine" are taken"#
    );
    let views = [
        "a\"b'c; --",
        "shop/Inventory_Items",
        "shop/inventory_items_kollect",
        "shop/mine",
        "shop/sqlite_stat",
    ];
    assert_eq!(file.views(), views);
    assert_eq!(file.query(r#"SELECT image FROM "a""b'c; --""#), [["web:2"]]);
    assert_eq!(file.query(r#"SELECT image FROM "shop/Inventory_Items""#), [["web:2"]]);
}

#[tokio::test]
async fn inventories_with_one_profile_share_its_view() {
    let file = File::new();
    let images = || vec![profile("images", &[("image", Text)])];
    let mut here = file.pair("shop", "eu-1").with_schema(images());
    let mut there = file.pair("shop", "eu-2").with_schema(images());
    here.all(&[row("shop", "web", &json!({"image": "here"}))]).await.unwrap();
    there.all(&[row("shop", "web", &json!({"image": "there"}))]).await.unwrap();
    let all = "SELECT cluster, image FROM images ORDER BY cluster";
    assert_eq!(file.query(all), [["eu-1", "here"], ["eu-2", "there"]]);
    here.sink.retire(&here.inventory, Farewell::Deleted).await.unwrap();
    assert_eq!(file.query(all), [["eu-2", "there"]]);
    // The rows of a sink that is no longer named stay, and so does what shows them.
    there.sink.retire(&there.inventory, Farewell::Released).await.unwrap();
    assert_eq!(file.query(all), [["eu-2", "there"]]);
    there.sink.retire(&there.inventory, Farewell::Deleted).await.unwrap();
    assert_eq!(file.views(), Vec::<String>::new());
}

#[tokio::test]
async fn another_profile_of_the_same_name_is_told_apart_by_its_namespace() {
    let file = File::new();
    let mut shop = file.pair("shop", "").with_schema(vec![profile("images", &[("image", Text)])]);
    shop.all(&[row("shop", "web", &json!({"image": "shop"}))]).await.unwrap();
    let target = TargetKey { namespace: Some("bank".into()), name: "workloads".into() };
    let theirs = ProfileSchema {
        namespace: "bank".into(),
        targets: vec![target],
        ..profile("images", &[("tag", Text)])
    };
    let mut bank = file.pair("bank", "").with_schema(vec![theirs]);
    let receipt = bank.all(&[row("bank", "web", &json!({"tag": "bank"}))]).await.unwrap();
    assert_eq!(
        receipt.warnings,
        [r#""images" is taken: the view of the profile is "bank/images""#]
    );
    assert_eq!(file.query("SELECT image FROM images"), [["shop"]]);
    assert_eq!(file.query(r#"SELECT tag FROM "bank/images""#), [["bank"]]);
}

#[tokio::test]
async fn views_follow_the_profile_and_go_with_it() {
    let file = File::new();
    let rows = [row("shop", "web", &json!({"image": "web:2", "tag": "2"}))];
    let with = |columns: &[(&str, crate::ColumnType)]| {
        file.pair("shop", "").with_schema(vec![profile("images", columns)])
    };
    with(&[("image", Text)]).all(&rows).await.unwrap();
    with(&[("image", Text), ("tag", Text)]).all(&rows).await.unwrap();
    assert_eq!(file.query("SELECT image, tag FROM images"), [["web:2", "2"]]);
    let receipt = file.pair("shop", "").all(&rows).await.unwrap();
    assert_eq!(receipt.wrote, wrote(0, 0));
    assert_eq!(file.views(), Vec::<String>::new());
}

#[tokio::test]
async fn a_view_that_somebody_dropped_comes_back_with_a_comparison() {
    let file = File::new();
    let images = profile("images", &[("image", Text)]);
    let mut pair = file.pair("shop", "").with_schema(vec![images]);
    pair.all(&[]).await.unwrap();
    file.reader().execute_batch("DROP VIEW images").unwrap();
    pair.all(&[row("shop", "web", &json!({"image": "web:2"}))]).await.unwrap();
    assert_eq!(file.query("SELECT image FROM images"), [["web:2"]]);
}

#[tokio::test]
async fn an_embedded_object_is_a_column() {
    let file = File::new();
    let whole = ProfileSchema { embeds: Some("resource".into()), ..profile("whole", &[]) };
    let mut pair = file.pair("shop", "").with_schema(vec![whole]);
    pair.all(&[row("shop", "web", &json!({"resource": {"kind": "Pod"}}))]).await.unwrap();
    assert_eq!(file.query("SELECT resource FROM whole"), [[r#"{"kind":"Pod"}"#]]);
}

#[tokio::test]
async fn a_view_that_cannot_be_made_fails_no_export() {
    let file = File::new();
    let names: Vec<_> = (0..3000).map(|at| format!("attribute-{at}")).collect();
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), Any)).collect();
    let profiles = vec![profile("wide", &columns), profile("narrow", &[("image", Text)])];
    let mut pair = file.pair("shop", "").with_schema(profiles);
    let receipt = pair.all(&[row("shop", "web", &json!(null))]).await.unwrap();
    assert_eq!(receipt.wrote, wrote(1, 0));
    assert_eq!(receipt.warnings.len(), 1, "{:?}", receipt.warnings);
    assert_eq!(file.views(), ["narrow"]);
    // What cannot be made is not tried again and again.
    assert_eq!(pair.upsert(&[]).await.unwrap().wrote, Wrote::Nothing);
}

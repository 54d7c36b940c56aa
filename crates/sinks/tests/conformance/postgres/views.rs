//! Views for people.

use std::sync::Arc;

use jiff::Timestamp;
use kollect_inventory::{
    Change, Confines, Identity, Row, TargetKey, Watermark,
    watermark::{Expected, Trust},
};
use kollect_sinks::{
    Column, ColumnType, Export, Farewell, Patience, ProfileSchema, Progress, Receipt, Schema, Sink,
};
use kollect_testenv::Postgres;

use super::{Database, inventory};

/// Rows of one profile, with these attributes and types.
fn schema(columns: &[(&str, ColumnType)]) -> Arc<Schema> {
    let column =
        |(name, value): &(&str, ColumnType)| Column { name: (*name).to_owned(), value: *value };
    let target = TargetKey { namespace: Some("shop".to_owned()), name: "things".to_owned() };
    let profile = ProfileSchema {
        namespace: "shop".to_owned(),
        name: "things".to_owned(),
        targets: vec![target],
        columns: columns.iter().map(column).collect(),
        embeds: None,
    };
    Arc::new(Schema { profiles: vec![profile] })
}

fn row(name: &str, attributes: &str) -> Row {
    let identity = Identity {
        target_namespace: "shop".into(),
        target_name: "things".into(),
        namespace: "pay".into(),
        name: name.into(),
        uid: name.into(),
        version: "v1".into(),
        kind: "Thing".into(),
        ..Identity::default()
    };
    Row::new(&identity, attributes.as_bytes())
}

/// Exports everything under a schema.
async fn export(sink: &dyn Sink, sequence: i64, schema: Arc<Schema>, rows: Vec<Row>) -> Receipt {
    let confines = Confines { settled: true, ..Confines::default() };
    let export = Export {
        inventory: inventory(),
        generation: 1,
        schema,
        change: Arc::new(Change::All { rows, confines }),
        watermark: Watermark { sequence, content: None },
        document: None,
        limit: None,
        expected: Expected::Unread,
        writer: "test".into(),
        trust: Trust::Record,
        patience: Patience::Waits,
        at: Timestamp::from_second(1_900_000_000).unwrap(),
        progress: Progress::default(),
    };
    sink.export(&export).await.unwrap()
}

const VIEW: &str = "inventory_items_shop_things";

#[tokio::test]
async fn a_view_has_typed_columns_and_follows_its_profile_with_its_grants() {
    use ColumnType::{Any, Boolean, Integer, Json, Text};
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    let sink = database.sink("eu-1", server.password()).unwrap();
    let rows = vec![
        row("a", r#"{"image":"web:1","ports":[80],"ready":true,"replicas":3}"#),
        row("b", r#"{"image":7,"ports":"x","ready":"x","replicas":1.5}"#),
    ];
    let columns = [("image", Text), ("replicas", Integer), ("ready", Boolean), ("ports", Json)];
    let receipt = export(&*sink, 1, schema(&columns), rows.clone()).await;
    assert!(receipt.warnings.is_empty(), "{:?}", receipt.warnings);
    let all = format!("SELECT * FROM {VIEW} ORDER BY name");
    let seen = [
        ["eu-1", "pay", "a", "web:1", "3", "t", "[80]"],
        // Values of another type are none.
        ["eu-1", "pay", "b", "", "", "", ""],
    ];
    assert_eq!(database.ask(&all).unwrap(), seen);

    // A column more is appended, and whoever may read it still may.
    let role = server.role("reader");
    database.ask(&format!("GRANT SELECT ON {VIEW} TO {role}")).unwrap();
    let more = [&columns[..], &[("note", Any)]].concat();
    export(&*sink, 2, schema(&more), rows.clone()).await;
    let may = format!("SELECT has_table_privilege('{role}', '{VIEW}', 'SELECT')");
    let count =
        format!("SELECT count(*) FROM information_schema.columns WHERE table_name = '{VIEW}'");
    assert_eq!(database.ask(&format!("{may}, ({count})")).unwrap(), [["t", "8"]]);

    // A column less, or another type, makes it anew, with the same rights.
    let other = [("replicas", Text), ("image", Any)];
    let receipt = export(&*sink, 3, schema(&other), rows.clone()).await;
    assert!(receipt.warnings.is_empty(), "{:?}", receipt.warnings);
    assert_eq!(database.ask(&format!("{may}, ({count})")).unwrap(), [["t", "5"]]);
    assert_eq!(database.ask(&format!("SELECT image FROM {VIEW} ORDER BY name")).unwrap()[1], ["7"]);

    sink.retire(&inventory(), Farewell::Deleted).await.unwrap();
    let left = "SELECT count(*) FROM pg_views WHERE schemaname = 'public'";
    assert_eq!(database.ask(left).unwrap(), [["0"]]);
}

#[tokio::test]
async fn what_is_in_the_way_of_a_view_stays_and_is_a_warning() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    database.ask(&format!("CREATE TABLE {VIEW} AS SELECT 1 AS mine")).unwrap();
    let sink = database.sink("eu-1", server.password()).unwrap();
    let columns = [("image", ColumnType::Text)];
    let receipt = export(&*sink, 1, schema(&columns), vec![row("a", "{}")]).await;
    assert!(receipt.warnings.iter().any(|text| text.contains("is taken")), "{receipt:?}");
    assert_eq!(database.ask(&format!("SELECT mine FROM {VIEW}")).unwrap(), [["1"]]);
    assert_eq!(database.ask("SELECT count(*) FROM inventory_items").unwrap(), [["1"]]);

    // Somebody has built upon a view that has to change: it stays as it is.
    let database = Database::owned(server);
    let sink = database.sink("eu-1", server.password()).unwrap();
    export(&*sink, 1, schema(&columns), vec![row("a", "{}")]).await;
    database.ask(&format!("CREATE VIEW upon AS SELECT image FROM {VIEW}")).unwrap();
    let receipt =
        export(&*sink, 2, schema(&[("image", ColumnType::Integer)]), vec![row("a", "{}")]).await;
    assert!(receipt.warnings.iter().any(|text| text.contains("could not be made")), "{receipt:?}");
    assert_eq!(database.ask("SELECT count(*) FROM upon").unwrap(), [["1"]]);
}

//! The columns of a view: pure, from what a profile promises.

use std::collections::BTreeSet;

use super::layout::{ITEMS, VIEWS};
use crate::schema::{Column, ColumnType, ProfileSchema};

/// By this we know our own views.
pub(super) const MARK: &str = "/* made by kollect */";

/// The statement that makes a view, as SQLite then keeps it.
pub(super) fn create_view(view: &str, columns: &str) -> String {
    format!(
        "CREATE VIEW {} AS SELECT {MARK}\n{columns}\n\
        FROM {VIEWS} AS used JOIN {ITEMS} AS item\n\
        ON item.inventory_namespace = used.inventory_namespace\n\
        AND item.inventory_name = used.inventory_name\n\
        AND item.cluster = used.cluster AND item.target_name = used.target_name\n\
        WHERE used.view = {}\n\
        AND used.target_namespace IN ('', json_extract(item.payload, '$.targetNamespace'))",
        identifier(view),
        literal(view),
    )
}

/// What a view of the profile selects.
///
/// Attributes keep their names; what identifies the object makes room for
/// them. SQLite does not tell names apart by case, so we do it by a number.
pub(super) fn columns(profile: &ProfileSchema) -> String {
    let attributes = attributes(profile);
    let mut taken: BTreeSet<_> = attributes.iter().map(|column| folded(&column.name)).collect();
    let fixed = [
        ("cluster", "item.cluster"),
        ("namespace", "json_extract(item.payload, '$.namespace')"),
        ("name", "json_extract(item.payload, '$.name')"),
    ];
    let mut lines = Vec::new();
    for (name, value) in fixed {
        let mut name = name.to_owned();
        while !taken.insert(folded(&name)) {
            name.insert_str(0, "resource_");
        }
        lines.push(format!("{value} AS {}", identifier(&name)));
    }
    let mut used = BTreeSet::new();
    for Column { name, value } in attributes {
        let mut title = name.clone();
        let mut number = 2;
        while !used.insert(folded(&title)) {
            title = format!("{name}_{number}");
            // The number must not make it the name of yet another attribute.
            if !taken.insert(folded(&title)) {
                title.clone_from(&name);
            }
            number += 1;
        }
        lines.push(format!("{} AS {}", read(&name, value), identifier(&title)));
    }
    lines.join(",\n")
}

/// The attributes, and the embedded object last.
fn attributes(profile: &ProfileSchema) -> Vec<Column> {
    let embedded = |name: &String| Column { name: name.clone(), value: ColumnType::Json };
    let mut columns = profile.columns.clone();
    columns.extend(profile.embeds.as_ref().map(embedded));
    let mut seen = BTreeSet::new();
    columns.retain(|column| seen.insert(column.name.clone()));
    columns
}

/// Reads an attribute; a value of another type is none.
fn read(name: &str, value: ColumnType) -> String {
    // A key in a path is spelled like a JSON text.
    let path = format!("$.attributes.{}", serde_json::Value::from(name));
    let path = literal(&path);
    let kind = format!("CASE json_type(item.payload, {path})");
    let plain = format!("json_extract(item.payload, {path})");
    match value {
        ColumnType::Text => format!("{kind} WHEN 'text' THEN {plain} END"),
        ColumnType::Integer => format!("{kind} WHEN 'integer' THEN {plain} END"),
        ColumnType::Number => {
            format!("{kind} WHEN 'integer' THEN {plain} WHEN 'real' THEN {plain} END")
        }
        ColumnType::Boolean => format!("{kind} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"),
        ColumnType::Json => {
            format!("{kind} WHEN 'object' THEN {plain} WHEN 'array' THEN {plain} END")
        }
        ColumnType::Any => plain,
    }
}

/// Names that SQLite holds for the same become the same.
fn folded(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// A statement ends at a NUL, so a name cannot hold one.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', "\u{fffd}"))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\0', "\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(attributes: &[&str], titles: &[&str]) {
        let column = |name: &&str| Column { name: (*name).to_owned(), value: ColumnType::Any };
        let columns = attributes.iter().map(column).collect();
        let text = super::columns(&ProfileSchema { columns, ..ProfileSchema::default() });
        let title = |line: &str| line.rsplit(" AS ").next().unwrap_or_default().to_owned();
        let found: Vec<_> = text.lines().map(|line| title(line.trim_end_matches(','))).collect();
        assert_eq!(found, titles);
    }

    #[test]
    fn what_identifies_the_object_comes_first() {
        check(&["image"], &[r#""cluster""#, r#""namespace""#, r#""name""#, r#""image""#]);
    }

    #[test]
    fn an_attribute_keeps_its_name_and_the_identity_makes_room() {
        check(
            &["Name", "resource_name"],
            &[
                r#""cluster""#,
                r#""namespace""#,
                r#""resource_resource_name""#,
                r#""Name""#,
                r#""resource_name""#,
            ],
        );
    }

    #[test]
    fn names_that_differ_by_case_get_a_number_that_is_free() {
        let fixed = [r#""cluster""#, r#""namespace""#, r#""name""#];
        let rest = [r#""image""#, r#""Image_3""#, r#""image_2""#, r#""IMAGE_4""#];
        check(&["image", "Image", "image_2", "IMAGE"], &[&fixed[..], &rest[..]].concat());
    }
}

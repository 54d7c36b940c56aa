//! What views are called, and what they show of a row.

use std::collections::BTreeSet;

use kollect_inventory::digest::hexadecimal;
use sha2::{Digest as _, Sha256};

use super::layout::{LONGEST, Table, identifier, literal};
use crate::schema::{Column, ColumnType, ProfileSchema};

/// One column of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) title: String,
    /// As the server names it.
    pub(super) kind: &'static str,
    value: String,
}

/// The name of a profile's view. Names of Kubernetes hold no underscore, so
/// two profiles cannot have the same.
pub(super) fn view(table: &Table, namespace: &str, profile: &str) -> String {
    cut(&format!("{}_{namespace}_{profile}", table.name))
}

/// A name that is short enough for the server, and still like no other.
fn cut(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let hash: String = hexadecimal(&Sha256::digest(name)).chars().take(8).collect();
    let end = name.floor_char_boundary(LONGEST - hash.len() - 1);
    format!("{}_{hash}", name.get(..end).unwrap_or_default())
}

/// What a view of the profile shows.
///
/// Attributes keep their names; what identifies the object makes room for them.
pub(super) fn columns(profile: &ProfileSchema) -> Vec<Shown> {
    let mut attributes = profile.columns.clone();
    let embedded = |name: &String| Column { name: name.clone(), value: ColumnType::Json };
    attributes.extend(profile.embeds.as_ref().map(embedded));
    let mut taken: BTreeSet<_> = attributes.iter().map(|column| cut(&column.name)).collect();
    let fixed = [
        ("cluster", "item.cluster"),
        ("namespace", "item.payload->>'namespace'"),
        ("name", "item.payload->>'name'"),
    ];
    let mut shown = Vec::new();
    for (name, value) in fixed {
        let mut title = name.to_owned();
        while !taken.insert(title.clone()) {
            title.insert_str(0, "resource_");
        }
        shown.push(Shown { title, kind: "text", value: value.to_owned() });
    }
    let mut seen = BTreeSet::new();
    for Column { name, value } in attributes {
        let title = cut(&name);
        if seen.insert(title.clone()) {
            let (kind, value) = read(&name, value);
            shown.push(Shown { title, kind, value });
        }
    }
    shown
}

/// The statement that makes a view, `CREATE` and what it is for left out.
///
/// The record of each inventory says which of its targets are seen through the
/// view, so that its text changes only with its profile.
pub(super) fn body(table: &Table, view: &str, columns: &[Shown]) -> String {
    let lines: Vec<_> = columns
        .iter()
        .map(|Shown { title, kind, value }| format!("({value})::{kind} AS {}", identifier(title)))
        .collect();
    format!(
        "SELECT {}\nFROM {} AS record\n\
        CROSS JOIN LATERAL jsonb_to_recordset(record.views->'shows') \
        AS shown (view text, target text, namespace text)\n\
        JOIN {} AS item ON item.inventory_namespace = record.inventory_namespace \
        AND item.inventory_name = record.inventory_name AND item.target_name = shown.target \
        AND item.cluster = record.cluster\n\
        WHERE shown.view = {} AND shown.namespace IN ('', item.payload->>'targetNamespace')",
        lines.join(",\n"),
        table.records(),
        table.items(),
        literal(view),
    )
}

/// Reads an attribute; a value of another type is none.
fn read(name: &str, value: ColumnType) -> (&'static str, String) {
    let name = literal(name);
    let json = format!("item.payload->'attributes'->{name}");
    let text = format!("item.payload->'attributes'->>{name}");
    let of = |kind: &str, then: String| {
        format!("CASE jsonb_typeof({json}) WHEN '{kind}' THEN {then} END")
    };
    match value {
        ColumnType::Text => ("text", of("string", text)),
        ColumnType::Integer => (
            "bigint",
            format!(
                "CASE WHEN jsonb_typeof({json}) = 'number' \
                AND ({text})::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 \
                AND ({text})::numeric % 1 = 0 THEN ({text})::numeric END"
            ),
        ),
        ColumnType::Number => ("numeric", of("number", format!("({text})::numeric"))),
        ColumnType::Boolean => ("boolean", of("boolean", format!("({text})::boolean"))),
        ColumnType::Json => (
            "jsonb",
            format!("CASE WHEN jsonb_typeof({json}) IN ('object', 'array') THEN {json} END"),
        ),
        ColumnType::Any => ("text", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(attributes: &[&str]) -> Vec<String> {
        let column = |name: &&str| Column { name: (*name).to_owned(), value: ColumnType::Any };
        let columns = attributes.iter().map(column).collect();
        let shown = super::columns(&ProfileSchema { columns, ..ProfileSchema::default() });
        shown.into_iter().map(|one| one.title).collect()
    }

    #[test]
    fn what_identifies_the_object_comes_first_and_makes_room() {
        assert_eq!(titles(&["image"]), ["cluster", "namespace", "name", "image"]);
        assert_eq!(
            titles(&["name", "resource_name"]),
            ["cluster", "namespace", "resource_resource_name", "name", "resource_name"]
        );
    }

    #[test]
    fn names_are_cut_where_the_server_would_and_stay_apart() {
        let (one, other) = ("n".repeat(70) + "a", "n".repeat(70) + "b");
        let found = titles(&[&one, &other]);
        assert_eq!(found.len(), 5);
        assert!(found.iter().all(|title| title.len() <= LONGEST));
        let table = Table::new("public", "inventory_items");
        assert_eq!(view(&table, "shop", "pods"), "inventory_items_shop_pods");
        assert_eq!(view(&table, "shop", &"ü".repeat(60)).len(), 62);
    }

    #[test]
    fn a_name_is_data_wherever_it_stands() {
        let columns = vec![Column { name: "a'b\"c".to_owned(), value: ColumnType::Text }];
        let shown = super::columns(&ProfileSchema { columns, ..ProfileSchema::default() });
        let text = body(&Table::new("public", "t"), "v'w", &shown);
        assert!(text.contains(r#"'a''b"c'"#) && text.contains(r#""a'b""c""#), "{text}");
        assert!(text.contains("shown.view = 'v''w'"), "{text}");
    }
}

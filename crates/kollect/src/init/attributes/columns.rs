//! Attributes from the printer columns of a definition.

use serde::Deserialize;
use serde_json::Value;

use super::{
    Chosen, compiles,
    naming::{Names, camel},
    of_element,
    schema::{Schema, told},
};

/// A column that kubectl shows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Column {
    name: String,
    json_path: String,
    #[serde(rename = "type", default)]
    value_type: String,
    #[serde(default)]
    description: String,
    /// What is above zero is shown on demand.
    #[serde(default)]
    priority: i64,
}

/// The columns of a version, those that are always shown first; without what
/// a row has anyway, and without times that change while nothing else does.
pub(super) fn of(definition: &Value, version: &str, schema: Option<Schema<'_>>) -> Vec<Chosen> {
    let mut columns = read(definition, version);
    columns.sort_by_key(|column| column.priority);
    let mut names = Names::new();
    columns.iter().filter_map(|column| chosen(column, schema, &mut names)).collect()
}

fn read(definition: &Value, version: &str) -> Vec<Column> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let of_version = |one: &&Value| one.get("name").and_then(Value::as_str) == Some(version);
    let columns = versions
        .and_then(|versions| versions.iter().find(of_version))
        .and_then(|version| version.get("additionalPrinterColumns"))
        .and_then(Value::as_array);
    let columns = columns.into_iter().flatten();
    columns.filter_map(|column| Column::deserialize(column).ok()).collect()
}

fn chosen(column: &Column, schema: Option<Schema<'_>>, names: &mut Names) -> Option<Chosen> {
    let json_path = column.json_path.trim();
    if matches!(
        json_path,
        ".metadata.creationTimestamp" | ".metadata.name" | ".metadata.namespace" | ".metadata.uid"
    ) {
        return None;
    }
    let words = plain_words(json_path);
    let is_news = |word: &&str| column.value_type == "date" && word.starts_with("last");
    if words.last().is_some_and(is_news) {
        return None;
    }
    let path = path(json_path)?;
    // What a path calls it, if the column's own word will not do.
    let tail = |count: usize| {
        let from = words.len().saturating_sub(count);
        camel(&words.get(from..).unwrap_or_default().join(" "))
    };
    let name = names.take(&[camel(&column.name), tail(1), tail(2)])?;
    let origin = format!("the printer column {:?}", column.name);
    Some(Chosen {
        name,
        optional: path.starts_with("cel:") || path.contains('['),
        value_type: value_type(column, json_path, &path, schema),
        path,
        origin: told(&origin, &column.description),
    })
}

/// The way of a column, in a form that a profile takes.
fn path(json_path: &str) -> Option<String> {
    let is_plain = json_path.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let of_path = if is_plain { format!("${json_path}") } else { format!("{{{json_path}}}") };
    // Naming the element is what filters are mostly for, and quicker.
    let candidates = [by_element(json_path), Some(of_path)];
    candidates.into_iter().flatten().find(|path| compiles(path))
}

/// `.status.conditions[?(@.type=="Ready")].status` as an expression.
fn by_element(json_path: &str) -> Option<String> {
    let (list, rest) = json_path.split_once("[?(@.")?;
    let (test, field) = rest.split_once(")].")?;
    let (key, value) = test.split_once("==")?;
    let value = value.trim();
    let value = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'))
        .or_else(|| value.strip_prefix('\'')?.strip_suffix('\''))?;
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let are_words = list.starts_with('.')
        && list.split('.').skip(1).chain(field.split('.')).all(is_word)
        && is_word(key.trim());
    let is_tame = !value.contains(['"', '\\', '\'']) && !value.chars().any(char::is_control);
    (are_words && is_tame).then(|| of_element(list, key.trim(), value, field))
}

/// What the schema says, or else the column.
fn value_type(
    column: &Column,
    json_path: &str,
    path: &str,
    schema: Option<Schema<'_>>,
) -> Option<&'static str> {
    // One match is a value and several are a list, so nothing can be said.
    if path.contains("[*]")
        || path.contains("..")
        || path.contains(':') && !path.starts_with("cel:")
    {
        return None;
    }
    let of_schema = schema.and_then(|schema| {
        let way = json_path.strip_prefix('.')?;
        way.split('.').try_fold(schema, Schema::field)?.value_type()
    });
    of_schema.unwrap_or(match column.value_type.as_str() {
        "string" | "date" => Some("string"),
        "integer" => Some("int"),
        "number" => Some("number"),
        "boolean" => Some("bool"),
        _ => None,
    })
}

/// The fields that a path names, without what stands in brackets.
fn plain_words(json_path: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    json_path
        .split(|c| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == '[' || c == ']' || (depth == 0 && c == '.')
        })
        .filter(|word| !word.is_empty() && !word.starts_with('?') && *word != "*")
        .collect()
}

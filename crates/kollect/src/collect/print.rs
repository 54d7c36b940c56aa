//! Rows on standard output.

use std::io::{self, Write};

use jiff::Timestamp;
use kollect_inventory::{
    Identity, Row,
    envelope::{self, Header},
};
use kollect_sinks::{ProfileSchema, Schema};
use serde_json::{Value, json};

use super::{config::Config, visit::Visit, world::World};
use crate::{args::RowFormat, yaml};

/// Wider values are cut in tables.
const WIDEST: usize = 60;

/// Prints every inventory, one record each, or a table for each profile.
pub(super) fn rows(
    config: &Config,
    visits: &[Visit],
    format: RowFormat,
    now: Timestamp,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let found = visits
        .iter()
        .filter_map(|visit| Some((visit.cluster.as_str(), &*visit.found.as_ref().ok()?.world)));
    let worlds: Vec<_> = found.collect();
    if format == RowFormat::Table {
        return tables(config, &worlds, out);
    }
    let mut records = Vec::new();
    for (context, world) in &worlds {
        for (at, inventory) in config.inventories.iter().enumerate() {
            let header = Header {
                generation: inventory.generation,
                part: None,
                exported_at: now,
                cluster: (*context).into(),
            };
            let document = envelope::encode(&header, &world.rows(at));
            let (namespace, name) = (&inventory.key.namespace, &inventory.key.name);
            records.push(json!({
                "context": context,
                "targetNamespace": namespace,
                "targetName": name,
                "path": format!("inventory/{namespace}/{name}.json"),
                "envelope": serde_json::from_slice::<Value>(&document)?,
            }));
        }
    }
    match format {
        RowFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &records)?;
            writeln!(out)?;
        }
        RowFormat::Ndjson => {
            for record in &records {
                writeln!(out, "{record}")?;
            }
        }
        RowFormat::Yaml => {
            for record in &records {
                write!(out, "---\n{}", yaml::text(record))?;
            }
        }
        RowFormat::Table => {}
    }
    Ok(())
}

fn tables(config: &Config, worlds: &[(&str, &World)], out: &mut impl Write) -> anyhow::Result<()> {
    let mut is_first = true;
    for (at, inventory) in config.inventories.iter().enumerate() {
        for profile in &inventory.schema.profiles {
            let mut lines = vec![headline(profile, worlds.len() > 1)];
            for (context, world) in worlds {
                for row in world.rows(at).iter().filter(|row| is_of(profile, &row.identity())) {
                    lines.push(line(profile, row, (worlds.len() > 1).then_some(*context))?);
                }
            }
            if !std::mem::take(&mut is_first) {
                writeln!(out)?;
            }
            writeln!(out, "{} ({} rows)", profile.name, lines.len() - 1)?;
            aligned(&lines, out)?;
        }
    }
    Ok(())
}

fn headline(profile: &ProfileSchema, with_context: bool) -> Vec<String> {
    let context = with_context.then_some("context");
    let columns = profile.columns.iter().map(|column| column.name.as_str());
    let names = context.into_iter().chain(["namespace", "name"]).chain(columns);
    names.map(str::to_uppercase).collect()
}

/// The cells of one row.
pub(super) fn cells(
    schema: &Schema,
    row: &Row,
    context: Option<&str>,
) -> serde_json::Result<Vec<String>> {
    match schema.profiles.iter().find(|profile| is_of(profile, &row.identity())) {
        Some(profile) => line(profile, row, context),
        None => Ok(Vec::new()),
    }
}

/// Whether a row was made by a profile.
fn is_of(profile: &ProfileSchema, identity: &Identity<'_>) -> bool {
    profile.targets.iter().any(|target| {
        target.name == identity.target_name
            && target.namespace.as_ref().is_none_or(|one| *one == identity.target_namespace)
    })
}

fn line(
    profile: &ProfileSchema,
    row: &Row,
    context: Option<&str>,
) -> serde_json::Result<Vec<String>> {
    let attributes: Value = serde_json::from_slice(row.attributes())?;
    let identity = row.identity();
    let namespace = if identity.namespace.is_empty() { "-" } else { &identity.namespace };
    let mut cells: Vec<_> = context.into_iter().map(str::to_owned).collect();
    cells.extend([namespace.to_owned(), identity.name.to_string()]);
    cells.extend(profile.columns.iter().map(|column| cell(attributes.get(&column.name))));
    Ok(cells)
}

fn cell(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items))
            if items.iter().all(|item| !item.is_object() && !item.is_array()) =>
        {
            let texts: Vec<_> = items.iter().map(|item| cell(Some(item))).collect();
            texts.join(",")
        }
        Some(other) => other.to_string(),
    };
    let one_line: String =
        text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    if one_line.chars().count() > WIDEST {
        let front: String = one_line.chars().take(WIDEST - 1).collect();
        format!("{front}…")
    } else {
        one_line
    }
}

/// Columns as wide as their widest cell.
fn aligned(lines: &[Vec<String>], out: &mut impl Write) -> io::Result<()> {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    for line in lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: Value, expected: &str) {
        assert_eq!(cell(Some(&value)), expected);
    }

    #[test]
    fn a_cell_is_short_and_on_one_line() {
        check(json!("web:1"), "web:1");
        check(json!(["a", "b"]), "a,b");
        check(json!(null), "-");
        check(json!({"a": [1]}), r#"{"a":[1]}"#);
        check(json!("two\nlines"), "two lines");
        check(json!("x".repeat(80)), &format!("{}…", "x".repeat(59)));
        assert_eq!(cell(None), "-");
    }
}

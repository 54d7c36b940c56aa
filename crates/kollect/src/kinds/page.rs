//! The page of one kind.

use std::{
    collections::BTreeMap,
    fmt::{Error, Write as _},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use kollect_operator::{Word, words, words_of_copies, words_of_coverage};
use kollect_validate::{Kind, Rule};

use super::{
    Defined,
    about::{About, about},
    fields::{Block, Field, blocks, refusals},
    file,
};
use crate::validate::backends;

/// The page of a kind.
pub(super) fn text(of: &Defined) -> Result<String, Error> {
    let about = about(of.kind);
    let mut text = format!("# {}\n\n{}\n\n", of.kind.name(), of.purpose());
    facts(of, &about, &mut text)?;
    example(of.kind, &about, &mut text)?;
    spec(of, &mut text)?;
    missing(of, &about, &mut text)?;
    status(of, &mut text)?;
    rules(of.kind, &mut text)?;
    Ok(text)
}

impl Defined {
    /// The schema of the whole object.
    pub(super) fn schema(&self) -> Option<&JSONSchemaProps> {
        let version = self.definition.spec.versions.first()?;
        version.schema.as_ref()?.open_api_v3_schema.as_ref()
    }

    fn part(&self, name: &str) -> Option<&JSONSchemaProps> {
        self.schema()?.properties.as_ref()?.get(name)
    }

    fn columns(&self) -> Vec<&str> {
        let versions = self.definition.spec.versions.first();
        let columns = versions.and_then(|one| one.additional_printer_columns.as_ref());
        columns.into_iter().flatten().map(|column| column.name.as_str()).collect()
    }
}

fn facts(of: &Defined, about: &About, text: &mut String) -> Result<(), Error> {
    let short = of.short();
    let place = if of.kind.is_namespaced() { "a namespace" } else { "the cluster" };
    writeln!(text, "| | |\n|---|---|")?;
    writeln!(
        text,
        "| Write it as | `apiVersion: kollect.dev/v1alpha1`, `kind: {}` |",
        of.kind.name()
    )?;
    writeln!(text, "| Short name | `{short}` |\n| Lives in | {place} |")?;
    writeln!(text, "| `kubectl get {short}` shows | {} |", of.columns().join(", "))?;
    for (kind, how) in about.neighbours {
        writeln!(text, "| [{}]({}) | {how} |", kind.name(), file(*kind))?;
    }
    let guides = about.guides.iter().map(|(file, title)| format!("[{title}](../../guide/{file})"));
    let guides: Vec<_> = guides.collect();
    writeln!(text, "| Read more | {} |\n", guides.join(" · "))
}

/// The document of a sample that is of the kind.
fn example(kind: Kind, about: &About, text: &mut String) -> Result<(), Error> {
    let (path, sample) = about.sample;
    let line = format!("kind: {}", kind.name());
    let mut documents = sample.split("---\n");
    let document = documents.find(|one| one.lines().any(|one| one == line)).unwrap_or_default();
    let is_comment = |line: &&str| line.starts_with('#');
    let document: Vec<_> = document.lines().skip_while(is_comment).collect();
    writeln!(text, "## Example\n\n```yaml\n{}\n```\n", document.join("\n"))?;
    let words: Vec<_> =
        sample.lines().take_while(is_comment).map(|line| line.trim_start_matches("# ")).collect();
    writeln!(text, "{}", words.join("\n"))?;
    writeln!(text, "It stands in [{path}](../../../deploy/samples/{path}).\n")
}

fn spec(of: &Defined, text: &mut String) -> Result<(), Error> {
    let Some(schema) = of.part("spec") else { return Ok(()) };
    writeln!(text, "## Spec\n")?;
    let blocks = blocks(schema);
    for block in &blocks {
        table(block, &blocks, "Takes", text)?;
    }
    let refusals = refusals(schema);
    if !refusals.is_empty() {
        writeln!(text, "The API server itself says no, without a webhook, in these words:\n")?;
        for one in refusals {
            writeln!(text, "- {one}")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

/// One block; what it takes may be required, what it holds is ours to write.
fn table(block: &Block, blocks: &[Block], does: &str, text: &mut String) -> Result<(), Error> {
    if !block.name.is_empty() {
        writeln!(text, "### {}\n", block.name)?;
    }
    let has_defaults = block.fields.iter().any(|field| !field.default.is_empty());
    if has_defaults {
        writeln!(text, "| Field | {does} | Default | Meaning |\n|---|---|---|---|")?;
    } else {
        writeln!(text, "| Field | {does} | Meaning |\n|---|---|---|")?;
    }
    for Field { path, shape, is_required, default, meaning, entries: _ } in &block.fields {
        let has_block = block.name.is_empty() && blocks.iter().any(|one| &one.name == path);
        let field = if has_block {
            format!("[`{path}`](#{})", path.to_lowercase())
        } else {
            format!("`{path}`")
        };
        let required = if *is_required && does == "Takes" { ", **required**" } else { "" };
        let default = if has_defaults { format!(" {} |", cell(default)) } else { String::new() };
        writeln!(text, "| {field} | {}{required} |{default} {} |", cell(shape), cell(meaning))?;
    }
    writeln!(text)?;
    entries(block, text)
}

/// What lists take that take more than one form; once for all that are alike.
fn entries(block: &Block, text: &mut String) -> Result<(), Error> {
    let mut told = BTreeMap::<&str, Vec<String>>::new();
    for field in block.fields.iter().filter(|field| !field.entries.is_empty()) {
        told.entry(&field.entries).or_default().push(format!("`{}`", field.path));
    }
    for (words, fields) in told {
        writeln!(text, "An entry of {}: {words}\n", fields.join(", "))?;
    }
    Ok(())
}

/// What stands in a cell must not end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace("\n\n", " ").replace('\n', " ")
}

/// What this build lacks.
fn missing(of: &Defined, about: &About, text: &mut String) -> Result<(), Error> {
    let mut lines: Vec<String> = about.missing.iter().map(|line| (*line).to_owned()).collect();
    let types = types(of);
    let present = backends();
    let (there, absent): (Vec<&str>, Vec<_>) =
        types.iter().map(String::as_str).partition(|one| present.contains(one));
    if !types.is_empty() && !absent.is_empty() {
        let quoted = |names: &[&str]| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let has = if there.is_empty() { "none of its types".to_owned() } else { quoted(&there) };
        lines.push(format!(
            "`type`: this build writes to {has}. The types {} are checked and accepted, with the \
             remark [SNK-W12](../rules.md#snk-w12), and their inventories say `ExportTerminal`.",
            quoted(&absent)
        ));
    }
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(text, "## Not in this build\n")?;
    for line in lines {
        writeln!(text, "- {line}")?;
    }
    writeln!(text)
}

/// The types of a sink.
fn types(of: &Defined) -> Vec<String> {
    let is_sink = matches!(of.kind, Kind::SnapshotSink | Kind::DatabaseSink | Kind::EventSink);
    let spec = of.part("spec").filter(|_| is_sink);
    let field = spec.and_then(|spec| spec.properties.as_ref()?.get("type"));
    let values = field.and_then(|field| field.enum_.as_ref());
    values.into_iter().flatten().filter_map(|value| value.0.as_str().map(str::to_owned)).collect()
}

fn status(of: &Defined, text: &mut String) -> Result<(), Error> {
    let Some(schema) = of.part("status") else {
        return writeln!(text, "## Status\n\nIt has none: nobody writes to it but you.\n");
    };
    writeln!(text, "## Status\n")?;
    let blocks = blocks(schema);
    for block in &blocks {
        table(block, &blocks, "Holds", text)?;
    }
    let of_kind = words(of.kind);
    if of_kind.is_empty() {
        return Ok(());
    }
    writeln!(text, "## Conditions\n")?;
    reasons(&of_kind, text)?;
    if matches!(of.kind, Kind::Inventory | Kind::ClusterInventory) {
        writeln!(text, "In `sinkExports[]`, of one copy:\n")?;
        reasons(words_of_copies(), text)?;
        writeln!(text, "In `coverage[]`, why something could not be read:\n")?;
        writeln!(text, "| Reason | Says |\n|---|---|")?;
        for Word { reason, says, .. } in words_of_coverage() {
            writeln!(text, "| `{reason}` | {says} |")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

fn reasons(words: &[Word], text: &mut String) -> Result<(), Error> {
    writeln!(text, "| Condition | Reason | Says |\n|---|---|---|")?;
    let mut ordered = words.to_vec();
    let first = |word: &Word| {
        let same = |one: &Word| one.condition == word.condition;
        words.iter().position(same).unwrap_or_default()
    };
    ordered.sort_by_key(|word| (first(word), word.status == "False"));
    for Word { condition, status, reason, says } in ordered {
        let reason = if reason == "…" { "…".to_owned() } else { format!("`{reason}`") };
        writeln!(text, "| `{condition}` = {status} | {reason} | {says} |")?;
    }
    writeln!(text)
}

fn rules(kind: Kind, text: &mut String) -> Result<(), Error> {
    writeln!(text, "## Rules\n")?;
    writeln!(
        text,
        "`kollect validate` and the operator judge it by these; a W only warns. \
         What holds for every kind is in the [list of all rules](../rules.md).\n"
    )?;
    writeln!(text, "| Rule | Speaks up when |\n|---|---|")?;
    let concerns_all = |rule: &Rule| Kind::ALL.iter().all(|kind| rule.concerns(*kind));
    let own = Rule::ALL.iter().filter(|rule| rule.concerns(kind) && !concerns_all(rule));
    for rule in own {
        let (id, anchor) = (rule.id(), rule.id().to_lowercase());
        writeln!(text, "| [{id}](../rules.md#{anchor}) | {} |", rule.summary())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_an_example_of_its_kind() {
        for one in super::super::all() {
            let text = text(&one).unwrap();
            let example = text.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
            assert!(example.contains(&format!("\nkind: {}\n", one.kind.name())), "{text}");
        }
    }

    #[test]
    fn every_field_of_the_schema_has_a_line() {
        fn paths(schema: &JSONSchemaProps) -> Vec<String> {
            blocks(schema).into_iter().flat_map(|one| one.fields).map(|one| one.path).collect()
        }
        for one in super::super::all() {
            let text = text(&one).unwrap();
            for path in one.part("spec").map(paths).unwrap() {
                assert!(text.contains(&format!("`{path}`")), "{path} of {}", one.kind.name());
            }
        }
    }
}

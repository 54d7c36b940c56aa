//! All rows in one document, or in parts of one.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet},
};

use kollect_api::Format;
use kollect_inventory::{
    Change, Effect, PartitionKey, Row, digest,
    envelope::{self, Header},
    parts::{self, Part},
    sort,
    watermark::{Missing, Recorded},
};

use super::{
    chain,
    difference::{Sameness, Wanted, WantedFile, difference, place, whole},
    read_back,
    work::{Plan, Unit, Work},
};
use crate::{
    encode::{self, Content},
    layout::{Layout, ownership::Ownership, path::Edition},
    sink::{Document, Patience, Receipt, RefusedRow, SinkError},
};

/// A row with fewer brackets is not nested too deeply, and is spared a trial.
const SURELY_FLAT: usize = 100;

/// Brings the document up to date.
pub(super) fn export(mut work: Work<'_>, cluster: &str, prune: bool) -> Result<Receipt, SinkError> {
    let (export, layout) = (work.export, work.layout);
    let document = export.document.as_ref().ok_or_else(|| {
        SinkError::Unusable("a document was asked for without the rows that it holds".to_owned())
    })?;
    let missing = work.missing(&document.confines);
    let is_all = matches!(*export.change, Change::All { .. });
    if is_all && !missing.is_empty() && export.patience == Patience::Waits {
        return Err(SinkError::Waiting(missing.into_iter().map(|one| one.partition).collect()));
    }
    let (mut owned, broken) = work.owned()?;
    let mut rows = document.rows.clone();
    rows.extend(carried_over(&mut work, document, &missing, &owned)?);
    sort(&mut rows);
    let (count, all) = (rows.len(), rows.clone());
    let checksum = || digest::checksum(&all);
    let header = Header {
        generation: export.generation,
        part: None,
        exported_at: export.at,
        cluster: Cow::Borrowed(cluster),
    };
    let mut refused = Vec::new();
    let wanted = wanted(&work, layout, (&header, rows), &mut refused)?;
    let permits = document.confines.permits();
    let deletable = |line: &_| place(line).is_none_or(|place| permits.delete(place));
    let found = difference(&mut work, wanted, (&owned, broken), deletable)?;
    if let Some((_, contested)) = found.contested.into_iter().next() {
        return Err(SinkError::Rejected { detail: contested.reason, effect: Effect::None });
    }
    let unit = if prune { Unit::Document } else { Unit::DocumentAmongOthers };
    let plan = Plan { unit, ..found.plan };
    if let Some((path, blocked)) = work.carry_out(plan, &mut owned)?.into_iter().next() {
        let detail = format!("could not write {path}: {}", blocked.reason);
        return Err(SinkError::Rejected { detail, effect: Effect::Unknown });
    }
    let recorded = export.record(&work.projection, &refused);
    let content = recorded.content.filter(|_| missing.is_empty());
    let recorded = Recorded { content, missing, ..recorded };
    let receipt = work.finish(recorded, refused, (count, &checksum))?;
    Ok(Receipt { checksum: Some(checksum()), ..receipt })
}

/// The rows that the recorded document has of partitions that cannot be read.
///
/// Rows that we have ourselves are newer. In a partial change a partition that
/// could be read until now has all its rows here, and what was deleted from it
/// must not come back.
fn carried_over(
    work: &mut Work<'_>,
    document: &Document,
    missing: &[Missing],
    owned: &Ownership,
) -> Result<Vec<Row>, SinkError> {
    let carried = carried(work, missing);
    if carried.is_empty() {
        return Ok(Vec::new());
    }
    let places: HashSet<_> = carried.iter().map(|partition| partition.place()).collect();
    let name = |row: &Row| {
        let identity = row.identity().into_owned();
        (identity.target_namespace, identity.target_name, identity.namespace, identity.name)
    };
    let mut known: HashSet<_> = document.rows.iter().map(name).collect();
    if let Change::Since { deletes, .. } = &*work.export.change {
        known.extend(deletes.iter().map(|gone| {
            let identity = gone.identity().into_owned();
            (identity.target_namespace, identity.target_name, identity.namespace, identity.name)
        }));
    }
    let mut rows = Vec::new();
    for line in owned.lines().filter(|line| place(line).is_none()) {
        let found = work.ground.present(&line.path)?;
        match found.as_deref().map(read_back::rows) {
            Some(Some(recorded)) => rows.extend(recorded),
            Some(None) => {
                let text = "is not a document, and rows that cannot be read now are lost with it";
                work.warnings.push(format!("{} {text}", line.path));
            }
            None => {}
        }
    }
    rows.retain(|row| places.contains(&row.identity().place()) && known.insert(name(row)));
    Ok(rows)
}

/// The partitions whose rows come from the recorded document.
fn carried<'a>(work: &Work<'_>, missing: &'a [Missing]) -> Vec<&'a PartitionKey> {
    let before: HashSet<_> = work
        .recorded
        .iter()
        .flat_map(|recorded| &recorded.missing)
        .map(|missing| &missing.partition)
        .collect();
    let is_all = matches!(*work.export.change, Change::All { .. });
    let partitions = missing.iter().map(|missing| &missing.partition);
    partitions.filter(|partition| is_all || before.contains(partition)).collect()
}

/// The files of the document.
fn wanted(
    work: &Work<'_>,
    layout: &Layout,
    (header, rows): (&Header<'_>, Vec<Row>),
    refused: &mut Vec<RefusedRow>,
) -> Result<Wanted, SinkError> {
    let rows = encodable(rows, layout.format(), refused);
    let parts = match work.export.limit {
        Some(limit) => cut(header, rows, limit, refused)?,
        None => vec![Part { header: header.clone(), rows }],
    };
    let edition =
        Edition { inventory: work.export.inventory.clone(), generation: work.export.generation };
    // Only the envelope has a time; in other formats what looks like one is content.
    let sameness = match layout.format() {
        Format::Json => Sameness::ButForTime,
        _ => Sameness::Exact,
    };
    let mut files = Vec::new();
    let mut lines = BTreeSet::new();
    for part in parts {
        let path = layout.document_path(&edition, part.header.part);
        let path = path.map_err(|error| SinkError::Unusable(chain(&error)))?;
        let content = encode::document(&part.header, &part.rows, layout.format());
        let content = content.map_err(|error| SinkError::Unusable(chain(&error)))?;
        lines.insert(whole(&path));
        files.push(WantedFile { file: (path, content), sameness });
    }
    Ok(Wanted { files, lines })
}

/// Rows without those that the format cannot hold: YAML is made of decoded
/// rows, and what is nested too deeply cannot be decoded.
fn encodable(mut rows: Vec<Row>, format: Format, refused: &mut Vec<RefusedRow>) -> Vec<Row> {
    if format != Format::Yaml {
        return rows;
    }
    rows.retain(|row| {
        let brackets = row.as_json().iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
        if brackets < SURELY_FLAT {
            return true;
        }
        let error = encode::row(row, &Content::Item, format).err();
        let refusal = error.as_ref().map(|error| RefusedRow {
            identity: row.identity().into_owned(),
            reason: chain(error),
        });
        refused.extend(refusal);
        error.is_none()
    });
    rows
}

/// Cuts rows into parts; a row that is too large for any is left out.
fn cut<'a>(
    header: &Header<'a>,
    mut rows: Vec<Row>,
    limit: usize,
    refused: &mut Vec<RefusedRow>,
) -> Result<Vec<Part<'a>>, SinkError> {
    if let Ok(parts) = parts::parts(header, rows.clone(), limit) {
        return Ok(parts);
    }
    let numbered = Header { part: Some((rows.len(), rows.len())), ..header.clone() };
    let around = envelope::encode(&numbered, &[]).len();
    rows.retain(|row| {
        let needed = around + row.as_json().len();
        if needed > limit {
            let reason = format!("needs a document of {needed} bytes, and {limit} are allowed");
            refused.push(RefusedRow { identity: row.identity().into_owned(), reason });
        }
        needed <= limit
    });
    parts::parts(header, rows, limit).map_err(|error| SinkError::Unusable(chain(&error)))
}

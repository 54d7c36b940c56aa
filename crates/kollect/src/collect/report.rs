//! How it went, for people.

use std::io::{self, Write};

use kollect_sinks::{SinkKey, SinkSpec};

use super::{
    config::{Config, InventoryPlan},
    copy::Copied,
    visit::{Findings, Visit},
    world::Outcome,
};

/// Says what was found and copied, and what was not.
pub(super) fn all(config: &Config, visits: &[Visit], says: &mut impl Write) -> io::Result<()> {
    for remark in &config.remarks {
        writeln!(says, "note: {remark}")?;
    }
    for Visit { cluster, found } in visits {
        let prefix = if visits.len() > 1 { format!("{cluster}: ") } else { String::new() };
        match found {
            Ok(findings) => visited(findings, &prefix, says)?,
            Err(error) => writeln!(says, "{prefix}failed: {error}")?,
        }
    }
    next_steps(config, visits, says)
}

fn visited(findings: &Findings, prefix: &str, says: &mut impl Write) -> io::Result<()> {
    let Findings { objects, outcomes, copies, .. } = findings;
    let sum = |what: fn(&Outcome) -> u64| outcomes.iter().map(what).sum::<u64>();
    let objects = objects.map_or_else(|| sum(|one| one.tally.objects), |count| count as u64);
    let (rows, hidden) = (sum(|one| one.tally.rows), sum(|one| one.tally.hidden));
    let targets = outcomes.len();
    writeln!(
        says,
        "{prefix}{objects} objects read, {rows} rows for {targets} targets, {hidden} values hidden"
    )?;
    for Outcome { target, tally, skipped } in outcomes {
        for reason in skipped {
            writeln!(says, "{prefix}skipped: target {target}: {reason}")?;
        }
        for failed in &tally.failures {
            let (namespace, name) = (&failed.namespace, &failed.name);
            writeln!(
                says,
                "{prefix}failed: target {target}: {namespace}/{name}: {}",
                failed.reason
            )?;
        }
        let more = tally.failed.saturating_sub(tally.failures.len() as u64);
        if more > 0 {
            writeln!(says, "{prefix}failed: target {target}: and {more} more")?;
        }
    }
    for Copied { inventory, sink, rows, outcome, .. } in copies {
        match outcome {
            Ok(text) => {
                writeln!(says, "{prefix}{inventory} -> {sink}: {rows} rows there ({text})")?;
            }
            Err(text) => writeln!(says, "{prefix}{inventory} -> {sink}: failed: {text}")?,
        }
    }
    Ok(())
}

/// Says how to look at what was written.
fn next_steps(config: &Config, visits: &[Visit], says: &mut impl Write) -> io::Result<()> {
    let found = visits.iter().filter_map(|visit| visit.found.as_ref().ok());
    let copies: Vec<_> = found.flat_map(|findings| &findings.copies).collect();
    let good = |key: &SinkKey| copies.iter().any(|one| one.key == *key && one.outcome.is_ok());
    let mut steps = Vec::new();
    for (key, spec) in config.sinks.iter().filter(|(key, _)| good(key)) {
        match spec {
            SinkSpec::Database(spec) => {
                let feeds = |one: &&InventoryPlan| one.sinks.iter().any(|(sink, _)| sink == key);
                let inventory = config.inventories.iter().find(feeds);
                let profile = inventory.and_then(|one| one.schema.profiles.first());
                if let (Some(sqlite), Some(profile)) = (&spec.sqlite, profile) {
                    let (path, view) = (&sqlite.path, &profile.name);
                    steps.push(format!("sqlite3 {path} 'select * from \"{view}\"'"));
                }
            }
            SinkSpec::Snapshot(spec) => {
                steps.extend(spec.file.iter().map(|file| format!("find {} -type f", file.path)));
            }
            SinkSpec::Event(_) => {}
        }
    }
    if steps.is_empty() {
        return Ok(());
    }
    writeln!(says, "\nnext, look at what is there now:")?;
    steps.iter().try_for_each(|step| writeln!(says, "  {step}"))
}

//! Says what was found.

use std::io::{self, Write};

use serde::Serialize;

use super::judge::{Finding, Severity, Verdict};
use kollect_collect::Failure;

/// For people: what is wrong, then where.
pub(crate) fn human(verdict: &Verdict, out: &mut impl Write) -> io::Result<()> {
    for finding in &verdict.findings {
        let severity = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(out, "{severity}[{}]: {}", finding.rule, finding.message)?;
        let Finding { file, line, column, document, .. } = finding;
        writeln!(
            out,
            "  --> {file}:{line}:{column} (document {document}, {})\n",
            subject(finding)
        )?;
    }
    for Failure { file, at, reason } in &verdict.failures {
        match at {
            Some(at) => {
                writeln!(out, "error: cannot be read: {reason}")?;
                writeln!(out, "  --> {file}:{}:{}\n", at.line, at.column)?;
            }
            None => writeln!(out, "error: {file}: {reason}\n")?,
        }
    }
    let errors = verdict.errors().count() + verdict.failures.len();
    let warnings = verdict.findings.len() - verdict.errors().count();
    let checked = counted(verdict.checked, "object");
    let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
    write!(out, "{checked} checked: {errors}, {warnings}")?;
    match verdict.passed_over {
        0 => writeln!(out)?,
        other => writeln!(out, " ({} of other kinds passed over)", counted(other, "object"))?,
    }
    Ok(())
}

/// For programs: everything in one object.
pub(super) fn json(verdict: &Verdict, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Document<'a> {
        checked: usize,
        passed_over: usize,
        findings: &'a [Finding],
        failures: Vec<Unreadable<'a>>,
    }
    #[derive(Serialize)]
    struct Unreadable<'a> {
        file: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<usize>,
        reason: &'a str,
    }
    let failures = verdict.failures.iter().map(|failure| Unreadable {
        file: &failure.file,
        line: failure.at.map(|at| at.line),
        column: failure.at.map(|at| at.column),
        reason: &failure.reason,
    });
    let document = Document {
        checked: verdict.checked,
        passed_over: verdict.passed_over,
        findings: &verdict.findings,
        failures: failures.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The object that a finding is about.
fn subject(finding: &Finding) -> String {
    let Finding { kind, namespace, name, .. } = finding;
    match (namespace.as_str(), name.as_str()) {
        (_, "") => kind.clone(),
        ("", name) => format!("{kind} {name}"),
        (namespace, name) => format!("{kind} {namespace}/{name}"),
    }
}

fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

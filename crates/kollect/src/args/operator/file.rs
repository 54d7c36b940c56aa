//! Settings from a file, as flags: what can be set has one spelling, one
//! default and one check, wherever it stands.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::Path,
};

use anyhow::{Context, anyhow, bail};
use clap::{Arg, CommandFactory, Parser, parser::ValueSource};
use kollect_collect::{Found, Source, read};
use serde_json::Value;

use super::OperatorArgs;
use crate::args::{Args, Command};

/// What cannot stand in a file.
const NOT_IN_FILES: [&str; 3] = ["config", "help", "version"];

impl OperatorArgs {
    /// What flags come to.
    pub(crate) fn of(flags: impl IntoIterator<Item = OsString>) -> anyhow::Result<Self> {
        parse(flags)
    }

    /// These flags, and where they say nothing, what their file says.
    ///
    /// `given` is the command line that they were read from, with the program
    /// and the command first.
    pub(crate) fn with_file(
        self,
        given: impl IntoIterator<Item = OsString>,
    ) -> anyhow::Result<Self> {
        let Some(file) = &self.config else { return Ok(self) };
        let context = || format!("--config {}", file.display());
        let settings = settings(file).with_context(context)?;
        // What is wrong in the file is told by the file's name, whoever wins.
        parse(settings.values().cloned()).with_context(context)?;
        let given: Vec<_> = given.into_iter().skip(2).collect();
        let said = said(&given)?;
        let unsaid = settings.into_iter().filter(|(name, _)| !said.contains(name));
        parse(unsaid.map(|(_, flag)| flag).chain(given))
    }
}

/// The flags of the operator as a command line says them.
fn parse(flags: impl IntoIterator<Item = OsString>) -> anyhow::Result<OperatorArgs> {
    let args = Args::try_parse_from(line(flags));
    let args = args.map_err(|error| anyhow!("{}", first_line(&error.to_string())))?;
    match args.command {
        Command::Operator(args) => Ok(*args),
        _ => bail!("the flags of another command"),
    }
}

/// The names of the flags that a command line has itself.
fn said(flags: &[OsString]) -> anyhow::Result<BTreeSet<String>> {
    let command = Args::command();
    let matches = command.clone().try_get_matches_from(line(flags.iter().cloned()))?;
    let matches = matches.subcommand_matches("operator");
    let is_said = |arg: &&Arg| {
        let source = matches.and_then(|matches| matches.value_source(arg.get_id().as_str()));
        source == Some(ValueSource::CommandLine)
    };
    let operator = command.find_subcommand("operator").into_iter();
    let said = operator.flat_map(clap::Command::get_arguments).filter(is_said);
    Ok(said.filter_map(Arg::get_long).map(str::to_owned).collect())
}

fn line(flags: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    ["kollect", "operator"].map(OsString::from).into_iter().chain(flags)
}

/// What a file says, as flags by their names.
fn settings(file: &Path) -> anyhow::Result<BTreeMap<String, OsString>> {
    let Found { manifests, failures } = read(&[Source::Path(file.to_owned())]);
    if let Some(failure) = failures.first() {
        let place = failure.at.map(|at| format!("line {}: ", at.line)).unwrap_or_default();
        bail!("{place}{}", failure.reason);
    }
    let [manifest] = manifests.as_slice() else { bail!("must hold one document") };
    flags(&manifest.value(), &known())
}

/// Every name that may stand in a file.
fn known() -> BTreeSet<String> {
    let command = Args::command();
    let flags = command.find_subcommand("operator").into_iter();
    let flags = flags.flat_map(clap::Command::get_arguments).filter_map(Arg::get_long);
    flags.filter(|name| !NOT_IN_FILES.contains(name)).map(str::to_owned).collect()
}

fn flags(settings: &Value, known: &BTreeSet<String>) -> anyhow::Result<BTreeMap<String, OsString>> {
    let Value::Object(settings) = settings else { bail!("must map names of flags to values") };
    if let Some(name) = settings.keys().find(|name| !known.contains(*name)) {
        bail!("there is no setting {name:?}");
    }
    let flag = |(name, value): (&String, &Value)| {
        let text = text(value).with_context(|| name.clone())?;
        Ok((name.clone(), OsString::from(format!("--{name}={text}"))))
    };
    settings.iter().map(flag).collect()
}

/// A value as it would stand on the command line.
fn text(value: &Value) -> anyhow::Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Array(items) => {
            let items: anyhow::Result<Vec<_>> = items.iter().map(text).collect();
            Ok(items?.join(","))
        }
        Value::Null | Value::Object(_) => bail!("must be a text, a number, a boolean or a list"),
    }
}

/// What is said first says what is wrong; a tip about the command line follows.
fn first_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The flags of a command line, with a file that holds this text.
    fn with(text: &str, flags: &[&str]) -> anyhow::Result<OperatorArgs> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("operator.yaml");
        fs::write(&file, text).unwrap();
        let first = ["kollect", "operator", "--config", file.to_str().unwrap()];
        let given: Vec<_> = first.iter().chain(flags).map(OsString::from).collect();
        let Command::Operator(args) = Args::try_parse_from(given.clone()).unwrap().command else {
            panic!("another command");
        };
        args.with_file(given)
    }

    #[track_caller]
    fn refused(text: &str) -> String {
        let error = with(text, &[]).unwrap_err();
        let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
        chain.get(1..).unwrap_or_default().join(": ")
    }

    #[test]
    fn a_file_says_what_flags_say() {
        let text = "leader-elect: true\nwatch-namespaces: [a, b]\nmax-export-bytes: 5\n\
                    shutdown-grace: 1m\nmetrics-bind-address: ':8443'\n";
        let args = with(text, &[]).unwrap();
        assert!(args.lease.leader_elect);
        assert_eq!(args.reach.watch_namespaces, ["a", "b"]);
        assert_eq!(args.copies.max_export_bytes, 5);
        assert_eq!(args.lease.shutdown_grace.as_secs(), 60);
        assert_eq!(args.serve.metrics_bind_address, ":8443".parse().unwrap());
    }

    #[test]
    fn the_command_line_goes_before_the_file() {
        let text = "leader-elect: true\nwatch-namespaces: [a, b]\nshutdown-grace: 1m\n";
        let text = format!("{text}allow-sink-cidrs: [10.0.0.0/8]\n");
        let flags = [
            "--leader-elect=false",
            "--watch-namespaces",
            "c",
            "--allow-sink-cidrs=127.0.0.0/8,10.1.0.0/16",
        ];
        let args = with(&text, &flags).unwrap();
        assert_eq!(args.copies.addresses.allow_sink_cidrs.len(), 2);
        assert!(!args.lease.leader_elect);
        assert_eq!(args.reach.watch_namespaces, ["c"]);
        assert_eq!(args.lease.shutdown_grace.as_secs(), 60);
    }

    #[test]
    fn what_cannot_be_set_is_refused_by_its_name() {
        assert_eq!(refused("leader-elekt: true"), "there is no setting \"leader-elekt\"");
        assert_eq!(refused("config: other.yaml"), "there is no setting \"config\"");
        let expected = "watch-namespaces: must be a text, a number, a boolean or a list";
        assert_eq!(refused("watch-namespaces: {a: b}"), expected);
        assert!(refused("shutdown-grace: soon").contains("--shutdown-grace"));
        assert_eq!(refused("[a]"), "must map names of flags to values");
        assert_eq!(refused("a: 1\n---\nb: 1\n"), "must hold one document");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let given = ["kollect", "operator", "--config", "/absent.yaml"].map(OsString::from);
        let Command::Operator(args) = Args::try_parse_from(given.clone()).unwrap().command else {
            panic!("another command");
        };
        assert_eq!(args.with_file(given).unwrap_err().to_string(), "--config /absent.yaml");
    }
}

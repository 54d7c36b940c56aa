//! What cargo knows about the crates of this workspace.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run;

/// A crate of this workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Cargo's own identifier, as it stands in build messages.
    pub(crate) id: String,
    pub(crate) directory: PathBuf,
    /// Names of its normal dependencies, optional ones included; neither those
    /// of tests nor those of build scripts.
    pub(crate) uses: Vec<String>,
    pub(crate) has_library: bool,
}

/// The crates of the workspace, by `cargo metadata`.
pub(crate) fn packages(root: &Path) -> Result<Vec<Package>> {
    let mut command = run::cargo(root)?;
    let text = run::capture(command.args(["metadata", "--no-deps", "--format-version", "1"]))?;
    parse(&text).context("could not read the output of `cargo metadata`")
}

fn parse(text: &str) -> Result<Vec<Package>> {
    let metadata: Value = serde_json::from_str(text)?;
    items(&metadata, "packages")?.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package> {
    let manifest = Path::new(string(value, "manifest_path")?);
    let mut uses = Vec::new();
    for dependency in items(value, "dependencies")? {
        // A dependency of no special kind is a normal one.
        if dependency.get("kind").is_none_or(Value::is_null) {
            uses.push(string(dependency, "name")?.to_owned());
        }
    }
    let has_library = items(value, "targets")?.iter().any(|target| {
        let kinds = target.get("kind").and_then(Value::as_array);
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib" || kind == "proc-macro"))
    });
    Ok(Package {
        name: string(value, "name")?.to_owned(),
        id: string(value, "id")?.to_owned(),
        directory: manifest.parent().context("a manifest stands in no directory")?.to_owned(),
        uses,
        has_library,
    })
}

fn string<'a>(value: &'a Value, field: &str) -> Result<&'a str> {
    value.get(field).and_then(Value::as_str).with_context(|| format!("`{field}` is no text"))
}

fn items<'a>(value: &'a Value, field: &str) -> Result<&'a Vec<Value>> {
    value.get(field).and_then(Value::as_array).with_context(|| format!("`{field}` is no list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_normal_dependencies_are_kept() {
        let text = r#"{"packages": [{
            "name": "kollect-validate",
            "id": "path+file:///clone/crates/validate#kollect-validate@0.1.0",
            "manifest_path": "/clone/crates/validate/Cargo.toml",
            "dependencies": [
                {"name": "kollect-api", "kind": null},
                {"name": "proptest", "kind": "dev"},
                {"name": "cc", "kind": "build"}
            ],
            "targets": [{"kind": ["lib"]}, {"kind": ["test"]}]
        }]}"#;
        let expected = Package {
            name: "kollect-validate".into(),
            id: "path+file:///clone/crates/validate#kollect-validate@0.1.0".into(),
            directory: "/clone/crates/validate".into(),
            uses: vec!["kollect-api".into()],
            has_library: true,
        };
        assert_eq!(parse(text).unwrap(), [expected]);
    }

    #[test]
    fn a_field_that_is_not_there_is_named() {
        let error = parse(r#"{"packages": [{}]}"#).unwrap_err().to_string();
        assert_eq!(error, "`manifest_path` is no text");
    }
}

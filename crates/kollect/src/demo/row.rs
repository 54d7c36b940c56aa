//! Rows as copies show them, whatever the copy.

use std::collections::BTreeMap;

use serde_json::Value;

/// What tells a row from all others of the demo.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey {
    /// In small letters.
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl RowKey {
    pub(super) fn new(kind: &str, namespace: &str, name: &str) -> Self {
        Self { kind: kind.to_lowercase(), namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// What people call it: a Helm release is known by its own name.
    pub(super) fn shown(&self) -> String {
        let name = self.name.strip_prefix("sh.helm.release.v1.").unwrap_or(&self.name);
        format!("{}/{name}", self.namespace)
    }

    /// The row of a file in a Git tree; nothing if the file is no row.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let mut parts = path.strip_suffix(".yaml")?.split('/');
        let (_cluster, namespace) = (parts.next().filter(|one| *one != ".kollect")?, parts.next()?);
        let key = Self::new(parts.next()?, namespace, parts.next()?);
        parts.next().is_none().then_some(key)
    }
}

/// The attributes of a row that are no list and no map, as text.
pub(super) type Row = BTreeMap<String, String>;

/// Reads a row of a database, and whose it is.
pub(super) fn of_json(payload: &str) -> Option<(RowKey, Row)> {
    let value: Value = serde_json::from_str(payload).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let key = RowKey::new(text("kind"), text("namespace"), text("name"));
    let attributes = value.get("attributes").and_then(Value::as_object)?;
    let plain = |(name, value): (&String, &Value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((name.clone(), text))
    };
    Some((key, attributes.iter().filter_map(plain).collect()))
}

/// Reads the row in a file as our own sinks write it.
pub(super) fn of_yaml(file: &str) -> Row {
    let lines = file.lines().skip_while(|line| *line != "attributes:").skip(1);
    let lines = lines.take_while(|line| line.starts_with(' '));
    let attribute = |line: &str| {
        let (name, value) = line.strip_prefix("  ")?.split_once(": ")?;
        (!name.starts_with([' ', '-'])).then(|| (name.to_owned(), unquoted(value)))
    };
    lines.filter_map(attribute).collect()
}

/// A scalar without the quotes that YAML may need.
fn unquoted(text: &str) -> String {
    let single = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    if let Some(text) = single {
        return text.replace("''", "'");
    }
    // What is between double quotes is spelled as JSON spells it.
    match text.starts_with('"').then(|| serde_json::from_str(text)) {
        Some(Ok(text)) => text,
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_whose_row_it_is_by_its_path() {
        let key = RowKey::new("Deployment", "shop", "web");
        assert_eq!(RowKey::of_path("eu-1/shop/deployment/web.yaml"), Some(key));
        for other in [".kollect/eu-1/shop/x.yaml", "eu-1/shop/web.yaml", "README.md", ""] {
            assert_eq!(RowKey::of_path(other), None, "{other}");
        }
    }

    #[test]
    fn a_helm_release_is_shown_by_its_own_name() {
        let key = RowKey::new("Secret", "shop", "sh.helm.release.v1.cache.v3");
        assert_eq!(key.shown(), "shop/cache.v3");
        assert_eq!(RowKey::new("Service", "shop", "web").shown(), "shop/web");
    }

    #[test]
    fn a_row_reads_the_same_in_both_copies() {
        let json = r#"{"kind":"Deployment","namespace":"shop","name":"web","attributes":
            {"image":"web:1.2","replicas":3,"note":"it's","ready":"True","tags":["a"],"none":null}}"#;
        let yaml = "attributes:\n  image: web:1.2\n  note: 'it''s'\n  ready: \"True\"\n  \
                    replicas: 3\n  tags:\n  - a\nkind: Deployment\n";
        let (key, row) = of_json(json).unwrap();
        assert_eq!(key, RowKey::new("deployment", "shop", "web"));
        assert_eq!(row, of_yaml(yaml));
        assert_eq!(row.get("replicas").map(String::as_str), Some("3"));
    }
}

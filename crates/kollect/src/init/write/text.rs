//! YAML as people write it.

use crate::init::attributes::Chosen;

/// Comment, kind and name of an object, line by line.
pub(super) fn head(comment: &str, kind: &str, name: &str, namespace: &str) -> Vec<String> {
    let mut lines: Vec<_> = comment.lines().map(|line| format!("# {line}")).collect();
    lines.push("apiVersion: kollect.dev/v1alpha1".to_owned());
    lines.push(format!("kind: {kind}"));
    lines.push("metadata:".to_owned());
    lines.push(format!("  name: {}", scalar(name)));
    lines.push(format!("  namespace: {}", scalar(namespace)));
    lines
}

/// One attribute in the list of a profile, line by line.
pub(super) fn item(one: &Chosen) -> Vec<String> {
    let Chosen { name, path, value_type, optional, origin: _ } = one;
    let mut lines = vec![format!("    - name: {}", scalar(name))];
    lines.push(format!("      path: {}", scalar(path)));
    lines.extend(value_type.map(|value_type| format!("      type: {value_type}")));
    lines.extend(optional.then(|| "      optional: true".to_owned()));
    lines
}

/// The text of some lines.
pub(super) fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// A text, with quotes only where a reader could take it for something else.
pub(super) fn scalar(text: &str) -> String {
    let inner = |c: char| c.is_ascii_alphanumeric() || "._-/$".contains(c);
    let begins = |c: char| c.is_ascii_alphabetic() || c == '$';
    let word = text.to_ascii_lowercase();
    let means_more =
        ["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(&word.as_str());
    if text.starts_with(begins) && text.chars().all(inner) && !means_more {
        text.to_owned()
    } else if text.chars().any(char::is_control) {
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_only_where_they_must_be() {
        for (text, expected) in [
            ("$.spec.replicas", "$.spec.replicas"),
            ("cert-manager.io", "cert-manager.io"),
            ("cel:object.a", "'cel:object.a'"),
            ("{.a['b']}", "'{.a[''b'']}'"),
            ("on", "'on'"),
            ("1", "'1'"),
            ("", "''"),
            ("a\nb", "\"a\\nb\""),
        ] {
            assert_eq!(scalar(text), expected);
        }
    }
}

//! What attributes are called.

use std::collections::BTreeSet;

use kollect_expr::Json;
use kollect_extract::redact::{Findings, Keys, redact_attribute};

/// What a row has anyway.
const TAKEN: [&str; 5] = ["cluster", "kind", "name", "namespace", "uid"];

/// The names of one profile, each once; SQL does not tell them apart by case.
pub(super) struct Names {
    used: BTreeSet<String>,
    keys: Keys,
}

impl Names {
    pub(super) fn new() -> Self {
        Self { used: TAKEN.map(str::to_owned).into(), keys: Keys::new([]) }
    }

    /// The first of some proposals that is free and under which values are not
    /// hidden, or the first with a number. Nothing if all would be hidden.
    pub(super) fn take(&mut self, proposals: &[String]) -> Option<String> {
        let good: Vec<_> = proposals.iter().filter(|name| !self.hides(name)).cloned().collect();
        let first = good.first()?.clone();
        let numbered = (2..).map(|number: u32| format!("{first}{number}"));
        let mut all = good.into_iter().chain(numbered);
        let name = all.find(|name| !self.used.contains(&name.to_lowercase()))?;
        self.used.insert(name.to_lowercase());
        Some(name)
    }

    /// Whether the value of an attribute with this name is taken for a secret.
    fn hides(&self, name: &str) -> bool {
        let mut found = Findings::default();
        let mut value = Json::Text("harmless".into());
        redact_attribute(name, &mut value, &self.keys, &mut found);
        name.is_empty() || found.total() > 0
    }
}

/// Some words as one name: `Last Export` becomes `lastExport`. Empty if there
/// is no letter to begin with.
pub(super) fn camel(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        let shouts = word.chars().all(|c| !c.is_ascii_lowercase());
        let word = if shouts { word.to_ascii_lowercase() } else { word.to_owned() };
        let mut letters = word.chars();
        let first = letters.next();
        let first = first
            .map(|c| if name.is_empty() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() });
        name.extend(first.into_iter().chain(letters));
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "value");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_name_in_lower_camel_case() {
        for (text, expected) in [
            ("Ready", "ready"),
            ("Last Export", "lastExport"),
            ("READY-REPLICAS", "readyReplicas"),
            ("secretName", "secretName"),
            ("Cluster IP", "clusterIp"),
            ("95th", "value95th"),
            ("%", ""),
        ] {
            assert_eq!(camel(text), expected);
        }
    }

    #[track_caller]
    fn check(proposals: &[&[&str]], expected: &[Option<&str>]) {
        let mut names = Names::new();
        let taken = proposals.iter().map(|some| {
            let some: Vec<_> = some.iter().map(|one| (*one).to_owned()).collect();
            names.take(&some)
        });
        let taken: Vec<_> = taken.collect();
        assert_eq!(taken.iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_name_is_there_once_whatever_its_case() {
        check(
            &[&["ready"], &["Ready", "isReady"], &["ready"]],
            &[Some("ready"), Some("isReady"), Some("ready2")],
        );
    }

    #[test]
    fn what_a_row_has_anyway_is_not_a_name() {
        check(&[&["name", "issuerRefName"], &["kind"]], &[Some("issuerRefName"), Some("kind2")]);
    }

    #[test]
    fn a_name_that_would_hide_the_value_is_passed_over() {
        check(&[&["secret", "secretName"], &["password"]], &[Some("secretName"), None]);
    }
}

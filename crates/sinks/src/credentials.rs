//! What a sink needs to be let in, as values.

use std::{collections::BTreeMap, fmt};

/// The keys and values of the Secrets that a sink names.
///
/// They are handed over as values: nothing here reads Secrets, files or the
/// environment. `Debug` shows the keys alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    values: BTreeMap<String, String>,
    ca: Option<String>,
    version: String,
}

impl Credentials {
    /// Values, and a text that changes whenever one of them may have: the
    /// resourceVersions of the Secrets.
    pub fn new(values: BTreeMap<String, String>, version: impl Into<String>) -> Self {
        Self { values, ca: None, version: version.into() }
    }

    /// The first of these keys that holds something.
    pub fn get(&self, keys: &[&str]) -> Option<&str> {
        let values = keys.iter().filter_map(|key| self.values.get(*key));
        values.map(|value| value.trim()).find(|value| !value.is_empty())
    }

    /// The same with certificates to trust, in PEM: those of the Secret that
    /// `spec.tls.caSecretRef` names.
    #[must_use]
    pub fn with_ca(self, pem: impl Into<String>) -> Self {
        Self { ca: Some(pem.into()), ..self }
    }

    /// Certificates to trust, in PEM.
    pub fn ca(&self) -> Option<&str> {
        self.ca.as_deref()
    }

    /// Changes whenever a value may have.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        self.values.values().map(String::as_str)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.values.keys().collect();
        f.debug_struct("Credentials")
            .field("keys", &keys)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_that_holds_something_counts_and_none_is_shown() {
        let values = [("dsn", " "), ("url", " postgres://u:hush@h/d\n")];
        let values = values.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let credentials = Credentials::new(BTreeMap::from(values), "7");
        assert_eq!(credentials.get(&["dsn", "url"]), Some("postgres://u:hush@h/d"));
        assert_eq!(credentials.get(&["token"]), None);
        let shown = format!("{credentials:?}");
        assert!(shown.contains("url") && !shown.contains("hush"), "{shown}");
    }
}

//! Secrets among the manifests that were given.
//!
//! The command line reads them from files as it reads everything else, and
//! from the environment where a value says so.

use std::{collections::BTreeMap, env, ffi::OsString, fmt};

use anyhow::{Context as _, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kollect_api::{SecretReference, annotation};
use kollect_collect::Manifest;
use kollect_sinks::{Credentials, SecretUse, SinkSpec};
use serde_json::Value;

/// Secrets by namespace and name. `Debug` shows neither.
#[derive(Clone, Default)]
pub(crate) struct Secrets(BTreeMap<(String, String), Secret>);

/// Where a variable of the environment is looked up.
type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

#[derive(Clone, Default)]
struct Secret {
    values: BTreeMap<String, String>,
    /// Namespaces whose sinks may use it too.
    allowed: String,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Secrets", self.0.len())
    }
}

impl Secrets {
    /// The Secrets among some manifests.
    pub(crate) fn among(manifests: &[Manifest]) -> anyhow::Result<Self> {
        Self::read(manifests.iter().map(Manifest::value))
    }

    fn read(objects: impl Iterator<Item = Value>) -> anyhow::Result<Self> {
        let mut secrets = BTreeMap::new();
        for object in objects {
            let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
            if text("/kind") != Some("Secret") || text("/apiVersion") != Some("v1") {
                continue;
            }
            let name = text("/metadata/name").unwrap_or_default().to_owned();
            let namespace = text("/metadata/namespace").unwrap_or("default").to_owned();
            let values = values(&object).with_context(|| format!("Secret {namespace}/{name}"))?;
            let annotations = object.pointer("/metadata/annotations");
            let allowed = annotations.and_then(|all| all.get(annotation::ALLOW_SINK_NAMESPACES));
            let allowed = allowed.and_then(Value::as_str).unwrap_or_default().to_owned();
            secrets.insert((namespace, name), Secret { values, allowed });
        }
        Ok(Self(secrets))
    }

    /// What a sink of a namespace needs to be let in.
    pub(crate) fn credentials(
        &self,
        namespace: &str,
        spec: &SinkSpec,
    ) -> anyhow::Result<Credentials> {
        self.resolve(namespace, spec, &|name| env::var_os(name))
    }

    fn resolve(
        &self,
        namespace: &str,
        spec: &SinkSpec,
        variables: Variables<'_>,
    ) -> anyhow::Result<Credentials> {
        let read = |secret: &SecretUse<'_>| {
            let SecretUse { field, reference, .. } = secret;
            let found = self.find(namespace, reference).with_context(|| format!("spec.{field}"))?;
            let mut values = BTreeMap::new();
            for (key, value) in &found.values {
                let value = filled_in(value, variables).with_context(|| {
                    format!("spec.{field}: {} of Secret {}", key, reference.name)
                })?;
                values.insert(key.clone(), value);
            }
            anyhow::Ok((values, "given".to_owned()))
        };
        spec.credentials(|secret| read(secret).map_err(Refused)).map_err(|Refused(error)| error)
    }

    fn find(&self, namespace: &str, reference: &SecretReference) -> anyhow::Result<&Secret> {
        let SecretReference { name, namespace: elsewhere } = reference;
        let home = elsewhere.as_deref().unwrap_or(namespace);
        let exact = self.0.get(&(home.to_owned(), name.clone()));
        // Files often leave namespaces out; then the Secret of that name is meant.
        let by_name = || {
            let mut all = self.0.iter().filter(|((_, other), _)| other == name);
            all.next().map(|(_, secret)| secret).filter(|_| elsewhere.is_none())
        };
        let Some(secret) = exact.or_else(by_name) else {
            bail!("there is no Secret {home}/{name} among what was given");
        };
        let is_allowed =
            || secret.allowed.split(',').map(str::trim).any(|one| one == "*" || one == namespace);
        if home != namespace && !is_allowed() {
            let annotation = annotation::ALLOW_SINK_NAMESPACES;
            bail!(
                "Secret {home}/{name} is not for {namespace}: its annotation {annotation} does not name it"
            );
        }
        Ok(secret)
    }
}

/// Why there are no credentials.
struct Refused(anyhow::Error);

impl From<String> for Refused {
    fn from(message: String) -> Self {
        Self(anyhow::Error::msg(message))
    }
}

/// What a Secret holds; plain text wins over base64.
fn values(object: &Value) -> anyhow::Result<BTreeMap<String, String>> {
    let mut values = BTreeMap::new();
    let entries = |field: &str| object.get(field).and_then(Value::as_object).into_iter().flatten();
    for (key, value) in entries("data") {
        let bytes = value.as_str().and_then(|text| STANDARD.decode(text.trim()).ok());
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        values.insert(key.clone(), text.with_context(|| format!("{key} is no text in base64"))?);
    }
    for (key, value) in entries("stringData") {
        let text = value.as_str().with_context(|| format!("{key} is no text"))?;
        values.insert(key.clone(), text.to_owned());
    }
    Ok(values)
}

/// The value, or what the environment has in its place.
fn filled_in(value: &str, variables: Variables<'_>) -> anyhow::Result<String> {
    let Some(name) = placeholder(value) else { return Ok(value.to_owned()) };
    let found = variables(name).and_then(|text| text.into_string().ok());
    let found = found.filter(|text| !text.is_empty());
    found.with_context(|| format!("the variable {name} is not set"))
}

/// The name in a value that is `${env:NAME}` and nothing else.
fn placeholder(value: &str) -> Option<&str> {
    let name = value.strip_prefix("${env:")?.strip_suffix('}')?;
    let is_name = |(at, one): (usize, char)| {
        one == '_' || one.is_ascii_alphabetic() || (at > 0 && one.is_ascii_digit())
    };
    (!name.is_empty() && name.chars().enumerate().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets(objects: Vec<Value>) -> Secrets {
        Secrets::read(objects.into_iter()).unwrap()
    }

    fn resolve(secrets: &Secrets, spec: &SinkSpec) -> Result<Credentials, String> {
        let variables = |name: &str| (name == "DSN").then(|| OsString::from("postgres://e@h/d"));
        let found = secrets.resolve("shop", spec, &variables);
        found.map_err(|error| format!("{error:#}"))
    }

    fn secret(namespace: &str, name: &str, rest: Value) -> Value {
        let mut object = json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"namespace": namespace, "name": name}});
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        object
    }

    fn postgres(reference: Value, tls: Value) -> SinkSpec {
        let spec = json!({"type": "postgres", "tls": tls,
            "postgres": {"databaseRef": reference, "table": "t"}});
        SinkSpec::Database(Box::new(serde_json::from_value(spec).unwrap()))
    }

    #[test]
    fn plain_text_wins_and_the_environment_fills_in() {
        let values = json!({"data": {"dsn": "b2xk", "url": "dXJs"},
            "stringData": {"dsn": "${env:DSN}", "note": "a ${env:DSN}"}});
        let secrets = secrets(vec![secret("shop", "db", values)]);
        let credentials = resolve(&secrets, &postgres(json!({"name": "db"}), json!(null))).unwrap();
        assert_eq!(credentials.get(&["dsn"]), Some("postgres://e@h/d"));
        assert_eq!(credentials.get(&["url"]), Some("url"));
        assert_eq!(credentials.get(&["note"]), Some("a ${env:DSN}"));
        assert!(!format!("{secrets:?}").contains("postgres"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_named_with_its_place() {
        let values = json!({"stringData": {"dsn": "${env:NONE}"}});
        let secrets = secrets(vec![secret("shop", "db", values)]);
        let error = resolve(&secrets, &postgres(json!({"name": "db"}), json!(null))).unwrap_err();
        assert_eq!(
            error,
            "spec.postgres.databaseRef: dsn of Secret db: the variable NONE is not set"
        );
    }

    #[test]
    fn another_namespace_has_to_be_allowed() {
        let values = json!({"stringData": {"dsn": "x"}});
        let mut open = secret("base", "open", values.clone());
        open["metadata"]["annotations"] = json!({annotation::ALLOW_SINK_NAMESPACES: "pay, shop"});
        let secrets = secrets(vec![open, secret("base", "db", values)]);
        let of = |reference: Value| resolve(&secrets, &postgres(reference, json!(null))).map(drop);
        assert_eq!(of(json!({"name": "open", "namespace": "base"})), Ok(()));
        assert_eq!(of(json!({"name": "db"})), Ok(()));
        let refused = of(json!({"name": "db", "namespace": "base"})).unwrap_err();
        assert!(refused.starts_with("spec.postgres.databaseRef: Secret base/db is not for shop"));
        let missing = of(json!({"name": "none"})).unwrap_err();
        assert_eq!(
            missing,
            "spec.postgres.databaseRef: there is no Secret shop/none among what was given"
        );
    }

    #[test]
    fn certificates_are_found_under_their_usual_keys_or_missed() {
        let objects = vec![
            secret("shop", "db", json!({"stringData": {"dsn": "x"}})),
            secret("shop", "ca", json!({"stringData": {"ca.crt": " PEM "}})),
        ];
        let secrets = secrets(objects);
        let of = |name: &str| {
            let tls = json!({"caSecretRef": {"name": name}});
            resolve(&secrets, &postgres(json!({"name": "db"}), tls))
        };
        assert_eq!(of("ca").unwrap().ca(), Some("PEM"));
        assert_eq!(
            of("db").unwrap_err(),
            "spec.tls.caSecretRef: the Secret holds none of tls.crt, ca.crt, ca.pem"
        );
    }
}

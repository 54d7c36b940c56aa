//! Reads schemas: those of definitions, and those recorded of built-in kinds.

use serde_json::Value;

use crate::recorded;

/// A place in a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'a> {
    /// What is said at the place itself, as how a list is merged.
    outer: &'a Value,
    /// What is said of the type, which may stand elsewhere.
    inner: &'a Value,
}

/// How a list is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Atomic,
    Set,
    /// By the values of these fields.
    Map(Vec<String>),
}

const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

impl<'a> Schema<'a> {
    pub(crate) fn new(outer: &'a Value) -> Self {
        Self { outer, inner: resolved(outer) }
    }

    /// Under which name the type is recorded, if it stands elsewhere.
    pub(crate) fn name(&self) -> Option<&'a str> {
        reference(self.outer)
    }

    /// That of the metadata of all objects.
    pub(crate) fn metadata() -> Option<Schema<'static>> {
        recorded::schemas().get(METADATA).map(Schema::new)
    }

    /// What is said under a name, at the place or of its type.
    pub(crate) fn said(&self, name: &str) -> Option<&'a Value> {
        self.outer.get(name).or_else(|| self.inner.get(name))
    }

    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.said(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.said(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.said(name).and_then(Value::as_f64)
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<&'a str> {
        let values = self.said(name).and_then(Value::as_array).into_iter().flatten();
        values.filter_map(Value::as_str).collect()
    }

    pub(crate) fn properties(&self) -> impl Iterator<Item = (&'a String, Schema<'a>)> + use<'a> {
        let properties = self.inner.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, schema)| (name, Schema::new(schema)))
    }

    pub(crate) fn has_properties(&self) -> bool {
        self.inner.get("properties").is_some()
    }

    pub(crate) fn property(&self, name: &str) -> Option<Schema<'a>> {
        self.inner.get("properties")?.get(name).map(Schema::new)
    }

    /// That of every value of a map.
    pub(crate) fn values(&self) -> Option<Schema<'a>> {
        let values = self.inner.get("additionalProperties")?;
        values.is_object().then(|| Schema::new(values))
    }

    /// Whether a map may have any keys.
    pub(crate) fn is_open(&self) -> bool {
        self.flag("x-kubernetes-preserve-unknown-fields")
            || self
                .inner
                .get("additionalProperties")
                .is_some_and(|open| *open != Value::Bool(false))
    }

    pub(crate) fn member(&self, name: &str) -> Option<Schema<'a>> {
        self.property(name).or_else(|| self.values())
    }

    pub(crate) fn items(&self) -> Option<Schema<'a>> {
        self.inner.get("items").map(Schema::new)
    }

    pub(crate) fn is_atomic_map(&self) -> bool {
        self.text("x-kubernetes-map-type") == "atomic"
    }

    pub(crate) fn list(&self) -> List {
        match self.text("x-kubernetes-list-type") {
            "set" => List::Set,
            "map" => List::Map(
                self.texts("x-kubernetes-list-map-keys").into_iter().map(str::to_owned).collect(),
            ),
            _ => List::Atomic,
        }
    }

    /// The field by which strategic patches find an element of a list.
    pub(crate) fn merge_key(&self) -> Option<&'a str> {
        Some(self.text("x-kubernetes-patch-merge-key")).filter(|key| !key.is_empty())
    }

    pub(crate) fn merges(&self) -> bool {
        self.text("x-kubernetes-patch-strategy").split(',').any(|part| part == "merge")
    }
}

/// Follows references, of which recorded schemas are full.
fn resolved(node: &Value) -> &Value {
    reference(node).and_then(|name| recorded::schemas().get(name)).unwrap_or(node)
}

fn reference(node: &Value) -> Option<&str> {
    let reference = node.get("$ref").or_else(|| node.get("allOf")?.get(0)?.get("$ref"));
    reference.and_then(Value::as_str).and_then(|text| text.rsplit('/').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_through_references() {
        let deployment = &recorded::schemas()["io.k8s.api.apps.v1.Deployment"];
        let mut place = Schema::new(deployment);
        for name in ["spec", "template", "spec", "containers"] {
            place = place.property(name).expect(name);
        }
        assert_eq!(place.list(), List::Map(vec!["name".into()]));
        assert_eq!(place.merge_key(), Some("name"));
        assert!(place.merges());
        let ports = place.items().and_then(|container| container.property("ports"));
        assert_eq!(ports.unwrap().merge_key(), Some("containerPort"));
    }
}

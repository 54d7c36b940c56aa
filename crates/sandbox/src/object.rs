//! Objects as they are kept: text that is ready to be sent.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Map, Value};

use crate::{
    definition::Served,
    storage::events,
    table::{self, Rows},
};

/// The namespace, empty for cluster-wide objects, and the name.
pub(crate) type Key = (String, String);

/// One state of one object, cut so that every form of it is put together
/// without reading it again.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) key: Key,
    pub(crate) version: u64,
    pub(crate) labels: BTreeMap<String, String>,
    /// Whether it goes when another object goes.
    pub(crate) has_owner: bool,
    /// Whether the metadata has the order of the server's types.
    typed: bool,
    /// `"data":1,` for each field that sorts before `kind`; without the kind
    /// and its version, which depend on how it is asked for.
    before_kind: String,
    /// The same for fields that sort before `metadata`.
    before: String,
    metadata: String,
    /// `,"spec":{}` for each field that sorts after `metadata`.
    after: String,
}

/// The order in which servers write metadata that they know the type of.
const TYPED: [&str; 7] =
    ["name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "labels"];

impl Object {
    /// Takes a complete object, except for its version; `typed` if its kind is
    /// built in.
    pub(crate) fn new(key: Key, version: u64, mut fields: Map<String, Value>, typed: bool) -> Self {
        let mut metadata = match fields.remove("metadata") {
            Some(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        };
        metadata.insert("resourceVersion".to_owned(), Value::from(version.to_string()));
        let labels = match metadata.get("labels") {
            Some(Value::Object(labels)) => labels
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            _ => BTreeMap::new(),
        };
        let (mut before_kind, mut before, mut after) =
            (String::new(), String::new(), String::new());
        // Other crates may make the map keep the order of insertion.
        let fields: BTreeMap<String, Value> = fields.into_iter().collect();
        for (name, value) in &fields {
            let field = field(name, value);
            match name.as_str() {
                "apiVersion" | "kind" => {}
                name if name < "kind" => before_kind.extend([field.as_str(), ","]),
                name if name < "metadata" => before.extend([field.as_str(), ","]),
                _ => after.extend([",", field.as_str()]),
            }
        }
        let has_owner = metadata.contains_key("ownerReferences");
        let metadata = written(metadata, typed);
        Self { key, version, labels, has_owner, typed, before_kind, before, metadata, after }
    }

    /// Takes the finished text of its metadata, and `,"spec":{}` and the like.
    pub(crate) fn written(
        key: Key,
        version: u64,
        labels: BTreeMap<String, String>,
        metadata: String,
        after: String,
    ) -> Self {
        let (before_kind, before) = (String::new(), String::new());
        let has_owner = false;
        Self { key, version, labels, has_owner, typed: true, before_kind, before, metadata, after }
    }

    /// The same state under another version: what a watch says of an object
    /// that is gone.
    pub(crate) fn at(&self, version: u64) -> Self {
        Self::new(self.key.clone(), version, self.fields(), self.typed)
    }

    /// Everything but the kind and its version.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let Self { before_kind, before, metadata, after, .. } = self;
        let text = format!("{{{before_kind}{before}\"metadata\":{metadata}{after}}}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Appends it as a client sees it.
    pub(crate) fn render(&self, form: Form, served: &Served, to: &mut String) {
        let is_whole = matches!(form, Form::Whole | Form::Item);
        if is_whole && events::has_other_form(served) {
            let fields = events::shown(served, self.fields());
            let other = Self::new(self.key.clone(), self.version, fields, self.typed);
            other.render_kept(form, served, to);
        } else {
            self.render_kept(form, served, to);
        }
    }

    fn render_kept(&self, form: Form, served: &Served, to: &mut String) {
        let Self { before_kind, before, metadata, after, .. } = self;
        let definition = &served.definition;
        let (kind, version) = (&definition.kind, definition.api_version());
        let moved = moved(before_kind, before);
        let written = match form {
            Form::Row(rows) => {
                to.push_str(&table::row(self, served, rows));
                Ok(())
            }
            Form::Metadata => write!(
                to,
                r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{metadata}}}"#
            ),
            Form::Item if served.built_in => {
                write!(to, r#"{{"metadata":{metadata}{moved}{after}}}"#)
            }
            Form::Whole if served.built_in => write!(
                to,
                r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{metadata}{moved}{after}}}"#
            ),
            Form::Item | Form::Whole => write!(
                to,
                r#"{{"apiVersion":"{version}",{before_kind}"kind":"{kind}",{before}"metadata":{metadata}{after}}}"#
            ),
        };
        debug_assert!(written.is_ok(), "a string takes everything");
    }
}

fn field(name: &str, value: &Value) -> String {
    format!("{}:{value}", Value::from(name))
}

fn written(metadata: Map<String, Value>, typed: bool) -> String {
    let mut fields: Vec<(String, Value)> = metadata.into_iter().collect();
    fields.sort_by(|(one, _), (other, _)| {
        let rank = |name: &str| {
            let known = TYPED.iter().position(|known| *known == name).unwrap_or(TYPED.len());
            if typed { known } else { 0 }
        };
        (rank(one), one).cmp(&(rank(other), other))
    });
    let fields: Vec<String> = fields.iter().map(|(name, value)| field(name, value)).collect();
    format!("{{{}}}", fields.join(","))
}

/// Turns `"a":1,` into `,"a":1`.
fn moved(before_kind: &str, before: &str) -> String {
    let fields = [before_kind, before].concat();
    fields.strip_suffix(',').map(|fields| format!(",{fields}")).unwrap_or_default()
}

/// How much of an object is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    /// In a list: real servers leave out the kind of built-in items.
    Item,
    /// `PartialObjectMetadata`, which says its kind wherever it stands.
    Metadata,
    /// As a row of a table.
    Row(Rows),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recorded;

    #[track_caller]
    fn check(form: Form, is_built_in: bool, expected: &str) {
        let mut kinds = recorded::kinds().into_iter();
        let found = kinds.find(|(definition, _)| definition.kind == "ConfigMap");
        let (definition, about) = found.expect("a config map");
        let served = Served { definition, built_in: is_built_in, since: 0, about };
        let Value::Object(fields) = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}, "immutable": true,
            "metadata": {"name": "x"}, "spec": 1,
        }) else {
            panic!("an object")
        };
        let mut text = String::new();
        Object::new((String::new(), "x".into()), 7, fields, is_built_in)
            .render(form, &served, &mut text);
        assert_eq!(text, expected);
    }

    #[test]
    fn built_in_kinds_begin_with_their_metadata_and_custom_ones_are_sorted() {
        check(
            Form::Whole,
            true,
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","resourceVersion":"7"},"data":{"a":"b"},"immutable":true,"spec":1}"#,
        );
        check(
            Form::Whole,
            false,
            r#"{"apiVersion":"v1","data":{"a":"b"},"immutable":true,"kind":"ConfigMap","metadata":{"name":"x","resourceVersion":"7"},"spec":1}"#,
        );
    }

    #[test]
    fn items_of_built_in_kinds_do_not_say_their_kind() {
        check(
            Form::Item,
            true,
            r#"{"metadata":{"name":"x","resourceVersion":"7"},"data":{"a":"b"},"immutable":true,"spec":1}"#,
        );
    }

    #[test]
    fn partial_metadata_says_its_own_kind() {
        check(
            Form::Metadata,
            true,
            r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"x","resourceVersion":"7"}}"#,
        );
    }
}

//! Custom resource definitions: from the object that a client creates to the
//! kinds that the server serves.

pub(crate) mod complete;
pub(crate) mod prune;
pub(crate) mod validate;

use serde_json::{Map, Value, json};

use crate::definition::{About, Column, ResourceDefinition, ScalePaths};

/// The kinds that a definition serves, one a version, with its group and its
/// name in paths.
pub(crate) fn kinds(crd: &Value) -> (Vec<(ResourceDefinition, About)>, String, String) {
    let text =
        |path: &str| crd.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (group, plural) = (text("/spec/group"), text("/spec/names/plural"));
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
    let is_served = |version: &&Value| version.get("served") == Some(&Value::Bool(true));
    let kinds = versions.into_iter().flatten().filter(is_served).map(|version| {
        let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
        let definition = ResourceDefinition {
            group: group.clone(),
            version: name.to_owned(),
            kind: text("/spec/names/kind"),
            plural: plural.clone(),
            namespaced: text("/spec/scope") == "Namespaced",
        };
        let about = about(crd, version, &definition);
        (definition, about)
    });
    (kinds.collect(), group, plural)
}

fn about(crd: &Value, version: &Value, definition: &ResourceDefinition) -> About {
    let names = |path: &str| -> Vec<String> {
        let names = crd.pointer(path).and_then(Value::as_array).into_iter().flatten();
        names.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
    };
    let bare = About::bare(definition);
    let name = |path: &str, otherwise: String| match crd.pointer(path).and_then(Value::as_str) {
        None | Some("") => otherwise,
        Some(name) => name.to_owned(),
    };
    let columns = version.get("additionalPrinterColumns").cloned();
    let columns: Vec<Column> =
        columns.and_then(|columns| serde_json::from_value(columns).ok()).unwrap_or_default();
    About {
        singular: name("/spec/names/singular", bare.singular),
        list_kind: name("/spec/names/listKind", bare.list_kind),
        short_names: names("/spec/names/shortNames"),
        categories: names("/spec/names/categories"),
        has_status: version.pointer("/subresources/status").is_some(),
        scale: version.pointer("/subresources/scale").map(scale),
        columns,
        schema: version.pointer("/schema/openAPIV3Schema").cloned(),
        ..About::bare(definition)
    }
}

/// The paths of a definition begin with a dot.
fn scale(said: &Value) -> ScalePaths {
    let pointer = |name: &str| {
        let path = said.get(name).and_then(Value::as_str).unwrap_or_default();
        path.replace('.', "/")
    };
    ScalePaths {
        wanted: pointer("specReplicasPath"),
        actual: pointer("statusReplicasPath"),
        selector: pointer("labelSelectorPath"),
    }
}

/// The definition with what its controllers say of it.
pub(crate) fn accepted(crd: &Value, time: &str) -> Option<Value> {
    let mut crd = crd.clone();
    let kind = crd.pointer("/spec/names/kind")?.as_str()?.to_owned();
    let names = crd.pointer_mut("/spec/names")?.as_object_mut()?;
    names.entry("singular").or_insert_with(|| Value::from(kind.to_lowercase()));
    names.entry("listKind").or_insert_with(|| Value::from(format!("{kind}List")));
    let names = names.clone();
    let versions = crd.pointer("/spec/versions")?.as_array()?;
    let stored = versions.iter().find(|version| version.get("storage") == Some(&json!(true)));
    let stored = stored?.get("name")?.clone();
    let spec = crd.get_mut("spec")?.as_object_mut()?;
    spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    let status = crd.as_object_mut()?.entry("status").or_insert_with(|| Value::Object(Map::new()));
    if !status.is_object() {
        *status = Value::Object(Map::new());
    }
    let status = status.as_object_mut()?;
    status.insert("acceptedNames".to_owned(), Value::Object(names));
    let versions = status.entry("storedVersions").or_insert_with(|| json!([]));
    if let Value::Array(versions) = versions
        && !versions.contains(&stored)
    {
        versions.push(stored);
    }
    let is_established = status.get("conditions").is_some_and(|conditions| {
        conditions.as_array().into_iter().flatten().any(|condition| {
            condition.get("type") == Some(&json!("Established"))
                && condition.get("status") == Some(&json!("True"))
        })
    });
    if !is_established {
        let condition = |kind: &str, reason: &str, message: &str| {
            json!({
                "type": kind, "status": "True", "reason": reason, "message": message,
                "lastTransitionTime": time,
            })
        };
        let conditions = json!([
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition(
                "Established",
                "InitialNamesAccepted",
                "the initial names have been accepted"
            ),
        ]);
        status.insert("conditions".to_owned(), conditions);
    }
    Some(crd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_accepted_once_and_then_stays_as_it_is() {
        let crd = json!({"spec": {
            "group": "example.org", "scope": "Cluster",
            "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"]},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}},
                {"name": "v0", "served": false, "storage": false},
            ],
        }});
        let (kinds, group, plural) = kinds(&crd);
        assert_eq!((group.as_str(), plural.as_str()), ("example.org", "things"));
        let [(definition, about)] = kinds.as_slice() else { panic!("one kind: {kinds:?}") };
        assert!(!definition.namespaced && about.has_status);
        assert_eq!(about.list_kind, "ThingList");
        let first = accepted(&crd, "then").unwrap();
        assert_eq!(first["status"]["storedVersions"], json!(["v1"]));
        assert_eq!(first["status"]["acceptedNames"]["singular"], "thing");
        assert_eq!(accepted(&first, "later").unwrap(), first);
    }
}

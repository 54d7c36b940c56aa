//! Path templates.

const DOCUMENT: [&str; 5] = ["cluster", "namespace", "name", "generation", "extension"];
const OBJECT: [&str; 12] = [
    "cluster",
    "namespace",
    "name",
    "targetNamespace",
    "targetName",
    "sourceNamespace",
    "sourceName",
    "group",
    "kind",
    "uid",
    "generation",
    "extension",
];

/// What is wrong with the path of a document, if anything.
pub(super) fn document(template: &str) -> Option<String> {
    if template.starts_with('/') {
        return Some("must not begin with a slash".to_owned());
    }
    let missing = ["{namespace}", "{name}"].into_iter().find(|part| !template.contains(part));
    unsafe_or_unknown(template, &DOCUMENT).or_else(|| {
        missing
            .map(|part| format!("must contain {part}, or inventories would overwrite each other"))
    })
}

/// What is wrong with the path of an object, if anything.
pub(super) fn object(template: &str) -> Option<String> {
    let identifies = ["{sourceName}", "{uid}"].iter().any(|part| template.contains(part));
    unsafe_or_unknown(template, &OBJECT).or_else(|| {
        let detail = "must contain {sourceName} or {uid}, or objects would overwrite each other";
        (!identifies).then(|| detail.to_owned())
    })
}

fn unsafe_or_unknown(template: &str, known: &[&str]) -> Option<String> {
    if template.trim().is_empty() {
        return Some("must not be blank".to_owned());
    }
    if template.contains("..") {
        return Some("must not contain `..`".to_owned());
    }
    let unknown = placeholders(template).find(|name| !known.contains(name))?;
    Some(format!("{{{unknown}}} is no placeholder; known: {}", known.join(", ")))
}

/// What stands between braces.
fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|after| after.split_once('}').map(|(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_path_names_its_inventory() {
        assert_eq!(document("inventory/{namespace}/{name}{extension}"), None);
        assert_eq!(document("{cluster}/{namespace}-{name}.{generation}.json"), None);
        for bad in ["/{namespace}/{name}", "../{namespace}/{name}", "{name}", "{namespace}", ""] {
            assert!(document(bad).is_some(), "{bad}");
        }
        assert!(document("{namespace}/{name}/{uid}").unwrap().starts_with("{uid} is no"));
    }

    #[test]
    fn an_object_path_names_its_object() {
        assert_eq!(object("{cluster}/{sourceNamespace}/{kind}/{sourceName}{extension}"), None);
        assert_eq!(object("{uid}.yaml"), None);
        for bad in ["{name}.yaml", "{kind}.yaml", "{sourceName}/..", "{sourceName}/{nope}"] {
            assert!(object(bad).is_some(), "{bad}");
        }
    }
}

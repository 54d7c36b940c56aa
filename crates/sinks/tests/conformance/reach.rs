//! Repositories, wherever they are, for tests and the program `churn`.

use std::{collections::BTreeMap, sync::Arc};

use kollect_api::AddressPolicy;
use kollect_sinks::{
    Credentials, Family, LocalPaths, Opener, Sink, SinkKey, SinkSpec,
    guard::{Guard, SystemResolver},
};

/// Each inventory has a folder of its own, so that a reader can tell them apart.
pub(crate) const TREE: &str = r#"{"mode":"perResource","content":"item",
    "pathTemplate":"{cluster}/{name}/{sourceNamespace}/{sourceName}{extension}"}"#;

pub(crate) const DOCUMENT: &str = r#"{"mode":"document"}"#;

/// How a repository is reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    pub(crate) endpoint: String,
    /// What the Secret holds.
    pub(crate) secret: BTreeMap<String, String>,
    /// Blocks of the specification beside those that all have.
    pub(crate) more: serde_json::Map<String, serde_json::Value>,
}

/// Opens a repository, wherever it is, as a process that has just started.
pub(crate) fn open_git(
    reach: &Reach,
    cluster: &str,
    layout: &str,
) -> Result<Arc<dyn Sink>, String> {
    let said = |error: serde_json::Error| error.to_string();
    let layout: serde_json::Value = serde_json::from_str(layout).map_err(said)?;
    let mut spec = serde_json::json!({
        "type": "git", "endpoint": reach.endpoint, "cluster": cluster, "layout": layout,
        "serialization": {"format": "ndjson"},
        "pathTemplate": "{cluster}/{namespace}/{name}{extension}",
    });
    for (name, block) in &reach.more {
        spec[name] = block.clone();
    }
    let spec = SinkSpec::Snapshot(Box::new(serde_json::from_value(spec).map_err(said)?));
    let sink = SinkKey {
        family: Family::Snapshot,
        namespace: "shop".to_owned(),
        name: "audit".to_owned(),
    };
    let loopback = "127.0.0.0/8".parse().map_err(|_| "that is no range")?;
    let policy = AddressPolicy { private: false, allowed: vec![loopback] };
    let guard = Guard::new(policy, SystemResolver);
    let credentials = Credentials::new(reach.secret.clone(), "1");
    let opened =
        Opener::new(LocalPaths::Anywhere).with_guard(guard).open(&sink, &spec, &credentials);
    opened.map_err(|error| format!("{error:?}"))
}

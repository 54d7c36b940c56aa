//! Small makers of what tests talk about.

use kollect_inventory::{Identity, PartitionKey, Row, TargetKey};
use serde_json::json;

/// The partition of a cluster target in a namespace.
pub(crate) fn partition(target: &str, namespace: &str) -> PartitionKey {
    let target = TargetKey { namespace: None, name: target.to_owned() };
    PartitionKey { target, namespace: namespace.to_owned() }
}

/// A row of a partition.
pub(crate) fn row(partition: &PartitionKey, name: &str, uid: &str, value: u32) -> Row {
    let identity = Identity {
        target_namespace: partition.target_namespace().to_owned().into(),
        target_name: partition.target.name.clone().into(),
        namespace: partition.namespace.clone().into(),
        name: name.to_owned().into(),
        uid: uid.to_owned().into(),
        group: "apps".into(),
        version: "v1".into(),
        kind: "Deployment".into(),
    };
    Row::of_value(&identity, &json!({ "value": value }))
}

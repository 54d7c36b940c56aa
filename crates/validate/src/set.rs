//! What holds between objects that are given together.

use kollect_api::{ClusterInventorySpec, SinkRef};

use crate::{
    connection_test,
    inventory::{RefList, ref_lists},
    object::{Kind, Object},
    report::FieldPath,
};

/// A reference from one object to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The field that refers.
    pub path: FieldPath,
    /// What is referred to.
    pub kind: Kind,
    /// Its namespace; empty for cluster kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Every reference of an object to another of our kinds.
pub fn references(object: &Object) -> Vec<Reference> {
    let namespace = object.namespace();
    let local = |path: &str, kind, name: &str| Reference {
        path: FieldPath::of(path),
        kind,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    match object {
        Object::Target(target) => {
            vec![local("spec.profileRef", Kind::Profile, &target.spec.profile_ref)]
        }
        Object::ClusterTarget(target) => {
            let profile = &target.spec.profile_ref;
            vec![Reference {
                path: FieldPath::of("spec.profileRef"),
                kind: Kind::Profile,
                namespace: profile.namespace.clone(),
                name: profile.name.clone(),
            }]
        }
        Object::Inventory(inventory) => {
            let spec = &inventory.spec;
            let lists = ref_lists(
                &spec.snapshot_sink_refs,
                &spec.database_sink_refs,
                &spec.event_sink_refs,
            );
            sinks(&lists, |_| namespace.to_owned())
        }
        Object::ClusterInventory(inventory) => of_rollup(&inventory.spec),
        Object::ConnectionTest(test) => connection_test::members(&test.spec.sink_ref)
            .into_iter()
            .flatten()
            .map(|(field, name)| {
                let kind = match field {
                    "snapshotSinkRef" => Kind::SnapshotSink,
                    "databaseSinkRef" => Kind::DatabaseSink,
                    _ => Kind::EventSink,
                };
                local(&format!("spec.sinkRef.{field}"), kind, name)
            })
            .collect(),
        Object::Profile(_)
        | Object::Scope(_)
        | Object::ClusterScope(_)
        | Object::SnapshotSink(_)
        | Object::DatabaseSink(_)
        | Object::EventSink(_) => Vec::new(),
    }
}

fn of_rollup(spec: &ClusterInventorySpec) -> Vec<Reference> {
    let lists =
        ref_lists(&spec.snapshot_sink_refs, &spec.database_sink_refs, &spec.event_sink_refs);
    let namespace_of = |sink_ref: &SinkRef| {
        sink_ref.namespace.clone().unwrap_or_else(|| spec.sink_namespace.clone())
    };
    let targets = spec.target_refs.iter().enumerate().map(|(at, name)| Reference {
        path: FieldPath::of("spec.targetRefs").index(at),
        kind: Kind::ClusterTarget,
        namespace: String::new(),
        name: name.clone(),
    });
    targets.chain(sinks(&lists, namespace_of)).collect()
}

fn sinks(lists: &[RefList<'_>], namespace_of: impl Fn(&SinkRef) -> String) -> Vec<Reference> {
    let mut found = Vec::new();
    for list in lists {
        let kind = match list.family {
            "snapshot" => Kind::SnapshotSink,
            "database" => Kind::DatabaseSink,
            _ => Kind::EventSink,
        };
        found.extend(list.refs().map(|(path, sink_ref)| Reference {
            path,
            kind,
            namespace: namespace_of(sink_ref),
            name: sink_ref.name.clone(),
        }));
    }
    found
}

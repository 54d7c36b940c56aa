//! What a schema does not say about a kind.

use kollect_validate::Kind;

/// What belongs onto the page of a kind beside its schema.
pub(super) struct About {
    /// Below `deploy/samples`, and what stands there.
    pub(super) sample: (&'static str, &'static str),
    /// Kinds that it has to do with, each with how.
    pub(super) neighbours: &'static [(Kind, &'static str)],
    /// Pages of the guide, below `docs/guide`.
    pub(super) guides: &'static [(&'static str, &'static str)],
    /// What is accepted and does nothing in this build, or is refused.
    pub(super) missing: &'static [&'static str],
}

macro_rules! sample {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../deploy/samples/", $path)))
    };
}

const SYNCED: (&str, &str) = ("synced.md", "What `Synced=True` means");
const TENANCY: (&str, &str) = ("tenancy.md", "Tenancy");
const COPIES: (&str, &str) = ("copies.md", "Copies: where rows go");
const READING: (&str, &str) = ("reading-objects.md", "What is read from an object");
const COLLECTING: (&str, &str) = ("collecting.md", "Collecting from clusters");

const NO_HTTP: &str = "`httpEndpoint` is accepted and does nothing: this build does not serve \
    inventories over HTTP, and an operator that is told to ends with a message.";
const NO_PROFILE: &str = "`profileRef` is checked and does nothing.";
const OTHER_KINDS: &str = "A resource rule for another kind than the profile's is refused \
    ([TGT-09](../rules.md#tgt-09)).";

pub(super) fn about(kind: Kind) -> About {
    match kind {
        Kind::Profile => About {
            sample: sample!("first/profile.yaml"),
            neighbours: &[
                (Kind::Target, "applies it to objects of its namespace's choice"),
                (Kind::ClusterTarget, "applies it across namespaces"),
            ],
            guides: &[READING, ("cel.md", "CEL"), ("metrics.md", "Metrics")],
            missing: &[],
        },
        Kind::Target | Kind::ClusterTarget => of_target(kind),
        Kind::Scope | Kind::ClusterScope => of_scope(kind),
        Kind::Inventory | Kind::ClusterInventory => of_inventory(kind),
        Kind::SnapshotSink | Kind::DatabaseSink | Kind::EventSink => of_sink(kind),
        Kind::ConnectionTest => About {
            sample: sample!("connection-tests/database.yaml"),
            neighbours: &[
                (Kind::SnapshotSink, "can be tested"),
                (Kind::DatabaseSink, "can be tested"),
                (Kind::EventSink, "can be tested"),
            ],
            guides: &[COPIES],
            missing: &[],
        },
    }
}

fn of_target(kind: Kind) -> About {
    let (sample, neighbours): (_, &[(Kind, &str)]) = if kind == Kind::Target {
        let neighbours = &[
            (Kind::Profile, "says what is read"),
            (Kind::Inventory, "exports the rows of all targets of the namespace"),
            (Kind::Scope, "is the ceiling of the namespace"),
        ];
        (sample!("first/target.yaml"), neighbours)
    } else {
        let neighbours = &[
            (Kind::Profile, "says what is read; it is named with its namespace"),
            (Kind::ClusterInventory, "exports the rows"),
            (Kind::ClusterScope, "is the ceiling"),
        ];
        (sample!("cluster/targets.yaml"), neighbours)
    };
    About { sample, neighbours, guides: &[COLLECTING, TENANCY], missing: &[OTHER_KINDS] }
}

fn of_scope(kind: Kind) -> About {
    let (sample, neighbours): (_, &[(Kind, &str)]) = if kind == Kind::Scope {
        let neighbours = &[
            (Kind::Target, "is bounded by it: kinds and namespaces"),
            (Kind::Inventory, "is bounded by it: sinks and intervals"),
            (Kind::ClusterScope, "does the same for cluster kinds"),
        ];
        (sample!("tenancy/ceiling.yaml"), neighbours)
    } else {
        let neighbours = &[
            (Kind::ClusterTarget, "is bounded by it: kinds, namespaces, profiles"),
            (Kind::ClusterInventory, "is bounded by it: sinks and intervals"),
            (Kind::Scope, "does the same for one namespace"),
        ];
        (sample!("cluster/scope.yaml"), neighbours)
    };
    About { sample, neighbours, guides: &[TENANCY], missing: &[] }
}

fn of_inventory(kind: Kind) -> About {
    let (sample, neighbours): (_, &[(Kind, &str)]) = if kind == Kind::Inventory {
        let neighbours = &[
            (Kind::Target, "gives the rows: all targets of the namespace"),
            (Kind::SnapshotSink, "keeps copies as files"),
            (Kind::DatabaseSink, "keeps copies as rows"),
            (Kind::EventSink, "publishes changes"),
        ];
        (sample!("first/inventory.yaml"), neighbours)
    } else {
        let neighbours = &[
            (Kind::ClusterTarget, "gives the rows"),
            (Kind::SnapshotSink, "keeps copies as files"),
            (Kind::DatabaseSink, "keeps copies as rows"),
            (Kind::EventSink, "publishes changes"),
        ];
        (sample!("cluster/inventory.yaml"), neighbours)
    };
    let missing: &[&str] = if kind == Kind::Inventory { &[NO_HTTP] } else { &[NO_PROFILE] };
    About { sample, neighbours, guides: &[SYNCED, COPIES], missing }
}

fn of_sink(kind: Kind) -> About {
    let (sample, guides): (_, &[(&str, &str)]) = match kind {
        Kind::SnapshotSink => {
            (sample!("sinks/git-per-resource.yaml"), &[COPIES, ("git.md", "Git"), SYNCED])
        }
        Kind::DatabaseSink => {
            (sample!("sinks/postgres.yaml"), &[COPIES, ("postgres.md", "Postgres"), SYNCED])
        }
        _ => (sample!("sinks/nats.yaml"), &[COPIES, SYNCED]),
    };
    let neighbours = &[
        (Kind::Inventory, "of the same namespace names it"),
        (Kind::ClusterInventory, "names it with its namespace"),
        (Kind::ConnectionTest, "probes it on demand"),
    ];
    About { sample, neighbours, guides, missing: &[] }
}

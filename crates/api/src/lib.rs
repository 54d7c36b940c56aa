//! The custom resources of Kollect, exactly as users write and read them.
//!
//! First stage of the path: what is asked for. Everything else in the
//! workspace takes its wishes from these types and reports back into their
//! status. The crate does no I/O and knows no client.
//!
//! Three promises hold here:
//! - Whatever the published schema admits can be decoded. One user's odd
//!   object must never stop the watch that reads everybody's, so a value that
//!   the schema leaves open (a sink reference) is kept as it was written.
//! - A schema default is a default in Rust too, so an object read from a file
//!   equals the one that an API server has stored.
//! - The comments on fields are what `kubectl explain` shows; they are written
//!   for the person who fills in the manifest.
//!
//! Start with [`Profile`] and [`Target`]; [`crds`] has the definitions.

mod profile;
mod target;
mod scope;
mod inventory;
mod sink;
mod connection_test;
mod reference;
mod interval;
mod names;
mod address;
mod crd;

pub use address::{AddressPolicy, Cidr, CidrError, Denied};
pub use connection_test::{
    ConnectionTest, ConnectionTestSinkRef, ConnectionTestSpec, ConnectionTestStatus,
};
pub use crd::crds;
pub use interval::{ExportInterval, IntervalError};
pub use inventory::{
    ClusterInventory, ClusterInventorySpec, Dedupe, HttpEndpoint, Inventory, InventorySpec,
    status::{
        ClusterInventoryStatus, Coverage, InventoryStatus, NamespaceShard, SinkExport,
        TargetSummary, Watermark,
    },
};
pub use names::{GROUP, VERSION, annotation};
pub use profile::{
    Attribute, ExportMode, Include, Metric, Profile, ProfileSpec, ProfileStatus, Prune,
    ResourceExport,
};
pub use reference::{GroupVersionKind, NamespacedRef, SecretReference, SinkRef, SinkRefEntry};
pub use scope::{ClusterScope, ClusterScopeSpec, Scope, ScopeCeiling, ScopeSpec};
pub use sink::{
    Compression, DatabaseSink, DatabaseSinkSpec, DatabaseType, EventSink, EventSinkSpec, EventType,
    Format, Naming, Provisioning, ProvisioningMode, Serialization, SinkCommon, SnapshotSink,
    SnapshotSinkSpec, SnapshotType, Tls,
    bigquery::Bigquery,
    file::File,
    git::{Git, GitAuth, GitAuthType, GitAuthor, GitEngine, PushPolicy},
    gitlab::{Gitlab, MergeRequest, MergeRequestMode},
    kafka::Kafka,
    layout::{Filename, GroupInPath, Index, Layout, LayoutContent, LayoutMode},
    mongodb::Mongodb,
    nats::Nats,
    object_store::{Http, ObjectFormat, ObjectStore},
    postgres::Postgres,
    sqlite::Sqlite,
    status::{
        GitPreview, KafkaPreview, LayoutPreview, MongodbPreview, PostgresPreview, Preview,
        SinkStatus,
    },
};
pub use target::{
    ClusterTarget, ClusterTargetSpec, CollectionFilter, ResourceRule, Target, TargetSpec,
    TargetStatus, WatchMode,
};

//! The three sink kinds and what they share.

pub(crate) mod file;
pub(crate) mod git;
pub(crate) mod gitlab;
pub(crate) mod object_store;
pub(crate) mod postgres;
pub(crate) mod sqlite;
pub(crate) mod mongodb;
pub(crate) mod bigquery;
pub(crate) mod kafka;
pub(crate) mod nats;
pub(crate) mod layout;
pub(crate) mod status;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::{
    bigquery::Bigquery,
    file::File,
    git::Git,
    gitlab::Gitlab,
    kafka::Kafka,
    layout::Layout,
    mongodb::Mongodb,
    nats::Nats,
    object_store::{Http, ObjectStore},
    postgres::Postgres,
    sqlite::Sqlite,
    status::SinkStatus,
};
use crate::{interval::ExportInterval, reference::SecretReference};

/// Whole-state copies: Git, object stores, directories.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectSnapshotSink",
    root = "SnapshotSink",
    namespaced,
    status = "SinkStatus",
    shortname = "ksnap",
    derive = "PartialEq",
    doc = "A place for whole copies of an inventory: a Git repository, a bucket, or a directory.",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type"),
    printcolumn(
        name = "Verified",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"ConnectionVerified\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    { "rule": "!has(self.git) || self.type == 'git'", "message": "the block git is only for type git", "fieldPath": ".git", "reason": "FieldValueForbidden" },
    { "rule": "!has(self.gitlab) || self.type == 'gitlab'", "message": "the block gitlab is only for type gitlab", "fieldPath": ".gitlab", "reason": "FieldValueForbidden" },
    { "rule": "!has(self.objectStore) || self.type in ['s3', 'gcs']", "message": "the block objectStore is only for the types s3 and gcs", "fieldPath": ".objectStore", "reason": "FieldValueForbidden" },
    { "rule": "!has(self.http)", "message": "the block http is for no type that exists", "fieldPath": ".http", "reason": "FieldValueForbidden" },
    { "rule": "(self.type == 'file') == has(self.file)", "message": "the block file is required for type file, and only for it", "fieldPath": ".file" },
    { "rule": "!has(self.layout) || self.type in ['git', 'gitlab', 'file']", "message": "layout is only for the types git, gitlab and file", "fieldPath": ".layout", "reason": "FieldValueForbidden" },
    { "rule": "!has(self.serialization) || !has(self.serialization.format) || (self.type in ['s3', 'gcs'] ? self.serialization.format in ['json', 'parquet', 'csv'] : self.serialization.format in ['yaml', 'json', 'ndjson'])", "message": "this type does not support the format; git, gitlab and file take yaml, json and ndjson, s3 and gcs take json, parquet and csv", "fieldPath": ".serialization.format" }
]))]
pub struct SnapshotSinkSpec {
    /// Kind of destination: `git`, `gitlab`, `s3`, `gcs`, or `file` for a
    /// directory or mounted volume.
    #[serde(rename = "type")]
    pub sink_type: SnapshotType,
    #[serde(flatten)]
    pub common: SinkCommon,
    /// Settings of type `git`. May be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// Settings of type `gitlab`. May be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gitlab: Option<Gitlab>,
    /// Settings of the types `s3` and `gcs`. May be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_store: Option<ObjectStore>,
    /// Settings of type `file`. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<File>,
    /// Reserved. Refused with every type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Http>,
}

/// Backends of a snapshot sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SnapshotType {
    Git,
    Gitlab,
    S3,
    Gcs,
    File,
}

/// Rows that can be queried: Postgres, SQLite, MongoDB, BigQuery.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectDatabaseSink",
    root = "DatabaseSink",
    namespaced,
    status = "SinkStatus",
    shortname = "kdb",
    derive = "PartialEq",
    doc = "A database that holds the rows of inventories, one row an object; rows that are gone are deleted there.",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type"),
    printcolumn(
        name = "Verified",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"ConnectionVerified\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    { "rule": "(self.type == 'postgres') == has(self.postgres)", "message": "the block postgres is required for type postgres, and only for it", "fieldPath": ".postgres" },
    { "rule": "(self.type == 'bigquery') == has(self.bigquery)", "message": "the block bigquery is required for type bigquery, and only for it", "fieldPath": ".bigquery" },
    { "rule": "(self.type == 'mongodb') == has(self.mongodb)", "message": "the block mongodb is required for type mongodb, and only for it", "fieldPath": ".mongodb" },
    { "rule": "(self.type == 'sqlite') == has(self.sqlite)", "message": "the block sqlite is required for type sqlite, and only for it", "fieldPath": ".sqlite" },
    { "rule": "!has(self.layout)", "message": "layout is only for the types git, gitlab and file", "fieldPath": ".layout", "reason": "FieldValueForbidden" },
    { "rule": "!has(self.serialization) || !has(self.serialization.format) || self.serialization.format == 'json'", "message": "database sinks take the format json only", "fieldPath": ".serialization.format" }
]))]
pub struct DatabaseSinkSpec {
    /// Kind of database: `postgres`, `bigquery`, `mongodb`, or `sqlite` for a
    /// file.
    #[serde(rename = "type")]
    pub sink_type: DatabaseType,
    #[serde(flatten)]
    pub common: SinkCommon,
    /// Settings of type `postgres`. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postgres: Option<Postgres>,
    /// Settings of type `bigquery`. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bigquery: Option<Bigquery>,
    /// Settings of type `mongodb`. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mongodb: Option<Mongodb>,
    /// Settings of type `sqlite`. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqlite: Option<Sqlite>,
}

/// Backends of a database sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatabaseType {
    Postgres,
    Bigquery,
    Mongodb,
    Sqlite,
}

/// Changes as events: NATS, Kafka.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectEventSink",
    root = "EventSink",
    namespaced,
    status = "SinkStatus",
    shortname = "kevt",
    derive = "PartialEq",
    doc = "A stream that is told about every change of an inventory.",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type"),
    printcolumn(
        name = "Verified",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"ConnectionVerified\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    { "rule": "(self.type == 'nats') == has(self.nats)", "message": "the block nats is required for type nats, and only for it", "fieldPath": ".nats" },
    { "rule": "(self.type == 'kafka') == has(self.kafka)", "message": "the block kafka is required for type kafka, and only for it", "fieldPath": ".kafka" },
    { "rule": "!has(self.layout)", "message": "layout is only for the types git, gitlab and file", "fieldPath": ".layout", "reason": "FieldValueForbidden" },
    { "rule": "!has(self.serialization) || !has(self.serialization.format) || self.serialization.format == 'json'", "message": "event sinks take the format json only", "fieldPath": ".serialization.format" }
]))]
pub struct EventSinkSpec {
    /// Kind of stream: `nats` or `kafka`.
    #[serde(rename = "type")]
    pub sink_type: EventType,
    #[serde(flatten)]
    pub common: SinkCommon,
    /// Settings of type `nats`. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nats: Option<Nats>,
    /// Settings of type `kafka`. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kafka: Option<Kafka>,
}

/// Backends of an event sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventType {
    Nats,
    Kafka,
}

/// What every sink kind has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SinkCommon {
    /// Address of the destination. git: `https://…`, `ssh://…` or
    /// `git@host:path`, optionally with `#branch=name`; gitlab: `https://…`;
    /// s3, gcs: `s3://bucket/prefix`, `gs://bucket/prefix`,
    /// `https://host/bucket/prefix` or `bucket/prefix`; nats: used when
    /// `nats.url` is absent. Loopback, link-local and private addresses are
    /// refused unless the operator allows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub endpoint: Option<String>,
    /// Secret with the credentials. git and gitlab read `username`, `token`,
    /// `password`, `ssh-privatekey`, `known_hosts`; s3 and gcs read
    /// `accessKeyID` and `secretAccessKey`; nats and kafka read `username`,
    /// `password`, `token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
    /// How the server's certificate is checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Probe the destination whenever this object changes. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_test: Option<bool>,
    /// Name of this cluster in paths, rows and events. 1 to 63 letters,
    /// digits, dots, underscores and dashes. Default: empty; paths and commits
    /// then say `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub cluster: Option<String>,
    /// Path of the document, with `{namespace}` and `{name}` (required) and
    /// `{cluster}`, `{generation}`, `{extension}`. Default:
    /// `inventory/{namespace}/{name}{extension}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub path_template: Option<String>,
    /// Interval for references that set none, 0s to 24h. Default: that of the
    /// inventory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export_min_interval: Option<ExportInterval>,
    /// How documents are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serialization: Option<Serialization>,
    /// Which files are written. Only for git, gitlab and file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Whether to create what is missing at the destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<Provisioning>,
    /// Further settings of the backend, such as `region` (s3) or
    /// `statement_timeout` (postgres). Never credentials. At most 50.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 50))]
    pub options: BTreeMap<String, String>,
}

/// How the server's certificate is checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "!(has(self.caBundle) && has(self.caSecretRef))",
    "message": "caBundle and caSecretRef exclude each other"
}]))]
pub struct Tls {
    /// Accept any certificate. Unsafe, and shown as condition `TLSInsecure`.
    /// Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure_skip_verify: Option<bool>,
    /// Certificates to trust, PEM in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "byte"))]
    pub ca_bundle: Option<String>,
    /// Secret with the certificates to trust, under `tls.crt`, `ca.crt` or
    /// `ca.pem`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_secret_ref: Option<SecretReference>,
}

/// How documents are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Serialization {
    /// `json`, `yaml`, `ndjson`, `parquet` or `csv`; git, gitlab and file take
    /// the first three, s3 and gcs take json, parquet and csv, all others json.
    /// Default: `yaml` for git, gitlab and file, else `json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// `none`, `gzip`, `snappy` or `zstd`. Objects: gzip or zstd; Parquet:
    /// snappy or zstd; Kafka: any. Default: `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
}

/// Formats of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Json,
    Yaml,
    Parquet,
    Csv,
    Ndjson,
}

/// Compression of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    None,
    Gzip,
    Snappy,
    Zstd,
}

/// Whether to create what is missing at the destination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provisioning {
    /// `ensure`: create tables, collections and streams that are missing.
    /// `existing`: create nothing and check that they are there.
    /// Default: `ensure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ProvisioningMode>,
    /// Reserved: a name template is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naming: Option<Naming>,
}

/// Whether to create what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProvisioningMode {
    Ensure,
    Existing,
}

/// How destinations are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Naming {
    /// Reserved: must be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub template: Option<String>,
}

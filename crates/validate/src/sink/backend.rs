//! What each type of sink can do.

use kollect_api::{Compression, Format};

/// One type of sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    Git,
    Gitlab,
    S3,
    Gcs,
    File,
    Postgres,
    Bigquery,
    Mongodb,
    Sqlite,
    Nats,
    Kafka,
}

/// Fields that are for some types only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Endpoint,
    SecretRef,
    Tls,
    PathTemplate,
    Compression,
    Provisioning,
}

use Backend::{Bigquery, File, Gcs, Git, Gitlab, Kafka, Mongodb, Nats, Postgres, S3, Sqlite};

impl Backend {
    /// The type as it stands in `spec.type`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Git => "git",
            Gitlab => "gitlab",
            S3 => "s3",
            Gcs => "gcs",
            File => "file",
            Postgres => "postgres",
            Bigquery => "bigquery",
            Mongodb => "mongodb",
            Sqlite => "sqlite",
            Nats => "nats",
            Kafka => "kafka",
        }
    }

    /// The block of settings that belongs to it.
    pub(super) const fn block(self) -> &'static str {
        match self {
            S3 | Gcs => "objectStore",
            other => other.name(),
        }
    }

    /// Whether it cannot work without its block.
    pub(super) const fn needs_block(self) -> bool {
        !matches!(self, Git | Gitlab | S3 | Gcs)
    }

    /// Whether it writes files, and so takes a layout.
    pub(super) const fn writes_files(self) -> bool {
        matches!(self, Git | Gitlab | File)
    }

    /// Whether it writes objects into a bucket.
    pub(super) const fn writes_objects(self) -> bool {
        matches!(self, S3 | Gcs)
    }

    /// The formats that it supports, the default first.
    pub(super) const fn formats(self) -> &'static [Format] {
        match self {
            Git | Gitlab | File => &[Format::Yaml, Format::Json, Format::Ndjson],
            S3 | Gcs => &[Format::Json, Format::Parquet, Format::Csv],
            _ => &[Format::Json],
        }
    }

    /// The compressions that it supports for a format.
    pub(super) const fn compressions(self, format: Format) -> &'static [Compression] {
        use Compression::{Gzip, None, Snappy, Zstd};
        match (self, format) {
            (S3 | Gcs, Format::Parquet) => &[None, Snappy, Zstd],
            (S3 | Gcs, _) => &[None, Gzip, Zstd],
            (Kafka, _) => &[None, Gzip, Snappy, Zstd],
            _ => &[None],
        }
    }

    /// Whether a field means anything to it.
    pub(super) const fn heeds(self, field: Field) -> bool {
        match field {
            Field::Endpoint => matches!(self, Git | Gitlab | S3 | Gcs | Nats),
            Field::SecretRef => matches!(self, Git | Gitlab | S3 | Gcs | Kafka | Nats),
            Field::Tls => !matches!(self, Mongodb | Bigquery | File | Sqlite),
            Field::PathTemplate => matches!(self, Git | Gitlab | S3 | Gcs | File),
            Field::Compression => matches!(self, S3 | Gcs | Kafka),
            Field::Provisioning => !matches!(self, Git | Gitlab | File),
        }
    }

    /// The options that it knows, beside those that all know.
    pub(super) const fn options(self) -> &'static [&'static str] {
        match self {
            Git => &["onInventoryDelete", "probe", "min_gap"],
            Gitlab => &["onInventoryDelete", "probe", "min_gap", "apiBaseURL"],
            File => &["onInventoryDelete", "min_gap"],
            S3 | Gcs => &[
                "onInventoryDelete",
                "probe",
                "min_gap",
                "region",
                "storageClass",
                "sse",
                "sseKmsKeyId",
                "forcePathStyle",
            ],
            Postgres => &["statement_timeout", "max_conns"],
            Bigquery => &["refresh"],
            Mongodb => &["numbers"],
            Sqlite => &[],
            Nats => &[
                "refresh",
                "msgid",
                "mode",
                "replicas",
                "max_age",
                "max_bytes",
                "duplicate_window",
            ],
            Kafka => &[
                "refresh",
                "tls",
                "key",
                "mode",
                "acks",
                "compression",
                "linger_ms",
                "max_message_bytes",
            ],
        }
    }
}

/// Options that every type knows.
pub(super) const OPTIONS_OF_ALL: [&str; 1] = ["export_timeout"];

/// The format as it stands in a manifest.
pub(super) const fn format_name(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Yaml => "yaml",
        Format::Parquet => "parquet",
        Format::Csv => "csv",
        Format::Ndjson => "ndjson",
    }
}

/// The compression as it stands in a manifest.
pub(super) const fn compression_name(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "none",
        Compression::Gzip => "gzip",
        Compression::Snappy => "snappy",
        Compression::Zstd => "zstd",
    }
}

//! Rules of the three sink kinds.

mod backend;
mod common;
mod endpoint;
mod branch;
mod template;
mod remarks;

use kollect_api::{
    DatabaseSink, DatabaseType, EventSink, EventType, ObjectFormat, ObjectStore, SecretReference,
    SinkCommon, SnapshotSink, SnapshotType,
};

use crate::{
    object::DEFAULT_NAMESPACE,
    report::{FieldPath, Report},
    rule::Rule,
    surroundings::Surroundings,
};
use backend::Backend;

/// What the rules see of a sink, whatever its kind.
struct Sink<'a> {
    backend: Backend,
    namespace: &'a str,
    common: &'a SinkCommon,
    /// The older spelling of the format, where there is one.
    object_format: Option<ObjectFormat>,
    /// Further references to Secrets, each with its path below `spec`.
    secrets: Vec<(&'static str, &'a SecretReference)>,
}

/// Runs every rule of KollectSnapshotSink.
pub(crate) fn check_snapshot(object: &SnapshotSink, around: &Surroundings, report: &mut Report) {
    let spec = &object.spec;
    let backend = match spec.sink_type {
        SnapshotType::Git => Backend::Git,
        SnapshotType::Gitlab => Backend::Gitlab,
        SnapshotType::S3 => Backend::S3,
        SnapshotType::Gcs => Backend::Gcs,
        SnapshotType::File => Backend::File,
    };
    let blocks = [
        ("git", spec.git.is_some()),
        ("gitlab", spec.gitlab.is_some()),
        ("objectStore", spec.object_store.is_some()),
        ("file", spec.file.is_some()),
        ("http", spec.http.is_some()),
    ];
    blocks_fit(Rule::Ssk01, backend, &blocks, report);
    let auth = spec.git.as_ref().and_then(|git| git.auth.as_ref());
    let sink = Sink {
        backend,
        namespace: object.metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE),
        common: &spec.common,
        object_format: spec
            .object_store
            .as_ref()
            .filter(|_| backend.writes_objects())
            .and_then(|store| store.format),
        secrets: auth
            .and_then(|auth| auth.secret_ref.as_ref())
            .map(|secret| ("git.auth.secretRef", secret))
            .into_iter()
            .collect(),
    };
    sink.check(around, report);
    endpoint::is_given(&sink, report);
    branch::check(spec, report);
    if let Some(store) = &spec.object_store {
        hot_columns_differ(store, report);
    }
    if let Some(file) = &spec.file {
        local_path(sink.namespace, ("spec.file.path", &file.path), around, report);
    }
    remarks::git(spec, report);
    sink.check_scope(around, report);
}

/// Runs every rule of KollectDatabaseSink.
pub(crate) fn check_database(object: &DatabaseSink, around: &Surroundings, report: &mut Report) {
    let spec = &object.spec;
    let backend = match spec.sink_type {
        DatabaseType::Postgres => Backend::Postgres,
        DatabaseType::Bigquery => Backend::Bigquery,
        DatabaseType::Mongodb => Backend::Mongodb,
        DatabaseType::Sqlite => Backend::Sqlite,
    };
    let blocks = [
        ("postgres", spec.postgres.is_some()),
        ("bigquery", spec.bigquery.is_some()),
        ("mongodb", spec.mongodb.is_some()),
        ("sqlite", spec.sqlite.is_some()),
    ];
    blocks_fit(Rule::Dsk01, backend, &blocks, report);
    let mut secrets = Vec::new();
    let mut texts = Vec::new();
    if let Some(postgres) = &spec.postgres {
        secrets.push(("postgres.databaseRef", &postgres.database_ref));
        texts.push(("postgres.table", &postgres.table));
    }
    if let Some(mongodb) = &spec.mongodb {
        secrets.push(("mongodb.databaseRef", &mongodb.database_ref));
        texts.push(("mongodb.database", &mongodb.database));
        texts.push(("mongodb.collection", &mongodb.collection));
    }
    if let Some(bigquery) = &spec.bigquery {
        secrets.extend(bigquery.secret_ref.as_ref().map(|secret| ("bigquery.secretRef", secret)));
        texts.push(("bigquery.project", &bigquery.project));
        texts.push(("bigquery.dataset", &bigquery.dataset));
        texts.push(("bigquery.table", &bigquery.table));
    }
    given(Rule::Dsk02, &texts, report);
    let namespace = object.metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    if let Some(sqlite) = &spec.sqlite {
        local_path(namespace, ("spec.sqlite.path", &sqlite.path), around, report);
    }
    let sink = Sink { backend, namespace, common: &spec.common, object_format: None, secrets };
    sink.check(around, report);
    sink.check_scope(around, report);
}

/// Runs every rule of KollectEventSink.
pub(crate) fn check_event(object: &EventSink, around: &Surroundings, report: &mut Report) {
    let spec = &object.spec;
    let backend = match spec.sink_type {
        EventType::Nats => Backend::Nats,
        EventType::Kafka => Backend::Kafka,
    };
    let blocks = [("nats", spec.nats.is_some()), ("kafka", spec.kafka.is_some())];
    blocks_fit(Rule::Esk01, backend, &blocks, report);
    let mut secrets = Vec::new();
    if let Some(nats) = &spec.nats {
        secrets.extend(nats.secret_ref.as_ref().map(|secret| ("nats.secretRef", secret)));
        given(Rule::Esk03, &[("nats.subject", &nats.subject)], report);
        endpoint::nats(&spec.common, nats, &around.policy.addresses, report);
    }
    if let Some(kafka) = &spec.kafka {
        secrets.extend(kafka.secret_ref.as_ref().map(|secret| ("kafka.secretRef", secret)));
        given(Rule::Esk03, &[("kafka.topic", &kafka.topic)], report);
        endpoint::kafka(&kafka.brokers, &around.policy.addresses, report);
    }
    let namespace = object.metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    let sink = Sink { backend, namespace, common: &spec.common, object_format: None, secrets };
    sink.check(around, report);
    sink.check_scope(around, report);
}

impl Sink<'_> {
    /// The rules and remarks that all kinds share.
    fn check(&self, around: &Surroundings, report: &mut Report) {
        common::check(self, &around.policy, report);
        remarks::common(self, around, report);
    }

    /// The floor of the scope, when the rest is clean.
    fn check_scope(&self, around: &Surroundings, report: &mut Report) {
        if let Some(scope) = around.scope(self.namespace).filter(|_| report.is_clean()) {
            common::interval_is_above_floor(self, scope, report);
        }
    }
}

/// SSK-01, DSK-01, ESK-01: the block of the type and no other.
fn blocks_fit(rule: Rule, backend: Backend, blocks: &[(&'static str, bool)], report: &mut Report) {
    for (block, present) in blocks {
        let own = *block == backend.block();
        let path = FieldPath::of("spec").field(block);
        if *present && !own {
            let detail = format!("this block is not for type {}", backend.name());
            report.forbidden(rule, path, detail);
        } else if own && !*present && backend.needs_block() {
            let detail = format!("type {} needs this block", backend.name());
            report.required(rule, path, detail);
        }
    }
}

/// DSK-02, ESK-03: a required text is not blank.
fn given(rule: Rule, texts: &[(&'static str, &String)], report: &mut Report) {
    for (field, _) in texts.iter().filter(|(_, text)| text.trim().is_empty()) {
        report.required(rule, FieldPath::of("spec").field(field), "must not be blank");
    }
}

/// SSK-02: two attributes must not share one Parquet column.
fn hot_columns_differ(store: &ObjectStore, report: &mut Report) {
    let mut columns: Vec<(String, &str)> = Vec::new();
    for (at, attribute) in store.hot_attributes.iter().enumerate() {
        if attribute.trim().is_empty() {
            continue;
        }
        let column = column(attribute);
        let path = FieldPath::of("spec.objectStore.hotAttributes").index(at);
        match columns.iter().find(|(taken, _)| *taken == column) {
            Some((_, earlier)) if !earlier.eq_ignore_ascii_case(attribute.trim()) => {
                let detail = format!("becomes column {column}, as {earlier} does");
                report.invalid(Rule::Ssk02, path, attribute, detail);
            }
            Some(_) => {}
            None => columns.push((column, attribute.trim())),
        }
    }
}

fn column(attribute: &str) -> String {
    let letters = attribute.trim().to_lowercase();
    let kept: String = letters
        .chars()
        .filter_map(|c| match c {
            'a'..='z' | '0'..='9' => Some(c),
            '-' | '_' | '.' => Some('_'),
            _ => None,
        })
        .collect();
    format!("attr_{}", if kept.is_empty() { "unknown" } else { &kept })
}

/// SNK-15: a local path is one that this process may write to.
fn local_path(
    namespace: &str,
    (field, path): (&str, &str),
    around: &Surroundings,
    report: &mut Report,
) {
    let field = FieldPath::of(field);
    if path.trim().is_empty() {
        report.required(Rule::Snk15, field, "must not be blank");
    } else if path.contains('\0') {
        report.invalid(Rule::Snk15, field, path, "must not contain a NUL character");
    } else if let Some(reason) = around.policy.local_paths.refusal(namespace, path) {
        report.invalid(Rule::Snk15, field, path, reason);
    }
}

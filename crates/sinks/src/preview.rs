//! What an export would look like, by the example of an inventory that nobody
//! has. Pure: nothing is dialled, and the same functions say it that say it
//! for a real export.

use kollect_api::{
    Format, GitPreview, LayoutMode, LayoutPreview, Preview, ProvisioningMode, SnapshotSinkSpec,
};
use kollect_inventory::Identity;
use serde::Serialize;

use crate::{
    deliver::state::SinkKey,
    encode::Content,
    files::prunes,
    layout::{
        Layout,
        path::{Edition, PathError},
    },
    open::{BACKENDS, OpenError, SinkSpec},
    schema::Schema,
    sink::InventoryKey,
};

/// Where the sample comes from.
const SOURCE: &str = "synthetic";
/// Those of its rows that have names.
const NAMES: [&str; 4] = ["api", "web", "cache", "worker"];
/// So many paths are shown.
const MOST_PATHS: usize = 3;

/// What an export of the sample to this sink would look like. When it was
/// rendered, and what admission remarks, others know.
pub fn preview(sink: &SinkKey, spec: &SinkSpec) -> Result<Preview, OpenError> {
    if !BACKENDS.contains(&spec.backend()) {
        return Err(OpenError::NotInThisBuild { backend: spec.backend() });
    }
    let provisioning = spec.common().provisioning.as_ref().and_then(|one| one.mode);
    let preview = Preview {
        input_sample_source: Some(SOURCE.to_owned()),
        provisioning_mode: word(provisioning.unwrap_or(ProvisioningMode::Ensure)),
        serialization_format: word(Format::Json),
        ..Preview::default()
    };
    match spec {
        SinkSpec::Snapshot(spec) => of_files(preview, &sink.name, spec),
        #[cfg(feature = "postgres")]
        SinkSpec::Database(spec) if spec.postgres.is_some() => {
            let ddl = crate::postgres::settings::expected_ddl(spec)?;
            let postgres = kollect_api::PostgresPreview { expected_ddl: Some(ddl) };
            Ok(Preview { postgres: Some(postgres), ..preview })
        }
        SinkSpec::Database(_) | SinkSpec::Event(_) => Ok(preview),
    }
}

/// The files that are written, and the commit that brings them.
fn of_files(preview: Preview, sink: &str, spec: &SnapshotSinkSpec) -> Result<Preview, OpenError> {
    // Which profiles an inventory has is not known here; one that embeds
    // nothing decides as none does.
    let layout = Layout::resolve(spec, &Schema::default())?;
    let inventory = InventoryKey { namespace: "team-a".to_owned(), name: "api".to_owned() };
    let edition = Edition { inventory, generation: 1 };
    let content = match layout.content() {
        Content::Item => "item",
        Content::Attributes => "attributes",
        Content::Manifest { .. } => "manifest",
    };
    Ok(Preview {
        serialization_format: word(layout.format()),
        object_path: Some(layout.document_path(&edition, None)?),
        git: commit(sink, spec, (&layout, &edition))?,
        layout: Some(LayoutPreview {
            mode: word(layout.mode()),
            content: Some(content.to_owned()),
            prune: Some(prunes(spec, &layout)),
            sample_paths: paths(&layout, &edition)?,
        }),
        ..preview
    })
}

/// The first files: of a tree its index, if it has one, and those of rows.
fn paths(layout: &Layout, edition: &Edition) -> Result<Vec<String>, PathError> {
    if layout.mode() == LayoutMode::Document {
        return Ok(vec![layout.document_path(edition, None)?]);
    }
    let rows = NAMES.iter().map(|name| layout.object_path(edition, &deployment(name)));
    layout.index_path(edition).into_iter().chain(rows).take(MOST_PATHS).collect()
}

fn deployment(name: &str) -> Identity<'_> {
    Identity {
        target_namespace: "team-a".into(),
        target_name: "deployments".into(),
        namespace: "team-a".into(),
        name: name.into(),
        uid: format!("00000000-0000-4000-8000-{:0>12}", name.len()).into(),
        group: "apps".into(),
        version: "v1".into(),
        kind: "Deployment".into(),
    }
}

/// The commit that brings the sample, where there are commits.
#[cfg(feature = "git")]
fn commit(
    sink: &str,
    spec: &SnapshotSinkSpec,
    (layout, edition): (&Layout, &Edition),
) -> Result<Option<GitPreview>, OpenError> {
    use crate::git::{Plan, message::Brief};

    /// 2026-01-01.
    const SECONDS: i64 = 1_767_225_600;

    if spec.sink_type != kollect_api::SnapshotType::Git {
        return Ok(None);
    }
    let brief = Brief {
        edition,
        layout,
        rows: 42,
        checksum: "a1b2c3d4e5f6",
        at: jiff::Timestamp::from_second(SECONDS).unwrap_or_default(),
    };
    let text = Plan::new(spec.clone(), sink)?.commit_text(&brief);
    let (subject, body) = text.split_once('\n').unwrap_or((&text, ""));
    let body = Some(body.trim()).filter(|body| !body.is_empty());
    Ok(Some(GitPreview {
        sample_commit_subject: Some(subject.to_owned()),
        sample_commit_body: body.map(str::to_owned),
    }))
}

#[cfg(not(feature = "git"))]
fn commit(
    _: &str,
    _: &SnapshotSinkSpec,
    _: (&Layout, &Edition),
) -> Result<Option<GitPreview>, OpenError> {
    Ok(None)
}

/// A choice in the word that manifests have for it.
fn word(choice: impl Serialize) -> Option<String> {
    serde_json::to_value(choice).ok()?.as_str().map(str::to_owned)
}

#[cfg(test)]
#[cfg(all(feature = "git", feature = "postgres"))]
mod tests;

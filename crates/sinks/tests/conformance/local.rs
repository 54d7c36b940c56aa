//! Sinks on this machine's own disk, for tests and the program `churn`.

use std::{path::Path, sync::Arc};

use kollect_sinks::{
    Credentials, Family, FileDestination, FileSink, LocalPaths, Opener, Sink, SinkKey, SinkSpec,
    SqliteDestination, SqliteSink, Unit,
};

/// Each inventory has a folder of its own, so that a reader can tell them apart.
const TREE: &str = r#"{"mode":"perResource","content":"item",
    "pathTemplate":"{cluster}/{name}/{sourceNamespace}/{sourceName}{extension}"}"#;

/// Opens what the name says at a path.
pub(crate) fn open(
    kind: &str,
    path: &Path,
    cluster: &str,
) -> Result<(Arc<dyn Sink>, Unit), String> {
    match kind {
        "sqlite" => {
            let destination = Arc::new(SqliteDestination::new(path));
            Ok((Arc::new(SqliteSink::new(destination, cluster)), Unit::Rows))
        }
        "tree" => Ok((file(path, cluster, TREE)?, Unit::Rows)),
        "document" => Ok((file(path, cluster, r#"{"mode":"document"}"#)?, Unit::Document)),
        "git-tree" => Ok((git(path, cluster, TREE)?, Unit::Rows)),
        "git-document" => Ok((git(path, cluster, r#"{"mode":"document"}"#)?, Unit::Document)),
        other => Err(format!("{other} is no kind of sink")),
    }
}

fn git(path: &Path, cluster: &str, layout: &str) -> Result<Arc<dyn Sink>, String> {
    let endpoint = format!("file://{}", path.display());
    remote_git(
        &endpoint,
        cluster,
        layout,
        &Opener::new(LocalPaths::Anywhere),
        &Credentials::default(),
    )
}

/// Opens a repository, wherever it is.
pub(crate) fn remote_git(
    endpoint: &str,
    cluster: &str,
    layout: &str,
    opener: &Opener,
    credentials: &Credentials,
) -> Result<Arc<dyn Sink>, String> {
    let template = "{cluster}/{namespace}/{name}{extension}";
    let spec = format!(
        r#"{{"type":"git","endpoint":"{endpoint}","cluster":"{cluster}","layout":{layout},
            "serialization":{{"format":"ndjson"}},"pathTemplate":"{template}"}}"#
    );
    let spec = serde_json::from_str(&spec).map_err(|error| error.to_string())?;
    let sink = SinkKey {
        family: Family::Snapshot,
        namespace: "shop".to_owned(),
        name: "audit".to_owned(),
    };
    let spec = SinkSpec::Snapshot(Box::new(spec));
    opener.open(&sink, &spec, credentials).map_err(|error| format!("{error}"))
}

fn file(path: &Path, cluster: &str, layout: &str) -> Result<Arc<dyn Sink>, String> {
    let template = "{cluster}/{namespace}/{name}{extension}";
    let spec = format!(
        r#"{{"type":"file","file":{{"path":"x"}},"cluster":"{cluster}","layout":{layout},
            "serialization":{{"format":"ndjson"}},"pathTemplate":"{template}"}}"#
    );
    let spec = serde_json::from_str(&spec).map_err(|error| error.to_string())?;
    Ok(Arc::new(FileSink::new(Arc::new(FileDestination::new(path.to_owned())), spec)))
}

//! Sinks on this machine, for tests and the program `churn`.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kollect_api::AddressPolicy;
use kollect_sinks::{
    Credentials, Family, FileDestination, FileSink, LocalPaths, Opener, Sink, SinkKey, SinkSpec,
    SqliteDestination, SqliteSink, Unit,
    guard::{Guard, SystemResolver},
};

use super::reach::{self, DOCUMENT, Reach, TREE};

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
        "postgres" => Ok((postgres(path, cluster)?, Unit::Rows)),
        "tree" => Ok((file(path, cluster, TREE)?, Unit::Rows)),
        "document" => Ok((file(path, cluster, DOCUMENT)?, Unit::Document)),
        "git-tree" => Ok((git(path, cluster, TREE)?, Unit::Rows)),
        "git-https" => Ok((git_over_https(path, cluster)?, Unit::Rows)),
        other => Err(format!("{other} is no kind of sink")),
    }
}

fn git(path: &Path, cluster: &str, layout: &str) -> Result<Arc<dyn Sink>, String> {
    let reach = Reach { endpoint: format!("file://{}", path.display()), ..Reach::default() };
    reach::open_git(&reach, cluster, layout)
}

/// Opens what the file `reach.json` in a directory describes.
fn git_over_https(path: &Path, cluster: &str) -> Result<Arc<dyn Sink>, String> {
    let text = fs::read(path.join("reach.json")).map_err(|error| error.to_string())?;
    let told: BTreeMap<String, String> =
        serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let told = |name: &str| told.get(name).cloned().unwrap_or_default();
    let secret = [("username", told("user")), ("token", told("password"))];
    let secret = secret.map(|(key, value)| (key.to_owned(), value)).into();
    let tls = serde_json::json!({"caBundle": BASE64_STANDARD.encode(told("ca"))});
    let more = serde_json::Map::from_iter([("tls".to_owned(), tls)]);
    reach::open_git(&Reach { endpoint: told("endpoint"), secret, more }, cluster, TREE)
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

/// The path is a connection string.
fn postgres(dsn: &Path, cluster: &str) -> Result<Arc<dyn Sink>, String> {
    let spec = format!(
        r#"{{"type":"postgres","cluster":"{cluster}",
            "postgres":{{"databaseRef":{{"name":"db"}},"table":"inventory_items"}}}}"#
    );
    let spec = serde_json::from_str(&spec).map_err(|error| error.to_string())?;
    let dsn = dsn.to_str().ok_or("the connection string is no text")?;
    let credentials = Credentials::new(BTreeMap::from([("dsn".to_owned(), dsn.to_owned())]), "1");
    let allowed = "127.0.0.0/8".parse().into_iter().collect();
    let guard = Guard::new(AddressPolicy { private: false, allowed }, SystemResolver);
    let opener = Opener::new(LocalPaths::Anywhere).with_guard(guard);
    let sink =
        SinkKey { family: Family::Database, namespace: "shop".to_owned(), name: "db".to_owned() };
    let sink = opener.open(&sink, &SinkSpec::Database(Box::new(spec)), &credentials);
    sink.map_err(|error| error.to_string())
}

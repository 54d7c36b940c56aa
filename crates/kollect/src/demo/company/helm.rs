//! Releases as Helm keeps them: a Secret for each revision, with the release
//! in it as JSON, gzipped, in base64, and that in base64 as every Secret is.

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use super::Release;

/// What a revision of a release is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demo) enum Stage {
    /// The one that runs.
    Deployed,
    /// One that was upgraded.
    Superseded,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Deployed => "deployed",
            Self::Superseded => "superseded",
        }
    }
}

/// The name of a revision's Secret.
pub(in crate::demo) fn name(release: &Release) -> String {
    format!("sh.helm.release.v1.{}.v{}", release.name, release.revision)
}

/// The Secret of a revision.
pub(in crate::demo) fn secret(release: &Release, stage: Stage) -> Value {
    let status = stage.name();
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "helm.sh/release.v1",
        "metadata": {
            "name": name(release),
            "namespace": release.namespace,
            "labels": {
                "name": release.name,
                "owner": "helm",
                "status": status,
                "version": release.revision.to_string(),
            },
        },
        "data": {"release": STANDARD.encode(STANDARD.encode(packed(&record(release, status))))},
    })
}

/// What Helm remembers of a revision.
fn record(release: &Release, status: &str) -> Value {
    let Release { namespace, name, chart, version, app_version, revision, deployed } = release;
    let deployed = format!("{deployed}T08:30:00Z");
    json!({
        "name": name,
        "namespace": namespace,
        "version": revision,
        "info": {
            "first_deployed": deployed,
            "last_deployed": deployed,
            "deleted": "",
            "description": if *revision == 1 { "Install complete" } else { "Upgrade complete" },
            "status": status,
        },
        "chart": {
            "metadata": {
                "apiVersion": "v2",
                "name": chart,
                "version": version,
                "appVersion": app_version,
                "description": format!("What {name} needs to run"),
            },
            "lock": null,
            "templates": [],
            "values": {"replicas": 1},
            "schema": null,
            "files": [],
        },
        "config": {"replicas": 2},
        "manifest": "",
        "hooks": [],
    })
}

/// The same record gives the same bytes: no time is written into them.
fn packed(record: &Value) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    // Memory takes whatever is written to it.
    drop(gzip.write_all(record.to_string().as_bytes()));
    gzip.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_release_unpacks_as_helm_unpacks_it() {
        let release = Release {
            namespace: "shop",
            name: "cache",
            chart: "key-value-cache",
            version: "18.6.1".to_owned(),
            app_version: "7.4.0",
            revision: 2,
            deployed: date(2026, 3, 1),
        };
        let secret = secret(&release, Stage::Superseded);
        assert_eq!(secret["metadata"]["name"], "sh.helm.release.v1.cache.v2");
        assert_eq!(secret["metadata"]["labels"]["status"], "superseded");
        let data = STANDARD.decode(secret["data"]["release"].as_str().unwrap()).unwrap();
        let data = STANDARD.decode(data).unwrap();
        let mut text = String::new();
        GzDecoder::new(&data[..]).read_to_string(&mut text).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(record["chart"]["metadata"]["version"], "18.6.1");
        assert_eq!(record["version"], 2);
        assert_eq!(record["info"]["last_deployed"], "2026-03-01T08:30:00Z");
    }
}

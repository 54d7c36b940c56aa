//! Writes kubeconfig files; JSON, which every reader of YAML reads.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::certificates::Identity;

/// What a client shows to the API server.
pub(crate) enum Credential {
    Certificate(Identity),
    Token(String),
}

/// Writes `<file>.kubeconfig` into `directory` and returns its path.
///
/// Certificates and keys are files beside it, so it is of use only while
/// the directory exists.
pub(crate) fn write(
    directory: &Path,
    file: &str,
    server: &str,
    credential: Credential,
) -> io::Result<PathBuf> {
    let user = match credential {
        Credential::Certificate(Identity { certificate, key }) => {
            let certificate_path = directory.join(format!("{file}.crt"));
            let key_path = directory.join(format!("{file}.key"));
            fs::write(&certificate_path, certificate)?;
            fs::write(&key_path, key)?;
            json!({ "client-certificate": certificate_path, "client-key": key_path })
        }
        Credential::Token(token) => json!({ "token": token }),
    };
    let path = directory.join(format!("{file}.kubeconfig"));
    fs::write(&path, document(directory, server, &user).to_string())?;
    Ok(path)
}

fn document(directory: &Path, server: &str, user: &Value) -> Value {
    let cluster = json!({
        "server": server,
        "certificate-authority": directory.join("ca.crt"),
    });
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "test", "cluster": cluster }],
        "users": [{ "name": "test", "user": user }],
        "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test" } }],
        "current-context": "test",
    })
}

//! What is written and said to the two servers before they start.

use std::{
    fs, io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::{
    assets::Assets,
    certificates::{Authority, CertificateError, TokenKeys},
};

/// The first address of the range below, which the API server gives to itself.
pub(crate) const API_SERVICE_IP: &str = "10.0.0.1";
const SERVICE_IPS: &str = "10.0.0.0/24";

/// etcd wants a port in every address; here it is only part of the socket's
/// file name. The name has no directory, because the servers start in the
/// right one and the path of a socket must be short.
const ETCD_SOCKET: &str = "unix://etcd.sock:1";
const PEER_SOCKET: &str = "unix://peer.sock:1";

/// Where requests are recorded, below the control plane's directory.
pub(crate) const AUDIT_LOG: &str = "audit.log";

/// Whether requests are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audit {
    On,
    Off,
}

/// Where etcd keeps its data, below the control plane's directory.
pub(crate) const DATA: &str = "etcd";

/// The two command lines, ready to run in the control plane's directory.
pub(crate) struct Launch {
    pub(crate) etcd: PathBuf,
    pub(crate) apiserver: PathBuf,
    pub(crate) apiserver_flags: Vec<String>,
}

/// Why the servers' files could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("could not make the servers' certificates")]
    Certificates(#[source] CertificateError),

    #[error("could not write {file}")]
    Write { file: &'static str, source: io::Error },
}

impl Launch {
    /// Writes everything that the servers read into `directory`.
    pub(crate) fn prepare(
        assets: &Assets,
        directory: &Path,
        authority: &Authority,
        (address, audit): (SocketAddr, Audit),
    ) -> Result<Self, PrepareError> {
        let server = authority.server().map_err(PrepareError::Certificates)?;
        let tokens = TokenKeys::new().map_err(PrepareError::Certificates)?;
        let files = [
            ("etcd.json", etcd_settings()),
            ("ca.crt", authority.pem()),
            ("apiserver.crt", server.certificate),
            ("apiserver.key", server.key),
            ("tokens.key", tokens.signing),
            ("tokens.pub", tokens.checking),
            ("audit.json", audit_policy()),
        ];
        for (file, text) in files {
            fs::write(directory.join(file), text)
                .map_err(|source| PrepareError::Write { file, source })?;
        }
        let mut apiserver_flags = apiserver_flags(address);
        if audit == Audit::On {
            apiserver_flags.push("--audit-policy-file=audit.json".into());
            apiserver_flags.push(format!("--audit-log-path={AUDIT_LOG}"));
        }
        Ok(Self { etcd: assets.etcd(), apiserver: assets.apiserver(), apiserver_flags })
    }
}

/// Finds a port on the loopback address that was free a moment ago.
pub(crate) fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// A file and not flags, because with a file etcd ignores its environment variables.
///
/// The short intervals spare half a second, in which a single member would
/// wait for others before it elects itself.
fn etcd_settings() -> String {
    json!({
        "name": "test",
        "data-dir": DATA,
        "listen-client-urls": ETCD_SOCKET,
        "advertise-client-urls": ETCD_SOCKET,
        "listen-peer-urls": PEER_SOCKET,
        "initial-advertise-peer-urls": PEER_SOCKET,
        "initial-cluster": format!("test={PEER_SOCKET}"),
        "heartbeat-interval": 10,
        "election-timeout": 100,
        "unsafe-no-fsync": true,
        "log-level": "warn",
    })
    .to_string()
}

/// Who asked for what and was answered how, without what was said. Of a stream,
/// that it was opened is enough.
fn audit_policy() -> String {
    json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{ "level": "Metadata" }],
    })
    .to_string()
}

fn apiserver_flags(address: SocketAddr) -> Vec<String> {
    let server = format!("https://{address}");
    vec![
        format!("--etcd-servers={ETCD_SOCKET}"),
        format!("--bind-address={}", address.ip()),
        format!("--secure-port={}", address.port()),
        format!("--advertise-address={}", address.ip()),
        format!("--service-cluster-ip-range={SERVICE_IPS}"),
        // Nobody can reach the server through its service, and a loopback
        // address is refused as an endpoint.
        "--endpoint-reconciler-type=none".into(),
        "--tls-cert-file=apiserver.crt".into(),
        "--tls-private-key-file=apiserver.key".into(),
        "--client-ca-file=ca.crt".into(),
        "--authorization-mode=RBAC".into(),
        format!("--service-account-issuer={server}"),
        "--service-account-signing-key-file=tokens.key".into(),
        "--service-account-key-file=tokens.pub".into(),
        // It refuses every pod in a namespace whose default service account
        // has not been made yet, and no controller makes one here.
        "--disable-admission-plugins=ServiceAccount".into(),
        "--allow-privileged=true".into(),
        "--profiling=false".into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_listens_on_loopback_or_in_the_directory() {
        let address = free_address().unwrap();
        assert!(address.ip().is_loopback());
        assert!(apiserver_flags(address).contains(&"--bind-address=127.0.0.1".to_owned()));
        for socket in [ETCD_SOCKET, PEER_SOCKET] {
            assert!(socket.starts_with("unix://"));
        }
    }
}

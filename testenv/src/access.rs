//! Users and service accounts, each with a kubeconfig of its own.

use std::{io, path::PathBuf, sync::atomic::Ordering};

use serde_json::json;

use crate::{
    certificates::CertificateError,
    control_plane::ControlPlane,
    kubeconfig::{self, Credential},
};

/// Why nobody was given access.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("could not make a certificate for {user}")]
    Certificate { user: String, source: CertificateError },

    #[error("could not write a kubeconfig for {user}")]
    Write { user: String, source: io::Error },

    #[error("could not run kubectl to {action}")]
    Kubectl { action: &'static str, source: io::Error },

    #[error("the API server did not {action}: {answer}")]
    Refused { action: &'static str, answer: String },
}

impl ControlPlane {
    /// Writes a kubeconfig for a user whom a client certificate names.
    ///
    /// The user may do what RBAC grants to the name, to the groups and to
    /// `system:authenticated`, nothing else. The name need not be new, so one
    /// user can have several kubeconfigs. Fails for more than two groups.
    pub fn user(&self, name: &str, groups: &[&str]) -> Result<PathBuf, AccessError> {
        let identity = self
            .authority
            .client(name, groups)
            .map_err(|source| AccessError::Certificate { user: name.to_owned(), source })?;
        self.write_kubeconfig(name, Credential::Certificate(identity))
    }

    /// Writes a kubeconfig with a fresh token of a service account, which is
    /// created if it is absent. The namespace must exist.
    ///
    /// The token is valid for an hour, and only as long as the account exists.
    pub fn service_account(&self, namespace: &str, name: &str) -> Result<PathBuf, AccessError> {
        let account = json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": { "namespace": namespace, "name": name },
        });
        let apply = ["apply", "--server-side", "-f", "-"];
        self.ask("create the service account", &apply, account.to_string())?;
        let create_token = ["create", "token", name, "--namespace", namespace];
        let token = self.ask("issue a token", &create_token, String::new())?;
        self.write_kubeconfig(name, Credential::Token(token.trim().to_owned()))
    }

    fn ask(
        &self,
        action: &'static str,
        args: &[&str],
        input: String,
    ) -> Result<String, AccessError> {
        let output = self
            .kubectl(args)
            .stdin(input)
            .run()
            .map_err(|source| AccessError::Kubectl { action, source })?;
        if output.success {
            Ok(output.stdout)
        } else {
            Err(AccessError::Refused { action, answer: output.stderr })
        }
    }

    fn write_kubeconfig(&self, user: &str, credential: Credential) -> Result<PathBuf, AccessError> {
        // Names of users hold characters that file names cannot.
        let file = format!("access-{}", self.counter.fetch_add(1, Ordering::Relaxed));
        kubeconfig::write(self.directory.path(), &file, &self.server_url(), credential)
            .map_err(|source| AccessError::Write { user: user.to_owned(), source })
    }
}

//! What went wrong with a kubeconfig or with credentials, without showing them.
//!
//! kube's own texts hold the lines that could not be read and what a credential
//! plugin printed, and either may be a key.

use kube::{client::AuthError, config::KubeconfigError};

/// A cause that may be shown to anybody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cause(String);

impl Cause {
    pub(super) fn of_kubeconfig(error: &KubeconfigError) -> Self {
        Self(match error {
            KubeconfigError::Parse(error) => match error.location() {
                Some(at) => format!("line {}, column {} is wrong", at.line(), at.column()),
                None => "it is not well-formed".to_owned(),
            },
            // The file is named by whoever tells of this.
            KubeconfigError::ReadConfig(error, _) => error.to_string(),
            error => error.to_string(),
        })
    }

    pub(super) fn of_client(error: &kube::Error) -> Self {
        match error {
            kube::Error::Auth(error) => Self::of_credentials(error),
            error => Self(error.to_string()),
        }
    }

    pub(crate) fn of_credentials(error: &AuthError) -> Self {
        Self(match error {
            AuthError::AuthExecRun { cmd: _, out } => {
                // Its arguments and environment stand in the command, and are as secret.
                // It tells people on its standard error; the other one is for us.
                let said = String::from_utf8_lossy(&out.stderr);
                let said: String = said.trim().chars().take(500).collect();
                format!("the credential plugin failed ({}): {said}", out.status)
            }
            AuthError::AuthExecParse(_) => {
                "what the credential plugin printed is no credential".to_owned()
            }
            AuthError::AuthExecStart(error) => {
                format!("the credential plugin could not be started: {error}")
            }
            error => error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::process::ExitStatusExt as _,
        process::{ExitStatus, Output},
    };

    use kube::config::Kubeconfig;

    use super::*;

    #[test]
    fn a_kubeconfig_that_cannot_be_read_is_not_shown() {
        for text in [
            "users:\n- name: u\n  user: {token: s3cret\n",
            "users:\n- name: u\n  user: {token: [s3cret]}\n",
            "users: s3cret\n",
        ] {
            let error = Kubeconfig::from_yaml(text).unwrap_err();
            assert!(matches!(error, KubeconfigError::Parse(_)), "{error}");
            let cause = Cause::of_kubeconfig(&error);
            assert!(cause.to_string().starts_with("line "), "{cause}");
            assert!(!format!("{cause} {cause:?}").contains("s3cret"), "{cause}");
        }
    }

    #[test]
    fn what_a_plugin_prints_for_us_is_not_shown() {
        let out = Output {
            status: ExitStatus::from_raw(256),
            stdout: b"s3cret".to_vec(),
            stderr: b"please log in\n".to_vec(),
        };
        let failed =
            AuthError::AuthExecRun { cmd: "TOKEN=s3cret login".to_owned(), out: Box::new(out) };
        let cause = Cause::of_credentials(&failed);
        let expected = "the credential plugin failed (exit status: 1): please log in";
        assert_eq!(cause.to_string(), expected);
    }
}

//! Which Secrets a sink names, and what it takes from each.

use std::collections::BTreeMap;

use kollect_api::SecretReference;

use crate::{credentials::Credentials, open::SinkSpec};

/// Keys under which a Secret may hold certificates to trust.
pub const CA_KEYS: [&str; 3] = ["tls.crt", "ca.crt", "ca.pem"];

/// A Secret that a sink names, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretUse<'a> {
    /// The field of the spec.
    pub field: &'static str,
    pub reference: &'a SecretReference,
    pub purpose: Purpose,
}

/// What a Secret is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It lets us in.
    Login,
    /// It holds certificates to trust.
    Trust,
}

impl SinkSpec {
    /// The Secrets that it names.
    pub fn secrets(&self) -> Vec<SecretUse<'_>> {
        let own = match self {
            Self::Database(spec) => {
                spec.postgres.as_ref().map(|block| ("postgres.databaseRef", &block.database_ref))
            }
            Self::Snapshot(spec) => {
                let auth = spec.git.as_ref().and_then(|git| git.auth.as_ref());
                let secret = auth.and_then(|auth| auth.secret_ref.as_ref());
                secret.map(|secret| ("git.auth.secretRef", secret))
            }
            Self::Event(_) => None,
        };
        let common = self.common();
        let login = own.or_else(|| common.secret_ref.as_ref().map(|secret| ("secretRef", secret)));
        let trust = common.tls.as_ref().and_then(|tls| tls.ca_secret_ref.as_ref());
        let login = login.map(|(field, reference)| (field, reference, Purpose::Login));
        let trust = trust.map(|reference| ("tls.caSecretRef", reference, Purpose::Trust));
        let both = login.into_iter().chain(trust);
        both.map(|(field, reference, purpose)| SecretUse { field, reference, purpose }).collect()
    }

    /// What it needs to be let in. `read` gives the values of a Secret and its
    /// version.
    pub fn credentials<E: From<String>>(
        &self,
        read: impl Fn(&SecretUse<'_>) -> Result<(BTreeMap<String, String>, String), E>,
    ) -> Result<Credentials, E> {
        let (mut login, mut trust, mut versions) = (BTreeMap::new(), None, Vec::new());
        for secret in self.secrets() {
            let (values, version) = read(&secret)?;
            versions.push(version);
            match secret.purpose {
                Purpose::Login => login = values,
                Purpose::Trust => {
                    let pem = CA_KEYS.iter().filter_map(|key| values.get(*key));
                    let pem = pem.map(|pem| pem.trim()).find(|pem| !pem.is_empty());
                    let missing = || {
                        let keys = CA_KEYS.join(", ");
                        format!("spec.{}: the Secret holds none of {keys}", secret.field)
                    };
                    trust = Some(pem.ok_or_else(missing)?.to_owned());
                }
            }
        }
        let credentials = Credentials::new(login, versions.join(" "));
        Ok(match trust {
            Some(pem) => credentials.with_ca(pem),
            None => credentials,
        })
    }
}

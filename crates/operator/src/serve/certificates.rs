//! What the metrics' port shows of itself.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rcgen::generate_simple_self_signed;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

/// What a port shows of itself: a certificate from files, which may change, or
/// one that this process made up.
pub struct Certificates {
    files: Option<Files>,
    shown: Mutex<Shown>,
}

/// Why there is no certificate to show.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("could not read {}", file.display())]
    Read { file: PathBuf, source: io::Error },

    #[error("{} holds no certificate in PEM", file.display())]
    NoCertificate { file: PathBuf },

    #[error("{} holds no private key in PEM", file.display())]
    NoKey { file: PathBuf },

    #[error("the certificate and the key cannot be used together")]
    Mismatch(#[source] rustls::Error),

    #[error("could not make a certificate")]
    Make(#[source] rcgen::Error),
}

#[derive(Clone, Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// What two files held.
#[derive(Clone, PartialEq, Eq, Default)]
struct Held {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

struct Shown {
    config: Arc<ServerConfig>,
    /// What the files held when they were last looked at, of use or not.
    seen: Held,
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Certificates {
    /// One that nobody can verify, which is better than none.
    pub fn made_up() -> Result<Self, CertificateError> {
        let made = generate_simple_self_signed(["localhost".to_owned()]);
        let made = made.map_err(CertificateError::Make)?;
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = config(vec![made.cert.der().clone()], key)?;
        Ok(Self { files: None, shown: Mutex::new(Shown { config, seen: Held::default() }) })
    }

    /// The one that two files hold.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, CertificateError> {
        let files = Files { certificate: certificate.to_owned(), key: key.to_owned() };
        let seen = files.read()?;
        let config = files.parse(&seen)?;
        Ok(Self { files: Some(files), shown: Mutex::new(Shown { config, seen }) })
    }

    /// What is to be shown now. Files are read again for everybody who comes,
    /// which is seldom; what cannot be used does not replace what can.
    pub(super) fn current(&self) -> Arc<ServerConfig> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = &self.files
            && let Ok(held) = files.read()
            && held != shown.seen
        {
            match files.parse(&held) {
                Ok(config) => {
                    shown.config = config;
                    tracing::info!(controller = "metrics", "the certificate was read again");
                }
                Err(error) => {
                    let error = error.to_string();
                    tracing::warn!(
                        controller = "metrics",
                        error,
                        "the new certificate is of no use"
                    );
                }
            }
            shown.seen = held;
        }
        Arc::clone(&shown.config)
    }
}

impl Files {
    fn read(&self) -> Result<Held, CertificateError> {
        let read = |file: &PathBuf| {
            fs::read(file).map_err(|source| CertificateError::Read { file: file.clone(), source })
        };
        Ok(Held { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    fn parse(&self, held: &Held) -> Result<Arc<ServerConfig>, CertificateError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&held.certificate).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let Some(chain) = chain else {
            return Err(CertificateError::NoCertificate { file: self.certificate.clone() });
        };
        let key = PrivateKeyDer::from_pem_slice(&held.key);
        let key = key.map_err(|_| CertificateError::NoKey { file: self.key.clone() })?;
        config(chain, key)
    }
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, CertificateError> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(CertificateError::Mismatch)?.with_no_client_auth();
    let mut config = builder.with_single_cert(chain, key).map_err(CertificateError::Mismatch)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate and its key in PEM.
    fn pair() -> (String, String) {
        let made = generate_simple_self_signed(["metrics".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    #[test]
    fn one_can_be_made_up() {
        assert!(Certificates::made_up().is_ok());
    }

    #[test]
    fn a_new_pair_replaces_the_old_one_when_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) =
            (directory.path().join("tls.crt"), directory.path().join("tls.key"));
        let (old, new) = (pair(), pair());
        fs::write(&certificate, &old.0).unwrap();
        fs::write(&key, &old.1).unwrap();
        let certificates = Certificates::read(&certificate, &key).unwrap();
        let first = certificates.current();
        assert!(Arc::ptr_eq(&first, &certificates.current()), "nothing has changed");
        fs::write(&certificate, &new.0).unwrap();
        assert!(Arc::ptr_eq(&first, &certificates.current()), "the key is still the old one");
        fs::write(&key, &new.1).unwrap();
        let second = certificates.current();
        assert!(!Arc::ptr_eq(&first, &second));
        fs::remove_file(&key).unwrap();
        assert!(Arc::ptr_eq(&second, &certificates.current()), "what is gone replaces nothing");
    }

    #[test]
    fn files_that_are_of_no_use_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) =
            (directory.path().join("tls.crt"), directory.path().join("tls.key"));
        let error = || Certificates::read(&certificate, &key).unwrap_err().to_string();
        assert_eq!(error(), format!("could not read {}", certificate.display()));
        let (one, other) = (pair(), pair());
        fs::write(&certificate, "nothing").unwrap();
        fs::write(&key, &one.1).unwrap();
        assert_eq!(error(), format!("{} holds no certificate in PEM", certificate.display()));
        fs::write(&certificate, &one.0).unwrap();
        fs::write(&key, &one.0).unwrap();
        assert_eq!(error(), format!("{} holds no private key in PEM", key.display()));
        fs::write(&key, &other.1).unwrap();
        assert_eq!(error(), "the certificate and the key cannot be used together");
    }
}

//! Whom a connection trusts.

use std::{fmt, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};

use super::dsn::{Roots, SslMode};

/// How much TLS there has to be, and what a certificate must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsPolicy {
    pub(crate) need: Need,
    pub(crate) proof: Proof,
}

/// Whether there has to be TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    None,
    IfOffered,
    Always,
}

/// What a certificate must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Any will do.
    Nothing,
    /// Who signed it.
    Signer(Trust),
    /// That, and that it is for the host.
    Host(Trust),
}

/// Who may sign certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Whom the machine trusts.
    System,
    /// These, in PEM.
    Given(String),
}

/// Why nobody can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("the certificates to trust are no PEM, or none")]
    NoPem,
    #[error("this system has no certificates to trust: give them in spec.tls or by sslrootcert")]
    NoSystem,
    #[error("the certificates to trust cannot be used")]
    Unusable,
}

/// What `spec.tls` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TlsOverride {
    pub(crate) skip: bool,
    /// Certificates to trust, in PEM.
    pub(crate) ca: Option<String>,
}

impl TlsPolicy {
    /// The sink's own settings win over the connection string. `read` fetches
    /// a file of certificates.
    pub(crate) fn new<E>(
        (mode, roots): (SslMode, Option<&Roots>),
        over: &TlsOverride,
        read: impl FnOnce(&str) -> Result<String, E>,
    ) -> Result<Self, E> {
        if over.skip {
            return Ok(Self { need: Need::Always, proof: Proof::Nothing });
        }
        let trust = match (&over.ca, roots) {
            (Some(pem), _) => Some(Trust::Given(pem.clone())),
            (None, Some(Roots::File(path))) => Some(Trust::Given(read(path)?)),
            (None, Some(Roots::System)) => Some(Trust::System),
            (None, None) => None,
        };
        let need = match mode {
            // Who names certificates to trust wants them asked for.
            _ if over.ca.is_some() => Need::Always,
            SslMode::Disable => Need::None,
            SslMode::Prefer => Need::IfOffered,
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => Need::Always,
        };
        let proof = match (mode, trust) {
            (SslMode::VerifyCa, trust) => Proof::Signer(trust.unwrap_or(Trust::System)),
            (SslMode::VerifyFull, trust) => Proof::Host(trust.unwrap_or(Trust::System)),
            (_, Some(trust)) if over.ca.is_some() => Proof::Host(trust),
            // The system's list says nothing about who a server is unless its name counts.
            (SslMode::Require, Some(Trust::System)) => Proof::Host(Trust::System),
            (SslMode::Require, Some(trust)) => Proof::Signer(trust),
            (SslMode::Disable | SslMode::Prefer | SslMode::Require, _) => Proof::Nothing,
        };
        Ok(Self { need, proof })
    }

    /// Whether somebody else could answer in the server's place.
    pub(crate) fn is_insecure(&self) -> bool {
        self.need != Need::Always || self.proof == Proof::Nothing
    }

    /// The client's side of a handshake.
    pub(crate) fn client(&self) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match &self.proof {
            Proof::Nothing => Arc::new(Lenient { provider: Arc::clone(&provider), inner: None }),
            Proof::Signer(trust) => {
                let inner = Some(verifier(trust, &provider)?);
                Arc::new(Lenient { provider: Arc::clone(&provider), inner })
            }
            Proof::Host(trust) => verifier(trust, &provider)?,
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| TlsError::Unusable)?;
        let mut client =
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        // What a server that is asked directly has to be told.
        client.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(client)
    }
}

fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    match trust {
        Trust::System => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err(TlsError::NoSystem);
            }
        }
        Trust::Given(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let certificate = certificate.map_err(|_| TlsError::NoPem)?;
                roots.add(certificate).map_err(|_| TlsError::Unusable)?;
            }
            if roots.is_empty() {
                return Err(TlsError::NoPem);
            }
        }
    }
    let builder =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    builder.build().map_err(|_| TlsError::Unusable)
}

/// Does not ask for whom a certificate is, nor, without an inner verifier,
/// who signed it.
struct Lenient {
    provider: Arc<CryptoProvider>,
    inner: Option<Arc<WebPkiServerVerifier>>,
}

impl fmt::Debug for Lenient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lenient").finish_non_exhaustive()
    }
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        // The name is looked at last, when everything else was in order.
        match inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
                Ok(ServerCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Roots = Roots::File(String::new());

    fn given() -> Trust {
        Trust::Given("file".to_owned())
    }

    #[track_caller]
    fn check(mode: SslMode, roots: Option<&Roots>, over: (bool, bool), expected: (Need, Proof)) {
        let (skip, has_ca) = over;
        let over = TlsOverride { skip, ca: has_ca.then(|| "file".to_owned()) };
        let policy =
            TlsPolicy::new((mode, roots), &over, |_| Ok::<_, ()>("file".to_owned())).unwrap();
        let (need, proof) = expected;
        assert_eq!(policy, TlsPolicy { need, proof });
    }

    #[test]
    fn the_modes_of_connection_strings_mean_what_they_mean_elsewhere() {
        use SslMode::{Disable, Prefer, Require, VerifyCa, VerifyFull};
        let none = (false, false);
        check(Disable, None, none, (Need::None, Proof::Nothing));
        check(Prefer, None, none, (Need::IfOffered, Proof::Nothing));
        check(Require, None, none, (Need::Always, Proof::Nothing));
        check(Require, Some(&FILE), none, (Need::Always, Proof::Signer(given())));
        check(Require, Some(&Roots::System), none, (Need::Always, Proof::Host(Trust::System)));
        check(VerifyCa, None, none, (Need::Always, Proof::Signer(Trust::System)));
        check(VerifyCa, Some(&FILE), none, (Need::Always, Proof::Signer(given())));
        check(VerifyFull, Some(&FILE), none, (Need::Always, Proof::Host(given())));
    }

    #[test]
    fn the_settings_of_the_sink_win() {
        use SslMode::{Disable, Prefer, VerifyCa, VerifyFull};
        for mode in [Disable, Prefer, VerifyFull] {
            check(mode, None, (true, false), (Need::Always, Proof::Nothing));
            check(mode, None, (false, true), (Need::Always, Proof::Host(given())));
        }
        check(VerifyCa, None, (false, true), (Need::Always, Proof::Signer(given())));
    }

    #[test]
    fn only_a_proof_that_is_always_asked_for_is_secure() {
        let policy = |need, proof| TlsPolicy { need, proof };
        assert!(!policy(Need::Always, Proof::Signer(Trust::System)).is_insecure());
        assert!(policy(Need::Always, Proof::Nothing).is_insecure());
        assert!(policy(Need::IfOffered, Proof::Host(Trust::System)).is_insecure());
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        let of = |pem: &str| {
            let proof = Proof::Host(Trust::Given(pem.to_owned()));
            TlsPolicy { need: Need::Always, proof }.client().err()
        };
        assert_eq!(of(""), Some(TlsError::NoPem));
        let spoilt = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(of(spoilt), Some(TlsError::Unusable));
    }
}

//! Asks the operator's own ports.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    StreamOwned,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whom a client believes.
pub(super) enum Trust {
    /// It does not speak TLS.
    Plain,
    /// Whatever a server shows.
    Anybody,
    /// Who shows this certificate, in PEM, as `localhost`.
    This(String),
}

/// Asks with GET; the status and the body, or why there is none.
pub(super) fn get(
    address: SocketAddr,
    path: &str,
    trust: &Trust,
    token: Option<&str>,
) -> Result<(u16, String), String> {
    let stream = dial(address).map_err(|error| error.to_string())?;
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{token}\r\n");
    let answer = match config(trust) {
        None => exchange(stream, &request),
        Some(config) => {
            let name = ServerName::try_from("localhost").unwrap();
            let session = ClientConnection::new(Arc::new(config), name).unwrap();
            exchange(StreamOwned::new(session, stream), &request)
        }
    };
    let answer = answer.map_err(|error| error.to_string())?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| format!("{answer:?}"))?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Ok((status.ok_or_else(|| head.to_owned())?, body.to_owned()))
}

#[expect(clippy::disallowed_methods, reason = "the operator of a test listens on loopback only")]
fn dial(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn exchange(mut stream: impl Read + Write, request: &str) -> std::io::Result<String> {
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn config(trust: &Trust) -> Option<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    match trust {
        Trust::Plain => None,
        Trust::Anybody => {
            let dangerous = builder.dangerous();
            let builder = dangerous.with_custom_certificate_verifier(Arc::new(Believer(provider)));
            Some(builder.with_no_client_auth())
        }
        Trust::This(pem) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
            Some(builder.with_root_certificates(roots).with_no_client_auth())
        }
    }
}

/// Believes what it is shown.
#[derive(Debug)]
struct Believer(Arc<CryptoProvider>);

impl ServerCertVerifier for Believer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

//! Makes the keys and certificates of one control plane.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};

/// Every name under which the API server may be called.
const SERVER_NAMES: [&str; 7] = [
    "127.0.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    crate::launch::API_SERVICE_IP,
];

/// The attribute type of an organisation, spelt out.
const ORGANISATION: [u64; 4] = [2, 5, 4, 10];

/// Why a certificate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The user is in more groups than we can write into a certificate.
    #[error("a user's certificate can name two groups, not {count}")]
    TooManyGroups { count: usize },

    /// The library that makes certificates refused.
    #[error("could not make a key or sign a certificate")]
    Sign(#[source] rcgen::Error),
}

/// The certificate authority that server and clients of one control plane trust.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its private key, both in PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// The pair that signs and checks service-account tokens, both in PEM.
pub(crate) struct TokenKeys {
    pub(crate) signing: String,
    pub(crate) checking: String,
}

impl Authority {
    pub(crate) fn new() -> Result<Self, CertificateError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = common_name("kollect test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(CertificateError::Sign)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(CertificateError::Sign)?;
        Ok(Self { issuer })
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Makes the API server's identity.
    pub(crate) fn server(&self) -> Result<Identity, CertificateError> {
        let mut params = CertificateParams::new(SERVER_NAMES.map(str::to_owned))
            .map_err(CertificateError::Sign)?;
        params.distinguished_name = common_name("kube-apiserver");
        self.sign(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Makes a user's identity; Kubernetes reads the groups from the organisations.
    pub(crate) fn client(&self, user: &str, groups: &[&str]) -> Result<Identity, CertificateError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = common_name(user);
        // The library keeps one value an attribute type, but takes the same
        // type under its name and under its number.
        let types = [DnType::OrganizationName, DnType::CustomDnType(ORGANISATION.to_vec())];
        if groups.len() > types.len() {
            return Err(CertificateError::TooManyGroups { count: groups.len() });
        }
        for (attribute, group) in types.into_iter().zip(groups) {
            params.distinguished_name.push(attribute, *group);
        }
        self.sign(params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(
        &self,
        mut params: CertificateParams,
        purpose: ExtendedKeyUsagePurpose,
    ) -> Result<Identity, CertificateError> {
        params.extended_key_usages = vec![purpose];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(CertificateError::Sign)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(CertificateError::Sign)?;
        Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

impl TokenKeys {
    pub(crate) fn new() -> Result<Self, CertificateError> {
        let pair = KeyPair::generate().map_err(CertificateError::Sign)?;
        Ok(Self { signing: pair.serialize_pem(), checking: pair.public_key_pem() })
    }
}

fn common_name(name: &str) -> DistinguishedName {
    let mut distinguished_name = DistinguishedName::new();
    distinguished_name.push(DnType::CommonName, name);
    distinguished_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_group_is_refused_and_not_forgotten() {
        let authority = Authority::new().unwrap();
        assert!(authority.client("ann", &["one", "two"]).is_ok());
        assert!(matches!(
            authority.client("ann", &["one", "two", "three"]),
            Err(CertificateError::TooManyGroups { count: 3 })
        ));
    }
}

//! The private certificate authority and its certificates. It uses nothing of a signing request but the key.

use assay_core::time::Micros;
use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateSigningRequestParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, PublicKeyData, SanType,
};
use rustls::pki_types::{CertificateDer, CertificateSigningRequestDer, PrivatePkcs8KeyDer};

use crate::{Identity, Pin, SERVER_NAME, TlsError};

const DAY_SECONDS: u64 = 86_400;
/// The lifetime of an authority and of the server's own certificate, whose key never leaves a process.
const LIFETIME: Micros = Micros::from_secs(10 * 365 * DAY_SECONDS);
/// The largest time by which a worker's clock may be behind the server's.
const CLOCKS_APART: Micros = Micros::from_secs(300);

/// A certificate authority with its key.
pub struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

/// An authority as it is stored; the key is a secret.
#[derive(Clone)]
pub struct StoredAuthority {
    /// DER.
    pub certificate: Vec<u8>,
    /// PKCS #8.
    pub private_key: Vec<u8>,
}

/// The time in which a certificate is valid.
#[derive(Debug, Clone, Copy)]
pub struct Validity {
    pub from: Micros,
    pub until: Micros,
}

impl Validity {
    /// From now, with allowance for a clock that is behind.
    #[must_use]
    pub fn starting(now: Micros, lifetime: Micros) -> Self {
        Self { from: Micros(now.0.saturating_sub(CLOCKS_APART.0)), until: now + lifetime }
    }
}

impl Authority {
    /// Makes an authority with a new key.
    pub fn generate(now: Micros) -> Result<StoredAuthority, TlsError> {
        let key = KeyPair::generate()?;
        let mut params = params(Validity::starting(now, LIFETIME), "Assay workers");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key)?.der().to_vec();
        Ok(StoredAuthority { certificate, private_key: key.serialize_der() })
    }

    pub fn open(stored: StoredAuthority) -> Result<Self, TlsError> {
        let certificate = CertificateDer::from(stored.certificate);
        let key = PrivatePkcs8KeyDer::from(stored.private_key);
        let key = KeyPair::try_from(&key)?;
        let issuer = Issuer::from_ca_cert_der(&certificate, key)?;
        Ok(Self { certificate, issuer })
    }

    #[must_use]
    pub fn pin(&self) -> Pin {
        Pin::of(&self.certificate)
    }

    pub(crate) fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// The certificate (DER) of a worker whose signed request (DER) has its key.
    pub fn issue(
        &self,
        request: &[u8],
        identity: &Identity,
        validity: Validity,
    ) -> Result<Vec<u8>, TlsError> {
        let request = CertificateSigningRequestDer::from(request);
        let request = CertificateSigningRequestParams::from_der(&request)?;
        let mut params = params(validity, "Assay worker");
        params.subject_alt_names = vec![SanType::URI(Ia5String::try_from(identity.to_string())?)];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&params, &request.public_key).map(|certificate| certificate.to_vec())
    }

    /// The server's certificate, with its key.
    pub(crate) fn issue_to_server(
        &self,
        now: Micros,
    ) -> Result<(CertificateDer<'static>, KeyPair), TlsError> {
        let key = KeyPair::generate()?;
        let mut params = params(Validity::starting(now, LIFETIME), "Assay server");
        params.subject_alt_names = vec![SanType::DnsName(Ia5String::try_from(SERVER_NAME)?)];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        Ok((self.sign(&params, &key)?, key))
    }

    fn sign(
        &self,
        params: &CertificateParams,
        key: &impl PublicKeyData,
    ) -> Result<CertificateDer<'static>, TlsError> {
        Ok(params.signed_by(key, &self.issuer)?.der().clone())
    }
}

fn params(validity: Validity, name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.not_before = validity.from.to_datetime();
    params.not_after = validity.until.to_datetime();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params
}

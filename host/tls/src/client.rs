//! The worker's side: its key, and which servers it believes.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, PeerIncompatible, RootCertStore,
    SignatureScheme,
};

use crate::{Pin, Purpose, TlsError, provider};

/// The key of one certificate; it is never written anywhere.
pub struct WorkerKey(KeyPair);

impl WorkerKey {
    pub fn generate() -> Result<Self, TlsError> {
        Ok(Self(KeyPair::generate()?))
    }

    /// The key itself (PKCS #8).
    pub(crate) fn secret(&self) -> Vec<u8> {
        self.0.serialize_der()
    }

    /// The request for a certificate (DER), signed by the key.
    pub fn request(&self) -> Result<Vec<u8>, TlsError> {
        Ok(CertificateParams::default().serialize_request(&self.0)?.der().to_vec())
    }
}

/// The settings of a connection to the server whose authority has this pin, with the worker's certificate (DER) once
/// it has one.
pub fn client_config(
    pin: Pin,
    certificate: Option<(&WorkerKey, Vec<u8>)>,
    purpose: Purpose,
) -> Result<ClientConfig, TlsError> {
    let provider = provider();
    let verifier = PinnedAuthority { pin, provider: Arc::clone(&provider) };
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match certificate {
        None => config.with_no_client_auth(),
        Some((key, certificate)) => {
            let key = PrivatePkcs8KeyDer::from(key.secret());
            config.with_client_auth_cert(vec![certificate.into()], key.into())?
        }
    };
    config.resumption = rustls::client::Resumption::disabled();
    config.alpn_protocols = vec![purpose.alpn().into()];
    Ok(config)
}

/// Believes a server whose chain leads to the authority with this pin. The server sends the authority's certificate
/// along.
#[derive(Debug)]
struct PinnedAuthority {
    pin: Pin,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinnedAuthority {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let pinned = intermediates.iter().find(|certificate| Pin::of(certificate) == self.pin);
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let mut roots = RootCertStore::empty();
        roots.add(pinned.ok_or(unknown)?.clone().into_owned())?;
        let provider = Arc::clone(&self.provider);
        let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider)
            .build()
            .map_err(|error| Error::General(error.to_string()))?;
        verifier.verify_server_cert(end_entity, &[], server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::PeerIncompatible(PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

//! The server's side: its certificate, and which workers it believes.

use std::sync::Arc;

use assay_core::time::Micros;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{RootCertStore, ServerConfig};

use crate::{Authority, Identity, Purpose, TlsError, provider};

/// The settings of connections from workers. A worker without a certificate gets through the handshake, because it may
/// want to join; one with a certificate that is not valid does not.
pub fn server_config(authority: &Authority, now: Micros) -> Result<ServerConfig, TlsError> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate().clone())?;
    let provider = provider();
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
        .allow_unauthenticated()
        .build()?;
    let (certificate, key) = authority.issue_to_server(now)?;
    let chain = vec![certificate, authority.certificate().clone()];
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key.into())?;
    config.alpn_protocols = Purpose::ALL.map(|purpose| purpose.alpn().into()).into();
    // A resumed session would outlive its certificate.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// The worker that a verified chain of a connection names.
#[must_use]
pub fn peer_identity(verified: Option<&[CertificateDer<'_>]>) -> Option<Identity> {
    let certificate = webpki::EndEntityCert::try_from(verified?.first()?).ok()?;
    let mut names = certificate.valid_uri_names();
    let identity = names.next()?.parse().ok()?;
    names.next().is_none().then_some(identity)
}

/// The purpose of a connection, by the protocol of its handshake.
#[must_use]
pub fn purpose(alpn: Option<&[u8]>) -> Option<Purpose> {
    Purpose::ALL.into_iter().find(|purpose| Some(purpose.alpn()) == alpn)
}

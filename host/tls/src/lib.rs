//! TLS between the server and workers of other machines.
//!
//! The server has a private certificate authority ([`Authority`]). A worker knows it by its [`Pin`], joins without a
//! certificate, and from then on shows one that names it ([`Identity`]). Both sides speak TLS 1.3 alone and resume no
//! session, so that every connection is verified.

mod authority;
mod identity;
mod pin;

mod client;
mod server;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::{CryptoProvider, ring};

pub use authority::{Authority, StoredAuthority, Validity};
pub use client::{WorkerKey, client_config};
pub use identity::Identity;
pub use pin::Pin;
pub use server::{peer_identity, purpose, server_config};

/// The name of every server in its certificate; a worker knows the server by its authority, wherever it is.
pub const SERVER_NAME: &str = "server.workers.assay.internal";

/// The purpose of a connection. Both sides agree on it in the handshake (ALPN), so that data on the connection
/// cannot change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To run what the server grants; code of tenants may speak here.
    Work,
    /// To get certificates.
    Enrolment,
}

impl Purpose {
    const ALL: [Self; 2] = [Self::Work, Self::Enrolment];

    fn alpn(self) -> &'static [u8] {
        match self {
            Self::Work => b"assay-work",
            Self::Enrolment => b"assay-enrolment",
        }
    }
}

/// A fault of a certificate, a key or a request for a certificate.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("a certificate or its request is not valid: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("the settings of TLS are not valid: {0}")]
    Settings(#[from] rustls::Error),
    #[error("the certificates of workers cannot be verified: {0}")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}

/// The age at which a certificate with this lifetime is renewed: two thirds of it.
#[must_use]
pub fn renew_after(lifetime: Duration) -> Duration {
    lifetime * 2 / 3
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

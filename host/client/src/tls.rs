//! The TLS provider of the process.

/// Chooses ring for all TLS of this process, unless a provider was chosen before. [`crate::Client`] calls it;
/// a program that makes other HTTP clients calls it before the first of them.
pub fn install_tls_provider() {
    // A second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

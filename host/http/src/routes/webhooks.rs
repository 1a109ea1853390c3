//! `/v1/webhooks`: addresses that are told of a tenant's incidents, managed by its administrators.

pub(crate) mod create;
pub(crate) mod deliveries;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod test;

use assay_core::outbound::{Scheme, Target};

/// The part of a URL that is no secret.
fn shown(target: &Target) -> String {
    let scheme = match target.scheme {
        Scheme::Https => "https",
        Scheme::Http => "http",
    };
    let Target { host, port, .. } = target;
    if *port == target.scheme.port() {
        return format!("{scheme}://{host}");
    }
    format!("{scheme}://{host}:{port}")
}

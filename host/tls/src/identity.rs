//! Who a worker is: its id and its pool, as a URI in its certificate.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use assay_core::id::TicketId;
use assay_core::limits;
use assay_core::plugin::check_name;

const PREFIX: &str = "spiffe://assay/pool/";
const BETWEEN: &str = "/worker/";

/// The worker of a certificate. Written `spiffe://assay/pool/<pool>/worker/<id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub worker: TicketId,
    pub pool: Arc<str>,
}

/// A URI that names no worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the URI names no worker")]
pub struct BadIdentity;

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}{BETWEEN}{}", self.pool, self.worker)
    }
}

impl FromStr for Identity {
    type Err = BadIdentity;

    fn from_str(uri: &str) -> Result<Self, BadIdentity> {
        let rest = uri.strip_prefix(PREFIX).ok_or(BadIdentity)?;
        let (pool, worker) = rest.split_once(BETWEEN).ok_or(BadIdentity)?;
        check_name("pool", pool, limits::PLUGIN_NAME_BYTES_MAX).map_err(|_| BadIdentity)?;
        Ok(Self { worker: worker.parse().map_err(|_| BadIdentity)?, pool: pool.into() })
    }
}

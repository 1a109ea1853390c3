//! The JSON shapes of workers of other machines: tokens to join, and the workers that joined.

use assay_core::id::TicketId;
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

/// `POST /v1/workers/tokens`: the pool of the worker that may join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateWorkerToken {
    /// Pool of the worker.
    pub pool: String,
    /// Time in which the token must be used, in seconds: 1 to 86400.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u32>,
}

/// A token with which one worker joins once, and what the worker needs beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WorkerToken {
    /// The secret, which is shown only once.
    pub token: String,
    /// Pool of the worker.
    pub pool: String,
    /// Time until which the token can be used.
    #[schema(value_type = String)]
    pub expires_at: Micros,
    /// Address on which the server listens for workers, `IP:PORT`.
    pub listen: String,
    /// SHA-256 of the certificate of the server's authority, `sha256:HEX`.
    pub ca_pin: String,
}

/// `GET /v1/workers/remote`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RemoteWorkerList {
    /// Sorted by the time of their join.
    pub items: Vec<RemoteWorker>,
}

/// A worker of another machine whose certificate is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RemoteWorker {
    /// Its identity in its certificate, and its ticket in the list of workers.
    #[schema(value_type = String)]
    pub id: TicketId,
    /// Name of the pool.
    pub pool: String,
    /// Name of the machine, as the worker says it.
    pub machine: String,
    /// Time at which the worker joined.
    #[schema(value_type = String)]
    pub joined_at: Micros,
    /// End of its newest certificate.
    #[schema(value_type = String)]
    pub expires_at: Micros,
    /// Whether it is connected now.
    pub connected: bool,
}

//! How the versions of a plugin are used.

use std::collections::BTreeMap;

use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use crate::result::Counts;

/// `GET /v1/plugins/{name}/versions/{version}/stats`: totals over the last batches of a version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PluginStats {
    /// `name@version`.
    pub plugin: String,
    /// Number of batches in these totals.
    pub batches: u32,
    /// End of the first of these batches; `to` is the end of the last one.
    #[schema(value_type = Option<String>)]
    pub from: Option<Micros>,
    /// End of the last of these batches.
    #[schema(value_type = Option<String>)]
    pub to: Option<Micros>,
    /// Numbers of ended requests by ending.
    pub counts: Counts,
    /// Mean over all requests with a reward; absent while there is none.
    pub mean_reward: Option<f64>,
    /// Numbers of requests by verdict.
    pub verdicts: BTreeMap<String, u32>,
    /// Numbers of requests without a reward, by error code.
    pub errors: BTreeMap<String, u32>,
    /// Run times by stage.
    pub stages: Vec<StageHistogram>,
    /// Names of the runs of these batches.
    pub runs: Vec<RunOnVersion>,
}

/// Run times of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StageHistogram {
    /// Name of the stage.
    pub stage: String,
    /// Name of the pool.
    pub pool: String,
    /// Timeout of the stage, in milliseconds.
    pub timeout_ms: u32,
    /// Number of requests.
    pub requests: u32,
    /// Number of attempts after the first one.
    pub retries: u32,
    /// Ends of the bins, in milliseconds; the first bin begins at zero, and the last holds all longer times.
    pub edges_ms: Vec<f64>,
    /// Number of requests in each bin.
    pub counts: Vec<u32>,
}

/// A run that uses a version of a plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunOnVersion {
    /// Name of the run.
    pub run: String,
    /// Number of batches.
    pub batches: u32,
    /// Time at which the last batch ended.
    #[schema(value_type = String)]
    pub last_batch_at: Micros,
    /// Mean reward of the last batch with rewards; absent if there is none.
    pub last_mean_reward: Option<f64>,
}

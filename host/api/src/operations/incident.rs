//! The JSON shapes of incidents: what went wrong, when and for which run.

use serde::{Deserialize, Serialize};

use crate::acknowledgement::Acknowledgement;
use assay_core::id::BatchId;
use assay_core::time::Micros;

/// A fault that was noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Incident {
    /// Id of the incident.
    pub id: i64,
    /// Time of its latest occurrence.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Name of the tenant; absent for incidents of the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Kind of the incident.
    pub kind: IncidentKind,
    /// Name of the pool; absent if it concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Id of the batch; absent if it concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub batch: Option<BatchId>,
    /// Name of the run; absent if it concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Error code of the failed requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Number of affected workers or requests; for an entry for several batches, the number of
    /// batches.
    pub count: u32,
    /// Description as a sentence.
    pub detail: String,
    /// The acknowledgement; absent while nobody has acknowledged the incident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledgement>,
}

/// The kind of an incident.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum IncidentKind {
    /// A worker's process or its connection ended unexpectedly.
    WorkerDied,
    /// A stage ran past its deadline, and its worker was killed.
    WorkerKilled,
    /// A worker could not be started.
    WorkerStartFailed,
    /// A stage was ended and is tried again, because the machine kept its worker waiting for a processor.
    WorkerStarved,
    /// A batch ended later than T + D.
    BatchLate,
    /// Requests of a batch ended as errors.
    RequestsFailed,
    /// A trainer got an answer without a reward, and its own code may write a number in its place.
    RewardMissing,
    /// All requests of an open batch have ended, and none has come for minutes.
    TrainerSilent,
    /// The mean reward of a batch lies far below that of its run's iterations before.
    RewardDropped,
    /// The verdicts of a batch are others than in its run's iterations before.
    VerdictsChanged,
}

impl IncidentKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::WorkerDied,
        Self::WorkerKilled,
        Self::WorkerStartFailed,
        Self::WorkerStarved,
        Self::BatchLate,
        Self::RequestsFailed,
        Self::RewardMissing,
        Self::TrainerSilent,
        Self::RewardDropped,
        Self::VerdictsChanged,
    ];

    /// The name of the kind in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WorkerDied => "worker_died",
            Self::WorkerKilled => "worker_killed",
            Self::WorkerStartFailed => "worker_start_failed",
            Self::WorkerStarved => "worker_starved",
            Self::BatchLate => "batch_late",
            Self::RequestsFailed => "requests_failed",
            Self::RewardMissing => "reward_missing",
            Self::TrainerSilent => "trainer_silent",
            Self::RewardDropped => "reward_dropped",
            Self::VerdictsChanged => "verdicts_changed",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// `GET /v1/incidents`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct IncidentPage {
    /// The latest first.
    pub items: Vec<Incident>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    pub next: Option<i64>,
}

/// Filters for incidents; an incident must match all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct IncidentFilter {
    /// Whether all tenants are included; needs the scope `platform:*`.
    #[serde(default)]
    #[param(required = false)]
    pub all: bool,
    /// Start of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub from: Option<Micros>,
    /// End of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub to: Option<Micros>,
    /// Only incidents of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<IncidentKind>,
    /// Only incidents of the run of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Whether incidents of the same tenant, kind, pool, run and code are one item: the latest of them,
    /// with the sum of the counts. Only the last 1,000 incidents are grouped, into one page.
    #[serde(default)]
    #[param(required = false)]
    pub grouped: bool,
    /// Whether acknowledged incidents are left out.
    #[serde(default)]
    #[param(required = false)]
    pub open: bool,
    /// Cursor of a page; only older incidents are returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// Maximum number of items: 100 when absent, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_survive_their_text() {
        for kind in IncidentKind::ALL {
            assert_eq!(IncidentKind::parse(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_value(kind).expect("plain"), kind.as_str());
        }
    }
}

//! Incidents that somebody has seen, so that they no longer ask for attention.

use assay_core::limits;
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use crate::problem::FieldError;

/// The acknowledgement of an incident and of others like it, up to a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Acknowledgement {
    /// Time of the acknowledgement.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Name of the key or address of the person; `an administrator of the platform` where a tenant is not told more.
    pub by: String,
    /// Time up to which incidents of the same tenant, kind, pool, run and code are acknowledged too; it is in
    /// the future while they are muted.
    #[schema(value_type = String)]
    pub until: Micros,
}

/// `POST /v1/incidents/{id}/acknowledge`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AcknowledgeIncident {
    /// Hours for which further incidents of the same tenant, kind, pool, run and code are acknowledged in
    /// advance: 0 when absent, 720 at most.
    pub mute_hours: u32,
}

impl AcknowledgeIncident {
    /// Checks the limits of the fields.
    pub fn check(&self) -> Result<(), FieldError> {
        let max = limits::INCIDENT_MUTE_HOURS_MAX;
        if self.mute_hours > max {
            let detail = format!("mute_hours must be at most {max}");
            return Err(FieldError::new("mute_hours", detail));
        }
        Ok(())
    }
}

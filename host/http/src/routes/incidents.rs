//! `/v1/incidents`: recent faults of a tenant's batches and of the platform's workers, and that somebody has
//! seen them.

pub(crate) mod acknowledge;
pub(crate) mod list;
pub(crate) mod reopen;

use std::str::FromStr;

use assay_api::key::Scope;
use assay_api::operations::IncidentFilter;
use assay_store::operations::Beside;

use crate::auth::Caller;
use crate::problem::ApiError;

/// The number of an incident, in a path.
pub(crate) struct IncidentNumber(i64);

impl FromStr for IncidentNumber {
    type Err = ApiError;

    fn from_str(number: &str) -> Result<Self, ApiError> {
        number.parse().map(Self).map_err(|_| ApiError::not_found("incident"))
    }
}

/// The incidents that the caller may see in addition to their own tenant's.
pub(crate) fn beside(caller: &Caller, filter: &IncidentFilter) -> Result<Beside, ApiError> {
    if filter.all {
        caller.need(Scope::Platform)?;
        return Ok(Beside::All);
    }
    Ok(if caller.has(Scope::Platform) { Beside::Platform } else { Beside::Nothing })
}

/// The incidents that the caller may acknowledge in addition to their own tenant's.
fn visible(caller: &Caller) -> Beside {
    if caller.has(Scope::Platform) { Beside::All } else { Beside::Nothing }
}

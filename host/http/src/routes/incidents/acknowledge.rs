//! `POST /v1/incidents/{id}/acknowledge`: somebody has seen it.

use assay_api::acknowledgement::{AcknowledgeIncident, Acknowledgement};
use assay_core::time::Micros;
use assay_dispatch::now;
use assay_store::acknowledgements::VisibleIncident;
use axum::Json;
use axum::body::Body;
use axum::extract::State;

use super::{IncidentNumber, visible};
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

/// Acknowledge an incident and earlier ones of the same tenant, kind, pool, run and code. They leave the
/// overview, and `GET /v1/incidents?open=true`, until another one happens; `mute_hours` acknowledges those of
/// that time too. Incidents of the platform and of other tenants need the scope `platform:*`.
#[utoipa::path(
    post, path = "/v1/incidents/{id}/acknowledge", tag = "operations", params(("id" = i64, Path)),
    request_body = Option<AcknowledgeIncident>,
    responses((status = 200, body = Acknowledgement))
)]
pub(crate) async fn acknowledge(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    PathId(incident): PathId<IncidentNumber>,
    body: Body,
) -> Result<Json<Acknowledgement>, ApiError> {
    let call: AcknowledgeIncident = body::json_or_default(body).await?;
    call.check()?;
    let seen = VisibleIncident {
        tenant: caller.tenant,
        beside: visible(&caller),
        incident: incident.0,
        at: now(),
        mute: Micros::from_secs(u64::from(call.mute_hours) * 3_600),
        by: &caller.actor(),
    };
    Ok(Json(app.store.acknowledge_incident(seen).await?))
}

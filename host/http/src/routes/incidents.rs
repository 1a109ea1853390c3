//! `/v1/incidents`: recent faults of a tenant's batches and of the platform's workers, and that somebody has
//! seen them.

use assay_api::acknowledgement::{AcknowledgeIncident, Acknowledgement};
use assay_api::key::Scope;
use assay_api::operations::{IncidentFilter, IncidentPage};
use assay_core::time::Micros;
use assay_dispatch::now;
use assay_store::acknowledgements::Seen;
use assay_store::operations::Beside;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use crate::app::AppState;
use crate::auth::Caller;
use crate::extract::body;
use crate::extract::guard::{BatchesRead, BatchesWrite, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;

/// Incidents of your tenant, the latest first; with `platform:*` also those of the platform. They
/// are kept for 30 days.
#[utoipa::path(
    get, path = "/v1/incidents", tag = "operations", params(IncidentFilter),
    responses((status = 200, body = IncidentPage))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Query(filter): Query<IncidentFilter>,
) -> Result<Json<IncidentPage>, ApiError> {
    let beside = beside(&caller, &filter)?;
    Ok(Json(match filter.grouped {
        true => app.store.grouped_incidents(caller.tenant, beside, &filter).await?,
        false => app.store.incidents(caller.tenant, beside, &filter).await?,
    }))
}

/// The incidents that the caller may see in addition to their own tenant's.
pub(crate) fn beside(caller: &Caller, filter: &IncidentFilter) -> Result<Beside, ApiError> {
    if filter.all {
        caller.need(Scope::Platform)?;
        return Ok(Beside::All);
    }
    Ok(if caller.has(Scope::Platform) { Beside::Platform } else { Beside::Nothing })
}

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
    Path(id): Path<String>,
    body: Body,
) -> Result<Json<Acknowledgement>, ApiError> {
    let incident = parse(&id)?;
    let call: AcknowledgeIncident = body::json_or_default(body).await?;
    call.check()?;
    let seen = Seen {
        tenant: caller.tenant,
        beside: visible(&caller),
        incident,
        at: now(),
        mute: Micros::from_secs(u64::from(call.mute_hours) * 3_600),
        by: &caller.actor(),
    };
    Ok(Json(app.store.acknowledge_incident(seen).await?))
}

/// Take the acknowledgement of an incident back, with that of those like it.
#[utoipa::path(
    post, path = "/v1/incidents/{id}/reopen", tag = "operations", params(("id" = i64, Path)),
    responses((status = 204))
)]
pub(crate) async fn reopen(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    app.store.reopen_incident(caller.tenant, visible(&caller), parse(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn parse(id: &str) -> Result<i64, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("incident"))
}

/// The incidents that the caller may acknowledge in addition to their own tenant's.
fn visible(caller: &Caller) -> Beside {
    if caller.has(Scope::Platform) { Beside::All } else { Beside::Nothing }
}

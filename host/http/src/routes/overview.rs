//! `GET /v1/overview`: live batches, queues and the last incidents.

use assay_api::key::Scope;
use assay_api::operations::{IncidentFilter, Overview};
use assay_core::limits;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::all_tenants::AllTenantsQuery;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::incidents;

/// Live batches, queues and the last incidents of your tenant, or of all tenants.
#[utoipa::path(
    get, path = "/v1/overview", tag = "operations", params(AllTenantsQuery),
    responses((status = 200, body = Overview))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Query(query): Query<AllTenantsQuery>,
) -> Result<Json<Overview>, ApiError> {
    let tenant = query.tenant(&caller)?;
    let observed = app.dispatch.observe().await?;
    let batches = app.dispatch.live_batches(&observed, tenant);
    let filter = IncidentFilter {
        all: query.all,
        open: true,
        limit: Some(limits::INCIDENTS_SHOWN_MAX),
        ..IncidentFilter::default()
    };
    let beside = incidents::beside(&caller, &filter)?;
    let incidents = app.store.grouped_incidents(caller.tenant, beside, &filter).await?;
    Ok(Json(Overview {
        at: observed.at,
        batches: batches.items,
        batches_total: batches.total,
        queue: observed.stages(tenant),
        pools: caller.has(Scope::Platform).then(|| observed.pools.clone()),
        incidents: incidents.items,
    }))
}

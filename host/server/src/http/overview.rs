//! What is live, and what waits in each pool.

use assay_model::api::{Problem, Scope};
use assay_model::id::TenantId;
use assay_model::limits;
use assay_model::operations::{IncidentFilter, Overview, QueueList};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, incidents};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct WhoseQuery {
    /// Those of all tenants; needs `platform:*`.
    #[serde(default)]
    #[param(required = false)]
    all: bool,
}

impl WhoseQuery {
    /// Whose batches are meant; `None` is all tenants, for the platform's administrators.
    pub(super) fn tenant(&self, caller: &Caller) -> Result<Option<TenantId>, ApiError> {
        if !self.all {
            return Ok(Some(caller.tenant));
        }
        caller.need(Scope::Platform)?;
        Ok(None)
    }
}

/// Live batches, what waits, and the last incidents: of your tenant, or of all.
#[utoipa::path(
    get, path = "/v1/overview", tag = "operations", params(WhoseQuery),
    responses(
        (status = 200, body = Overview),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn get(
    State(app): AppState,
    caller: Caller,
    query: Result<Query<WhoseQuery>, QueryRejection>,
) -> Result<Json<Overview>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let tenant = query.tenant(&caller)?;
    let observed = app.dispatch.observe().await?;
    let batches = app.dispatch.live_batches(&observed, tenant);
    let filter = IncidentFilter {
        all: query.all,
        limit: Some(limits::INCIDENTS_SHOWN_MAX),
        ..IncidentFilter::default()
    };
    let incidents =
        app.store.incidents(caller.tenant, incidents::beside(&caller, &filter)?, &filter).await?;
    Ok(Json(Overview {
        at: observed.at,
        batches: batches.items,
        batches_total: batches.total,
        queue: observed.stages(tenant),
        pools: caller.has(Scope::Platform).then(|| observed.pools.clone()),
        incidents: incidents.items,
    }))
}

/// What waits in each pool, batch by batch, in the order in which it is served.
#[utoipa::path(
    get, path = "/v1/queue", tag = "operations",
    responses(
        (status = 200, body = QueueList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn queue(
    State(app): AppState,
    caller: Caller,
) -> Result<Json<QueueList>, ApiError> {
    caller.need(Scope::Platform)?;
    let observed = app.dispatch.observe().await?;
    Ok(Json(QueueList { at: observed.at, pools: app.dispatch.queues(&observed) }))
}

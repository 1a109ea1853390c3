//! The requests of a batch as rows of a table, to find those that failed.

use assay_model::api::{Problem, Scope};
use assay_model::view::{RequestKindFilter, RequestList};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, batches, body, runs};
use crate::store::views::requests::RequestFilter;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RequestsQuery {
    /// `scored`, `timed_out`, `error`, or `waiting`: those that have not ended.
    kind: Option<RequestKindFilter>,
    /// The word for what happened: the plugin's verdict, `timed_out`, or the error's code.
    verdict: Option<String>,
    /// A part of the key or of the group's name.
    q: Option<String>,
    /// The `next` of the page before.
    after: Option<u32>,
    /// At most this many; 100 when absent, 500 at most.
    limit: Option<u32>,
}

/// The requests of a batch in the order of admission.
#[utoipa::path(
    get, path = "/v1/batches/{id}/requests", tag = "batches",
    params(("id" = String, Path), RequestsQuery),
    responses(
        (status = 200, body = RequestList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
    Path(id): Path<String>,
    query: Result<Query<RequestsQuery>, QueryRejection>,
) -> Result<Json<RequestList>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let id = batches::batch_id(&id)?;
    batches::kept(&app, caller.tenant, id).await?;
    batches::find(&app, caller.tenant, id).await?;
    let limit = runs::limit(query.limit);
    let filter = RequestFilter {
        kind: query.kind,
        verdict: query.verdict,
        text: body::search(query.q)?,
        after: query.after,
        limit,
    };
    let items = app.store.requests(caller.tenant, id, &filter).await?;
    let full = items.len() == limit as usize;
    let next = items.last().filter(|_| full).map(|last| last.seq);
    Ok(Json(RequestList { items, next }))
}

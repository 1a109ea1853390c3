//! `GET /v1/batches/{id}/requests`: the requests of a batch as rows, to find those that failed.

use assay_api::key::Scope;
use assay_api::view::{RequestKindFilter, RequestList};
use assay_store::views::requests::RequestFilter;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use crate::app::AppState;
use crate::auth::Caller;
use crate::extract::{body, page};
use crate::problem::ApiError;
use crate::routes::batches;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RequestsQuery {
    /// Kind of the requests: `scored`, `timed_out`, `error`, or `waiting` (not ended yet).
    kind: Option<RequestKindFilter>,
    /// The plugin's verdict, `timed_out`, or the error's code.
    verdict: Option<String>,
    /// Part of the key or of the group's name.
    q: Option<String>,
    /// Cursor: the `next` of the previous page.
    after: Option<u32>,
    /// Maximum number of items: 100 when absent, 500 at most.
    limit: Option<u32>,
}

/// The requests of a batch in the order of admission.
#[utoipa::path(
    get, path = "/v1/batches/{id}/requests", tag = "batches",
    params(("id" = String, Path), RequestsQuery),
    responses((status = 200, body = RequestList))
)]
pub(crate) async fn list(
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
    let limit = page::limit(query.limit);
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

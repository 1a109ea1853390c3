//! `GET /v1/batches/{id}/requests`: the requests of a batch as rows, to find those that failed.

use assay_api::view::{RequestKindFilter, RequestList};
use assay_store::views::requests::RequestFilter;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::page::Page;
use crate::extract::path::PathId;
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::batches;
use assay_core::id::BatchId;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RequestsQuery {
    /// Kind of the requests: `scored`, `timed_out`, `error`, or `waiting` (not ended yet).
    kind: Option<RequestKindFilter>,
    /// The plugin's verdict, `timed_out`, or the error's code.
    verdict: Option<String>,
    /// Part of the key or of the group's name.
    q: Option<String>,
}

/// The requests of a batch in the order of admission.
#[utoipa::path(
    get, path = "/v1/batches/{id}/requests", tag = "batches",
    params(("id" = String, Path), RequestsQuery, Page<u32>),
    responses((status = 200, body = RequestList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    PathId(id): PathId<BatchId>,
    Query(query): Query<RequestsQuery>,
    page: Page<u32>,
) -> Result<Json<RequestList>, ApiError> {
    batches::kept(&app, caller.tenant, id).await?;
    batches::find(&app, caller.tenant, id).await?;
    let filter = RequestFilter {
        kind: query.kind,
        verdict: query.verdict,
        text: body::search(query.q)?,
        after: page.after,
        limit: page.limit,
    };
    // A search that no index serves takes a connection for long.
    let is_search = filter.kind.is_some() || filter.verdict.is_some() || filter.text.is_some();
    let _permit = match is_search {
        true => Some(app.sample_lists.acquire(caller.tenant, 1).await),
        false => None,
    };
    let items = app.store.requests(caller.tenant, id, &filter).await?;
    let next = page.next(&items, |last| last.seq);
    Ok(Json(RequestList { items, next }))
}

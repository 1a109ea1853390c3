//! Batches as a list: what lives and what has ended, the newest first.

use assay_model::api::{Problem, Scope};
use assay_model::id::BatchId;
use assay_model::time::Micros;
use assay_model::view::{BatchList, BatchStateFilter};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::auth::Caller;
use super::problem::ApiError;
use super::{AppState, runs};
use crate::store::views::Span;
use crate::store::views::batches::BatchFilter;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct BatchesQuery {
    /// `live`, `ended`, or one state: `announced`, `open`, `sealed`, `done`, `cancelled`, `expired`.
    state: Option<BatchStateFilter>,
    /// The run's name.
    run: Option<String>,
    /// The plugin's name.
    plugin: Option<String>,
    /// Announced at this moment or later.
    #[param(value_type = Option<String>)]
    from: Option<Micros>,
    /// Announced before this moment.
    #[param(value_type = Option<String>)]
    to: Option<Micros>,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<BatchId>,
    /// At most this many; 100 when absent, 500 at most.
    limit: Option<u32>,
}

/// Batches in the order in which they were announced, the newest first; those that were made for one
/// request alone are left out.
#[utoipa::path(
    get, path = "/v1/batches", tag = "batches", params(BatchesQuery),
    responses(
        (status = 200, body = BatchList),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(app): AppState,
    caller: Caller,
    query: Result<Query<BatchesQuery>, QueryRejection>,
) -> Result<Json<BatchList>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let limit = runs::limit(query.limit);
    let filter = BatchFilter {
        state: query.state,
        run: query.run,
        plugin: query.plugin,
        announced: Span { from: query.from, to: query.to },
        after: query.after,
        limit,
    };
    let mut items = app.store.batches(caller.tenant, &filter).await?;
    let full = items.len() == limit as usize;
    let next = items.last().filter(|_| full).map(|last| last.batch.id.to_string());
    // The rows of live batches know neither counts nor estimates; the board does.
    for item in items.iter_mut().filter(|item| !item.batch.state.is_final()) {
        if let Some(published) = app.dispatch.board.get(caller.tenant, item.batch.id) {
            item.batch = published.batch();
        }
    }
    Ok(Json(BatchList { items, next }))
}

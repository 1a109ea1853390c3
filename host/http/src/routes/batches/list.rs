//! `GET /v1/batches`: live and ended batches, the newest first.

use assay_api::view::{BatchList, BatchStateFilter};
use assay_core::id::BatchId;
use assay_core::time::Micros;
use assay_store::views::Span;
use assay_store::views::batches::BatchFilter;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::page::Page;
use crate::extract::query::Query;
use crate::problem::ApiError;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BatchesQuery {
    /// `live`, `ended`, or one state: `announced`, `open`, `sealed`, `done`, `cancelled` or
    /// `expired`.
    state: Option<BatchStateFilter>,
    /// Name of the run.
    run: Option<String>,
    /// Name of the plugin.
    plugin: Option<String>,
    /// Whether only batches are listed that ended later than their tolerance allows (T + D).
    #[serde(default)]
    #[param(required = false)]
    late: bool,
    /// Earliest time of announcement, inclusive.
    #[param(value_type = Option<String>)]
    from: Option<Micros>,
    /// Latest time of announcement, exclusive.
    #[param(value_type = Option<String>)]
    to: Option<Micros>,
}

/// Batches by their time of announcement, the newest first. The batches of single requests are left
/// out.
#[utoipa::path(
    get, path = "/v1/batches", tag = "batches", params(BatchesQuery, Page<BatchId>),
    responses((status = 200, body = BatchList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Query(query): Query<BatchesQuery>,
    page: Page<BatchId>,
) -> Result<Json<BatchList>, ApiError> {
    let filter = BatchFilter {
        state: query.state,
        run: query.run,
        plugin: query.plugin,
        late: query.late,
        announced: Span { from: query.from, to: query.to },
        after: page.after,
        limit: page.limit,
    };
    let mut items = app.store.batches(caller.tenant, &filter).await?;
    let next = page.next(&items, |last| last.batch.id.to_string());
    // The rows of live batches know neither counts nor estimates; the board does.
    for item in items.iter_mut().filter(|item| !item.batch.state.is_final()) {
        if let Some(committed) = app.dispatch.committed.get(caller.tenant, item.batch.id) {
            item.batch = committed.batch();
        }
    }
    Ok(Json(BatchList { items, next }))
}

//! `GET /v1/batches/{id}/logs`: the lines that the plugin logged, in the order in which requests ended.

use std::fmt;

use assay_api::authoring::BatchLogPage;
use assay_core::id::BatchId;
use assay_store::views::logs::EndedLogPlace;
use axum::Json;
use axum::extract::State;

use super::find;
use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::page::{Cursor, Page};
use crate::extract::path::PathId;
use crate::extract::query::Query;
use crate::problem::ApiError;
use crate::routes::runs::logs::LogsQuery;

/// The lines that the plugin logged for the ended requests of a batch, in the order of completion: a later
/// call with `next` returns the lines of requests that ended meanwhile. The cursor of a result is also a
/// value of `after`.
#[utoipa::path(
    get, path = "/v1/batches/{id}/logs", tag = "batches",
    params(("id" = String, Path), LogsQuery, Page<EndedLogCursor>),
    responses((status = 200, body = BatchLogPage))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    PathId(id): PathId<BatchId>,
    Query(query): Query<LogsQuery>,
    asked: Page<EndedLogCursor>,
) -> Result<Json<BatchLogPage>, ApiError> {
    let filter = query.filter()?;
    if let Some(at) = find(&app, caller.tenant, id).await?.expired_at {
        return Err(ApiError::gone(at));
    }
    // A search in a large batch takes a connection for long.
    let _permit = app.log_searches.acquire(caller.tenant, 1).await;
    let after = asked.after.unwrap_or(EndedLogCursor::FIRST);
    let lines = app.store.ended_logs(caller.tenant, id, &filter, after.0, asked.limit).await?;
    let next = lines.last().map_or(after, |(place, _)| EndedLogCursor(*place));
    let full = lines.len() >= asked.limit as usize;
    let items = lines.into_iter().map(|(_, line)| line).collect();
    Ok(Json(BatchLogPage { items, next: next.to_string(), full }))
}

/// The last line of a page. Written `<cursor of the result>.<line>`, or as the cursor alone: all its lines.
#[derive(Clone, Copy)]
pub(crate) struct EndedLogCursor(EndedLogPlace);

impl EndedLogCursor {
    /// Results are counted from 1.
    const FIRST: Self = Self((0, 0));
}

impl Cursor for EndedLogCursor {
    fn parse(text: &str) -> Option<Self> {
        let (result, line) = text.split_once('.').unwrap_or((text, "4294967295"));
        Some(Self((result.parse().ok()?, line.parse().ok()?)))
    }
}

impl fmt::Display for EndedLogCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (result, line) = self.0;
        write!(f, "{result}.{line}")
    }
}

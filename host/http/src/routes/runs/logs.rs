//! `GET /v1/runs/{run}/logs`: the lines that the plugin logged in a run.

use assay_api::authoring::LogPage;
use assay_api::key::Scope;
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::limits;
use assay_store::views::logs::{LogFilter, LogPlace};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use crate::app::{App, AppState};
use crate::auth::Caller;
use crate::extract::{body, page};
use crate::problem::ApiError;

const LEVELS: [&str; 5] = ["debug", "info", "warn", "error", "stderr"];

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogsQuery {
    /// Verdict of the requests: the plugin's verdict, `timed_out`, or the error's code.
    verdict: Option<String>,
    /// Level: `debug`, `info`, `warn`, `error`, or `stderr`.
    level: Option<String>,
    /// Cursor: the `next` of the previous page.
    after: Option<String>,
    /// Maximum number of items: 100 when absent, 500 at most.
    limit: Option<u32>,
}

/// The lines that the plugin logged in a run, the newest batch first, and each batch in the order
/// of its requests. A page searches at most 64 batches, so that even a page with few lines may have
/// a `next`.
#[utoipa::path(
    get, path = "/v1/runs/{run}/logs", tag = "runs", params(("run" = String, Path), LogsQuery),
    responses((status = 200, body = LogPage))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Caller,
    Path(run): Path<String>,
    query: Result<Query<LogsQuery>, QueryRejection>,
) -> Result<Json<LogPage>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let after = query.after.as_deref().map(place).transpose()?;
    let limit = page::limit(query.limit);
    let filter = filter(query.verdict, query.level)?;
    let tenant = caller.tenant;
    app.store.run(tenant, &run).await?.ok_or_else(|| ApiError::not_found("run"))?;
    let newest = after.map(|(batch, _)| batch);
    let batches = app.store.kept_batches(tenant, &run, newest, limits::LOG_BATCHES_MAX).await?;
    Ok(Json(page(&app, tenant, &batches, &filter, after, limit).await?))
}

async fn page(
    app: &App,
    tenant: TenantId,
    batches: &[BatchId],
    filter: &LogFilter,
    after: Option<(BatchId, LogPlace)>,
    limit: u32,
) -> Result<LogPage, ApiError> {
    let mut items = Vec::new();
    for &batch in batches {
        let behind = after.filter(|(of, _)| *of == batch).map(|(_, place)| place);
        let room = limit - u32::try_from(items.len()).unwrap_or(limit);
        let lines = app.store.batch_logs(tenant, batch, filter, behind, room).await?;
        let last = lines.last().map(|(place, _)| *place);
        items.extend(lines.into_iter().map(|(_, line)| line));
        if let Some((seq, line)) = last.filter(|_| items.len() >= limit as usize) {
            let next = format!("{}.{line}", RequestId { batch, seq });
            return Ok(LogPage { items, next: Some(next) });
        }
    }
    let full = batches.len() >= limits::LOG_BATCHES_MAX as usize;
    // The oldest of them is looked through: on behind the last line that it could have.
    let next = batches.last().filter(|_| full).map(|&batch| {
        let seq = i32::MAX.cast_unsigned();
        format!("{}.{seq}", RequestId { batch, seq })
    });
    Ok(LogPage { items, next })
}

fn filter(verdict: Option<String>, level: Option<String>) -> Result<LogFilter, ApiError> {
    if let Some(level) = level.as_deref().filter(|level| !LEVELS.contains(level)) {
        let shown: String = level.chars().take(40).collect();
        let known = LEVELS.join(", ");
        return Err(ApiError::bad_request(format!("level must be one of {known}, not `{shown}`")));
    }
    if let Some(verdict) = &verdict {
        body::check_text("verdict", verdict, limits::SEARCH_BYTES_MAX)
            .map_err(ApiError::bad_request)?;
    }
    Ok(LogFilter { verdict, level })
}

/// Parses the cursor of a page.
fn place(text: &str) -> Result<(BatchId, LogPlace), ApiError> {
    let parsed = text.rsplit_once('.').and_then(|(id, line)| {
        let id: RequestId = id.parse().ok()?;
        Some((id.batch, (id.seq, line.parse().ok()?)))
    });
    parsed.ok_or_else(|| ApiError::bad_request("after must be the `next` of a previous page"))
}

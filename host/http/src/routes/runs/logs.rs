//! `GET /v1/runs/{run}/logs`: the lines that the plugin logged in a run.

use std::fmt;

use assay_api::authoring::LogPage;
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::limits;
use assay_store::views::logs::{LogFilter, LogPlace};
use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;

use crate::app::{App, AppState};
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::name::check_text;
use crate::extract::page::{Cursor, Page};
use crate::extract::query::Query;
use crate::problem::ApiError;

const LEVELS: [&str; 5] = ["debug", "info", "warn", "error", "stderr"];

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogsQuery {
    /// Verdict of the requests: the plugin's verdict, `timed_out`, or the error's code.
    verdict: Option<String>,
    /// Level: `debug`, `info`, `warn`, `error`, or `stderr`.
    level: Option<String>,
}

impl LogsQuery {
    pub(crate) fn filter(self) -> Result<LogFilter, ApiError> {
        filter(self.verdict, self.level)
    }
}

/// The lines that the plugin logged in a run, the newest batch first, and each batch in the order
/// of its requests. A page searches at most 64 batches, so that even a page with few lines may have
/// a `next`.
#[utoipa::path(
    get, path = "/v1/runs/{run}/logs", tag = "runs", params(("run" = String, Path), LogsQuery, Page<LogCursor>),
    responses((status = 200, body = LogPage))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Path(run): Path<String>,
    Query(query): Query<LogsQuery>,
    asked: Page<LogCursor>,
) -> Result<Json<LogPage>, ApiError> {
    let filter = query.filter()?;
    let tenant = caller.tenant;
    app.store.run(tenant, &run).await?.ok_or_else(|| ApiError::not_found("run"))?;
    // A search in many batches takes a connection for long.
    let _permit = app.log_searches.acquire(tenant, 1).await;
    let newest = asked.after.map(|after| after.batch);
    let batches = app.store.kept_batches(tenant, &run, newest, limits::LOG_BATCHES_MAX).await?;
    Ok(Json(page(&app, tenant, &batches, &filter, &asked).await?))
}

async fn page(
    app: &App,
    tenant: TenantId,
    batches: &[BatchId],
    filter: &LogFilter,
    asked: &Page<LogCursor>,
) -> Result<LogPage, ApiError> {
    let mut items = Vec::new();
    for &batch in batches {
        let behind = asked.after.filter(|after| after.batch == batch).map(|after| after.place);
        let room = asked.limit - u32::try_from(items.len()).unwrap_or(asked.limit);
        let lines = app.store.batch_logs(tenant, batch, filter, behind, room).await?;
        let last = lines.last().map(|(place, _)| *place);
        items.extend(lines.into_iter().map(|(_, line)| line));
        if let Some(place) = last.filter(|_| items.len() >= asked.limit as usize) {
            let next = LogCursor { batch, place }.to_string();
            return Ok(LogPage { items, next: Some(next) });
        }
    }
    let full = batches.len() >= limits::LOG_BATCHES_MAX as usize;
    // The oldest batch is read to its end: the next page begins after the last line that it could have.
    let next = batches.last().filter(|_| full).map(|&batch| {
        let last = i32::MAX.cast_unsigned();
        LogCursor { batch, place: (last, last) }.to_string()
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
        check_text("verdict", verdict, limits::SEARCH_BYTES_MAX).map_err(ApiError::bad_request)?;
    }
    Ok(LogFilter { verdict, level })
}

/// The last line of a page. Written `<batch>.<seq>.<line>`.
#[derive(Clone, Copy)]
pub(crate) struct LogCursor {
    batch: BatchId,
    place: LogPlace,
}

impl Cursor for LogCursor {
    fn parse(text: &str) -> Option<Self> {
        let (id, line) = text.rsplit_once('.')?;
        let id: RequestId = id.parse().ok()?;
        Some(Self { batch: id.batch, place: (id.seq, line.parse().ok()?) })
    }
}

impl fmt::Display for LogCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seq, line) = self.place;
        write!(f, "{}.{line}", RequestId { batch: self.batch, seq })
    }
}

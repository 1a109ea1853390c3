//! The running service as server-sent events: a snapshot, then what changes.
//!
//! Whoever may see the same shares one [`feed`]; a reader pulls from it at its own pace, and one that
//! falls behind what is kept is dropped: its browser comes back and gets a snapshot.

mod feed;
mod standing;
mod streams;

use std::convert::Infallible;
use std::sync::Arc;

use assay_model::api::{Problem, Scope};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt as _, stream};

use super::auth::{self, Caller};
use super::overview::WhoseQuery;
use super::problem::ApiError;
use super::{App, AppState};
use feed::{Reader, Whose};

pub(super) use feed::Feeds;
pub(super) use streams::Streams;

/// Follow what is live as server-sent events: `snapshot` (a `LiveSnapshot`) first, then `delta`s
/// (`LiveDelta`), four a second at most. Behind a `Last-Event-ID` that is known still come the deltas
/// since, else another snapshot.
#[utoipa::path(
    get, path = "/v1/live", tag = "operations",
    params(WhoseQuery, ("Last-Event-ID" = Option<String>, Header, description = "Go on behind this event")),
    responses(
        (status = 200, body = assay_model::api::StreamEvent, content_type = "text/event-stream"),
        (status = "4XX", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn follow(
    State(app): AppState,
    caller: Caller,
    headers: HeaderMap,
    query: Result<Query<WhoseQuery>, QueryRejection>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    caller.need(Scope::BatchesRead)?;
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let whose = Whose { tenant: query.tenant(&caller)?, platform: caller.has(Scope::Platform) };
    let place = app.streams.enter(&caller)?;
    let reader = reader(&app, whose, &headers).await?;
    let events = stream::unfold((reader, place), async |(mut reader, place)| {
        let event = reader.next().await?;
        Some((Ok(event), (reader, place)))
    });
    let valid = auth::until_ended(Arc::clone(&app), headers, caller);
    let events = events.boxed().take_until(Box::pin(app.stopped())).take_until(Box::pin(valid));
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

async fn reader(app: &Arc<App>, whose: Whose, headers: &HeaderMap) -> Result<Reader, ApiError> {
    let feed = app.feeds.open(app, whose).await?;
    // An id that is none of ours is one of another server's life.
    let last = headers.get("last-event-id").map(HeaderValue::to_str);
    Ok(feed.read_behind(last.and_then(Result::ok)))
}

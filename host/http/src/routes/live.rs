//! `GET /v1/live`: the running service as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use assay_api::key::Scope;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, stream};

use crate::app::{App, AppState};
use crate::extract::all_tenants::AllTenantsQuery;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::query::Query;
use crate::live::{FeedScope, Reader};
use crate::middleware::authenticate;
use crate::problem::ApiError;

/// Follow the live batches as server-sent events: first a `snapshot` (`LiveSnapshot`), then
/// `delta`s (`LiveDelta`), at most four a second. With a recent `Last-Event-ID` the deltas since
/// that event are sent, otherwise another snapshot.
#[utoipa::path(
    get, path = "/v1/live", tag = "operations",
    params(AllTenantsQuery, ("Last-Event-ID" = Option<String>, Header, description = "Id of an event; the events after it are sent")),
    responses(
        (status = 200, body = assay_api::batch::StreamEvent, content_type = "text/event-stream"),
    )
)]
pub(crate) async fn follow(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    headers: HeaderMap,
    Query(query): Query<AllTenantsQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let whose = FeedScope { tenant: query.tenant(&caller)?, platform: caller.has(Scope::Platform) };
    let place = app.streams.enter(&caller)?;
    let reader = reader(&app, whose, &headers).await?;
    let events = stream::unfold((reader, place), async |(mut reader, place)| {
        let event = reader.next().await?;
        Some((Ok(event), (reader, place)))
    });
    let events = authenticate::while_valid(&app, headers, caller.into_caller(), events);
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

async fn reader(app: &Arc<App>, whose: FeedScope, headers: &HeaderMap) -> Result<Reader, ApiError> {
    let feed = app.feeds.open(whose).await?;
    // An id that is none of ours is one of another server's life.
    let last = headers.get("last-event-id").map(HeaderValue::to_str);
    Ok(feed.read_behind(last.and_then(Result::ok)))
}

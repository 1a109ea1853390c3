//! `GET /v1/batches/{id}/events`: server-sent events request.done, group.done, batch.estimate and batch.done.
//!
//! The id of an event is the cursor of the last result before it, so `Last-Event-ID` is all that a
//! reconnecting client needs. After a reconnect a group.done may come twice, but it is never lost.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use assay_api::batch::{Batch, StreamEvent};
use assay_core::id::{BatchId, TenantId};
use assay_core::time::Micros;
use assay_dispatch::committed::CommittedBatch;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use serde::Deserialize;
use tokio::sync::watch;

use crate::app::{App, AppState};
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::path::PathId;
use crate::middleware::authenticate;
use crate::problem::ApiError;
use crate::quotas;
use crate::routes::batches::results::{self, PIECE_ITEMS_MAX, Source};

const PIECE_EVENTS_MAX: usize = 512;

/// Follow a batch as server-sent events.
#[utoipa::path(
    get, path = "/v1/batches/{id}/events", tag = "batches",
    params(("id" = String, Path), ("Last-Event-ID" = Option<u32>, Header, description = "Id of an event; the events after it are sent")),
    responses((status = 200, body = StreamEvent, content_type = "text/event-stream"))
)]
pub(crate) async fn events(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    headers: HeaderMap,
    PathId(id): PathId<BatchId>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let last = match headers.get("last-event-id") {
        None => 0,
        Some(text) => text.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
            ApiError::bad_request("Last-Event-ID is not an id that this stream sent")
        })?,
    };
    let events = match app.dispatch.committed.get(caller.tenant, id) {
        Some(committed) => live(committed, last).left_stream(),
        None => ended(&app, caller.tenant, id, last).await?.right_stream(),
    };
    let place = quotas::long_call(&app, caller.tenant)?;
    let events = authenticate::while_valid(&app, headers, caller.into_caller(), events);
    let events = events.inspect(move |_| _ = &place);
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

type Answer = Result<Event, Infallible>;

fn live(committed: Arc<CommittedBatch>, last: usize) -> impl Stream<Item = Answer> {
    let follower = Follower::new(committed, last);
    stream::unfold(follower, async |mut follower| {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    })
}

/// The events of an ended batch, read piece by piece. Its groups are sent after its results.
async fn ended(
    app: &Arc<App>,
    tenant: TenantId,
    id: BatchId,
    last: usize,
) -> Result<impl Stream<Item = Answer> + use<>, ApiError> {
    let batch = results::ended(app, tenant, id).await?;
    let source = Source::Ended { app: Arc::clone(app), tenant, batch: id };
    // A failure to read is an error and not a stream without events.
    source.after(0, 1).await?;
    let replay = Replay { source, batch, last, at: 0, groups: BTreeSet::new() };
    let pieces = stream::unfold(Some(replay), async |replay| replay?.next().await);
    Ok(pieces.flatten())
}

/// An ended batch that is told again.
struct Replay {
    source: Source,
    batch: Batch,
    /// The results that the client has.
    last: usize,
    /// The results that were read.
    at: usize,
    groups: BTreeSet<String>,
}

impl Replay {
    /// The next events, with what is left after them. A stream that breaks off here is repeated by its client.
    async fn next(mut self) -> Option<(BoxStream<'static, Answer>, Option<Self>)> {
        #[derive(Deserialize)]
        struct Grouped {
            group: Option<String>,
        }
        let after = u32::try_from(self.at).expect("within a batch's limit");
        let piece = match self.source.after(after, PIECE_ITEMS_MAX).await {
            Ok(piece) => piece,
            Err(error) => {
                tracing::warn!(%error, "the events of an ended batch cannot be read");
                return None;
            }
        };
        let mut events = Vec::new();
        for json in &piece.items {
            self.at += 1;
            self.groups.extend(serde_json::from_slice(json).ok().and_then(|it: Grouped| it.group));
            if self.at > self.last {
                events.push(Ok(event("request.done", self.at, text(json))));
            }
        }
        if !piece.done {
            return Some((stream::iter(events).boxed(), Some(self)));
        }
        let Self { batch, at, groups, .. } = self;
        let groups = groups.into_iter().map(move |group| Ok(group_done(at, &group)));
        let batch = serde_json::to_string(&batch).expect("plain data");
        let done = std::iter::once(Ok(event("batch.done", at, batch)));
        Some((stream::iter(events.into_iter().chain(groups).chain(done)).boxed(), None))
    }
}

/// A batch of the committed view with what was told of it.
struct Follower {
    committed: Arc<CommittedBatch>,
    changes: watch::Receiver<u64>,
    results: usize,
    groups: usize,
    estimate: Option<Micros>,
    ready: VecDeque<Event>,
    ended: bool,
}

impl Follower {
    fn new(committed: Arc<CommittedBatch>, last: usize) -> Self {
        let groups = committed.look(|progress| {
            progress.groups_done.partition_point(|(results, _)| (*results as usize) < last)
        });
        let changes = committed.watch();
        let (ready, ended) = (VecDeque::new(), false);
        Self { committed, changes, results: last, groups, estimate: None, ready, ended }
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            self.changes.mark_unchanged();
            self.gather();
            if self.ended {
                let batch = serde_json::to_string(&self.committed.batch()).expect("plain data");
                self.ready.push_back(event("batch.done", self.results, batch));
            } else if self.ready.is_empty() {
                self.changes.changed().await.ok()?;
            }
        }
    }

    /// Queues the new events, in pieces of limited size.
    fn gather(&mut self) {
        let Self { committed, results, groups, estimate, ready, ended, .. } = self;
        committed.look(|progress| {
            while ready.len() < PIECE_EVENTS_MAX {
                let group = progress.groups_done.get(*groups);
                if let Some((_, name)) = group.filter(|(at, _)| *at as usize <= *results) {
                    *groups += 1;
                    ready.push_back(group_done(*results, name));
                } else if let Some(result) = progress.results.get(*results) {
                    *results += 1;
                    ready.push_back(event("request.done", *results, text(result)));
                } else {
                    break;
                }
            }
            let told = *results >= progress.results.len() && *groups >= progress.groups_done.len();
            *ended = told && progress.state.is_final();
            if let Some(at) =
                progress.estimated_done_at.filter(|&at| !*ended && *estimate != Some(at))
            {
                *estimate = Some(at);
                let data = serde_json::json!({ "estimated_done_at": at }).to_string();
                ready.push_back(event("batch.estimate", *results, data));
            }
        });
    }
}

fn event(name: &str, id: usize, data: String) -> Event {
    Event::default().event(name).id(id.to_string()).data(data)
}

fn group_done(id: usize, group: &str) -> Event {
    event("group.done", id, serde_json::json!({ "group": group }).to_string())
}

fn text(json: &Bytes) -> String {
    String::from_utf8_lossy(json).into_owned()
}

//! `GET /v1/batches/{id}/events`: server-sent events request.done, group.done, batch.estimate and batch.done.
//!
//! The id of an event is the cursor of the last result before it, so `Last-Event-ID` is all that a
//! reconnecting client needs. After a reconnect a group.done may come twice, but it is never lost.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use assay_api::batch::{Batch, StreamEvent};
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::committed::{BatchProgress, CommittedBatch};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use serde::Deserialize;
use tokio::sync::watch;

use crate::app::{App, AppState};
use crate::auth;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;

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
    let story = match app.dispatch.committed.get(caller.tenant, id) {
        Some(committed) => Story::Live { changes: committed.watch(), committed },
        None => ended(&app, caller.tenant, id).await?,
    };
    let follower = Follower::new(story, last);
    let events = stream::unfold(follower, async |mut follower| {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    });
    let valid = auth::until_ended(app.clone(), headers, caller.into_caller());
    let events = events.boxed().take_until(Box::pin(app.stopped())).take_until(Box::pin(valid));
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// The source of the events: a batch of the committed view, or an ended one.
enum Story {
    Live { committed: Arc<CommittedBatch>, changes: watch::Receiver<u64> },
    Ended { progress: Box<BatchProgress>, batch: Box<Batch> },
}

impl Story {
    fn look<T>(&self, look: impl FnOnce(&BatchProgress) -> T) -> T {
        match self {
            Self::Live { committed, .. } => committed.look(look),
            Self::Ended { progress, .. } => look(progress),
        }
    }

    fn batch(&self) -> Batch {
        match self {
            Self::Live { committed, .. } => committed.batch(),
            Self::Ended { batch, .. } => (**batch).clone(),
        }
    }
}

/// Reads an ended batch; its groups are sent after its results.
async fn ended(app: &App, tenant: TenantId, id: BatchId) -> Result<Story, ApiError> {
    #[derive(Deserialize)]
    struct Grouped {
        group: Option<String>,
    }
    let batch = app.store.batch(tenant, id).await?;
    if let Some(at) = batch.expired_at {
        return Err(ApiError::gone(at));
    }
    let rows = app.store.results(tenant, id, 0, limits::BATCH_REQUESTS_MAX).await?;
    let results: Vec<Bytes> = rows.into_iter().map(|(_, json)| json).collect();
    let groups =
        results.iter().filter_map(|json| serde_json::from_slice::<Grouped>(json).ok()?.group);
    let groups: BTreeSet<String> = groups.collect();
    let last = u32::try_from(results.len()).expect("within a batch's limit");
    let progress = BatchProgress {
        groups_done: groups.into_iter().map(|group| (last, group.into())).collect(),
        results,
        ..BatchProgress::ended(&batch)
    };
    Ok(Story::Ended { progress: Box::new(progress), batch: Box::new(batch) })
}

struct Follower {
    story: Story,
    results: usize,
    groups: usize,
    estimate: Option<Micros>,
    ready: VecDeque<Event>,
    ended: bool,
}

impl Follower {
    fn new(story: Story, last: usize) -> Self {
        let groups = story.look(|progress| {
            progress.groups_done.partition_point(|(results, _)| (*results as usize) < last)
        });
        Self { story, results: last, groups, estimate: None, ready: VecDeque::new(), ended: false }
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            if let Story::Live { changes, .. } = &mut self.story {
                changes.mark_unchanged();
            }
            self.gather();
            if self.ended {
                let batch = serde_json::to_string(&self.story.batch()).expect("plain data");
                self.push("batch.done", batch);
            } else if self.ready.is_empty() {
                let Story::Live { changes, .. } = &mut self.story else { return None };
                changes.changed().await.ok()?;
            }
        }
    }

    /// Queues the new events, in pieces of limited size.
    fn gather(&mut self) {
        let Self { story, results, groups, estimate, ready, ended } = self;
        story.look(|progress| {
            while ready.len() < PIECE_EVENTS_MAX {
                let group = progress.groups_done.get(*groups);
                if let Some((_, name)) = group.filter(|(at, _)| *at as usize <= *results) {
                    *groups += 1;
                    let data = serde_json::json!({ "group": &**name }).to_string();
                    ready.push_back(event("group.done", *results, data));
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

    fn push(&mut self, name: &str, data: String) {
        self.ready.push_back(event(name, self.results, data));
    }
}

fn event(name: &str, id: usize, data: String) -> Event {
    Event::default().event(name).id(id.to_string()).data(data)
}

fn text(json: &Bytes) -> String {
    String::from_utf8_lossy(json).into_owned()
}

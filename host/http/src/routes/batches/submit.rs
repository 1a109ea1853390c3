//! `POST /v1/batches/{id}/requests`: an array or NDJSON, a result for each item, in chunks that share commits.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use assay_api::request::{ItemProblem, SubmitItem, SubmitReply, SubmitStatus, Submitted};
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::limits;
use assay_dispatch::{DispatchError, ItemFate, NewItem};
use assay_registry::{Validation, ValidationError};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::app::{App, AppState};
use crate::auth::unauthenticated;
use crate::extract::array;
use crate::extract::body;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::extract::item::{self, Item, too_long};
use crate::extract::lines::{BodyLine, Lines};
use crate::extract::path::PathId;
use crate::extract::thread_use::{self, ThreadUse};
use crate::extract::trace::CallTrace;
use crate::middleware::authenticate::until_rights_change;
use crate::problem::{ApiError, INVALID_LABEL};
use crate::quotas::QueueWait;
use crate::routes::batches::results::{PIECE_ITEMS_MAX, Source};

/// Submit requests. An item whose key is already in the batch changes nothing, so that a call can
/// be repeated.
#[utoipa::path(
    post, path = "/v1/batches/{id}/requests", tag = "batches", params(("id" = String, Path)),
    request_body(content(
        (Vec<SubmitItem> = "application/json"),
        (SubmitItem = "application/x-ndjson"),
    )),
    responses((status = 200, body = SubmitReply))
)]
pub(crate) async fn submit(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    headers: HeaderMap,
    PathId(id): PathId<BatchId>,
    body: Body,
) -> Result<Json<SubmitReply>, ApiError> {
    let validation = match app.dispatch.committed.get(caller.tenant, id) {
        Some(committed) => {
            caller.may_use_plugin(&committed.row.plugin)?;
            Some(app.registry.validation(caller.tenant, &committed.plugin).await)
        }
        None => {
            let batch = app.store.batch(caller.tenant, id).await?;
            caller.may_use_plugin(&batch.plugin)?;
            // It waits for its plugin, without which no label can be validated, and may be restored during the call.
            if batch.done_at.is_none() {
                return Err(DispatchError::NotRestored.into());
            }
            // It ended long ago and takes nothing new.
            None
        }
    };
    let trace = CallTrace::of(&app, &headers);
    let mut submission = Submission::new(&app, caller.tenant, id, validation, trace);
    if is_ndjson(&headers) {
        // Lines may come for as long as a rollout takes.
        let ended = until_rights_change(app.clone(), headers.clone(), caller.clone());
        tokio::select! {
            read = submission.read_lines(body) => read?,
            () = ended => return Err(unauthenticated("the key has ended during the call")),
        }
    } else {
        let mut turn = body::Turn::new(&app.buffered, caller.tenant);
        let max = limits::ARRAY_BODY_BYTES_MAX;
        let bytes = body::whole_in_turn(body, "an array of items", max, &mut turn).await?;
        for place in thread_use::read(&bytes, places).await? {
            submission.add(&bytes[place]).await?;
            submission.thread.share().await;
        }
    }
    submission.finish().await.map(Json)
}

/// The places of an array's items in its JSON.
fn places(json: &[u8]) -> Result<Vec<Range<usize>>, ApiError> {
    #[derive(Deserialize)]
    struct Items<'a>(#[serde(borrow, deserialize_with = "array::items")] Vec<&'a RawValue>);
    let Items(items) = serde_json::from_slice(json).map_err(|error| {
        ApiError::bad_request(format!("the body is not an array of items: {error}"))
    })?;
    let start = json.as_ptr().addr();
    let place = |item: &RawValue| {
        let at = item.get().as_ptr().addr() - start;
        at..at + item.get().len()
    };
    Ok(items.into_iter().map(place).collect())
}

fn is_ndjson(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.contains("ndjson") || kind.contains("jsonl"))
}

/// The state of one call: items that were read, and chunks that were sent.
struct Submission<'a> {
    app: &'a Arc<App>,
    tenant: TenantId,
    batch: BatchId,
    validation: Option<Arc<Validation>>,
    lines: u64,
    items: Vec<Submitted>,
    chunk: Vec<NewItem>,
    chunk_bytes: usize,
    sent: Vec<SubmittedLines>,
    chunk_spots: Vec<Spot>,
    wait: QueueWait,
    trace: CallTrace,
    thread: ThreadUse,
}

/// Index of an item of a chunk in `items`, and its line in the call.
struct Spot {
    item: usize,
    line: u64,
}

struct SubmittedLines {
    spots: Vec<Spot>,
    answer: oneshot::Receiver<Result<Vec<ItemFate>, DispatchError>>,
}

impl<'a> Submission<'a> {
    fn new(
        app: &'a Arc<App>,
        tenant: TenantId,
        batch: BatchId,
        validation: Option<Arc<Validation>>,
        trace: CallTrace,
    ) -> Self {
        Self {
            app,
            tenant,
            batch,
            validation,
            lines: 0,
            items: Vec::new(),
            chunk: Vec::new(),
            chunk_bytes: 0,
            sent: Vec::new(),
            chunk_spots: Vec::new(),
            wait: QueueWait::of_call(),
            trace,
            thread: ThreadUse::begin(),
        }
    }

    async fn read_lines(&mut self, body: Body) -> Result<(), ApiError> {
        let mut pieces = body::Pieces::of_lines(body);
        let mut lines = Lines::new(limits::ITEM_BYTES_MAX);
        let mut turn = body::Turn::new(&self.app.buffered, self.tenant);
        while let Some(bytes) = pieces.next().await? {
            let mut left = &bytes[..];
            while let Some(line) = lines.next(&mut left) {
                self.add_line(line).await?;
                self.thread.share().await;
                // A proxy may cut the pieces elsewhere than at the ends of lines.
                pieces.rest();
                turn.release();
            }
            turn.hold(lines.held()).await;
            if turn.is_held() {
                pieces.hold();
            }
        }
        self.add_line(lines.last()).await
    }

    async fn add_line(&mut self, line: BodyLine<'_>) -> Result<(), ApiError> {
        match line {
            BodyLine::Whole(line) if line.trim_ascii().is_empty() => {
                self.lines += 1;
                Ok(())
            }
            BodyLine::Whole(line) => self.add(&line).await,
            BodyLine::TooLong => {
                self.begin_item()?;
                self.reject(String::new(), "invalid_item", too_long());
                Ok(())
            }
        }
    }

    fn begin_item(&mut self) -> Result<(), ApiError> {
        self.lines += 1;
        if self.items.len() >= limits::BATCH_REQUESTS_MAX as usize {
            let detail = format!("a batch has at most {} requests", limits::BATCH_REQUESTS_MAX);
            return Err(ApiError::bad_request(detail));
        }
        Ok(())
    }

    async fn add(&mut self, json: &[u8]) -> Result<(), ApiError> {
        self.begin_item()?;
        match item::read(json) {
            Ok(item) => match self.validate(item.label.as_deref()).await {
                Ok(()) => self.take(item.into()).await,
                Err(ValidationError::Mismatch(detail)) => {
                    self.reject(item.key, INVALID_LABEL, detail);
                    Ok(())
                }
                Err(interrupted) => Err(ApiError::invalid_label(interrupted)),
            },
            Err((key, detail)) => {
                self.reject(key, "invalid_item", detail);
                Ok(())
            }
        }
    }

    async fn validate(&self, label: Option<&RawValue>) -> Result<(), ValidationError> {
        let Some(validation) = &self.validation else { return Ok(()) };
        validation.label(self.tenant, label.map(RawValue::get)).await
    }

    fn reject(&mut self, key: String, code: &str, detail: String) {
        let problem = ItemProblem { line: self.lines, code: code.into(), detail };
        let status = SubmitStatus::Rejected;
        self.items.push(Submitted { key, status, id: None, problem: Some(problem) });
    }

    async fn take(&mut self, item: Item) -> Result<(), ApiError> {
        let bytes = item.body.len();
        let place = match self.app.dispatch.budget.try_acquire(self.tenant, bytes) {
            Some(place) => place,
            None => {
                // Rows that are held back here would never free their budget.
                self.send().await?;
                self.wait.budget(self.app, self.tenant, bytes).await?
            }
        };
        self.chunk_spots.push(Spot { item: self.items.len(), line: self.lines });
        self.items.push(Submitted {
            key: item.key.clone(),
            status: SubmitStatus::Accepted,
            id: None,
            problem: None,
        });
        self.chunk_bytes += bytes;
        let Item { key, group, body, expected_ms } = item;
        let (body, trace) = (body.into(), self.trace.next());
        self.chunk.push(NewItem { key, group, body, permit: place, due: None, expected_ms, trace });
        let full = self.chunk.len() >= limits::SUBMIT_CHUNK_ITEMS_MAX
            || self.chunk_bytes >= limits::SUBMIT_CHUNK_BYTES_MAX;
        if full { self.send().await } else { Ok(()) }
    }

    async fn send(&mut self) -> Result<(), ApiError> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::take(&mut self.chunk);
        let spots = std::mem::take(&mut self.chunk_spots);
        self.chunk_bytes = 0;
        let answer = self.app.dispatch.submit(self.tenant, self.batch, chunk).await?;
        self.sent.push(SubmittedLines { spots, answer });
        Ok(())
    }

    /// Waits until everything is committed.
    async fn finish(mut self) -> Result<SubmitReply, ApiError> {
        self.send().await?;
        let patience = Duration::from_secs(limits::ADMISSION_SECONDS_MAX);
        let mut late = Vec::new();
        for SubmittedLines { spots, answer } in std::mem::take(&mut self.sent) {
            let answer = tokio::time::timeout(patience, answer).await.map_err(|_| {
                ApiError::unavailable("database_unavailable", "the database takes too long")
            })?;
            let fates = match answer.unwrap_or(Err(DispatchError::Stopping)) {
                Ok(fates) => fates,
                Err(DispatchError::NotLive) => {
                    late.extend(spots);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            self.settle(spots, fates);
        }
        // Together: the results of the whole batch are read for them.
        if !late.is_empty() {
            let fates = self.fates_once_ended(&late).await?;
            self.settle(late, fates);
        }
        let count = |status| {
            let items = self.items.iter().filter(|item| item.status == status);
            u32::try_from(items.count()).unwrap_or(u32::MAX)
        };
        Ok(SubmitReply {
            accepted: count(SubmitStatus::Accepted),
            repeated: count(SubmitStatus::Repeated),
            rejected: count(SubmitStatus::Rejected),
            items: self.items,
        })
    }

    fn settle(&mut self, spots: Vec<Spot>, fates: Vec<ItemFate>) {
        for (spot, fate) in spots.into_iter().zip(fates) {
            settle(&mut self.items[spot.item], fate, spot.line);
        }
    }

    /// The batch has ended, perhaps because of the very call that is repeated here: known items are
    /// repeats, and a new item comes too late.
    async fn fates_once_ended(&mut self, spots: &[Spot]) -> Result<Vec<ItemFate>, ApiError> {
        #[derive(Deserialize)]
        struct EndedItem {
            key: String,
            id: RequestId,
        }
        let source = Source::find(self.app, self.tenant, self.batch).await?;
        if let Source::Committed(committed) = &source {
            let patience = Duration::from_secs(limits::ADMISSION_SECONDS_MAX);
            let ended = committed.wait_until(|progress| progress.state.is_final());
            // Without an end everything is new, and refused.
            let _ = tokio::time::timeout(patience, ended).await;
        }
        let keys: HashSet<&str> = spots.iter().map(|spot| &*self.items[spot.item].key).collect();
        let mut known: HashMap<String, RequestId> = HashMap::new();
        let mut after = 0;
        loop {
            self.thread.share().await;
            let piece = source.after(after, PIECE_ITEMS_MAX).await?;
            after += u32::try_from(piece.items.len()).expect("within a batch's limit");
            let ended = piece.items.iter().filter_map(|json| serde_json::from_slice(json).ok());
            let ours = ended.filter(|known: &EndedItem| keys.contains(&*known.key));
            known.extend(ours.map(|known| (known.key, known.id)));
            if piece.done || piece.items.is_empty() {
                break;
            }
        }
        let fates = spots.iter().map(|spot| known.get(&self.items[spot.item].key).copied());
        let fates: Option<Vec<ItemFate>> = fates.map(|id| id.map(ItemFate::Repeated)).collect();
        fates.ok_or_else(|| DispatchError::Ended.into())
    }
}

fn settle(item: &mut Submitted, fate: ItemFate, line: u64) {
    match fate {
        ItemFate::Accepted(id) => item.id = Some(id),
        ItemFate::Repeated(id) => {
            item.id = Some(id);
            item.status = SubmitStatus::Repeated;
        }
        ItemFate::Refused => {
            item.status = SubmitStatus::Rejected;
            let detail = format!("a batch has at most {} requests", limits::BATCH_REQUESTS_MAX);
            item.problem = Some(ItemProblem { line, code: "batch_full".into(), detail });
        }
    }
}

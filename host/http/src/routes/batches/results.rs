//! `GET /v1/batches/{id}/results`: pages of JSON, or NDJSON that follows until the batch has ended.

use std::sync::Arc;

use assay_api::batch::{Batch, ResultsPage};
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_dispatch::DispatchError;
use assay_dispatch::committed::CommittedBatch;
use assay_store::StoreError;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, stream};

use crate::app::{App, AppState};
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::page::Page;
use crate::extract::path::PathId;
use crate::middleware::authenticate;
use crate::problem::ApiError;
use crate::quotas;

/// Lines of one piece of a followed stream.
pub(crate) const PIECE_ITEMS_MAX: u32 = 512;

/// A page of results; its cursor is the number of results before it.
type ResultsSlice = Page<u32, { limits::PAGE_ITEMS_DEFAULT }, { limits::PAGE_ITEMS_MAX }>;

/// Results in the order of completion. A page has at most `limit` of them, and fewer where they are large: the next one
/// begins at `next`, until `done`. With `Accept: application/x-ndjson` the answer is a stream
/// that lasts until the batch has ended.
#[utoipa::path(
    get, path = "/v1/batches/{id}/results", tag = "batches",
    params(("id" = String, Path), ResultsSlice),
    responses(
        (status = 200, content((ResultsPage = "application/json"), (assay_api::result::ResultItem = "application/x-ndjson"))),
    )
)]
pub(crate) async fn results(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    headers: HeaderMap,
    PathId(id): PathId<BatchId>,
    asked: ResultsSlice,
) -> Result<Response, ApiError> {
    // No result follows that position.
    let after = asked.after.unwrap_or(0).min(limits::BATCH_REQUESTS_MAX);
    let batch = Source::find(&app, caller.tenant, id).await?;
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("ndjson")) {
        let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
        let place = quotas::long_call(&app, caller.tenant)?;
        let lines = follow(batch, after);
        let lines = authenticate::while_valid(&app, headers, caller.into_caller(), lines);
        let lines = lines.inspect(move |_| _ = &place);
        return Ok((kind, Body::from_stream(lines)).into_response());
    }
    let piece = batch.after(after, asked.limit).await?;
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok((kind, page(&piece, after)).into_response())
}

/// The source of a batch's results.
pub(crate) enum Source {
    Committed(Arc<CommittedBatch>),
    Ended { app: Arc<App>, tenant: TenantId, batch: BatchId },
}

/// A batch that is not live, and has all its results in the database. One that has not ended waits to be restored after a
/// start: what it has so far is not all.
pub(crate) async fn ended(app: &App, tenant: TenantId, id: BatchId) -> Result<Batch, ApiError> {
    let batch = app.store.batch(tenant, id).await?;
    if let Some(at) = batch.expired_at {
        return Err(ApiError::gone(at));
    }
    if batch.done_at.is_none() {
        return Err(DispatchError::NotRestored.into());
    }
    Ok(batch)
}

/// Results after a cursor.
pub(crate) struct Piece {
    /// `ResultItem`s as JSON.
    pub items: Vec<Bytes>,
    /// Whether no more results will come.
    pub done: bool,
}

impl Source {
    pub(crate) async fn find(
        app: &Arc<App>,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<Self, ApiError> {
        if let Some(committed) = app.dispatch.committed.get(tenant, batch) {
            return Ok(Self::Committed(committed));
        }
        ended(app, tenant, batch).await?;
        Ok(Self::Ended { app: app.clone(), tenant, batch })
    }

    pub(crate) async fn after(&self, after: u32, limit: u32) -> Result<Piece, StoreError> {
        match self {
            Self::Committed(committed) => Ok(committed.look(|progress| {
                let start = progress.results.len().min(after as usize);
                let end = progress.results.len().min(start + limit as usize);
                let mut page = PageItems::default();
                page.take(progress.results[start..end].iter().cloned());
                let is_last = start + page.items.len() == progress.results.len();
                Piece { items: page.items, done: is_last && progress.state.is_final() }
            })),
            Self::Ended { app, tenant, batch } => {
                let mut page = PageItems::default();
                loop {
                    let had = u32::try_from(page.items.len()).expect("within a page's limit");
                    let count = PIECE_ITEMS_MAX.min(limit - had);
                    let rows = app.store.results(*tenant, *batch, after + had, count).await?;
                    let is_last = rows.len() < count as usize;
                    let is_whole = page.take(rows.into_iter().map(|(_, json)| json));
                    if is_last || !is_whole || had + count == limit {
                        return Ok(Piece { items: page.items, done: is_last && is_whole });
                    }
                }
            }
        }
    }
}

/// `ResultItem`s as JSON, as many as a page may hold.
#[derive(Default)]
struct PageItems {
    items: Vec<Bytes>,
    bytes: usize,
}

impl PageItems {
    /// Takes items while there is room; says whether it took all.
    fn take(&mut self, items: impl Iterator<Item = Bytes>) -> bool {
        for item in items {
            self.bytes += item.len();
            if self.bytes > limits::RESULTS_PAGE_BYTES_MAX && !self.items.is_empty() {
                return false;
            }
            self.items.push(item);
        }
        true
    }
}

/// A [`ResultsPage`], assembled from items that are JSON already.
fn page(piece: &Piece, after: u32) -> Bytes {
    let mut json =
        BytesMut::with_capacity(piece.items.iter().map(|item| item.len() + 1).sum::<usize>() + 64);
    json.put_slice(b"{\"items\":[");
    for (at, item) in piece.items.iter().enumerate() {
        if at > 0 {
            json.put_u8(b',');
        }
        json.put_slice(item);
    }
    let next = after as usize + piece.items.len();
    json.put_slice(format!("],\"next\":{next},\"done\":{}}}", piece.done).as_bytes());
    json.freeze()
}

fn follow(source: Source, after: u32) -> impl Stream<Item = Result<Bytes, StoreError>> {
    let changes = match &source {
        Source::Committed(committed) => Some(committed.watch()),
        Source::Ended { .. } => None,
    };
    stream::try_unfold(
        (source, after, changes, false),
        async |(source, mut after, mut changes, done)| {
            if done {
                return Ok(None);
            }
            loop {
                if let Some(changes) = &mut changes {
                    changes.mark_unchanged();
                }
                let piece = source.after(after, PIECE_ITEMS_MAX).await?;
                if !piece.items.is_empty() || piece.done {
                    after += u32::try_from(piece.items.len()).expect("within a batch's limit");
                    return Ok(Some((lines(&piece.items), (source, after, changes, piece.done))));
                }
                if let Some(changes) = &mut changes
                    && changes.changed().await.is_err()
                {
                    return Ok(None);
                }
            }
        },
    )
}

fn lines(items: &[Bytes]) -> Bytes {
    let mut lines = BytesMut::with_capacity(items.iter().map(|item| item.len() + 1).sum());
    for item in items {
        lines.put_slice(item);
        lines.put_u8(b'\n');
    }
    lines.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_large_items_has_fewer_of_them() {
        let large = || Bytes::from(vec![b' '; limits::RESULTS_PAGE_BYTES_MAX / 2]);
        let mut page = PageItems::default();
        assert!(page.take([large(), large()].into_iter()));
        assert!(!page.take([Bytes::from_static(b"{}"), large()].into_iter()));
        assert_eq!(page.items.len(), 2);
        // One alone is never too large.
        let mut page = PageItems::default();
        let larger = Bytes::from(vec![b' '; limits::RESULTS_PAGE_BYTES_MAX + 1]);
        assert!(page.take([larger].into_iter()));
    }

    #[test]
    fn a_page_is_what_the_document_says() {
        let piece = Piece { items: Vec::new(), done: true };
        let page: ResultsPage = serde_json::from_slice(&page(&piece, 7)).expect("valid");
        assert_eq!((page.next, page.done, page.items.len()), (7, true, 0));
    }
}

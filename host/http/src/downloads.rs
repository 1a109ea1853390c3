//! Components of plugins and artifacts on their way to clients. A client may read slowly or not at all, so tenants share
//! a few places, each of which is held until its last piece is taken, and a reader that stops loses its place.

use std::pin::pin;
use std::time::Duration;

use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::fair_semaphore::FairPermit;
use axum::body::Body;
use axum::http::StatusCode;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::app::App;
use crate::problem::ApiError;

const WAIT_MAX: Duration = Duration::from_secs(limits::DOWNLOAD_WAIT_SECONDS_MAX);
const READ_MAX: Duration = Duration::from_secs(limits::DOWNLOAD_READ_SECONDS_MAX);

/// Waits for a place, to be taken before any of the bytes is read.
pub(crate) async fn place(app: &App, tenant: TenantId) -> Result<FairPermit, ApiError> {
    let place = timeout(WAIT_MAX, app.downloads.acquire(tenant, 1)).await;
    place.map_err(|_| {
        let detail = "as many components and artifacts are sent as there may be";
        let mut error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_downloads", detail);
        error.retry_after_s = Some(5);
        error.hint("send the same call again when one has been read")
    })
}

/// A piece of an answer; `None` is its end, so that an answer that is given up never looks whole.
pub(crate) type DownloadPiece = anyhow::Result<Option<Bytes>>;

/// An answer whose pieces a task of its own sends, so that a reader who stops reading gives the place back.
pub(crate) fn body<E: Into<anyhow::Error> + Send + 'static>(
    place: FairPermit,
    pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> Body {
    body_within(READ_MAX, place, pieces)
}

fn body_within<E: Into<anyhow::Error> + Send + 'static>(
    read_max: Duration,
    place: FairPermit,
    pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> Body {
    let (sender, read) = mpsc::channel(1);
    tokio::spawn(send(read_max, place, pieces, sender));
    body_of_pieces(read, "the reader took no piece for too long")
}

/// An answer whose pieces another task sends. One that ends without its end is broken off for this reason.
pub(crate) fn body_of_pieces(read: mpsc::Receiver<DownloadPiece>, why: &'static str) -> Body {
    let pieces = stream::try_unfold(read, move |mut read| async move {
        match read.recv().await {
            Some(piece) => Ok(piece?.map(|piece| (piece, read))),
            None => Err(anyhow::Error::msg(why)),
        }
    });
    Body::from_stream(pieces.boxed())
}

async fn send<E: Into<anyhow::Error> + Send>(
    read_max: Duration,
    place: FairPermit,
    pieces: impl Stream<Item = Result<Bytes, E>> + Send,
    sender: mpsc::Sender<DownloadPiece>,
) {
    let mut pieces = pin!(pieces);
    loop {
        let piece = pieces.next().await.transpose().map_err(Into::into);
        if let Err(error) = &piece {
            tracing::error!("a component cannot be read to its end: {error:#}");
        }
        let last = !matches!(piece, Ok(Some(_)));
        let taken = timeout(read_max, sender.send(piece)).await;
        if last || !matches!(taken, Ok(Ok(()))) {
            break;
        }
    }
    drop(place);
}

/// Bytes in pieces that are copies, so that one which is not read yet does not keep all of them.
pub(crate) fn pieces(bytes: Vec<u8>) -> impl Stream<Item = anyhow::Result<Bytes>> + Send {
    let starts = (0..bytes.len()).step_by(limits::DOWNLOAD_PIECE_BYTES_MAX);
    stream::iter(starts.map(move |start| {
        let end = bytes.len().min(start + limits::DOWNLOAD_PIECE_BYTES_MAX);
        Ok(Bytes::copy_from_slice(&bytes[start..end]))
    }))
}

#[cfg(test)]
mod tests {
    use assay_dispatch::fair_semaphore::FairSemaphore;

    use super::*;

    #[tokio::test]
    async fn an_answer_is_whole_and_its_place_is_given_back() {
        let places = FairSemaphore::new(2);
        let place = || places.try_acquire(TenantId::generate(), 1).expect("one is free");
        let bytes: Vec<u8> =
            (0..3 * limits::DOWNLOAD_PIECE_BYTES_MAX + 7).map(|at| at as u8).collect();
        for bytes in [bytes, Vec::new()] {
            let body = body(place(), pieces(bytes.clone()));
            let read = axum::body::to_bytes(body, usize::MAX).await.expect("it is whole");
            assert!(read == bytes);
        }
        let failing = stream::iter([Ok(Bytes::from_static(b"a")), Err(anyhow::anyhow!("gone"))]);
        assert!(axum::body::to_bytes(body(place(), failing), usize::MAX).await.is_err());
        drop(places.acquire(TenantId::generate(), 2).await);
    }

    #[tokio::test]
    async fn a_reader_that_stops_loses_its_place() {
        let places = FairSemaphore::new(1);
        let place = places.try_acquire(TenantId::generate(), 1).expect("one is free");
        let bytes = vec![0; 4 * limits::DOWNLOAD_PIECE_BYTES_MAX];
        let body = body_within(Duration::from_millis(20), place, pieces(bytes));
        drop(places.acquire(TenantId::generate(), 1).await);
        assert!(axum::body::to_bytes(body, usize::MAX).await.is_err(), "it looks whole");
    }
}

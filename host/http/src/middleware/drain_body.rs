//! Reads the rest of a call's body that its handler did not read, up to a limit, and discards it. Otherwise
//! the connection would be closed over unread bytes and reset, and the client might never see the answer.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use assay_core::limits;
use axum::body::{Body, BodyDataStream, HttpBody as _};
use axum::extract::Request;
use axum::http::header;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use tokio::sync::oneshot;

const PATIENCE: Duration = Duration::from_secs(limits::UNREAD_SECONDS_MAX);

/// Gets the body of a call back once its handler is done with it.
pub(crate) struct UnreadBody(Option<oneshot::Receiver<BodyDataStream>>);

impl UnreadBody {
    /// Lends the body to the handler.
    pub(crate) fn lend(request: &mut Request) -> Self {
        if request.body().is_end_stream() {
            return Self(None);
        }
        let (back, rest) = oneshot::channel();
        // Who asks before sending has sent nothing until the first read, which would ask for it.
        let wanted = !request.headers().contains_key(header::EXPECT);
        let stream = std::mem::take(request.body_mut()).into_data_stream();
        let lent = LentBody { stream: Some(stream), back: Some(back), wanted };
        *request.body_mut() = Body::from_stream(lent);
        Self(Some(rest))
    }

    /// Reads what is left, within limits. To be called when the handler has answered.
    pub(crate) async fn discard(self) {
        // A body that was read to its end, or that the answer itself reads, does not come back.
        let Some(mut stream) = self.0.and_then(|mut rest| rest.try_recv().ok()) else { return };
        let all = async {
            let mut left = limits::UNREAD_BYTES_MAX;
            while let Some(Ok(bytes)) = stream.next().await {
                left = left.saturating_sub(bytes.len());
                if left == 0 {
                    return;
                }
            }
        };
        // A client that sends more, or more slowly, loses the connection.
        let _ = tokio::time::timeout(PATIENCE, all).await;
    }
}

/// Goes back to [`UnreadBody`] when it is dropped before its end.
struct LentBody {
    stream: Option<BodyDataStream>,
    back: Option<oneshot::Sender<BodyDataStream>>,
    /// Whether more bytes may be on their way.
    wanted: bool,
}

impl Stream for LentBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.wanted = true;
        let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
        let next = stream.poll_next_unpin(context);
        if matches!(next, Poll::Ready(None | Some(Err(_)))) {
            self.stream = None;
        }
        next
    }
}

impl Drop for LentBody {
    fn drop(&mut self) {
        if let (Some(stream), Some(back), true) =
            (self.stream.take(), self.back.take(), self.wanted)
        {
            // Nobody waits for it when the caller has gone.
            let _ = back.send(stream);
        }
    }
}

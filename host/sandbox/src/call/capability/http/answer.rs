//! The body of an answer on its way to the guest: counted, and ended at the call's time whatever the
//! server does, one that sends a byte now and then as well.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use hyper::body::Incoming;
use wasmtime_wasi_http::Error;

use super::budget::{HttpBudget, UnderWay};
use super::send;
use crate::latest_end::LatestEnd;

pub(super) struct AnswerBody {
    incoming: Incoming,
    budget: Arc<HttpBudget>,
    ends: PendingEnd,
    end: Arc<LatestEnd>,
    between: Option<Duration>,
    ended: bool,
    _under_way: UnderWay,
}

/// The end of the body if nothing comes; its error.
type PendingEnd = Pin<Box<dyn Future<Output = Error> + Send>>;

impl AnswerBody {
    /// Ends at `end`, and where nothing comes for `between`.
    pub(super) fn new(
        incoming: Incoming,
        budget: Arc<HttpBudget>,
        under_way: UnderWay,
        end: Arc<LatestEnd>,
        between: Option<Duration>,
    ) -> Self {
        let ends = pending_end(&end, between);
        Self { incoming, budget, ends, end, between, ended: false, _under_way: under_way }
    }

    fn fail(&mut self, error: Error) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.ended = true;
        Poll::Ready(Some(Err(error)))
    }
}

fn pending_end(end: &Arc<LatestEnd>, between: Option<Duration>) -> PendingEnd {
    let end = Arc::clone(end);
    let quiet = between.and_then(|between| end.after(between));
    Box::pin(async move { send::ended(&end, quiet.as_ref(), Error::ConnectionReadTimeout).await })
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        // First: a server that always has something must not put the end off.
        if let Poll::Ready(error) = this.ends.as_mut().poll(context) {
            return this.fail(error);
        }
        match ready!(Pin::new(&mut this.incoming).poll_frame(context)) {
            None => Poll::Ready(None),
            Some(Err(problem)) => this.fail(send::broken(&problem)),
            Some(Ok(frame)) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                if let Err(error) = this.budget.receive(bytes) {
                    return this.fail(error);
                }
                if this.between.is_some() {
                    this.ends = pending_end(&this.end, this.between);
                }
                Poll::Ready(Some(Ok(frame)))
            }
        }
    }
}

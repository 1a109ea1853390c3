//! The body of an answer on its way to the guest: counted, and ended at the call's time whatever the
//! server does, one that sends a byte now and then as well.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};
use wasmtime_wasi_http::Error;

use super::budget::{HttpBudget, UnderWay};
use super::send;

pub(super) struct AnswerBody {
    incoming: Incoming,
    budget: Arc<HttpBudget>,
    ends: Pin<Box<Sleep>>,
    until: Instant,
    between: Option<Duration>,
    ended: bool,
    _under_way: UnderWay,
}

impl AnswerBody {
    /// Ends at `until`, and where nothing comes for `between`.
    pub(super) fn new(
        incoming: Incoming,
        budget: Arc<HttpBudget>,
        under_way: UnderWay,
        until: Instant,
        between: Option<Duration>,
    ) -> Self {
        let ends = Box::pin(sleep_until(next_end(until, between)));
        Self { incoming, budget, ends, until, between, ended: false, _under_way: under_way }
    }

    fn fail(&mut self, error: Error) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.ended = true;
        Poll::Ready(Some(Err(error)))
    }
}

fn next_end(until: Instant, between: Option<Duration>) -> Instant {
    let quiet = between.and_then(|between| Instant::now().checked_add(between));
    quiet.map_or(until, |quiet| quiet.min(until))
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
        if this.ends.as_mut().poll(context).is_ready() {
            let over = Instant::now() >= this.until;
            return this.fail(if over { send::over() } else { Error::ConnectionReadTimeout });
        }
        match ready!(Pin::new(&mut this.incoming).poll_frame(context)) {
            None => Poll::Ready(None),
            Some(Err(problem)) => this.fail(send::broken(&problem)),
            Some(Ok(frame)) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                if let Err(error) = this.budget.receive(bytes) {
                    return this.fail(error);
                }
                let end = next_end(this.until, this.between);
                this.ends.as_mut().reset(end);
                Poll::Ready(Some(Ok(frame)))
            }
        }
    }
}

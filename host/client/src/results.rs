//! The results of a batch as a stream that outlives its connections.
//!
//! ```text
//! closed --connect--> open --line--> open --end, error or silence--> closed
//!    '-- the batch is final and every result was seen --> over
//! ```
//! Each result is returned exactly once: every connection starts after the last
//! cursor seen, and an end counts only when the batch itself says that it is final.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use assay_api::result::ResultItem;
use assay_core::id::BatchId;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, Stream, StreamExt};
use reqwest::Method;
use reqwest::header::ACCEPT;

use crate::call::{Client, Repeat};
use crate::error::{Error, root_cause};
use crate::lines::Lines;

pub(crate) const NDJSON: &str = "application/x-ndjson";

/// A connection silent for this long is made anew: the server may be gone without a word.
const SILENCE: Duration = Duration::from_secs(90);
/// A connection that went on for so long ends a row of failures.
const LIVED: Duration = Duration::from_secs(2);
/// Longer than any batch: the stream watches its own silence.
pub(crate) const FOLLOW_CALL: Duration = Duration::from_secs(7 * 24 * 3_600);

type Body = BoxStream<'static, reqwest::Result<Bytes>>;

struct Follow {
    client: Client,
    batch: BatchId,
    after: u32,
    body: Option<Body>,
    lines: Lines,
    /// Connections in a row that brought nothing and did not live.
    failures: u32,
    /// The start of the last connection.
    connected: Instant,
}

impl Follow {
    /// The next result; nothing when the batch is final and all of it was seen.
    async fn next(&mut self) -> Result<Option<ResultItem>, Error> {
        loop {
            if let Some(item) = self.next_buffered()? {
                return Ok(Some(item));
            }
            let Some(body) = &mut self.body else {
                self.body = Some(self.connect().await?);
                continue;
            };
            let broken = match tokio::time::timeout(SILENCE, body.next()).await {
                Ok(Some(Ok(chunk))) => {
                    self.lines.push(&chunk);
                    continue;
                }
                Ok(Some(Err(error))) => Some(root_cause(&error)),
                // Silence may be a slow stage, so it is no failure; an end may be a server's stop.
                Err(_) => None,
                Ok(None) if self.is_over().await? => return Ok(None),
                Ok(None) => Some("the results ended before the batch did".to_owned()),
            };
            self.body = None;
            self.lines.clear();
            if let Some(reason) = broken {
                if self.connected.elapsed() >= LIVED {
                    self.failures = 0;
                }
                self.pause(reason).await?;
            }
        }
    }

    fn next_buffered(&mut self) -> Result<Option<ResultItem>, Error> {
        loop {
            let line = self
                .lines
                .next()
                .map_err(|_| Error::unexpected(self.client.url(), "a line is too long"))?;
            let Some(line) = line else { return Ok(None) };
            if line.is_empty() {
                continue;
            }
            let item: ResultItem = self.client.parse(&line)?;
            if item.cursor > self.after {
                self.after = item.cursor;
                self.failures = 0;
                return Ok(Some(item));
            }
        }
    }

    async fn connect(&mut self) -> Result<Body, Error> {
        let request = self
            .client
            .request(Method::GET, &["batches", &self.batch.to_string(), "results"])
            .query(&[("after", self.after)])
            .header(ACCEPT, NDJSON)
            .timeout(FOLLOW_CALL);
        let answer = self.client.begin(request, Repeat::Safe, SILENCE).await?;
        self.connected = Instant::now();
        Ok(answer.bytes_stream().boxed())
    }

    async fn is_over(&mut self) -> Result<bool, Error> {
        let batch = self.client.batch(self.batch).await?;
        Ok(batch.state.is_final() && self.after >= batch.counts.finished())
    }

    async fn pause(&mut self, reason: String) -> Result<(), Error> {
        self.failures += 1;
        let retry = self.client.retry();
        if self.failures >= retry.attempts {
            return Err(self.client.unreachable(reason));
        }
        tokio::time::sleep(retry.pause(self.failures)).await;
        Ok(())
    }
}

type Step = (Box<Follow>, Result<Option<ResultItem>, Error>);

/// See [`Client::results`]. Over after the first error.
pub struct ResultStream {
    state: State,
}

enum State {
    Idle(Box<Follow>),
    Busy(BoxFuture<'static, Step>),
    Over,
}

impl ResultStream {
    pub(crate) fn new(client: Client, batch: BatchId, after: u32) -> Self {
        let follow = Follow {
            client,
            batch,
            after,
            body: None,
            lines: Lines::default(),
            failures: 0,
            connected: Instant::now(),
        };
        Self { state: State::Idle(Box::new(follow)) }
    }
}

impl Stream for ResultStream {
    type Item = Result<ResultItem, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut busy = match std::mem::replace(&mut self.state, State::Over) {
            State::Over => return Poll::Ready(None),
            State::Idle(mut follow) => match follow.next_buffered() {
                // Most results come many to a chunk: no future for those.
                Ok(Some(item)) => {
                    self.state = State::Idle(follow);
                    return Poll::Ready(Some(Ok(item)));
                }
                Ok(None) => async move {
                    let next = follow.next().await;
                    (follow, next)
                }
                .boxed(),
                Err(error) => return Poll::Ready(Some(Err(error))),
            },
            State::Busy(busy) => busy,
        };
        match busy.poll_unpin(context) {
            Poll::Pending => {
                self.state = State::Busy(busy);
                Poll::Pending
            }
            Poll::Ready((follow, Ok(Some(item)))) => {
                self.state = State::Idle(follow);
                Poll::Ready(Some(Ok(item)))
            }
            Poll::Ready((_, Ok(None))) => Poll::Ready(None),
            Poll::Ready((_, Err(error))) => Poll::Ready(Some(Err(error))),
        }
    }
}

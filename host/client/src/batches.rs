//! Batches and single rewards.

use std::time::Duration;

use assay_api::batch::{AnnounceBatch, Batch, ResultsPage, SealBatch, UpdateBatch};
use assay_api::request::{Reward, RewardRequest, SubmitItem, SubmitReply};
use assay_core::id::BatchId;
use assay_core::limits::LONG_POLL_SECONDS_MAX;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;

use crate::call::{Client, Repeat, SHORT_CALL};
use crate::error::Error;
use crate::results::{NDJSON, ResultStream};

/// A large body over a slow line, and a server that waits for room first.
const SUBMIT_CALL: Duration = Duration::from_secs(300);

impl Client {
    /// Announces a batch, under an idempotency key of its own so that a repeat makes no second.
    pub async fn announce(&self, batch: &AnnounceBatch) -> Result<Batch, Error> {
        self.announce_once(batch, &BatchId::generate().to_string()).await
    }

    /// Announces a batch; with the same key and body the server returns the same batch.
    pub async fn announce_once(
        &self,
        batch: &AnnounceBatch,
        idempotency_key: &str,
    ) -> Result<Batch, Error> {
        let request = self.request(Method::POST, &["batches"]);
        let request = request.header("idempotency-key", idempotency_key).json(batch);
        self.json(request, Repeat::Safe).await
    }

    /// Submits items; one that the batch has already under its key is `repeated`.
    pub async fn submit(&self, batch: BatchId, items: &[SubmitItem]) -> Result<SubmitReply, Error> {
        let request = self.request(Method::POST, &["batches", &batch.to_string(), "requests"]);
        self.json(request.timeout(SUBMIT_CALL).json(items), Repeat::Safe).await
    }

    /// Submits items that are written already, one JSON object a line.
    pub async fn submit_ndjson(&self, batch: BatchId, body: Bytes) -> Result<SubmitReply, Error> {
        let request = self.request(Method::POST, &["batches", &batch.to_string(), "requests"]);
        let request = request.timeout(SUBMIT_CALL).header(CONTENT_TYPE, NDJSON).body(body);
        self.json(request, Repeat::Safe).await
    }

    /// Tells what is known now of the requests that are to come.
    pub async fn update_batch(&self, batch: BatchId, update: &UpdateBatch) -> Result<Batch, Error> {
        let request = self.request(Method::PATCH, &["batches", &batch.to_string()]);
        self.json(request.json(update), Repeat::Safe).await
    }

    /// Says that no more requests will come.
    pub async fn seal(&self, batch: BatchId, seal: &SealBatch) -> Result<Batch, Error> {
        let request = self.request(Method::POST, &["batches", &batch.to_string(), "seal"]);
        self.json(request.json(seal), Repeat::Safe).await
    }

    pub async fn batch(&self, batch: BatchId) -> Result<Batch, Error> {
        self.json(self.request(Method::GET, &["batches", &batch.to_string()]), Repeat::Safe).await
    }

    /// Waits until the batch is final, at most `wait`; the answer's state says which it was.
    pub async fn wait_batch(&self, batch: BatchId, wait: Duration) -> Result<Batch, Error> {
        let seconds = wait.as_secs().min(LONG_POLL_SECONDS_MAX);
        let request = self
            .request(Method::GET, &["batches", &batch.to_string()])
            .header("prefer", format!("wait={seconds}"))
            .timeout(SHORT_CALL + Duration::from_secs(seconds));
        self.json(request, Repeat::Safe).await
    }

    /// The results that exist now, after the cursor `after`, in the order of completion.
    pub async fn results_page(
        &self,
        batch: BatchId,
        after: u32,
        limit: u32,
    ) -> Result<ResultsPage, Error> {
        let request = self
            .request(Method::GET, &["batches", &batch.to_string(), "results"])
            .query(&[("after", after), ("limit", limit)]);
        self.json(request, Repeat::Safe).await
    }

    /// Every result after the cursor `after` until the batch is final; continues after a broken
    /// connection.
    #[must_use]
    pub fn results(&self, batch: BatchId, after: u32) -> ResultStream {
        ResultStream::new(self.clone(), batch, after)
    }

    pub async fn cancel(&self, batch: BatchId) -> Result<Batch, Error> {
        let request = self.request(Method::POST, &["batches", &batch.to_string(), "cancel"]);
        self.json(request, Repeat::Safe).await
    }

    /// One reward, computed while the call waits, as long as the server lets it. Never repeated
    /// once it may have begun.
    pub async fn reward(&self, reward: &RewardRequest) -> Result<Reward, Error> {
        let request = self
            .request(Method::POST, &["rewards"])
            .header("prefer", format!("wait={LONG_POLL_SECONDS_MAX}"))
            .timeout(SHORT_CALL + Duration::from_secs(LONG_POLL_SECONDS_MAX))
            .json(reward);
        self.json(request, Repeat::Unsafe).await
    }
}

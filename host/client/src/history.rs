//! The history of completed batches.

use assay_api::history::{BatchProfile, RunHistory};
use assay_core::id::BatchId;
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;

impl Client {
    /// When the requests of a completed batch came and how long they ran.
    pub async fn batch_profile(&self, batch: BatchId) -> Result<BatchProfile, Error> {
        let request = self.request(Method::GET, &["batches", &batch.to_string(), "profile"]);
        self.json(request, Repeat::Safe).await
    }

    /// Completed batches of a run, the latest first, at most `limit`.
    pub async fn run_history(&self, run: &str, limit: u32) -> Result<RunHistory, Error> {
        let request = self.request(Method::GET, &["runs", run, "history"]);
        self.json(request.query(&[("limit", limit)]), Repeat::Safe).await
    }
}

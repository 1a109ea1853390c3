//! One request with all that is kept of it, and what plugins logged.

use assay_api::authoring::{BatchLogPage, LogPage};
use assay_api::request::{LogLine, Request};
use assay_core::id::{BatchId, RequestId};
use bytes::Bytes;
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;
use crate::views::Filters;

impl Client {
    pub async fn stored_request(&self, id: RequestId) -> Result<Request, Error> {
        self.json(self.request(Method::GET, &["requests", &id.to_string()]), Repeat::Safe).await
    }

    /// The log lines of a request, over all stages and attempts.
    pub async fn request_logs(&self, id: RequestId) -> Result<Vec<LogLine>, Error> {
        let request = self.request(Method::GET, &["requests", &id.to_string(), "logs"]);
        self.json(request, Repeat::Safe).await
    }

    /// The bytes that a stage left for the next.
    pub async fn artifact(&self, id: RequestId, stage: &str) -> Result<Bytes, Error> {
        let path = ["requests", &id.to_string(), "artifacts", stage];
        self.body(self.send(self.request(Method::GET, &path), Repeat::Safe).await?).await
    }

    /// The log lines of a run's requests, those of the newest batch first.
    pub async fn run_logs(&self, run: &str, filters: Filters<'_>) -> Result<LogPage, Error> {
        let request = self.request(Method::GET, &["runs", run, "logs"]);
        self.json(request.query(filters), Repeat::Safe).await
    }

    /// The log lines of a batch's ended requests, in the order of completion.
    pub async fn batch_logs(
        &self,
        batch: BatchId,
        filters: Filters<'_>,
    ) -> Result<BatchLogPage, Error> {
        let request = self.request(Method::GET, &["batches", &batch.to_string(), "logs"]);
        self.json(request.query(filters), Repeat::Safe).await
    }
}

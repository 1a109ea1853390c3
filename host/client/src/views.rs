//! The dashboard's views of runs, batches, requests and plugin versions.

use assay_api::view::{BatchList, PluginStats, RequestList, RunList, RunView, Timeline};
use assay_core::id::BatchId;
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;

/// Filters of a list by name, as the OpenAPI document has them, such as `("limit", "10")`.
pub type Filters<'a> = &'a [(&'a str, &'a str)];

impl Client {
    /// Training runs, the one that was active last first.
    pub async fn runs(&self, filters: Filters<'_>) -> Result<RunList, Error> {
        let request = self.request(Method::GET, &["runs"]);
        self.json(request.query(filters), Repeat::Safe).await
    }

    /// A run with its last batches, at most `last`.
    pub async fn run(&self, run: &str, last: u32) -> Result<RunView, Error> {
        let request = self.request(Method::GET, &["runs", run]);
        self.json(request.query(&[("last", last)]), Repeat::Safe).await
    }

    /// The newest first.
    pub async fn batches(&self, filters: Filters<'_>) -> Result<BatchList, Error> {
        let request = self.request(Method::GET, &["batches"]);
        self.json(request.query(filters), Repeat::Safe).await
    }

    /// When each request of a batch waited and ran.
    pub async fn timeline(&self, batch: BatchId) -> Result<Timeline, Error> {
        let request = self.request(Method::GET, &["batches", &batch.to_string(), "timeline"]);
        self.json(request, Repeat::Safe).await
    }

    /// The requests of a batch in the order of admission.
    pub async fn requests(
        &self,
        batch: BatchId,
        filters: Filters<'_>,
    ) -> Result<RequestList, Error> {
        let request = self.request(Method::GET, &["batches", &batch.to_string(), "requests"]);
        self.json(request.query(filters), Repeat::Safe).await
    }

    /// Statistics of a plugin version over its last batches.
    pub async fn plugin_stats(&self, name: &str, version: &str) -> Result<PluginStats, Error> {
        let request = self.request(Method::GET, &["plugins", name, "versions", version, "stats"]);
        self.json(request, Repeat::Safe).await
    }
}

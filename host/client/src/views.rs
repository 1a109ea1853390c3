//! The dashboard's views of runs, batches, requests and plugin versions.

use assay_api::sample::{SampleList, SolveRates};
use assay_api::view::{BatchList, PluginStats, RequestList, RunList, RunView, Timeline};
use assay_core::id::BatchId;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::{Error, root_cause};
use crate::results::FOLLOW_CALL;

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

    /// The samples of a run as the bytes of a file, in the format that the filters name.
    pub async fn samples(
        &self,
        run: &str,
        filters: Filters<'_>,
    ) -> Result<BoxStream<'static, Result<bytes::Bytes, Error>>, Error> {
        let request = self.request(Method::GET, &["runs", run, "samples"]);
        let request = request.query(filters).timeout(FOLLOW_CALL);
        let pieces = self.send(request, Repeat::Safe).await?.bytes_stream();
        let client = self.clone();
        // A file that is cut off is no file.
        Ok(pieces.map_err(move |error| client.unreachable(root_cause(&error))).boxed())
    }

    /// The samples of a run, a batch or a plugin version with the beginnings of their texts, a page at a time.
    pub async fn sample_page(&self, filters: Filters<'_>) -> Result<SampleList, Error> {
        let request = self.request(Method::GET, &["samples"]);
        self.json(request.query(filters), Repeat::Safe).await
    }

    /// The solve rate of a prompt, which is a group of a run, batch by batch.
    pub async fn solve_rates(&self, run: &str, group: &str) -> Result<SolveRates, Error> {
        let request = self.request(Method::GET, &["runs", run, "solve-rates"]);
        self.json(request.query(&[("group", group)]), Repeat::Safe).await
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

//! A trainer's side of a batch: what it submits, the results as they come, and the proof that
//! every request was answered exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use assay_api::batch::{AnnounceBatch, BatchState};
use assay_api::request::SubmitItem;
use assay_api::result::ResultItem;
use assay_client::{Client, Retry};
use assay_core::id::BatchId;
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::Psql;

/// No result for so long means that none will come.
const PATIENCE: Duration = Duration::from_secs(120);

/// A request without group, prompt or metadata.
///
/// # Panics
/// When the label is no JSON.
#[must_use]
pub fn item(key: impl Into<String>, response: &str, label: &str) -> SubmitItem {
    SubmitItem {
        key: key.into(),
        group: None,
        prompt: String::new(),
        response: response.into(),
        label: Some(serde_json::from_str(label).expect("a label is JSON")),
        metadata: None,
        expected_ms: None,
    }
}

/// # Panics
/// Never: items are plain data.
#[must_use]
pub fn ndjson(items: &[SubmitItem]) -> Bytes {
    let lines = items.iter().map(|item| serde_json::to_string(item).expect("plain data") + "\n");
    lines.collect::<String>().into()
}

/// One batch, over all the servers that work at it.
pub struct Answers {
    pub batch: BatchId,
    pub seen: Vec<ResultItem>,
}

impl Answers {
    /// Announces a batch that is complete with so many requests, each of which is computed.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn announce(client: &Client, plugin: &str, expected_size: usize) -> Self {
        let size = u32::try_from(expected_size).expect("a small number");
        Self::announce_sized(client, plugin, Some(size)).await
    }

    /// Announces a batch that is complete when it is sealed.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn announce_open(client: &Client, plugin: &str) -> Self {
        Self::announce_sized(client, plugin, None).await
    }

    async fn announce_sized(client: &Client, plugin: &str, expected_size: Option<u32>) -> Self {
        let announcement = AnnounceBatch {
            plugin: plugin.into(),
            run: BatchId::generate().to_string(),
            iteration: 1,
            expected_size,
            group_size: None,
            max_extra_delay_ms: None,
            consumes: None,
            share_equal: Some(false),
            join: None,
            settings: None,
        };
        let batch = client.announce(&announcement).await.expect("announces");
        Self { batch: batch.id, seen: Vec::new() }
    }

    /// Announces a batch and submits all of it.
    ///
    /// # Panics
    /// When the server does not take it.
    pub async fn submit(client: &Client, plugin: &str, items: &[SubmitItem]) -> Self {
        let answers = Self::announce(client, plugin, items.len()).await;
        let reply = client.submit_ndjson(answers.batch, ndjson(items)).await.expect("submits");
        assert_eq!(reply.accepted as usize, items.len(), "{:?}", reply.items.first());
        answers
    }

    /// Follows until so many results are there, each at its place.
    ///
    /// # Panics
    /// When they do not come.
    pub async fn follow(&mut self, client: &Client, enough: usize) {
        let after = u32::try_from(self.seen.len()).expect("within a batch's limit");
        let mut results = client.clone().with_retry(Retry::LONG).results(self.batch, after);
        while self.seen.len() < enough {
            let next = tokio::time::timeout(PATIENCE, results.next()).await;
            let next = next.unwrap_or_else(|_| panic!("stuck behind {} results", self.seen.len()));
            let item = next.expect("the batch has more results").expect("the results are read");
            self.seen.push(item);
            assert_eq!(self.seen.len(), self.seen.last().expect("pushed").cursor as usize);
        }
    }

    /// Follows to the end and returns the results by key: each key once, each id once, nothing
    /// behind the last.
    ///
    /// # Panics
    /// When a request is answered twice or not at all.
    pub async fn finish(
        &mut self,
        client: &Client,
        items: &[SubmitItem],
    ) -> BTreeMap<String, ResultItem> {
        self.follow(client, items.len()).await;
        let batch = client.wait_batch(self.batch, PATIENCE).await.expect("answers");
        assert_eq!(batch.state, BatchState::Done);
        assert_eq!(batch.counts.submitted as usize, items.len());
        assert_eq!(batch.counts.finished() as usize, items.len());
        // The results are the same as those that were seen at first.
        let limit = u32::try_from(items.len()).expect("within a batch's limit") + 1;
        let page = client.results_page(self.batch, 0, limit).await.expect("answers");
        assert!(page.done);
        let plain = |items: &[ResultItem]| serde_json::to_value(items).expect("plain data");
        assert_eq!(plain(&page.items), plain(&self.seen), "the results have changed");

        let ids: BTreeSet<String> = self.seen.iter().map(|item| item.id.to_string()).collect();
        assert_eq!(ids.len(), items.len(), "an id was given twice");
        let by_key: BTreeMap<_, _> =
            self.seen.iter().map(|item| (item.key.clone(), item.clone())).collect();
        let keys: BTreeSet<_> = items.iter().map(|item| item.key.clone()).collect();
        assert_eq!(by_key.keys().cloned().collect::<BTreeSet<_>>(), keys);
        by_key
    }

    /// The very same in the database: one outcome a request, places without a gap, and no error
    /// with a number.
    ///
    /// # Panics
    /// When it is not so.
    pub fn check_stored(&self, database: &Psql) {
        let batch = self.batch;
        let n = self.seen.len();
        let counted = database.rows(&format!(
            "select count(*), count(distinct seq), count(distinct position), min(position), \
             max(position) from all_outcomes where batch_id = '{batch}'"
        ));
        assert_eq!(counted, [format!("{n}|{n}|{n}|1|{n}")]);
        let requests =
            database.rows(&format!("select count(*) from requests where batch_id = '{batch}'"));
        assert_eq!(requests, [n.to_string()]);
        let wrong = database.rows(&format!(
            "select * from all_results where batch_id = '{batch}' \
             and ((kind = 'error') <> (reward is null) \
             or result::json ->> 'cursor' <> position::text)"
        ));
        assert_eq!(wrong, [""; 0]);
    }
}

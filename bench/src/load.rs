//! The load generator. It shares the machine with what it measures, so bodies are written before
//! and answers are read as little as is needed to know that they are whole and good.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use assay_api::batch::AnnounceBatch;
use assay_core::id::BatchId;
use bytes::Bytes;
use futures_util::future::{try_join, try_join_all};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response};
use serde::Deserialize;

use crate::rows::Load;
use crate::stats::Latency;

const CALL: Duration = Duration::from_secs(120);
const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";

/// Where a load goes: connections are kept alive and shared.
pub struct Endpoint {
    http: reqwest::Client,
    url: String,
    key: String,
}

#[derive(Deserialize)]
struct Announced {
    id: BatchId,
}

/// Only the counts of a submit's answer.
#[derive(Deserialize)]
struct AcceptedCount {
    accepted: usize,
}

impl Endpoint {
    /// `key` may be empty for a server that wants none.
    pub fn new(url: &str, key: &str) -> Result<Self> {
        assay_client::install_tls_provider();
        let http = reqwest::Client::builder().tcp_nodelay(true).timeout(CALL).build()?;
        Ok(Self { http, url: url.trim_end_matches('/').to_owned(), key: key.to_owned() })
    }

    fn post(&self, path: &str, content_type: &str, body: Bytes) -> RequestBuilder {
        let request = self.http.post(format!("{}{path}", self.url));
        self.signed(request).header(CONTENT_TYPE, content_type).body(body)
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.signed(self.http.get(format!("{}{path}", self.url)))
    }

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        if self.key.is_empty() { request } else { request.bearer_auth(&self.key) }
    }

    pub async fn announce(&self, batch: &AnnounceBatch) -> Result<BatchId> {
        let body = serde_json::to_vec(batch)?.into();
        let answer = good(self.post("/v1/batches", JSON, body)).await?.bytes().await?;
        Ok(serde_json::from_slice::<Announced>(&answer)?.id)
    }

    pub async fn submit(&self, batch: BatchId, load: &Load) -> Result<()> {
        let path = format!("/v1/batches/{batch}/requests");
        let request = self.post(&path, NDJSON, load.ndjson.clone());
        let answer = good(request).await?.bytes().await?;
        let accepted = serde_json::from_slice::<AcceptedCount>(&answer)?.accepted;
        ensure!(accepted == load.rows, "{accepted} of {} requests were accepted", load.rows);
        Ok(())
    }

    /// Follows a batch to its end; counts lines and looks for errors in each chunk.
    async fn follow(&self, batch: BatchId, rows: usize) -> Result<()> {
        let request = self.get(&format!("/v1/batches/{batch}/results")).header(ACCEPT, NDJSON);
        let mut answer = good(request).await?;
        let mut lines = 0;
        while let Some(chunk) = answer.chunk().await? {
            lines += chunk.iter().filter(|byte| **byte == b'\n').count();
        }
        ensure!(lines == rows, "{lines} results for {rows} requests");
        Ok(())
    }

    /// One whole batch: announced, submitted in one call, followed to its last result.
    async fn batch(&self, round: &Round<'_>, iteration: u64, load: &Load) -> Result<BatchId> {
        let announced = AnnounceBatch {
            plugin: round.plugin.to_owned(),
            run: round.run.to_owned(),
            iteration,
            expected_size: Some(u32::try_from(load.rows)?),
            group_size: None,
            max_extra_delay_ms: None,
            consumes: None,
            share_equal: Some(round.share_equal),
            join: None,
            settings: None,
        };
        let batch = self.announce(&announced).await?;
        try_join(self.submit(batch, load), self.follow(batch, load.rows)).await?;
        Ok(batch)
    }

    /// Batches over several connections at once. The time is from the first announcement to the
    /// last result; afterwards, outside of it, the server's own counts are checked.
    pub async fn batches(&self, client: &assay_client::Client, round: &Round<'_>) -> Result<f64> {
        let next = Cell::new(0);
        let started = Instant::now();
        let connections = (0..round.connections).map(|_| async {
            let mut batches = Vec::new();
            loop {
                let place = next.replace(next.get() + 1);
                let Some(load) = round.loads.get(place) else { return anyhow::Ok(batches) };
                let iteration = u64::try_from(place)?;
                batches.push((self.batch(round, iteration, load).await?, load));
            }
        });
        let batches = try_join_all(connections).await?;
        let elapsed = started.elapsed();
        let mut rows = 0;
        for (batch, load) in batches.into_iter().flatten() {
            let counts = client.batch(batch).await?.counts;
            let scored = counts.scored as usize;
            ensure!(scored == load.rows, "{scored} of {} requests were scored", load.rows);
            rows += scored;
        }
        Ok(rows as f64 / elapsed.as_secs_f64())
    }

    /// The peer's batches: one call each, a list of numbers as the answer.
    pub async fn peer_batches(
        &self,
        path: &str,
        loads: &[Load],
        connections: usize,
    ) -> Result<(f64, Vec<f64>)> {
        let next = Cell::new(0);
        let started = Instant::now();
        let connections = (0..connections).map(|_| async {
            let mut answers = Vec::new();
            loop {
                let place = next.replace(next.get() + 1);
                let Some(load) = loads.get(place) else { return anyhow::Ok(answers) };
                let answer = good(self.post(path, JSON, load.array.clone())).await?.bytes().await?;
                let rewards: Vec<f64> = serde_json::from_slice(&answer)?;
                ensure!(rewards.len() == load.rows, "{} rewards", rewards.len());
                answers.push((place, rewards));
            }
        });
        let mut answers = try_join_all(connections).await?.concat();
        let elapsed = started.elapsed();
        answers.sort_by_key(|(place, _)| *place);
        let rewards: Vec<_> = answers.into_iter().flat_map(|(_, rewards)| rewards).collect();
        Ok((rewards.len() as f64 / elapsed.as_secs_f64(), rewards))
    }

    /// Single requests, `at_once` of them at any time, each answer with `good_sign` in it.
    pub async fn lone(&self, path: &str, body: &Bytes, lone: &Lone<'_>) -> Result<Latency> {
        let next = Cell::new(0);
        let started = Instant::now();
        let connections = (0..lone.at_once).map(|_| async {
            let mut each = Vec::new();
            while next.replace(next.get() + 1) < lone.requests {
                let begun = Instant::now();
                let answer = good(self.post(path, JSON, body.clone())).await?.bytes().await?;
                each.push(begun.elapsed());
                if !contains(&answer, lone.good_sign.as_bytes()) {
                    bail!("an answer without a reward: {}", String::from_utf8_lossy(&answer));
                }
            }
            Ok(each)
        });
        let each = try_join_all(connections).await?.concat();
        Latency::of(&each, started.elapsed()).context("no request was made")
    }

    /// One request and how long it took, whatever its outcome.
    pub async fn timed(&self, path: &str, body: &Bytes) -> Result<(Duration, Bytes)> {
        let begun = Instant::now();
        let answer = good(self.post(path, JSON, body.clone())).await?.bytes().await?;
        Ok((begun.elapsed(), answer))
    }
}

/// The load of one round of batches.
pub struct Round<'a> {
    pub plugin: &'a str,
    pub run: &'a str,
    pub loads: &'a [Load],
    pub connections: usize,
    /// Whether equal requests share a computation; if not, all are computed.
    pub share_equal: bool,
}

pub struct Lone<'a> {
    pub requests: usize,
    pub at_once: usize,
    pub good_sign: &'a str,
}

async fn good(request: RequestBuilder) -> Result<Response> {
    let answer = request.send().await?;
    let status = answer.status();
    if !status.is_success() {
        bail!("HTTP {status}: {}", answer.text().await.unwrap_or_default());
    }
    Ok(answer)
}

pub fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    use axum::Router;
    use axum::body::Body;
    use axum::extract::State;
    use axum::routing::{get, post};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Answers as the server does, one line short of what it should when `short`.
    struct Answers {
        short: usize,
        announced: AtomicUsize,
        rewards: AtomicUsize,
    }

    async fn serve(short: usize) -> (String, Arc<Answers>) {
        let answers = Arc::new(Answers {
            short,
            announced: AtomicUsize::new(0),
            rewards: AtomicUsize::new(0),
        });
        let announce = async |State(answers): State<Arc<Answers>>| {
            answers.announced.fetch_add(1, Ordering::Relaxed);
            format!("{{\"id\":\"{}\",\"state\":\"announced\"}}", BatchId::generate())
        };
        let submit = async |body: String| {
            format!("{{\"accepted\":{},\"items\":[{{\"key\":\"k\"}}]}}", body.lines().count())
        };
        let results = async |State(answers): State<Arc<Answers>>| {
            Body::from("{\"kind\":\"scored\"}\n".repeat(3 - answers.short))
        };
        let reward = async |State(answers): State<Arc<Answers>>| {
            answers.rewards.fetch_add(1, Ordering::Relaxed);
            if answers.short == 0 { "{\"kind\":\"scored\"}" } else { "{\"kind\":\"error\"}" }
        };
        let routes = Router::new()
            .route("/v1/batches", post(announce))
            .route("/v1/batches/{id}/requests", post(submit))
            .route("/v1/batches/{id}/results", get(results))
            .route("/v1/rewards", post(reward))
            .with_state(Arc::clone(&answers));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (url, answers)
    }

    fn three() -> Load {
        let rows: Vec<_> = (0..3).map(|number| rows::synthetic(number, 100)).collect();
        rows::load_from(&rows, 0).expect("plain")
    }

    #[tokio::test]
    async fn a_batch_is_whole_or_an_error() {
        let (url, answers) = serve(0).await;
        let endpoint = Endpoint::new(&url, "key").expect("a client");
        let round = Round {
            plugin: "trivial@1.0.0",
            run: "run",
            loads: &[],
            connections: 1,
            share_equal: false,
        };
        endpoint.batch(&round, 0, &three()).await.expect("three of three");
        assert_eq!(answers.announced.load(Ordering::Relaxed), 1);
        let (url, _) = serve(1).await;
        let endpoint = Endpoint::new(&url, "key").expect("a client");
        let error = endpoint.batch(&round, 0, &three()).await;
        assert_eq!(error.expect_err("one is missing").to_string(), "2 results for 3 requests");
    }

    #[tokio::test]
    async fn lone_requests_are_as_many_as_asked_for_and_good() {
        let (url, answers) = serve(0).await;
        let endpoint = Endpoint::new(&url, "").expect("a client");
        let lone = Lone { requests: 40, at_once: 7, good_sign: "\"kind\":\"scored\"" };
        let body = Bytes::from_static(b"{}");
        let latency = endpoint.lone("/v1/rewards", &body, &lone).await.expect("good");
        assert!(latency.p50_ms > 0.0 && latency.p99_ms >= latency.p50_ms);
        assert_eq!(answers.rewards.load(Ordering::Relaxed), 40);
        let (url, _) = serve(1).await;
        let endpoint = Endpoint::new(&url, "").expect("a client");
        assert!(endpoint.lone("/v1/rewards", &body, &lone).await.is_err());
    }
}

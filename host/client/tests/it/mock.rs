//! A server that answers like Assay's and fails where a test tells it to. It scores at once: the
//! reward is the number that the response holds, and `error` is an error.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use assay_api::batch::{AnnounceBatch, Batch, BatchState, Consumes, ResultsPage, SealBatch};
use assay_api::problem::Problem;
use assay_api::request::{ItemProblem, SubmitItem, SubmitReply, SubmitStatus, Submitted};
use assay_api::result::{Counts, ResultItem};
use assay_client::{Client, Retry};
use assay_core::id::{BatchId, Digest, RequestId};
use assay_core::outcome::{ErrorCode, Outcome, Scored};
use assay_core::time::Micros;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{ErrorResponse, IntoResponse, Json, Response};
use axum::routing::{get, post};
use futures_util::stream;
use tokio::sync::watch;

/// The faults to inject; a counter goes down with each fault.
#[derive(Default)]
pub(crate) struct Faults {
    /// Submits that are carried out and whose answer breaks off.
    pub(crate) lost_replies: u32,
    /// Calls of any kind that are refused with 503 before they are carried out.
    pub(crate) unavailable: u32,
    /// A results connection breaks after as many lines...
    pub(crate) lines_per_connection: Option<u32>,
    /// ...by an early but orderly end instead of a broken connection.
    pub(crate) orderly_ends: bool,
    /// Results that may exist; the others wait.
    pub(crate) results_max: Option<usize>,
    /// Responses `error` are scored 7 from now on.
    pub(crate) healed: bool,
}

pub(crate) struct MockBatch {
    pub(crate) announced: AnnounceBatch,
    pub(crate) digest: Digest,
    pub(crate) items: Vec<SubmitItem>,
    pub(crate) results: Vec<ResultItem>,
    pub(crate) sealed: bool,
    pub(crate) cancelled: bool,
    /// Its results are deleted.
    pub(crate) expired: bool,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) batches: BTreeMap<BatchId, MockBatch>,
    pub(crate) idempotency: BTreeMap<String, BatchId>,
    pub(crate) faults: Faults,
    /// Rows of each submit, repeats included.
    pub(crate) submits: Vec<usize>,
    pub(crate) rewards_called: u32,
    pub(crate) result_connections: u32,
    /// The digest that `math@prod` points to now; a run keeps the one that it had.
    pub(crate) digest: u8,
}

#[derive(Clone)]
pub(crate) struct Mock {
    inner: Arc<Mutex<Inner>>,
    changed: watch::Sender<u64>,
    pub(crate) url: String,
}

impl Mock {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mock = Self { inner: Arc::default(), changed: watch::Sender::new(0), url };
        let routes = Router::new()
            .route("/v1/batches", post(announce))
            .route("/v1/batches/{id}", get(show))
            .route("/v1/batches/{id}/requests", post(submit))
            .route("/v1/batches/{id}/seal", post(seal))
            .route("/v1/batches/{id}/cancel", post(cancel))
            .route("/v1/batches/{id}/results", get(results))
            .route("/v1/rewards", post(reward))
            .layer(DefaultBodyLimit::disable())
            .with_state(mock.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        mock
    }

    pub(crate) fn client(&self) -> Client {
        let retry = Retry {
            attempts: 6,
            pause_min: Duration::from_millis(1),
            pause_max: Duration::from_millis(5),
            timeouts: 0,
        };
        Client::new(&self.url, "assay_test_key").unwrap().with_retry(retry)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// Changes the state and lets waiting connections see it.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Inner)) {
        let mut inner = self.lock();
        change(&mut inner);
        let Inner { batches, faults, .. } = &mut *inner;
        batches.iter_mut().for_each(|(id, batch)| batch.score(*id, faults));
        drop(inner);
        self.changed.send_modify(|version| *version += 1);
    }

    #[expect(clippy::result_large_err, reason = "what axum's handlers answer")]
    fn refuse(&self) -> Result<(), ErrorResponse> {
        let mut inner = self.lock();
        if inner.faults.unavailable == 0 {
            return Ok(());
        }
        inner.faults.unavailable -= 1;
        let mut refusal = problem(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "no database");
        refusal.headers_mut().insert(header::RETRY_AFTER, "0".parse().unwrap());
        Err(refusal.into())
    }
}

impl MockBatch {
    fn score(&mut self, id: BatchId, faults: &Faults) {
        let most = faults.results_max.unwrap_or(usize::MAX);
        while !self.cancelled && self.results.len() < self.items.len().min(most) {
            let seq = u32::try_from(self.results.len()).unwrap();
            let item = &self.items[self.results.len()];
            self.results.push(ResultItem {
                cursor: seq + 1,
                id: RequestId { batch: id, seq },
                key: item.key.clone(),
                group: item.group.clone(),
                outcome: outcome(&item.response, faults.healed),
                stages: Vec::new(),
                shared_from: None,
                trace_id: None,
            });
        }
    }

    fn is_done(&self) -> bool {
        self.sealed && self.results.len() == self.items.len()
    }

    fn view(&self, id: BatchId) -> Batch {
        let state = match (self.cancelled, self.is_done(), self.sealed) {
            (true, _, _) => BatchState::Cancelled,
            (_, true, _) => BatchState::Done,
            (_, _, true) => BatchState::Sealed,
            _ => BatchState::Open,
        };
        let count = |kind| {
            let of_kind = self.results.iter().filter(|item| item.outcome.kind() == kind);
            u32::try_from(of_kind.count()).unwrap()
        };
        Batch {
            id,
            state,
            plugin: "math@1.0.0".into(),
            plugin_digest: self.digest,
            run: self.announced.run.clone(),
            iteration: self.announced.iteration,
            expected_size: None,
            group_size: None,
            max_extra_delay_ms: None,
            consumes: Consumes::Batch,
            outstanding: None,
            counts: Counts {
                submitted: u32::try_from(self.items.len()).unwrap(),
                scored: count("scored"),
                timed_out: count("timed_out"),
                error: count("error"),
                shared: 0,
            },
            mean_reward: None,
            announced_at: Micros(1_790_000_000_000_000 + self.announced.iteration),
            first_request_at: None,
            sealed_at: None,
            done_at: None,
            estimated_done_at: None,
            extra_delay_ms: self.is_done().then_some(2.5),
            expired_at: self.expired.then_some(Micros(1_790_000_000_000_000)),
        }
    }
}

fn outcome(response: &str, healed: bool) -> Outcome {
    let scored = |reward| {
        let verdict = "success".into();
        let explanation = String::new();
        Outcome::Scored(Scored { reward, verdict, components: BTreeMap::new(), explanation })
    };
    match response {
        "error" if healed => scored(7.0),
        "error" => Outcome::Error {
            code: ErrorCode::WorkerLost,
            message: "the worker died".into(),
            retryable: true,
            attempts: 4,
        },
        "slow" => Outcome::TimedOut { stage: "score".into(), reward: -1.0 },
        number => scored(number.parse().unwrap_or(0.0)),
    }
}

pub(crate) fn problem(status: StatusCode, code: &str, detail: &str) -> Response {
    let problem = Problem {
        kind: format!("/problems/{code}"),
        title: "refused".into(),
        status: status.as_u16(),
        code: code.into(),
        detail: detail.into(),
        hint: Some("Ask somebody".into()),
        field: None,
        request_id: Some("r-1".into()),
    };
    (status, Json(problem)).into_response()
}

type Answer = Result<Response, ErrorResponse>;

fn broken_reply() -> Response {
    let parts = [Ok("{\"accepted\":"), Err(io::Error::other("the line is cut"))];
    Body::from_stream(stream::iter(parts)).into_response()
}

fn not_found() -> ErrorResponse {
    problem(StatusCode::NOT_FOUND, "not_found", "there is no such batch").into()
}

async fn announce(
    State(mock): State<Mock>,
    headers: HeaderMap,
    Json(announced): Json<AnnounceBatch>,
) -> Answer {
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    assert_eq!(headers[header::AUTHORIZATION], "Bearer assay_test_key");
    let id = {
        let mut inner = mock.lock();
        let now = inner.digest;
        let of_run = inner.batches.values().find(|batch| batch.announced.run == announced.run);
        let digest = of_run.map_or(Digest([now; 32]), |batch| batch.digest);
        let id = *inner.idempotency.entry(key).or_insert_with(BatchId::generate);
        inner.batches.entry(id).or_insert_with(|| MockBatch {
            announced,
            digest,
            items: Vec::new(),
            results: Vec::new(),
            sealed: false,
            cancelled: false,
            expired: false,
        });
        id
    };
    // Refused only now: the repeat must find the batch that this call has made.
    mock.refuse()?;
    let view = mock.lock().batches[&id].view(id);
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

async fn show(State(mock): State<Mock>, Path(id): Path<BatchId>) -> Answer {
    mock.refuse()?;
    let inner = mock.lock();
    let batch = inner.batches.get(&id).ok_or_else(not_found)?;
    Ok(Json(batch.view(id)).into_response())
}

async fn submit(State(mock): State<Mock>, Path(id): Path<BatchId>, body: String) -> Answer {
    mock.refuse()?;
    let mut reply = SubmitReply::default();
    let mut lost = false;
    mock.change(|inner| {
        inner.submits.push(body.lines().count());
        let batch = inner.batches.get_mut(&id).unwrap();
        assert!(!batch.sealed, "a sealed batch takes no more");
        for (place, line) in body.lines().enumerate() {
            let item: SubmitItem = serde_json::from_str(line).unwrap();
            reply.items.push(take(batch, place as u64 + 1, item));
        }
        lost = inner.faults.lost_replies > 0;
        inner.faults.lost_replies -= u32::from(lost);
    });
    let count = |status| {
        let of_status = reply.items.iter().filter(|item| item.status == status);
        u32::try_from(of_status.count()).unwrap()
    };
    reply.accepted = count(SubmitStatus::Accepted);
    reply.repeated = count(SubmitStatus::Repeated);
    reply.rejected = count(SubmitStatus::Rejected);
    Ok(if lost { broken_reply() } else { Json(reply).into_response() })
}

fn take(batch: &mut MockBatch, line: u64, item: SubmitItem) -> Submitted {
    let key = item.key.clone();
    if item.response == "refused" {
        let detail = "the label does not fit the plugin".to_owned();
        let problem = ItemProblem { line, code: "bad_label".into(), detail };
        let problem = Some(problem);
        return Submitted { key, status: SubmitStatus::Rejected, id: None, problem };
    }
    let known = batch.items.iter().any(|known| known.key == key);
    if !known {
        batch.items.push(item);
    }
    let status = if known { SubmitStatus::Repeated } else { SubmitStatus::Accepted };
    Submitted { key, status, id: None, problem: None }
}

async fn seal(
    State(mock): State<Mock>,
    Path(id): Path<BatchId>,
    Json(seal): Json<SealBatch>,
) -> Answer {
    mock.refuse()?;
    mock.change(|inner| {
        let batch = inner.batches.get_mut(&id).unwrap();
        assert_eq!(seal.final_count.unwrap() as usize, batch.items.len());
        batch.sealed = true;
    });
    let view = mock.lock().batches[&id].view(id);
    Ok(Json(view).into_response())
}

async fn cancel(State(mock): State<Mock>, Path(id): Path<BatchId>) -> Answer {
    mock.change(|inner| inner.batches.get_mut(&id).unwrap().cancelled = true);
    let view = mock.lock().batches[&id].view(id);
    Ok(Json(view).into_response())
}

async fn reward(State(mock): State<Mock>) -> Response {
    mock.lock().rewards_called += 1;
    problem(StatusCode::INTERNAL_SERVER_ERROR, "internal", "broken in the middle")
}

#[derive(serde::Deserialize)]
struct Page {
    #[serde(default)]
    after: u32,
    #[serde(default)]
    limit: Option<usize>,
}

async fn results(
    State(mock): State<Mock>,
    Path(id): Path<BatchId>,
    Query(page): Query<Page>,
    headers: HeaderMap,
) -> Answer {
    mock.refuse()?;
    if headers[header::ACCEPT] == "application/x-ndjson" {
        mock.lock().result_connections += 1;
        return Ok(Body::from_stream(follow(mock, id, page.after)).into_response());
    }
    let inner = mock.lock();
    let batch = &inner.batches[&id];
    if batch.expired {
        return Err(problem(StatusCode::GONE, "results_expired", "they are deleted").into());
    }
    let behind = batch.results.iter().skip(page.after as usize);
    let items: Vec<_> = behind.take(page.limit.unwrap_or(1_000)).cloned().collect();
    let next = items.last().map_or(page.after, |item| item.cursor);
    let done = batch.is_done() && next as usize == batch.results.len();
    Ok(Json(ResultsPage { items, next, done }).into_response())
}

/// Line after line until the batch is final or the connection is to break.
fn follow(mock: Mock, id: BatchId, after: u32) -> impl stream::Stream<Item = io::Result<String>> {
    let changed = mock.changed.subscribe();
    stream::try_unfold(
        (mock, changed, after, 0),
        move |(mock, mut changed, after, sent)| async move {
            loop {
                if mock.lock().faults.lines_per_connection == Some(sent) {
                    if mock.lock().faults.orderly_ends {
                        return Ok(None);
                    }
                    // The lines before are on their way only once the body has to wait.
                    tokio::task::yield_now().await;
                    return Err(io::Error::other("the line is cut"));
                }
                {
                    let inner = mock.lock();
                    let batch = &inner.batches[&id];
                    if let Some(item) = batch.results.get(after as usize) {
                        let line = format!("{}\n", serde_json::to_string(item).unwrap());
                        drop(inner);
                        return Ok(Some((line, (mock, changed, after + 1, sent + 1))));
                    }
                    if batch.view(id).state.is_final() {
                        return Ok(None);
                    }
                }
                changed.changed().await.unwrap();
            }
        },
    )
}

//! One call of a trainer on its way through the native path: samples in, outcomes out, within the
//! client's own deadline.

use std::sync::Arc;
use std::time::Duration;

use assay_api::result::ResultItem;
use assay_core::id::{Digest, RequestId};
use assay_core::limits;
use assay_core::outcome::{ErrorCode, Outcome, Scored};
use assay_core::time::Micros;
use assay_dispatch::fair_semaphore::FairPermit;
use assay_dispatch::{DispatchError, ItemFate, NewItem};
use assay_store::admissions::BatchRow;
use axum::body::Body;
use axum::http::{Method, StatusCode};
use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::address::{Address, Options};
use super::missing::{BatchOfCall, SampleOfCall};
use crate::announcements::{self, EncodedSample, JoinRequest};
use crate::app::App;
use crate::auth::Caller;
use crate::auto_batches::{CallGuard, RunKey, may_end_otherwise};
use crate::extract::body::{self, Turn};
use crate::extract::item;
use crate::extract::name::check_text;
use crate::extract::trace::CallTrace;
use crate::problem::ApiError;
use crate::quotas;
use crate::told;

const PATIENCE: Duration = Duration::from_secs(limits::ADMISSION_SECONDS_MAX);

/// A call below `/compat/`.
pub(super) struct Call {
    pub app: Arc<App>,
    pub caller: Caller,
    pub address: Address,
    pub method: Method,
    pub batch: BatchOfCall,
    pub sample: SampleOfCall,
    pub since: Instant,
    pub at: Micros,
    pub trace: CallTrace,
}

/// One reward computation, as its plugin gets it.
#[derive(Default)]
pub(super) struct Sample {
    pub prompt: String,
    pub response: String,
    pub label: Option<Box<RawValue>>,
    pub metadata: Option<Box<RawValue>>,
    /// The samples of one prompt; by the prompt itself when absent.
    pub group: Option<String>,
}

/// A body that is held in memory, with the turn that a long one has.
pub(super) struct BufferedBody {
    pub bytes: Bytes,
    _turn: Turn,
}

/// The samples that a client wants rewards for, and the time for which it waits.
pub(super) struct ScoreCall {
    /// The call's body; with the path it tells whether a call repeats an earlier one. It is dropped once the samples are
    /// encoded, so that no call holds it while it waits.
    pub body: BufferedBody,
    pub samples: Vec<Sample>,
    /// The client's own deadline, unless the address names another.
    pub timeout: Duration,
    /// The run's name and step, for trainers that send them.
    pub step: Option<(String, u64)>,
}

/// Requests of a call that were admitted.
pub(super) struct Admitted {
    pub guard: CallGuard,
    seqs: Arc<[u32]>,
}

/// Why there is no outcome, or none with a reward. Never a number.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// Nothing was admitted, or it cannot be said.
    Refused(ApiError),
    /// The request goes on after the client's deadline; a repeat of the call gets its answer.
    Late,
    /// The request ended with this result.
    Ended { id: RequestId, code: ErrorCode, message: String, retryable: bool },
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => error,
            Failure::Late => Self::unavailable(
                "not_finished",
                "the computation has not finished; it continues, and repeating the call returns its result",
            ),
            Failure::Ended { id, code, message, retryable } => {
                let detail = format!("request {id} has no reward: {message}");
                match code {
                    ErrorCode::BadRequest | ErrorCode::BadSettings => {
                        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code.as_str(), detail)
                    }
                    _ if retryable => Self::unavailable(code.as_str(), detail),
                    _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, code.as_str(), detail),
                }
            }
        }
    }
}

/// A reward with its parts: of a score, or of a stage that ran into its time, whose reward is the
/// plugin's own word.
pub(super) struct Rewarded {
    pub reward: f64,
    pub components: std::collections::BTreeMap<String, f64>,
}

impl Rewarded {
    /// The components that an answer has: those that the address names, or all there are.
    pub(super) fn extras(&self, options: &Options) -> impl Iterator<Item = (String, f64)> {
        let named = options.extra.as_deref().map(|names| {
            let value = |name: &String| self.components.get(name).copied().unwrap_or(0.0);
            names.iter().map(|name| (name.clone(), value(name))).collect()
        });
        let all = || self.components.iter().map(|(name, value)| (name.clone(), *value)).collect();
        let extras: Vec<(String, f64)> = named.unwrap_or_else(all);
        extras.into_iter()
    }

    pub(super) fn of(item: ResultItem) -> Result<Self, Failure> {
        match item.outcome {
            Outcome::Scored(Scored { reward, components, .. }) => Ok(Self { reward, components }),
            Outcome::TimedOut { reward, .. } => Ok(Self { reward, components: [].into() }),
            Outcome::Error { code, message, retryable, .. } => {
                let retryable = retryable || code == ErrorCode::Cancelled;
                Err(Failure::Ended { id: item.id, code, message, retryable })
            }
        }
    }
}

impl Call {
    /// A body of one sample.
    pub(super) async fn body(&self, body: Body) -> Result<BufferedBody, ApiError> {
        self.buffered(body, limits::ITEM_BYTES_MAX).await
    }

    /// A body of many samples.
    pub(super) async fn long_body(&self, body: Body) -> Result<BufferedBody, ApiError> {
        self.buffered(body, limits::ARRAY_BODY_BYTES_MAX).await
    }

    async fn buffered(&self, body: Body, bytes_max: usize) -> Result<BufferedBody, ApiError> {
        let mut turn = Turn::new(&self.app.buffered, self.caller.tenant);
        let bytes = body::whole_in_turn(body, "the body", bytes_max, &mut turn).await?;
        Ok(BufferedBody { bytes, _turn: turn })
    }

    /// Rewards of all the samples, in order; a failure of one is the call's.
    pub(super) async fn rewards(&self, asked: ScoreCall) -> Result<Vec<Rewarded>, Failure> {
        rewarded(self.results(asked).await?)
    }

    /// The reward of the one sample.
    pub(super) async fn reward(&self, asked: ScoreCall) -> Result<Rewarded, Failure> {
        only(self.rewards(asked).await?)
    }

    /// The reward of the one sample of a call that keeps a copy of its body until the answer, within a limit on the bytes
    /// of all such copies.
    pub(super) async fn reward_beside_body(&self, asked: ScoreCall) -> Result<Rewarded, Failure> {
        let kept_kib = asked.body.bytes.len().div_ceil(1 << 10);
        only(rewarded(self.results_beside(asked, kept_kib).await?)?)
    }

    /// The time for which the client waits.
    fn timeout(&self, asked: &ScoreCall) -> Duration {
        self.address.options.timeout.unwrap_or(asked.timeout)
    }

    /// Outcomes of all the samples, in order, by the client's deadline.
    pub(super) async fn results(
        &self,
        asked: ScoreCall,
    ) -> Result<(CallGuard, Vec<ResultItem>), Failure> {
        self.results_beside(asked, 0).await
    }

    /// The same of a call that keeps so many KiB of its body until the answer.
    async fn results_beside(
        &self,
        asked: ScoreCall,
        kept_kib: usize,
    ) -> Result<(CallGuard, Vec<ResultItem>), Failure> {
        let timeout = self.timeout(&asked);
        let until = self.since + timeout - margin(timeout);
        let stopped = self.app.stopped();
        tokio::select! {
            results = self.results_at_last(asked, kept_kib) => results,
            () = tokio::time::sleep_until(until) => Err(Failure::Late),
            () = stopped => Err(DispatchError::Stopping.into()),
        }
    }

    async fn results_at_last(
        &self,
        asked: ScoreCall,
        kept_kib: usize,
    ) -> Result<(CallGuard, Vec<ResultItem>), Failure> {
        let waiting = &self.app.auto_batches.waiting;
        let _waiting = waiting.try_acquire(self.caller.tenant, 1).ok_or_else(|| {
            let own = waiting.held(self.caller.tenant);
            let detail = format!("{own} calls of your tenant's trainers wait already");
            ApiError::unavailable("too_many_wait", detail)
        })?;
        // Calls that keep nothing do not wait behind those that do.
        let _kept = match kept_kib {
            0 => None,
            kib => Some(self.room(kib).await?),
        };
        let admitted = self.admit(asked).await?;
        let results = admitted.results().await?;
        Ok((admitted.guard, results))
    }

    /// Room for so many KiB of a body. A call that waits for it holds its body, and that body's turn.
    async fn room(&self, kib: usize) -> Result<FairPermit, ApiError> {
        let room = self.app.repeated.acquire(self.caller.tenant, kib);
        tokio::time::timeout(PATIENCE, room).await.map_err(|_| {
            let detail = "the bodies of calls that wait take all the memory that they may";
            ApiError::unavailable("no_room", detail)
        })
    }

    /// Admits samples without waiting for them.
    pub(super) async fn admit(&self, asked: ScoreCall) -> Result<Admitted, Failure> {
        let due = self.at + Micros::from(self.timeout(&asked));
        let samples = Samples::of(self, asked, due)?;
        self.admit_anew(samples).await
    }

    /// A failure of long ago that may not come again is not this call's: it is tried anew. The samples are dropped once
    /// they are admitted, so that the wait for their results holds none.
    async fn admit_anew(&self, samples: Samples) -> Result<Admitted, Failure> {
        for _ in 0..limits::COMPAT_TRIES_MAX {
            let (admitted, ended) = self.admit_samples(&samples).await?;
            if !ended
                || !admitted.results().await?.iter().any(|item| may_end_otherwise(&item.outcome))
            {
                return Ok(admitted);
            }
        }
        Err(ApiError::unavailable("too_many_tries", "the same call has failed too often").into())
    }

    /// Also says whether they had ended before.
    async fn admit_samples(&self, samples: &Samples) -> Result<(Admitted, bool), Failure> {
        let (plugin, gap) = (self.address.plugin.as_str(), self.address.options.gap);
        for _ in 0..limits::COMPAT_TRIES_MAX {
            let (whose, call) = (samples.whose.clone(), samples.hash);
            let wanted = JoinRequest { whose, plugin, gap, call, samples: &samples.bodies };
            let guard = announcements::enter(&self.app, &self.caller, &wanted).await?;
            self.batch.tell(&guard.auto_batch.committed.row);
            // An auto batch that is closed takes no submit, and its requests are known.
            if let Some(seqs) = guard.seqs().filter(|_| guard.auto_batch.is_closed()) {
                let ended = guard.has_ended(&seqs);
                return Ok((Admitted { guard, seqs }, ended));
            }
            // The batch may have been opened for another call.
            let plugin = &guard.auto_batch.committed.plugin;
            announcements::validate_labels(&self.app, self.caller.tenant, plugin, &samples.bodies)
                .await?;
            let Some((seqs, new)) = self.submit(&guard, samples).await? else {
                // Somebody sealed, cancelled or filled it: another one takes the call.
                guard.auto_batch.close();
                continue;
            };
            guard.submitted(seqs.clone());
            let ended = !new && guard.has_ended(&seqs);
            return Ok((Admitted { guard, seqs }, ended));
        }
        Err(ApiError::unavailable(
            "batch_ended",
            "several batches in a row were closed before they took the call; repeat it",
        )
        .into())
    }

    /// The requests, and whether one of them is new; `None` when the batch takes nothing more.
    async fn submit(
        &self,
        guard: &CallGuard,
        samples: &Samples,
    ) -> Result<Option<(Arc<[u32]>, bool)>, Failure> {
        let mut new = false;
        let batch = guard.auto_batch.committed.row.id;
        let mut seqs = Vec::with_capacity(samples.bodies.len());
        let mut wait = quotas::QueueWait::of_call();
        for (at, chunk) in samples.bodies.chunks(limits::SUBMIT_CHUNK_ITEMS_MAX).enumerate() {
            let mut items = Vec::with_capacity(chunk.len());
            for (item, (group, body)) in chunk.iter().enumerate() {
                let key = guard.key(at * limits::SUBMIT_CHUNK_ITEMS_MAX + item);
                let place = wait.budget(&self.app, self.caller.tenant, body.len()).await?;
                let (group, body, due) = (group.clone(), body.clone(), Some(samples.due));
                let trace = self.trace.next();
                items.push(NewItem {
                    key,
                    group,
                    body,
                    permit: place,
                    due,
                    expected_ms: None,
                    trace,
                });
            }
            let sent = self.app.dispatch.submit(self.caller.tenant, batch, items).await;
            let answer = tokio::time::timeout(PATIENCE, sent.map_err(ApiError::from)?);
            let answer = answer.await.map_err(|_| {
                ApiError::unavailable("database_unavailable", "the database takes too long")
            })?;
            match answer.unwrap_or(Err(DispatchError::Stopping)) {
                Ok(fates) => {
                    for fate in fates {
                        new |= matches!(fate, ItemFate::Accepted(_));
                        let (ItemFate::Accepted(id) | ItemFate::Repeated(id)) = fate else {
                            return Ok(None);
                        };
                        seqs.push(id.seq);
                    }
                }
                Err(DispatchError::NotLive | DispatchError::Sealed | DispatchError::Ended) => {
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some((seqs.into(), new)))
    }
}

impl From<DispatchError> for Failure {
    fn from(error: DispatchError) -> Self {
        Self::Refused(error.into())
    }
}

impl Admitted {
    /// The results of its requests, in order, when they come.
    async fn results(&self) -> Result<Vec<ResultItem>, Failure> {
        let results = self.guard.results(&self.seqs).await;
        results.ok_or_else(|| {
            ApiError::unavailable("batch_ended", "the batch ended without a result").into()
        })
    }

    /// The results of its requests, when they come; `None` if the batch ends without one. The call holds no place at the
    /// batch meanwhile: its client may repeat it.
    pub(super) fn later_results(
        &self,
    ) -> impl Future<Output = Option<Vec<ResultItem>>> + Send + use<> {
        let (auto_batch, seqs) = (self.guard.auto_batch.clone(), self.seqs.clone());
        async move { auto_batch.results(&seqs).await }
    }

    /// The batch that took them.
    pub(super) fn batch(&self) -> &BatchRow {
        &self.guard.auto_batch.committed.row
    }

    /// The ids of its requests, in the samples' order.
    pub(super) fn ids(&self) -> Vec<RequestId> {
        let batch = self.guard.auto_batch.committed.row.id;
        self.seqs.iter().map(|&seq| RequestId { batch, seq }).collect()
    }
}

/// Checked and encoded.
struct Samples {
    whose: RunKey,
    hash: Digest,
    bodies: Vec<EncodedSample>,
    due: Micros,
}

impl Samples {
    fn of(call: &Call, asked: ScoreCall, due: Micros) -> Result<Self, ApiError> {
        let Address { protocol, rest, options, run, plugin } = &call.address;
        let tenant = call.caller.tenant;
        if asked.samples.len() > limits::COMPAT_LIST_ITEMS_MAX {
            let max = limits::COMPAT_LIST_ITEMS_MAX;
            return Err(ApiError::bad_request(format!("the call has more than {max} samples")));
        }
        let label = options.label.as_deref().unwrap_or_default();
        let path = format!("{}\0{rest}\0{label}\0", protocol.name);
        let hash = Digest::of_parts(&[path.as_bytes(), &asked.body.bytes]);
        call.sample.tell(told::sample_of_call(tenant, plugin, run, hash));
        let (run, step) = match asked.step {
            Some((run, step)) => (run, Some(step)),
            None => (run.clone(), None),
        };
        check_text("the run", &run, limits::RUN_BYTES_MAX).map_err(ApiError::bad_request)?;
        let bodies = asked.samples.into_iter().map(encode).collect::<Result<_, _>>()?;
        drop(asked.body);
        let whose = RunKey { tenant, run, step };
        Ok(Self { whose, hash, bodies, due })
    }
}

fn encode(sample: Sample) -> Result<EncodedSample, ApiError> {
    let Sample { prompt, response, label, metadata, group } = sample;
    item::check_fields(&prompt, &response, label.as_deref(), metadata.as_deref())
        .map_err(ApiError::bad_request)?;
    if let Some(group) = &group {
        check_text("the group", group, limits::GROUP_BYTES_MAX).map_err(ApiError::bad_request)?;
    }
    let group = group.or_else(|| {
        let of_prompt = || Digest::of(prompt.as_bytes()).to_string();
        (!prompt.is_empty()).then(|| of_prompt()[..16].to_owned())
    });
    Ok((group, item::encode(prompt, response, label, metadata).into()))
}

fn rewarded((guard, results): (CallGuard, Vec<ResultItem>)) -> Result<Vec<Rewarded>, Failure> {
    let rewards = results.into_iter().map(Rewarded::of).collect::<Result<_, _>>()?;
    guard.answered();
    Ok(rewards)
}

fn only(mut rewards: Vec<Rewarded>) -> Result<Rewarded, Failure> {
    rewards.pop().ok_or_else(|| ApiError::bad_request("the call has no sample").into())
}

/// How long before the client gives up it is answered: its answer has to get there.
fn margin(timeout: Duration) -> Duration {
    (timeout / 6).min(Duration::from_secs(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_comes_a_sixth_of_the_time_before_the_client_gives_up() {
        for (timeout_ms, margin_ms) in [(0, 0), (600, 100), (30_000, 5_000), (300_000, 10_000)] {
            let of = margin(Duration::from_millis(timeout_ms));
            assert_eq!(of, Duration::from_millis(margin_ms), "{timeout_ms}");
        }
    }
}

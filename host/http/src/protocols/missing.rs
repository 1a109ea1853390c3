//! Answers without a reward: counted, and an incident where the trainer's own code then writes a number.
//!
//! A protocol whose trainer repeats a call, or asks for a sample many times, counts a sample once ([`crate::told`]).
//!
//! [`watch`] stands before the check of keys, so that a refused key and a client that hangs up count as well. Calls
//! that ask for no reward, such as probes and unknown paths, never count, nor do calls of strangers, who name no key.

use std::sync::{Arc, OnceLock};

use assay_api::operations::IncidentKind;
use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::now;
use assay_store::admissions::BatchRow;
use assay_store::operations::IncidentRow;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::Protocol;
use super::address::Place;
use super::call::Call;
use crate::app::{App, AppState};
use crate::auth::trainer;
use crate::extract::name::check_text;
use crate::problem::ApiError;

/// Why an answer has no reward. An answer of status 200 that says so in its
/// protocol's own words carries this as an extension.
#[derive(Clone, Default)]
pub(super) struct NoReward {
    pub reason: String,
    /// The run, if the address does not name it.
    pub run: Option<String>,
    /// The batch of the request that failed, if the call belongs to none.
    pub batch: Option<Iteration>,
    /// The consequence of this answer, if it differs from that of its protocol's other failures.
    pub writes: Option<&'static str>,
    /// The time of the answer, if it was long ago.
    pub at: Option<Micros>,
}

/// The batch by which a call without a reward is found among a run's training steps.
#[derive(Clone, Copy)]
pub(super) struct Iteration {
    pub batch: BatchId,
    pub number: u64,
}

/// The tenant of a call that is watched, once its key was checked; an extension of the call.
#[derive(Clone, Default)]
pub(super) struct TenantOfCall(Arc<OnceLock<TenantId>>);

impl TenantOfCall {
    pub(super) fn tell(&self, tenant: TenantId) {
        let _ = self.0.set(tenant);
    }
}

/// The sample that a call asks about, once its body was read; an extension of the call.
#[derive(Clone, Default)]
pub(super) struct SampleOfCall(Arc<OnceLock<Digest>>);

impl SampleOfCall {
    pub(super) fn tell(&self, sample: Digest) {
        let _ = self.0.set(sample);
    }

    fn get(&self) -> Option<Digest> {
        self.0.get().copied()
    }
}

/// The last batch that took a call, for the call itself and for [`watch`].
#[derive(Clone, Default)]
pub(super) struct BatchOfCall(Arc<Mutex<Option<Iteration>>>);

impl BatchOfCall {
    pub(super) fn tell(&self, row: &BatchRow) {
        *self.0.lock() = Some(Iteration { batch: row.id, number: row.iteration });
    }

    fn get(&self) -> Option<Iteration> {
        *self.0.lock()
    }
}

/// Watches every call below `/compat/` until it is answered or given up.
pub(crate) async fn watch(State(app): AppState, mut request: Request, next: Next) -> Response {
    let Some(mut call) = WatchedCall::of(&app, &request) else {
        return next.run(request).await;
    };
    request.extensions_mut().insert(call.asker.tenant.clone());
    request.extensions_mut().insert(call.asker.batch.clone());
    request.extensions_mut().insert(call.asker.sample.clone());
    let mut response = next.run(request).await;
    call.answered = true;
    // Also where the call never reached the protocol: the database was away, or its body came too slowly.
    let status = (call.asker.protocol.status)(response.status());
    if status != response.status() {
        *response.status_mut() = status;
        if let Some(error) = response.extensions_mut().get_mut::<ApiError>() {
            error.status = status;
        }
    }
    if let Some(missing) = no_reward(&response) {
        call.note(missing);
    }
    response
}

fn no_reward(response: &Response) -> Option<NoReward> {
    let refused = |error: &ApiError| NoReward {
        reason: format!("{}, {}", error.status.as_u16(), error.code),
        ..NoReward::default()
    };
    let extensions = response.extensions();
    extensions.get().cloned().or_else(|| extensions.get().map(refused))
}

/// A call that asks for a reward.
struct WatchedCall {
    asker: Asker,
    names_key: bool,
    answered: bool,
}

impl WatchedCall {
    fn of(app: &Arc<App>, request: &Request) -> Option<Self> {
        let place = Place::parse(request.uri().path()).ok()?;
        let asks = (place.protocol.asks)(request.method(), &place.rest);
        asks.then(|| Self {
            asker: Asker::new(app, &place, TenantOfCall::default()),
            names_key: trainer::names_key(request.uri(), request.headers()),
            answered: false,
        })
    }

    /// Notes that the call got no reward. The callers that name no key are strangers, or have a session.
    fn note(&self, missing: NoReward) {
        if self.names_key || self.asker.tenant.0.get().is_some() {
            self.asker.note(missing);
        }
    }
}

/// The trainer that asks for a reward: its protocol, and what is known so far of its run and its sample.
pub(super) struct Asker {
    app: Arc<App>,
    protocol: &'static Protocol,
    run: String,
    tenant: TenantOfCall,
    batch: BatchOfCall,
    sample: SampleOfCall,
}

impl Asker {
    pub(super) fn new(app: &Arc<App>, place: &Place, tenant: TenantOfCall) -> Self {
        Self {
            app: app.clone(),
            protocol: place.protocol,
            run: place.run().to_owned(),
            tenant,
            batch: BatchOfCall::default(),
            sample: SampleOfCall::default(),
        }
    }

    /// The trainer of a call that was admitted, for its samples' later results.
    pub(super) fn of_call(call: &Call) -> Self {
        let tenant = TenantOfCall::default();
        tenant.tell(call.caller.tenant);
        let (batch, sample) = (call.batch.clone(), call.sample.clone());
        let (protocol, run) = (call.address.protocol, call.address.run.clone());
        Self { app: call.app.clone(), protocol, run, tenant, batch, sample }
    }

    pub(super) fn note(&self, missing: NoReward) {
        let NoReward { reason, run, batch, writes, at } = missing;
        let Protocol { name, repeats, .. } = self.protocol;
        let sample = self.sample.get().filter(|_| *repeats);
        if sample.is_some_and(|sample| !self.app.told.note(sample, Instant::now())) {
            return;
        }
        let writes = writes.unwrap_or(self.protocol.writes);
        ::metrics::counter!("assay_rewards_missing_total", "protocol" => *name).increment(1);
        if writes.is_empty() {
            return;
        }
        let tenant = self.tenant.0.get().copied();
        // Strangers name no runs in a list of incidents.
        let run = tenant.and_then(|_| run.or_else(|| Some(self.run.clone())));
        let run = run.filter(|run| check_text("run", run, limits::RUN_BYTES_MAX).is_ok());
        let iteration =
            batch.or_else(|| self.batch.get()).or_else(|| self.latest(tenant?, run.as_deref()?));
        let place = iteration.map_or_else(String::new, |it| format!(" in iteration {}", it.number));
        self.app.dispatch.note(IncidentRow {
            at: at.unwrap_or_else(now),
            tenant,
            kind: IncidentKind::RewardMissing,
            pool: None,
            batch: iteration.map(|it| it.batch),
            run,
            code: None,
            count: 1,
            detail: format!("an answer had no reward{place} ({reason}): {writes}"),
        });
    }

    /// The newest live batch of the run: a call that was refused before it came to a batch belongs to the training step
    /// whose other calls are in that batch.
    fn latest(&self, tenant: TenantId, run: &str) -> Option<Iteration> {
        let newest = self.app.dispatch.committed.latest(tenant, run)?;
        Some(Iteration { batch: newest.row.id, number: newest.row.iteration })
    }
}

/// A call that is dropped without an answer: its client hung up.
impl Drop for WatchedCall {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let reason = if std::thread::panicking() { "500, internal" } else { "the client hung up" };
        self.note(NoReward { reason: reason.into(), ..NoReward::default() });
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use axum::response::IntoResponse as _;

    use super::*;

    /// The protocol may have refused the call, in words of its own too, or the check of keys.
    #[test]
    fn a_refusal_has_no_reward_and_an_answer_has_one() {
        let reason = |response: Response| no_reward(&response).map(|missing| missing.reason);
        let unavailable = ApiError::unavailable("database_unavailable", "");
        let told = reason(unavailable.into_response());
        assert_eq!(told.as_deref(), Some("503, database_unavailable"));
        assert_eq!(reason("1.0".into_response()), None);
        let mut failed = "{\"errcode\": 2}".into_response();
        failed
            .extensions_mut()
            .insert(NoReward { reason: "plugin_trap".into(), ..NoReward::default() });
        assert_eq!(reason(failed).as_deref(), Some("plugin_trap"));
    }

    #[test]
    fn calls_that_ask_for_rewards_are_known() {
        let asks = |method: Method, path: &str| {
            let place =
                Place::parse(path).unwrap_or_else(|error| panic!("{path}: {}", error.detail));
            (place.protocol.asks)(&method, &place.rest)
        };
        for path in [
            "/compat/nemo-gym/m@p/r/verify",
            "/compat/nemo-gym/m@p/r/ng-rollout/7/verify",
            "/compat/openrlhf/m@p/r",
            "/compat/openrlhf/m@p/r/get_reward/",
            "/compat/slime/m@p/r;timeout=5",
            "/compat/sandbox-fusion/m@p/r/run_code",
            "/compat/llama-factory/m@p/r",
            "/compat/roll/m@p/r/submit_task",
            "/compat/open-instruct/t/m@p/r/test_program_stdio",
        ] {
            assert!(asks(Method::POST, path), "{path}");
            assert!(!asks(Method::GET, path) || path.contains("roll"), "{path}");
            assert!(!asks(Method::POST, &format!("{path}/more")), "{path}");
        }
        assert!(!asks(Method::POST, "/compat/nemo-gym/m@p/r/seed_session"));
        assert!(asks(Method::GET, "/compat/roll/m@p/r/task_result"));
    }
}

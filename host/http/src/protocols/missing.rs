//! Answers without a reward: counted, and an incident where the trainer's own code then writes a number.
//!
//! [`watch`] stands before the check of keys, so that a refused key and a client that hangs up count as well. Calls
//! that ask for no reward, such as probes and unknown paths, never count.

use std::sync::{Arc, OnceLock};

use assay_api::operations::IncidentKind;
use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::now;
use assay_store::operations::IncidentRow;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

use super::Entry;
use super::address::{Place, Protocol};
use super::sandbox_fusion;
use crate::app::{App, AppState};
use crate::extract::body;
use crate::problem::ApiError;

/// Why an answer has no reward. An answer of status 200 that says so in its
/// protocol's own words carries this as an extension.
#[derive(Clone)]
pub(super) struct NoReward {
    pub reason: String,
    /// The run, if the address does not name it.
    pub run: Option<String>,
}

/// The tenant of a call that is watched, once its key was checked; an extension of the call.
#[derive(Clone, Default)]
pub(super) struct TenantOfCall(Arc<OnceLock<TenantId>>);

impl TenantOfCall {
    pub(super) fn tell(&self, tenant: TenantId) {
        let _ = self.0.set(tenant);
    }
}

/// Watches every call below `/compat/` until it is answered or given up.
pub(crate) async fn watch(State(app): AppState, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let Some(mut call) = WatchedCall::of(&app, request.method(), path) else {
        return next.run(request).await;
    };
    request.extensions_mut().insert(call.tenant.clone());
    let mut response = next.run(request).await;
    call.answered = true;
    if call.entry.protocol == Protocol::SandboxFusion {
        // Also where the call never reached the protocol: the database was away, or its body came too slowly.
        let status = sandbox_fusion::repeated(response.status());
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
        run: None,
    };
    let extensions = response.extensions();
    extensions.get().cloned().or_else(|| extensions.get().map(refused))
}

/// A call that asks for a reward.
struct WatchedCall {
    app: Arc<App>,
    entry: &'static Entry,
    run: String,
    tenant: TenantOfCall,
    answered: bool,
}

impl WatchedCall {
    fn of(app: &Arc<App>, method: &Method, path: &str) -> Option<Self> {
        let place = Place::parse(path).ok()?;
        let entry = Entry::of(place.protocol);
        let asks = (entry.asks)(method, &place.rest);
        asks.then(|| Self {
            app: app.clone(),
            entry,
            run: place.run().to_owned(),
            tenant: TenantOfCall::default(),
            answered: false,
        })
    }

    fn note(&self, NoReward { reason, run }: NoReward) {
        let Entry { name, writes, .. } = self.entry;
        ::metrics::counter!("assay_rewards_missing_total", "protocol" => *name).increment(1);
        if writes.is_empty() {
            return;
        }
        let tenant = self.tenant.0.get().copied();
        // Strangers name no runs in a list of incidents.
        let run = tenant.and_then(|_| run.or_else(|| Some(self.run.clone())));
        let run = run.filter(|run| body::check_text("run", run, limits::RUN_BYTES_MAX).is_ok());
        self.app.dispatch.note(IncidentRow {
            at: now(),
            tenant,
            kind: IncidentKind::RewardMissing,
            pool: None,
            batch: None,
            run,
            code: None,
            count: 1,
            detail: format!("an answer had no reward ({reason}): {writes}"),
        });
    }
}

/// A call that is dropped without an answer: its client hung up.
impl Drop for WatchedCall {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let reason = if std::thread::panicking() { "500, internal" } else { "the client hung up" };
        self.note(NoReward { reason: reason.into(), run: None });
    }
}

#[cfg(test)]
mod tests {
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
        failed.extensions_mut().insert(NoReward { reason: "plugin_trap".into(), run: None });
        assert_eq!(reason(failed).as_deref(), Some("plugin_trap"));
    }

    #[test]
    fn calls_that_ask_for_rewards_are_known() {
        let asks = |method: Method, path: &str| {
            let place =
                Place::parse(path).unwrap_or_else(|error| panic!("{path}: {}", error.detail));
            (Entry::of(place.protocol).asks)(&method, &place.rest)
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

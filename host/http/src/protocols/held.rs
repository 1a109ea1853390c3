//! Calls of trainers at a server that cannot work yet. Most trainers repeat a call a few times within seconds and then
//! write a number, so a call is held until the server works or a while has passed, and then told to come again.
//!
//! Such an answer has no reward. It is kept, within a limit, until the server can check the call's key and record an
//! incident ([`RefusedCalls::record`]); until then the keys are in memory, and nowhere else.

use std::sync::Arc;
use std::time::Duration;

use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::now;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use tokio::sync::{mpsc, watch};

use super::address::Place;
use super::missing::{Asker, NoReward, TenantOfCall};
use crate::app::App;
use crate::auth::trainer;
use crate::problem::ApiError;

const HOLD: Duration = Duration::from_secs(limits::COMPAT_HOLD_SECONDS);

/// The calls that a server which cannot work yet refuses.
#[derive(Debug, Clone)]
pub struct RefusingCalls(mpsc::Sender<RefusedCall>);

/// The refused calls, for the server once it works.
#[derive(Debug)]
pub struct RefusedCalls(mpsc::Receiver<RefusedCall>);

/// A call that asked for a reward and got none.
struct RefusedCall {
    at: Micros,
    place: Place,
    /// The key that the call brought; nobody has checked it.
    key: Option<String>,
}

impl std::fmt::Debug for RefusedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the key.
        f.debug_struct("RefusedCall").field("at", &self.at).finish_non_exhaustive()
    }
}

/// Both ends of the calls that are refused.
#[must_use]
pub fn refused_calls() -> (RefusingCalls, RefusedCalls) {
    let (refusing, refused) = mpsc::channel(limits::COMPAT_REFUSED_KEPT_MAX);
    (RefusingCalls(refusing), RefusedCalls(refused))
}

impl RefusedCalls {
    /// Records the refused calls as incidents. Ends when none can come any more, or when the server stops.
    pub async fn record(mut self, app: Arc<App>) {
        tokio::select! {
            () = self.record_all(&app) => {}
            () = app.stopped() => {}
        }
    }

    async fn record_all(&mut self, app: &Arc<App>) {
        while let Some(RefusedCall { at, place, key }) = self.0.recv().await {
            let tenant = TenantOfCall::default();
            if let Some(key) = key
                && let Ok(caller) = app.keys.caller_of(&key).await
            {
                tenant.tell(caller.tenant);
            }
            let asker = Asker::new(app, &place, tenant);
            let reason = "the server could not work yet".to_owned();
            asker.note(NoReward { reason, at: Some(at), ..NoReward::default() });
        }
    }
}

/// Records the call when it is dropped: it was refused, or its client hung up.
struct HeldCall {
    refusing: RefusingCalls,
    call: Option<RefusedCall>,
}

impl HeldCall {
    fn of(refusing: RefusingCalls, request: &Request) -> Self {
        let place = Place::parse(request.uri().path()).ok();
        let place = place.filter(|it| (it.protocol.asks)(request.method(), &it.rest));
        // Strangers make no incidents.
        let place = place.filter(|_| trainer::names_key(request.uri(), request.headers()));
        let key = || trainer::key(request.uri(), request.headers()).ok().flatten();
        let call = place.map(|place| RefusedCall { at: now(), place, key: key() });
        Self { refusing, call }
    }
}

impl Drop for HeldCall {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else { return };
        if self.refusing.0.try_send(call).is_err() {
            tracing::warn!(
                "a server that cannot work yet refused too many calls of trainers; no incident tells of this one"
            );
        }
    }
}

/// Answers a call below `/compat/` after [`HOLD`], or as soon as the sender of `reason` is gone, which is when the server
/// works. The status is one that the protocol's trainer repeats the call after.
pub(crate) async fn hold(
    request: Request,
    reason: watch::Receiver<String>,
    refusing: RefusingCalls,
) -> Response {
    let _held = HeldCall::of(refusing, &request);
    let path = request.uri().path().to_owned();
    // Its body is never read.
    drop(request);
    hold_for(HOLD, &path, reason).await
}

async fn hold_for(longest: Duration, path: &str, mut reason: watch::Receiver<String>) -> Response {
    let works = async { while reason.changed().await.is_ok() {} };
    let _ = tokio::time::timeout(longest, works).await;
    let mut error = ApiError::unavailable("not_ready", reason.borrow().clone());
    if let Ok(place) = Place::parse(path) {
        error.status = (place.protocol.status)(error.status);
    }
    error.into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;

    use super::*;

    const RUN_CODE: &str = "/compat/sandbox-fusion/run@prod/r/run_code";

    #[tokio::test]
    async fn a_call_is_told_to_come_again_as_its_trainer_understands_it() {
        let (_reason, reasons) = watch::channel("the server is starting".to_owned());
        let run_code = hold_for(Duration::ZERO, RUN_CODE, reasons.clone()).await;
        assert_eq!(run_code.status(), StatusCode::GATEWAY_TIMEOUT);
        let other = hold_for(Duration::ZERO, "/compat/slime/math@prod/r", reasons).await;
        assert_eq!(other.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[tokio::test]
    async fn a_held_call_is_answered_once_the_server_works() {
        let (reason, reasons) = watch::channel("the server is starting".to_owned());
        let call = tokio::spawn(hold_for(Duration::MAX, RUN_CODE, reasons));
        reason.send_replace("standing by".into());
        tokio::task::yield_now().await;
        assert!(!call.is_finished(), "another reason is no reason to answer");
        drop(reason);
        assert_eq!(call.await.expect("answers").status(), StatusCode::GATEWAY_TIMEOUT);
    }

    #[tokio::test]
    async fn calls_without_a_key_are_not_kept() {
        let (refusing, mut refused) = refused_calls();
        let (_, works) = watch::channel(String::new());
        let request = Request::builder().method("POST").uri(RUN_CODE);
        let request = request.body(Body::empty()).expect("a call");
        let answer = hold(request, works, refusing).await;
        assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
        assert!(refused.0.try_recv().is_err());
    }

    #[tokio::test]
    async fn refused_calls_for_rewards_are_kept_within_a_limit() {
        let (refusing, mut refused) = refused_calls();
        let ask = |method: &str, path: &str| {
            let request = Request::builder().method(method).uri(path);
            let request = request.header("authorization", "Bearer assay_dev_0a_ff");
            let request = request.body(Body::empty()).expect("a call");
            // The server works: nothing is held for long.
            let (_, works) = watch::channel(String::new());
            hold(request, works, refusing.clone())
        };
        ask("GET", RUN_CODE).await;
        ask("POST", RUN_CODE).await;
        let call = refused.0.try_recv().expect("the call for a reward");
        assert_eq!((call.place.run(), call.key.as_deref()), ("r", Some("assay_dev_0a_ff")));
        assert!(!format!("{call:?}").contains("0a_ff"));
        assert!(refused.0.try_recv().is_err(), "a probe asks for none");
        for _ in 0..=limits::COMPAT_REFUSED_KEPT_MAX {
            ask("POST", RUN_CODE).await;
        }
        assert_eq!(refused.0.len(), limits::COMPAT_REFUSED_KEPT_MAX);
    }
}

//! Calls of trainers at a server that cannot work yet. Most trainers repeat a call a few times within seconds and then
//! write a number, so a call is held until the server works or a while has passed, and then told to come again.

use std::time::Duration;

use assay_core::limits;
use axum::response::{IntoResponse as _, Response};
use tokio::sync::watch;

use super::address::Place;
use crate::problem::ApiError;

const HOLD: Duration = Duration::from_secs(limits::COMPAT_HOLD_SECONDS);

/// Answers a call below `/compat/` after [`HOLD`], or as soon as the sender of `reason` is gone, which is when the server
/// works. The status is one that the protocol's trainer repeats the call after.
pub(crate) async fn hold(path: String, reason: watch::Receiver<String>) -> Response {
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
}

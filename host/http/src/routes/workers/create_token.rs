//! `POST /v1/workers/tokens`: let a worker of another machine join.

use assay_api::remote_workers::{CreateWorkerToken, WorkerToken};
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::remote;
use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Platform, Scoped};
use crate::middleware::authenticate::ConfirmedBody;
use crate::problem::ApiError;

/// Create a token with which one worker of another machine joins a pool, once. The answer has the
/// token, which is shown only once.
#[utoipa::path(
    post, path = "/v1/workers/tokens", tag = "operations", request_body = CreateWorkerToken,
    responses((status = 201, body = WorkerToken))
)]
pub(crate) async fn create_token(
    State(app): AppState,
    caller: Scoped<Platform>,
    ConfirmedBody(body): ConfirmedBody,
) -> Result<(StatusCode, Json<WorkerToken>), ApiError> {
    let call: CreateWorkerToken = body::parse(&body)?;
    let ttl = call.ttl_seconds.unwrap_or(limits::WORKER_TOKEN_SECONDS_DEFAULT);
    if !(1..=limits::WORKER_TOKEN_SECONDS_MAX).contains(&ttl) {
        let max = limits::WORKER_TOKEN_SECONDS_MAX;
        return Err(ApiError::bad_request(format!("ttl_seconds must be 1 to {max}")));
    }
    let workers = remote(&app)?;
    let capacity = app.dispatch.capacity().await?;
    if !capacity.pools.iter().any(|pool| pool.pool == call.pool) {
        return Err(ApiError::not_found("pool").hint("GET /v1/capacity lists those there are"));
    }
    let expires_at = now() + Micros::from_secs(ttl.into());
    let token = workers.create_token(&call.pool, expires_at, &caller.actor()).await?;
    let token = WorkerToken {
        token,
        pool: call.pool,
        expires_at,
        listen: workers.listen().to_string(),
        ca_pin: workers.pin().to_string(),
    };
    Ok((StatusCode::CREATED, Json(token)))
}

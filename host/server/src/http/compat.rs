//! The protocols that trainers speak already, below `/compat/`: each a thin adapter over batches, so
//! that a trainer is pointed here by an address alone, and its runs are runs like any other.
//!
//! - **Batches.** A run's burst takes what comes until nothing has come for a while and nothing waits or
//!   runs; then its batch is sealed, and the next call opens another, one iteration on. Only ROLL says
//!   which step a sample is of. The restarted server goes on with the bursts that it finds.
//! - **Deadlines.** The scheduler is told when a client gives up. Shortly before, the client is answered in
//!   its own way, and the computation goes on.
//! - **Repeats.** Clients send no keys. The same body to the same path is the same request: it waits for
//!   the running computation or gets the result that is there. A request's key in its batch is made of
//!   the body's hash, so that this holds over a restart as well. Samples that are equal to the byte are
//!   then one request, counted once: of a deterministic plugin their rewards are equal. Of any other
//!   plugin, calls that are open at the same time are different requests; a call that got no answer is
//!   taken up by the next with that body. Such calls are remembered in memory, within the limits on a
//!   batch's requests, for ten minutes behind the batch's end; a repeat that comes later, or whose batch
//!   ended before a restart, is computed anew.
//! - **Failures.** What is no reward is never a number: a mask for NeMo-Gym, an error code for ROLL, 504 for
//!   `/run_code`, else 503 to be repeated, or 422 where the plugin finds the data wrong.
//!
//! An adapter translates and decides nothing. The routes stand in no OpenAPI document: their shapes are
//! their trainers'.

mod address;
mod burst;
mod bursts;
mod call;
mod llama_factory;
mod metrics;
mod nemo_gym;
mod open_instruct;
mod openrlhf;
mod pickle;
mod report;
mod roll;
mod sandbox_fusion;
mod slime;
mod text;

use assay_model::api::Scope;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use tokio::time::Instant;

use super::AppState;
use super::auth::Caller;
use super::problem::ApiError;
use crate::dispatch::now;
use address::{Address, Protocol};
pub(super) use bursts::Bursts;
use call::Call;

/// Every call below `/compat/`.
pub(super) async fn answer(
    State(app): AppState,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let (since, at) = (Instant::now(), now());
    caller.need(Scope::BatchesWrite)?;
    let (parts, body) = request.into_parts();
    let address = Address::parse(parts.uri.path(), parts.uri.query())?;
    let protocol = address.protocol;
    let call = Call { app, caller, address, method: parts.method, since, at };
    match protocol {
        Protocol::NemoGym => return nemo_gym::answer(call, body).await,
        Protocol::Roll => return roll::answer(call, body).await,
        Protocol::OpenInstruct => return open_instruct::answer(call, body).await,
        _ => {}
    }
    if call.method == Method::GET && call.address.rest.is_empty() {
        return Ok(Json(json!({ "status": "ok" })).into_response());
    }
    if call.method != Method::POST {
        let detail = "this protocol has no such method here";
        return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail));
    }
    match (protocol, call.address.rest.as_str()) {
        (Protocol::OpenRlhf, "" | "get_reward") => openrlhf::answer(call, body).await,
        (Protocol::Slime, "") => slime::answer(call, body).await,
        (Protocol::LlamaFactory, "") => llama_factory::answer(call, body).await,
        (Protocol::SandboxFusion, "run_code") => sandbox_fusion::answer(call, body).await,
        _ => Err(no_route()),
    }
}

/// The protocol has no such path.
fn no_route() -> ApiError {
    ApiError::not_found("route").hint("the docs list the paths of each protocol")
}

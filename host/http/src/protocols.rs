//! The protocols that trainers speak already, below `/compat/`. Each is a thin adapter over batches: a
//! trainer needs only another address, and its runs are runs like any other.
//!
//! - **Batches.** A run's auto batch takes calls until none has come for a while and no request waits or
//!   runs; then it is sealed, and the next call opens another, one iteration later. Only ROLL says which
//!   step a sample belongs to. A restarted server goes on with the auto batches that it finds.
//! - **Deadlines.** The scheduler knows when a client gives up. Shortly before that time the client gets an
//!   answer in the form of its protocol, and the computation goes on.
//! - **Repeats.** Clients send no keys. The same body to the same path is the same request: it waits for
//!   the running computation or gets the result that is there. A request's key in its batch is made from
//!   the body's hash, so that this holds after a restart as well. For a deterministic plugin, samples with
//!   equal bytes are one request, counted once, because their rewards are equal. For any other plugin,
//!   calls that are open at the same time are different requests; a call that got no answer is taken up
//!   by the next call with the same body. Such calls are kept in memory, within the limits on a batch's
//!   requests, for ten minutes after the batch's end; a later repeat, or one whose batch ended before a
//!   restart, is computed anew.
//! - **Failures.** An outcome without a reward is never a number: it is a mask for NeMo-Gym, an error code
//!   for ROLL, 504 for `/run_code`, else 503, after which the client repeats the call, or 422 if the plugin
//!   finds the data wrong.
//!
//! An adapter translates and decides nothing. The routes are in no OpenAPI document: their shapes belong to
//! the trainers.

mod address;
mod auto_batch;
mod auto_batches;
mod call;
mod labels;
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

use address::{Address, Protocol};
use assay_api::operations::IncidentKind;
use assay_dispatch::now;
use assay_store::operations::IncidentRow;
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::time::Instant;

use crate::app::AppState;
use crate::extract::guard::{BatchesWrite, Scoped};
use crate::problem::ApiError;

pub(super) use auto_batches::AutoBatches;
use call::Call;

/// The adapter of a protocol: it takes every call below `/compat/<name>/<plugin>/<run>/`.
type Answer = fn(Call, Body) -> BoxFuture<'static, Result<Response, ApiError>>;

struct Entry {
    protocol: Protocol,
    name: &'static str,
    answer: Answer,
    /// What the trainer's own code writes where it gets no reward; empty if it writes no number.
    writes: &'static str,
}

macro_rules! entry {
    ($protocol:ident, $name:literal, $adapter:ident) => {
        entry!($protocol, $name, $adapter, "")
    };
    ($protocol:ident, $name:literal, $adapter:ident, $writes:literal) => {
        Entry {
            protocol: Protocol::$protocol,
            name: $name,
            answer: |call, body| $adapter::answer(call, body).boxed(),
            writes: $writes,
        }
    };
}

/// Every protocol, under the name that it has in addresses.
static PROTOCOLS: [Entry; 7] = [
    entry!(NemoGym, "nemo-gym", nemo_gym),
    entry!(OpenRlhf, "openrlhf", openrlhf),
    entry!(Slime, "slime", slime),
    entry!(
        SandboxFusion,
        "sandbox-fusion",
        sandbox_fusion,
        "verl writes 0 after the third such answer to a call"
    ),
    entry!(LlamaFactory, "llama-factory", llama_factory),
    entry!(Roll, "roll", roll, "ROLL writes 0 after the fifth such answer for a sample"),
    entry!(OpenInstruct, "open-instruct", open_instruct, "open-instruct writes 0 in its place"),
];

/// Every call below `/compat/`.
pub(super) async fn answer(
    State(app): AppState,
    caller: Scoped<BatchesWrite>,
    request: Request,
) -> Result<Response, ApiError> {
    let (since, at) = (Instant::now(), now());
    let (parts, body) = request.into_parts();
    let address = Address::parse(parts.uri.path(), parts.uri.query())?;
    let entry = PROTOCOLS.iter().find(|entry| entry.protocol == address.protocol);
    let entry = entry.ok_or_else(no_route)?;
    let caller = caller.into_caller();
    let (dispatch, tenant, run) = (app.dispatch.clone(), caller.tenant, address.run.clone());
    let answered =
        (entry.answer)(Call { app, caller, address, method: parts.method, since, at }, body).await;
    if let Some(NoReward { reason, run: named }) = no_reward(&answered) {
        ::metrics::counter!("assay_rewards_missing_total", "protocol" => entry.name).increment(1);
        if !entry.writes.is_empty() {
            let detail = format!("an answer had no reward ({reason}): {}", entry.writes);
            dispatch.note(IncidentRow {
                at: now(),
                tenant: Some(tenant),
                kind: IncidentKind::RewardMissing,
                pool: None,
                batch: None,
                run: named.or(Some(run)),
                code: None,
                count: 1,
                detail,
            });
        }
    }
    answered
}

/// Why an answer has no reward. An answer of status 200 that says so in its
/// protocol's own words carries this as an extension.
#[derive(Clone)]
struct NoReward {
    reason: String,
    /// The run, if the address does not name it.
    run: Option<String>,
}

fn no_reward(answered: &Result<Response, ApiError>) -> Option<NoReward> {
    match answered {
        Ok(response) => response.extensions().get().cloned(),
        Err(error) => Some(NoReward {
            reason: format!("{}, {}", error.status.as_u16(), error.code),
            run: None,
        }),
    }
}

/// Checks a call of a protocol that only scores: it must be a POST to one of `paths` below the run. A GET
/// of the run itself is answered here, as a probe.
fn probe_or_post(call: &Call, paths: &[&str]) -> Result<Option<Response>, ApiError> {
    let rest = call.address.rest.as_str();
    if call.method == Method::GET && rest.is_empty() {
        return Ok(Some(Json(json!({ "status": "ok" })).into_response()));
    }
    if call.method != Method::POST {
        let detail = "this protocol has no such method here";
        return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail));
    }
    if paths.contains(&rest) { Ok(None) } else { Err(no_route()) }
}

/// The protocol has no such path.
fn no_route() -> ApiError {
    ApiError::not_found("route").hint("the docs list the paths of each protocol")
}

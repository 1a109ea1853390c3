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
//!   equal bytes are one request, counted once, because their rewards are equal: the run's mean and pass@k count it
//!   once, too, which its trainer got several times. For any other plugin,
//!   calls that are open at the same time are different requests; a call that got no answer is taken up
//!   by the next call with the same body. Such calls are kept in memory, within the limits on a batch's
//!   requests, for ten minutes after the batch's end; a later repeat, or one whose batch ended before a
//!   restart, is computed anew.
//! - **Failures.** An outcome without a reward is never a number: it is a mask for NeMo-Gym, an error code
//!   for ROLL, 504 for `/run_code`, else 503, after which the client repeats the call, or 422 if the plugin
//!   finds the data wrong. A server that cannot work yet holds calls for a while first ([`hold`]).
//!
//! An adapter translates and decides nothing. The shapes of its calls belong to the trainers; [`document`] puts those that
//! ask for rewards into the OpenAPI document.

mod address;
mod call;
mod document;
mod held;
mod llama_factory;
mod metrics;
mod missing;
mod nemo_gym;
mod open_instruct;
mod openrlhf;
mod pickle;
mod report;
mod roll;
mod sandbox_fusion;
mod slime;
mod text;

use std::fmt;

use address::Address;
use assay_dispatch::now;
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::time::Instant;

use crate::announcements::plugin_of_run;
use crate::app::AppState;
use crate::auth::Caller;
use crate::extract::guard::{BatchesWrite, ScopeSet as _};
use crate::extract::trace::CallTrace;
use crate::problem::ApiError;

use call::Call;
pub(super) use document::document;
pub(super) use held::hold;
pub use held::{RefusedCalls, RefusingCalls, refused_calls};
pub(super) use missing::watch;
use missing::{BatchOfCall, SampleOfCall, TenantOfCall};

/// The adapter of a protocol: it takes every call below `/compat/<name>/<plugin>/<run>/`.
type Answer = fn(Call, Body) -> BoxFuture<'static, Result<Response, ApiError>>;

/// A row of the table of protocols. Two protocols are equal if they have the same name.
struct Protocol {
    /// The name in addresses.
    name: &'static str,
    answer: Answer,
    /// Whether a call asks for a reward, by its method and the path after the run.
    asks: fn(&Method, &str) -> bool,
    /// The number that the trainer's own code writes where it gets no reward; empty if it writes none.
    writes: &'static str,
    /// Whether its addresses are made of a host and a port: a host that ends in a run gets a port there.
    strips_port: bool,
    /// Whether its trainer repeats a call for one sample, so that equal calls count as one answer without a reward.
    repeats: bool,
    /// The status of every answer, refusals of other layers included, that the trainer repeats the call after.
    status: fn(StatusCode) -> StatusCode,
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Protocol").field(&self.name).finish()
    }
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

macro_rules! protocol {
    ($name:literal, $adapter:ident, $methods:pat, $paths:pat, $writes:literal) => {
        Protocol {
            name: $name,
            answer: |call, body| $adapter::answer(call, body).boxed(),
            asks: |method, rest| matches!((method, rest), ($methods, $paths)),
            writes: $writes,
            strips_port: false,
            repeats: false,
            status: |status| status,
        }
    };
}

/// Every protocol, under the name that it has in addresses, with the methods and paths that ask for a reward.
static PROTOCOLS: [Protocol; 7] = [
    Protocol {
        strips_port: true,
        asks: |method, rest| *method == Method::POST && nemo_gym::path(rest) == "verify",
        ..protocol!("nemo-gym", nemo_gym, _, _, "")
    },
    protocol!("openrlhf", openrlhf, &Method::POST, "" | "get_reward", ""),
    protocol!("slime", slime, &Method::POST, "", ""),
    Protocol {
        repeats: true,
        status: sandbox_fusion::repeated,
        ..protocol!(
            "sandbox-fusion",
            sandbox_fusion,
            &Method::POST,
            "run_code",
            "verl writes 0 after the third such answer to a call"
        )
    },
    protocol!("llama-factory", llama_factory, &Method::POST, "", ""),
    Protocol {
        repeats: true,
        ..protocol!(
            "roll",
            roll,
            &Method::GET | &Method::POST,
            "submit_task" | "task_result",
            "ROLL writes 0 after the fifth such try of a sample"
        )
    },
    protocol!(
        "open-instruct",
        open_instruct,
        &Method::POST,
        "test_program" | "test_program_stdio",
        "open-instruct writes 0 in its place"
    ),
];

/// Every call below `/compat/`.
pub(super) async fn answer(
    State(app): AppState,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let (since, at) = (Instant::now(), now());
    if let Some(watched) = request.extensions().get::<TenantOfCall>() {
        watched.tell(caller.tenant);
    }
    let batch = request.extensions().get::<BatchOfCall>().cloned().unwrap_or_default();
    let sample = request.extensions().get::<SampleOfCall>().cloned().unwrap_or_default();
    caller.need_one(BatchesWrite::ANY_OF)?;
    let (parts, body) = request.into_parts();
    let address = Address::parse(parts.uri.path(), parts.uri.query())?;
    let (method, trace) = (parts.method, CallTrace::of(&app, &parts.headers));
    let call = Call { app, caller, address, method, batch, sample, since, at, trace };
    (call.address.protocol.answer)(call, body).await
}

/// Answers a GET of the run itself, by which people try an address: it is refused if the key may not use the plugin, or if no
/// version of it is found, as a call for a reward would be.
async fn probe(call: &Call) -> Result<Response, ApiError> {
    let Address { run, plugin, .. } = &call.address;
    plugin_of_run(&call.app, &call.caller, run, plugin).await?;
    Ok(Json(json!({ "status": "ok" })).into_response())
}

/// Checks a call of a protocol that only scores: it must be a POST to one of `paths` below the run. A GET
/// of the run itself is answered here, as a probe.
async fn probe_or_post(call: &Call, paths: &[&str]) -> Result<Option<Response>, ApiError> {
    let rest = call.address.rest.as_str();
    if call.method == Method::GET && rest.is_empty() {
        return probe(call).await.map(Some);
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

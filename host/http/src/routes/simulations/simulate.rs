//! `POST /v1/simulations`: the planner on recorded batches, with other settings.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_api::batch::Batch;
use assay_api::simulation::{Simulation, SimulationRequest};
use assay_core::id::BatchId;
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::now;
use assay_simulation::{
    PoolInput, SimulateError, SimulationError, SimulationInput, simulate as run,
};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::{App, AppState};
use crate::auth::Caller;
use crate::extract::body;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::problem::ApiError;
use crate::routes::batches;

const PATIENCE: Duration = Duration::from_secs(limits::SIMULATION_SECONDS_MAX);

/// Replay completed batches on a virtual clock with other settings of the planner. For a run the
/// last 20 batches are replayed, and the first of them only serves as history.
#[utoipa::path(
    post, path = "/v1/simulations", tag = "operations", request_body = SimulationRequest,
    responses((status = 200, body = Simulation))
)]
pub(crate) async fn simulate(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    body: Body,
) -> Result<Json<Simulation>, ApiError> {
    let (call, _): (SimulationRequest, _) = body::json(body).await?;
    check(&call)?;
    let permit = app.simulations.try_acquire(caller.tenant, 1).ok_or_else(|| {
        let detail = format!(
            "a simulation of your tenant runs already, or {} of other tenants do",
            limits::SIMULATIONS_MAX
        );
        let mut error =
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_simulations", detail);
        error.retry_after_s = Some(limits::SIMULATION_SECONDS_MAX);
        error.hint("send the same call again when it has ended")
    })?;
    let empty_pool = only_empty_pool(&call);
    let wanted = wanted(&app, &caller, call).await?;
    let simulation = tokio::task::spawn_blocking(move || {
        // Until its end, also when nobody waits for it any more.
        let _permit = permit;
        run(wanted)
    });
    let too_long = |_| too_long(format!("it takes more than {} s", PATIENCE.as_secs()));
    let ended = tokio::time::timeout(PATIENCE, simulation).await.map_err(too_long)?;
    let ended = ended.map_err(|_| {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        ApiError::new(
            status,
            "internal",
            "the simulator failed; ask the server's operator to look up the reason in the log",
        )
    })?;
    let ended = ended.map_err(|refused| {
        let no_workers =
            matches!(refused, SimulationError::Simulator(SimulateError::NoWorkers { .. }));
        let error = ApiError::from(refused);
        match empty_pool.filter(|_| no_workers) {
            Some(pool) => error.field(format!("pools_max.{pool}")),
            None => error,
        }
    });
    Ok(Json(ended?))
}

/// The pool that the call leaves without workers, if it is one alone.
fn only_empty_pool(call: &SimulationRequest) -> Option<String> {
    let mut empty = call.pools_max.iter().filter(|(_, workers)| **workers == 0);
    let (pool, _) = empty.next()?;
    empty.next().is_none().then(|| pool.clone())
}

fn too_long(detail: String) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "simulation_too_long", detail)
        .hint("simulate fewer or smaller batches, or export them: `assay batch export`")
}

impl From<SimulationError> for ApiError {
    fn from(refused: SimulationError) -> Self {
        let detail = refused.to_string();
        match refused {
            SimulationError::Policy(_) | SimulationError::TooManyWorkers { .. } => {
                Self::bad_request(detail).field("policy")
            }
            SimulationError::Simulator(SimulateError::TooLong { .. }) => too_long(detail),
            SimulationError::Simulator(SimulateError::NoWorkers { .. }) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "simulation_refused", detail)
                    .hint("set `pools_max` of the stage's pool to 1 or more")
            }
            SimulationError::Simulator(_) | SimulationError::Trace(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "simulation_refused", detail)
            }
        }
    }
}

fn check(call: &SimulationRequest) -> Result<(), ApiError> {
    if call.batch.is_some() == call.run.is_some() {
        return Err(ApiError::bad_request("name either a batch or a run"));
    }
    let max = limits::SIMULATED_WORKERS_MAX;
    if let Some((pool, _)) = call.pools_max.iter().find(|(_, workers)| **workers > max) {
        let detail = format!("pool {pool} may have {max} workers at most");
        return Err(ApiError::bad_request(detail).field(format!("pools_max.{pool}")));
    }
    if call.pools_max.len() + call.startup_ms.len() > 2 * limits::POOLS_MAX {
        return Err(ApiError::bad_request("too many pools are named"));
    }
    Ok(())
}

async fn wanted(
    app: &App,
    caller: &Caller,
    call: SimulationRequest,
) -> Result<SimulationInput, ApiError> {
    let tenant = caller.tenant;
    let ids = match (&call.batch, &call.run) {
        (Some(batch), _) => of_batch(app, caller, *batch).await?,
        (None, Some(run)) => of_run(app, caller, run).await?,
        (None, None) => Vec::new(),
    };
    let latest = match ids.first() {
        Some(latest) => Some(app.store.batch(tenant, *latest).await?),
        None => None,
    };
    let mut profiles = Vec::with_capacity(ids.len());
    for id in ids {
        profiles.push(app.store.batch_profile(tenant, id).await?);
    }
    let observed = app.dispatch.observe().await?;
    let pools = observed.pools.iter().map(|pool| {
        let startup = call.startup_ms.get(&pool.pool).map(|ms| Micros::from_ms((*ms).into()));
        let measured = || Micros::from_ms_f64(pool.startup_ms.unwrap_or(0.0));
        let wanted = PoolInput {
            max: call.pools_max.get(&pool.pool).copied().unwrap_or(pool.max),
            startup: startup.unwrap_or_else(measured),
            cost: pool.cost,
        };
        (pool.pool.clone(), wanted)
    });
    let mut pools: BTreeMap<String, PoolInput> = pools.collect();
    // One that is no more, or was never here.
    for (pool, max) in &call.pools_max {
        let startup = call.startup_ms.get(pool).copied().unwrap_or(0);
        let startup = Micros::from_ms(startup.into());
        let new = PoolInput { max: *max, startup, cost: 1.0 };
        pools.entry(pool.clone()).or_insert(new);
    }
    // A pool that may have no workers now has as many as the batches would have kept busy at once.
    for (pool, peak) in assay_simulation::peaks(&profiles) {
        let peak = peak.min(limits::SIMULATED_WORKERS_MAX);
        let none = PoolInput { max: 0, startup: Micros::ZERO, cost: 1.0 };
        let wanted = pools.entry(pool.clone()).or_insert(none);
        if wanted.max == 0 && !call.pools_max.contains_key(&pool) {
            wanted.max = peak;
        }
    }
    let tolerance = match (call.tolerance_ms, &call.batch) {
        (Some(ms), _) => Some(ms),
        (None, Some(_)) => latest.as_ref().and_then(|batch| batch.max_extra_delay_ms),
        (None, None) => None,
    };
    Ok(SimulationInput {
        profiles,
        policy: call.policy.unwrap_or_else(|| "assay".into()),
        tolerance: tolerance.map_or(observed.tolerance, |ms| Micros::from_ms(ms.into())),
        consumes: latest.map(|batch| batch.consumes).unwrap_or_default(),
        pools,
        patience: PATIENCE,
    })
}

/// The batch and its predecessor in the run.
async fn of_batch(app: &App, caller: &Caller, id: BatchId) -> Result<Vec<BatchId>, ApiError> {
    let batch: Batch = batches::find(app, caller.tenant, id).await?;
    if !batch.state.is_final() {
        return Err(ApiError::conflict("batch_not_done", "the batch has not ended")
            .hint("simulate it when it is done"));
    }
    let ended_by = batch.done_at.unwrap_or_else(now);
    let found = app.store.batches_up_to(caller.tenant, &batch.run, ended_by, 2).await?;
    if found.first().is_none_or(|(latest, _)| *latest != id) {
        return Err(nothing_kept(format!("no times of batch {id} are stored")));
    }
    within_limits(&found)
}

async fn of_run(app: &App, caller: &Caller, run: &str) -> Result<Vec<BatchId>, ApiError> {
    if app.store.run(caller.tenant, run).await?.is_none() {
        return Err(ApiError::not_found("run"));
    }
    let most = limits::SIMULATED_BATCHES_MAX;
    let found = app.store.batches_up_to(caller.tenant, run, now(), most).await?;
    if found.is_empty() {
        return Err(nothing_kept(format!("no times of any batch of run {run} are stored")));
    }
    within_limits(&found)
}

fn nothing_kept(detail: String) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "nothing_to_simulate", detail).hint(
        "cancelled and expired batches, single requests, and batches older than the retention of \
         history cannot be simulated",
    )
}

/// The latest batches, as many as one simulation may replay.
fn within_limits(found: &[(BatchId, u32)]) -> Result<Vec<BatchId>, ApiError> {
    let (mut requests, mut ids) = (0_u64, Vec::new());
    let most = limits::SIMULATED_REQUESTS_MAX;
    for (id, of) in found {
        requests += u64::from(*of);
        if requests > most.into() {
            break;
        }
        ids.push(*id);
    }
    if !ids.is_empty() {
        return Ok(ids);
    }
    let detail =
        format!("a simulation replays at most {most} requests, and these batches have {requests}");
    Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "simulation_too_large", detail)
        .hint("export the batches and simulate them on another machine: `assay batch export`"))
}

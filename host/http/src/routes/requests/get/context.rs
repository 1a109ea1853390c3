//! The surroundings of a request: its run and batch, its stages in time, and their artifacts.

use assay_api::result::{ResultItem, StageTime};
use assay_api::view::{RequestContext, Span};
use assay_core::id::{RequestId, TenantId};
use assay_core::plugin::Stage;
use assay_core::time::Micros;
use serde_json::value::RawValue;

use crate::app::App;
use crate::problem::ApiError;
use crate::routes::batches;

pub(crate) async fn context(
    app: &App,
    tenant: TenantId,
    id: RequestId,
    arrived_at: Micros,
    result: Option<&ResultItem>,
) -> Result<RequestContext, ApiError> {
    let batch = batches::find(app, tenant, id.batch).await?;
    let stages = app.store.plugin_of_batch(tenant, &batch).await?.description.stages;
    let names: Vec<String> = stages.iter().map(|stage| stage.name.clone()).collect();
    let surroundings = app.store.request_surroundings(tenant, id).await?;
    let times = result.map_or(&[][..], |result| &result.stages);
    Ok(RequestContext {
        run: batch.run,
        iteration: batch.iteration,
        batch_state: batch.state,
        plugin: batch.plugin,
        plugin_digest: batch.plugin_digest,
        settings: RawValue::from_string(surroundings.settings).unwrap_or_default(),
        first_request_at: batch.first_request_at,
        earliest_end_at: surroundings.earliest_end_at,
        finished_at: surroundings.finished_at,
        spans: spans(arrived_at, &stages, times),
        artifacts: app.store.artifacts(tenant, id, &names).await?,
    })
}

/// A stage is ready as soon as the previous one has ended.
fn spans(arrived_at: Micros, stages: &[Stage], times: &[StageTime]) -> Vec<Span> {
    let mut ready = arrived_at;
    let spans = times.iter().map(|time| {
        let stage = stages.iter().find(|stage| stage.name == time.stage);
        let queued_at = ready;
        let started_at = queued_at + Micros::from_ms_f64(time.queued_ms);
        ready = started_at + Micros::from_ms_f64(time.ran_ms);
        Span {
            stage: time.stage.clone(),
            pool: stage.map(|stage| stage.pool.clone()).unwrap_or_default(),
            timeout_ms: stage.map_or(0, |stage| stage.timeout_ms),
            queued_at,
            started_at,
            ended_at: ready,
            attempts: time.attempts,
        }
    });
    spans.collect()
}

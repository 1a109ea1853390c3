//! A batch request by request and stage by stage, and why it was late.

mod columns;
mod lateness;

use assay_api::view::Timeline;
use assay_dispatch::now;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::path::PathId;
use crate::problem::ApiError;
use crate::routes::batches;
use assay_core::id::BatchId;

/// The times at which each request of a batch waited and ran, stage by stage, and the reason why
/// the batch was late. At most 4,096 requests are shown.
#[utoipa::path(
    get, path = "/v1/batches/{id}/timeline", tag = "batches", params(("id" = String, Path)),
    responses((status = 200, body = Timeline))
)]
pub(crate) async fn get(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    PathId(id): PathId<BatchId>,
) -> Result<Json<Timeline>, ApiError> {
    batches::kept(&app, caller.tenant, id).await?;
    let batch = batches::find(&app, caller.tenant, id).await?;
    let known = app.store.timeline(caller.tenant, &batch).await?;
    // A batch that names no tolerance has the platform's; an ended one has that of its end.
    let default_ms = app.dispatch.observe().await?.tolerance.as_ms_f64();
    Ok(Json(columns::timeline(batch, known, default_ms, now())))
}

#[cfg(test)]
mod tests {
    use assay_api::history::ProfileStage;
    use assay_api::result::StageTime;
    use assay_core::time::Micros;

    use assay_store::views::timeline::{KnownRequest, RequestEnd};

    pub(crate) fn stages() -> Vec<ProfileStage> {
        let stage = |name: &str, pool: &str| ProfileStage {
            name: name.into(),
            pool: pool.into(),
            timeout_ms: 1_000,
            retries_max: 0,
        };
        vec![stage("compile", "cpu"), stage("execute", "gpu")]
    }

    /// A request of a batch whose first request came at second 1. `times` are the queued and running times
    /// of its stages in milliseconds; `arrived` and `finished` are milliseconds after the first request.
    pub(crate) fn request(
        seq: u32,
        arrived: u64,
        times: &[(f64, f64)],
        finished: Option<u64>,
    ) -> KnownRequest {
        let first = Micros::from_ms(1_000);
        let arrived_at = first + Micros::from_ms(arrived);
        let ran: f64 = times.iter().map(|(_, ran)| ran).sum();
        let times = times.iter().zip(stages()).map(|(&(queued_ms, ran_ms), stage)| StageTime {
            stage: stage.name,
            queued_ms,
            ran_ms,
            attempts: 1,
        });
        KnownRequest {
            seq,
            key: format!("key-{seq}"),
            group: Some("one".into()),
            arrived_at,
            ended: finished.map(|finished| RequestEnd {
                kind: "scored".into(),
                verdict: "success".into(),
                reward: Some(1.0),
                earliest_end_at: arrived_at + Micros::from_ms_f64(ran),
                finished_at: first + Micros::from_ms(finished),
            }),
            stages: times.collect(),
        }
    }
}

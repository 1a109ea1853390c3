//! The task that compares each ended batch of a run with the run's iterations before it, and records an incident where
//! the mean reward dropped or the verdicts changed: a grader that broke looks like this, as do data that changed and
//! a policy that collapsed.
//!
//! It owns no state but when it looked at a run, and looks at a run at most every [`PERIOD`]. Nothing relies on it.

mod compare;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use assay_api::operations::IncidentKind;
use assay_api::view::Iterations;
use assay_core::id::TenantId;
use assay_dispatch::committed::CommittedBatch;
use assay_dispatch::{Dispatch, now};
use assay_store::operations::IncidentRow;
use assay_store::{Store, StoreError};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use compare::{BASELINE_MAX, Change, Figures};

/// Short, so that few batches are not looked at: a change is seen against those before it alone.
const PERIOD: Duration = Duration::from_millis(250);
/// Runs whose last look is remembered.
const RUNS_MAX: usize = 10_000;

/// Works until the dispatcher ends.
pub async fn run(store: Store, dispatch: Dispatch) {
    let mut ends = dispatch.committed.ends();
    let mut looked: HashMap<(TenantId, String), Instant> = HashMap::new();
    loop {
        let batch = match ends.recv().await {
            Ok(batch) => batch,
            // The next batches of a run tell as much.
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        if looked.len() >= RUNS_MAX {
            looked.retain(|_, at| at.elapsed() < PERIOD);
        }
        let run = (batch.row.tenant, batch.row.run.clone());
        if looked.get(&run).is_some_and(|at| at.elapsed() < PERIOD) || looked.len() >= RUNS_MAX {
            continue;
        }
        looked.insert(run, Instant::now());
        if let Err(error) = look(&store, &dispatch, &batch).await {
            tracing::warn!("a batch cannot be compared with those before it: {error}");
        }
    }
}

async fn look(
    store: &Store,
    dispatch: &Dispatch,
    batch: &Arc<CommittedBatch>,
) -> Result<(), StoreError> {
    let row = &batch.row;
    // Iterations that were begun later may have ended earlier.
    let last = u32::try_from(BASELINE_MAX).unwrap_or(u32::MAX).saturating_mul(2);
    let (iterations, _) = store.run_iterations(row.tenant, &row.run, last).await?;
    let Some(at) = iterations.batch.iter().position(|id| *id == row.id) else { return Ok(()) };
    let before: Vec<Figures> = (0..at).filter_map(|at| figures(&iterations, at)).collect();
    let Some(ended) = figures(&iterations, at) else { return Ok(()) };
    for Change { kind, words } in compare::compare(&before, &ended) {
        dispatch.note(IncidentRow {
            at: now(),
            tenant: Some(row.tenant),
            kind,
            pool: None,
            batch: Some(row.id),
            run: Some(row.run.clone()),
            code: None,
            count: 1,
            detail: format!("in iteration {} {words}", row.iteration),
        });
    }
    Ok(())
}

/// The figures of an iteration that has ended with rewards.
fn figures(iterations: &Iterations, at: usize) -> Option<Figures> {
    iterations.ended_at[at]?;
    Some(Figures {
        mean: iterations.mean[at]?,
        std: iterations.std[at]?,
        verdicts: iterations.verdicts[at].clone(),
    })
}

//! Calls and announcements that share a batch: each joins the auto batch of its run, or opens one.

use std::sync::Arc;
use std::time::Duration;

use assay_api::batch::{AnnounceBatch, JoinBatch, JoinBy};
use assay_core::id::Digest;
use assay_core::limits;
use assay_dispatch::Announcement;
use assay_dispatch::committed::CommittedBatch;
use assay_store::StoreError;
use assay_store::admissions::Idempotency;
use tokio::sync::OwnedMutexGuard;

use super::labels::{EncodedSample, validate_labels};
use super::{plugin_of_run, reference, row};
use crate::app::App;
use crate::auth::Caller;
use crate::auto_batches::{AutoBatch, CallGuard, GAP, Run, RunKey, mark};
use crate::finishing::to_end;
use crate::problem::ApiError;
use crate::quotas;

/// The auto batch that a call belongs to, and the call's hash.
pub(crate) struct JoinRequest<'a> {
    pub whose: RunKey,
    pub plugin: &'a str,
    pub gap: Option<Duration>,
    pub call: Digest,
    pub samples: &'a [EncodedSample],
}

/// A guard at the auto batch that a call belongs to, which is opened if there is none.
pub(crate) async fn enter(
    app: &Arc<App>,
    caller: &Caller,
    wanted: &JoinRequest<'_>,
) -> Result<CallGuard, ApiError> {
    quotas::not_suspended(app, caller.tenant)?;
    let reference = reference(caller, wanted.plugin)?;
    let run = app.auto_batches.run(&wanted.whose)?.lock_owned().await;
    let fits = |auto_batch: &&Arc<AutoBatch>| auto_batch.fits(&reference);
    let mut all = run.taking.iter().chain(&run.kept).filter(fits);
    if let Some(guard) = all.find_map(|auto_batch| auto_batch.join_again(wanted.call)) {
        return Ok(guard);
    }
    if let Some(auto_batch) = run.taking.as_ref().filter(fits)
        && let Some(guard) = auto_batch.join(wanted.call)
    {
        return Ok(guard);
    }
    // A call that is refused leaves no batch and no run.
    let plugin = plugin_of_run(app, caller, &wanted.whose.run, wanted.plugin).await?;
    validate_labels(app, caller.tenant, &plugin, wanted.samples).await?;
    let call = AnnounceBatch {
        plugin: wanted.plugin.into(),
        run: wanted.whose.run.clone(),
        iteration: iteration(app, &wanted.whose, &run).await?,
        expected_size: None,
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: None,
        settings: None,
        join: None,
    };
    let kind = AutoBatchKind {
        gap: wanted.gap.unwrap_or(GAP),
        requests_max: limits::COMPAT_BATCH_REQUESTS_MAX,
        hurries_earlier: false,
    };
    // No other call closes it before this one joins it.
    let (auto_batch, _run) = open(app, caller, call, wanted.whose.clone(), run, kind).await?;
    auto_batch
        .join(wanted.call)
        .ok_or_else(|| ApiError::unavailable("batch_ended", "it ended at once"))
}

/// The batch of an announcement that other processes of the trainer make as well.
pub(crate) async fn join(
    app: &Arc<App>,
    caller: &Caller,
    mut call: AnnounceBatch,
    join: JoinBatch,
) -> Result<Arc<CommittedBatch>, ApiError> {
    let step = (join.by == JoinBy::Iteration).then_some(call.iteration);
    let whose = RunKey { tenant: caller.tenant, run: call.run.clone(), step };
    let reference = reference(caller, &call.plugin)?;
    let run = app.auto_batches.run(&whose)?.lock_owned().await;
    if let Some(auto_batch) = run.taking.as_ref().filter(|it| it.fits(&reference))
        && auto_batch.touch()
    {
        // Refuses what the batch's first announcement would have been refused.
        let _ = row(app, caller, call, None).await?;
        return Ok(auto_batch.committed.clone());
    }
    call.iteration = iteration(app, &whose, &run).await?;
    let kind = AutoBatchKind {
        gap: Duration::from_millis(join.idle_ms.into()),
        requests_max: limits::BATCH_REQUESTS_MAX,
        hurries_earlier: true,
    };
    let (auto_batch, _) = open(app, caller, call, whose, run, kind).await?;
    Ok(auto_batch.committed.clone())
}

async fn iteration(app: &App, whose: &RunKey, run: &Run) -> Result<u64, ApiError> {
    Ok(match (whose.step, run.last_iteration) {
        (Some(step), _) => step,
        (None, Some(last)) => last + 1,
        (None, None) => last_iteration(app, whose).await?.map_or(1, |last| last + 1),
    })
}

/// How an auto batch differs between calls of a protocol and announcements that are joined.
struct AutoBatchKind {
    /// The time without a call after which it is sealed.
    gap: Duration,
    requests_max: u32,
    /// Whether its opening ends the run's earlier steps sooner.
    hurries_earlier: bool,
}

/// Opens an auto batch, and has it followed, so that it is sealed even if the call that opens it breaks off.
async fn open(
    app: &Arc<App>,
    caller: &Caller,
    call: AnnounceBatch,
    whose: RunKey,
    mut run: OwnedMutexGuard<Run>,
    kind: AutoBatchKind,
) -> Result<(Arc<AutoBatch>, OwnedMutexGuard<Run>), ApiError> {
    let iteration = call.iteration;
    let (mut new, plugin) = row(app, caller, call, None).await?;
    new.idle_ms = Some(u32::try_from(kind.gap.as_millis()).unwrap_or(u32::MAX));
    let key = mark(new.id, whose.step.is_some());
    let call_hash = Digest::of(key.as_bytes());
    new.idempotency = Some(Idempotency { key, call_hash });
    let announcement = Announcement { row: new, plugin, single: None, replays: None };
    let app = app.clone();
    let opened = to_end(async move {
        let committed = app.dispatch.announce(announcement).await?;
        run.last_iteration = Some(iteration);
        let auto_batch = AutoBatch::new(committed, kind.gap, kind.requests_max);
        if kind.hurries_earlier {
            app.auto_batches.hurry_earlier(&whose);
        }
        app.auto_batches.take(&mut run, whose, auto_batch.clone());
        Ok((auto_batch, run))
    });
    opened.await
}

/// The last iteration of a run's batches, whoever made them.
async fn last_iteration(app: &App, whose: &RunKey) -> Result<Option<u64>, ApiError> {
    let ended = match app.store.run_summary(whose.tenant, &whose.run).await {
        Ok((summary, _)) => summary.last_iteration,
        Err(StoreError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let ours = |batch: &&Arc<CommittedBatch>| {
        batch.row.tenant == whose.tenant && batch.row.run == whose.run
    };
    let live = app.dispatch.committed.live();
    Ok(live.iter().filter(ours).map(|batch| batch.row.iteration).max().max(ended))
}

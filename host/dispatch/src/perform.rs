//! Carries out what the scheduler decided: grants to workers, results to the commits.

use std::sync::Arc;

use assay_api::batch::BatchState;
use assay_api::operations::IncidentKind;
use assay_api::result::{Counts, ResultItem, StageTime};
use assay_clock::now;
use assay_core::architecture::Architecture;
use assay_core::id::{BatchId, RequestId, WorkerId};
use assay_core::limits;
use assay_core::outcome::{ErrorCode, Outcome, StageEnd, StageError};
use assay_core::time::Micros;
use assay_core::trace::{RequestEnd, StageAttempt};
use assay_sched::{
    Action, BatchDone, BatchEnding, End, Event, FinalEnd, Finish, Grant, KillReason, StageTiming,
};
use assay_wire::proto;

use crate::batch::{Entry, LiveBatch, recorded_end};
use crate::dedup::SharedOutcome;
use crate::history;
use crate::incidents::of_workers;
use crate::publish::{Output, RowMemory, count};
use crate::request_metrics::RequestMetrics;
use crate::shell::Shell;
use crate::traces::{UntilCommit, stage_answer};
use crate::workers::HeldLease;
use assay_store::operations::IncidentRow;
use assay_store::outcomes::{ArtifactRow, EndRow, OutcomeRow, Record, Recorded};

impl Shell {
    /// A worker's answer. The scheduler refuses it when its lease is no longer the request's.
    pub(super) fn stage_finished(&mut self, worker: WorkerId, finished: proto::Finished) {
        let lease = assay_core::id::LeaseId(finished.lease);
        let Some(held) = self.workers.finished(worker, lease) else { return };
        let end = assay_wire::stage_end(finished.end).unwrap_or_else(|bad| {
            StageEnd::Failed(StageError { code: ErrorCode::BadOutcome, message: bad.0 })
        });
        let (end, kind) = self.take_end(&held, end);
        self.note_starved(worker, &end);
        if !held.revoked {
            self.keep_logs(held.request, held.stage, finished.logs);
        }
        let now = now();
        // The worker's word counts no further than it can be true.
        let ran = Micros(finished.ran_us).min(now.since(held.granted));
        let batch = self.batches.get_mut(held.request.batch).filter(|_| !held.revoked);
        if let Some(batch) = batch {
            batch.traces.answered(held.request.seq, held.granted, || {
                stage_answer(now, ran, &end, finished.calls)
            });
        }
        let mut payload = Some(end);
        for action in self.sched.step(now, Event::StageFinished { worker, lease, end: kind, ran }) {
            self.perform(now, action, &mut payload);
        }
        if kind == End::Next {
            self.hold_if_scarce(held.request.batch);
        }
        // Another worker had answered before, the batch had ended, or there was no room for the artifact.
        if payload.is_some()
            && let Some(worker) = self.workers.get(worker)
        {
            let pool = worker.pool.to_string();
            metrics::histogram!("assay_unused_run_seconds", "pool" => pool)
                .record(ran.as_secs_f64());
        }
        self.resolve_dedup();
    }

    /// Counts a stage that the machine kept waiting, and records an incident: the request is tried again, so nobody else
    /// would tell the operator.
    fn note_starved(&self, id: WorkerId, end: &StageEnd) {
        let StageEnd::Failed(error) = end else { return };
        let Some(worker) = self.workers.get(id).filter(|_| end.is_starved()) else { return };
        metrics::counter!("assay_stages_starved_total", "pool" => worker.pool.to_string())
            .increment(1);
        let detail = format!("{}: {}", worker.named(id), error.message);
        self.notes.note(of_workers(now(), IncidentKind::WorkerStarved, &worker.pool, detail));
    }

    /// Carries out one action; `payload` is the worker's answer that caused it, if one did.
    pub(super) fn perform(&mut self, now: Micros, action: Action, payload: &mut Option<StageEnd>) {
        match action {
            Action::Grant(grant) => self.grant(grant),
            Action::Revoke { worker, lease } => {
                let held = self.workers.revoke(worker, lease);
                let traced =
                    held.and_then(|held| Some((self.batches.get_mut(held.request.batch)?, held)));
                if let Some((batch, held)) = traced {
                    batch.traces.revoked(held.request.seq, held.granted);
                }
            }
            Action::KillWorker { worker, reason } => {
                let id = worker;
                if let Some(worker) = self.workers.remove(id) {
                    let named = worker.named(id);
                    let missed = missed(reason);
                    tracing::warn!("{missed}; killing {named}");
                    self.fleet.kill(worker.ticket);
                    let detail = format!("{named}: {missed}");
                    let kind = IncidentKind::WorkerKilled;
                    self.notes.note(of_workers(now, kind, &worker.pool, detail));
                }
            }
            Action::PreemptWorker { worker } => {
                let id = worker;
                if let Some(worker) = self.workers.remove(id) {
                    let named = worker.named(id);
                    tracing::info!("a tenant without a worker needs one; killing {named}");
                    self.fleet.kill(worker.ticket);
                    let pool = worker.pool.to_string();
                    metrics::counter!("assay_workers_preempted_total", "pool" => pool).increment(1);
                }
            }
            Action::Advance { request, stage: _, time } => {
                self.advance(now, request, time, payload);
            }
            Action::Finish(finish) => self.finish(now, finish, payload.take()),
            Action::GroupDone { batch, group } => {
                let name = self.batches.get(batch).and_then(|batch| batch.group_name(group));
                if let Some(group) = name.cloned() {
                    self.output(Output::GroupDone { batch, group });
                }
            }
            Action::BatchDone(done) => self.batch_done(done),
            Action::Estimate { batch, done_at } => {
                if let Some(batch) = self.batches.get(batch) {
                    // A forecast knows more.
                    batch.committed.change(|progress| {
                        if progress.expected_earliest_end_at.is_none() {
                            progress.estimated_done_at = Some(done_at);
                        }
                    });
                }
            }
            Action::StartWorkers { pool, count } => self.fleet.start(&pool, count),
            Action::CancelStarts { pool, count } => self.fleet.cancel(&pool, count),
            Action::StopWorker { worker } => self.stop_worker(worker),
            Action::StopSlowWorker { worker } => {
                if let Some(slow) = self.workers.get(worker) {
                    let (named, pool) = (slow.named(worker), slow.pool.to_string());
                    tracing::info!("it takes twice as long as others; stopping {named}");
                    metrics::counter!("assay_slow_workers_stopped_total", "pool" => pool)
                        .increment(1);
                }
                self.stop_worker(worker);
            }
            Action::PlanAnew => self.plan_anew(now),
            Action::WakeAt(at) => self.wake = Some(self.wake.map_or(at, |wake| wake.min(at))),
        }
    }

    /// The worker is reported as lost when its connection ends, like any other.
    fn stop_worker(&mut self, worker: WorkerId) {
        if let Some(ticket) = self.workers.dismiss(worker) {
            self.fleet.stop(ticket);
        }
    }

    fn grant(&mut self, grant: Grant) {
        let Grant { worker: id, lease, request, stage, attempt, hedge } = grant;
        let Some(worker) = self.workers.get(id) else { return };
        let Some(batch) = self.batches.get_mut(request.batch) else { return };
        let Some(entry) = batch.entry(request.seq) else { return };
        let mut message =
            grant_message(batch, entry, request, stage, lease.0, attempt, worker.architecture);
        let granted = now();
        message.traceparent = batch.traces.granted(request.seq, || StageAttempt {
            stage: message.stage.clone(),
            attempt,
            worker: id.0,
            granted,
            answer: None,
        });
        let tenant = batch.committed.row.tenant;
        let settings = self.tenants.get(tenant);
        let toolchains = settings.grants.toolchains.clone();
        message.toolchains = toolchains.map(|names| proto::Toolchains { names });
        if batch.committed.plugin.sends_requests {
            message.outbound = Some(self.tenants.outbound(tenant));
        }
        if hedge {
            let pool = worker.pool.to_string();
            metrics::counter!("assay_hedges_total", "pool" => pool).increment(1);
        }
        self.workers.grant(id, HeldLease { request, stage, granted, revoked: false }, message);
    }

    fn advance(
        &mut self,
        now: Micros,
        request: RequestId,
        time: StageTiming,
        payload: &mut Option<StageEnd>,
    ) {
        let Some(StageEnd::Next(artifact)) = payload.take() else { return };
        let Some(batch) = self.batches.get_mut(request.batch) else { return };
        let tenant = batch.committed.row.tenant;
        let stage_time = batch.stage_time(&time, &self.metrics);
        let Some(entry) = batch.entry_mut(request.seq) else { return };
        let stages = entry.stages_mut();
        stages.times.push(stage_time);
        stages.advanced += 1;
        let times = serde_json::to_string(&stages.times).expect("times are plain data");
        let artifact = Arc::new(artifact);
        let memory = self.batches.set_input(request, Arc::clone(&artifact));
        let row = ArtifactRow { seq: request.seq, stage: time.stage, artifact, times, at: now };
        let record = Record::Artifact(row);
        self.output(Output::Record(Recorded { tenant, batch: request.batch, record }, memory));
    }

    fn finish(&mut self, now: Micros, finish: Finish, payload: Option<StageEnd>) {
        let request = finish.request;
        let Some((batch, mut entry, permit)) = self.batches.end(request) else { return };
        // Its batch may have been cancelled before it could take the outcome.
        let given = entry.take_shared().filter(|_| !matches!(finish.end, FinalEnd::Error { .. }));
        let (outcome, shared_from) = match given {
            Some(known) => (known.outcome.clone(), Some(known.primary)),
            None => (batch.outcome(finish.end, payload), None),
        };
        let known = entry.content.filter(|_| shared_from.is_none()).map(|content| {
            let known = SharedOutcome {
                primary: request,
                outcome: outcome.clone(),
                earliest_end: finish.earliest_end,
            };
            (content, known)
        });
        batch.position += 1;
        batch.reward_sum += outcome.reward().unwrap_or(0.0);
        count(&mut batch.counts, outcome.kind());
        batch.counts.shared += u32::from(shared_from.is_some());
        batch.count_error(&outcome);
        self.metrics.count(&outcome, shared_from.is_some());
        let (kind, reward, verdict) =
            (outcome.kind(), outcome.reward(), outcome.verdict().to_owned());
        let trace = batch.traces.end(request.seq, || RequestEnd {
            at: now,
            kind,
            reward,
            verdict: verdict.clone(),
            shared_from,
        });
        let stages = entry.take_stages();
        let last = finish.stages.iter().skip(stages.advanced);
        let last = last.map(|time| batch.stage_time(time, &self.metrics));
        let item = ResultItem {
            cursor: batch.position,
            id: request,
            key: batch.key(request.seq).into(),
            group: entry
                .group
                .and_then(|group| batch.group_name(group))
                .map(|name| name.to_string()),
            outcome,
            stages: stages.times.into_iter().chain(last).collect(),
            shared_from,
            trace_id: trace.as_ref().map(|trace| trace.context.trace.to_string()),
        };
        batch.charge(&item.stages);
        batch.count(&item, entry.group, finish.earliest_end);
        let row = OutcomeRow {
            seq: request.seq,
            position: batch.position,
            kind,
            reward,
            verdict,
            earliest_end_at: finish.earliest_end,
            finished_at: now,
            shared: shared_from.is_some(),
            result: serde_json::to_vec(&item).expect("a result is plain data").into(),
        };
        let tenant = batch.committed.row.tenant;
        if let Some((content, known)) = known {
            let may_be_cached = !stages.read_storage && !self.single.is_unwritten(request.batch);
            let cached_bytes = may_be_cached.then_some(row.result.len());
            self.dedup.ended((tenant, content), known, cached_bytes);
        }
        let recorded = Recorded { tenant, batch: request.batch, record: Record::Outcome(row) };
        self.output(Output::Outcome(recorded, UntilCommit { permit, trace }));
    }

    fn batch_done(&mut self, done: BatchDone) {
        let id: BatchId = done.batch;
        let Some(batch) = self.batches.get_mut(id) else { return };
        let row = &batch.committed.row;
        let tolerance = row
            .max_extra_delay_ms
            .map_or(self.planning.config.tolerance, |ms| Micros::from_ms(ms.into()));
        let usage = batch.usage(|pool| self.planning.cost(pool));
        let expected = batch.expected_at_half(done.ended);
        let summary = batch.summary(&usage, expected);
        let profile = done.profile.as_deref().filter(|_| !batch.committed.is_single);
        let stages = &batch.committed.plugin.description.stages;
        let ended_at = recorded_end(&done);
        let moved = match done.ending {
            BatchEnding::Done => ended_at.since(done.ended),
            BatchEnding::Cancelled | BatchEnding::Expired => Micros(0),
        };
        let end = EndRow {
            state: match done.ending {
                BatchEnding::Done => BatchState::Done,
                BatchEnding::Cancelled => BatchState::Cancelled,
                BatchEnding::Expired => BatchState::Expired,
            },
            ended_at,
            // The delay between them stays.
            earliest_end_at: done.earliest_end.map(|earliest_end| earliest_end + moved),
            tolerance,
            counts: Counts { submitted: batch.acknowledged(), ..batch.counts },
            reward_sum: batch.reward_sum,
            usage,
            history: profile.map(|profile| Box::new(history::row(profile, stages))),
            summary: summary.map(Box::new),
        };
        if let Some(earliest_end) = done.earliest_end.filter(|_| !batch.committed.is_single) {
            let delay = done.ended.since(earliest_end).as_secs_f64();
            metrics::histogram!("assay_batch_extra_delay_seconds").record(delay);
            if let Some(expected) = expected.filter(|_| done.ending == BatchEnding::Done) {
                let error =
                    |said: Micros, was: Micros| Micros(said.0.abs_diff(was.0)).as_secs_f64();
                metrics::histogram!("assay_batch_forecast_error_seconds", "of" => "ideal_end")
                    .record(error(expected.earliest_end, earliest_end));
                metrics::histogram!("assay_batch_forecast_error_seconds", "of" => "end")
                    .record(error(expected.end, done.ended));
            }
        }
        let tenant = batch.committed.row.tenant;
        let notes =
            if batch.committed.is_single { Vec::new() } else { batch.incidents(&done, tolerance) };
        // A single request says nothing about the arrivals of a batch.
        if let Some(profile) = done.profile.filter(|_| !batch.committed.is_single) {
            self.planning.learn(profile);
        }
        let recorded = Recorded { tenant, batch: id, record: Record::End(end) };
        self.output(Output::Record(recorded, RowMemory::default()));
        if !notes.is_empty() {
            self.output(Output::Incidents { batch: id, notes });
        }
        self.forget(id);
    }
}

impl LiveBatch {
    /// The incidents of its end.
    fn incidents(&self, done: &BatchDone, tolerance: Micros) -> Vec<IncidentRow> {
        let row = &self.committed.row;
        let incident = |kind, code, count, detail| IncidentRow {
            at: now(),
            tenant: Some(row.tenant),
            kind,
            pool: None,
            batch: Some(row.id),
            run: Some(row.run.clone()),
            code,
            count,
            detail,
        };
        let cancelled = done.ending == BatchEnding::Cancelled;
        let errors = self.errors.iter().filter(|(code, _)| {
            // The client that cancelled the batch knows about these.
            !(cancelled && **code == ErrorCode::Cancelled)
        });
        let failed = errors.map(|(code, &count)| {
            let detail = format!("{count} of {} requests ended as {code}", self.size());
            incident(IncidentKind::RequestsFailed, Some(*code), count, detail)
        });
        let mut incidents: Vec<IncidentRow> = failed.collect();
        let delay = done.earliest_end.map_or(Micros::ZERO, |earliest| done.ended.since(earliest));
        if done.ending == BatchEnding::Done && delay > tolerance {
            let (delay, tolerance) = (delay.as_ms_f64(), tolerance.as_ms_f64());
            let detail = format!(
                "the batch ended {delay:.0} ms after its ideal end; the tolerance is {tolerance:.0} ms"
            );
            incidents.push(incident(IncidentKind::BatchLate, None, 1, detail));
        }
        incidents
    }

    fn stage_time(&self, time: &StageTiming, metrics: &RequestMetrics) -> StageTime {
        metrics.record_stage(time.ran);
        StageTime {
            stage: self.committed.stage_name(time.stage),
            queued_ms: time.queued.as_ms_f64(),
            ran_ms: time.ran.as_ms_f64(),
            attempts: time.attempts,
        }
    }

    fn outcome(&self, end: FinalEnd, payload: Option<StageEnd>) -> Outcome {
        match (end, payload) {
            (FinalEnd::Scored, Some(StageEnd::Scored(scored))) => Outcome::Scored(scored),
            (FinalEnd::Scored, _) => Outcome::Error {
                code: ErrorCode::BadOutcome,
                message: "the reward was lost on its way; this is a fault of the host".into(),
                retryable: true,
                attempts: 1,
            },
            (FinalEnd::TimedOut { stage }, _) => Outcome::TimedOut {
                stage: self.committed.stage_name(stage),
                reward: self.committed.plugin.description.timeout_reward,
            },
            (FinalEnd::Error { code, attempts }, payload) => {
                let message = match payload {
                    Some(StageEnd::Failed(error)) => error.message,
                    _ => own_message(code, attempts),
                };
                Outcome::Error { code, message, retryable: code.retryable(), attempts }
            }
        }
    }
}

/// The deadline that a killed worker has missed, in words.
fn missed(reason: KillReason) -> String {
    let seconds = limits::PLUGIN_LOAD_SECONDS_MAX;
    match reason {
        KillReason::Stage => "a stage ran past its deadline".into(),
        KillReason::Load => format!("a plugin was not fetched and loaded within {seconds} s"),
    }
}

/// The message for an error that no worker reported.
fn own_message(code: ErrorCode, attempts: u32) -> String {
    match code {
        ErrorCode::WorkerLost => format!("its worker died {attempts} times while running it"),
        ErrorCode::LeaseExpired => {
            format!("it ran past its deadline {attempts} times and its worker was killed")
        }
        ErrorCode::PluginUnloadable => format!(
            "its worker did not fetch and load the plugin within {} s, {attempts} times, and was killed",
            limits::PLUGIN_LOAD_SECONDS_MAX
        ),
        ErrorCode::Cancelled => "the batch ended before the request did".into(),
        ErrorCode::BadOutcome => "the last stage ended in `next`".into(),
        _ => format!("it failed {attempts} times"),
    }
}

fn grant_message(
    batch: &LiveBatch,
    entry: &Entry,
    request: RequestId,
    stage: usize,
    lease: u64,
    attempt: u32,
    architecture: Architecture,
) -> proto::Grant {
    let plugin = &batch.committed.plugin;
    let stages = &plugin.description.stages;
    let description = &stages[stage];
    proto::Grant {
        lease,
        plugin_digest: bytes::Bytes::copy_from_slice(&plugin.digest.0),
        compiled_digest: bytes::Bytes::copy_from_slice(&plugin.compiled_for(architecture).0),
        stage: description.name.clone(),
        timeout_us: u64::from(description.timeout_ms) * 1_000,
        memory_bytes_max: description.memory_bytes_max,
        settings: batch.committed.row.settings.clone(),
        request_id: batch.replays.unwrap_or(request).to_string(),
        group: entry
            .group
            .and_then(|group| batch.group_name(group))
            .map(Arc::as_ref)
            .map(str::to_owned),
        attempt,
        seed: batch.replays.unwrap_or(request).seed(),
        body: entry.body.clone(),
        input: entry.input().map(|artifact| proto::Artifact {
            content_type: artifact.content_type.clone(),
            bytes: artifact.bytes.clone().into(),
        }),
        last: stage + 1 == stages.len(),
        tenant_id: bytes::Bytes::copy_from_slice(batch.committed.row.tenant.0.as_bytes()),
        toolchains: None,
        outbound: None,
        traceparent: None,
    }
}

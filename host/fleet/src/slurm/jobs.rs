//! The jobs of the launcher `slurm`: a state machine without clock, tasks or commands.
//!
//! ```text
//!                sbatch answers          squeue: running
//!   Submitting ────────────────> Waiting ───────────────> Running
//!       │ sbatch fails              │ squeue: ended, or missing twice │
//!       v                           v                                 v
//!     gone                        gone                              gone
//! ```
//!
//! A job is gone only if Slurm answers so: while `squeue` cannot be asked, all jobs stay. A job that is to end is
//! cancelled again with each answer of `squeue` in which it is still there. One that does not go is told of as ended
//! after a while, because nobody waits for it, and cancelled further.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::TicketId;
use assay_core::limits;
use assay_core::time::Micros;

use super::answers::{JobId, JobState, Listed, ended, waits};
use crate::launcher::{Start, Stop, WorkerEnd, WorkerEvent};

/// The time for which a worker may leave politely.
const LEAVE_MAX: Micros = Micros::from_secs(limits::WORKER_STOP_SECONDS_MAX);
/// The time after which a job that is to end is told of as ended.
const STOP_MAX: Micros = Micros::from_secs(limits::SLURM_STOP_SECONDS_MAX);
/// The time after a change for which jobs are looked at often.
const RECENT: Micros = Micros::from_secs(limits::SLURM_RECENT_SECONDS);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobPhase {
    Submitting,
    Waiting,
    Running,
}

struct Job {
    pool: Arc<str>,
    id: Option<JobId>,
    phase: JobPhase,
    changed_at: Micros,
    /// The strongest call so far to end it, and the time of the first.
    stop: Option<(Stop, Micros)>,
    /// Whether its end was reported.
    told: bool,
    /// The number of the last poll that may have begun before Slurm had the job.
    unseen_until: u64,
    /// The number of answers in a row that lacked it.
    missing: u32,
    /// The last reason to wait that was told.
    waits: String,
}

/// The actions after a change, in this order.
#[derive(Debug, Clone)]
pub(super) enum JobEffect {
    Submit(Start),
    Cancel(JobId, Cancel),
    Tell(WorkerEvent),
}

/// The ways to cancel a job, the weaker first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cancel {
    /// SIGTERM to the worker alone: it says that it leaves and ends when it is let go.
    Ask,
    /// Ends the job.
    End,
}

#[derive(Default)]
pub(super) struct Jobs {
    jobs: BTreeMap<TicketId, Job>,
    /// The number of the last poll that began.
    polls: u64,
    /// The polls in a row that failed.
    failures: u32,
}

impl Jobs {
    pub(super) fn start(&mut self, now: Micros, starts: Vec<Start>) -> Vec<JobEffect> {
        let submit = |start: Start| {
            let job = Job::new(Arc::clone(&start.pool), None, JobPhase::Submitting, now);
            self.jobs.insert(start.ticket.id, job);
            JobEffect::Submit(start)
        };
        starts.into_iter().map(submit).collect()
    }

    /// `sbatch` answered, or failed for a reason.
    pub(super) fn submitted(
        &mut self,
        now: Micros,
        ticket: TicketId,
        answer: Result<JobId, String>,
    ) -> Vec<JobEffect> {
        let polls = self.polls;
        let Some(job) = self.jobs.get_mut(&ticket) else {
            // It was told of as ended meanwhile.
            return answer.map(|id| JobEffect::Cancel(id, Cancel::End)).into_iter().collect();
        };
        match answer {
            Ok(id) => {
                job.id = Some(id);
                job.unseen_until = polls;
                job.changed_at = now;
                if job.phase == JobPhase::Submitting {
                    job.phase = JobPhase::Waiting;
                }
                let stopped = job.stop.is_some();
                stopped.then_some(JobEffect::Cancel(id, Cancel::End)).into_iter().collect()
            }
            Err(why) => {
                let mut effects = Vec::new();
                self.end(ticket, |_| WorkerEnd::NotStarted(why), &mut effects);
                effects
            }
        }
    }

    pub(super) fn stop(&mut self, now: Micros, ticket: TicketId, how: Stop) -> Vec<JobEffect> {
        let Some(job) = self.jobs.get_mut(&ticket) else { return Vec::new() };
        let since = job.stop.map_or(now, |(_, since)| since);
        let raised = job.stop.is_none_or(|(before, _)| how > before);
        if !raised {
            return Vec::new();
        }
        job.stop = Some((how, since));
        job.changed_at = now;
        job.cancel(now).into_iter().collect()
    }

    /// The number of a poll that begins now.
    pub(super) fn poll(&mut self) -> u64 {
        self.polls += 1;
        self.polls
    }

    /// The number of the last poll that began.
    pub(super) fn last_poll(&self) -> u64 {
        self.polls
    }

    /// `squeue` answered the poll of this number.
    pub(super) fn polled(&mut self, now: Micros, poll: u64, listing: &[Listed]) -> Vec<JobEffect> {
        self.failures = 0;
        let mut effects = Vec::new();
        let mut seen: BTreeMap<TicketId, &Listed> = BTreeMap::new();
        for listed in listing {
            let ours = self.jobs.get(&listed.ticket).and_then(|job| job.id);
            if ours.is_none_or(|id| id == listed.id) {
                seen.insert(listed.ticket, listed);
            }
        }
        for (&ticket, &listed) in &seen {
            self.listed(now, ticket, listed, &mut effects);
        }
        let lacks = |job: &Job| job.id.is_some() && job.unseen_until < poll;
        let missing: Vec<TicketId> = self
            .jobs
            .iter_mut()
            .filter(|(ticket, job)| !seen.contains_key(ticket) && lacks(job))
            .filter_map(|(ticket, job)| {
                job.missing += 1;
                (job.missing >= limits::SLURM_MISSING_ANSWERS).then_some(*ticket)
            })
            .collect();
        for ticket in missing {
            let how = |job: &Job| match job.stop {
                Some(_) => WorkerEnd::Finished("its job is gone".into()),
                None => WorkerEnd::Lost,
            };
            self.end(ticket, how, &mut effects);
        }
        self.give_up(now, &mut effects);
        effects
    }

    /// `squeue` cannot be asked, for this reason: no job is counted as gone.
    pub(super) fn poll_failed(&mut self, now: Micros, why: &str) -> Vec<JobEffect> {
        self.failures = self.failures.saturating_add(1);
        let mut effects = Vec::new();
        for (&ticket, job) in &mut self.jobs {
            if job.phase == JobPhase::Waiting {
                let why = format!("Slurm cannot be asked: {why}");
                effects.extend(job.tell_waiting(ticket, why));
            }
        }
        self.give_up(now, &mut effects);
        effects
    }

    /// The workers that exist, or may, with their pools.
    pub(super) fn workers(&self) -> Vec<(TicketId, Arc<str>)> {
        self.jobs.iter().map(|(ticket, job)| (*ticket, Arc::clone(&job.pool))).collect()
    }

    /// Ends the jobs that have not started: after a restart nobody knows the ticket with which such a job would join.
    pub(super) fn end_queued(&mut self, now: Micros) -> Vec<JobEffect> {
        let queued = self.jobs.iter().filter(|(_, job)| job.phase != JobPhase::Running);
        let queued: Vec<TicketId> = queued.map(|(ticket, _)| *ticket).collect();
        queued.into_iter().flat_map(|ticket| self.stop(now, ticket, Stop::Kill)).collect()
    }

    /// The workers whose jobs run.
    pub(super) fn running(&self) -> Vec<(TicketId, Arc<str>)> {
        let running = self.jobs.iter().filter(|(_, job)| job.phase == JobPhase::Running);
        running.map(|(ticket, job)| (*ticket, Arc::clone(&job.pool))).collect()
    }

    /// The pause before the next poll.
    pub(super) fn pause(&self, now: Micros) -> Micros {
        let (least, most) = (limits::SLURM_POLL_SECONDS_MIN, limits::SLURM_POLL_SECONDS_MAX);
        let recent = self.jobs.values().any(|job| {
            job.stop.is_some()
                || now.since(job.changed_at) < RECENT && job.phase != JobPhase::Submitting
        });
        let pause = if recent { least << self.failures.min(8) } else { most };
        Micros::from_secs(pause.min(most))
    }

    fn listed(&mut self, now: Micros, ticket: TicketId, listed: &Listed, out: &mut Vec<JobEffect>) {
        if let JobState::Ended(state) = &listed.state {
            let how = |job: &Job| {
                let words = ended(listed, state);
                match (job.stop, state.as_str()) {
                    (Some(_), _) | (None, "COMPLETED") => WorkerEnd::Finished(words),
                    (None, _) => WorkerEnd::Failed(words),
                }
            };
            return self.end(ticket, how, out);
        }
        let phase = match listed.state {
            JobState::Waiting => JobPhase::Waiting,
            _ => JobPhase::Running,
        };
        // A job that no start of this server is known of belongs to a server before it, or its sbatch broke off.
        let new = || Job::new(Arc::clone(&listed.pool), Some(listed.id), phase, now);
        let job = self.jobs.entry(ticket).or_insert_with(new);
        job.id = Some(listed.id);
        job.missing = 0;
        match (job.phase, &listed.state) {
            (_, JobState::Waiting) => {
                job.set(JobPhase::Waiting, now);
                out.extend(job.tell_waiting(ticket, waits(listed)));
            }
            (JobPhase::Submitting | JobPhase::Waiting, JobState::Running) => {
                job.set(JobPhase::Running, now);
                out.push(JobEffect::Tell(WorkerEvent::Placed { ticket, pid: None }));
            }
            _ => {}
        }
        out.extend(job.cancel(now));
    }

    /// Forgets a job that is gone.
    fn end(
        &mut self,
        ticket: TicketId,
        how: impl FnOnce(&Job) -> WorkerEnd,
        out: &mut Vec<JobEffect>,
    ) {
        if let Some(job) = self.jobs.remove(&ticket) {
            let how = how(&job);
            out.extend((!job.told).then_some(JobEffect::Tell(WorkerEvent::Ended { ticket, how })));
        }
    }

    /// Tells the end of jobs that were to end long ago; they are cancelled further.
    fn give_up(&mut self, now: Micros, out: &mut Vec<JobEffect>) {
        for (&ticket, job) in &mut self.jobs {
            let late = job.stop.is_some_and(|(_, since)| now.since(since) >= STOP_MAX);
            if late && !job.told {
                job.told = true;
                let why = "it was cancelled, which Slurm has not confirmed yet";
                let how = WorkerEnd::Finished(why.into());
                out.push(JobEffect::Tell(WorkerEvent::Ended { ticket, how }));
            }
        }
    }
}

impl Job {
    fn new(pool: Arc<str>, id: Option<JobId>, phase: JobPhase, now: Micros) -> Self {
        Self {
            pool,
            id,
            phase,
            changed_at: now,
            stop: None,
            told: false,
            unseen_until: 0,
            missing: 0,
            waits: String::new(),
        }
    }

    fn set(&mut self, phase: JobPhase, now: Micros) {
        if self.phase != phase {
            self.phase = phase;
            self.changed_at = now;
        }
    }

    /// How it must be cancelled now, if it must.
    fn cancel(&self, now: Micros) -> Option<JobEffect> {
        let ((how, since), id) = self.stop.zip(self.id)?;
        let polite =
            how == Stop::Leave && self.phase == JobPhase::Running && now.since(since) < LEAVE_MAX;
        Some(JobEffect::Cancel(id, if polite { Cancel::Ask } else { Cancel::End }))
    }

    fn tell_waiting(&mut self, ticket: TicketId, why: String) -> Option<JobEffect> {
        if self.told || self.waits == why {
            return None;
        }
        self.waits.clone_from(&why);
        Some(JobEffect::Tell(WorkerEvent::Waiting { ticket, why }))
    }
}

#[cfg(test)]
mod tests;

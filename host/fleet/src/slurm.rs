//! The launcher `slurm`: each worker is a job of Slurm that joins the server by TLS with its ticket.
//!
//! One task owns the jobs ([`jobs`]); it runs `sbatch`, `squeue` and `scancel` in tasks of their own and takes their
//! answers in. Jobs are known by their names, which hold the ticket, so that a server finds those of the server before
//! it. Neither accounting (`sacct`) nor JSON is needed: few sites have the one, and the other differs by version.

mod answers;
mod commands;
mod jobs;
mod settings;
mod turns;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use assay_core::id::TicketId;
use assay_core::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::launcher::{
    Events, Finding, Launcher, Reconciling, Start, Stop, WorkerEnd, WorkerEvent,
};
use answers::{JobId, listing, plain};
use assay_clock::now;
use jobs::{Cancel, JobEffect, Jobs};
use turns::Turns;

pub use commands::ask_slurm;
pub use settings::{SlurmFile, SlurmPool, SlurmSettings};

/// The time for reading what a job printed, which may be on a file system of the network.
const LOG_MAX: Duration = Duration::from_secs(limits::SLURM_LOG_SECONDS_MAX);

/// The reason of a command that has no result because of a fault of the server.
const BROKEN: &str = "the server failed to run a command of Slurm; its log says why";

/// Starts and stops workers as jobs of Slurm; they end with the fleet's orders, not with this.
pub struct SlurmLauncher {
    calls: mpsc::UnboundedSender<Call>,
    /// The times for a worker's start, by pool.
    start_max: BTreeMap<Arc<str>, Duration>,
}

enum Call {
    Start(Vec<Start>),
    Stop(TicketId, Stop),
    /// All workers that exist, or may.
    List(Answer),
    /// The workers of the server before this one that run; its other jobs are ended.
    Find(Answer),
}

type Answer = oneshot::Sender<anyhow::Result<Vec<(TicketId, Arc<str>)>>>;

/// The answer of a command.
enum CommandResult {
    Submitted(TicketId, Result<JobId, String>),
    Polled(u64, Result<String, String>),
    Other,
}

impl SlurmLauncher {
    /// Must be called on a runtime.
    #[must_use]
    pub fn new(settings: SlurmSettings, events: Events) -> Self {
        let (calls, incoming) = mpsc::unbounded_channel();
        let start_max = settings
            .pools
            .iter()
            .map(|(name, pool)| (Arc::clone(name), Duration::from_secs(pool.start_seconds.into())));
        let start_max = start_max.collect();
        tokio::spawn(Owner::new(settings, events).run(incoming));
        Self { calls, start_max }
    }

    fn ask(&self, call: fn(Answer) -> Call) -> Finding<'_> {
        let (answer, answered) = oneshot::channel();
        self.call(call(answer));
        Box::pin(async { answered.await.map_err(|_| anyhow!("the launcher has ended"))? })
    }

    fn call(&self, call: Call) {
        // The task ends with this alone.
        let _ = self.calls.send(call);
    }
}

impl Launcher for SlurmLauncher {
    fn name(&self) -> &'static str {
        "slurm"
    }

    fn start(&self, starts: Vec<Start>) {
        self.call(Call::Start(starts));
    }

    fn stop(&self, ticket: TicketId, how: Stop) {
        self.call(Call::Stop(ticket, how));
    }

    fn reconcile(&self) -> Reconciling<'_> {
        let listing = self.ask(Call::List);
        Box::pin(async { Ok(listing.await?.into_iter().map(|(ticket, _)| ticket).collect()) })
    }

    fn find(&self) -> Finding<'_> {
        self.ask(Call::Find)
    }

    fn start_max(&self, pool: &str) -> Duration {
        self.start_max[pool]
    }

    fn joins_by_tls(&self) -> bool {
        true
    }
}

/// The owner of the jobs.
struct Owner {
    settings: Arc<SlurmSettings>,
    events: Events,
    jobs: Jobs,
    commands: JoinSet<CommandResult>,
    turns: Turns,
    submits: Arc<Semaphore>,
    cancels: Arc<Semaphore>,
    /// The number of the poll under way.
    polling: Option<u64>,
    next_poll: Instant,
    /// Calls for a list, each with the first poll that began after it.
    listings: Vec<(u64, Call)>,
}

impl Owner {
    fn new(settings: SlurmSettings, events: Events) -> Self {
        Self {
            settings: Arc::new(settings),
            events,
            jobs: Jobs::default(),
            commands: JoinSet::new(),
            turns: Turns::default(),
            submits: Arc::new(Semaphore::new(limits::SLURM_SUBMITS_MAX)),
            cancels: Arc::new(Semaphore::new(1)),
            polling: None,
            next_poll: Instant::now(),
            listings: Vec::new(),
        }
    }

    async fn run(mut self, mut calls: mpsc::UnboundedReceiver<Call>) {
        loop {
            tokio::select! {
                call = calls.recv() => match call {
                    Some(call) => self.called(call),
                    None => return,
                },
                Some(done) = self.commands.join_next() => match done {
                    Ok(done) => self.done(done),
                    // Submissions and polls have a result all the same. A job is cancelled again after the next poll.
                    Err(error) => tracing::error!("a command of Slurm was not run: {error}"),
                },
                () = sleep_until(self.next_poll), if self.polling.is_none() => self.poll(),
            }
            self.run_next();
        }
    }

    fn called(&mut self, call: Call) {
        let effects = match call {
            Call::Start(starts) => self.jobs.start(now(), starts),
            Call::Stop(ticket, _) if self.turns.give_up(ticket) => {
                let why = "it was given up before it was submitted";
                self.jobs.submitted(now(), ticket, Err(why.into()))
            }
            Call::Stop(ticket, how) => self.jobs.stop(now(), ticket, how),
            call @ (Call::List(_) | Call::Find(_)) => {
                // A poll that is under way may have begun too early.
                self.listings.push((self.jobs.last_poll() + 1, call));
                self.next_poll = Instant::now();
                Vec::new()
            }
        };
        self.carry_out(effects);
    }

    fn done(&mut self, done: CommandResult) {
        match done {
            CommandResult::Submitted(ticket, answer) => {
                let effects = self.jobs.submitted(now(), ticket, answer);
                self.carry_out(effects);
                self.poll_in_time();
            }
            CommandResult::Polled(poll, answer) => self.polled(poll, answer),
            CommandResult::Other => {}
        }
    }

    fn poll(&mut self) {
        let poll = self.jobs.poll();
        self.polling = Some(poll);
        let asking = async move { CommandResult::Polled(poll, commands::squeue().await) };
        self.commands.spawn(result_of(asking, CommandResult::Polled(poll, Err(BROKEN.into()))));
    }

    fn polled(&mut self, poll: u64, answer: Result<String, String>) {
        self.polling = None;
        let effects = match &answer {
            Ok(printed) => {
                let listing = listing(&self.settings.cluster, printed);
                self.jobs.polled(now(), poll, &listing)
            }
            Err(why) => {
                tracing::warn!("Slurm cannot be asked for its jobs: {why}");
                self.jobs.poll_failed(now(), why)
            }
        };
        self.carry_out(effects);
        let (due, later) = self.listings.drain(..).partition(|(first, _)| *first <= poll);
        self.listings = later;
        for (_, call) in Vec::<(u64, Call)>::from_iter(due) {
            let (listed, listing) = match call {
                Call::List(listing) => (self.jobs.workers(), listing),
                Call::Find(found) => {
                    let effects = self.jobs.end_queued(now());
                    self.carry_out(effects);
                    (self.jobs.running(), found)
                }
                Call::Start(_) | Call::Stop(..) => continue,
            };
            let list = answer.as_ref().map(|_| listed).map_err(|why| anyhow!("{why}"));
            // The caller may have gone.
            let _ = listing.send(list);
        }
        self.next_poll = Instant::now();
        if self.listings.is_empty() {
            self.next_poll += Duration::from(self.jobs.pause(now()));
        }
    }

    /// Brings the next poll forward where something changed.
    fn poll_in_time(&mut self) {
        let pause = Duration::from(self.jobs.pause(now()));
        self.next_poll = self.next_poll.min(Instant::now() + pause);
    }

    fn carry_out(&mut self, effects: Vec<JobEffect>) {
        for effect in effects {
            match effect {
                JobEffect::Submit(start) => self.turns.submit(start),
                JobEffect::Cancel(id, how) => {
                    self.poll_in_time();
                    self.turns.cancel(id, how);
                }
                JobEffect::Tell(event) => self.tell(event),
            }
        }
    }

    /// Runs the commands whose turn it is.
    fn run_next(&mut self) {
        while let Ok(turn) = Arc::clone(&self.submits).try_acquire_owned()
            && let Some(start) = self.turns.next_submit()
        {
            self.submit(start, turn);
        }
        while let Ok(turn) = Arc::clone(&self.cancels).try_acquire_owned()
            && let Some((ids, how)) = self.turns.next_cancel()
        {
            self.cancel(ids, how, turn);
        }
    }

    fn submit(&mut self, start: Start, turn: OwnedSemaphorePermit) {
        let settings = Arc::clone(&self.settings);
        let ticket = start.ticket.id;
        let submitting = async move {
            let _turn = turn;
            let job = settings.sbatch_options(&start).zip(settings.script(&start));
            let submitted = match job {
                Some((options, script)) => commands::sbatch(&options, &script).await,
                None => Err(format!("the pool {} has no settings for Slurm", start.pool)),
            };
            CommandResult::Submitted(ticket, submitted)
        };
        let broken = CommandResult::Submitted(ticket, Err(BROKEN.into()));
        self.commands.spawn(result_of(submitting, broken));
    }

    fn cancel(&mut self, ids: Vec<JobId>, how: Cancel, turn: OwnedSemaphorePermit) {
        self.commands.spawn(async move {
            let _turn = turn;
            if let Err(error) = commands::scancel(&ids, how).await {
                // They are cancelled again after the next answer of squeue.
                tracing::warn!("Slurm's jobs {ids:?} are not all cancelled: {error}");
            }
            CommandResult::Other
        });
    }

    /// Tells the fleet; the end of a worker together with what its job printed.
    fn tell(&mut self, event: WorkerEvent) {
        let (ticket, how) = match event {
            WorkerEvent::Ended { ticket, how } => (ticket, how),
            event => return self.events.send(event),
        };
        let Some(log) = self.settings.log(ticket) else {
            return self.events.send(WorkerEvent::Ended { ticket, how });
        };
        let events = self.events.clone();
        self.commands.spawn(async move {
            let how = with_log(log, how).await;
            events.send(WorkerEvent::Ended { ticket, how });
            CommandResult::Other
        });
    }
}

/// Runs a command in a task within this one; if it panics, `broken` is its result.
async fn result_of(
    command: impl Future<Output = CommandResult> + Send + 'static,
    broken: CommandResult,
) -> CommandResult {
    let mut running = JoinSet::new();
    running.spawn(command);
    let ended = running.join_next().await.expect("it was spawned");
    ended.unwrap_or_else(|error| {
        tracing::error!("a command of Slurm was not run: {error}");
        broken
    })
}

/// The end of a worker with the last lines that its job printed. The file of one that ended as asked is deleted.
async fn with_log(log: PathBuf, how: WorkerEnd) -> WorkerEnd {
    let asked = matches!(how, WorkerEnd::Finished(_));
    let reading = tokio::task::spawn_blocking(move || {
        if asked {
            // Nobody reads it; one that stays is an operator's to delete.
            let _ = std::fs::remove_file(&log);
            return None;
        }
        last_lines(&log)
    });
    let lines = timeout(LOG_MAX, reading).await.ok().and_then(Result::ok).flatten();
    match (how, lines) {
        (WorkerEnd::Failed(why), Some(lines)) => {
            WorkerEnd::Failed(format!("{why}; it printed: {lines}"))
        }
        (how, _) => how,
    }
}

fn last_lines(log: &Path) -> Option<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = std::fs::File::open(log).ok()?;
    let bytes = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(limits::SLURM_LOG_BYTES_MAX))).ok()?;
    let mut text = Vec::new();
    file.take(limits::SLURM_LOG_BYTES_MAX).read_to_end(&mut text).ok()?;
    let text = plain(&String::from_utf8_lossy(&text));
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn panics() -> CommandResult {
        panic!("on purpose")
    }

    #[tokio::test]
    async fn a_command_that_panics_has_a_result() {
        let ticket = TicketId::generate();
        let broken = CommandResult::Submitted(ticket, Err(BROKEN.into()));
        let result = result_of(panics(), broken).await;
        let CommandResult::Submitted(answered, Err(why)) = result else { panic!("it was not run") };
        assert_eq!((answered, why.as_str()), (ticket, BROKEN));
        let runs = async { CommandResult::Submitted(TicketId::generate(), Ok(7)) };
        let result = result_of(runs, CommandResult::Other).await;
        assert!(matches!(result, CommandResult::Submitted(_, Ok(7))));
    }
}

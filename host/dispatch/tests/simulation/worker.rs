//! Workers and their links: they start late or never, die, hang, answer twice, and lose their connections.

use std::collections::{BTreeMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex};

use assay_clock::{now, sleep_until};
use assay_core::architecture::Architecture;
use assay_core::id::{TicketId, WorkerId};
use assay_core::outcome::{ErrorCode, StageEnd, StageError};
use assay_core::time::Micros;
use assay_dispatch::{Dispatch, Joining, LastContact};
use assay_fleet::{Events, Launcher, Reconciling, Start, Stop, WorkerEnd, WorkerEvent};
use assay_wire::proto;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use crate::truth::{answer, lie};
use crate::world::{Live, Mutation, World, below, one_in, pause};

type Stops = Arc<Mutex<BTreeMap<TicketId, watch::Sender<Option<Stop>>>>>;

/// Runs workers as tasks; they belong to one life of the server, as its child processes do.
pub struct SimulatedLauncher {
    world: Arc<World>,
    life: u64,
    events: Events,
    stops: Stops,
}

impl SimulatedLauncher {
    pub fn new(world: Arc<World>, life: u64, events: Events) -> Self {
        Self { world, life, events, stops: Stops::default() }
    }

    async fn run_one(
        world: &Arc<World>,
        life: u64,
        events: &Events,
        start: Start,
        mut stopped: watch::Receiver<Option<Stop>>,
    ) -> WorkerEnd {
        let ticket = start.ticket.id;
        pause(200_000).await;
        if world.strikes(world.faults.worker_starts_badly) {
            events.send(WorkerEvent::Waiting { ticket, why: "no machine is free".into() });
            pause(20_000_000).await;
        }
        if world.strikes(world.faults.worker_starts_badly) {
            return WorkerEnd::NotStarted("no place".into());
        }
        events.send(WorkerEvent::Placed { ticket, pid: None });
        let stop = async {
            let stop = stopped.wait_for(Option::is_some).await;
            stop.ok().and_then(|stop| *stop).unwrap_or(Stop::Kill)
        };
        let mut stop = pin!(stop);
        if world.strikes(world.faults.worker_starts_badly / 2) {
            // It never joins.
            tokio::select! { biased; _ = stop => {}, () = world.ended(life) => {} }
            return WorkerEnd::Failed("it did not join".into());
        }
        let joining = async {
            pause(300_000).await;
            world.server_of(life).await
        };
        let live = tokio::select! { biased; _ = &mut stop => None, live = joining => live };
        let Some(live) = live else { return WorkerEnd::Finished("stopped".into()) };
        if live.fleet.admit(&start.ticket.text(), &start.pool).is_err() {
            return WorkerEnd::Failed("it is not admitted".into());
        }
        let leases_max = 1 + below(4) as usize;
        let heard = LastContact::default();
        let (pool, architecture) = (start.pool, Architecture::X86_64);
        let joining = Joining { ticket, pool, architecture, leases_max, heard, came: false };
        let mut worker = Worker::default();
        worker.serve(world, &live, joining, stop).await;
        WorkerEnd::Finished("it ended".into())
    }
}

impl Launcher for SimulatedLauncher {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn start(&self, starts: Vec<Start>) {
        for start in starts {
            let (stop, stopped) = watch::channel(None);
            let ticket = start.ticket.id;
            self.stops.lock().expect("no panics").insert(ticket, stop);
            let (world, life) = (Arc::clone(&self.world), self.life);
            let (events, stops) = (self.events.clone(), Arc::clone(&self.stops));
            tokio::spawn(async move {
                let how = Self::run_one(&world, life, &events, start, stopped).await;
                stops.lock().expect("no panics").remove(&ticket);
                pause(10_000).await;
                events.send(WorkerEvent::Ended { ticket, how });
            });
        }
    }

    fn stop(&self, ticket: TicketId, how: Stop) {
        if let Some(stop) = self.stops.lock().expect("no panics").get(&ticket) {
            stop.send_modify(|stop| *stop = Some(how).max(*stop));
        }
    }

    fn reconcile(&self) -> Reconciling<'_> {
        let here = self.stops.lock().expect("no panics").keys().copied().collect();
        Box::pin(std::future::ready(Ok(here)))
    }
}

/// A worker of another machine: it comes by itself, to one life of the server after the other.
pub async fn remote(world: Arc<World>, number: u128, pool: &'static str) {
    let ticket = TicketId(Uuid::from_u128(number));
    let pool: Arc<str> = pool.into();
    let mut worker = Worker::default();
    loop {
        let live = world.server().await;
        pause(2_000_000).await;
        let Ok(mut visit) = live.fleet.came(ticket, &pool) else { continue };
        let heard = LastContact::default();
        let (pool, architecture, came) = (Arc::clone(&pool), Architecture::X86_64, visit.came());
        let joining = Joining { ticket, pool, architecture, leases_max: 2, heard, came };
        worker.serve(&world, &live, joining, visit.stopped(Stop::Leave)).await;
    }
}

/// What a link carries to the server.
enum LinkMessage {
    Finished(Vec<proto::Finished>),
    Loads(Vec<proto::Load>),
    Started(Vec<u64>),
}

#[derive(Default)]
struct Worker {
    /// Answers that it could not give before its connection ended; it gives them by the next one.
    unsaid: Vec<proto::Finished>,
}

/// What a worker does with a lease.
enum Run {
    Ends(StageEnd),
    EndsTwice(StageEnd, StageEnd),
    SaysNonsense,
    Dies,
    Hangs,
}

impl Run {
    fn choose(world: &World, grant: &proto::Grant) -> Self {
        let faults = &world.faults;
        let truth = answer(grant).unwrap_or_else(|wrong| {
            world.fail(wrong);
            StageEnd::TimedOut
        });
        if world.strikes(faults.worker_dies) {
            Self::Dies
        } else if world.strikes(faults.worker_hangs) {
            Self::Hangs
        } else if world.strikes(faults.worker_talks_nonsense) {
            Self::SaysNonsense
        } else if world.strikes(faults.worker_fails) {
            let codes = [ErrorCode::Unavailable, ErrorCode::LeaseExpired, ErrorCode::WorkerLost];
            let code = codes[below(3) as usize];
            Self::Ends(StageEnd::Failed(StageError { code, message: "a fault".into() }))
        } else if world.strikes(faults.worker_answers_twice) {
            Self::EndsTwice(truth, lie(grant))
        } else {
            Self::Ends(truth)
        }
    }
}

struct Running {
    grant: proto::Grant,
    run: Run,
    due: Micros,
}

impl Worker {
    /// Serves one connection, until it or the worker ends.
    async fn serve(
        &mut self,
        world: &Arc<World>,
        live: &Live,
        joining: Joining,
        stop: impl Future<Output = Stop>,
    ) {
        let mut stop = pin!(stop);
        let (link, mut messages) = mpsc::unbounded_channel();
        let Ok(worker) = live.dispatch.worker_joined(joining, link).await else { return };
        let (say, heard) = mpsc::unbounded_channel();
        tokio::spawn(read(Arc::clone(world), live.dispatch.clone(), worker, heard));
        world.say(|| format!("worker {} joined", worker.0));
        if !self.unsaid.is_empty() {
            let _ = say.send(LinkMessage::Finished(std::mem::take(&mut self.unsaid)));
        }
        let mut queue: VecDeque<proto::Grant> = VecDeque::new();
        let mut running: Option<Running> = None;
        loop {
            if running.is_none()
                && let Some(grant) = queue.pop_front()
            {
                world.check_grant(&grant);
                if one_in(8) {
                    let load = |ended| proto::Load { lease: grant.lease, ended };
                    let _ = say.send(LinkMessage::Loads(vec![load(false)]));
                    pause(20_000).await;
                    let _ = say.send(LinkMessage::Loads(vec![load(true)]));
                }
                let run = Run::choose(world, &grant);
                let span = if one_in(8) { 400_000 } else { 10_000 };
                running = Some(Running { grant, run, due: now() + Micros(100 + below(span)) });
            }
            let due = running.as_ref().filter(|it| !matches!(it.run, Run::Hangs)).map(|it| it.due);
            tokio::select! {
                biased;
                how = &mut stop => {
                    world.say(|| format!("worker {} is stopped: {how:?}", worker.0));
                    break;
                }
                () = say.closed() => break,
                message = messages.recv() => {
                    let Some(proto::ToWorker { grants, revoked, .. }) = message else { break };
                    queue.extend(grants);
                    if !world.strikes(world.faults.worker_ignores_revocations) {
                        queue.retain(|grant| !revoked.contains(&grant.lease));
                        let started = running.as_ref().map(|running| running.grant.lease);
                        if let Some(lease) = started.filter(|lease| revoked.contains(lease)) {
                            let _ = say.send(LinkMessage::Started(vec![lease]));
                        }
                    }
                }
                () = sleep_until(due.unwrap_or(Micros::MAX)), if due.is_some() => {
                    let Some(Running { grant, run, .. }) = running.take() else { continue };
                    let ends = match run {
                        Run::Ends(end) => vec![Some(end)],
                        Run::EndsTwice(end, lie) => vec![Some(end), Some(lie)],
                        Run::SaysNonsense => vec![None],
                        Run::Dies | Run::Hangs => break,
                    };
                    for end in ends {
                        let mut finished = finished(&grant, end);
                        if let Some(other) = queue.front()
                            && world.mutates(Mutation::AnswerConfused)
                        {
                            finished.lease = other.lease;
                        }
                        let _ = say.send(LinkMessage::Finished(vec![finished]));
                    }
                }
            }
        }
        // Where it lives on, it tries to give this answer later.
        if let Some(Running { grant, run: Run::Ends(end), .. }) = running {
            self.unsaid.push(finished(&grant, Some(end)));
        }
        world.say(|| format!("worker {} is gone", worker.0));
    }
}

fn finished(grant: &proto::Grant, end: Option<StageEnd>) -> proto::Finished {
    let logs = match one_in(8) {
        true => vec![proto::LogLine { level: "info".into(), message: "a line".into() }],
        false => Vec::new(),
    };
    let lease = grant.lease;
    match end {
        Some(end) => assay_wire::finished(lease, 50, end, logs),
        None => proto::Finished { lease, ran_us: u64::MAX, end: None, logs, calls: Vec::new() },
    }
}

/// The server's end of a link: messages come late, and after it was cut none comes.
async fn read(
    world: Arc<World>,
    dispatch: Dispatch,
    worker: WorkerId,
    mut heard: mpsc::UnboundedReceiver<LinkMessage>,
) {
    while let Some(said) = heard.recv().await {
        pause(5_000).await;
        if world.strikes(world.faults.link_cut) {
            break;
        }
        let is_heard = match said {
            LinkMessage::Finished(finished) => dispatch.finished(worker, finished).await,
            LinkMessage::Loads(loads) => dispatch.plugin_loads(worker, loads).await,
            LinkMessage::Started(leases) => dispatch.started_before_revoked(worker, leases).await,
        };
        if is_heard.is_err() {
            break;
        }
    }
    drop(heard);
    pause(1_000).await;
    dispatch.worker_lost(worker).await;
}

//! With a simulated launcher. Pauses are short or skipped by calling what follows them.

use std::collections::BTreeSet;

use assay_core::time::Micros;

use super::*;
use crate::launcher::{Reconciling, Start};
use crate::ticket::{ProofRefusal, Ticket};

/// A launcher of no processes: it notes what it is told, and the test says what becomes of the workers.
#[derive(Clone)]
struct SimulatedLauncher {
    events: Events,
    told: Arc<Mutex<Told>>,
}

#[derive(Default)]
struct Told {
    starts: Vec<Start>,
    stops: Vec<(TicketId, Stop)>,
    has: BTreeSet<TicketId>,
}

impl Launcher for SimulatedLauncher {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn start(&self, starts: Vec<Start>) {
        let mut told = self.told.lock();
        told.has.extend(starts.iter().map(|start| start.ticket.id));
        told.starts.extend(starts);
    }

    fn stop(&self, ticket: TicketId, how: Stop) {
        self.told.lock().stops.push((ticket, how));
    }

    fn reconcile(&self) -> Reconciling<'_> {
        let has = self.told.lock().has.iter().copied().collect();
        Box::pin(std::future::ready(Ok(has)))
    }
}

impl SimulatedLauncher {
    fn start_of(&self, number: usize) -> Start {
        self.told.lock().starts[number].clone()
    }

    fn place(&self, number: usize) -> Start {
        let start = self.start_of(number);
        self.events.send(WorkerEvent::Placed { ticket: start.ticket.id, pid: None });
        start
    }

    fn end(&self, ticket: TicketId, how: WorkerEnd) {
        self.told.lock().has.remove(&ticket);
        self.events.send(WorkerEvent::Ended { ticket, how });
    }

    fn fail(&self, number: usize) {
        self.end(self.start_of(number).ticket.id, WorkerEnd::Failed("exit status: 3".into()));
    }
}

fn simulated() -> (Fleet, Failures, SimulatedLauncher) {
    let mut launcher = None;
    let (fleet, failures) = Fleet::new(|events| {
        launcher.insert(SimulatedLauncher { events, told: Arc::default() }).clone()
    });
    (fleet, failures, launcher.expect("it was made"))
}

const ALLOWED: Duration = Duration::from_secs(30);

fn cpu() -> Arc<str> {
    "cpu".into()
}

#[tokio::test]
async fn a_start_that_fails_is_reported_once_with_its_reason() {
    let (fleet, mut failures, launcher) = simulated();
    fleet.start(&cpu(), 3);
    (0..3).for_each(|number| launcher.fail(number));
    assert!(failures.try_recv().is_err(), "there is a pause first");
    for _ in 0..3 {
        let failed = failures.recv().await.expect("it is reported");
        assert_eq!(fleet.start_failed(failed), Some(cpu()));
        assert_eq!(fleet.start_failed(failed), None, "it failed once");
    }
    let trouble = fleet.troubles().remove(&cpu()).expect("it is known");
    assert_eq!(trouble.failures, 3);
    assert_eq!(trouble.error, "a worker ended before it joined: exit status: 3");
    // They failed together: the pause is the first, not the third.
    assert_eq!(trouble.next_try_at.since(trouble.failed_at), Micros::from_ms(50));
    fleet.start(&cpu(), 1);
    launcher.fail(3);
    assert!(failures.recv().await.is_some());
    let trouble = fleet.troubles().remove(&cpu()).expect("it is known");
    assert_eq!(trouble.next_try_at.since(trouble.failed_at), Micros::from_ms(100));
    fleet.stop_all().await;
    assert!(failures.try_recv().is_err());
}

#[tokio::test]
async fn a_start_is_given_up_while_its_failure_waits() {
    let (fleet, mut failures, launcher) = simulated();
    fleet.start(&cpu(), 1);
    launcher.fail(0);
    fleet.cancel(&cpu(), 1);
    fleet.report(launcher.start_of(0).ticket.id);
    assert!(failures.try_recv().is_err());
    fleet.stop_all().await;
}

/// A start that its caller gave up is no longer counted, so its failure must not be reported as well.
#[tokio::test]
async fn a_start_is_given_up_after_its_failure_was_reported() {
    let (fleet, mut failures, launcher) = simulated();
    fleet.start(&cpu(), 2);
    (0..2).for_each(|number| launcher.fail(number));
    for _ in 0..2 {
        failures.recv().await.expect("both fail");
    }
    fleet.cancel(&cpu(), 1);
    let [first, latest] = [0, 1].map(|number| launcher.start_of(number).ticket.id);
    let heard = [latest, first].map(|ticket| fleet.start_failed(ticket));
    assert_eq!(heard, [None, Some(cpu())], "the latest was given up");
    fleet.stop_all().await;
}

#[tokio::test]
async fn a_worker_that_does_not_join_in_time_is_ended_and_reported() {
    let (fleet, mut failures, launcher) = simulated();
    fleet.start(&cpu(), 2);
    // The other one waits for a place: its time does not run.
    let late = launcher.place(0);
    (0..2).for_each(|number| fleet.overdue(launcher.start_of(number).ticket.id, ALLOWED));
    assert_eq!(launcher.told.lock().stops, [(late.ticket.id, Stop::GiveUp)]);
    assert_eq!(fleet.admit(&late.ticket.text(), "cpu"), Err(TicketRefusal::GivenUp));
    assert!(!fleet.joined(late.ticket.id), "it comes too late");
    assert!(fleet.troubles().is_empty(), "it has not ended yet");
    launcher.end(late.ticket.id, WorkerEnd::Finished("killed".into()));
    assert_eq!(failures.recv().await, Some(late.ticket.id));
    assert_eq!(fleet.troubles()[&cpu()].error, "a worker did not join within 30 s");
    let waiting = launcher.place(1);
    assert!(fleet.joined(waiting.ticket.id));
    assert_eq!(fleet.troubles().len(), 1, "it may end at once");
    fleet.proven(waiting.ticket.id);
    assert!(fleet.troubles().is_empty(), "a worker that serves ends the trouble");
}

#[tokio::test]
async fn a_stop_waits_for_every_worker_and_starts_no_more() {
    let (fleet, mut failures, launcher) = simulated();
    fleet.start(&cpu(), 3);
    let joined = launcher.place(0).ticket.id;
    assert!(fleet.joined(joined));
    launcher.fail(1);
    assert!(!fleet.is_stopping());
    let stopping = tokio::spawn({
        let fleet = fleet.clone();
        async move { fleet.stop_all().await }
    });
    tokio::task::yield_now().await;
    assert!(fleet.is_stopping() && !stopping.is_finished());
    let starting = launcher.start_of(2).ticket.id;
    assert_eq!(launcher.told.lock().stops, [(joined, Stop::Leave), (starting, Stop::GiveUp)]);
    fleet.start(&cpu(), 1);
    assert_eq!(launcher.told.lock().starts.len(), 3);
    launcher.end(joined, WorkerEnd::Finished("signal: 15 (SIGTERM)".into()));
    launcher.end(starting, WorkerEnd::Finished("killed".into()));
    stopping.await.expect("it ends");
    assert!(failures.try_recv().is_err(), "it waits for no failure to be heard");
}

#[tokio::test]
async fn a_worker_of_one_side_alone_is_ended_on_that_side() {
    let (fleet, mut failures, launcher) = simulated();
    fleet.start(&cpu(), 3);
    let [lost, lost_early] = [0, 1].map(|number| launcher.place(number).ticket.id);
    let asked = launcher.start_of(2).ticket.id;
    assert!(fleet.joined(lost));
    let stray = TicketId::generate();
    launcher.told.lock().has = BTreeSet::from([stray]);
    fleet.reconcile().await.expect("the launcher answers");
    assert_eq!(failures.recv().await, Some(lost_early), "its start has failed");
    assert_eq!(fleet.troubles()[&cpu()].error, "a worker was lost before it joined");
    assert!(!fleet.state().has(lost), "it has gone");
    let starting: Vec<TicketId> = fleet.starting().iter().map(|start| start.ticket).collect();
    assert_eq!(starting, [lost_early, asked], "the one without a place is waited for");
    assert_eq!(launcher.told.lock().stops[0], (stray, Stop::Kill));
}

/// A launcher of another machine that cannot list its workers.
struct AwayLauncher(Events);

impl Launcher for AwayLauncher {
    fn name(&self) -> &'static str {
        "away"
    }

    fn start(&self, starts: Vec<Start>) {
        for start in starts {
            self.0.send(WorkerEvent::Placed { ticket: start.ticket.id, pid: None });
        }
    }

    fn stop(&self, _: TicketId, _: Stop) {}

    fn reconcile(&self) -> Reconciling<'_> {
        Box::pin(std::future::ready(Err(anyhow::anyhow!("no answer"))))
    }

    fn joins_by_tls(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_launcher_that_is_away_loses_no_worker_and_hinders_no_other() {
    let mut simulated = None;
    let (fleet, mut failures) = Fleet::with_launchers(Tenure::endless(), |events| {
        let here = SimulatedLauncher { events: events.clone(), told: Arc::default() };
        Launchers::new(simulated.insert(here).clone())
            .with(BTreeSet::from(["far".into()]), AwayLauncher(events))
    });
    let launcher = simulated.expect("it was made");
    assert_eq!((fleet.launcher("cpu"), fleet.launcher("far")), ("simulated", "away"));
    fleet.start(&cpu(), 1);
    fleet.start(&"far".into(), 1);
    let here = launcher.place(0).ticket;
    launcher.told.lock().has.clear();
    let error = fleet.reconcile().await.expect_err("one of them is away");
    assert_eq!(format!("{error:#}"), "the launcher away cannot list its workers: no answer");
    assert_eq!(failures.recv().await, Some(here.id), "the other one is compared");
    assert_eq!(fleet.start_failed(here.id), Some(cpu()));
    let left = fleet.starting();
    assert_eq!((left.len(), &*left[0].pool, left[0].launcher), (1, "far", "away"));
    // A ticket of a worker of this machine is no way in from another one.
    let refused = fleet.enrol(&here.text(), "cpu").await.err();
    assert_eq!(refused, Some(TicketRefusal::Unknown.into()));
}

/// A worker gets its certificate.
async fn enrols(fleet: &Fleet, text: &str, pool: &str) {
    let claim = fleet.enrol(text, pool).await.expect("it was asked for");
    assert_eq!(Some(claim.ticket()), Ticket::claimed(text));
    claim.issued();
}

#[tokio::test]
async fn a_proof_is_used_up_by_a_certificate_and_not_by_a_try() {
    let (fleet, _failures) = Fleet::with_launchers(Tenure::endless(), |events| {
        Launchers::new(AwayLauncher(events.clone()))
    });
    fleet.start(&cpu(), 1);
    let ticket = fleet.starting()[0].ticket;
    let text = fleet.state().text_of(ticket);
    let used = Some(ProofRefusal::from(TicketRefusal::Used));
    let claim = fleet.enrol(&text, "cpu").await.expect("it was asked for");
    assert_eq!(fleet.enrol(&text, "cpu").await.err(), used, "of two at once");
    drop(claim);
    enrols(&fleet, &text, "cpu").await;
    assert_eq!(fleet.enrol(&text, "cpu").await.err(), used);
}

#[tokio::test]
async fn a_worker_whose_job_is_gone_is_cut_off() {
    let (fleet, _failures) = Fleet::with_launchers(Tenure::endless(), |events| {
        Launchers::new(AwayLauncher(events.clone()))
    });
    fleet.start(&cpu(), 1);
    let ticket = fleet.starting()[0].ticket;
    let worker = fleet.state().text_of(ticket);
    let no_ticket = fleet.enrol("a token", "cpu").await.err();
    assert!(matches!(no_ticket, Some(ProofRefusal::Refused(_))), "{no_ticket:?}");
    enrols(&fleet, &worker, "cpu").await;
    let mut visit = fleet.came(ticket, &cpu()).expect("it was asked for");
    assert!(!visit.came() && fleet.joined(ticket));
    fleet.apply(WorkerEvent::Leaving { ticket, why: "evicted".into() });
    visit.leaving().await;
    assert_eq!(fleet.departures("cpu").len(), 1);
    let mut ends = fleet.ends();
    drop(fleet.came(TicketId::generate(), &cpu()).expect("it comes by itself"));
    fleet.told(WorkerEvent::Ended { ticket, how: WorkerEnd::Lost });
    assert_eq!((ends.try_recv(), ends.try_recv().is_err()), (Ok(ticket), true));
    assert_eq!(visit.stopped(Stop::Kill).await, Stop::Kill);
    assert!(!fleet.has_joined(ticket));
}

#[tokio::test]
async fn workers_that_another_server_has_taken_over_are_cut_off_and_not_ended() {
    let (proven, proofs) = tokio::sync::watch::channel(Some(now()));
    let far: Arc<str> = "far".into();
    let mut simulated = None;
    let (fleet, _failures) = Fleet::with_launchers(Tenure::new(proofs), |events| {
        let here = SimulatedLauncher { events: events.clone(), told: Arc::default() };
        Launchers::new(simulated.insert(here).clone())
            .with(BTreeSet::from([Arc::clone(&far)]), AwayLauncher(events))
    });
    let launcher = simulated.expect("it was made");
    fleet.start(&far, 1);
    let ticket = fleet.starting()[0].ticket;
    let text = fleet.state().text_of(ticket);
    enrols(&fleet, &text, "far").await;
    let mut visit = fleet.came(ticket, &far).expect("it was asked for");
    assert!(fleet.joined(ticket));
    fleet.start(&cpu(), 1);
    let own = launcher.place(0).ticket.id;
    assert!(fleet.joined(own));
    proven.send_replace(None);
    let stopping = tokio::spawn({
        let fleet = fleet.clone();
        async move { fleet.stop_all().await }
    });
    assert_eq!(visit.stopped(Stop::Leave).await, Stop::Kill, "it is to come again");
    assert_eq!(launcher.told.lock().stops, [(own, Stop::Leave)]);
    assert!(!stopping.is_finished());
    launcher.end(own, WorkerEnd::Finished("it left".into()));
    stopping.await.expect("it ends");
}

/// Its workers have a place at once and never join.
struct SlowLauncher(Events);

impl Launcher for SlowLauncher {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn start(&self, starts: Vec<Start>) {
        for start in starts {
            self.0.send(WorkerEvent::Placed { ticket: start.ticket.id, pid: None });
        }
    }

    fn stop(&self, ticket: TicketId, _: Stop) {
        let how = WorkerEnd::Finished("cancelled".into());
        self.0.send(WorkerEvent::Ended { ticket, how });
    }

    fn reconcile(&self) -> Reconciling<'_> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn start_max(&self, pool: &str) -> Duration {
        if pool == "cpu" { Duration::from_secs(1) } else { ALLOWED }
    }
}

#[tokio::test]
async fn a_launcher_says_how_long_a_start_of_a_pool_may_take() {
    let (fleet, mut failures) = Fleet::new(SlowLauncher);
    fleet.start(&"gpu".into(), 1);
    fleet.start(&cpu(), 1);
    let late = failures.recv().await.expect("it is reported");
    assert_eq!(fleet.start_failed(late), Some(cpu()));
    assert_eq!(fleet.troubles()[&cpu()].error, "a worker did not join within 1 s");
    assert_eq!(fleet.starting().len(), 1);
}

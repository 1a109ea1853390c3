//! Every phase with everything that can happen in it.

use std::collections::BTreeSet;

use expect_test::expect;

use super::failure::pause;
use super::*;

const ALLOWED: Duration = Duration::from_secs(30);
const NOW: Micros = Micros::from_secs(100);

const PHASES: [Phase; 10] = [
    Phase::Withheld,
    Phase::Asked,
    Phase::Placed,
    Phase::Overdue(ALLOWED),
    Phase::Failed,
    Phase::Reported,
    Phase::GivenUp,
    Phase::Came,
    Phase::Joined,
    Phase::Leaving,
];

fn pool() -> Arc<str> {
    "cpu".into()
}

/// One worker of the pool `cpu` in this phase.
fn one(phase: Phase) -> (FleetState, Ticket) {
    let mut state = FleetState::default();
    let effects = state.start(NOW, &pool(), 1);
    let [Effect::Start(starts)] = &effects[..] else { panic!("{effects:?}") };
    let ticket = starts[0].ticket.clone();
    state.workers.get_mut(&ticket.id).expect("just started").phase = phase;
    (state, ticket)
}

fn ended(ticket: TicketId) -> WorkerEvent {
    WorkerEvent::Ended { ticket, how: WorkerEnd::Failed("exit status: 3".into()) }
}

fn leaving(ticket: TicketId, why: &str) -> WorkerEvent {
    WorkerEvent::Leaving { ticket, why: why.into() }
}

const HAPPENINGS: [&str; 12] = [
    "waits", "placed", "leaves", "ended", "overdue", "report", "heard", "joined", "stop", "kill",
    "cancel", "stop_all",
];

fn happen(what: &str, state: &mut FleetState, ticket: TicketId) -> Vec<Effect> {
    let one: Option<Effect> = match what {
        "waits" => {
            return state.apply(NOW, WorkerEvent::Waiting { ticket, why: "no place".into() });
        }
        "placed" => return state.apply(NOW, WorkerEvent::Placed { ticket, pid: Some(7) }),
        "leaves" => return state.apply(NOW, leaving(ticket, "evicted")),
        "ended" => return state.apply(NOW, ended(ticket)),
        "overdue" => state.overdue(ticket, ALLOWED),
        "report" => {
            let _ = state.report(ticket);
            None
        }
        "heard" => {
            let _ = state.heard(ticket);
            None
        }
        "joined" => {
            let _ = state.joined(NOW, ticket);
            None
        }
        "stop" => state.stop(ticket, Stop::Leave),
        "kill" => state.stop(ticket, Stop::Kill),
        "cancel" => return state.cancel("cpu", 1),
        "stop_all" => return state.stop_all(),
        other => panic!("{other} is not in the table"),
    };
    one.into_iter().collect()
}

#[test]
fn each_phase_with_each_event() {
    let mut table = String::new();
    for what in HAPPENINGS {
        for phase in PHASES {
            let (mut state, ticket) = one(phase);
            let effects = happen(what, &mut state, ticket.id);
            let became = state.workers.get(&ticket.id);
            let became = became.map_or("gone".to_owned(), |worker| format!("{:?}", worker.phase));
            let effects: String = effects
                .iter()
                .map(|effect| match effect {
                    Effect::Start(_) => ", start".to_owned(),
                    Effect::ReleaseAfter(..) => ", release".to_owned(),
                    Effect::Stop(stopped, how) if *stopped == ticket.id => {
                        format!(", stop {how:?}")
                    }
                    Effect::Stop(..) => panic!("another worker is stopped"),
                    Effect::JoinInTime(_) => ", join in time".to_owned(),
                    Effect::ReportAfter(..) => ", report".to_owned(),
                })
                .collect();
            table.push_str(&format!("{what:12} {phase:?}: {became}{effects}\n"));
        }
    }
    // Each line has the event, the phase, the next phase and what must be done.
    expect![[r#"
        waits        Withheld: Withheld
        waits        Asked: Asked
        waits        Placed: Placed
        waits        Overdue(30s): Overdue(30s)
        waits        Failed: Failed
        waits        Reported: Reported
        waits        GivenUp: GivenUp
        waits        Came: Came
        waits        Joined: Joined
        waits        Leaving: Leaving
        placed       Withheld: Withheld
        placed       Asked: Placed, join in time
        placed       Placed: Placed
        placed       Overdue(30s): Overdue(30s)
        placed       Failed: Failed
        placed       Reported: Reported
        placed       GivenUp: GivenUp
        placed       Came: Came
        placed       Joined: Joined
        placed       Leaving: Leaving
        leaves       Withheld: Withheld
        leaves       Asked: Failed, stop GiveUp, report
        leaves       Placed: Failed, stop GiveUp, report
        leaves       Overdue(30s): Overdue(30s)
        leaves       Failed: Failed
        leaves       Reported: Reported
        leaves       GivenUp: GivenUp
        leaves       Came: Came
        leaves       Joined: Joined
        leaves       Leaving: Leaving
        ended        Withheld: Withheld
        ended        Asked: Failed, report
        ended        Placed: Failed, report
        ended        Overdue(30s): Failed, report
        ended        Failed: Failed
        ended        Reported: Reported
        ended        GivenUp: gone
        ended        Came: gone
        ended        Joined: gone
        ended        Leaving: gone
        overdue      Withheld: Withheld
        overdue      Asked: Asked
        overdue      Placed: Overdue(30s), stop GiveUp
        overdue      Overdue(30s): Overdue(30s)
        overdue      Failed: Failed
        overdue      Reported: Reported
        overdue      GivenUp: GivenUp
        overdue      Came: Came
        overdue      Joined: Joined
        overdue      Leaving: Leaving
        report       Withheld: Withheld
        report       Asked: Asked
        report       Placed: Placed
        report       Overdue(30s): Overdue(30s)
        report       Failed: Reported
        report       Reported: Reported
        report       GivenUp: GivenUp
        report       Came: Came
        report       Joined: Joined
        report       Leaving: Leaving
        heard        Withheld: Withheld
        heard        Asked: Asked
        heard        Placed: Placed
        heard        Overdue(30s): Overdue(30s)
        heard        Failed: Failed
        heard        Reported: gone
        heard        GivenUp: GivenUp
        heard        Came: Came
        heard        Joined: Joined
        heard        Leaving: Leaving
        joined       Withheld: Withheld
        joined       Asked: Joined
        joined       Placed: Joined
        joined       Overdue(30s): Overdue(30s)
        joined       Failed: Failed
        joined       Reported: Reported
        joined       GivenUp: GivenUp
        joined       Came: Joined
        joined       Joined: Joined
        joined       Leaving: Leaving
        stop         Withheld: Withheld
        stop         Asked: Asked
        stop         Placed: Placed
        stop         Overdue(30s): Overdue(30s)
        stop         Failed: Failed
        stop         Reported: Reported
        stop         GivenUp: GivenUp
        stop         Came: Leaving, stop Leave
        stop         Joined: Leaving, stop Leave
        stop         Leaving: Leaving
        kill         Withheld: Withheld
        kill         Asked: Asked
        kill         Placed: Placed
        kill         Overdue(30s): Overdue(30s)
        kill         Failed: Failed
        kill         Reported: Reported
        kill         GivenUp: GivenUp
        kill         Came: Leaving, stop Kill
        kill         Joined: Leaving, stop Kill
        kill         Leaving: Leaving, stop Kill
        cancel       Withheld: gone
        cancel       Asked: GivenUp, stop GiveUp
        cancel       Placed: GivenUp, stop GiveUp
        cancel       Overdue(30s): GivenUp, stop GiveUp
        cancel       Failed: gone
        cancel       Reported: gone
        cancel       GivenUp: GivenUp
        cancel       Came: Came
        cancel       Joined: Joined
        cancel       Leaving: Leaving
        stop_all     Withheld: gone
        stop_all     Asked: GivenUp, stop GiveUp
        stop_all     Placed: GivenUp, stop GiveUp
        stop_all     Overdue(30s): GivenUp, stop GiveUp
        stop_all     Failed: gone
        stop_all     Reported: gone
        stop_all     GivenUp: GivenUp
        stop_all     Came: Leaving, stop Leave
        stop_all     Joined: Leaving, stop Leave
        stop_all     Leaving: Leaving
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_ticket_joins_one_worker_of_its_pool_once() {
    let (mut state, ticket) = one(Phase::Placed);
    let text = ticket.text();
    let mut forged = text.clone().into_bytes();
    let last = forged.last_mut().expect("it is long");
    *last = if *last == b'0' { b'1' } else { b'0' };
    let forged = String::from_utf8(forged).expect("hexadecimal");
    for unknown in ["", "x", &ticket.id.to_string(), &forged, &Ticket::generate().text()] {
        assert_eq!(state.admit(unknown, "cpu"), Err(TicketRefusal::Unknown), "{unknown}");
    }
    assert_eq!(state.admit(&text, "gpu"), Err(TicketRefusal::OtherPool));
    assert_eq!(state.authenticate(&text), None, "it has not joined");
    assert_eq!(state.admit(&text, "cpu"), Ok(ticket.id));
    assert_eq!(state.joined(NOW, ticket.id), Some((pool(), Some(Micros::ZERO))));
    assert_eq!(state.joined(NOW, ticket.id), None, "it joins once");
    assert_eq!(state.admit(&text, "cpu"), Err(TicketRefusal::Used));
    assert_eq!(state.authenticate(&text), Some(ticket.id));
    assert_eq!(state.authenticate(&forged), None);
    assert!(state.apply(NOW, ended(ticket.id)).is_empty());
    assert_eq!(state.admit(&text, "cpu"), Err(TicketRefusal::Unknown), "its worker has ended");
    assert_eq!(state.authenticate(&text), None);
}

#[test]
fn a_worker_comes_once_at_a_time_and_is_cut_off_at_the_end() {
    let mut state = FleetState::default();
    let ticket = TicketId::generate();
    assert_eq!(state.came(NOW, ticket, &pool()), Ok(true));
    assert!(state.starting().is_empty(), "nobody waits for it");
    assert_eq!(state.came(NOW, ticket, &pool()), Err(TicketRefusal::Used));
    assert!(!state.has_joined(ticket));
    assert_eq!(state.joined(NOW, ticket), Some((pool(), None)));
    assert!(state.has_joined(ticket));
    assert!(
        matches!(state.stop_all()[..], [Effect::Stop(stopped, Stop::Kill)] if stopped == ticket)
    );
    assert!(state.apply(NOW, ended(ticket)).is_empty());
    assert_eq!(state.came(NOW, ticket, &pool()), Err(TicketRefusal::GivenUp), "the server stops");
}

impl FleetState {
    /// The text of a worker's ticket, which only its launcher has.
    pub(crate) fn text_of(&self, ticket: TicketId) -> String {
        self.workers[&ticket].ticket.text()
    }
}

#[test]
fn a_started_worker_enrols_once_and_connects_once() {
    let (mut state, ticket) = one(Phase::Asked);
    let text = ticket.text();
    assert_eq!(state.came(NOW, ticket.id, &pool()), Err(TicketRefusal::Used), "no certificate yet");
    assert_eq!(state.enrol(&text, "gpu"), Err(TicketRefusal::OtherPool));
    assert_eq!(state.enrol(&Ticket::generate().text(), "cpu"), Err(TicketRefusal::Unknown));
    assert_eq!(state.enrol(&text, "cpu"), Ok(ticket.id));
    assert_eq!(state.enrol(&text, "cpu"), Err(TicketRefusal::Used), "a replayed join");
    assert_eq!(state.came(NOW, ticket.id, &pool()), Ok(false), "it was asked for");
    assert_eq!(state.came(NOW, ticket.id, &pool()), Err(TicketRefusal::Used));
    assert!(state.joined(NOW, ticket.id).is_some_and(|(_, took)| took.is_some()));
    let (mut state, ticket) = one(Phase::GivenUp);
    assert_eq!(state.enrol(&ticket.text(), "cpu"), Err(TicketRefusal::GivenUp));
    assert_eq!(state.came(NOW, ticket.id, &pool()), Err(TicketRefusal::GivenUp));
}

#[test]
fn a_started_worker_that_got_no_certificate_enrols_again() {
    for phase in [Phase::Asked, Phase::Placed] {
        let (mut state, ticket) = one(phase);
        let text = ticket.text();
        assert_eq!(state.enrol(&text, "cpu"), Ok(ticket.id));
        assert_eq!(state.enrol(&text, "cpu"), Err(TicketRefusal::Used), "two tries at once");
        state.not_certified(ticket.id);
        assert_eq!(state.came(NOW, ticket.id, &pool()), Err(TicketRefusal::Used), "it got none");
        assert_eq!(state.enrol_identified(ticket.id, "cpu"), Ok(()));
        assert_eq!(state.came(NOW, ticket.id, &pool()), Ok(false));
        state.not_certified(ticket.id);
        assert_eq!(state.enrol(&text, "cpu"), Err(TicketRefusal::Used), "it has connected");
    }
    let (mut state, ticket) = one(Phase::Asked);
    assert_eq!(state.enrol(&ticket.text(), "cpu"), Ok(ticket.id));
    state.cancel("cpu", 1);
    state.not_certified(ticket.id);
    assert_eq!(state.enrol(&ticket.text(), "cpu"), Err(TicketRefusal::GivenUp));
}

#[test]
fn a_worker_that_its_launcher_identified_enrols_once_as_any_other() {
    let (mut state, ticket) = one(Phase::Placed);
    assert_eq!(state.enrol_identified(ticket.id, "gpu"), Err(TicketRefusal::OtherPool));
    assert_eq!(state.enrol_identified(TicketId::generate(), "cpu"), Err(TicketRefusal::Unknown));
    assert_eq!(state.enrol_identified(ticket.id, "cpu"), Ok(()));
    assert_eq!(state.enrol_identified(ticket.id, "cpu"), Err(TicketRefusal::Used), "a replay");
    assert_eq!(state.enrol(&ticket.text(), "cpu"), Err(TicketRefusal::Used));
    let (mut state, ticket) = one(Phase::Failed);
    assert_eq!(state.enrol_identified(ticket.id, "cpu"), Err(TicketRefusal::GivenUp));
}

#[test]
fn workers_leave_for_reasons_until_they_have_ended() {
    let (mut state, ticket) = one(Phase::Joined);
    assert!(!state.is_leaving(ticket.id) && state.departures("cpu").is_empty());
    let later = NOW + Micros::from_secs(1);
    state.apply(NOW, leaving(ticket.id, "evicted"));
    state.apply(later, leaving(ticket.id, "deleted"));
    let departures = vec![Departures { workers: 1, reason: "evicted".into(), since: NOW }];
    assert_eq!(state.departures("cpu"), departures, "the first reason stays");
    assert!(state.is_leaving(ticket.id) && state.departures("gpu").is_empty());
    state.stop(ticket.id, Stop::Leave);
    assert_eq!(state.departures("cpu").len(), 1, "it is still here");
    state.apply(later, ended(ticket.id));
    assert!(state.departures("cpu").is_empty());
    let (mut state, ticket) = one(Phase::Asked);
    state.apply(NOW, leaving(ticket.id, "evicted"));
    assert_eq!(state.troubles()["cpu"].error, "a worker has to leave before it joined: evicted");
    assert_eq!(state.admit(&ticket.text(), "cpu"), Err(TicketRefusal::GivenUp));
}

#[test]
fn a_worker_of_the_server_before_takes_the_place_of_a_start() {
    let [one, other, late] = [(); 3].map(|()| TicketId::generate());
    let mut state = FleetState::default();
    let pools = BTreeSet::from([pool(), "gpu".into()]);
    let found = vec![(one, pool()), (other, pool()), (late, "gpu".into())];
    assert!(state.find(NOW, &pools, found).is_empty());
    // The first start is answered by a worker that is there already.
    let effects = state.start(NOW, &pool(), 1);
    assert!(matches!(effects[..], [Effect::JoinInTime(ticket)] if ticket == one), "{effects:?}");
    assert_eq!(state.came(NOW, one, &pool()), Ok(false));
    assert!(state.joined(NOW, one).is_some());
    // Another one comes unasked, and is the pool's own.
    assert_eq!(state.came(NOW, other, &pool()), Ok(false));
    assert_eq!(state.joined(NOW, other), Some((pool(), None)));
    assert!(matches!(state.stop(other, Stop::Leave), Some(Effect::Stop(..))));
    let effects = state.start(NOW, &pool(), 2);
    assert!(matches!(&effects[..], [Effect::Start(starts)] if starts.len() == 2), "{effects:?}");
    // Its time begins when it can connect.
    let later = |seconds| NOW + Micros::from_secs(seconds);
    state.forget_found(later(1_000));
    assert!(state.has(late));
    state.listens(later(1_000));
    state.forget_found(later(1_059));
    assert!(state.has(late));
    state.forget_found(later(1_060));
    assert!(!state.has(late));
    assert!(matches!(state.start(NOW, &"gpu".into(), 1)[..], [Effect::Start(_)]));
}

#[test]
fn starts_wait_until_the_workers_of_the_server_before_are_known() {
    let [here, unknown] = [(); 2].map(|()| TicketId::generate());
    let pools = BTreeSet::from([pool()]);
    let mut state = FleetState::default();
    state.cannot_find(&pools, "Slurm is away");
    assert!(state.start(NOW, &pool(), 3).is_empty());
    assert!(matches!(state.start(NOW, &"gpu".into(), 1)[..], [Effect::Start(_)]), "another's");
    assert_eq!(state.waiting("cpu").len(), 1);
    assert!(state.cancel("cpu", 1).is_empty(), "nobody knows of it");
    assert_eq!(state.unplaced(), BTreeMap::from([(pool(), 2)]));
    assert_eq!(state.came(NOW, here, &pool()), Err(TicketRefusal::NotYet));
    assert_eq!(state.came(NOW, TicketId::generate(), &"gpu".into()), Ok(true));
    let effects = state.find(NOW, &pools, vec![(here, pool())]);
    let [Effect::JoinInTime(first), Effect::Start(starts)] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((*first, starts.len()), (here, 1));
    assert_eq!(state.came(NOW, here, &pool()), Ok(false));
    assert_eq!(state.came(NOW, unknown, &pool()), Ok(true));
}

#[test]
fn starts_wait_for_reasons_until_they_have_a_place() {
    let mut state = FleetState::default();
    state.start(NOW, &pool(), 3);
    let tickets: Vec<TicketId> = state.workers.keys().copied().collect();
    let mut waits = |second, ticket, why: &str| {
        let at = NOW + Micros::from_secs(second);
        state.apply(at, WorkerEvent::Waiting { ticket, why: why.into() });
        state.waiting("cpu").into_iter().map(|it| (it.workers, it.reason, it.since)).collect()
    };
    let later = |second| NOW + Micros::from_secs(second);
    let none: Vec<(usize, String, Micros)> = waits(1, tickets[0], "quota");
    assert_eq!(none, [(1, "quota".into(), later(1))]);
    waits(2, tickets[1], "full");
    assert_eq!(
        waits(3, tickets[2], "full"),
        [(2, "full".into(), later(2)), (1, "quota".into(), later(1))]
    );
    // Another reason: it waits since the first.
    assert_eq!(waits(9, tickets[0], "full"), [(3, "full".into(), later(1))]);
    assert_eq!(state.unplaced(), BTreeMap::from([(pool(), 3)]));
    for ticket in &tickets {
        state.apply(NOW, WorkerEvent::Placed { ticket: *ticket, pid: None });
    }
    assert_eq!((state.waiting("cpu"), state.waiting("gpu")), (vec![], vec![]));
    assert!(state.unplaced().is_empty());
}

#[test]
fn a_worker_that_nobody_waits_for_is_refused() {
    for phase in [Phase::Overdue(ALLOWED), Phase::Failed, Phase::Reported, Phase::GivenUp] {
        let (state, ticket) = one(phase);
        assert_eq!(state.admit(&ticket.text(), "cpu"), Err(TicketRefusal::GivenUp), "{phase:?}");
        assert_eq!(state.authenticate(&ticket.text()), None, "{phase:?}");
    }
}

#[test]
fn a_worker_that_ends_soon_after_it_joined_is_a_failed_start() {
    let mut state = FleetState::default();
    // Each is started after the pause of the one before, and is lost in one of both ways.
    for (round, pause) in [50, 100, 200, 400].into_iter().enumerate() {
        let mut effects = state.start(NOW, &pool(), 1);
        if let [Effect::ReleaseAfter(withheld, waits)] = &effects[..] {
            assert_eq!(waits.as_millis(), pause / 2);
            assert_eq!(state.starting().len(), 1, "it is under way");
            effects = state.release(withheld).into_iter().collect();
        }
        let [Effect::Start(starts)] = &effects[..] else { panic!("{effects:?}") };
        let ticket = starts[0].ticket.id;
        assert!(state.joined(NOW, ticket).is_some());
        if round % 2 == 0 {
            assert!(matches!(state.lost(NOW, ticket), Some(Effect::Stop(..))));
        }
        state.apply(NOW, ended(ticket));
        let trouble = &state.troubles()["cpu"];
        assert!(trouble.error.starts_with("a worker ended soon after it joined: "), "{trouble:?}");
        assert_eq!(trouble.next_try_at.since(trouble.failed_at).0 / 1_000, pause as u64);
    }
    let later = NOW + Micros::from_secs(1);
    let effects = state.start(later, &pool(), 2);
    let [Effect::Start(starts)] = &effects[..] else { panic!("{effects:?}") };
    let [served, asked] = [0, 1].map(|number| starts[number].ticket.id);
    assert!(state.joined(later, served).is_some() && state.joined(later, asked).is_some());
    state.proven(served);
    assert!(state.troubles().is_empty());
    state.stop(asked, Stop::Leave);
    for ticket in [served, asked] {
        state.apply(later, ended(ticket));
    }
    assert!(state.troubles().is_empty(), "one has served, the other was asked to end");
}

#[test]
fn the_latest_starts_are_given_up_first() {
    let mut state = FleetState::default();
    for name in ["cpu", "gpu", "cpu", "cpu"] {
        state.start(NOW, &name.into(), 1);
    }
    let starting: Vec<TicketId> = state.starting().iter().map(|(ticket, ..)| *ticket).collect();
    state.cancel("cpu", 2);
    let left: Vec<TicketId> = state.starting().iter().map(|(ticket, ..)| *ticket).collect();
    assert_eq!(left, starting[..2]);
}

#[test]
fn the_pause_doubles_up_to_its_limit() {
    let pauses = [1, 2, 3, 8, 9, 100, u32::MAX].map(|level| pause(level).as_millis());
    assert_eq!(pauses, [50, 100, 200, 6_400, 10_000, 10_000, 10_000]);
}

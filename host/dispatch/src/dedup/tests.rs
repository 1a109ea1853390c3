//! Each state of a computation with each thing that can happen to it, and random lives of many.

use std::collections::{BTreeMap, BTreeSet};

use assay_api::batch::Consumes;
use assay_core::id::BatchId;
use assay_core::outcome::Scored;
use assay_core::plugin::Description;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::plugin::CompiledForms;
use crate::plugin::tests::description;

fn id(seq: u32) -> RequestId {
    RequestId { batch: BatchId(Uuid::nil()), seq }
}

fn key(number: u8) -> DedupKey {
    (TenantId(Uuid::nil()), ContentHash::from_bytes([number; 16]))
}

#[test]
fn content_is_what_a_deterministic_plugin_sees() {
    let stage = assay_core::plugin::Stage {
        name: "score".into(),
        pool: "cpu".into(),
        timeout_ms: 1,
        memory_bytes_max: 1,
        retries_max: 0,
    };
    let description = Description { stages: vec![stage], ..description() };
    let digest = assay_core::id::Digest([1; 32]);
    let plugin =
        |description| ReadyPlugin::new(digest, CompiledForms::new(), description, Vec::new());
    let row = BatchRow {
        tenant: key(1).0,
        id: BatchId(Uuid::from_u128(1)),
        run: "run".into(),
        iteration: 1,
        plugin: "math".into(),
        version: "1.0.0".into(),
        digest,
        settings: "{}".into(),
        expected_size: None,
        group_size: None,
        max_extra_delay_ms: None,
        consumes: Consumes::Batch,
        share_equal: true,
        idle_ms: None,
        idempotency: None,
        announced_at: Micros(1),
        sealed_at: None,
    };
    let at = |epoch, row: &BatchRow, body: &[u8]| {
        ContentHash::of(row, &plugin(description.clone()), SettingsEpoch(epoch), body)
    };
    let of = |row: &BatchRow, body: &[u8]| at(0, row, body);
    let content = of(&row, b"body").expect("it is to share");
    let other = BatchRow { id: BatchId(Uuid::from_u128(2)), run: "other".into(), ..row.clone() };
    assert_eq!(of(&other, b"body"), Some(content));
    let digest = assay_core::id::Digest([2; 32]);
    for different in [
        of(&row, b"b0dy"),
        // The tenant's settings, and so the plugin's capabilities, have changed.
        at(1, &row, b"body"),
        of(&BatchRow { settings: "{} ".into(), ..row.clone() }, b"body"),
        of(&BatchRow { digest, ..row.clone() }, b"body"),
        // The contents differ in more than the place where the settings end.
        of(&BatchRow { settings: "{}b".into(), ..row.clone() }, b"ody"),
    ] {
        assert!(different.is_some_and(|different| different != content));
    }
    assert_eq!(of(&BatchRow { share_equal: false, ..row.clone() }, b"body"), None);
    let random = Description { deterministic: false, ..description.clone() };
    let epoch = SettingsEpoch::default();
    assert_eq!(ContentHash::of(&row, &plugin(random), epoch, b"body"), None);
}

fn scored() -> Outcome {
    let (components, explanation) = (BTreeMap::new(), String::new());
    Outcome::Scored(Scored { reward: 0.5, verdict: "half".into(), components, explanation })
}

fn timed_out() -> Outcome {
    Outcome::TimedOut { stage: "score".into(), reward: 0.0 }
}

fn error(code: ErrorCode) -> Outcome {
    Outcome::Error { code, message: String::new(), retryable: code.retryable(), attempts: 1 }
}

fn known(primary: RequestId, outcome: Outcome) -> SharedOutcome {
    SharedOutcome { primary, outcome, earliest_end: Micros(7) }
}

fn alone(seq: u32) -> Released {
    Released { request: id(seq), waiters: Vec::new() }
}

/// Request 0 is the primary, 1 and 2 are its waiters; 1 is not committed.
fn with_waiters() -> Dedup {
    let mut dedup = Dedup::default();
    assert_eq!(dedup.enter(key(1), id(0), Eligibility::Primary), Role::Runs);
    assert_eq!(dedup.enter(key(1), id(1), Eligibility::WaiterOnly), Role::Waits(id(0)));
    assert_eq!(dedup.enter(key(1), id(2), Eligibility::Primary), Role::Waits(id(0)));
    dedup
}

/// How the primary ends, what its waiters do, and what one does that comes then.
#[track_caller]
fn check(outcome: Outcome, wanted: &Resolution, next: &Role) {
    let mut dedup = with_waiters();
    dedup.ended(key(1), known(id(0), outcome), Some(1));
    assert_eq!(dedup.resolve().as_ref(), Some(wanted));
    assert_eq!(dedup.resolve(), None);
    assert_eq!(&dedup.enter(key(1), id(3), Eligibility::Primary), next);
}

#[test]
fn waiters_end_as_their_primary_or_run() {
    let ends = |outcome: Outcome| {
        let known = Arc::new(known(id(0), outcome));
        let ended = vec![(id(1), Arc::clone(&known)), (id(2), Arc::clone(&known))];
        (Resolution { ended, released: Vec::new() }, known)
    };
    let (resolution, cached) = ends(scored());
    check(scored(), &resolution, &Role::Ends(cached));
    check(timed_out(), &ends(timed_out()).0, &Role::Runs);
    let released = vec![alone(1), alone(2)];
    let released = Resolution { ended: Vec::new(), released };
    for code in ErrorCode::ALL.into_iter().filter(|code| *code != ErrorCode::Cancelled) {
        check(error(code), &released, &Role::Runs);
    }
    // A request that is not committed is no primary.
    let released = vec![Released { request: id(2), waiters: vec![id(1)] }];
    let released = Resolution { ended: Vec::new(), released };
    check(error(ErrorCode::Cancelled), &released, &Role::Waits(id(2)));
}

#[test]
fn a_batch_that_ends_takes_primary_and_waiters_at_once() {
    let mut dedup = with_waiters();
    for seq in [0, 2] {
        dedup.ended(key(1), known(id(seq), error(ErrorCode::Cancelled)), Some(1));
    }
    let resolution = Resolution { ended: Vec::new(), released: vec![alone(1)] };
    assert_eq!(dedup.resolve(), Some(resolution));
    assert!(dedup.live.is_empty() && dedup.unresolved.is_empty());
    let mut dedup = with_waiters();
    for seq in [1, 2, 0] {
        dedup.ended(key(1), known(id(seq), error(ErrorCode::Cancelled)), Some(1));
    }
    assert_eq!(dedup.resolve(), None);
    assert!(dedup.live.is_empty());
}

#[test]
fn a_computation_has_so_many_waiters_at_most() {
    let mut dedup = Dedup::default();
    let waiters_max = u32::try_from(WAITERS_MAX).expect("a small number");
    let mut roles =
        (0..waiters_max + 3).map(|seq| dedup.enter(key(1), id(seq), Eligibility::Primary));
    assert_eq!(roles.next(), Some(Role::Runs));
    assert!(roles.by_ref().take(WAITERS_MAX).all(|role| role == Role::Waits(id(0))));
    assert!(roles.all(|role| role == Role::Runs));
    // One that runs beside the primary changes nothing for those that wait.
    dedup.ended(key(1), known(id(waiters_max + 1), error(ErrorCode::Cancelled)), Some(1));
    assert_eq!(dedup.resolve(), None);
    dedup.ended(key(1), known(id(0), error(ErrorCode::Cancelled)), Some(1));
    let Resolution { ended, released } = dedup.resolve().expect("the primary has ended");
    assert!(ended.is_empty());
    let [Released { request, waiters }] = &*released else { panic!("{released:?}") };
    assert_eq!((*request, waiters.len()), (id(1), WAITERS_MAX - 1));
}

#[test]
fn what_is_not_committed_is_a_primary_once_it_is() {
    let mut dedup = Dedup::default();
    assert_eq!(dedup.enter(key(1), id(0), Eligibility::WaiterOnly), Role::Runs);
    assert_eq!(dedup.enter(key(1), id(1), Eligibility::WaiterOnly), Role::Runs);
    dedup.make_eligible(key(1), id(0));
    assert_eq!(dedup.enter(key(1), id(2), Eligibility::WaiterOnly), Role::Waits(id(0)));
    // There is a primary already.
    dedup.make_eligible(key(1), id(1));
    assert_eq!(dedup.enter(key(1), id(3), Eligibility::Primary), Role::Waits(id(0)));
    dedup.make_eligible(key(1), id(2));
    dedup.ended(key(1), known(id(0), error(ErrorCode::Cancelled)), Some(1));
    let released = vec![Released { request: id(2), waiters: vec![id(3)] }];
    assert_eq!(dedup.resolve(), Some(Resolution { ended: Vec::new(), released }));
}

#[test]
fn nothing_is_shared_between_contents_or_tenants() {
    let mut dedup = with_waiters();
    assert_eq!(dedup.enter(key(2), id(3), Eligibility::Primary), Role::Runs);
    let foreign = (TenantId(Uuid::from_u128(1)), key(1).1);
    assert_eq!(dedup.enter(foreign, id(4), Eligibility::Primary), Role::Runs);
    dedup.ended(key(1), known(id(0), scored()), Some(1));
    assert!(dedup.resolve().is_some());
    dedup.forget(key(1).0);
    assert_eq!(dedup.enter(key(1), id(5), Eligibility::Primary), Role::Runs);
}

#[test]
fn an_outcome_without_a_size_is_not_cached() {
    let mut dedup = with_waiters();
    dedup.ended(key(2), known(id(9), scored()), None);
    assert_eq!(dedup.enter(key(2), id(3), Eligibility::Primary), Role::Runs);
}

/// The requests of a test and their outcomes, kept as the dispatcher's loop keeps them.
#[derive(Default)]
struct World {
    dedup: Dedup,
    /// The content and the primary (for a waiter) of each request that has not ended.
    live: BTreeMap<RequestId, (u8, Option<RequestId>)>,
    ended: BTreeSet<RequestId>,
    /// The outcomes of the requests that ran.
    outcomes: BTreeMap<RequestId, Outcome>,
}

impl World {
    fn come(&mut self, content: u8, eligibility: Eligibility) {
        let request = id(u32::try_from(self.live.len() + self.ended.len()).expect("few"));
        match self.dedup.enter(key(content), request, eligibility) {
            Role::Runs => drop(self.live.insert(request, (content, None))),
            Role::Waits(primary) => {
                assert_eq!(self.live.get(&primary), Some(&(content, None)), "its primary runs");
                self.live.insert(request, (content, Some(primary)));
            }
            Role::Ends(known) => {
                self.live.insert(request, (content, None));
                self.given(request, &known);
            }
        }
    }

    fn given(&mut self, request: RequestId, known: &SharedOutcome) {
        assert_eq!(self.outcomes.get(&known.primary), Some(&known.outcome), "the primary's own");
        assert!(!matches!(known.outcome, Outcome::Error { .. }), "an error was shared");
        self.end(request);
    }

    fn end(&mut self, request: RequestId) -> u8 {
        let (content, _) = self.live.remove(&request).expect("it ends once");
        assert!(self.ended.insert(request));
        content
    }

    /// Some end at once, as with their batch; a waiter can only be cancelled.
    fn finish(&mut self, ends: &[(usize, Outcome)]) {
        for (at, outcome) in ends {
            let Some(request) = self.live.keys().nth(*at).copied() else { continue };
            let waits = self.live[&request].1.is_some();
            let outcome = if waits { error(ErrorCode::Cancelled) } else { outcome.clone() };
            let content = self.end(request);
            self.outcomes.insert(request, outcome.clone());
            self.dedup.ended(key(content), known(request, outcome), Some(1));
        }
        let resolution = self.dedup.resolve().unwrap_or_default();
        for (request, known) in resolution.ended {
            assert_eq!(self.live[&request].1, Some(known.primary), "its primary");
            self.given(request, &known);
        }
        for Released { request, waiters } in resolution.released {
            self.live.get_mut(&request).expect("it has not ended").1 = None;
            for waiter in waiters {
                self.live.get_mut(&waiter).expect("it has not ended").1 = Some(request);
            }
        }
        for (_, primary) in self.live.values() {
            let runs = primary
                .is_none_or(|primary| self.live.get(&primary).is_some_and(|it| it.1.is_none()));
            assert!(runs, "its primary does not run");
        }
    }
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(scored()),
        1 => Just(timed_out()),
        2 => Just(error(ErrorCode::Cancelled)),
        2 => prop::sample::select(&ErrorCode::ALL[..]).prop_map(error),
    ]
}

proptest! {
    /// Every request ends once, with its own outcome or that of one that ran; no error is shared.
    #[test]
    fn every_request_ends_once(
        steps in prop::collection::vec(
            (0..4_u8, any::<bool>(), prop::collection::vec((0..12_usize, outcomes()), 0..4)),
            1..60,
        )
    ) {
        let mut world = World::default();
        for (content, committed, ends) in steps {
            world.come(content, if committed { Eligibility::Primary } else { Eligibility::WaiterOnly });
            world.finish(&ends);
        }
        while !world.live.is_empty() {
            let runs = world.live.values().position(|(_, primary)| primary.is_none());
            world.finish(&[(runs.expect("something runs"), scored())]);
        }
        prop_assert!(world.dedup.live.is_empty() && world.dedup.unresolved.is_empty());
    }
}

//! What a batch leaves that was half done when the scheduler was lost.

use std::sync::Arc;

use assay_core::id::{BatchId, Digest, TenantId, WorkerId};
use assay_core::time::Micros;
use assay_sched::{
    Action, Config, Consumes, End, Ending, Event, NewBatch, NewRequest, Profile, Progress, Sched,
    StageShape,
};
use uuid::Uuid;

use super::script::check;

const BATCH: BatchId = BatchId(Uuid::from_u128(1));

fn shape(pool: &str) -> StageShape {
    StageShape { pool: pool.into(), timeout: Micros::from_secs(9), retries_max: 0 }
}

fn request(seq: u32, arrived: u64, progress: Progress) -> NewRequest {
    let arrived = Micros::from_ms(arrived);
    NewRequest { seq, group: None, arrived, deadline: None, expected_ms: None, progress }
}

/// Brings a batch back whose requests stand so, and answers what is granted.
fn profile(requests: Vec<NewRequest>) -> Arc<Profile> {
    let mut sched = Sched::new(Config::default());
    let now = Micros::from_secs(10);
    let new = NewBatch {
        id: BATCH,
        tenant: TenantId(Uuid::from_u128(2)),
        run: "run".into(),
        plugin: Digest([3; 32]),
        stages: [shape("cpu"), shape("gpu")].into(),
        expected_size: Some(u32::try_from(requests.len()).expect("few")),
        group_size: None,
        tolerance: None,
        consumes: Consumes::Batch,
        hedged: true,
        announced: Micros::from_ms(50),
    };
    let mut actions = sched.step(now, Event::BatchAnnounced(new));
    actions.extend(sched.step(now, Event::RequestsSubmitted { batch: BATCH, requests }));
    for (at, pool) in ["cpu", "gpu"].into_iter().enumerate() {
        let worker = WorkerId(u64::try_from(at).expect("two"));
        let joined = Event::WorkerJoined { worker, pool: pool.into(), leases_max: 1 };
        actions.extend(sched.step(now, joined));
    }
    loop {
        let done = actions.iter().find_map(|action| match action {
            Action::BatchDone(done) => Some(done.profile.clone().expect("it is done")),
            _ => None,
        });
        if let Some(profile) = done {
            return profile;
        }
        let grants: Vec<_> = actions
            .drain(..)
            .filter_map(|action| match action {
                Action::Grant(grant) => Some(grant),
                _ => None,
            })
            .collect();
        assert!(!grants.is_empty(), "nothing runs and nothing is done");
        for grant in grants {
            let end = if grant.stage == 0 { End::Next } else { End::Scored };
            let ran = Micros::from_ms(7);
            let (worker, lease) = (grant.worker, grant.lease);
            actions.extend(sched.step(now, Event::StageFinished { worker, lease, end, ran }));
        }
    }
}

#[test]
fn a_batch_that_was_half_done_leaves_a_whole_profile() {
    let ms = |times: &[u64]| times.iter().copied().map(Micros::from_ms).collect::<Vec<_>>();
    let ended = Progress::Finished {
        earliest_end: Micros::from_ms(105),
        ended: Micros::from_ms(120),
        ran: ms(&[5]),
        ending: Ending::TimedOut,
    };
    let profile = profile(vec![
        request(0, 100, ended),
        request(1, 200, Progress::Waiting { stage: 1, ran: ms(&[11]) }),
        request(2, 300, Progress::Waiting { stage: 0, ran: Vec::new() }),
        // Nobody kept the time of its first stage: it counts as none, and as reached.
        request(3, 310, Progress::Waiting { stage: 1, ran: Vec::new() }),
    ]);
    assert_eq!(profile.first_arrival, Micros::from_ms(100));
    // T is that of request 3: 310 + 7 ms; of request 2 it is 300 + 7 + 7.
    assert_eq!(profile.earliest_end, Micros::from_ms(317));
    let of = |arrived| {
        let arrived = Micros::from_ms(arrived);
        let at = profile.requests.iter().position(|request| request.arrived == arrived);
        let at = at.expect("it is there");
        (profile.requests[at].ending, profile.ran(at).to_vec())
    };
    assert_eq!(of(0), (Ending::TimedOut, ms(&[5, 0])));
    assert_eq!(of(100), (Ending::Scored, ms(&[11, 7])));
    assert_eq!(of(200), (Ending::Scored, ms(&[7, 7])));
    assert_eq!(of(210), (Ending::Scored, vec![Micros(1), Micros::from_ms(7)]));
}

#[test]
fn the_planner_sees_what_ran_before() {
    let mut sched = Sched::new(Config::default());
    let ms = |times: &[u64]| times.iter().copied().map(Micros::from_ms).collect::<Vec<_>>();
    let new = NewBatch {
        id: BATCH,
        tenant: TenantId(Uuid::from_u128(2)),
        run: "run".into(),
        plugin: Digest([3; 32]),
        stages: [shape("cpu"), shape("gpu")].into(),
        expected_size: None,
        group_size: None,
        tolerance: None,
        consumes: Consumes::Batch,
        hedged: true,
        announced: Micros::ZERO,
    };
    let _ = sched.step(Micros::ZERO, Event::BatchAnnounced(new));
    let requests = vec![
        request(0, 100, Progress::Waiting { stage: 1, ran: ms(&[11]) }),
        request(
            1,
            100,
            Progress::Finished {
                earliest_end: Micros::from_ms(104),
                ended: Micros::from_ms(110),
                ran: ms(&[1, 3]),
                ending: Ending::Scored,
            },
        ),
    ];
    let _ = sched.step(Micros::from_secs(1), Event::RequestsSubmitted { batch: BATCH, requests });
    let seen = &sched.view().batches[0].at_stage;
    let stages: Vec<_> =
        seen.iter().map(|stage| (stage.waiting, stage.ended, stage.ended_time)).collect();
    assert_eq!(stages, [(0, 2, Micros::from_ms(12)), (1, 1, Micros::from_ms(3))]);
    assert_eq!(seen[1].reached, Micros::from_ms(111));
}

/// The trainer could send nothing while the server was down.
#[test]
fn the_time_for_a_first_request_counts_from_when_a_scheduler_hears_of_the_batch() {
    check(
        "
        config announced_max=10s
        100s announce A announced=1s
        109s tick
        110s tick
          -> batch A expired T=none ended=110000ms
        ",
    );
}

/// The machine's clock was set back before the start: what was there then is not of the future.
#[test]
fn what_arrived_later_than_now_arrives_now() {
    check(
        "
        10s announce A announced=99s
        10s submit A 0 arrived=100s ended=101s
          -> estimate A 10000ms
        10s submit A 1 arrived=100s
          -> estimate A 11000ms
        10s submit A 2 primary=C.0 arrived=100s
        12s announce B
        12s submit B 0
          -> estimate B 13000ms
        13s join w1 cpu
          -> grant w1 L1 A.1 stage 0 try 1
        ",
    );
}

/// A pause seals batches that nobody else seals; it makes none of them late.
#[test]
fn a_batch_ends_with_its_last_request_however_late_it_is_sealed() {
    check(
        "
        0s announce A
        0s announce B
        0s announce C
        0s join w1 cpu
        0s submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        2s finish w1 scored 2s
          -> finish A.0 scored t=2000ms [0: queued 0ms ran 2000ms tries 1]
          -> estimate A 2000ms
        4s submit B 0 arrived=1s ended=3s last=4s
          -> estimate B 3000ms
        5s seal A
          -> batch A done T=2000ms ended=2000ms
        6s seal B
          -> batch B done T=3000ms ended=4000ms
        7s seal C
          -> batch C done T=none ended=7000ms
        ",
    );
}

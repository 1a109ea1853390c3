use assay_core::id::BatchId;
use assay_sched::StageShape;

use super::*;
use crate::plugin::tests::description;

fn ticket(number: u128) -> TicketId {
    TicketId(uuid::Uuid::from_u128(number))
}

fn joining() -> Joining {
    let heard = LastContact::default();
    let (pool, architecture) = ("cpu".into(), Architecture::X86_64);
    Joining { ticket: ticket(7), pool, architecture, leases_max: 4, heard, came: false }
}

fn request(seq: u32) -> RequestId {
    RequestId { batch: BatchId(uuid::Uuid::nil()), seq }
}

fn held(seq: u32) -> HeldLease {
    HeldLease { request: request(seq), stage: 1, granted: Micros(5), revoked: false }
}

fn grant(lease: u64) -> proto::Grant {
    proto::Grant { lease, ..proto::Grant::default() }
}

fn workers() -> (Workers, WorkerId, mpsc::UnboundedReceiver<proto::ToWorker>) {
    let (link, sent) = mpsc::unbounded_channel();
    let mut workers = Workers::default();
    let id = workers.join(joining(), None, link, Micros(1));
    (workers, id, sent)
}

#[test]
fn a_turn_is_one_message_and_a_lease_revoked_within_it_is_not_sent() {
    let (mut workers, id, mut sent) = workers();
    workers.grant(id, held(0), grant(1));
    workers.grant(id, held(1), grant(2));
    workers.revoke(id, LeaseId(1));
    assert_eq!(workers.send_outboxes(), []);
    let message = sent.try_recv().expect("a message");
    let grants: Vec<u64> = message.grants.iter().map(|grant| grant.lease).collect();
    assert_eq!((grants, message.revoked), (vec![2], vec![]));
    workers.send_outboxes();
    assert!(sent.try_recv().is_err(), "an empty message");
}

#[test]
fn grants_that_are_too_large_for_a_message_come_in_several() {
    let (mut workers, id, mut sent) = workers();
    workers.grant(id, held(0), grant(1));
    workers.send_outboxes();
    sent.try_recv().expect("a message");
    workers.revoke(id, LeaseId(1));
    let body = bytes::Bytes::from(vec![0; 4 << 20]);
    for lease in 2..=101 {
        let large = proto::Grant { body: body.clone(), ..grant(lease) };
        workers.grant(id, held(lease as u32), large);
    }
    workers.send_outboxes();
    let messages: Vec<_> = std::iter::from_fn(|| sent.try_recv().ok()).collect();
    assert!(messages.iter().all(|message| message.encoded_len() <= MESSAGE_BYTES_MAX));
    let grants = messages.iter().flat_map(|message| &message.grants);
    assert!(grants.map(|grant| grant.lease).eq(2..=101));
    assert_eq!(messages[0].revoked, [1]);
    assert!(messages[1..].iter().all(|message| message.revoked.is_empty()));
}

#[test]
fn a_lease_that_was_started_before_it_was_revoked_is_held_again() {
    let (mut workers, id, mut sent) = workers();
    (1..=3).for_each(|lease| workers.grant(id, held(lease as u32), grant(lease)));
    workers.send_outboxes();
    assert_eq!(workers.revoke(id, LeaseId(2)), Some(held(2)));
    assert_eq!(workers.revoke(id, LeaseId(3)), Some(held(3)));
    workers.grant(id, held(4), grant(4));
    workers.send_outboxes();
    let revoked = std::iter::from_fn(|| sent.try_recv().ok()).flat_map(|message| message.revoked);
    assert_eq!(revoked.collect::<Vec<_>>(), [2, 3]);
    assert_eq!(workers.finished(id, LeaseId(1)), Some(held(1)));
    assert!(workers.started_before_revoked(id, LeaseId(2)));
    assert!(!workers.started_before_revoked(id, LeaseId(2)));
    assert_eq!(workers.finished(id, LeaseId(2)), Some(HeldLease { revoked: true, ..held(2) }));
    assert_eq!(workers.finished(id, LeaseId(4)), Some(held(4)));
    assert!(!workers.started_before_revoked(id, LeaseId(3)), "it answered a later one");
}

#[test]
fn as_many_revoked_leases_are_remembered_as_may_be_held() {
    let (mut workers, id, _sent) = workers();
    (1..=5).for_each(|lease| workers.grant(id, held(0), grant(lease)));
    workers.send_outboxes();
    for lease in 1..=5 {
        workers.revoke(id, LeaseId(lease));
    }
    assert!(!workers.started_before_revoked(id, LeaseId(1)));
    assert!(workers.started_before_revoked(id, LeaseId(2)));
}

#[test]
fn an_answer_counts_once_and_only_for_a_lease_that_is_held() {
    let (mut workers, id, _sent) = workers();
    workers.grant(id, held(3), grant(5));
    let claim = |number, lease| LeaseClaim { ticket: ticket(number), lease: LeaseId(lease) };
    assert_eq!(workers.request_of(claim(7, 5)), Some(request(3)));
    assert_eq!(workers.request_of(claim(8, 5)), None);
    assert_eq!(workers.finished(id, LeaseId(4)), None);
    assert_eq!(workers.finished(id, LeaseId(5)), Some(held(3)));
    assert_eq!(workers.finished(id, LeaseId(5)), None);
    assert_eq!(workers.request_of(claim(7, 5)), None);
    assert_eq!(workers.remove(id).map(|worker| worker.stages_done), Some(1));
    assert_eq!(workers.finished(id, LeaseId(5)), None);
}

#[test]
fn a_worker_is_told_once_which_plugin_to_load() {
    let (mut workers, id, mut sent) = workers();
    let digests: Vec<Digest> = (0..=8).map(|number| Digest([number; 32])).collect();
    workers.preload(id, &digests[..2]);
    workers.preload(id, &digests[..1]);
    workers.send_outboxes();
    assert_eq!(sent.try_recv().expect("a message").preload.len(), 2);
    workers.preload(id, &digests[..2]);
    workers.send_outboxes();
    assert!(sent.try_recv().is_err(), "it knows both");
    workers.preload(id, &digests[2..]);
    workers.preload(id, &digests[..1]);
    workers.send_outboxes();
    assert_eq!(sent.try_recv().expect("a message").preload.len(), 8, "the first one again");
}

#[test]
fn a_worker_that_joins_loads_what_channels_were_pointed_to_last() {
    let plugin = |pool: &str, number| {
        let shape = StageShape { pool: pool.into(), timeout: Micros(1), retries_max: 0 };
        let digest = Digest([number; 32]);
        let new = ReadyPlugin::new(
            digest,
            [(Architecture::X86_64, digest)].into(),
            description(),
            Vec::new(),
        );
        Arc::new(ReadyPlugin { shapes: [shape].into(), ..new })
    };
    let (mut workers, _, _first) = workers();
    workers.preload_promoted(plugin("elsewhere", 90));
    for number in (0..=9).chain([5]) {
        workers.preload_promoted(plugin("cpu", number));
    }
    let (link, mut sent) = mpsc::unbounded_channel();
    let late = workers.join(joining(), None, link, Micros(2));
    workers.preload(late, &[Digest([70; 32])]);
    workers.send_outboxes();
    let told: Vec<u8> = sent.try_recv().expect("it").preload.iter().map(|it| it[0]).collect();
    assert_eq!(told, [70, 5, 9, 8, 7, 6, 4, 3], "those of batches first, then the newest");
}

#[test]
fn each_worker_loads_what_was_compiled_for_its_architecture() {
    let shape = StageShape { pool: "cpu".into(), timeout: Micros(1), retries_max: 0 };
    let (x86_64, aarch64) = (Architecture::X86_64, Architecture::Aarch64);
    let compiled = [(x86_64, Digest([1; 32])), (aarch64, Digest([2; 32]))].into();
    let plugin = ReadyPlugin::new(Digest([0; 32]), compiled, description(), Vec::new());
    let plugin = Arc::new(ReadyPlugin { shapes: [shape].into(), ..plugin });
    let mut workers = Workers::default();
    let join = |workers: &mut Workers, architecture| {
        let (link, sent) = mpsc::unbounded_channel();
        let id = workers.join(Joining { architecture, ..joining() }, None, link, Micros(1));
        (id, sent)
    };
    let (_, mut intel) = join(&mut workers, x86_64);
    let (_, mut arm) = join(&mut workers, aarch64);
    workers.preload_promoted(plugin);
    let (late, mut late_sent) = join(&mut workers, aarch64);
    workers.preload(late, &[]);
    workers.send_outboxes();
    for (sent, digest) in [(&mut intel, 1), (&mut arm, 2), (&mut late_sent, 2)] {
        assert_eq!(sent.try_recv().expect("a message").preload, [vec![digest; 32]]);
    }
}

#[test]
fn a_draining_worker_is_stopped_once_it_holds_nothing() {
    let (mut workers, id, _sent) = workers();
    workers.grant(id, held(0), grant(1));
    assert_eq!(workers.drain(id), Ok(()));
    assert_eq!(workers.send_outboxes(), []);
    workers.finished(id, LeaseId(1));
    assert_eq!(workers.send_outboxes().len(), 1);
    assert_eq!(workers.send_outboxes(), []);
    assert_eq!(workers.drain(WorkerId(9)), Err(DispatchError::NoWorker));
}

//! A worker and a host over a real socket: what is granted is run once, in order, or given up.

use std::sync::Arc;

use assay_core::id::Digest;
use assay_core::limits;
use assay_wire::proto::finished::End;
use assay_wire::proto::{Load, ToWorker};
use tokio::sync::Semaphore;

use crate::binary::{code, reward};
use crate::host::{TestHost, exit_status, grant, host, serve};

#[tokio::test]
async fn leases_are_run_in_order_and_a_drain_ends_well() {
    let (mut host, digest) = host("trivial");
    let child = host.spawn();
    let (hello, mut talk) = host.accept().await;
    assert_eq!(hello.ticket, crate::host::TICKET);
    assert_eq!(hello.pool, "cpu");
    assert_eq!(hello.engine, assay_sandbox::engine_id());
    assert_eq!(hello.in_hand_max as usize, limits::PREFETCH_LEASES_MAX);

    let grants = (0..100).map(|lease| grant(lease, digest, &"x".repeat(lease as usize))).collect();
    talk.say(ToWorker { grants, drain: true, ..ToWorker::default() }).await;
    for lease in 0..100 {
        let finished = talk.finished().await;
        assert_eq!(finished.lease, lease);
        assert_eq!(reward(&finished), f64::from(lease % 2 == 0));
    }
    talk.gone().await;
    drop(talk);
    assert!(exit_status(child).await.success());
    assert_eq!(host.store.lock().expect("no panic").asked, 1, "fetched once");
}

#[tokio::test]
async fn a_revoked_lease_is_not_started() {
    let (mut host, digest) = host("liar");
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    let mut first = grant(1, digest, "spin");
    first.timeout_us = 100_000;
    let grants = vec![first, grant(2, digest, "count"), grant(3, digest, "count")];
    talk.say(ToWorker { grants, revoked: vec![2], ..ToWorker::default() }).await;
    let first = talk.finished().await;
    assert_eq!((first.lease, first.end), (1, Some(End::TimedOut(Default::default()))));
    assert!(first.ran_us >= 100_000);
    assert_eq!(talk.finished().await.lease, 3);
    talk.say(ToWorker { drain: true, ..ToWorker::default() }).await;
    talk.gone().await;
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn artifacts_logs_and_defaults_travel() {
    let (mut host, digest) = host("liar");
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    let mut prepare = grant(1, digest, "two_stages");
    (prepare.stage, prepare.last) = ("prepare".into(), false);
    talk.say(ToWorker { grants: vec![prepare], ..ToWorker::default() }).await;
    let Some(End::Next(artifact)) = talk.finished().await.end else { panic!("no artifact") };
    let mut score = grant(2, digest, "two_stages");
    score.input = Some(artifact);
    let grants = vec![score, grant(3, digest, "log_long"), grant(4, digest, "seen")];
    talk.say(ToWorker { grants, ..ToWorker::default() }).await;
    assert_eq!(reward(&talk.finished().await), 0.75);
    let logs = talk.finished().await.logs;
    assert_eq!((logs.len(), logs[0].level.as_str()), (1, "warn"));
    let Some(End::Scored(seen)) = talk.finished().await.end else { panic!("no reward") };
    assert_eq!(seen.explanation, "score {} request-4 None  seen null null 1 7 None");
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn a_damaged_cache_is_repaired() {
    let (mut host, digest) = host("trivial");
    let good = host.store.lock().expect("no panic").compiled[&digest].clone();
    let cached = host.cache().join("plugins").join(digest.to_string());
    std::fs::create_dir_all(host.cache().join("plugins")).expect("created");
    let mut damaged = good.clone();
    damaged[good.len() / 2] ^= 1;
    std::fs::write(&cached, damaged).expect("written");

    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    talk.say(ToWorker { grants: vec![grant(1, digest, "xx")], ..ToWorker::default() }).await;
    assert_eq!(reward(&talk.finished().await), 1.0);
    assert_eq!(host.store.lock().expect("no panic").asked, 1);
    assert_eq!(std::fs::read(&cached).expect("there"), good);
    child.kill().expect("our child");
    child.wait().expect("our child");

    let mut second = host.spawn();
    let (_, mut talk) = host.accept().await;
    talk.say(ToWorker { grants: vec![grant(2, digest, "xx")], ..ToWorker::default() }).await;
    assert_eq!(reward(&talk.finished().await), 1.0);
    assert_eq!(host.store.lock().expect("no panic").asked, 1, "the cache was good");
    second.kill().expect("our child");
    second.wait().expect("our child");
}

#[tokio::test]
async fn what_cannot_be_had_or_is_not_right_is_not_run() {
    let (mut host, digest) = host("trivial");
    let (missing, exchanged) = (Digest([1; 32]), Digest([2; 32]));
    {
        let mut store = host.store.lock().expect("no panic");
        let other = store.compiled[&digest].clone();
        store.compiled.insert(exchanged, other);
    }
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    let mut unreadable = grant(3, digest, "xx");
    unreadable.body = vec![0xff; 7].into();
    let grants = vec![
        grant(1, missing, "xx"),
        grant(2, exchanged, "xx"),
        unreadable,
        grant(4, digest, "xx"),
    ];
    talk.say(ToWorker { grants, ..ToWorker::default() }).await;
    assert_eq!(code(&talk.finished().await), "plugin_unloadable");
    assert_eq!(code(&talk.finished().await), "plugin_unloadable");
    assert_eq!(code(&talk.finished().await), "worker_lost");
    assert_eq!(reward(&talk.finished().await), 1.0);
    assert_eq!(kept(&host), [digest.to_string()]);
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn the_load_of_a_plugin_is_told_before_and_after_it() {
    let (mut host, digest) = host("trivial");
    let gate = Arc::new(Semaphore::new(0));
    host.store.lock().expect("no panic").gate = Some(Arc::clone(&gate));
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    let mut first = grant(1, digest, "xx");
    // Far less than a load takes.
    first.timeout_us = 1_000;
    talk.say(ToWorker { grants: vec![first, grant(2, digest, "xx")], ..ToWorker::default() }).await;
    assert_eq!(talk.load().await, Load { lease: 1, ended: false });
    // It goes on saying that it lives.
    let heartbeat = talk.message().await.expect("a heartbeat");
    assert!(heartbeat.finished.is_empty() && heartbeat.loads.is_empty());
    gate.add_permits(1);
    assert_eq!(talk.load().await, Load { lease: 1, ended: true });
    assert_eq!(talk.finished().await.lease, 1);
    let second = talk.finished().await;
    assert_eq!((second.lease, reward(&second)), (2, 1.0));
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn the_workers_of_a_machine_fetch_a_plugin_once() {
    let (mut host, digest) = host("trivial");
    let gate = Arc::new(Semaphore::new(0));
    host.store.lock().expect("no panic").gate = Some(Arc::clone(&gate));
    let mut children = Vec::new();
    let mut talks = Vec::new();
    for lease in 1..=3 {
        children.push(host.spawn());
        let (_, mut talk) = host.accept().await;
        talk.say(ToWorker { grants: vec![grant(lease, digest, "xx")], ..ToWorker::default() })
            .await;
        assert_eq!(talk.load().await, Load { lease, ended: false });
        talks.push(talk);
    }
    gate.add_permits(3);
    for talk in &mut talks {
        assert_eq!(reward(&talk.finished().await), 1.0);
    }
    assert_eq!(host.store.lock().expect("no panic").asked, 1);
    assert_eq!(kept(&host), [digest.to_string()]);
    for child in &mut children {
        child.kill().expect("our child");
        child.wait().expect("our child");
    }
}

#[tokio::test]
async fn a_fetch_that_was_torn_goes_on_where_it_ended() {
    let (mut host, digest) = host("trivial");
    let half = {
        let mut store = host.store.lock().expect("no panic");
        let half = store.compiled[&digest].len() / 2;
        store.torn_at = Some(half);
        half
    };
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    talk.say(ToWorker { grants: vec![grant(1, digest, "xx")], ..ToWorker::default() }).await;
    assert_eq!(code(&talk.finished().await), "plugin_unloadable");
    talk.say(ToWorker { grants: vec![grant(2, digest, "xx")], ..ToWorker::default() }).await;
    assert_eq!(reward(&talk.finished().await), 1.0);
    assert_eq!(host.store.lock().expect("no panic").offsets, [0, half as u64]);
    assert_eq!(kept(&host), [digest.to_string()]);
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn a_damaged_part_is_fetched_anew() {
    let (mut host, digest) = host("trivial");
    let folder = host.cache().join("plugins");
    std::fs::create_dir_all(&folder).expect("created");
    std::fs::write(folder.join(format!(".draft-partial-{digest}")), b"damage").expect("written");
    // A version before this one left these.
    let old = format!("{digest}.123.partial");
    std::fs::write(host.cache().join(&old), b"partial").expect("written");
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    talk.say(ToWorker { grants: vec![grant(1, digest, "xx")], ..ToWorker::default() }).await;
    assert_eq!(reward(&talk.finished().await), 1.0);
    assert_eq!(host.store.lock().expect("no panic").offsets, [6, 0]);
    assert_eq!(kept(&host), [digest.to_string()]);
    assert!(!host.cache().join(old).exists());
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn an_announced_plugin_is_fetched_before_its_first_request() {
    let (mut host, digest) = host("trivial");
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    let preload = vec![vec![7; 3].into(), digest.0.to_vec().into()];
    talk.say(ToWorker { preload, ..ToWorker::default() }).await;
    host.fetch().await;
    talk.say(ToWorker { grants: vec![grant(1, digest, "xx")], ..ToWorker::default() }).await;
    assert_eq!(reward(&talk.finished().await), 1.0);
    assert_eq!(host.store.lock().expect("no panic").asked, 1);
    child.kill().expect("our child");
    child.wait().expect("our child");
}

/// The names of the plugins and partial files that the host's workers keep.
fn kept(host: &TestHost) -> Vec<String> {
    std::fs::read_dir(host.cache().join("plugins"))
        .expect("there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("text"))
        .collect()
}

#[tokio::test]
async fn silence_is_broken_by_heartbeats() {
    let mut host = TestHost::start();
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    for _ in 0..2 {
        let message = talk.message().await.expect("a heartbeat");
        assert!(message.hello.is_none() && message.finished.is_empty());
    }
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn a_worker_leaves_when_the_stream_ends() {
    let (mut host, digest) = host("liar");
    let child = host.spawn();
    let (_, talk) = host.accept().await;
    // In the middle of a stage that would go on for long.
    talk.say(ToWorker { grants: vec![grant(1, digest, "spin")], ..ToWorker::default() }).await;
    drop(talk);
    exit_status(child).await;
}

#[tokio::test]
async fn a_worker_dies_with_its_host() {
    let mut host = TestHost::start();
    // The shell stands for a host that is killed while its socket lives on.
    let mut parent = std::process::Command::new("/bin/sh");
    parent.args(["-c", "\"$0\" \"$@\"; exit $?", env!("CARGO_BIN_EXE_assay-worker")]);
    serve(&mut parent, &host.socket(), &host.cache());
    let mut parent = parent.spawn().expect("a shell");
    let (_, mut talk) = host.accept().await;
    let name = std::fs::read_to_string(format!("/proc/{}/comm", parent.id())).expect("it lives");
    assert!(!name.starts_with("assay-worker"), "the shell forked");
    parent.kill().expect("our child");
    parent.wait().expect("our child");
    talk.gone().await;
}

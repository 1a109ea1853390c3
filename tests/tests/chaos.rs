//! Whatever is killed in the middle of a batch, every request of it is answered exactly once, with
//! the right reward, and a failure is never a number.

use std::process::Command;
use std::time::{Duration, Instant};

use assay_api::request::SubmitItem;
use assay_client::{Client, Retry};
use assay_core::outcome::{ErrorCode, Outcome};
use assay_postgres::{Cluster, Options};
use assay_tests::{
    Answers, Host, HostOptions, Process, Psql, Spawned, item, ndjson, poll, program, signal,
};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

const PLUGIN: &str = "worker_load";
const SOON: Duration = Duration::from_secs(60);

/// A stage of the tests' guests may take so long.
const STAGE_TIMEOUT: Duration = Duration::from_secs(1);

/// Requests of one wave: enough to be in the middle of them for a while.
const WAVE: usize = 150;

/// Waves of requests with rewards that differ; most are quick, so that workers hold many at once,
/// and the last ones of each wave keep the workers busy while the test does its worst.
fn requests(waves: usize) -> Vec<SubmitItem> {
    let one = |at: usize| {
        let thousand_rounds = match at % WAVE {
            place if place >= WAVE - 24 => "300000",
            place if place.is_multiple_of(3) => "4000",
            _ => "10",
        };
        item(format!("request-{at}"), thousand_rounds, &at.to_string())
    };
    (0..waves * WAVE).map(one).collect()
}

/// Submits a wave and waits for a quarter of it. Returns whether it is in the middle of the wave: a
/// machine that stalls may show a quarter and the rest at once.
async fn wave(client: &Client, answers: &mut Answers, items: &[SubmitItem], wave: usize) -> bool {
    let from = wave * WAVE;
    let lines = ndjson(&items[from..from + WAVE]);
    let reply = client.submit_ndjson(answers.batch, lines).await.expect("submits");
    assert_eq!(reply.accepted as usize, WAVE);
    answers.follow(client, from + WAVE / 4).await;
    let batch = client.batch(answers.batch).await.expect("answers");
    batch.counts.finished() < batch.counts.submitted
}

/// At least half of the waves must have been interrupted, or nothing was tried.
fn check_interrupted(in_the_middle: &[bool]) {
    let interrupted = in_the_middle.iter().filter(|middle| **middle).count();
    assert!(interrupted * 2 >= in_the_middle.len(), "too late: {in_the_middle:?}");
}

async fn finish(host: &Host, answers: &mut Answers, items: &[SubmitItem]) {
    let by_key = answers.finish(&host.client(), items).await;
    for (at, item) in items.iter().enumerate() {
        let result = &by_key[&item.key];
        assert_eq!(result.outcome.reward(), Some(at as f64 / 8.0), "{result:?}");
        assert_eq!(result.outcome.kind(), "scored");
        let stages: Vec<_> = result.stages.iter().map(|stage| stage.stage.as_str()).collect();
        // Also when the first of them ended before a restart.
        assert_eq!(stages, ["prepare", "score"]);
    }
    answers.check_stored(&Psql::of_data(&host.data()));
}

fn workers(host: &Host) -> Vec<Process> {
    Process::children(host.pid(), "assay-worker")
}

fn postmaster(host: &Host) -> Process {
    Process::postgres(&host.data()).into_iter().next().expect("PostgreSQL runs")
}

#[tokio::test]
async fn killed_workers() {
    let host = Host::start(HostOptions::with_own_postgres());
    let plugin = host.publish(PLUGIN).await;
    let items = requests(6);
    let client = host.client();
    let mut answers = Answers::announce(&client, &plugin, items.len()).await;
    let mut in_the_middle = Vec::new();
    for round in 0..6 {
        in_the_middle.push(wave(&client, &mut answers, &items, round).await);
        let worker = poll(SOON, "a worker runs", || workers(&host).pop());
        worker.kill();
    }
    check_interrupted(&in_the_middle);
    finish(&host, &mut answers, &items).await;
}

#[tokio::test]
async fn killed_server_and_postgres() {
    let mut host = Host::start(HostOptions::with_own_postgres());
    let plugin = host.publish(PLUGIN).await;
    let items = requests(4);
    let mut answers = Answers::announce(&host.client(), &plugin, items.len()).await;

    let mut in_the_middle = vec![wave(&host.client(), &mut answers, &items, 0).await];
    let orphans = workers(&host);
    host.kill();
    poll(SOON, "workers die with their server", || {
        orphans.iter().all(|worker| !worker.lives()).then_some(())
    });
    host.restart();

    in_the_middle.push(wave(&host.client(), &mut answers, &items, 1).await);
    let killed = postmaster(&host);
    killed.kill();
    // The very same server goes on with the PostgreSQL that it starts again.
    in_the_middle.push(wave(&host.client(), &mut answers, &items, 2).await);
    let database = postmaster(&host);
    assert_ne!(database.pid, killed.pid);

    host.kill();
    database.kill();
    host.restart();
    wave(&host.client(), &mut answers, &items, 3).await;
    check_interrupted(&in_the_middle);
    finish(&host, &mut answers, &items).await;
}

/// A call that submits the first half and then waits; returns what lets it send the second.
fn submit_half_way(
    host: &Host,
    answers: &Answers,
    items: &[SubmitItem],
) -> (mpsc::Sender<bytes::Bytes>, tokio::task::JoinHandle<reqwest::Result<reqwest::Response>>) {
    let (sender, receiver) = mpsc::channel(2);
    let pieces = futures_util::stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|piece| (Ok::<_, std::io::Error>(piece), receiver))
    });
    sender.try_send(ndjson(&items[..items.len() / 2])).expect("there is room");
    let call = reqwest::Client::new()
        .post(format!("{}/v1/batches/{}/requests", host.url, answers.batch))
        .bearer_auth(&host.key)
        .header("content-type", "application/x-ndjson")
        .body(reqwest::Body::wrap_stream(pieces.boxed()));
    (sender, tokio::spawn(call.send()))
}

/// Sends the very same call again and again until it is answered.
async fn submit_again(host: &Host, answers: &Answers, items: &[SubmitItem]) -> (usize, usize) {
    let client = host.client().with_retry(Retry::LONG);
    let reply = client.submit_ndjson(answers.batch, ndjson(items)).await.expect("submits");
    assert_eq!(reply.rejected, 0, "{:?}", reply.items.first());
    (reply.accepted as usize, reply.repeated as usize)
}

#[tokio::test]
async fn killed_while_submitting() {
    let mut host = Host::start(HostOptions::with_own_postgres());
    let plugin = host.publish(PLUGIN).await;
    let items: Vec<_> =
        (0..3_000).map(|at| item(format!("request-{at}"), "1", &at.to_string())).collect();
    let mut answers = Answers::announce(&host.client(), &plugin, items.len()).await;

    // Whole chunks of the first half are committed and scored before the call has ended.
    let (half, call) = submit_half_way(&host, &answers, &items);
    answers.follow(&host.client(), 1).await;
    host.kill();
    call.await.expect("the call is not cancelled").expect_err("nobody acknowledged it");
    drop(half);
    host.restart();
    let batch = host.client().batch(answers.batch).await.expect("answers");
    let committed = batch.counts.submitted as usize;
    assert!((1..items.len()).contains(&committed), "{committed} were committed");

    let database = postmaster(&host);
    let (half, call) = submit_half_way(&host, &answers, &items);
    database.kill();
    half.try_send(ndjson(&items[items.len() / 2..])).expect("there is room");
    drop(half);
    let reply = call.await.expect("the call is not cancelled");
    let acknowledged = reply.is_ok_and(|reply| reply.status().is_success());
    if acknowledged {
        let batch = host.client().batch(answers.batch).await.expect("answers");
        assert_eq!(batch.counts.submitted as usize, items.len());
    } else {
        let (accepted, repeated) = submit_again(&host, &answers, &items).await;
        assert_eq!(accepted + repeated, items.len());
        assert!(repeated >= committed, "{repeated} repeated, {committed} were committed");
    }
    finish(&host, &mut answers, &items).await;
}

/// A request that nobody survives must end, as an error, and must not take others along.
#[tokio::test]
async fn a_request_that_kills_its_workers() {
    let host = Host::start(HostOptions {
        workers: vec!["cpu=1".into()],
        ..HostOptions::with_own_postgres()
    });
    let plugin = host.publish(PLUGIN).await;
    let quick = |at: usize| item(format!("request-{at}"), "10", &at.to_string());
    let mut items: Vec<_> = (0..20).map(quick).collect();
    items.push(item("poison", "4000000000", "1"));
    let client = host.client();
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let mut kills = 0;
    loop {
        let spinning = poll(SOON, "the request runs or has ended", || {
            let spinning = workers(&host).pop().filter(|worker| worker.thread_ticks("runner") > 30);
            if let Some(spinning) = spinning {
                return Some(Some(spinning));
            }
            let ended = Psql::of_data(&host.data()).rows("select 1 from outcomes where seq = 20");
            (!ended.is_empty()).then_some(None)
        });
        let Some(worker) = spinning else { break };
        worker.kill();
        kills += 1;
        assert!(kills <= 10, "it is tried for ever");
    }
    let by_key = answers.finish(&client, &items).await;
    match &by_key["poison"].outcome {
        Outcome::Error { code: ErrorCode::WorkerLost, retryable: true, attempts, .. } => {
            assert_eq!((*attempts, kills), (4, 4));
        }
        other => panic!("{other:?}"),
    }
    assert!(items[..20].iter().all(|item| by_key[&item.key].outcome.kind() == "scored"));
    answers.check_stored(&Psql::of_data(&host.data()));

    let items = requests(1);
    let mut after = Answers::submit(&client, &plugin, &items).await;
    finish(&host, &mut after, &items).await;
}

/// A worker that neither answers nor ends loses its requests to another; what it says when it wakes
/// up is not heard any more.
#[tokio::test]
async fn a_worker_that_hangs() {
    let host = Host::start(HostOptions::with_own_postgres());
    let plugin = host.publish(PLUGIN).await;
    let mut items: Vec<_> =
        (0..100).map(|at| item(format!("request-{at}"), "10", &at.to_string())).collect();
    items.push(item("long", "6000000", "100"));
    let client = host.client();
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let hanging = poll(SOON, "the long request runs", || {
        workers(&host).into_iter().find(|worker| worker.thread_ticks("runner") > 20)
    });
    signal(hanging.pid, "STOP");
    finish(&host, &mut answers, &items).await;
    let long = answers.seen.last().expect("there are results");
    assert_eq!(long.key, "long");
    let attempts: Vec<_> = long.stages.iter().map(|stage| stage.attempts).collect();
    assert!(attempts == [2, 1] || attempts == [1, 2], "{attempts:?}");

    signal(hanging.pid, "CONT");
    poll(SOON, "it leaves and another takes its place", || {
        (!hanging.lives() && workers(&host).len() == 2).then_some(())
    });
    finish(&host, &mut answers, &items).await;
}

/// A machine that stands still for longer than a stage may take makes no number of it: the stage goes on where it was.
#[tokio::test]
async fn a_worker_that_is_stopped_for_a_while() {
    let host = Host::start(HostOptions {
        workers: vec!["cpu=1".into()],
        ..HostOptions::with_own_postgres()
    });
    let plugin = host.publish("worker_brief").await;
    let items: Vec<_> =
        (0..16).map(|at| item(format!("request-{at}"), "150000", &at.to_string())).collect();
    let client = host.client();
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    for stop in 0..4 {
        let worker = poll(SOON, "a stage runs", || {
            workers(&host).pop().filter(|worker| worker.thread_ticks("runner") > stop * 20 + 5)
        });
        signal(worker.pid, "STOP");
        tokio::time::sleep(STAGE_TIMEOUT + STAGE_TIMEOUT / 2).await;
        signal(worker.pid, "CONT");
    }
    let by_key = answers.finish(&client, &items).await;
    for (at, item) in items.iter().enumerate() {
        let result = &by_key[&item.key];
        assert_eq!(result.outcome.reward(), Some(at as f64), "{result:?}");
        assert_eq!(result.outcome.kind(), "scored");
    }
}

#[tokio::test]
async fn asked_to_end() {
    let mut host = Host::start(HostOptions::with_own_postgres());
    let plugin = host.publish(PLUGIN).await;
    let items = requests(2);
    let mut answers = Answers::announce(&host.client(), &plugin, items.len()).await;
    // Somebody who follows the results must not hold the server up.
    let follower = reqwest::Client::new()
        .get(format!("{}/v1/batches/{}/results", host.url, answers.batch))
        .bearer_auth(&host.key)
        .header("accept", "application/x-ndjson")
        .send()
        .await
        .expect("answers");
    wave(&host.client(), &mut answers, &items, 0).await;
    let mut processes = Process::descendants(host.pid());
    processes.extend(Process::postgres(&host.data()));
    assert!(processes.len() >= 4, "two workers and PostgreSQL: {processes:?}");

    let asked = Instant::now();
    assert!(host.stop(), "it ended with a failure:\n{}", host.log());
    assert!(asked.elapsed() < Duration::from_secs(20), "it took {:?}", asked.elapsed());
    poll(Duration::from_secs(60), "nothing is left behind", || {
        processes.iter().all(|process| !process.lives()).then_some(())
    });
    drop(follower);
    host.restart();
    wave(&host.client(), &mut answers, &items, 1).await;
    finish(&host, &mut answers, &items).await;
}

#[tokio::test]
async fn a_standby_takes_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start(Options { data: folder.path().join("shared") }).await;
    let cluster = cluster.expect("PostgreSQL starts");
    let url = cluster.url().to_owned();
    let mut first = Host::start(HostOptions {
        database_url: Some(url.clone()),
        ..HostOptions::with_own_postgres()
    });
    // Objects are shared like the database is.
    let data = folder.path().join("standby");
    std::fs::create_dir(&data).expect("makes the folder");
    std::os::unix::fs::symlink(first.data().join("objects"), data.join("objects")).expect("links");

    let plugin = first.publish(PLUGIN).await;
    let items = requests(2);
    let mut answers = Answers::announce(&first.client(), &plugin, items.len()).await;
    wave(&first.client(), &mut answers, &items, 0).await;
    let mut command = Command::new(program("assay"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--workers", "cpu=2", "--data"]).arg(&data);
    command.arg("--ready-file").arg(data.join("ready")).args(["--database-url", &url]);
    let mut second = Spawned::start(&mut command);
    second.wait_for("standing by", SOON);
    wave(&first.client(), &mut answers, &items, 1).await;
    assert!(!data.join("ready").exists(), "two servers dispatch at once");

    first.kill();
    second.wait_for("ready on", SOON);
    let ready = std::fs::read(data.join("ready")).expect("it is ready");
    let ready: serde_json::Value = serde_json::from_slice(&ready).expect("JSON");
    let client =
        Client::new(ready["url"].as_str().expect("a text"), ready["key"].as_str().expect("a text"));
    let client = client.expect("a client");
    let by_key = answers.finish(&client, &items).await;
    for (at, item) in items.iter().enumerate() {
        assert_eq!(by_key[&item.key].outcome.reward(), Some(at as f64 / 8.0));
    }
    answers.check_stored(&Psql::of_cluster(&cluster));
    second.signal("TERM");
    assert!(second.wait(SOON).success());
    cluster.stop().await;
}

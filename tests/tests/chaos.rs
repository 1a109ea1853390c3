//! Whatever is killed in the middle of a batch, every request of it is answered exactly once, with
//! the right reward, and a failure is never a number.

use std::process::Command;
use std::time::{Duration, Instant};

use assay_api::batch::SealBatch;
use assay_api::request::SubmitItem;
use assay_client::{Client, Retry};
use assay_core::id::RequestId;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_postgres::{Cluster, Options};
use assay_tests::{
    Answers, Host, HostOptions, Process, Psql, Spawned, item, ndjson, poll, program, signal, until,
};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

const PLUGIN: &str = "worker_load";
const SOON: Duration = Duration::from_secs(120);

/// A stage of `worker_brief` may take so long.
const BRIEF_TIMEOUT: Duration = Duration::from_secs(2);

/// Requests of one wave: enough to be in the middle of them for a while.
const WAVE: usize = 150;
/// Waves that may be over before they were seen, one after the other.
const TRIES: usize = 10;

/// A batch whose requests come in waves, until there were enough of them.
struct Waves {
    answers: Answers,
    items: Vec<SubmitItem>,
}

/// Rewards differ; most requests are quick, so that workers hold many at once, and the last ones of each
/// wave keep the workers busy while the test does its worst.
fn request(at: usize) -> SubmitItem {
    let thousand_rounds = match at % WAVE {
        place if place >= WAVE - 24 => "60000",
        place if place.is_multiple_of(3) => "4000",
        _ => "10",
    };
    item(format!("request-{at}"), thousand_rounds, &at.to_string())
}

impl Waves {
    async fn announce(client: &Client, plugin: &str) -> Self {
        Self { answers: Answers::announce_open(client, plugin).await, items: Vec::new() }
    }

    /// Submits waves until it is in the middle of one: a machine that stalls may show a quarter of a wave
    /// and the rest at once.
    async fn until_in_the_middle(&mut self, client: &Client) {
        for _ in 0..TRIES {
            let from = self.items.len();
            self.items.extend((from..from + WAVE).map(request));
            let lines = ndjson(&self.items[from..]);
            let reply = client.submit_ndjson(self.answers.batch, lines).await.expect("submits");
            assert_eq!(reply.accepted as usize, WAVE);
            self.answers.follow(client, from + WAVE / 4).await;
            let batch = client.batch(self.answers.batch).await.expect("answers");
            if batch.counts.finished() < batch.counts.submitted {
                return;
            }
        }
        panic!("{TRIES} waves were over before they were seen to have begun");
    }

    async fn finish(mut self, client: &Client, database: &Psql) {
        client.seal(self.answers.batch, &SealBatch::default()).await.expect("seals");
        finish(client, database, &mut self.answers, &self.items).await;
    }
}

async fn finish(client: &Client, database: &Psql, answers: &mut Answers, items: &[SubmitItem]) {
    let by_key = answers.finish(client, items).await;
    for (at, item) in items.iter().enumerate() {
        let result = &by_key[&item.key];
        assert_eq!(result.outcome.reward(), Some(at as f64 / 8.0), "{result:?}");
        assert_eq!(result.outcome.kind(), "scored");
        let stages: Vec<_> = result.stages.iter().map(|stage| stage.stage.as_str()).collect();
        // Also when the first of them ended before a restart.
        assert_eq!(stages, ["prepare", "score"]);
    }
    answers.check_stored(database);
}

fn database(host: &Host) -> Psql {
    Psql::of_data(&host.data())
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
    let client = host.client();
    let mut waves = Waves::announce(&client, &plugin).await;
    for _ in 0..6 {
        waves.until_in_the_middle(&client).await;
        let worker = poll(SOON, "a worker runs", || workers(&host).pop());
        worker.kill();
    }
    waves.finish(&client, &database(&host)).await;
}

#[tokio::test]
async fn killed_server_and_postgres() {
    let mut host = Host::start(HostOptions::with_own_postgres());
    let plugin = host.publish(PLUGIN).await;
    let mut waves = Waves::announce(&host.client(), &plugin).await;

    waves.until_in_the_middle(&host.client()).await;
    let orphans = workers(&host);
    host.kill();
    poll(SOON, "workers die with their server", || {
        orphans.iter().all(|worker| !worker.lives()).then_some(())
    });
    host.restart();

    waves.until_in_the_middle(&host.client()).await;
    let killed = postmaster(&host);
    killed.kill();
    // The very same server goes on with the PostgreSQL that it starts again.
    waves.until_in_the_middle(&host.client()).await;
    let postgres = postmaster(&host);
    assert_ne!(postgres.pid, killed.pid);

    host.kill();
    postgres.kill();
    host.restart();
    waves.until_in_the_middle(&host.client()).await;
    waves.finish(&host.client(), &database(&host)).await;
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

    let postgres = postmaster(&host);
    let (half, call) = submit_half_way(&host, &answers, &items);
    postgres.kill();
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
    finish(&host.client(), &database(&host), &mut answers, &items).await;
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
    let mut killed = 0;
    loop {
        let running = until("the request runs or has ended", async || {
            let is_poison = |request: RequestId| request.seq == 20;
            if let Some(worker) = Process::running(&client, is_poison).await.pop() {
                return Some(Some(worker));
            }
            let ended = database(&host).rows("select 1 from all_outcomes where seq = 20");
            (!ended.is_empty()).then_some(None)
        });
        let Some(worker) = running.await else { break };
        worker.kill();
        killed += 1;
        assert!(killed <= 10, "it is tried for ever");
    }
    let by_key = answers.finish(&client, &items).await;
    match &by_key["poison"].outcome {
        Outcome::Error { code: ErrorCode::WorkerLost, retryable: true, attempts, .. } => {
            // One may be killed that had started the request before it was revoked, which is no try.
            assert!(*attempts == 4 && killed >= 4, "{attempts} of {killed}");
        }
        other => panic!("{other:?}"),
    }
    assert!(items[..20].iter().all(|item| by_key[&item.key].outcome.kind() == "scored"));
    answers.check_stored(&database(&host));

    let items: Vec<_> = (0..WAVE).map(request).collect();
    let mut after = Answers::submit(&client, &plugin, &items).await;
    finish(&client, &database(&host), &mut after, &items).await;
}

/// A worker that neither answers nor ends loses its requests to another; what it says when it wakes
/// up is not heard any more.
#[tokio::test]
async fn a_worker_that_hangs() {
    let host = Host::start(HostOptions::with_own_postgres());
    let plugin = host.publish(PLUGIN).await;
    let mut items = vec![item("long", "6000000", "0")];
    items.extend((1..=100).map(|at| item(format!("request-{at}"), "10", &at.to_string())));
    let client = host.client();
    let mut answers = Answers::announce(&client, &plugin, items.len()).await;
    client.submit_ndjson(answers.batch, ndjson(&items[..1])).await.expect("submits");
    let hanging =
        until("the long request runs", async || Process::running(&client, |_| true).await.pop())
            .await;
    signal(hanging.pid, "STOP");
    client.submit_ndjson(answers.batch, ndjson(&items[1..])).await.expect("submits");
    finish(&client, &database(&host), &mut answers, &items).await;
    let long = answers.seen.iter().find(|it| it.key == "long").expect("it was answered");
    let attempts: Vec<_> = long.stages.iter().map(|stage| stage.attempts).collect();
    assert!(attempts == [2, 1] || attempts == [1, 2], "{attempts:?}");

    signal(hanging.pid, "CONT");
    poll(SOON, "it leaves and another takes its place", || {
        (!hanging.lives() && workers(&host).len() == 2).then_some(())
    });
    finish(&client, &database(&host), &mut answers, &items).await;
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
        (0..24).map(|at| item(format!("request-{at}"), "2000000", &at.to_string())).collect();
    let client = host.client();
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    for stop in 0..4 {
        let worker = poll(SOON, "a stage runs", || {
            workers(&host).pop().filter(|worker| worker.thread_ticks("runner") > stop * 20 + 5)
        });
        signal(worker.pid, "STOP");
        tokio::time::sleep(BRIEF_TIMEOUT + BRIEF_TIMEOUT / 2).await;
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
    let mut waves = Waves::announce(&host.client(), &plugin).await;
    // Somebody who follows the results must not hold the server up.
    let follower = reqwest::Client::new()
        .get(format!("{}/v1/batches/{}/results", host.url, waves.answers.batch))
        .bearer_auth(&host.key)
        .header("accept", "application/x-ndjson")
        .send()
        .await
        .expect("answers");
    waves.until_in_the_middle(&host.client()).await;
    let mut processes = Process::descendants(host.pid());
    processes.extend(Process::postgres(&host.data()));
    assert!(processes.len() >= 4, "two workers and PostgreSQL: {processes:?}");

    let asked = Instant::now();
    assert!(host.stop(), "it ended with a failure:\n{}", host.log());
    // Who follows would hold it for ever; a machine that stalls does for seconds.
    assert!(asked.elapsed() < SOON, "it took {:?}", asked.elapsed());
    poll(Duration::from_secs(60), "nothing is left behind", || {
        processes.iter().all(|process| !process.lives()).then_some(())
    });
    drop(follower);
    host.restart();
    waves.until_in_the_middle(&host.client()).await;
    waves.finish(&host.client(), &database(&host)).await;
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
    let mut waves = Waves::announce(&first.client(), &plugin).await;
    waves.until_in_the_middle(&first.client()).await;
    let mut command = Command::new(program("assay"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--workers", "cpu=2", "--data"]).arg(&data);
    command.arg("--ready-file").arg(data.join("ready")).args(["--database-url", &url]);
    let mut second = Spawned::start(&mut command);
    second.wait_for("standing by", SOON);
    waves.until_in_the_middle(&first.client()).await;
    assert!(!data.join("ready").exists(), "two servers dispatch at once");

    first.kill();
    second.wait_for("ready on", SOON);
    let ready = std::fs::read(data.join("ready")).expect("it is ready");
    let ready: serde_json::Value = serde_json::from_slice(&ready).expect("JSON");
    let client =
        Client::new(ready["url"].as_str().expect("a text"), ready["key"].as_str().expect("a text"));
    let client = client.expect("a client");
    waves.finish(&client, &Psql::of_cluster(&cluster)).await;
    second.signal("TERM");
    assert!(second.wait(SOON).success());
    cluster.stop().await;
}

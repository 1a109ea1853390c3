//! Pools that grow and shrink: on demand, ahead of an announced batch, under a quota that moves, and
//! whatever becomes of the workers. A busy worker is never stopped.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use assay_api::batch::{AnnounceBatch, Batch};
use assay_api::capacity::{Capacity, PoolCapacity, PoolWorkers, SetCapacity};
use assay_api::request::{Reward, SubmitItem};
use assay_api::result::ResultItem;
use assay_client::Client;
use assay_core::time::Micros;
use assay_tests::{
    Answers, Host, HostOptions, Http, Process, Sleepers, assay, item, ndjson, poll, program, until,
    until_good,
};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(120);
const PLUGIN: &str = "worker_load";

fn start(workers: &str, arguments: &[&str]) -> Host {
    let arguments = ["--period-s", "1"].iter().chain(arguments);
    Host::start(HostOptions {
        workers: vec![workers.into()],
        arguments: arguments.map(|&argument| argument.to_owned()).collect(),
        ..HostOptions::default()
    })
}

/// Requests that each take so many thousand rounds in both of their stages.
fn requests(count: usize, thousand_rounds: &str) -> Vec<SubmitItem> {
    (0..count).map(|at| item(format!("r{at}"), thousand_rounds, &at.to_string())).collect()
}

fn cpu_of(capacity: &Capacity) -> PoolCapacity {
    let cpu = capacity.pools.iter().find(|pool| pool.pool == "cpu");
    cpu.expect("there is a cpu pool").clone()
}

async fn cpu(client: &Client) -> PoolCapacity {
    cpu_of(&client.capacity().await.expect("answers"))
}

async fn workers(client: &Client, what: &str, good: impl Fn(PoolWorkers) -> bool) -> PoolCapacity {
    let capacity = async || client.capacity().await.expect("answers");
    cpu_of(&until_good(what, capacity, |capacity| good(cpu_of(capacity).workers)).await)
}

fn processes(host: &Host) -> Vec<Process> {
    Process::children(host.pid(), "assay-worker")
}

async fn nobody(host: &Host) {
    workers(&host.client(), "every worker goes", |workers| workers == PoolWorkers::default()).await;
    poll(SOON, "their processes end", || processes(host).is_empty().then_some(()));
}

/// A stage that ran twice was taken from a worker that had it.
fn check_once(results: impl IntoIterator<Item = ResultItem>) {
    for result in results {
        assert_eq!(result.outcome.kind(), "scored", "{result:?}");
        assert!(result.stages.iter().all(|stage| stage.attempts == 1), "{result:?}");
    }
}

async fn set(client: &Client, min: u32, max: u32) -> PoolCapacity {
    client.set_capacity("cpu", &SetCapacity { min, max }).await.expect("sets")
}

/// Sets a lower maximum, until the plan follows it: a worker that finishes before that goes on working.
async fn lower(client: &Client, max: u32) {
    set(client, 0, max).await;
    until("the plan follows the quota", async || {
        cpu(client).await.target.filter(|target| target.ceiling <= max)
    })
    .await;
}

#[tokio::test]
async fn from_nothing_to_nothing_again_and_again() {
    let host = start("cpu=0..3", &["--linger-s", "0"]);
    let client = host.client();
    let plugin = host.publish(PLUGIN).await;
    until("a first plan", async || client.capacity().await.expect("answers").plan).await;
    let idle = cpu(&client).await;
    assert_eq!((idle.min, idle.max, idle.workers), (0, 3, PoolWorkers::default()));
    for round in 0..3 {
        let items = requests(20 + round, if round == 1 { "20" } else { "30000" });
        let mut answers = Answers::submit(&client, &plugin, &items).await;
        check_once(answers.finish(&client, &items).await.into_values());
        nobody(&host).await;
    }
    let after = cpu(&client).await;
    assert!(after.startup_ms.is_some_and(|ms| ms > 0.0), "{after:?}");
    assert_eq!(after.trouble, None);
    assert!(!host.log().contains("a worker ended"), "none ended but those that were asked to");
}

async fn announce(client: &Client, plugin: &str, iteration: u64, size: u32) -> Batch {
    let announcement = AnnounceBatch {
        plugin: plugin.into(),
        run: "warm".into(),
        iteration,
        expected_size: Some(size),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    };
    client.announce(&announcement).await.expect("announces")
}

/// The planner knows from the run's first batch what the second will need.
#[tokio::test]
async fn an_announced_batch_finds_its_workers_ready() {
    let host = start("cpu=0..2", &["--linger-s", "0"]);
    let client = host.client();
    let plugin = host.publish(PLUGIN).await;
    let items = requests(8, "30000");
    let first = announce(&client, &plugin, 1, 8).await;
    client.submit_ndjson(first.id, ndjson(&items)).await.expect("submits");
    client.wait_batch(first.id, SOON).await.expect("answers");
    nobody(&host).await;

    let second = announce(&client, &plugin, 2, 8).await;
    let warm = workers(&client, "workers are there before any request", |workers| {
        workers.idle > 0 && workers.busy == 0
    })
    .await;
    let target = warm.target.expect("there is a plan");
    assert!(target.hold > 0 && !target.why.is_empty(), "{target:?}");
    assert_eq!(client.batch(second.id).await.expect("answers").counts.submitted, 0);
    client.cancel(second.id).await.expect("cancels");
    nobody(&host).await;
}

/// A batch that so many workers run at this moment. A machine that stalls may show it at its end only; then
/// comes another.
async fn at_work(client: &Client, plugin: &str, items: &[SubmitItem], busy: u32) -> Answers {
    for _ in 0..10 {
        let answers = Answers::submit(client, plugin, items).await;
        let seen = until("the batch runs or has ended", async || {
            if cpu(client).await.workers.busy == busy {
                return Some(true);
            }
            let batch = client.batch(answers.batch).await.expect("answers");
            batch.state.is_final().then_some(false)
        });
        if seen.await {
            return answers;
        }
    }
    panic!("{busy} workers were never seen at work");
}

#[tokio::test]
async fn a_killed_worker_is_replaced() {
    let host = start("cpu=1..2", &[]);
    let client = host.client();
    let plugin = host.publish(PLUGIN).await;
    workers(&client, "a worker is kept", |workers| workers.idle == 1).await;
    let killed = processes(&host);
    killed[0].kill();
    let other = poll(SOON, "another one", || processes(&host).pop().filter(|p| *p != killed[0]));
    assert_ne!(other.pid, killed[0].pid);
    workers(&client, "it joins", |workers| workers.idle == 1 && workers.starting == 0).await;
    assert!(host.log().contains("a worker ended: signal: 9"), "the log says why it went");

    let items = requests(12, "100000");
    let mut answers = at_work(&client, &plugin, &items, 2).await;
    processes(&host).iter().for_each(Process::kill);
    answers.finish(&client, &items).await;
    assert_eq!(cpu(&client).await.trouble, None);
}

/// A worker program that fails to serve while a file is there.
fn failing(folder: &Path) -> String {
    let path = folder.join("assay-worker");
    let (broken, real) = (folder.join("broken"), program("assay-worker"));
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = serve ] && [ -e '{}' ]; then exit 3; fi\nexec '{}' \"$@\"\n",
        broken.display(),
        real.display()
    );
    std::fs::write(&path, script).expect("writes");
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("sets");
    std::fs::write(broken, "").expect("writes");
    path.to_str().expect("a plain path").to_owned()
}

#[tokio::test]
async fn a_worker_program_that_cannot_start_is_told_and_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = start("cpu=2", &["--worker-program", &failing(folder.path())]);
    let client = host.client();
    let plugin = host.publish(PLUGIN).await;
    let trouble = until("some tries fail", async || {
        cpu(&client).await.trouble.filter(|trouble| trouble.failures >= 6)
    })
    .await;
    assert!(trouble.error.contains("before it joined: exit status: 3"), "{trouble:?}");
    let pause = trouble.next_try_at.since(trouble.failed_at);
    assert!(pause >= Micros::from_ms(200), "the pause doubles at each try: {pause:?}");
    let log = host.log();
    assert!(log.contains("a worker cannot be started, the next try comes in 50 ms"), "{log}");
    let said = assay(Some(&host), &["capacity"]);
    assert!(said.stdout.contains("failed starts, the last at"), "{said:?}");
    let ready: Value = Http::new(&host).get("/readyz").await.json(200);
    assert_eq!(ready["workers"], 0);

    std::fs::remove_file(folder.path().join("broken")).expect("removes");
    let call = json!({ "plugin": plugin, "response": "1", "label": 8 });
    let reward: Reward = Http::new(&host).post("/v1/rewards", &call).await.json(200);
    assert_eq!(reward.outcome.reward(), Some(1.0));
    let well = workers(&client, "both are there", |workers| workers.idle == 2).await;
    assert_eq!(well.trouble, None);
}

#[tokio::test]
async fn a_quota_moves_while_a_batch_runs_and_stays_over_a_restart() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let mut host = start_sleepers(&sleepers, "cpu=0..1", &["--linger-s", "0"]);
    let client = host.client();
    let plugin = host.publish("two_pools").await;
    let gates = ["first", "second", "third"];
    let mut items: Vec<_> = gates.iter().flat_map(|gate| gated(6, gate)).collect();
    items.extend((0..4).map(|at| item(format!("last{at}"), "10 0", "null")));
    let mut answers = Answers::announce(&client, &plugin, items.len()).await;
    // Up and down, each time in the middle of the work.
    for ((round, gate), wave) in (1..).zip(gates).zip(items.chunks(6)) {
        client.submit(answers.batch, wave).await.expect("submits");
        workers(&client, "one works", |workers| workers.busy == 1).await;
        let raised = set(&client, 0, 3).await;
        assert_eq!((raised.min, raised.max), (0, 3));
        workers(&client, "three work", |workers| workers.busy == 3).await;
        lower(&client, 1).await;
        sleepers.open(gate);
        workers(&client, "two of them finish and go", |workers| {
            workers.idle + workers.busy <= 1 && workers.draining == 0 && workers.starting == 0
        })
        .await;
        answers.follow(&client, 6 * round).await;
    }
    let said: PoolCapacity =
        assay(Some(&host), &["capacity", "set", "cpu", "2..4", "-o", "json"]).json(0);
    assert_eq!((said.min, said.max), (2, 4));
    client.submit(answers.batch, &items[18..]).await.expect("submits");
    check_once(answers.finish(&client, &items).await.into_values());
    let kept = workers(&client, "two are kept", |workers| workers.idle == 2).await;
    assert_eq!(kept.queued, 0);

    assert!(host.stop());
    host.restart();
    let client = host.client();
    let again = workers(&client, "two are kept", |workers| workers.idle == 2).await;
    assert_eq!((again.min, again.max), (2, 4));
    let log = host.log();
    assert!(log.contains("this pool has 2..4 workers, as set at"), "{log}");
    assert!(log.contains("the workers of a pool were set from 0..1 to 0..3"), "{log}");
}

/// Two pools whose stages sleep.
fn start_sleepers(sleepers: &Sleepers, workers: &str, arguments: &[&str]) -> Host {
    let program = sleepers.program();
    let options = ["--worker-program", &program, "--workers", "gpu=0..8"];
    start(workers, &[&options, arguments].concat())
}

/// As many requests as this, whose first stage lasts until the gate opens.
fn gated(count: usize, gate: &str) -> Vec<SubmitItem> {
    (0..count).map(|at| item(format!("{gate}{at}"), &format!("{gate} 0"), "null")).collect()
}

/// Busy workers above the maximum finish and are not replaced; when it is raised, more start at once.
#[tokio::test]
async fn a_lowered_quota_takes_workers_as_they_finish() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = start_sleepers(&sleepers, "cpu=0..8", &["--linger-s", "0"]);
    let client = host.client();
    let plugin = host.publish("two_pools").await;
    let gate = |at: usize| format!("gate{at}");
    let one = |at| item(format!("r{at}"), &format!("{} 0", gate(at)), "null");
    let items: Vec<_> = (0..60).map(one).collect();
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    workers(&client, "eight work", |workers| workers.busy == 8).await;
    lower(&client, 2).await;
    // One after the other may finish; one that goes is listed for a moment with what it ran last.
    let mut finished = BTreeSet::new();
    for left in (2..8).rev() {
        let running = until("one runs that may not finish yet", async || {
            let listed = client.workers().await.expect("answers").items;
            let running = listed.into_iter().filter(|worker| worker.pool == "cpu");
            let mut seqs = running.filter_map(|worker| Some(worker.running?.request.seq));
            seqs.find(|seq| !finished.contains(seq))
        });
        let seq = running.await;
        finished.insert(seq);
        sleepers.open(&gate(seq as usize));
        workers(&client, "it goes, and nobody else", |workers| {
            let alive = workers.starting + workers.idle + workers.busy;
            assert!(alive >= left && workers.busy >= left && alive <= left + 1, "{workers:?}");
            alive == left
        })
        .await;
    }
    assert!(cpu(&client).await.queued > 20, "there was work for all of them");
    set(&client, 0, 6).await;
    workers(&client, "six work", |workers| workers.busy == 6).await;
    (0..items.len()).for_each(|at| sleepers.open(&gate(at)));
    check_once(answers.finish(&client, &items).await.into_values());
}

/// Its workers go one after the other; what one ran must not be handed on until it counts as lost.
#[tokio::test]
async fn a_server_that_stops_ends_no_request() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let mut host = start_sleepers(&sleepers, "cpu=8", &[]);
    let client = host.client();
    let plugin = host.publish("two_pools").await;
    workers(&client, "all are there", |workers| workers.idle == 8).await;
    let items: Vec<_> = (0..2).map(|at| item(format!("r{at}"), "1500 0", "null")).collect();
    let mut answers = at_work(&client, &plugin, &items, 2).await;
    assert!(host.stop());
    host.restart();
    check_once(answers.finish(&host.client(), &items).await.into_values());
}

/// Processes that are on their way when the server stops go with it.
#[tokio::test]
async fn a_server_stops_while_its_workers_start() {
    let sleepers = Sleepers::starting_in(Duration::from_secs(20));
    let mut host = start_sleepers(&sleepers, "cpu=4", &[]);
    let starting = poll(SOON, "four processes", || {
        Some(Process::children(host.pid(), "assay-sleeper")).filter(|started| started.len() == 4)
    });
    assert!(host.stop());
    assert!(starting.iter().all(|process| !process.lives()), "they ended with it");
}

/// A single reward that follows another soon finds its worker.
#[tokio::test]
async fn single_rewards_share_a_worker_that_lingers() {
    let host = start("cpu=0..4", &["--linger-s", "20"]);
    let plugin = host.publish(PLUGIN).await;
    let http = Http::new(&host);
    let call = json!({ "plugin": plugin, "response": "1", "label": 8 });
    let mut before = Vec::new();
    for round in 0..4 {
        let reward: Reward = http.post("/v1/rewards", &call).await.json(200);
        assert_eq!(reward.outcome.reward(), Some(1.0));
        let now = processes(&host);
        assert!(round == 0 || now == before, "{before:?}, then {now:?}");
        before = now;
    }
    let metrics = http.get("/metrics").await.text();
    let one = "assay_worker_start_seconds_count{pool=\"cpu\"} 1";
    assert!(metrics.contains(one), "{metrics}");
}

/// After calls that set a pool at the same time, the stored bounds are those that hold.
#[tokio::test]
async fn quotas_that_are_set_at_once_leave_one() {
    let host = start("cpu=0..1", &[]);
    let client = host.client();
    let told = join_all((0..24).map(|at| set(&client, 0, at % 5))).await;
    assert_eq!(told.len(), 24);
    let now = cpu(&client).await;
    let stored =
        host.psql().rows("select workers_min, workers_max from capacity where pool = 'cpu'");
    assert_eq!(stored, [format!("{}|{}", now.min, now.max)]);
}

#[tokio::test]
async fn what_is_no_quota_is_refused() {
    let host = start("cpu=0..2", &["--planner", "fixed"]);
    let client = host.client();
    workers(&client, "this planner keeps the most", |workers| workers.idle == 2).await;
    let http = Http::new(&host);
    let put = async |path: &str, body: &Value| {
        http.send(http.request(Method::PUT, path).json(body)).await
    };
    for (pool, body, says) in [
        ("cpu", json!({ "min": 3, "max": 2 }), "min must be 0 to max, and max at most 1024"),
        ("cpu", json!({ "min": 0, "max": 1025 }), "max at most 1024"),
        ("cpu", json!({ "min": -1, "max": 2 }), "invalid value"),
        ("cpu", json!({ "max": 2 }), "missing field `min`"),
        ("cpu", json!({ "min": 0, "max": 2, "gpu": 1 }), "unknown field `gpu`"),
        ("C%20P", json!({ "min": 0, "max": 2 }), "pool"),
    ] {
        let problem = put(&format!("/v1/capacity/{pool}"), &body).await;
        let problem = problem.problem(400, "bad_request");
        assert!(problem.detail.contains(says), "`{says}` is not in {problem:?}");
    }
    let said = assay(Some(&host), &["capacity", "set", "cpu", "4..2"]);
    assert!(
        said.code != Some(0) && said.stderr.contains("a minimum above its maximum"),
        "{said:?}"
    );

    // A pool that is new, and one that is given up.
    let _: PoolCapacity = put("/v1/capacity/spare", &json!({ "min": 0, "max": 1 })).await.json(200);
    let spare = |capacity: &Capacity| {
        capacity.pools.iter().find(|pool| pool.pool == "spare").map(|pool| pool.workers.idle)
    };
    until("it gets its worker", async || {
        (spare(&client.capacity().await.expect("answers")) == Some(1)).then_some(())
    })
    .await;
    set(&client, 0, 0).await;
    workers(&client, "the others go", |workers| workers == PoolWorkers::default()).await;
    let listed = assay(Some(&host), &["capacity", "ls"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.stdout.starts_with("planner fixed; last plan "), "{}", listed.stdout);

    let metrics = http.get("/metrics").await.text();
    for line in [
        "assay_pool_workers{pool=\"spare\",state=\"idle\"} 1",
        "assay_pool_workers{pool=\"cpu\",state=\"starting\"} 0",
        "assay_planner_target_workers{pool=\"spare\",kind=\"hold\"} 1",
        "assay_planner_target_workers{pool=\"cpu\",kind=\"ceiling\"} 0",
        "assay_planner_target_workers{pool=\"cpu\",kind=\"zero_queue\"} 0",
        "assay_stage_queue_requests{pool=\"cpu\"} 0",
        "assay_planner_seconds_bucket{le=\"0.1\"}",
        "assay_worker_start_seconds_count{pool=\"cpu\"} 2",
    ] {
        assert!(metrics.contains(line), "`{line}` is not in\n{metrics}");
    }
}

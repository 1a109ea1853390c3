//! A machine with too few processors makes no number: a stage that is ready and does not run is not timed out, and the
//! operator hears of it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay_api::operations::{IncidentFilter, IncidentKind};
use assay_client::Client;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_tests::{Answers, Host, HostOptions, Http, Process, Sleepers, item, sampled, until};

/// The timeout of a stage of `worker_second`, in milliseconds.
const TIMEOUT_MS: f64 = 1_000.0;
/// Thousand rounds of the requests by which the speed of this machine is measured.
const MEASURED_ROUNDS: u64 = 100_000;
const MEASURED_REQUESTS: u64 = 4;
/// The processor time of a request, in ticks of 10 ms.
const REQUEST_TICKS: f64 = 9.5;
/// With four busy loops on each core, a thread of this niceness gets about a twentieth of one.
const NICENESS: &str = "7";
const LOOPS_PER_CORE: usize = 4;

/// Ends with the value.
struct BusyLoop(Child);

impl BusyLoop {
    fn start() -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Self(shell.spawn().expect("there is a shell"))
    }
}

impl Drop for BusyLoop {
    fn drop(&mut self) {
        self.0.kill().expect("our child");
        self.0.wait().expect("our child");
    }
}

fn workers(host: &Host) -> Vec<Process> {
    Process::children(host.pid(), "assay-worker")
}

/// All threads of all workers give way to others from now on.
fn give_way(host: &Host) {
    let mut renice = Command::new("renice");
    renice.args(["-n", NICENESS, "-p"]).stdout(Stdio::null());
    for worker in workers(host) {
        let threads = std::fs::read_dir(format!("/proc/{}/task", worker.pid)).expect("it runs");
        renice.args(threads.map(|thread| thread.expect("a thread").file_name()));
    }
    assert!(renice.status().expect("util-linux is there").success());
}

/// Thousand rounds that take [`REQUEST_TICKS`] on this machine.
async fn measure(host: &Host, client: &Client, plugin: &str) -> u64 {
    let ticks = || workers(host).iter().map(|worker| worker.thread_ticks("runner")).sum::<u64>();
    let submit = async |rounds: u64| {
        let item = |at| item(format!("measured-{rounds}-{at}"), &rounds.to_string(), "0");
        let items: Vec<_> = (0..MEASURED_REQUESTS).map(item).collect();
        Answers::submit(client, plugin, &items).await.finish(client, &items).await;
    };
    // The plugin is loaded once.
    submit(1).await;
    let before = ticks();
    submit(MEASURED_ROUNDS).await;
    let each = (ticks() - before).max(1) as f64 / MEASURED_REQUESTS as f64;
    (MEASURED_ROUNDS as f64 * REQUEST_TICKS / each) as u64
}

/// The value of a metric's first line that begins so.
async fn metric(http: &Http, line: &str) -> Option<f64> {
    let metrics = http.get("/metrics").await.text();
    let value = metrics.lines().find_map(|it| it.strip_prefix(line)).map(str::trim);
    value.and_then(|value| value.parse().ok())
}

#[tokio::test]
async fn niced_workers_beside_busy_loops() {
    let host = Host::start(HostOptions::default());
    let plugin = host.publish("worker_second").await;
    let (client, http) = (host.client(), Http::new(&host));
    let rounds = measure(&host, &client, &plugin).await.to_string();
    give_way(&host);
    let cores = std::thread::available_parallelism().expect("it is known").get();
    let loops: Vec<_> = (0..LOOPS_PER_CORE * cores).map(|_| BusyLoop::start()).collect();

    let requests = |at: u32| item(format!("request-{at}"), &rounds, &at.to_string());
    let items: Vec<_> = sampled(16, 0..16 * 24).map(requests).collect();
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let by_key = answers.finish(&client, &items).await;
    drop(loops);
    let mut waited = 0;
    for result in by_key.values() {
        match &result.outcome {
            Outcome::Scored(scored) => assert_eq!(result.key, format!("request-{}", scored.reward)),
            Outcome::Error { code: ErrorCode::LeaseExpired, .. } => {}
            other => panic!("{other:?}"),
        }
        waited += usize::from(result.stages.iter().any(|stage| stage.ran_ms > TIMEOUT_MS));
    }
    assert!(waited > 0, "no request was kept waiting for as long as its timeout: {by_key:?}");
    let delay = "assay_worker_run_delay_seconds_sum{pool=\"cpu\"}";
    until("the delay is counted", async || metric(&http, delay).await.filter(|sum| *sum > 1.0))
        .await;
}

#[tokio::test]
async fn a_worker_that_was_starved_is_told_and_its_stage_is_tried_again() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = Host::start(HostOptions {
        workers: vec!["cpu=1".into(), "gpu=1".into()],
        arguments: vec!["--worker-program".into(), sleepers.program()],
        ..HostOptions::default()
    });
    let plugin = host.publish("two_pools").await;
    let (client, http) = (host.client(), Http::new(&host));
    let items = [item("starved", "starved 1", "1")];
    let by_key = Answers::submit(&client, &plugin, &items).await.finish(&client, &items).await;
    let result = &by_key["starved"];
    assert_eq!(result.outcome.kind(), "scored", "{result:?}");
    assert_eq!(result.stages[0].attempts, 3, "{result:?}");

    let starved = metric(&http, "assay_stages_starved_total{pool=\"cpu\"}").await;
    assert_eq!(starved, Some(2.0));
    let filter = IncidentFilter { kind: Some(IncidentKind::WorkerStarved), ..Default::default() };
    let told = until("both are told", async || {
        let page = client.incidents(&filter).await.expect("answers");
        let count: u32 = page.items.iter().map(|incident| incident.count).sum();
        (count == 2).then_some(page.items)
    })
    .await;
    assert_eq!(told[0].pool.as_deref(), Some("cpu"));
    assert!(told[0].detail.contains("the machine is overloaded"), "{told:?}");
}

//! Workers that are jobs of a real Slurm: how they start, wait, leave, and get lost.

use std::collections::BTreeSet;
use std::time::Duration;

use assay_api::operations::{Worker, WorkerState};
use assay_core::id::TicketId;
use assay_postgres::{Cluster, Options};
use assay_tests::{
    Answers, Host, HostOptions, Node, Sleepers, Slurm, Spawned, assay, item, program, signal, until,
};

use crate::launched::{busy, joined, pool, scores, set, waits};
use crate::standby::{self, free_address, not_ready, serve_command};

const SOON: Duration = Duration::from_secs(120);
const ONE_CPU: Node = Node { cpus: 1, gpus: 0 };
const LONG: &str = "minutes = 30\ndrain_seconds = 60\n";

fn server(slurm: &Slurm, workers: &[&str], file: &str) -> Host {
    Host::start(HostOptions {
        workers: workers.iter().map(|&it| it.to_owned()).collect(),
        arguments: ["--worker-listen", "127.0.0.1:0", "--slurm", file].map(String::from).into(),
        environment: slurm.environment(),
        ..HostOptions::default()
    })
}

fn real() -> String {
    program("assay-worker").to_str().expect("a plain path").into()
}

async fn jobs(slurm: &Slurm, count: usize) -> Vec<String> {
    until(&format!("there are {count} jobs"), async || {
        let jobs = slurm.jobs();
        (jobs.len() == count).then_some(jobs)
    })
    .await
}

#[tokio::test]
async fn jobs_join_answer_and_are_cancelled_one_by_one() {
    let Some(slurm) = Slurm::start(&[Node { cpus: 4, gpus: 0 }]) else { return };
    let file = slurm.file(&format!("[pools.cpu]\n{LONG}"), &real());
    let mut host = server(&slurm, &["cpu=2"], &file);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    let workers = joined(&client, 2).await;
    assert!(workers.iter().all(|it| it.launcher == "slurm" && it.pid.is_none()), "{workers:?}");
    let names = jobs(&slurm, 2).await;
    for worker in &workers {
        let named = |job: &&String| job.ends_with(&format!("-cpu-{}", worker.ticket));
        assert_eq!(names.iter().filter(named).count(), 1, "{names:?}");
    }
    scores(&host, &plugin).await;
    assert_eq!(pool(&client, "cpu").await.workers.joined, 0, "they are the pool's own");
    assert_eq!(client.remote_workers().await.expect("answers").items.len(), 2);
    let doctor = std::process::Command::new(program("assay"))
        .args(["doctor", "--slurm", &file])
        .envs(slurm.environment())
        .output()
        .expect("it runs");
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("answers; 1 pools run there"), "{doctor}");

    set(&client, "cpu", 1).await;
    let left = joined(&client, 1).await.remove(0);
    let job = jobs(&slurm, 1).await.remove(0);
    assert!(job.ends_with(&left.ticket.to_string()), "{job} is not {left:?}");
    scores(&host, &plugin).await;
    until("the one that left is not listed", async || {
        let known = client.remote_workers().await.expect("answers").items;
        (known.len() == 1).then_some(())
    })
    .await;
    assert!(host.stop(), "it ends well");
    jobs(&slurm, 0).await;
}

#[tokio::test]
async fn jobs_that_do_not_start_say_why() {
    let Some(slurm) = Slurm::start(&[Node { cpus: 8, gpus: 2 }]) else { return };
    let pools = format!(
        "[pools.gpu]\n{LONG}sbatch = [\"--gres=gpu:1\"]\n[pools.many]\n{LONG}sbatch = [\"--gres=gpu:9\"]\n\
         [pools.long]\nminutes = 120\ndrain_seconds = 60\n[pools.held]\n{LONG}sbatch = [\"--hold\"]\n"
    );
    let file = slurm.file(&pools, &real());
    let host = server(&slurm, &["gpu=3", "many=0", "long=1", "held=2"], &file);
    let client = host.client();
    joined(&client, 2).await;
    assert_eq!(waits(&client, "gpu", "no node has the requested resources free").await, 1);
    assert_eq!(waits(&client, "long", "above the limit of its partition").await, 1);
    assert_eq!(waits(&client, "held", "it is held").await, 2);
    let said = assay(Some(&host), &["capacity"]).stdout;
    assert!(
        said.contains("gpu: 1 workers wait since") && said.contains("held: 2 workers"),
        "{said}"
    );

    // Nothing is wrong with waiting; a job that Slurm refuses is a failed start.
    assert_eq!(pool(&client, "gpu").await.trouble, None);
    set(&client, "many", 1).await;
    until("a job is refused", async || {
        let trouble = pool(&client, "many").await.trouble?;
        trouble.error.contains("node configuration is not available").then_some(())
    })
    .await;
    set(&client, "many", 0).await;
    set(&client, "held", 0).await;
    set(&client, "long", 0).await;
    set(&client, "gpu", 2).await;
    jobs(&slurm, 2).await;
    assert_eq!(pool(&client, "gpu").await.waiting, []);
    joined(&client, 2).await;
}

#[tokio::test]
async fn a_job_that_ends_before_it_joins_says_what_it_printed() {
    let Some(slurm) = Slurm::start(&[ONE_CPU]) else { return };
    let file = slurm.file(&format!("[pools.cpu]\n{LONG}"), "/nowhere/assay-worker");
    let host = server(&slurm, &["cpu=1"], &file);
    let client = host.client();
    until("its start has failed", async || {
        let trouble = pool(&client, "cpu").await.trouble?;
        let error = &trouble.error;
        (error.contains("FAILED") && error.contains("/nowhere/assay-worker")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_worker_that_gets_a_certificate_and_never_serves_is_forgotten() {
    let Some(slurm) = Slurm::start(&[ONE_CPU]) else { return };
    let pools = format!("[pools.cpu]\n{LONG}worker = [\"--no-such-option\"]\n");
    let host = server(&slurm, &["cpu=0"], &slurm.file(&pools, &real()));
    let client = host.client();
    let known = async |count: usize| {
        until(&format!("{count} workers may connect"), async || {
            let known = client.remote_workers().await.expect("answers").items;
            (known.len() == count).then_some(())
        })
        .await;
    };
    set(&client, "cpu", 1).await;
    known(1).await;
    set(&client, "cpu", 0).await;
    known(0).await;
}

#[tokio::test]
async fn a_controller_that_is_away_costs_no_worker() {
    let Some(mut slurm) = Slurm::start(&[Node { cpus: 4, gpus: 0 }]) else { return };
    let file = slurm.file(&format!("[pools.cpu]\n{LONG}"), &real());
    let host = server(&slurm, &["cpu=1"], &file);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    let first = joined(&client, 1).await.remove(0);
    slurm.stop_controller();
    set(&client, "cpu", 2).await;
    until("a start fails because Slurm is away", async || {
        let trouble = pool(&client, "cpu").await.trouble?;
        trouble.error.contains("Unable to contact slurm controller").then_some(())
    })
    .await;
    until("Slurm is asked in vain, twice", async || {
        let log = host.log();
        (log.matches("Slurm cannot be asked for its jobs").count() >= 2).then_some(())
    })
    .await;
    assert_eq!(joined(&client, 1).await[0].id, first.id, "it is still here");
    scores(&host, &plugin).await;
    slurm.start_controller();
    let both = joined(&client, 2).await;
    assert!(both.iter().any(|it| it.id == first.id), "{both:?}");
    jobs(&slurm, 2).await;
}

#[tokio::test]
async fn a_worker_leaves_before_the_end_of_its_time() {
    let Some(slurm) = Slurm::start(&[Node { cpus: 2, gpus: 0 }]) else { return };
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let file = slurm.file(
        "[pools.cpu]\nminutes = 2\ndrain_seconds = 105\n",
        &slurm.program_serving(&sleepers.program()),
    );
    let host = server(&slurm, &["cpu=1"], &file);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let items = vec![item("gated", "leaving 1", "4")];
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let first = busy(&client, None).await;
    let job = jobs(&slurm, 1).await.remove(0);
    let job = job.split(' ').next().expect("an id").to_owned();
    until("it leaves", async || {
        let workers = client.workers().await.expect("answers").items;
        let leaving = workers.iter().find(|it| it.state == WorkerState::Draining)?;
        (leaving.ticket == first.ticket && leaving.in_hand == 1).then_some(())
    })
    .await;
    let next = joined(&client, 1).await.remove(0);
    assert_ne!(next.ticket, first.ticket, "another one takes its place");
    sleepers.open("leaving");
    let results = answers.finish(&client, &items).await;
    let result = &results["gated"];
    assert_eq!((result.outcome.kind(), result.stages[0].attempts), ("scored", 1), "{result:?}");
    until("its job ends well", async || (slurm.state(&job) == "COMPLETED").then_some(())).await;
}

#[tokio::test]
async fn a_lost_node_loses_no_request() {
    let Some(mut slurm) = Slurm::start(&[ONE_CPU, ONE_CPU]) else { return };
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let program = slurm.program_serving(&sleepers.program());
    let file = slurm.file(&format!("[pools.cpu]\n{LONG}sbatch = [\"--exclusive\"]\n"), &program);
    let host = server(&slurm, &["cpu=1"], &file);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let items = vec![item("gated", "lost 1", "4")];
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let first = busy(&client, None).await;
    slurm.lose(1);
    let second = busy(&client, Some(first.ticket)).await;
    assert_ne!(second.id, first.id);
    sleepers.open("lost");
    let results = answers.finish(&client, &items).await;
    let result = &results["gated"];
    assert_eq!((result.outcome.kind(), result.stages[0].attempts), ("scored", 2), "{result:?}");
}

#[tokio::test]
async fn a_job_that_gives_way_loses_no_request() {
    let Some(slurm) = Slurm::start(&[ONE_CPU]) else { return };
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let program = slurm.program_serving(&sleepers.program());
    let host = server(&slurm, &["cpu=1"], &slurm.file(&format!("[pools.cpu]\n{LONG}"), &program));
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let items = vec![item("gated", "preempted 1", "4")];
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let first = busy(&client, None).await;
    let urgent = slurm.preempt();
    until("the urgent job runs", async || (slurm.state(&urgent) == "RUNNING").then_some(())).await;
    // The request waits with the worker that is to run it.
    until("the next worker waits for a place", async || {
        let waiting = pool(&client, "cpu").await.waiting;
        let waiting = waiting.first()?;
        (waiting.workers == 1 && waiting.reason.contains("no node has the requested")).then_some(())
    })
    .await;
    slurm.cancel(&urgent);
    let second = busy(&client, Some(first.ticket)).await;
    assert_ne!(second.id, first.id);
    sleepers.open("preempted");
    let results = answers.finish(&client, &items).await;
    let result = &results["gated"];
    assert_eq!((result.outcome.kind(), result.stages[0].attempts), ("scored", 2), "{result:?}");
}

fn tickets(workers: Vec<Worker>) -> BTreeSet<TicketId> {
    workers.into_iter().map(|it| it.ticket).collect()
}

#[tokio::test]
async fn jobs_outlive_a_server_that_is_killed() {
    let Some(slurm) = Slurm::start(&[Node { cpus: 4, gpus: 0 }]) else { return };
    outlive_a_server(slurm, |_| {}, |_| {}).await;
}

#[tokio::test]
async fn jobs_outlive_a_server_that_is_started_while_slurm_is_away() {
    let Some(slurm) = Slurm::start(&[Node { cpus: 4, gpus: 0 }]) else { return };
    outlive_a_server(slurm, Slurm::stop_controller, Slurm::start_controller).await;
}

async fn outlive_a_server(
    mut slurm: Slurm,
    before: impl FnOnce(&mut Slurm),
    after: impl FnOnce(&mut Slurm),
) {
    let file = slurm.file(&format!("[pools.cpu]\n{LONG}"), &real());
    let address = free_address();
    let mut host = Host::start(HostOptions {
        workers: vec!["cpu=2".into()],
        arguments: ["--worker-listen", &address, "--slurm", &file].map(String::from).into(),
        environment: slurm.environment(),
        ..HostOptions::default()
    });
    let plugin = host.publish("trivial").await;
    let known = tickets(joined(&host.client(), 2).await);
    host.kill();
    before(&mut slurm);
    host.restart();
    after(&mut slurm);
    assert_eq!(tickets(joined(&host.client(), 2).await), known);
    jobs(&slurm, 2).await;
    assert_eq!(pool(&host.client(), "cpu").await.workers.joined, 0, "they are the pool's own");
    scores(&host, &plugin).await;
    assert!(host.stop(), "it ends well");
    jobs(&slurm, 0).await;
}

#[tokio::test]
async fn a_server_that_hung_ends_no_job_of_the_one_that_took_over() {
    let Some(slurm) = Slurm::start(&[Node { cpus: 4, gpus: 0 }]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start(Options { data: folder.path().join("shared") }).await;
    let cluster = cluster.expect("PostgreSQL starts");
    let [one, two] = [free_address(), free_address()];
    let pools = format!("server = \"{one},{two}\"\n[pools.cpu]\n{LONG}");
    let file = slurm.file(&pools, &real());
    let own = |listen| ["--workers", "cpu=2", "--worker-listen", listen, "--slurm", &file];
    let first = Host::start(HostOptions {
        database_url: Some(cluster.url().to_owned()),
        workers: Vec::new(),
        arguments: own(&one).map(String::from).into(),
        environment: slurm.environment(),
        ..HostOptions::default()
    });
    let known = tickets(joined(&first.client(), 2).await);
    let (data, address) = (folder.path().join("standby"), free_address());
    std::fs::create_dir(&data).expect("makes the folder");
    std::os::unix::fs::symlink(first.data().join("objects"), data.join("objects")).expect("links");
    let mut command = serve_command(&data, &address, cluster.url(), &own(&two));
    let mut second = Spawned::start(command.envs(slurm.environment()));
    not_ready(&address, "another server dispatches").await;

    signal(first.pid(), "STOP");
    second.wait_for("ready on", SOON);
    let client = standby::client(&data);
    assert_eq!(tickets(joined(&client, 2).await), known, "they have come over");
    signal(first.pid(), "CONT");
    until("the first one ends", async || first.log().contains("lock is lost").then_some(())).await;
    // Slurm says at once of a job that it is cancelled.
    let ids = jobs(&slurm, 2).await;
    let ids = ids.iter().map(|job| job.split(' ').next().expect("an id"));
    assert!(ids.into_iter().all(|job| slurm.state(job) == "RUNNING"), "{}", first.log());
    assert_eq!(tickets(joined(&client, 2).await), known);
    assert_eq!(client.remote_workers().await.expect("answers").items.len(), 2);
    second.signal("TERM");
    assert!(second.wait(SOON).success());
    jobs(&slurm, 0).await;
    cluster.stop().await;
}

//! Workers that are Pods of Kubernetes: how they start, wait, leave, and get lost. Each Pod runs as a real worker process;
//! the API server is the tests' own, or a real one (`make test-kubernetes`).

mod cluster;
mod joins;

use std::collections::BTreeSet;
use std::time::Duration;

use assay_api::operations::{Worker, WorkerState};
use assay_client::Client;
use assay_core::id::TicketId;
use assay_tests::{Answers, Host, HostOptions, Sleepers, item, program, until};
use serde_json::{Value, json};

use crate::launched::{busy, joined, pool, scores, set, waits};
use cluster::{Cluster, MISSING_IMAGE, rights};

fn server(cluster: &Cluster, workers: &[&str], file: &str) -> Host {
    Host::start(options(cluster, workers, file, "127.0.0.1:0"))
}

fn options(cluster: &Cluster, workers: &[&str], file: &str, listen: &str) -> HostOptions {
    HostOptions {
        workers: workers.iter().map(|&it| it.to_owned()).collect(),
        arguments: ["--worker-listen", listen, "--kubernetes", file].map(String::from).into(),
        environment: cluster.environment(),
        ..HostOptions::default()
    }
}

/// A pool whose Pods run this program of a worker.
fn pool_of(image: &str, command: &Value) -> Value {
    let container = json!({ "name": "worker", "image": image, "command": command });
    let spec = json!({
        "automountServiceAccountToken": false, "terminationGracePeriodSeconds": 60, "containers": [container]
    });
    json!({ "pod": { "spec": spec } })
}

fn workers_pool() -> Value {
    pool_of("assay-worker", &json!([program("assay-worker")]))
}

/// Workers whose stages last until their gate opens.
fn sleepers_pool(sleepers: &Sleepers) -> Value {
    let (worker, serve) = (program("assay-worker"), sleepers.program());
    let script = format!("shift; exec {} join --serve-program {serve} \"$@\"", worker.display());
    pool_of("assay-worker", &json!(["/bin/sh", "-c", script, "sh"]))
}

async fn pods(cluster: &Cluster, count: usize) -> Vec<String> {
    until(&format!("there are {count} Pods"), async || {
        let pods = cluster.pods().await;
        (pods.len() == count).then_some(pods)
    })
    .await
}

async fn gone(cluster: &Cluster, name: &str) {
    until("the Pod is gone", async || {
        (!cluster.pods().await.iter().any(|it| it == name)).then_some(())
    })
    .await;
}

async fn trouble(client: &Client, name: &str, said: &str) {
    until(&format!("{name} has trouble: {said}"), async || {
        let trouble = pool(client, name).await.trouble?;
        trouble.error.contains(said).then_some(())
    })
    .await;
}

fn tickets(workers: &[Worker]) -> BTreeSet<TicketId> {
    workers.iter().map(|worker| worker.ticket).collect()
}

/// The Pod of a worker.
fn pod_of(pods: &[String], worker: &Worker) -> String {
    let named = pods.iter().find(|pod| pod.ends_with(&format!("-cpu-{}", worker.ticket)));
    named.unwrap_or_else(|| panic!("{worker:?} is none of {pods:?}")).clone()
}

/// Nothing listens longer than the server waits.
#[tokio::test]
async fn a_server_is_ready_though_kubernetes_never_answers() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = silent.local_addr().expect("an address");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: Value| -> String {
        let path = folder.path().join(name);
        std::fs::write(&path, content.to_string()).expect("writes");
        path.to_str().expect("a plain path").into()
    };
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "silent",
        "clusters": [{ "name": "silent", "cluster": { "server": format!("http://{address}") } }],
        "users": [{ "name": "silent", "user": {} }],
        "contexts": [{ "name": "silent", "context": { "cluster": "silent", "user": "silent" } }]
    });
    let environment = vec![("KUBECONFIG".into(), write("kubeconfig", kubeconfig))];
    let file = write("pools.yaml", json!({ "pools": { "cpu": workers_pool() } }));
    let host = Host::start(HostOptions {
        workers: vec!["cpu=1".into()],
        arguments: ["--worker-listen", "127.0.0.1:0", "--kubernetes", &file]
            .map(String::from)
            .into(),
        environment,
        ..HostOptions::default()
    });
    let why = "cannot look for earlier workers: it gave no answer in 30 s";
    assert_eq!(waits(&host.client(), "cpu", why).await, 1);
}

#[tokio::test]
async fn pods_join_answer_and_are_deleted_one_by_one() {
    let cluster = Cluster::start(4).await;
    let file = cluster.file(&json!({ "cpu": workers_pool() }));
    let mut host = server(&cluster, &["cpu=2"], &file);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    let workers = joined(&client, 2).await;
    assert!(
        workers.iter().all(|it| it.launcher == "kubernetes" && it.pid.is_none()),
        "{workers:?}"
    );
    let names = pods(&cluster, 2).await;
    workers.iter().for_each(|worker| drop(pod_of(&names, worker)));
    scores(&host, &plugin).await;
    assert_eq!(pool(&client, "cpu").await.workers.joined, 0, "they are the pool's own");
    let doctor = std::process::Command::new(program("assay"))
        .args(["doctor", "--kubernetes", &file])
        .envs(cluster.environment())
        .output()
        .expect("it runs");
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    let found = format!(
        "the Pods of {} can be listed and their tokens checked; 1 pools run there",
        cluster.namespace()
    );
    assert!(doctor.contains(&found), "{doctor}");

    set(&client, "cpu", 1).await;
    let left = joined(&client, 1).await.remove(0);
    let names = pods(&cluster, 1).await;
    assert_eq!(names, [pod_of(&names, &left)]);
    scores(&host, &plugin).await;
    assert!(host.stop(), "it ends well");
    pods(&cluster, 0).await;
    if let Some(calls) = cluster.calls() {
        assert_eq!(calls, rights(), "the server has the rights that it uses, and no others");
    }
}

#[tokio::test]
async fn pods_that_do_not_start_say_why() {
    let cluster = Cluster::start(1).await;
    let ends = |script: &str| pool_of("assay-worker", &json!(["/bin/sh", "-c", script]));
    let pools = json!({
        "cpu": workers_pool(),
        "image": pool_of(MISSING_IMAGE, &json!(["x"])),
        "invalid": pool_of(" assay-worker", &json!(["x"])),
        "ends": ends("echo the disk is full >&2; exit 3"),
    });
    let file = cluster.file(&pools);
    let host = server(&cluster, &["cpu=2", "image=0", "invalid=0", "ends=0"], &file);
    let client = host.client();
    joined(&client, 1).await;
    assert_eq!(waits(&client, "cpu", "Unschedulable: 0/1 nodes are available").await, 1);
    assert_eq!(pool(&client, "cpu").await.trouble, None, "nothing is wrong with waiting");
    set(&client, "invalid", 1).await;
    trouble(&client, "invalid", "spec.containers[0].image: Invalid value").await;
    set(&client, "invalid", 0).await;
    cluster.set_places(4);
    joined(&client, 2).await;
    set(&client, "image", 1).await;
    trouble(&client, "image", "ImagePullBackOff: not found").await;
    set(&client, "image", 0).await;
    set(&client, "ends", 1).await;
    trouble(&client, "ends", "(status 3); it printed: the disk is full").await;
    set(&client, "ends", 0).await;
    pods(&cluster, 2).await;

    cluster.set_quota(2).await;
    set(&client, "cpu", 3).await;
    assert_eq!(waits(&client, "cpu", "exceeded quota").await, 1);
    cluster.set_quota(9).await;
    joined(&client, 3).await;
}

#[tokio::test]
async fn watches_that_are_cut_lose_nothing() {
    let Some(cluster) = Cluster::with_faults(4).await else { return };
    let file = cluster.file(&json!({ "cpu": workers_pool() }));
    let host = server(&cluster, &["cpu=2"], &file);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    // A watch that goes on where it was, and one that must begin anew.
    for is_forgotten in [false, true] {
        let workers = joined(&client, 2).await;
        let name = pod_of(&pods(&cluster, 2).await, &workers[0]);
        if is_forgotten {
            cluster.set_away(true);
            cluster.delete(&name, 0).await;
            gone(&cluster, &name).await;
            cluster.forget_changes();
            cluster.set_away(false);
        } else {
            cluster.cut();
            cluster.kill(&name);
        }
        until("another one takes its place", async || {
            let now = tickets(&client.workers().await.expect("answers").items);
            (!now.contains(&workers[0].ticket)).then_some(())
        })
        .await;
        joined(&client, 2).await;
        pods(&cluster, 2).await;
        scores(&host, &plugin).await;
    }
    // The watch alone can tell this.
    cluster.set_places(2);
    set(&client, "cpu", 3).await;
    assert_eq!(waits(&client, "cpu", "Unschedulable: 0/1 nodes are available").await, 1);
}

#[tokio::test]
async fn a_server_ends_while_kubernetes_is_away() {
    let Some(cluster) = Cluster::with_faults(1).await else { return };
    let file = cluster.file(&json!({ "cpu": workers_pool() }));
    let mut host = server(&cluster, &["cpu=1"], &file);
    joined(&host.client(), 1).await;
    cluster.set_away(true);
    assert!(host.stop(), "it ends well");
}

#[tokio::test]
async fn an_evicted_worker_finishes_what_it_runs() {
    let cluster = Cluster::start(4).await;
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let file = cluster.file(&json!({ "cpu": sleepers_pool(&sleepers) }));
    let host = server(&cluster, &["cpu=1"], &file);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let items = vec![item("gated", "leaving 1", "4")];
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let first = busy(&client, None).await;
    let name = pod_of(&pods(&cluster, 1).await, &first);
    cluster.evict(&name).await;
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
    gone(&cluster, &name).await;
}

#[tokio::test]
async fn a_worker_whose_pod_is_to_be_taken_away_gets_nothing_more() {
    let cluster = Cluster::start(4).await;
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let file = cluster.file(&json!({ "cpu": sleepers_pool(&sleepers) }));
    let host = server(&cluster, &["cpu=1"], &file);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let items = vec![item("gated", "preempted 1", "4")];
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let first = busy(&client, None).await;
    let name = pod_of(&pods(&cluster, 1).await, &first);
    assert_eq!(pool(&client, "cpu").await.leaving, []);
    // Its worker knows nothing of it.
    cluster.disrupt(&name, "PreemptionByScheduler").await;
    let leaving = until("it leaves", async || pool(&client, "cpu").await.leaving.pop()).await;
    let why = "PreemptionByScheduler: by the test";
    assert_eq!((leaving.workers, &*leaving.reason), (1, why));
    let next = until("another one takes its place", async || {
        let workers = client.workers().await.expect("answers").items.into_iter();
        workers.filter(|it| it.joined_at.is_some()).find(|it| it.ticket != first.ticket)
    })
    .await;
    // The time that Kubernetes gives is over.
    cluster.kill(&name);
    let second = busy(&client, Some(first.ticket)).await;
    assert_eq!(second.ticket, next.ticket);
    until("nobody leaves", async || pool(&client, "cpu").await.leaving.is_empty().then_some(()))
        .await;
    sleepers.open("preempted");
    let results = answers.finish(&client, &items).await;
    let result = &results["gated"];
    assert_eq!((result.outcome.kind(), result.stages[0].attempts), ("scored", 1), "{result:?}");
}

#[tokio::test]
async fn a_pod_that_is_killed_loses_no_request() {
    let cluster = Cluster::start(4).await;
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let file = cluster.file(&json!({ "cpu": sleepers_pool(&sleepers) }));
    let host = server(&cluster, &["cpu=1"], &file);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let items = vec![item("gated", "lost 1", "4")];
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let first = busy(&client, None).await;
    cluster.kill(&pod_of(&pods(&cluster, 1).await, &first));
    busy(&client, Some(first.ticket)).await;
    sleepers.open("lost");
    let results = answers.finish(&client, &items).await;
    let result = &results["gated"];
    assert_eq!((result.outcome.kind(), result.stages[0].attempts), ("scored", 2), "{result:?}");
    let left = cluster.pods().await;
    assert!(!left.iter().any(|pod| pod.ends_with(&first.ticket.to_string())), "{left:?}");
}

#[tokio::test]
async fn pods_outlive_a_server_that_is_killed() {
    let cluster = Cluster::start(2).await;
    let file = cluster.file(&json!({ "cpu": workers_pool() }));
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
    let listen = free.expect("bound").to_string();
    // The third one waits.
    let mut host = Host::start(options(&cluster, &["cpu=3"], &file, &listen));
    let plugin = host.publish("trivial").await;
    let before = tickets(&joined(&host.client(), 2).await);
    let all = pods(&cluster, 3).await;
    host.kill();
    host.restart();
    let after = tickets(&joined(&host.client(), 2).await);
    assert_eq!(before, after);
    until("the one that nobody knows is deleted, and another one waits", async || {
        let now = cluster.pods().await;
        let kept = now.iter().filter(|pod| all.contains(pod)).count();
        (now.len() == 3 && kept == 2).then_some(())
    })
    .await;
    scores(&host, &plugin).await;
    assert!(host.stop(), "it ends well");
    pods(&cluster, 0).await;
}

#[tokio::test]
async fn pods_outlive_a_kubernetes_that_is_away() {
    let Some(cluster) = Cluster::with_faults(2).await else { return };
    let file = cluster.file(&json!({ "cpu": workers_pool() }));
    let mut host = server(&cluster, &["cpu=3"], &file);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    let before = tickets(&joined(&client, 2).await);
    cluster.set_away(true);
    assert_eq!(waits(&client, "cpu", "Kubernetes cannot be asked").await, 1);
    assert_eq!(before, tickets(&joined(&client, 2).await), "they are still here");
    scores(&host, &plugin).await;
    cluster.set_away(false);
    cluster.set_places(3);
    joined(&client, 3).await;
    assert!(host.stop(), "it ends well");
    pods(&cluster, 0).await;
}

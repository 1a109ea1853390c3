//! How Pods prove to the server who they are, and whom it refuses.

use std::process::Command;
use std::time::Duration;

use assay_client::Client;
use assay_tests::{Host, Spawned, program, until};
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::{pod_of, pods, pool_of, server, trouble, workers_pool};
use crate::launched::{joined, scores, set};

const SOON: Duration = Duration::from_secs(60);

/// What Pods run whose worker is started by the test, with what it finds in them.
const SILENT: &str = "while :; do sleep 0.1; done";
/// The same, which stays until it is killed.
const DEAF: &str = "trap '' TERM; while :; do sleep 0.1; done";

fn silent_pool(script: &str) -> Value {
    pool_of("assay-worker", &json!(["/bin/sh", "-c", script]))
}

/// Starts a worker as the Pod of `like` would, with this token.
fn join(cluster: &Cluster, like: &Value, token: &str) -> Spawned {
    let arguments = like["spec"]["containers"][0]["args"].as_array().expect("it has arguments");
    let arguments = arguments.iter().map(|it| it.as_str().expect("a text"));
    let to_server: Vec<&str> = arguments.take_while(|it| *it != "--token-file").collect();
    let mut command = Command::new(program("assay-worker"));
    command.args(to_server).args(["--token-file", &cluster.file_with(token)]);
    Spawned::start(&mut command)
}

/// Why a worker that joins so is refused.
fn refused(cluster: &Cluster, like: &Value, token: &str) -> String {
    let mut joining = join(cluster, like, token);
    let ended = joining.wait(SOON);
    assert_eq!(ended.code(), Some(1), "{}", joining.stderr());
    joining.stderr()
}

fn audience(pod: &Value) -> &str {
    let token = &pod["spec"]["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"];
    token["audience"].as_str().expect("a Pod of ours has a token")
}

/// The name of the only Pod that is none of these.
async fn next_pod(cluster: &Cluster, known: &[&str]) -> String {
    until("there is another Pod that runs", async || {
        let names = cluster.pods().await;
        let mut others = names.into_iter().filter(|name| !known.contains(&name.as_str()));
        let name = others.next()?;
        (cluster.pod(&name).await["status"]["phase"] == "Running").then_some(name)
    })
    .await
}

async fn silent(cluster: &Cluster, script: &str) -> (Host, Client) {
    let pools = json!({ "cpu": silent_pool(script), "gpu": silent_pool(script) });
    let file = cluster.file(&pools);
    let host = server(cluster, &["cpu=1", "gpu=0"], &file);
    let client = host.client();
    (host, client)
}

#[tokio::test]
async fn a_pod_joins_once_by_the_token_that_is_its_own() {
    let cluster = Cluster::start(4).await;
    let (_host, client) = silent(&cluster, SILENT).await;
    let name = next_pod(&cluster, &[]).await;
    let pod = cluster.pod(&name).await;
    let ours = audience(&pod).to_owned();
    let own = cluster.token(&ours, Some(&pod)).await;
    let _worker = join(&cluster, &pod, &own);
    let workers = joined(&client, 1).await;
    assert_eq!(pod_of(std::slice::from_ref(&name), &workers[0]), name);

    let why = refused(&cluster, &pod, &own);
    assert!(why.contains("this ticket was used"), "a replay: {why}");
    let elsewhere = cluster.token("assay.dev/00000000", Some(&pod)).await;
    let why = refused(&cluster, &pod, &elsewhere);
    assert!(why.contains("does not know the token for"), "another audience: {why}");
    let why = refused(&cluster, &pod, "no token");
    assert!(why.contains("does not know the token for"), "no token: {why}");
    let of_none = cluster.token(&ours, None).await;
    let why = refused(&cluster, &pod, &of_none);
    assert!(why.contains("was not made for a Pod"), "of no Pod: {why}");
    let stranger = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "stranger" }, "spec": pod["spec"]
    });
    let mut stranger = stranger;
    stranger["spec"]["nodeName"] = Value::Null;
    let stranger = cluster.create_pod(&stranger).await;
    let of_stranger = cluster.token(&ours, Some(&stranger)).await;
    let why = refused(&cluster, &pod, &of_stranger);
    assert!(why.contains("the Pod stranger is none of this server's"), "{why}");
    assert_eq!(joined(&client, 1).await[0].ticket, workers[0].ticket);
}

#[tokio::test]
async fn a_pod_of_another_pool_or_in_the_place_of_one_or_on_its_way_out_does_not_join() {
    let cluster = Cluster::start(4).await;
    let (_host, client) = silent(&cluster, DEAF).await;
    let name = next_pod(&cluster, &[]).await;
    let pod = cluster.pod(&name).await;
    let ours = audience(&pod).to_owned();
    let own = cluster.token(&ours, Some(&pod)).await;
    let mut of_gpu = pod.clone();
    let arguments = of_gpu["spec"]["containers"][0]["args"].as_array_mut().expect("arguments");
    arguments.iter_mut().filter(|it| **it == "cpu").for_each(|it| *it = json!("gpu"));
    let why = refused(&cluster, &of_gpu, &own);
    assert!(why.contains("this ticket is for another pool"), "{why}");

    cluster.delete(&name, 30).await;
    let why = refused(&cluster, &pod, &own);
    assert!(!why.contains("joined"), "one that is being deleted: {why}");
    trouble(&client, "cpu", "a worker has to leave before it joined: its Pod is being deleted")
        .await;

    // Its name and its labels, made by somebody else.
    let name = next_pod(&cluster, &[&name]).await;
    let was = cluster.pod(&name).await;
    cluster.delete(&name, 0).await;
    let metadata = json!({ "name": name, "labels": was["metadata"]["labels"] });
    let mut copy = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": was["spec"]
    });
    copy["spec"]["nodeName"] = Value::Null;
    let copy = cluster.create_pod(&copy).await;
    assert_ne!(copy["metadata"]["uid"], was["metadata"]["uid"]);
    let of_copy = cluster.token(&ours, Some(&copy)).await;
    let why = refused(&cluster, &was, &of_copy);
    assert!(!why.contains("joined"), "{why}");
    set(&client, "cpu", 0).await;
    assert!(client.workers().await.expect("answers").items.iter().all(|it| it.id.is_none()));
}

#[tokio::test]
async fn no_pod_joins_while_kubernetes_cannot_be_asked_and_each_tries_again() {
    let Some(cluster) = Cluster::with_faults(0).await else { return };
    let file = cluster.file(&json!({ "cpu": workers_pool() }));
    let host = server(&cluster, &["cpu=1"], &file);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    pods(&cluster, 1).await;
    cluster.set_away(true);
    cluster.set_places(1);
    let asked = "create tokenreviews in the cluster";
    until("it asks again", async || (cluster.count(asked) > 1).then_some(())).await;
    joined(&client, 0).await;
    cluster.set_away(false);
    joined(&client, 1).await;
    scores(&host, &plugin).await;
    pods(&cluster, 1).await;
}

#[tokio::test]
async fn pods_may_join_by_tickets_instead() {
    let cluster = Cluster::start(4).await;
    let file = cluster.file_of(&json!({ "join": "ticket", "pools": { "cpu": workers_pool() } }));
    let host = server(&cluster, &["cpu=1"], &file);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    joined(&client, 1).await;
    let name = pods(&cluster, 1).await.remove(0);
    let pod = cluster.pod(&name).await;
    assert_eq!(pod["spec"].get("volumes").filter(|it| it.to_string().contains("token")), None);
    let used = cluster.calls().unwrap_or_default();
    assert!(!used.iter().any(|call| call.contains("tokenreviews")), "{used:?}");
    let token = cluster.token("assay.dev/00000000", Some(&pod)).await;
    let mut like = pod.clone();
    let arguments = like["spec"]["containers"][0]["args"].as_array_mut().expect("arguments");
    arguments.retain(|it| it != "--");
    let why = refused(&cluster, &like, &token);
    assert!(why.contains("workers of this pool join by their tickets"), "{why}");
    scores(&host, &plugin).await;
}

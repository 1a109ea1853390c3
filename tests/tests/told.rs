//! What a trainer tells of a batch beforehand: how long its requests will take, and how many are still to come.

use std::time::Duration;

use assay_api::batch::{AnnounceBatch, Batch, BatchState, SealBatch, UpdateBatch};
use assay_api::request::SubmitItem;
use assay_client::{Client, Error};
use assay_core::id::BatchId;
use assay_tests::{Host, HostOptions, Sleepers, item};

const SOON: Duration = Duration::from_secs(120);
/// Its stages, one in each pool, sleep for as long as a response says, in milliseconds.
const PLUGIN: &str = "brief_pools";

fn one_worker(sleepers: &Sleepers) -> Host {
    Host::start(HostOptions {
        workers: vec!["cpu=1".into(), "gpu=1".into()],
        arguments: vec!["--worker-program".into(), sleepers.program()],
        ..HostOptions::default()
    })
}

async fn announce(client: &Client, plugin: String) -> Batch {
    let announcement = AnnounceBatch {
        plugin,
        run: "told".into(),
        iteration: 0,
        expected_size: None,
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    };
    client.announce(&announcement).await.expect("announces")
}

fn sleeping(key: &str, response: &str, expected_ms: Option<u32>) -> SubmitItem {
    SubmitItem { expected_ms, ..item(key, response, "null") }
}

/// Whatever the first request does, the worker that it leaves takes the longest first.
fn items() -> Vec<SubmitItem> {
    vec![
        sleeping("first", "1000 0", None),
        sleeping("short", "10 0", Some(20)),
        sleeping("untold", "10 0", None),
        sleeping("also untold", "10 0", None),
        sleeping("long", "10 0", Some(60_000)),
    ]
}

async fn seal(client: &Client, batch: BatchId) {
    client.seal(batch, &SealBatch::default()).await.expect("seals");
}

/// The keys in the order of completion, that of the first one aside.
async fn order(client: &Client, batch: BatchId) -> Vec<String> {
    let ended = client.wait_batch(batch, SOON).await.expect("answers");
    assert_eq!((ended.state, ended.counts.scored), (BatchState::Done, 5), "{ended:?}");
    let page = client.results_page(batch, 0, 10).await.expect("answers");
    page.items.into_iter().map(|item| item.key).filter(|key| key != "first").collect()
}

/// What nobody told of is expected to take a second a stage, as nothing is known of it.
#[tokio::test]
async fn the_longest_expected_is_served_first() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = one_worker(&sleepers);
    let client = host.client();
    let batch = announce(&client, host.publish(PLUGIN).await).await.id;
    client.submit(batch, &items()[..1]).await.expect("submits");
    client.submit(batch, &items()[1..]).await.expect("submits");
    seal(&client, batch).await;
    assert_eq!(order(&client, batch).await, ["long", "untold", "also untold", "short"]);
}

#[tokio::test]
async fn a_restart_keeps_what_is_expected() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let mut host = one_worker(&sleepers);
    let plugin = host.publish(PLUGIN).await;
    let batch = announce(&host.client(), plugin).await.id;
    host.client().submit(batch, &items()).await.expect("submits");
    host.kill();
    host.restart();
    let client = host.client();
    seal(&client, batch).await;
    assert_eq!(order(&client, batch).await, ["long", "untold", "also untold", "short"]);
}

#[tokio::test]
async fn progress_is_shown_until_the_batch_is_sealed() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = one_worker(&sleepers);
    let client = host.client();
    let batch = announce(&client, host.publish(PLUGIN).await).await;
    assert_eq!(batch.outstanding, None);
    let batch = batch.id;
    let told = async |outstanding| {
        client.update_batch(batch, &UpdateBatch { outstanding: Some(outstanding) }).await
    };
    assert_eq!(told(5).await.expect("it is open").outstanding, Some(5));
    client.submit(batch, &items()[1..3]).await.expect("submits");
    let known = client.batch(batch).await.expect("answers");
    assert_eq!((known.outstanding, known.counts.submitted), (Some(3), 2));
    // Nothing new is known, so nothing changes.
    let same = client.update_batch(batch, &UpdateBatch::default()).await.expect("it is open");
    assert_eq!(same.outstanding, Some(3));
    // Nobody waits for more, and the batch stays open all the same.
    let none = told(0).await.expect("it is open");
    assert_eq!((none.outstanding, none.state), (Some(0), BatchState::Open));
    client.submit(batch, &items()[3..]).await.expect("it takes what comes nevertheless");
    let Err(Error::Problem(problem)) = told(200_000).await else { panic!("too many") };
    assert!(problem.detail.contains("a batch has at most 131072 requests"), "{problem:?}");
    seal(&client, batch).await;
    assert_eq!(client.batch(batch).await.expect("answers").outstanding, None);
    let ended = client.wait_batch(batch, SOON).await.expect("answers");
    assert_eq!((ended.state, ended.counts.scored), (BatchState::Done, 4), "{ended:?}");
    assert_eq!(told(7).await.expect("what has ended expects nothing").outstanding, None);
}

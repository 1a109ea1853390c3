//! Equal requests of a deterministic plugin are computed once, whatever is killed meanwhile; each of
//! them ends once, and no failure is passed on.

use std::collections::BTreeMap;

use assay_api::batch::{AnnounceBatch, BatchState};
use assay_api::request::{Request, Reward, SubmitItem};
use assay_api::result::{Counts, ResultItem};
use assay_client::Client;
use assay_core::id::{BatchId, RequestId};
use assay_core::outcome::ErrorCode;
use assay_tests::{Answers, Host, HostOptions, Http, Process, item, ndjson, until};
use serde_json::json;

/// Two stages: each computation leaves one artifact, by which they are counted.
const PLUGIN: &str = "worker_load";

/// As many rounds as last until somebody kills their worker or cancels them, and some that take a
/// moment.
const ENDLESS: &str = "4000000000";
const MOMENT: &str = "600000";

fn one_worker() -> Host {
    Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() })
}

fn items(responses: &[&str]) -> Vec<SubmitItem> {
    let one = |(at, response): (usize, &&str)| item(format!("r{at}"), response, "4");
    responses.iter().enumerate().map(one).collect()
}

fn announcement(plugin: &str, size: usize) -> AnnounceBatch {
    AnnounceBatch {
        plugin: plugin.into(),
        run: BatchId::generate().to_string(),
        iteration: 1,
        expected_size: Some(u32::try_from(size).expect("a small number")),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: None,
        join: None,
        settings: None,
    }
}

async fn submit(client: &Client, call: AnnounceBatch, items: &[SubmitItem]) -> Answers {
    let batch = client.announce(&call).await.expect("announces");
    let reply = client.submit_ndjson(batch.id, ndjson(items)).await.expect("submits");
    assert_eq!(reply.accepted as usize, items.len());
    Answers { batch: batch.id, seen: Vec::new() }
}

/// How often something ran.
fn computed(host: &Host, batches: &[BatchId]) -> usize {
    let ids: Vec<String> = batches.iter().map(|batch| format!("'{batch}'")).collect();
    let sql = format!("select 1 from artifacts where batch_id in ({})", ids.join(","));
    host.psql().rows(&sql).len()
}

fn shared(items: &BTreeMap<String, ResultItem>) -> usize {
    items.values().filter(|item| item.shared_from.is_some()).count()
}

/// The worker that runs a request of this batch.
async fn running(client: &Client, batch: BatchId) -> Process {
    until("a worker runs it", async || {
        Process::running(client, |request| request.batch == batch).await.pop()
    })
    .await
}

#[tokio::test]
async fn equal_requests_are_computed_once() {
    let host = Host::start(HostOptions::default());
    let (client, http) = (host.client(), Http::new(&host));
    let plugin = host.publish(PLUGIN).await;
    let mut wanted = items(&["20", "20", "21", "20", "20"]);
    // A field that the plugin does not see, or a deterministic one does not look at, makes no difference.
    wanted[1].group = Some("g".into());
    // This does.
    wanted[4].label = Some(serde_json::from_str("5").expect("JSON"));
    let mut answers = submit(&client, announcement(&plugin, 5), &wanted).await;
    let by_key = answers.finish(&client, &wanted).await;
    answers.check_stored(&host.psql());
    assert_eq!(computed(&host, &[answers.batch]), 3);
    let leader = &by_key["r0"];
    for key in ["r1", "r3"] {
        let result = &by_key[key];
        assert_eq!((result.shared_from, &result.outcome), (Some(leader.id), &leader.outcome));
        assert!(result.stages.is_empty(), "{result:?}");
    }
    for key in ["r0", "r2", "r4"] {
        assert_eq!((by_key[key].shared_from, by_key[key].stages.len()), (None, 2));
    }
    assert_eq!(by_key["r4"].outcome.reward(), Some(5.0 / 8.0));
    let counts = Counts { submitted: 5, scored: 5, timed_out: 0, error: 0, shared: 2 };
    let batch = client.batch(answers.batch).await.expect("answers");
    assert_eq!(batch.counts, counts);
    let request: Request = http.get(&format!("/v1/requests/{}", by_key["r3"].id)).await.json(200);
    assert_eq!(request.result.expect("it has ended").shared_from, Some(leader.id));

    // An outcome that is remembered is good for other batches and for single rewards.
    let mut later = submit(&client, announcement(&plugin, 1), &items(&["20"])).await;
    let result = &later.finish(&client, &items(&["20"])).await["r0"];
    assert_eq!((result.shared_from, &result.outcome), (Some(leader.id), &leader.outcome));
    let call = json!({ "plugin": plugin, "response": "20", "label": 4 });
    let reward: Reward = http.post("/v1/rewards", &call).await.json(200);
    assert_eq!((reward.shared_from, &reward.outcome), (Some(leader.id), &leader.outcome));

    // Unless somebody does not want it.
    let call = json!({ "plugin": plugin, "response": "20", "label": 4, "share_equal": false });
    let reward: Reward = http.post("/v1/rewards", &call).await.json(200);
    assert_eq!((reward.shared_from, &reward.outcome), (None, &leader.outcome));
    let call = AnnounceBatch { share_equal: Some(false), ..announcement(&plugin, 5) };
    let mut each = submit(&client, call, &wanted).await;
    assert_eq!(shared(&each.finish(&client, &wanted).await), 0);
    assert_eq!(computed(&host, &[each.batch]), 5);

    // Usage is what workers did: three of the first batch's requests, and both that were alone.
    let stages = host.psql().rows("select sum(requests) from usage");
    assert_eq!(stages, ["9"]);
}

/// A plugin's error is its author's business each time; it is passed on to nobody.
#[tokio::test]
async fn errors_are_not_shared() {
    let host = Host::start(HostOptions::default());
    let plugin = host.publish("liar").await;
    let client = host.client();
    let wanted = items(&["panic"; 6]);
    let mut answers = submit(&client, announcement(&plugin, 6), &wanted).await;
    let by_key = answers.finish(&client, &wanted).await;
    answers.check_stored(&host.psql());
    for item in by_key.values() {
        assert_eq!(item.outcome.verdict(), ErrorCode::PluginTrap.as_str(), "{item:?}");
        assert_eq!((item.shared_from, item.stages.len()), (None, 1));
    }
}

/// The leader's batch is cancelled: one that followed it runs, and the rest follow that one.
#[tokio::test]
async fn a_cancelled_leader_is_replaced() {
    let host = one_worker();
    let plugin = host.publish(PLUGIN).await;
    let client = host.client();
    let busy = submit(&client, announcement(&plugin, 1), &items(&[ENDLESS])).await;
    let spinning = running(&client, busy.batch).await;
    let first = submit(&client, announcement(&plugin, 2), &items(&["20", "20"])).await;
    let wanted = items(&["20", "20", "20"]);
    let mut second = submit(&client, announcement(&plugin, 3), &wanted).await;
    assert_eq!(client.cancel(first.batch).await.expect("answers").state, BatchState::Cancelled);
    let results = client.results_page(first.batch, 0, 10).await.expect("answers").items;
    let codes: Vec<_> = results.iter().map(|item| item.outcome.verdict()).collect();
    assert_eq!(codes, [ErrorCode::Cancelled.as_str(); 2]);
    client.cancel(busy.batch).await.expect("answers");
    spinning.kill();
    let by_key = second.finish(&client, &wanted).await;
    second.check_stored(&host.psql());
    assert_eq!((shared(&by_key), computed(&host, &[first.batch, second.batch])), (2, 1));
    let leader = by_key.values().find(|item| item.shared_from.is_none()).expect("one ran");
    let leaders = by_key.values().filter_map(|item| item.shared_from);
    assert!(leaders.into_iter().all(|id: RequestId| id == leader.id));
}

#[tokio::test]
async fn a_killed_worker_is_nobodys_outcome() {
    let host = one_worker();
    let plugin = host.publish(PLUGIN).await;
    let client = host.client();
    let wanted = items(&[MOMENT; 4]);
    let mut answers = submit(&client, announcement(&plugin, 4), &wanted).await;
    running(&client, answers.batch).await.kill();
    let by_key = answers.finish(&client, &wanted).await;
    answers.check_stored(&host.psql());
    assert!(by_key.values().all(|item| item.outcome.kind() == "scored"), "{by_key:?}");
    assert_eq!((shared(&by_key), computed(&host, &[answers.batch])), (3, 1));
}

/// Nothing of it is written: what waits is looked at once more, and what has been computed counts.
#[tokio::test]
async fn a_killed_server_finds_out_anew_who_follows_whom() {
    let mut host = one_worker();
    let plugin = host.publish(PLUGIN).await;
    let first = items(&["20", MOMENT, MOMENT]);
    let second = items(&[MOMENT, MOMENT]);
    let client = host.client();
    let mut one = submit(&client, announcement(&plugin, 3), &first).await;
    one.follow(&client, 1).await;
    let mut two = submit(&client, announcement(&plugin, 2), &second).await;
    running(&client, one.batch).await;
    host.kill();
    host.restart();
    let client = host.client();
    let ends = one.finish(&client, &first).await;
    let others = two.finish(&client, &second).await;
    for answers in [&one, &two] {
        answers.check_stored(&host.psql());
    }
    assert_eq!(shared(&ends) + shared(&others), 3);
    assert_eq!(computed(&host, &[one.batch, two.batch]), 2);
    let all = ends.values().chain(others.values());
    assert!(all.into_iter().all(|item| item.outcome.kind() == "scored"));
    let batch = client.batch(two.batch).await.expect("answers");
    assert_eq!(batch.counts.shared as usize, shared(&others));
}

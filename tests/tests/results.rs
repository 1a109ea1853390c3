//! Results as they come: pages, a live stream, events; and the same bytes from the database.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_api::batch::{Batch, BatchState, ResultsPage};
use assay_api::key::Key;
use assay_api::request::SubmitReply;
use assay_api::result::ResultItem;
use assay_client::{Client, ServerEvent, ServerEvents};
use assay_core::id::BatchId;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_tests::{Host, HostOptions, Http, until};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(120);

async fn announce(http: &Http, plugin: &str, more: Value) -> BatchId {
    let mut call = json!({ "plugin": plugin, "run": "results" });
    call.as_object_mut().expect("an object").extend(more.as_object().expect("fields").clone());
    http.post("/v1/batches", &call).await.json::<Batch>(201).id
}

async fn submit(http: &Http, batch: BatchId, items: &Value) {
    let reply: SubmitReply =
        http.post(&format!("/v1/batches/{batch}/requests"), items).await.json(200);
    assert_eq!(reply.rejected, 0, "{reply:?}");
}

async fn seal(http: &Http, batch: BatchId) {
    let _: Batch = http.post(&format!("/v1/batches/{batch}/seal"), &json!({})).await.json(200);
}

fn items(keys: std::ops::Range<u32>) -> Value {
    keys.map(|key| json!({ "key": key.to_string(), "response": "x".repeat(key as usize % 3) }))
        .collect()
}

/// Everything behind a cursor, as the server follows the batch.
async fn follow(http: &Http, batch: BatchId, after: u32) -> Vec<u8> {
    let path = format!("/v1/batches/{batch}/results?after={after}");
    let request = http.request(Method::GET, &path).header("accept", "application/x-ndjson");
    let answer = tokio::time::timeout(PATIENCE, http.send(request)).await.expect("it ends");
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    answer.body.to_vec()
}

fn read(lines: &[u8]) -> Vec<ResultItem> {
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a result a line")).collect()
}

#[tokio::test]
async fn results_are_followed_paged_and_read_back_the_same() {
    let mut host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let batch = announce(&http, &plugin, json!({})).await;

    // Followed before there is anything to follow.
    let path = format!("/v1/batches/{batch}/results");
    let live = http.request(Method::GET, &path).header("accept", "application/x-ndjson");
    let live = live.send().await.expect("answers");
    assert_eq!(live.status(), 200);
    let mut stream = live.bytes_stream();
    let mut lines = BytesMut::new();
    submit(&http, batch, &items(0..20)).await;
    while read_whole(&lines) < 20 {
        let piece = tokio::time::timeout(PATIENCE, stream.next()).await.expect("results come");
        lines.extend_from_slice(&piece.expect("not over yet").expect("not broken"));
    }
    submit(&http, batch, &items(20..30)).await;
    seal(&http, batch).await;
    while let Some(piece) = tokio::time::timeout(PATIENCE, stream.next()).await.expect("it ends") {
        lines.extend_from_slice(&piece.expect("not broken"));
    }
    let seen = read(&lines);
    assert_eq!(seen.iter().map(|item| item.cursor).collect::<Vec<_>>(), Vec::from_iter(1..=30));

    let mut paged = Vec::new();
    let mut after = 0;
    for (length, done) in [(7, false), (7, false), (7, false), (7, false), (2, true)] {
        let page: ResultsPage = http.get(&format!("{path}?after={after}&limit=7")).await.json(200);
        assert_eq!((page.items.len(), page.done), (length, done), "behind {after}");
        after = page.next;
        paged.extend(page.items);
    }
    assert_eq!(after, 30);
    assert_eq!(keys(&paged), keys(&seen));
    let behind = |after: u64| format!("{path}?after={after}&limit=5");
    for far in [30, 31, 1 << 31, (1 << 32) - 1] {
        let page: ResultsPage = http.get(&behind(far)).await.json(200);
        assert_eq!((page.items.len(), page.done), (0, true), "behind {far}");
    }
    let _ = http.get(&behind(1 << 32)).await.problem(400, "bad_request");
    assert_eq!(follow(&http, batch, 0).await, lines, "the stream has changed");
    let page = http.get(&path).await.body;

    assert!(host.stop());
    host.restart();
    let http = Http::new(&host);
    assert_eq!(follow(&http, batch, 0).await, lines, "the database has other results");
    assert_eq!(read(&follow(&http, batch, 25).await).len(), 5);
    assert_eq!(http.get(&path).await.body, page);
    for far in [30, 1 << 31, (1 << 32) - 1] {
        let page: ResultsPage = http.get(&behind(far)).await.json(200);
        assert_eq!((page.items.len(), page.done), (0, true), "behind {far}");
    }
    let page: ResultsPage = http.get(&behind(28)).await.json(200);
    assert_eq!((page.items.len(), page.next, page.done), (2, 30, true));
    let batch: Batch = http.get(&format!("/v1/batches/{batch}")).await.json(200);
    assert_eq!((batch.state, batch.counts.scored), (BatchState::Done, 30));
    // Two in three of 30 responses with lengths 0, 1, 2, 0, ... are even.
    assert_eq!(batch.mean_reward, Some(20.0 / 30.0));
    let again: SubmitReply =
        http.post(&format!("/v1/batches/{}/requests", batch.id), &items(0..30)).await.json(200);
    assert_eq!(again.repeated, 30, "a submit repeated after a restart is not harmless");
}

fn read_whole(lines: &[u8]) -> usize {
    lines.iter().filter(|&&byte| byte == b'\n').count()
}

fn keys(items: &[ResultItem]) -> Vec<&str> {
    items.iter().map(|item| item.key.as_str()).collect()
}

async fn next(events: &mut ServerEvents) -> Option<ServerEvent> {
    let next = tokio::time::timeout(PATIENCE, events.next()).await.expect("an event comes");
    next.expect("the stream is sound")
}

async fn all(client: &Client, batch: BatchId, last: Option<&str>) -> Vec<ServerEvent> {
    let mut events = client.events(batch, last).await.expect("answers");
    let mut all = Vec::new();
    while let Some(event) = next(&mut events).await {
        all.push(event);
    }
    all.retain(|event| event.name != "batch.estimate");
    all
}

/// The order that every stream keeps: each group behind its last member, the batch behind all.
fn check_order(events: &[ServerEvent], members: usize, groups: usize) {
    let mut left: BTreeMap<String, usize> =
        (0..groups).map(|group| (format!("g{group}"), members)).collect();
    let (last, before) = events.split_last().expect("events");
    assert_eq!(last.name, "batch.done");
    let batch: Batch = serde_json::from_str(&last.data).expect("the batch");
    assert_eq!(batch.state, BatchState::Done);
    let mut results = 0;
    for event in before {
        let data: Value = serde_json::from_str(&event.data).expect("JSON");
        let group = data["group"].as_str().expect("its group");
        match event.name.as_str() {
            "request.done" => {
                results += 1;
                assert_eq!(data["cursor"], results);
                *left.get_mut(group).expect("not told yet") -= 1;
            }
            "group.done" => assert_eq!(left.remove(group), Some(0), "{group} is not complete"),
            other => panic!("an event called {other}"),
        }
        assert_eq!(event.id.as_deref(), Some(results.to_string().as_str()), "{event:?}");
    }
    assert_eq!(results, members * groups);
    assert!(left.is_empty(), "groups without their event: {left:?}");
}

/// Three samples of each of four prompts, one prompt after the other or turn by turn.
fn grouped(turns: bool) -> Value {
    let place = |at: u32| if turns { (at % 4, at / 4) } else { (at / 3, at % 3) };
    let item = |at| {
        let (group, sample) = place(at);
        json!({ "key": format!("{group}/{sample}"), "group": format!("g{group}"), "response": "" })
    };
    (0..12).map(item).collect()
}

#[tokio::test]
async fn events_tell_groups_once_and_go_on_after_a_break() {
    let mut host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let client = host.client();
    let plugin = host.publish("trivial").await;

    // With a group size a group is complete by itself, before the seal.
    let sized = announce(&http, &plugin, json!({ "group_size": 3 })).await;
    let mut events = client.events(sized, None).await.expect("answers");
    submit(&http, sized, &grouped(true)).await;
    let mut seen = Vec::new();
    while seen.iter().filter(|event: &&ServerEvent| event.name == "group.done").count() < 4 {
        seen.push(next(&mut events).await.expect("the batch is open"));
    }
    let open: Batch = http.get(&format!("/v1/batches/{sized}")).await.json(200);
    assert_eq!(open.state, BatchState::Open);
    seal(&http, sized).await;
    while let Some(event) = next(&mut events).await {
        seen.push(event);
    }
    seen.retain(|event| event.name != "batch.estimate");
    check_order(&seen, 3, 4);

    // Without one nobody knows a group's size before the seal.
    let unsized_ = announce(&http, &plugin, json!({})).await;
    submit(&http, unsized_, &grouped(false)).await;
    seal(&http, unsized_).await;
    check_order(&all(&client, unsized_, None).await, 3, 4);

    // Wherever a connection breaks, the rest comes; only a group may be told again.
    for cut in 0..seen.len() - 1 {
        let last = seen[..cut].last().and_then(|event| event.id.as_deref());
        let rest = all(&client, sized, last).await;
        let mut whole = seen[..cut].to_vec();
        whole.extend(rest.into_iter().filter(|event| !seen[..cut].contains(event)));
        assert_eq!(whole, seen, "a break behind event {cut}");
    }
    let path = format!("/v1/batches/{sized}/events");
    let bad = http.request(Method::GET, &path).header("last-event-id", "x");
    assert!(http.send(bad).await.problem(400, "bad_request").detail.contains("Last-Event-ID"));

    assert!(host.stop());
    host.restart();
    let restored = all(&host.client(), sized, None).await;
    let names = |events: &[ServerEvent], name: &str| -> Vec<String> {
        events.iter().filter(|event| event.name == name).map(|event| event.data.clone()).collect()
    };
    assert_eq!(names(&restored, "request.done"), names(&seen, "request.done"));
    assert_eq!(names(&restored, "group.done").len(), 4);
    assert_eq!(restored.last().map(|event| event.name.as_str()), Some("batch.done"));
}

/// Its results so far are not all, so that nobody may take them for the whole.
#[tokio::test]
async fn a_batch_that_waits_for_its_plugin_after_a_start_has_not_ended() {
    let options = HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() };
    let mut host = Host::start(options);
    host.publish("trivial").await;
    let http = Http::new(&host);
    let call = json!({ "plugin": "trivial@prod", "run": "interrupted" });
    let batch: Batch = http.post("/v1/batches", &call).await.json(201);
    let path = format!("/v1/batches/{}", batch.id);
    let items = json!([{ "key": "a", "response": "xx" }]);
    let _: SubmitReply = http.post(&format!("{path}/requests"), &items).await.json(200);
    let key = json!({ "scopes": ["batches:write"], "plugins": ["other"] });
    let key: Key = http.post("/v1/keys", &key).await.json(201);
    let other = key.secret.expect("shown when it is made");
    let results = format!("{path}/results");
    until("its result", async || {
        let page: ResultsPage = http.get(&results).await.json(200);
        (page.items.len() == 1).then_some(())
    })
    .await;

    let (objects, away) = (host.data().join("objects"), host.data().join("away"));
    // As after an upgrade of the engine, while the objects are out of reach.
    let _ = host.psql().rows("delete from compilations");
    host.kill();
    std::fs::rename(&objects, &away).expect("it is ours");
    host.restart();
    let http = Http::new(&host);
    let _ = http.get(&results).await.problem(503, "plugin_unavailable");
    let _ = http.get(&format!("{path}/events")).await.problem(503, "plugin_unavailable");
    let refused = http.with_key(&other).post(&format!("{path}/requests"), &items).await;
    let _ = refused.problem(403, "plugin_not_allowed");
    // Nothing is taken whose label cannot be validated.
    let waits = http.post(&format!("{path}/requests"), &items).await;
    let _ = waits.problem(503, "plugin_unavailable");

    let _ = std::fs::remove_dir_all(&objects);
    std::fs::rename(&away, &objects).expect("it is ours");
    until("its result again", async || {
        let answer = http.get(&results).await;
        (answer.status == 200).then_some(())
    })
    .await;
    let page: ResultsPage = http.get(&results).await.json(200);
    assert_eq!((page.items.len(), page.done), (1, false));
}

/// Its requests end as errors, and it is served as any other that was cancelled.
#[tokio::test]
async fn a_batch_whose_plugin_is_lost_can_be_cancelled() {
    let options = HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() };
    let mut host = Host::start(options);
    let plugin = host.publish("trivial").await;
    let http = Http::new(&host);
    let batch = announce(&http, &plugin, json!({})).await;
    submit(&http, batch, &items(0..2)).await;

    let _ = host.psql().rows("delete from compilations");
    host.kill();
    std::fs::remove_dir_all(host.data().join("objects")).expect("it is ours");
    host.restart();
    let http = Http::new(&host);
    let path = format!("/v1/batches/{batch}");
    let results = format!("{path}/results");
    let _ = http.get(&results).await.problem(503, "plugin_unavailable");
    let cancelled: Batch = http.post(&format!("{path}/cancel"), &json!({})).await.json(200);
    assert_eq!((cancelled.state, cancelled.counts.error), (BatchState::Cancelled, 2));
    let page = http.get(&results).await;
    let ResultsPage { items, done, .. } = page.json(200);
    assert!(done);
    let is_cancelled = |item: &ResultItem| match &item.outcome {
        Outcome::Error { code, .. } => *code == ErrorCode::Cancelled,
        _ => false,
    };
    assert!(items.len() == 2 && items.iter().all(is_cancelled), "{items:?}");

    host.kill();
    host.restart();
    let http = Http::new(&host);
    assert_eq!(http.get(&results).await.body, page.body);
    let ended: Batch = http.get(&path).await.json(200);
    assert_eq!(ended.state, BatchState::Cancelled);
}

//! The running service as people see it: what is live and how it changes, workers one by one, what
//! went wrong, replays, simulations, and how pools stood.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_api::audit::AuditPage;
use assay_api::batch::{AnnounceBatch, Batch, BatchState};
use assay_api::capacity::SetCapacity;
use assay_api::key::{Key, Scope};
use assay_api::operations::{
    CapacityHistory, EndedBatch, IncidentFilter, IncidentKind, IncidentPage, LiveBatch, LiveDelta,
    LiveSnapshot, Overview, PoolHistory, Worker, WorkerState,
};
use assay_api::people::Member;
use assay_api::plugin::PromotePlugin;
use assay_api::request::{Replay, ReplayRequest, Reward, SubmitItem};
use assay_api::simulation::{Simulation, SimulationRequest};
use assay_api::tenant::Tenant;
use assay_client::{Client, ServerEvent, ServerEvents, TenantFilter};
use assay_core::id::{BatchId, RequestId, WorkerId};
use assay_tests::{
    Answers, Browser, Host, HostOptions, Http, Process, Sleepers, assay, component, item, ndjson,
    signal, until,
};
use reqwest::Method;
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(120);

fn start(workers: &str) -> Host {
    Host::start(HostOptions { workers: vec![workers.into()], ..HostOptions::default() })
}

/// Its stages, one on each of two pools, last as many milliseconds as a request says, or until a gate opens.
fn start_sleeping(sleepers: &Sleepers) -> Host {
    Host::start(HostOptions {
        workers: vec!["cpu=1".into(), "gpu=1".into()],
        arguments: vec!["--worker-program".into(), sleepers.program()],
        ..HostOptions::default()
    })
}

/// `count` requests, each with this many thousand rounds in both stages of `worker_load`.
fn load(count: usize, thousand_rounds: &str) -> Vec<SubmitItem> {
    (0..count).map(|at| item(format!("r{at}"), thousand_rounds, "4")).collect()
}

/// As many whose first stage lasts until the gate opens.
fn gated(count: usize, gate: &str) -> Vec<SubmitItem> {
    (0..count).map(|at| item(format!("gated{at}"), &format!("{gate} 1"), "4")).collect()
}

/// Another tenant, and a key of it that may do everything but what is the platform's.
async fn other(http: &Http) -> (Tenant, Key) {
    let tenant: Tenant = http.post("/v1/tenants", &json!({ "name": "other" })).await.json(201);
    let scopes: Vec<Scope> = Scope::ALL.into_iter().filter(|it| *it != Scope::Platform).collect();
    let call = json!({ "tenant": "other", "scopes": scopes });
    (tenant, http.post("/v1/keys", &call).await.json(201))
}

fn client_of(host: &Host, key: &Key) -> Client {
    Client::new(&host.url, key.secret.as_deref().expect("it is new")).expect("a client")
}

async fn publish(client: &Client, name: &str) -> String {
    let plugin = client.publish(component(name).into()).await.expect("publishes");
    let version = PromotePlugin { version: plugin.version };
    client.promote(&plugin.name, "prod", &version).await.expect("promotes");
    format!("{}@prod", plugin.name)
}

fn announcement(plugin: &str, run: &str, size: usize) -> AnnounceBatch {
    AnnounceBatch {
        plugin: plugin.into(),
        run: run.into(),
        iteration: 3,
        expected_size: Some(u32::try_from(size).expect("few")),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    }
}

/// Announces, submits and waits for the end.
async fn whole(client: &Client, call: &AnnounceBatch, items: &[SubmitItem]) -> Batch {
    let batch = client.announce(call).await.expect("announces");
    client.submit_ndjson(batch.id, ndjson(items)).await.expect("submits");
    ended(client, batch.id).await
}

async fn ended(client: &Client, id: BatchId) -> Batch {
    until("the batch ends", async || {
        let batch = client.batch(id).await.expect("answers");
        batch.state.is_final().then_some(batch)
    })
    .await
}

/// A reader of a stream, with all that it was told.
struct Follower {
    events: ServerEvents,
    ids: Vec<String>,
    live: BTreeMap<BatchId, LiveBatch>,
    /// Every state and count that a batch was told to have.
    told: BTreeMap<BatchId, Vec<LiveBatch>>,
    ended: BTreeMap<BatchId, EndedBatch>,
    deltas: Vec<LiveDelta>,
}

impl Follower {
    async fn start(client: &Client, whose: TenantFilter) -> (Self, LiveSnapshot) {
        let events = client.live(whose, None).await.expect("a stream");
        let mut follower = Self {
            events,
            ids: Vec::new(),
            live: BTreeMap::new(),
            told: BTreeMap::new(),
            ended: BTreeMap::new(),
            deltas: Vec::new(),
        };
        let first = follower.event().await.expect("a first event");
        assert_eq!(first.name, "snapshot");
        let snapshot: LiveSnapshot = serde_json::from_str(&first.data).expect("a snapshot");
        follower.live = snapshot.batches.iter().map(|it| (it.id, it.clone())).collect();
        follower.ids.push(first.id.expect("events have ids"));
        (follower, snapshot)
    }

    async fn event(&mut self) -> Option<ServerEvent> {
        let next = tokio::time::timeout(PATIENCE, self.events.next()).await;
        next.expect("in time").expect("a sound stream")
    }

    async fn delta(&mut self) -> LiveDelta {
        let event = self.event().await.expect("the stream goes on");
        assert_eq!(event.name, "delta", "{}", event.data);
        let delta: LiveDelta = serde_json::from_str(&event.data).expect("a delta");
        self.ids.push(event.id.expect("events have ids"));
        for batch in &delta.batches {
            assert!(!self.ended.contains_key(&batch.id), "it has ended: {batch:?}");
            self.told.entry(batch.id).or_default().push(batch.clone());
            self.live.insert(batch.id, batch.clone());
        }
        for batch in &delta.ended {
            self.live.remove(&batch.id);
            assert!(self.ended.insert(batch.id, batch.clone()).is_none(), "twice: {batch:?}");
        }
        self.deltas.push(delta.clone());
        delta
    }

    /// Follows until a batch that is live is told to be so.
    async fn until_told(&mut self, id: BatchId, so: impl Fn(&LiveBatch) -> bool) {
        while !self.live.get(&id).is_some_and(&so) {
            self.delta().await;
        }
    }

    async fn until_ended(&mut self, id: BatchId) -> EndedBatch {
        while !self.ended.contains_key(&id) {
            self.delta().await;
        }
        self.ended[&id].clone()
    }
}

fn rank(state: BatchState) -> u32 {
    match state {
        BatchState::Announced => 0,
        BatchState::Open => 1,
        BatchState::Sealed => 2,
        _ => 3,
    }
}

#[tokio::test]
async fn a_stream_and_the_overview_follow_a_batch_to_its_end() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = start_sleeping(&sleepers);
    let (client, http) = (host.client(), Http::new(&host));
    let plugin = host.publish("two_pools").await;
    let (_, key) = other(&http).await;
    let theirs = client_of(&host, &key);
    let their_plugin = publish(&theirs, "two_pools").await;
    let (mut stream, snapshot) = Follower::start(&client, TenantFilter::Own).await;
    let (mut their_stream, their_snapshot) = Follower::start(&theirs, TenantFilter::Own).await;
    assert!(snapshot.batches.is_empty() && snapshot.pools.is_some_and(|pools| pools.len() == 2));
    assert!(their_snapshot.pools.is_none());

    let items: Vec<_> = load(2, "1 1").into_iter().chain(gated(10, "followed")).collect();
    let call = announcement(&plugin, "followed", items.len());
    let call = AnnounceBatch { max_extra_delay_ms: Some(1_500), ..call };
    let batch = client.announce(&call).await.expect("announces");
    // Changes meanwhile are told at once: each state is told before the next one begins.
    stream.until_told(batch.id, |it| it.counts.submitted == 0).await;
    client.submit_ndjson(batch.id, ndjson(&items[..2])).await.expect("submits");
    stream.until_told(batch.id, |it| it.counts.finished() == 2).await;
    client.submit_ndjson(batch.id, ndjson(&items[2..])).await.expect("submits");
    stream.until_told(batch.id, |it| it.counts.submitted == 12).await;
    let seen: Overview = until("the overview shows it at work", async || {
        let overview = client.overview(TenantFilter::Own).await.expect("answers");
        let live = overview.batches.first().filter(|it| it.running > 0 && it.queued > 0)?;
        let due = live.due_at.is_some();
        due.then_some(overview.clone())
    })
    .await;
    let live = &seen.batches[0];
    assert_eq!(
        (live.id, &*live.run, &*live.tenant, live.iteration),
        (batch.id, "followed", "platform", 3)
    );
    assert_eq!((live.tolerance_ms, live.expected_size), (1_500.0, Some(12)));
    let (earliest, due) = (live.earliest_end_at.expect("T"), live.due_at.expect("T + D"));
    assert_eq!(due.since(earliest).as_ms_f64(), 1_500.0);
    let waits: u64 = seen.queue.iter().map(|stage| stage.queued + stage.running).sum();
    assert!(seen.queue.iter().all(|stage| stage.plugin.starts_with("two-pools@")), "{seen:?}");
    assert!((1..=12).contains(&waits) && seen.batches_total == 1, "{seen:?}");
    assert!(seen.pools.is_some_and(|pools| pools[0].pool == "cpu" && pools[0].workers.busy == 1));
    let queue = client.queue().await.expect("answers");
    assert!(queue.pools.iter().all(|pool| pool.batches[0].id == batch.id), "{queue:?}");
    let nothing = theirs.overview(TenantFilter::Own).await.expect("answers");
    assert!(nothing.batches.is_empty() && nothing.queue.is_empty() && nothing.pools.is_none());
    sleepers.open("followed");

    let done = ended(&client, batch.id).await;
    let told = stream.until_ended(batch.id).await;
    assert_eq!((told.state, told.counts), (BatchState::Done, done.counts));
    assert_eq!((told.done_at, told.mean_reward), (done.done_at, done.mean_reward));
    assert!(stream.live.is_empty());
    let states = &stream.told[&batch.id];
    assert!(states.is_sorted_by_key(|it| (rank(it.state), it.counts.submitted)), "{states:?}");
    assert!(states.is_sorted_by_key(|it| it.counts.finished()), "{states:?}");
    assert!(states.len() >= 3, "{states:?}");
    assert!(stream.deltas.iter().any(|delta| !delta.pools.is_empty()), "pools have changed");

    // The other tenant is told of its own batch alone.
    let small = [item("a", "1 1", "1")];
    let own = whole(&theirs, &announcement(&their_plugin, "theirs", 1), &small).await;
    their_stream.until_ended(own.id).await;
    let known: Vec<_> = their_stream.told.keys().chain(their_stream.ended.keys()).collect();
    assert!(known.iter().all(|id| **id == own.id), "{known:?}");
    assert!(their_stream.deltas.iter().all(|delta| delta.pools.is_empty()));
    let their_http = http.with_key(key.secret.as_deref().expect("it is new"));
    for path in ["/v1/overview?all=true", "/v1/live?all=true", "/v1/incidents?all=true"] {
        let _ = their_http.get(path).await.problem(403, "scope_missing");
    }
}

#[tokio::test]
async fn a_reader_goes_on_where_it_was_and_the_platform_sees_all() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = start_sleeping(&sleepers);
    let (client, http) = (host.client(), Http::new(&host));
    let (_, key) = other(&http).await;
    let theirs = client_of(&host, &key);
    let plugin = publish(&theirs, "two_pools").await;
    let (mut all, snapshot) = Follower::start(&client, TenantFilter::All).await;
    assert!(snapshot.batches.is_empty());
    let items = load(3, "1 1");
    let batch = theirs.announce(&announcement(&plugin, "theirs", 3)).await.expect("announces");
    // One after the other, each told before the next comes.
    for (finished, item) in (0..).zip(&items) {
        all.until_told(batch.id, |it| it.counts.finished() == finished).await;
        theirs.submit(batch.id, std::slice::from_ref(item)).await.expect("submits");
    }
    all.until_ended(batch.id).await;
    assert!(all.told[&batch.id].iter().all(|it| it.tenant == "other"), "{:?}", all.told);
    assert_eq!(client.overview(TenantFilter::Own).await.expect("answers").batches.len(), 0);

    let deltas = all.ids.len() - 1;
    assert!(deltas >= 3, "{:?}", all.ids);
    let mut again = client.live(TenantFilter::All, Some(&all.ids[1])).await.expect("a stream");
    for (place, id) in all.ids.iter().enumerate().skip(2) {
        let event = again.next().await.expect("sound").expect("an event");
        assert_eq!((event.name.as_str(), event.id.as_ref()), ("delta", Some(id)));
        let delta: serde_json::Value = serde_json::from_str(&event.data).expect("JSON");
        let known = serde_json::to_value(&all.deltas[place - 1]).expect("JSON");
        assert_eq!(delta["ended"], known["ended"]);
    }
    // An id that no feed ever said leads to a snapshot, as does another feed's.
    for unknown in ["nonsense", "-", "x-1", &format!("{}9999", all.ids[0])] {
        let mut fresh = client.live(TenantFilter::All, Some(unknown)).await.expect("a stream");
        assert_eq!(fresh.next().await.expect("sound").expect("an event").name, "snapshot");
    }
    let mut other_feed = theirs.live(TenantFilter::Own, Some(&all.ids[1])).await.expect("a stream");
    assert_eq!(other_feed.next().await.expect("sound").expect("an event").name, "snapshot");
}

/// Somebody who may look, with a session.
async fn signed_in(host: &Host, http: &Http) -> Browser {
    let call = json!({ "email": "viewer@example.com", "role": "viewer" });
    let member: Member = http.post("/v1/members", &call).await.json(201);
    let mut browser = Browser::new(host);
    let invitation = member.invitation.expect("is new").token;
    browser.accept(&invitation, "correct horse battery").await;
    browser
}

#[tokio::test]
async fn a_stream_ends_with_its_key_or_session_and_streams_are_counted() {
    let host = start("cpu=0");
    let (client, http) = (host.client(), Http::new(&host));
    let call = json!({ "scopes": ["batches:read"] });
    let key: Key = http.post("/v1/keys", &call).await.json(201);
    let reader = client_of(&host, &key);
    let (mut stream, _) = Follower::start(&reader, TenantFilter::Own).await;
    let mut browser = signed_in(&host, &http).await;
    let request = browser.plain(Method::GET, "/v1/live").send().await.expect("answers");
    assert_eq!(request.status(), 200);
    let batch = client.announce(&announcement(&host.publish("trivial").await, "r", 1)).await;
    let batch = batch.expect("announces");
    let mut events = reader.events(batch.id, None).await.expect("a stream");
    let path = format!("/v1/batches/{}/results", batch.id);
    let lines =
        http.with_key(key.secret.as_deref().expect("it is new")).request(Method::GET, &path);
    let lines = lines.header("accept", "application/x-ndjson").send().await.expect("answers");
    assert_eq!(lines.status(), 200);
    let mut open = Vec::new();
    let refused = loop {
        match client.live(TenantFilter::Own, None).await {
            Ok(stream) => open.push(stream),
            Err(error) => break error.to_string(),
        }
        assert!(open.len() <= 64, "streams have a limit");
    };
    assert!(refused.contains("which is the limit"), "{refused}");
    let path = format!("/v1/keys/{}/revoke", key.id);
    let _: Key = http.post(&path, &json!({})).await.json(200);
    let out = browser.request(Method::DELETE, "/v1/session");
    assert_eq!(browser.send(out).await.status, 204);
    let by_cookie = tokio::time::timeout(PATIENCE, request.text()).await.expect("it ends");
    assert!(by_cookie.expect("a sound stream").starts_with("event: snapshot"));
    while stream.event().await.is_some() {}
    let last =
        tokio::time::timeout(PATIENCE, async { while let Ok(Some(_)) = events.next().await {} });
    last.await.expect("the batch's stream ends as well");
    let results = tokio::time::timeout(PATIENCE, lines.text()).await.expect("its results too");
    assert_eq!(results.expect("a sound stream"), "");
    // The places of streams that are gone are free.
    drop(open);
    until("a place is free", async || client.live(TenantFilter::Own, None).await.ok()).await;
}

async fn incidents(client: &Client, kind: IncidentKind) -> IncidentPage {
    let filter = IncidentFilter { kind: Some(kind), ..IncidentFilter::default() };
    client.incidents(&filter).await.expect("answers")
}

#[tokio::test]
async fn workers_that_die_are_one_incident_a_minute() {
    let host = start("cpu=1");
    let (client, http) = (host.client(), Http::new(&host));
    let (_, key) = other(&http).await;
    let (mut stream, _) = Follower::start(&client, TenantFilter::Own).await;
    for round in 1..=3 {
        let worker = idle_worker(&client, round).await;
        signal(worker.pid.expect("it has joined"), "KILL");
    }
    let died = until("the deaths are counted", async || {
        let page = incidents(&client, IncidentKind::WorkerDied).await;
        let count: u32 = page.items.iter().map(|incident| incident.count).sum();
        (count == 3).then_some(page.items)
    })
    .await;
    // Two where a minute ended meanwhile.
    assert!((1..=2).contains(&died.len()), "{died:?}");
    assert!(died.iter().all(|it| it.pool.as_deref() == Some("cpu") && it.tenant.is_none()));
    assert!(died[0].detail.contains("ended unasked"), "{died:?}");
    let told = loop {
        let incidents = stream.delta().await.incidents;
        if let Some(last) = incidents.last().filter(|last| last.id == died[0].id) {
            break last.clone();
        }
    };
    assert_eq!(told.kind, IncidentKind::WorkerDied);
    let seen = client.overview(TenantFilter::Own).await.expect("answers").incidents;
    assert!(seen.iter().any(|incident| incident.id == died[0].id));
    let theirs = client_of(&host, &key);
    assert!(incidents(&theirs, IncidentKind::WorkerDied).await.items.is_empty());
}

/// The only worker of the pool `cpu`, once it is idle and the given number of workers have been there.
async fn idle_worker(client: &Client, at_least: u64) -> Worker {
    until("a worker is idle", async || {
        let workers = client.workers().await.expect("answers").items;
        let is_next = |worker: &Worker| worker.id.is_some_and(|id| id >= at_least);
        let mut idle = workers.into_iter().filter(|it| it.state == WorkerState::Idle);
        idle.find(|it| it.pool == "cpu" && is_next(it))
    })
    .await
}

#[tokio::test]
async fn late_batches_and_failed_requests_are_their_tenants_incidents() {
    let host = start("cpu=1");
    let (client, http) = (host.client(), Http::new(&host));
    let (_, key) = other(&http).await;
    let theirs = client_of(&host, &key);
    let plugin = host.publish("liar").await;
    let items: Vec<SubmitItem> = ["panic", "panic", "two_stages", "bad_request"]
        .iter()
        .enumerate()
        .map(|(at, lie)| item(format!("r{at}"), lie, "1"))
        .collect();
    let failed = whole(&client, &announcement(&plugin, "failing", items.len()), &items).await;
    assert_eq!(failed.counts.error, 3);
    let page = until("the failures are told", async || {
        let page = incidents(&client, IncidentKind::RequestsFailed).await;
        (page.items.len() == 2).then_some(page)
    })
    .await;
    let found: BTreeMap<_, _> =
        page.items.iter().map(|it| (it.code.clone().expect("a code"), it.count)).collect();
    let wanted = [("bad_request".to_owned(), 1), ("plugin_trap".to_owned(), 2)];
    assert_eq!(found, BTreeMap::from(wanted));
    for incident in &page.items {
        assert_eq!((incident.batch, incident.run.as_deref()), (Some(failed.id), Some("failing")));
        assert_eq!(incident.tenant.as_deref(), Some("platform"));
    }

    let slow = host.publish("worker_load").await;
    let call = AnnounceBatch { max_extra_delay_ms: Some(0), ..announcement(&slow, "late", 4) };
    let late = whole(&client, &call, &load(4, "20000")).await;
    assert!(late.extra_delay_ms.is_some_and(|delay| delay > 0.0), "one worker, four requests");
    let page = until("the delay is told", async || {
        let page = incidents(&client, IncidentKind::BatchLate).await;
        page.items.iter().any(|it| it.batch == Some(late.id)).then_some(page)
    })
    .await;
    assert!(page.items[0].detail.contains("the tolerance is 0 ms"), "{page:?}");

    let filter = IncidentFilter { limit: Some(2), ..IncidentFilter::default() };
    let first = client.incidents(&filter).await.expect("answers");
    let next = IncidentFilter { after: first.next, ..filter };
    let second = client.incidents(&next).await.expect("answers");
    let ids: Vec<i64> = first.items.iter().chain(&second.items).map(|it| it.id).collect();
    assert!(ids.len() >= 3 && ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    let of_run = IncidentFilter { run: Some("late".into()), ..IncidentFilter::default() };
    let of_run = client.incidents(&of_run).await.expect("answers").items;
    let found: Vec<_> = of_run.iter().map(|it| (it.kind, it.run.as_deref())).collect();
    assert_eq!(found, [(IncidentKind::BatchLate, Some("late"))]);
    let future = IncidentFilter {
        from: Some(first.items[0].at + assay_core::time::Micros(1)),
        ..IncidentFilter::default()
    };
    assert!(client.incidents(&future).await.expect("answers").items.is_empty());
    let none = theirs.incidents(&IncidentFilter::default()).await.expect("answers");
    assert!(none.items.is_empty(), "{none:?}");
    let _ = http.get("/v1/incidents?kind=boredom").await.problem(400, "bad_request");
}

#[tokio::test]
async fn a_drained_worker_finishes_what_it_has_and_another_takes_its_place() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = start_sleeping(&sleepers);
    let (client, http) = (host.client(), Http::new(&host));
    let plugin = host.publish("two_pools").await;
    let first = idle_worker(&client, 1).await;
    assert!(first.memory_bytes.is_some_and(|bytes| bytes > 1 << 20), "{first:?}");
    assert!(first.heard_at >= first.joined_at && first.launcher == "process", "{first:?}");
    let items = gated(4, "drained");
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let busy = until("it is busy", async || {
        let workers = client.workers().await.expect("answers").items;
        workers.into_iter().find(|worker| worker.pool == "cpu" && worker.running.is_some())
    })
    .await;
    let running = busy.running.expect("it runs something");
    assert_eq!((busy.id, busy.state, running.batch), (first.id, WorkerState::Busy, answers.batch));
    assert_eq!((running.stage.as_str(), running.tenant.as_str()), ("compile", "platform"));
    let drained = client.drain_worker(WorkerId(first.id.expect("joined"))).await.expect("drains");
    assert_eq!(drained.state, WorkerState::Draining);
    sleepers.open("drained");
    let results = answers.finish(&client, &items).await;
    for result in results.values() {
        assert_eq!(result.outcome.kind(), "scored", "{result:?}");
        assert!(result.stages.iter().all(|stage| stage.attempts == 1), "{result:?}");
    }
    let second = idle_worker(&client, first.id.expect("joined") + 1).await;
    assert_ne!(second.pid, first.pid);
    assert!(second.stages_done > 0, "{second:?}");
    assert!(Process::find(first.pid.expect("it joined")).is_none_or(|it| it.parent != host.pid()));
    assert!(incidents(&client, IncidentKind::WorkerDied).await.items.is_empty());
    let acts: AuditPage = http.get("/v1/audit?action=worker.drain").await.json(200);
    assert_eq!(acts.items[0].subject, first.id.expect("joined").to_string());
    for unknown in ["999", "x"] {
        let path = format!("/v1/workers/{unknown}/drain");
        let _ = http.post(&path, &json!({})).await.problem(404, "not_found");
    }
    let listed = assay(Some(&host), &["worker", "ls"]);
    assert!(listed.stdout.contains("idle") && listed.stdout.contains("cpu"), "{}", listed.stdout);
}

async fn score(http: &Http, plugin: &str, response: &str) -> RequestId {
    let call = json!({ "plugin": plugin, "response": response });
    let reward: Reward = http.post("/v1/rewards", &call).await.json(200);
    reward.id
}

#[tokio::test]
async fn a_replay_agrees_unless_the_version_is_another() {
    let host = start("cpu=1");
    let (client, http) = (host.client(), Http::new(&host));
    let (_, key) = other(&http).await;
    let liar = host.publish("liar").await;
    let call = ReplayRequest::default();
    // Its explanation is what its seed gives: the same seed, the same explanation.
    let id = score(&http, &liar, "random").await;
    let replay: Replay = client.replay(id, &call).await.expect("replays");
    assert!(replay.agrees && replay.differences.is_empty(), "{replay:?}");
    assert_eq!((replay.request, replay.recorded.id), (id, id));
    assert_ne!(replay.replayed.id, id);
    assert_eq!(replay.recorded.outcome, replay.replayed.outcome);
    assert_eq!(replay.recorded.stages.len(), replay.replayed.stages.len());
    let failed = score(&http, &liar, "panic").await;
    assert!(client.replay(failed, &call).await.expect("replays").agrees, "an error is one again");

    let trivial = host.publish("trivial").await;
    let id = score(&http, &trivial, "xx").await;
    let next = client.publish(component("trivial_next").into()).await.expect("publishes");
    let version = ReplayRequest { version: Some(next.version.clone()) };
    let replay = client.replay(id, &version).await.expect("replays");
    assert!(!replay.agrees, "{replay:?}");
    assert_eq!(replay.differences, ["reward"]);
    assert_eq!(
        (replay.recorded.plugin.as_str(), &replay.replayed.plugin),
        ("trivial@1.0.0", &format!("trivial@{}", next.version))
    );
    assert_eq!(replay.replayed.plugin_digest, next.digest);
    let told = ["request", "replay", &id.to_string(), "--version", &next.version];
    let told = assay(Some(&host), &told);
    assert_eq!(told.code, Some(1));
    assert!(told.stdout.contains("the outcomes differ: reward"), "{}", told.stdout);

    let path = format!("/v1/requests/{id}/replay");
    let absent = json!({ "version": "9.9.9" });
    let _ = http.post(&path, &absent).await.problem(404, "not_found");
    let channel = json!({ "version": "prod" });
    let _ = http.post(&path, &channel).await.problem(400, "bad_request");
    let yank = format!("/v1/plugins/trivial/versions/{}/yank", next.version);
    assert_eq!(http.post(&yank, &json!({ "reason": "wrong" })).await.status, 200);
    let yanked = json!({ "version": next.version });
    let refused = http.post(&path, &yanked).await.problem(422, "plugin_refused");
    assert!(refused.detail.contains("yanked"), "{refused:?}");
    let theirs = http.with_key(key.secret.as_deref().expect("it is new"));
    let _ = theirs.post(&path, &json!({})).await.problem(404, "not_found");
    let psql = host.psql();
    let _ = psql.rows(&format!("update batches set expired_at = now() where id = '{}'", id.batch));
    let _ = http.post(&path, &json!({})).await.problem(410, "gone");

    // Nobody is there to end it.
    client.set_capacity("cpu", &SetCapacity { min: 0, max: 0 }).await.expect("sets");
    until("the worker goes", async || {
        client.workers().await.expect("answers").items.is_empty().then_some(())
    })
    .await;
    let idle = client.announce(&announcement(&liar, "waits", 2)).await.expect("announces");
    let waits = [item("a", "count", "1")];
    client.submit_ndjson(idle.id, ndjson(&waits)).await.expect("submits");
    let path = format!("/v1/requests/{}/replay", RequestId { batch: idle.id, seq: 0 });
    let _ = http.post(&path, &json!({})).await.problem(409, "request_not_ended");
    client.cancel(idle.id).await.expect("cancels");
}

#[tokio::test]
async fn a_simulation_says_what_other_settings_would_have_done() {
    let host = start("cpu=1");
    let (client, http) = (host.client(), Http::new(&host));
    let (_, key) = other(&http).await;
    let plugin = host.publish("worker_load").await;
    let mut batches = Vec::new();
    for iteration in 0..2 {
        let call = AnnounceBatch { iteration, ..announcement(&plugin, "simulated", 10) };
        batches.push(whole(&client, &call, &load(10, "5000")).await);
    }
    let last = &batches[1];
    let run = async |max: u32| -> Simulation {
        let call = SimulationRequest {
            batch: Some(last.id),
            policy: Some("fixed".into()),
            pools_max: BTreeMap::from([("cpu".into(), max)]),
            ..SimulationRequest::default()
        };
        client.simulate(&call).await.expect("simulates")
    };
    let (few, many) = (run(1).await, run(10).await);
    for simulation in [&few, &many] {
        assert_eq!((simulation.batches.len(), simulation.batches_replayed), (1, 2));
        assert_eq!((simulation.batches[0].id, simulation.batches[0].requests), (last.id, 10));
        assert!(simulation.stages.iter().all(|stage| (1..=500).contains(&stage.curve.len())));
        let delay = simulation.batches[0].actual_extra_delay_ms;
        assert_eq!(Some(delay), last.extra_delay_ms);
    }
    assert!(few.batches[0].extra_delay_ms > many.batches[0].extra_delay_ms, "{few:?} {many:?}");
    assert_eq!(many.stages.iter().map(|stage| stage.workers_peak).max(), Some(10));
    let whole_run =
        SimulationRequest { run: Some("simulated".into()), ..SimulationRequest::default() };
    let simulation = client.simulate(&whole_run).await.expect("simulates");
    assert_eq!((simulation.policy.as_str(), simulation.batches.len()), ("assay", 1));
    let first = SimulationRequest { batch: Some(batches[0].id), ..SimulationRequest::default() };
    assert!(client.simulate(&first).await.expect("simulates").own_history);

    let refuse = async |call: serde_json::Value, status: u16, code: &str| {
        http.post("/v1/simulations", &call).await.problem(status, code)
    };
    refuse(json!({}), 400, "bad_request").await;
    for policy in ["guess", "fixed:prepare=10001", "fixed:score=10000000000"] {
        refuse(json!({ "run": "simulated", "policy": policy }), 400, "bad_request").await;
    }
    refuse(json!({ "run": "nobody's" }), 404, "not_found").await;
    refuse(json!({ "batch": BatchId::generate() }), 404, "not_found").await;
    let none = json!({ "batch": last.id, "pools_max": { "cpu": 0 } });
    refuse(none, 422, "simulation_refused").await;
    let theirs = http.with_key(key.secret.as_deref().expect("it is new"));
    let call = json!({ "batch": last.id });
    let _ = theirs.post("/v1/simulations", &call).await.problem(404, "not_found");
    let live = client.announce(&announcement(&plugin, "live", 1)).await.expect("announces");
    refuse(json!({ "batch": live.id }), 409, "batch_not_done").await;
    let _ = host.psql().rows(&format!(
        "update batch_history set requests = 100001, arrived_us = array_fill(1::bigint, '{{100001}}'),
            ran_us = array_fill(1::bigint, '{{200002}}'), endings = repeat('s', 100001)
        where batch_id = '{}'",
        last.id
    ));
    refuse(call, 422, "simulation_too_large").await;
}

#[tokio::test]
async fn pools_are_written_down_while_they_work() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = start_sleeping(&sleepers);
    let (client, http) = (host.client(), Http::new(&host));
    let plugin = host.publish("two_pools").await;
    let items = gated(16, "written");
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let pool: PoolHistory = until("work is written down", async || {
        let history: CapacityHistory = http.get("/v1/capacity/history?pool=cpu").await.json(200);
        let pool = history.pools.into_iter().next()?;
        pool.samples.iter().any(|sample| sample.busy > 0).then_some(pool)
    })
    .await;
    sleepers.open("written");
    answers.finish(&client, &items).await;
    let busy = pool.samples.iter().find(|sample| sample.busy > 0).expect("one is busy");
    assert!(busy.demand >= busy.busy && busy.demand == busy.busy + busy.queued, "{busy:?}");
    assert!(busy.cost >= f64::from(busy.busy) && busy.ceiling.is_some(), "{busy:?}");
    assert!(pool.samples.is_sorted_by(|a, b| a.at < b.at));
    let decided = pool.decisions.first().expect("a target was chosen");
    assert!(!decided.why.is_empty() && decided.ceiling > 0, "{decided:?}");
    let _ = http.get("/v1/capacity/history?pool=tpu").await.problem(404, "not_found");
    let path = "/v1/capacity/history?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z";
    let _ = http.get(path).await.problem(400, "bad_request");
    let psql = host.psql();
    let _ = psql.rows(
        "insert into capacity_samples (pool, at, demand, starting, idle, busy, draining, queued, cost)
        select 'cpu', now() - n * interval '1 second', n, 0, 0, 0, 0, 0, 0
        from generate_series(60, 60000) n",
    );
    let from = time_before(&pool, 50_000);
    let path = format!("/v1/capacity/history?pool=cpu&from={from}");
    let history: CapacityHistory = http.get(&path).await.json(200);
    let samples = &history.pools[0].samples;
    assert!((450..=501).contains(&samples.len()), "{}", samples.len());
    assert!(samples.iter().any(|sample| sample.busy > 0), "peaks are kept");
}

fn time_before(pool: &PoolHistory, seconds: u64) -> String {
    let last = pool.samples.last().expect("a sample").at;
    last.since(assay_core::time::Micros::from_secs(seconds)).to_string()
}

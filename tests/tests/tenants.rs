//! Tenants: bounded by their quotas before anything is admitted, given what they were granted, told
//! what they used, rid of what is too old; and every administrative act is told.

use assay_api::audit::{AuditEntry, AuditPage};
use assay_api::batch::{Batch, BatchState};
use assay_api::key::{Key, KeyList, Scope};
use assay_api::plugin::PromotePlugin;
use assay_api::request::{Reward, SubmitReply};
use assay_api::tenant::{Tenant, TenantList, TenantSettings, TenantUsage};
use assay_api::view::RunView;
use assay_client::Client;
use assay_core::id::BatchId;
use assay_tests::{Answer, Host, HostOptions, Http, Psql, assay, component, until};
use reqwest::Method;
use serde_json::{Value, json};

/// A tenant `team` beside the platform's own, with a key that administers nothing else.
struct Team {
    host: Host,
    /// With the first key, of the platform.
    platform: Http,
    /// With the team's key.
    http: Http,
    key: Key,
}

impl Team {
    async fn start(workers: &str, arguments: &[&str]) -> Self {
        let host = Host::start(HostOptions {
            workers: vec![workers.into()],
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            ..HostOptions::default()
        });
        let platform = Http::new(&host);
        let tenant: Tenant =
            platform.post("/v1/tenants", &json!({ "name": "team" })).await.json(201);
        assert_eq!(tenant.settings, TenantSettings::default());
        let scopes: Vec<_> =
            Scope::ALL.into_iter().filter(|&scope| scope != Scope::Platform).collect();
        let key = json!({ "tenant": "team", "name": "theirs", "scopes": scopes });
        let key: Key = platform.post("/v1/keys", &key).await.json(201);
        let http = platform.with_key(secret(&key));
        Self { host, platform, http, key }
    }

    async fn publish(&self, name: &str) -> String {
        let client = Client::new(&self.host.url, secret(&self.key)).expect("a key");
        let plugin = client.publish(component(name).into()).await.expect("publishes");
        let version = PromotePlugin { version: plugin.version };
        client.promote(&plugin.name, "prod", &version).await.expect("promotes");
        format!("{}@prod", plugin.name)
    }

    async fn set(&self, patch: Value) -> Tenant {
        patch_tenant(&self.platform, "team", &patch).await.json(200)
    }

    async fn announce(&self, size: u32) -> Answer {
        let call = json!({ "plugin": "trivial@prod", "run": "run", "expected_size": size });
        self.http.post("/v1/batches", &call).await
    }

    async fn submit(&self, batch: BatchId, count: u32, response: &str) {
        let items: Vec<_> =
            (0..count).map(|at| json!({ "key": at.to_string(), "response": response })).collect();
        let path = format!("/v1/batches/{batch}/requests");
        let reply: SubmitReply = self.http.post(&path, &json!(items)).await.json(200);
        assert_eq!(reply.accepted, count, "{:?}", reply.items.first());
    }

    /// A whole batch, to its end.
    async fn complete(&self, count: u32, response: &str) -> Batch {
        let batch: Batch = self.announce(count).await.json(201);
        self.submit(batch.id, count, response).await;
        let path = format!("/v1/batches/{}", batch.id);
        let batch: Batch = self.http.get_when_ended(&path).await.json(200);
        assert_eq!((batch.state, batch.counts.scored), (BatchState::Done, count));
        batch
    }

    async fn reward(&self) -> Answer {
        let call = json!({ "plugin": "trivial@prod", "response": "alone" });
        self.http.post("/v1/rewards", &call).await
    }

    async fn usage(&self) -> TenantUsage {
        self.http.get("/v1/tenants/team/usage").await.json(200)
    }

    async fn audit(&self, query: &str) -> Vec<AuditEntry> {
        let page: AuditPage = self.platform.get(&format!("/v1/audit?{query}")).await.json(200);
        page.items
    }

    fn database(&self) -> Psql {
        self.host.psql()
    }

    async fn upload(&self, name: &str) -> Answer {
        let call = self.http.request(Method::POST, "/v1/plugins");
        let call = call.header("content-type", "application/wasm").body(component(name));
        self.http.send(call).await
    }

    /// The stored bytes, counted row by row, but for those of components, which no row holds.
    fn bytes_in_rows(&self) -> u64 {
        let team = "tenant_id = (select id from tenants where name = 'team')";
        let sums = [("requests", "body"), ("artifacts", "bytes"), ("logs", "message")]
            .map(|(table, column)| (table, format!("octet_length({column})")))
            .into_iter()
            .chain([("outcomes", "octet_length(result::text)".to_owned())])
            .map(|(table, bytes)| {
                format!("(select coalesce(sum({bytes}), 0) from {table} where {team})")
            });
        let components = format!(
            "(select coalesce(sum(bytes), 0) from stored_bytes where writer = 'plugins' and {team})"
        );
        let sums: Vec<_> = sums.chain([components]).collect();
        let sql = format!("select {}", sums.join(" + "));
        self.database().rows(&sql)[0].parse().expect("a number")
    }
}

fn secret(key: &Key) -> &str {
    key.secret.as_deref().expect("shown when it is made")
}

async fn patch_tenant(http: &Http, name: &str, patch: &Value) -> Answer {
    http.send(http.request(Method::PATCH, &format!("/v1/tenants/{name}")).json(patch)).await
}

#[tokio::test]
async fn open_batches_are_bounded_and_what_was_admitted_goes_on() {
    let mut team = Team::start("cpu=0", &[]).await;
    team.publish("trivial").await;
    team.set(json!({ "quotas": { "open_batches_max": 2 } })).await;
    let first: Batch = team.announce(3).await.json(201);
    let _second: Batch = team.announce(3).await.json(201);
    for refused in [team.announce(1).await, team.reward().await] {
        let problem = refused.problem(429, "quota_exceeded");
        assert_eq!(problem.detail, "the quota open_batches_max is 2, and 2 batches are open");
        assert!(problem.hint.is_some_and(|hint| hint.contains("cancel batches")));
    }
    team.submit(first.id, 3, "taken").await;
    let usage = team.usage().await;
    assert_eq!((usage.open_batches.used, usage.open_batches.max), (2, Some(2)));
    // The platform's own tenant has its own bounds.
    team.host.publish("trivial").await;
    let call = json!({ "plugin": "trivial@prod", "run": "ours" });
    assert_eq!(team.platform.post("/v1/batches", &call).await.status, 201);

    // They hold over a restart, with the batches that are open.
    assert!(team.host.stop());
    team.host.restart();
    (team.http.url, team.platform.url) = (team.host.url.clone(), team.host.url.clone());
    let _ = team.announce(1).await.problem(429, "quota_exceeded");
    let path = format!("/v1/batches/{}/cancel", first.id);
    assert_eq!(team.http.post(&path, &json!({})).await.status, 200);
    until("there is room again", async || (team.announce(1).await.status == 201).then_some(()))
        .await;
    team.set(json!({ "quotas": { "open_batches_max": null } })).await;
    let _: Batch = team.announce(1).await.json(201);
}

#[tokio::test]
async fn a_minute_s_requests_are_bounded_by_whole_batches() {
    let team = Team::start("cpu=0", &[]).await;
    team.publish("trivial").await;
    team.set(json!({ "quotas": { "requests_per_minute_max": 10 } })).await;
    // Larger than the bucket: in debt once, and none of its requests is refused.
    let large: Batch = team.announce(25).await.json(201);
    for refused in [team.announce(1).await, team.reward().await] {
        let problem = refused.problem(429, "quota_exceeded");
        let says = "the quota requests_per_minute_max is 10, and 2";
        assert!(problem.detail.starts_with(says), "{problem:?}");
        let wait: u64 = refused.headers["retry-after"]
            .to_str()
            .ok()
            .and_then(|wait| wait.parse().ok())
            .expect("seconds");
        assert!((30..=91).contains(&wait), "{wait}");
    }
    team.submit(large.id, 25, "taken").await;
    assert!(team.usage().await.requests_per_minute.used >= 20);

    // Tokens for requests that never came are given back.
    team.set(json!({ "quotas": { "requests_per_minute_max": 1_000 } })).await;
    let unused = until("the debt is paid", async || {
        let answer = team.announce(1_000).await;
        (answer.status == 201).then(|| answer.json::<Batch>(201))
    })
    .await;
    let unknown = json!({ "plugin": "trivial@prod", "run": "run" });
    let _ = team.http.post("/v1/batches", &unknown).await.problem(429, "quota_exceeded");
    let debt = team.usage().await.requests_per_minute;
    assert!(debt.used > 1_000 && debt.max == Some(1_000), "{debt:?}");
    let path = format!("/v1/batches/{}/cancel", unused.id);
    assert_eq!(team.http.post(&path, &json!({})).await.status, 200);
    let open: Batch = until("the bucket is not empty", async || {
        let answer = team.http.post("/v1/batches", &unknown).await;
        (answer.status == 201).then(|| answer.json::<Batch>(201))
    })
    .await;
    let before = team.usage().await.requests_per_minute;
    assert!(before.used <= 1_000, "{before:?}");
    // A batch that says no size pays as its requests come.
    team.submit(open.id, 500, "taken").await;
    assert!(team.usage().await.requests_per_minute.used >= before.used + 200);
}

#[tokio::test]
async fn stored_bytes_are_counted_and_bounded() {
    let team = Team::start("cpu=1", &[]).await;
    team.publish("trivial").await;
    team.publish("trivial").await;
    assert_eq!(team.usage().await.stored_bytes.used, component("trivial").len() as u64);
    team.complete(5, &"x".repeat(10_000)).await;
    let _: Reward = team.reward().await.json(200);
    let stored = team.usage().await.stored_bytes;
    assert!(stored.used > 50_000 && stored.max.is_none(), "{stored:?}");
    assert_eq!(stored.used, team.bytes_in_rows());

    team.set(json!({ "quotas": { "stored_bytes_max": stored.used } })).await;
    for refused in [team.announce(1).await, team.reward().await, team.upload("liar").await] {
        let problem = refused.problem(429, "quota_exceeded");
        let used = stored.used;
        let says = format!("the quota stored_bytes_max is {used}, and {used} bytes are stored");
        assert_eq!(problem.detail, says);
        assert!(problem.hint.is_some_and(|hint| hint.contains("retention")));
    }
    team.set(json!({ "quotas": { "stored_bytes_max": stored.used + 1 } })).await;
    let open: Batch = team.announce(2).await.json(201);
    // It is over the bound now, and the batch still takes what it announced.
    team.submit(open.id, 2, &"x".repeat(10_000)).await;
}

#[tokio::test]
async fn artifacts_and_logs_are_stored_bytes_and_work_is_usage() {
    let team = Team::start("cpu=2", &["--cost", "cpu=3"]).await;
    let plugin = team.publish("liar").await;
    let call = json!({ "plugin": plugin, "run": "run", "expected_size": 4, "share_equal": false });
    let batch: Batch = team.http.post("/v1/batches", &call).await.json(201);
    let lies = ["two_stages", "two_stages", "count", "panic"];
    let items: Vec<_> = lies
        .iter()
        .enumerate()
        .map(|(at, lie)| json!({ "key": at.to_string(), "response": lie }))
        .collect();
    let path = format!("/v1/batches/{}", batch.id);
    let _: SubmitReply = team.http.post(&format!("{path}/requests"), &json!(items)).await.json(200);
    let batch: Batch = team.http.get_when_ended(&path).await.json(200);
    assert_eq!(batch.state, BatchState::Done);
    let lone = json!({ "plugin": plugin, "response": "count", "share_equal": false });
    let lone: Reward = team.http.post("/v1/rewards", &lone).await.json(200);
    let artifacts = team.database().rows("select count(*) from artifacts");
    assert_eq!(artifacts, ["2"]);

    let page: assay_api::batch::ResultsPage =
        team.http.get(&format!("{path}/results")).await.json(200);
    let ran = page.items.iter().map(|item| &item.stages).chain([&lone.stages]);
    let ran: Vec<_> = ran.filter(|stages| !stages.is_empty()).collect();
    let seconds: f64 = ran.iter().copied().flatten().map(|stage| stage.ran_ms / 1e3).sum();
    let usage = team.usage().await;
    assert_eq!(usage.stored_bytes.used, team.bytes_in_rows());
    let (mut requests, mut worker_seconds, mut cost) = (0, 0.0, 0.0);
    for day in &usage.days {
        assert_eq!(day.pool, "cpu");
        requests += day.requests;
        worker_seconds += day.worker_seconds;
        cost += day.cost;
    }
    assert_eq!(requests, ran.len() as u64);
    assert!(seconds > 0.0 && (worker_seconds - seconds).abs() < 1e-4, "{usage:?}: {seconds}");
    assert!((cost - 3.0 * worker_seconds).abs() < 1e-9, "{usage:?}");
    let none: TenantUsage = team.platform.get("/v1/tenants/platform/usage?days=1").await.json(200);
    assert!(none.days.is_empty(), "{none:?}");
}

#[tokio::test]
async fn a_tenant_has_no_more_workers_than_it_may() {
    let team = Team::start("cpu=2", &[]).await;
    let plugin = team.publish("worker_load").await;
    team.set(json!({ "weight": 5, "quotas": { "workers_max": { "cpu": 1 } } })).await;
    let items: Vec<_> = (0..4)
        .map(|at| json!({ "key": at.to_string(), "response": "400000", "label": at }))
        .collect();
    let call = json!({ "plugin": plugin, "run": "run", "expected_size": items.len() });
    let batch: Batch = team.http.post("/v1/batches", &call).await.json(201);
    let path = format!("/v1/batches/{}", batch.id);
    let _: SubmitReply = team.http.post(&format!("{path}/requests"), &json!(items)).await.json(200);
    let mut most = 0;
    until("the batch ends", async || {
        let workers = team.usage().await.workers["cpu"];
        assert_eq!(workers.max, Some(1));
        most = most.max(workers.used);
        let batch: Batch = team.http.get(&path).await.json(200);
        (batch.state == BatchState::Done).then_some(())
    })
    .await;
    assert_eq!(most, 1);
}

#[tokio::test]
async fn a_suspended_tenant_admits_nothing_and_reads_everything() {
    let team = Team::start("cpu=1", &[]).await;
    team.publish("trivial").await;
    let done = team.complete(2, "before").await;
    let open: Batch = team.announce(2).await.json(201);
    let suspended = team.set(json!({ "suspended": true })).await;
    assert!(suspended.suspended_at.is_some());
    let upload = team.http.post_bytes("/v1/plugins", "application/wasm", vec![0]).await;
    for refused in [team.announce(1).await, team.reward().await, upload] {
        let problem = refused.problem(403, "tenant_suspended");
        assert!(problem.detail.contains("suspended"), "{problem:?}");
        assert!(problem.hint.is_some_and(|hint| hint.contains("--resume")));
    }
    assert_eq!(team.database().rows("select count(*) from batches"), ["2"]);
    let results = team.http.get(&format!("/v1/batches/{}/results", done.id)).await;
    assert_eq!(results.status, 200, "{}", results.text());
    // No half of a batch: what was admitted takes its requests and ends.
    team.submit(open.id, 2, "after").await;
    let path = format!("/v1/batches/{}", open.id);
    let batch: Batch = team.http.get_when_ended(&path).await.json(200);
    assert_eq!(batch.counts.scored, 2);
    assert!(team.set(json!({ "suspended": false })).await.suspended_at.is_none());
    let _: Reward = team.reward().await.json(200);
}

#[tokio::test]
async fn a_plugin_gets_what_its_tenant_was_granted() {
    let team = Team::start("cpu=1", &[]).await;
    team.set(json!({ "grants": { "toolchains": [] } })).await;
    let upload = async |name: &str| {
        team.http.post_bytes("/v1/plugins", "application/wasm", component(name)).await
    };
    let problem = upload("execute").await.problem(403, "not_granted");
    assert!(problem.detail.contains("`assay:exec/"), "{problem:?}");
    assert!(problem.detail.ends_with("the tenant was not granted any toolchain"), "{problem:?}");
    assert!(problem.hint.is_some_and(|hint| hint.contains("--toolchains")));
    let problem = upload("assay_plugin_cuda").await.problem(403, "not_granted");
    assert!(problem.detail.contains("assay:gpu/"), "{problem:?}");
    assert!(problem.detail.ends_with("the tenant was not granted GPUs"), "{problem:?}");
    assert_eq!(team.database().rows("select count(*) from plugins"), ["0"]);

    team.set(json!({ "grants": { "toolchains": null } })).await;
    let plugin = team.publish("execute").await;
    // Taken away again: what was published before does not run any more either.
    team.set(json!({ "grants": { "toolchains": [] } })).await;
    let batch = json!({ "plugin": plugin, "run": "run" });
    let reward = json!({ "plugin": plugin, "response": "" });
    for (path, call) in [("/v1/batches", batch), ("/v1/rewards", reward)] {
        let _ = team.http.post(path, &call).await.problem(403, "not_granted");
    }
    assert_eq!(team.database().rows("select count(*) from batches"), ["0"]);
}

#[tokio::test]
async fn what_is_too_old_goes_and_its_totals_stay() {
    let team = Team::start("cpu=1", &[]).await;
    team.publish("trivial").await;
    let old = team.complete(7, "old").await;
    let lone: Reward = team.reward().await.json(200);
    let young = team.complete(3, "young").await;
    let database = team.database();
    let _ = database.rows(&format!(
        "update batches set ended_at = ended_at - interval '8 days' where id in ('{}', '{}')",
        old.id, lone.id.batch
    ));
    let spent = team.usage().await;
    team.set(json!({ "retention": { "results_days": 7 } })).await;

    let results = format!("/v1/batches/{}/results", old.id);
    until("the old batch is purged", async || {
        let left = database.rows("select count(*) from batches where purged_at is null");
        (left == ["1"]).then_some(())
    })
    .await;
    let request = format!("/v1/requests/{}", lone.id);
    for path in [
        results.clone(),
        format!("/v1/batches/{}/events", old.id),
        format!("/v1/requests/{}.0", old.id),
        format!("{request}/logs"),
        format!("{request}/artifacts/score"),
        request,
    ] {
        let problem = team.http.get(&path).await.problem(410, "gone");
        assert!(problem.detail.contains("were deleted on 20"), "{problem:?}");
        // Another tenant is told no more than ever.
        let _ = team.platform.get(&path).await.problem(404, "not_found");
    }
    let batch: Batch = team.http.get(&format!("/v1/batches/{}", old.id)).await.json(200);
    assert_eq!((batch.counts, batch.mean_reward), (old.counts, old.mean_reward));
    assert!(batch.expired_at.is_some());
    // A run keeps its iterations, from whose first one comparisons count.
    let run: RunView = team.http.get(&format!("/v1/runs/{}", old.run)).await.json(200);
    assert_eq!(run.iterations.batch, [old.id, young.id]);
    assert_eq!(run.iterations.counts, [old.counts, young.counts]);
    assert!(!run.earlier);
    for table in ["requests", "outcomes"] {
        let left = database.rows(&format!("select distinct batch_id from {table}"));
        assert_eq!(left, [young.id.to_string()], "{table}");
    }
    let young: assay_api::batch::ResultsPage =
        team.http.get(&format!("/v1/batches/{}/results", young.id)).await.json(200);
    assert_eq!(young.items.len(), 3);
    let usage = team.usage().await;
    assert_eq!(usage.days, spent.days);
    assert_eq!(usage.stored_bytes.used, team.bytes_in_rows());
    assert!(usage.stored_bytes.used > 0 && usage.stored_bytes.used < spent.stored_bytes.used);
}

#[tokio::test]
async fn old_audit_is_deleted_where_the_operator_says_so() {
    let mut team = Team::start("cpu=0", &["--audit-days", "30"]).await;
    let database = team.database();
    let _ = database
        .rows("update audit set at = at - interval '31 days' where action = 'tenant.create'");
    let before = team.audit("").await.len();
    assert!(team.host.stop());
    team.host.restart();
    (team.http.url, team.platform.url) = (team.host.url.clone(), team.host.url.clone());
    until("it goes", async || team.audit("action=tenant.create").await.is_empty().then_some(()))
        .await;
    assert_eq!(team.audit("").await.len(), before - 2);
}

#[tokio::test]
async fn every_administrative_act_is_told_with_what_it_changed() {
    let team = Team::start("cpu=1", &[]).await;
    team.publish("trivial").await;
    team.set(json!({ "weight": 3, "quotas": { "open_batches_max": 2 } })).await;
    // Nothing changes, nothing is told.
    team.set(json!({ "weight": 3 })).await;
    let yank = json!({ "reason": "wrong" });
    let path = "/v1/plugins/trivial/versions/1.0.0/yank";
    assert_eq!(team.http.post(path, &yank).await.status, 200);
    let bounds = json!({ "min": 1, "max": 2 });
    let set = team.platform.request(Method::PUT, "/v1/capacity/cpu").json(&bounds);
    assert_eq!(team.platform.send(set).await.status, 200);
    let key: Key =
        team.http.post("/v1/keys", &json!({ "scopes": ["batches:read"] })).await.json(201);
    for _ in 0..2 {
        let path = format!("/v1/keys/{}/revoke", key.id);
        assert_eq!(team.http.post(&path, &json!({})).await.status, 200);
    }

    let all = team.audit("").await;
    let acts: Vec<_> =
        all.iter().map(|act| (act.action.as_str(), act.tenant.as_deref().unwrap_or("-"))).collect();
    let expected = [
        ("key.revoke", "team"),
        ("key.create", "team"),
        ("capacity.set", "-"),
        ("plugin.yank", "team"),
        ("quota.set", "team"),
        ("weight.set", "team"),
        ("plugin.promote", "team"),
        ("plugin.publish", "team"),
        ("key.create", "team"),
        ("tenant.create", "team"),
        ("key.create", "platform"),
        ("tenant.create", "platform"),
    ];
    assert_eq!(acts, expected);
    let weight = &all[5];
    assert_eq!((&weight.before, &weight.after), (&Some(json!(1)), &Some(json!(3))));
    assert_eq!(weight.actor.tenant.as_deref(), Some("platform"));
    assert_eq!(all[2].after, Some(bounds));
    assert_eq!(all[3].subject, "trivial@1.0.0");
    assert_eq!((&all[3].before, &all[3].after), (&None, &Some(yank)));
    assert_eq!(all[0].actor.name, "theirs");
    assert_eq!(all[11].actor.kind, "platform");

    // Pages and filters.
    let page: AuditPage = team.platform.get("/v1/audit?limit=5").await.json(200);
    let next = page.next.expect("there is more");
    let rest = team.audit(&format!("before={next}&limit=50")).await;
    assert_eq!([page.items, rest].concat(), all);
    assert_eq!(team.audit(&format!("since={}", weight.at)).await, all[..6]);
    let by = team.key.id.to_string();
    let by_team = team.audit(&format!("actor={by}")).await;
    assert_eq!(by_team.len(), 5);
    assert_eq!(team.audit("actor=theirs&action=plugin.yank").await, all[3..4]);
    for odd in ["since=yesterday", "limit=x", "colour=red"] {
        let _ = team.platform.get(&format!("/v1/audit?{odd}")).await.problem(400, "bad_request");
    }
    // An administrator of the tenant sees its own alone, and nobody sees a secret.
    let own: AuditPage = team.http.get("/v1/audit").await.json(200);
    assert_eq!(own.items.len(), 9);
    assert!(own.items.iter().all(|act| act.tenant.as_deref() == Some("team")));
    // It does not learn by guessing either who of the platform acted.
    let guessed = weight.actor.id.as_deref().expect("a key's");
    assert_eq!(team.audit(&format!("actor={guessed}&tenant=team")).await.len(), 4);
    let hidden: AuditPage = team.http.get(&format!("/v1/audit?actor={guessed}")).await.json(200);
    assert!(hidden.items.is_empty(), "{hidden:?}");
    let _ = team.http.get("/v1/audit?tenant=platform").await.problem(404, "not_found");
    let told = team.platform.get("/v1/audit").await.text();
    let random = secret(&key).rsplit('_').next().expect("its last part");
    let hash = team.database().rows("select encode(secret_hash, 'hex') from keys").join(" ");
    assert!(!told.contains(random) && hash.split(' ').all(|hash| !told.contains(hash)), "{told}");
}

#[tokio::test]
async fn who_administers_a_tenant_administers_no_other() {
    let team = Team::start("cpu=0", &[]).await;
    let own: TenantList = team.http.get("/v1/tenants").await.json(200);
    assert_eq!(own.items.iter().map(|tenant| &*tenant.name).collect::<Vec<_>>(), ["team"]);
    let all: TenantList = team.platform.get("/v1/tenants").await.json(200);
    assert_eq!(all.items.len(), 2);
    for path in ["/v1/tenants/platform", "/v1/tenants/platform/usage", "/v1/keys?tenant=platform"] {
        let _ = team.http.get(path).await.problem(404, "not_found");
    }
    let theirs = json!({ "tenant": "platform", "scopes": ["batches:read"] });
    let _ = team.http.post("/v1/keys", &theirs).await.problem(404, "not_found");
    let higher = json!({ "scopes": ["platform:*"] });
    let problem = team.http.post("/v1/keys", &higher).await.problem(403, "scope_missing");
    assert!(problem.detail.contains("platform:*"), "{problem:?}");
    let more = json!({ "quotas": { "open_batches_max": 1_000 } });
    let _ = patch_tenant(&team.http, "team", &more).await.problem(403, "scope_missing");
    let _ = patch_tenant(&team.platform, "nobody", &more).await.problem(404, "not_found");
    for odd in [json!([]), json!({ "wheight": 2 }), json!({ "weight": 0 })] {
        let _ = patch_tenant(&team.platform, "team", &odd).await.problem(400, "bad_request");
    }
    let keys: KeyList = team.http.get("/v1/keys").await.json(200);
    assert_eq!(keys.items.len(), 1);
}

#[tokio::test]
async fn the_command_line_has_a_verb_for_all_of_it() {
    let host = Host::start(HostOptions::default());
    let run = |line: &str| assay(Some(&host), &line.split_whitespace().collect::<Vec<_>>());
    let json = |line: &str| -> Value { run(&format!("{line} -o json")).json(0) };
    let made = json("tenant create team --weight 2 --gpu yes --workers-max cpu=4");
    assert_eq!(made[0]["settings"]["quotas"]["workers_max"], json!({ "cpu": 4 }));
    assert_eq!(made[0]["settings"]["grants"]["gpu"], true);
    let set = "tenant set team --open-batches-max 3 --requests-per-minute-max 600 \
               --stored-bytes-max 10GiB --gpu no --toolchains a,b --retention-days 30 --suspend";
    let settings = &json(set)[0]["settings"];
    let quotas = json!({
        "workers_max": { "cpu": 4 },
        "open_batches_max": 3,
        "requests_per_minute_max": 600,
        "stored_bytes_max": 10_737_418_240_u64,
    });
    assert_eq!(settings["quotas"], quotas);
    assert_eq!(settings["grants"], json!({ "gpu": false, "toolchains": ["a", "b"] }));
    assert_eq!((&settings["suspended"], &settings["weight"]), (&json!(true), &json!(2)));
    let shown = run("tenant show team").stdout;
    for says in ["at most 3 open batches", "30 days of results", "toolchains a, b", "suspended"] {
        assert!(shown.contains(says), "`{says}` is not in {shown}");
    }
    assert_eq!(json("tenant ls").as_array().map(Vec::len), Some(2));
    let resumed = json("tenant set team --resume --stored-bytes-max none --toolchains all");
    assert_eq!(resumed[0]["settings"]["quotas"].get("stored_bytes_max"), None);
    assert_eq!(resumed[0]["suspended_at"], Value::Null);

    let usage = run("usage --tenant team").stdout;
    assert!(usage.starts_with("team: 0 of 3 open batches; 0 of 600 requests a minute"), "{usage}");
    assert_eq!(json("usage --days 1").as_array().map(Vec::len), Some(2));
    let audit = json("audit ls --tenant team --action quota.set");
    assert_eq!(audit["items"].as_array().map(Vec::len), Some(2));
    let lines = run("audit ls").stdout;
    assert!(lines.contains("tenant.suspend team  by key `first key` of platform"), "{lines}");
    let nobody = run("tenant show nobody");
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.stderr.contains("there is no such tenant"), "{}", nobody.stderr);
}

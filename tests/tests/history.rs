//! The profiles of completed batches: complete, equal to the results, kept over a restart, deleted when
//! old, hidden from other tenants, and usable as a trace for the simulator.

use std::collections::BTreeMap;

use assay_api::batch::{AnnounceBatch, BatchState, SealBatch};
use assay_api::history::{BatchHistory, BatchProfile, RunHistory};
use assay_api::key::{Key, Scope};
use assay_api::request::{Reward, SubmitItem};
use assay_api::result::ResultItem;
use assay_api::view::BatchList;
use assay_client::Client;
use assay_core::id::BatchId;
use assay_core::outcome::Outcome;
use assay_core::time::Micros;
use assay_tests::{Answers, Host, HostOptions, Http, assay, item, until, until_good};
use serde_json::{Value, json};

const TWO_STAGES: &str = "worker_load";
/// The timeout of each of its stages, in seconds.
const TIMEOUT_S: u64 = 120;

async fn announce(client: &Client, plugin: &str, run: &str, size: Option<usize>) -> Answers {
    let announcement = AnnounceBatch {
        plugin: plugin.into(),
        run: run.into(),
        iteration: 3,
        expected_size: size.map(|size| u32::try_from(size).expect("a small number")),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    };
    let batch = client.announce(&announcement).await.expect("announces");
    Answers { batch: batch.id, seen: Vec::new() }
}

/// Runs a whole batch.
async fn complete(client: &Client, plugin: &str, run: &str, items: &[SubmitItem]) -> Answers {
    let mut answers = announce(client, plugin, run, Some(items.len())).await;
    client.submit(answers.batch, items).await.expect("submits");
    answers.finish(client, items).await;
    answers
}

fn quick(count: usize) -> Vec<SubmitItem> {
    (0..count).map(|at| item(format!("request-{at}"), "10", &at.to_string())).collect()
}

/// When each request came, by seq, from the first on.
fn arrivals(host: &Host, batch: BatchId) -> Vec<Micros> {
    let rows = host.psql().rows(&format!(
        "select (extract(epoch from arrived_at - min(arrived_at) over ()) * 1000000)::bigint \
         from requests where batch_id = '{batch}' order by seq"
    ));
    rows.iter().map(|row| Micros(row.parse().expect("a number"))).collect()
}

fn ran(item: &ResultItem) -> impl Iterator<Item = Micros> {
    item.stages.iter().map(|stage| Micros::from_ms_f64(stage.ran_ms))
}

fn sum(times: impl Iterator<Item = Micros>) -> Micros {
    times.fold(Micros::ZERO, |sum, time| sum + time)
}

/// The profile says what the results say.
async fn check(host: &Host, answers: &Answers, stages: usize) -> BatchProfile {
    let client = host.client();
    let batch = client.batch(answers.batch).await.expect("answers");
    let profile = client.batch_profile(answers.batch).await.expect("it has a profile");
    let arrivals = arrivals(host, answers.batch);
    let history = &profile.batch;
    assert_eq!(profile.stages.len(), stages);
    assert_eq!((history.id, &history.run), (batch.id, &batch.run));
    assert_eq!((history.iteration, &history.plugin), (batch.iteration, &batch.plugin));
    assert_eq!(history.plugin_digest, batch.plugin_digest);
    assert_eq!(history.requests as usize, answers.seen.len());
    assert_eq!(profile.requests.len(), answers.seen.len());
    assert_eq!(history.announced_at, batch.announced_at);
    assert_eq!(Some(history.first_request_at), batch.first_request_at);
    assert_eq!(Some(history.done_at), batch.done_at);
    assert_eq!(Some(history.extra_delay_ms), batch.extra_delay_ms);

    let mut latest = Micros::ZERO;
    let mut busy = Micros::ZERO;
    // Both in the order of completion.
    for (request, result) in profile.requests.iter().zip(&answers.seen) {
        assert_eq!(request.seq, Some(result.id.seq));
        assert_eq!(request.group, result.group);
        assert_eq!(request.outcome, result.outcome.kind());
        assert_eq!(request.verdict.as_deref(), Some(result.outcome.verdict()));
        let arrived = Micros::from_ms_f64(request.arrived_ms);
        assert_eq!(arrived, arrivals[result.id.seq as usize]);
        let times: Vec<_> = request.ran_ms.iter().map(|ran| ran.map(Micros::from_ms_f64)).collect();
        let mut wanted: Vec<_> = ran(result).map(|ran| Some(ran.max(Micros(1)))).collect();
        wanted.resize(stages, None);
        assert_eq!(times, wanted, "{result:?}");
        busy = busy + sum(times.into_iter().flatten());
        latest = latest.max(arrived + sum(ran(result)));
    }
    assert_eq!(history.earliest_end_at, history.first_request_at + latest, "T (eq. 2)");
    let seconds = history.worker_seconds.get("cpu").copied();
    let seconds = seconds.expect("every stage runs on processors");
    assert!((seconds - busy.as_secs_f64()).abs() < 1e-9, "{seconds} s, not {busy:?}");
    assert_eq!(history.worker_seconds.len(), 1);
    profile
}

#[tokio::test]
async fn a_finished_batch_leaves_its_history() {
    let host = Host::start(HostOptions::default());
    let client = host.client();
    let plugin = host.publish("liar").await;
    let mut items: Vec<_> = ["count", "two_stages", "spin", "panic", "two_stages"]
        .into_iter()
        .zip(0..)
        .map(|(lie, at)| item(format!("{lie}-{at}"), lie, "null"))
        .collect();
    items[1].group = Some("one".into());
    items[4].group = Some("one".into());
    let mut answers = announce(&client, &plugin, "a run/of ours", Some(items.len())).await;
    // Those of the second half come when the first of the others has ended.
    client.submit(answers.batch, &items[..3]).await.expect("submits");
    answers.follow(&client, 1).await;
    client.submit(answers.batch, &items[3..]).await.expect("submits");
    answers.finish(&client, &items).await;
    let profile = check(&host, &answers, 2).await;
    let endings =
        |wanted: &str| profile.requests.iter().filter(|request| request.outcome == wanted).count();
    assert_eq!((endings("scored"), endings("timed_out"), endings("error")), (3, 1, 1));
    let late = profile.requests.iter().filter(|request| request.arrived_ms > 0.0);
    assert_eq!(late.count(), 2);
    assert!(profile.requests.iter().any(|request| request.ran_ms.iter().all(Option::is_some)));
    assert!(profile.requests.iter().any(|request| request.ran_ms.contains(&None)));

    let second = complete(&client, &plugin, "a run/of ours", &items[..1]).await;
    check(&host, &second, 2).await;
    let history = client.run_history("a run/of ours", 100).await.expect("answers");
    let ids: Vec<_> = history.items.iter().map(|batch| batch.id).collect();
    assert_eq!(ids, [second.batch, answers.batch]);
    assert_eq!(history.items[1], profile.batch);
    let last = client.run_history("a run/of ours", 1).await.expect("answers");
    assert_eq!(last.items, history.items[..1]);
}

#[tokio::test]
async fn what_has_no_history_says_so() {
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    let profile = |batch: BatchId| format!("/v1/batches/{batch}/profile");

    let open = announce(&client, &plugin, "run", None).await;
    let _ = http.get(&profile(open.batch)).await.problem(409, "batch_not_done");
    let cancelled = client.cancel(open.batch).await.expect("cancels");
    assert_eq!(cancelled.state, BatchState::Cancelled);
    let _ = http.get(&profile(open.batch)).await.problem(404, "not_found");
    let call = json!({ "plugin": plugin, "response": "" });
    let lone: Reward = http.post("/v1/rewards", &call).await.json(200);
    let _ = http.get(&profile(lone.id.batch)).await.problem(404, "not_found");
    assert_eq!(host.psql().rows("select count(*) from batch_history"), ["0"]);
    let none: RunHistory = http.get("/v1/runs/run/history").await.json(200);
    assert!(none.items.is_empty());
    let _ = http.get("/v1/runs/nobodys/history").await.problem(404, "not_found");
    let _ = http.get("/v1/runs/run/history?limit=x").await.problem(400, "bad_request");

    let done = complete(&client, &plugin, "run", &quick(3)).await;
    let _: BatchProfile = http.get(&profile(done.batch)).await.json(200);
    let tenant = json!({ "name": "other" });
    assert_eq!(http.post("/v1/tenants", &tenant).await.status, 201);
    let key = json!({ "tenant": "other", "scopes": Scope::ALL });
    let key: Key = http.post("/v1/keys", &key).await.json(201);
    let other = http.with_key(key.secret.as_deref().expect("shown when it is made"));
    let _ = other.get(&profile(done.batch)).await.problem(404, "not_found");
    let _ = other.get("/v1/runs/run/history").await.problem(404, "not_found");
}

#[tokio::test]
async fn a_restarted_server_ranks_by_history() {
    let mut host = Host::start(HostOptions::default());
    let plugin = host.publish(TWO_STAGES).await;
    let slow = [item("slow", "200000", "1"), item("quick", "10", "2")];
    let before = complete(&host.client(), &plugin, "run", &slow).await;
    let kept = check(&host, &before, 2).await;
    let odd = complete(&host.client(), &plugin, "odd", &quick(2)).await;
    // As a later version, or a hand in the database, might have left it.
    let database = host.psql();
    let _ = database.rows(&format!(
        "update batch_history set stages = '[7, 7]' where batch_id = '{}'",
        odd.batch
    ));
    assert!(host.stop());
    host.restart();

    let log = host.log();
    let warning = log.lines().find(|line| line.contains("a batch's history is left out"));
    let warning = warning.unwrap_or_else(|| panic!("{log}"));
    assert!(warning.contains(&odd.batch.to_string()), "{warning}");
    assert_eq!(check(&host, &before, 2).await, kept);

    // The run's next batch is expected to take as long as the one of the earlier life.
    let client = host.client();
    let mut next = announce(&client, &plugin, "run", None).await;
    client.submit(next.batch, &quick(1)).await.expect("submits");
    next.follow(&client, 1).await;
    let span = kept.batch.earliest_end_at.since(kept.batch.first_request_at);
    assert!(span > Micros::from_ms(1), "{span:?}");
    let read = async || client.batch(next.batch).await.expect("answers");
    until_good("an estimate by history", read, |batch| {
        let expected = batch.estimated_done_at.expect("it has a history");
        // The plan may have been made before the first request came, or while a busy machine ran it for longer than any
        // before it: then it may take until its stage's timeout.
        let least = batch.announced_at + Micros(span.0 / 2);
        let most =
            batch.first_request_at.expect("it has a request") + Micros::from_secs(TIMEOUT_S / 2);
        (least..most).contains(&expected)
    })
    .await;

    // The end that a plan expected before the batch was half over is kept with it.
    let again = [item("slow again", "200000", "3")];
    client.submit(next.batch, &again).await.expect("submits");
    client.seal(next.batch, &SealBatch::default()).await.expect("seals");
    next.finish(&client, &[&quick(1)[..], &again].concat()).await;
    let ended = client.batch(next.batch).await.expect("answers");
    let timeline = client.timeline(next.batch).await.expect("answers");
    let kept = timeline.rollup.expect("it has ended").expected.expect("a plan expected its end");
    let announced = ended.announced_at;
    assert!(kept.earliest_end_at >= announced && kept.done_at >= kept.earliest_end_at, "{kept:?}");
    // At that time too a stage may have been expected to take until its timeout.
    let most = ended.done_at.expect("it has ended") + Micros::from_secs(2 * TIMEOUT_S);
    assert!(kept.done_at < most, "{kept:?}");
}

#[tokio::test]
async fn what_is_old_is_deleted() {
    let mut host = Host::start(HostOptions {
        workers: vec!["cpu=1".into()],
        arguments: vec!["--history-days".into(), "7".into()],
        ..HostOptions::default()
    });
    let client = host.client();
    let plugin = host.publish("trivial").await;
    let mut batches: BTreeMap<&str, Vec<BatchId>> = BTreeMap::new();
    for run in ["unused", "used"] {
        for _ in 0..6 {
            let done = complete(&client, &plugin, run, &quick(1)).await;
            batches.entry(run).or_default().push(done.batch);
        }
    }
    let (unused, used) = (&batches["unused"], &batches["used"]);
    let database = host.psql();
    let age = |days: u32, what: &str| {
        let _ = database.rows(&format!(
            "update batch_history set ended_at = ended_at - interval '{days} days' where {what}"
        ));
    };
    age(8, &format!("batch_id <> '{}'", used[5]));
    age(6, &format!("batch_id = '{}'", used[5]));
    assert!(host.stop());
    host.restart();

    let client = host.client();
    let of = async |run: &str| -> Vec<BatchHistory> {
        client.run_history(run, 100).await.expect("answers").items
    };
    until("the unused run's history goes", async || of("unused").await.is_empty().then_some(()))
        .await;
    // The latest stay as long as the run is in use.
    let kept: Vec<_> = of("used").await.into_iter().map(|batch| batch.id).collect();
    assert_eq!(kept, [used[5], used[4], used[3], used[2]]);
    // The batches themselves are untouched.
    let results = client.results_page(unused[0], 0, 10).await.expect("answers");
    assert_eq!(results.items.len(), 1);
    until("it is told", async || host.log().contains("old history is deleted").then_some(())).await;
}

#[tokio::test]
async fn a_batch_that_was_half_done_leaves_a_whole_profile() {
    let mut host = Host::start(HostOptions::default());
    let plugin = host.publish(TWO_STAGES).await;
    let items: Vec<_> = (0..80)
        .map(|at| item(format!("request-{at}"), if at < 40 { "10" } else { "40000" }, "8"))
        .collect();
    // Where a machine stalls a batch may be over before it is seen to have begun; then comes another.
    for iteration in 0.. {
        let mut answers = announce(&host.client(), &plugin, "run", Some(items.len())).await;
        // All in one call, which fills the batch, too.
        client_submits(&host, &answers, &items).await;
        answers.follow(&host.client(), 20).await;
        host.kill();
        let half_way = host.psql().rows(&format!(
            "select count(*) from artifacts a where a.batch_id = '{}' and not exists \
             (select from all_outcomes o where o.batch_id = a.batch_id and o.seq = a.seq)",
            answers.batch
        ));
        host.restart();
        answers.finish(&host.client(), &items).await;
        let profile = check(&host, &answers, 2).await;
        let whole = profile.requests.iter().filter(|request| !request.ran_ms.contains(&None));
        assert_eq!(whole.count(), items.len());
        assert!(profile.requests.iter().all(|request| request.outcome == "scored"));
        if half_way != ["0"] {
            return;
        }
        assert!(iteration < 10, "no request was ever between its stages");
    }
}

async fn client_submits(host: &Host, answers: &Answers, items: &[SubmitItem]) {
    let reply = host.client().submit(answers.batch, items).await.expect("submits");
    assert_eq!(reply.accepted as usize, items.len());
}

/// Seconds of a trace as microseconds.
fn seconds(value: &Value) -> i64 {
    (value.as_f64().expect("a number") * 1e6).round() as i64
}

#[tokio::test]
async fn batches_become_a_trace() {
    let host = Host::start(HostOptions::default());
    let client = host.client();
    let plugin = host.publish("liar").await;
    let lies = ["two_stages", "spin", "panic", "count"];
    let mut items: Vec<_> = lies.map(|lie| item(lie, lie, "null")).into();
    items[0].group = Some("one".into());
    items[3].group = Some("one".into());
    let first = complete(&client, &plugin, "run", &items).await;
    let second = complete(&client, &plugin, "run", &items[..1]).await;
    let history = client.run_history("run", 9).await.expect("answers").items;

    let exported = assay(Some(&host), &["batch", "export", "--run", "run", "--cost", "cpu=2.5"]);
    assert_eq!(exported.code, Some(0), "{exported:#?}");
    let ids = [second.batch.to_string(), first.batch.to_string()];
    let by_id = assay(Some(&host), &["batch", "export", &ids[0], &ids[1], "--cost", "cpu=2.5"]);
    assert_eq!(by_id.stdout, exported.stdout);
    let lines: Vec<Value> = exported
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let of =
        |kind: &str| -> Vec<&Value> { lines.iter().filter(|line| line["kind"] == kind).collect() };
    assert_eq!(lines.len(), 1 + 2 + 5);
    let meta = &lines[0];
    assert_eq!(meta["format"], "assay-reward-trace-1");
    assert_eq!(meta["stages"], json!(["prepare", "score"]));
    assert_eq!(meta["pools"], json!(["cpu", "cpu"]));
    assert_eq!(meta["cost"], json!([2.5, 2.5]));
    let timeout = meta["timeout_s"][0].as_f64().expect("a number");

    let iterations = of("iteration");
    let micros = |at: Micros| i64::try_from(at.0).expect("in this age");
    let gap = micros(history[0].announced_at) - micros(history[1].done_at);
    assert_eq!(seconds(&iterations[0]["train_s"]), gap);
    assert_eq!(seconds(&iterations[0]["rollout_start_s"]), 0);
    assert_eq!(
        seconds(&iterations[1]["rollout_start_s"]),
        seconds(&iterations[0]["earliest_end_s"]) + gap
    );
    for (line, answers) in of("request").into_iter().zip(in_order(&[&first, &second])) {
        let wanted = match &answers.outcome {
            Outcome::TimedOut { stage, .. } => format!("{stage}_timeout"),
            outcome => outcome.verdict().to_owned(),
        };
        assert_eq!(line["outcome"], wanted);
        for (at, service) in line["service_s"].as_array().expect("a list").iter().enumerate() {
            match answers.stages.get(at) {
                Some(stage) => {
                    let ran = (stage.ran_ms / 1e3).min(timeout);
                    assert_eq!(seconds(service), (ran * 1e6).round() as i64);
                }
                None => assert!(service.is_null(), "{line}"),
            }
        }
    }
    let groups: Vec<_> = of("request").iter().map(|line| line["group"].clone()).collect();
    assert_eq!(groups, [json!(0), json!(1), json!(2), json!(0), json!(0)]);

    let last = assay(Some(&host), &["batch", "export", "--run", "run", "--last", "1"]);
    assert_eq!(last.stdout.lines().count(), 1 + 1 + 1);
    let open = announce(&client, &plugin, "run", None).await;
    let listed: BatchList =
        assay(Some(&host), &["batch", "ls", "--run", "run", "-o", "json"]).json(0);
    let listed: Vec<_> = listed.items.iter().map(|item| item.batch.id).collect();
    assert_eq!(listed, [open.batch, second.batch, first.batch]);
    let shown = assay(Some(&host), &["batch", "show", &ids[1]]);
    assert!(shown.stdout.contains(&ids[1]) && shown.stdout.contains("4 requests"), "{shown:#?}");
    let nothing = assay(Some(&host), &["batch", "export", "--run", "nobodys"]);
    assert_eq!(nothing.code, Some(1), "{nothing:#?}");
    assert!(nothing.stderr.contains("there is no such run"), "{nothing:#?}");
}

/// The results of batches, each batch's in the order of admission.
fn in_order(batches: &[&Answers]) -> Vec<ResultItem> {
    let of = |answers: &&Answers| {
        let mut seen = answers.seen.clone();
        seen.sort_by_key(|item| item.id.seq);
        seen
    };
    batches.iter().flat_map(of).collect()
}

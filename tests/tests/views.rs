//! The queries of the dashboard: summaries that agree with the results, also after a restart; timelines of
//! batches that are live, ended or late; lists with their filters and cursors; no data of other tenants.

use std::collections::BTreeMap;

use assay_api::batch::{AnnounceBatch, BatchState};
use assay_api::key::{Key, Scope};
use assay_api::request::{Request, SubmitItem};
use assay_api::result::ResultItem;
use assay_api::view::{BatchList, BatchSummary, RequestList, Rollup, RunList, RunView, Timeline};
use assay_client::Client;
use assay_core::id::BatchId;
use assay_core::outcome::Outcome;
use assay_core::time::Micros;
use assay_tests::{Answers, Host, HostOptions, Http, item, until};
use serde_json::json;

const GROUP: usize = 4;

async fn announce(client: &Client, call: AnnounceBatch) -> Answers {
    let batch = client.announce(&call).await.expect("announces");
    Answers { batch: batch.id, seen: Vec::new() }
}

fn call(plugin: &str, run: &str, size: Option<usize>) -> AnnounceBatch {
    AnnounceBatch {
        plugin: plugin.into(),
        run: run.into(),
        iteration: 7,
        expected_size: size.map(|size| u32::try_from(size).expect("a small number")),
        group_size: Some(u32::try_from(GROUP).expect("a small number")),
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    }
}

/// Groups of four whose rewards are all the same, different, with an error, or not whole.
fn items() -> Vec<SubmitItem> {
    let labels = ["8", "8", "8", "8", "0", "4", "8", "2", "8", "oops", "8", "8", "4", "4"];
    let items = labels.iter().enumerate().map(|(at, label)| {
        // A label that is no number is an error of the second stage.
        let label = if *label == "oops" { "\"oops\"" } else { label };
        let mut item = item(format!("key-{at:02}"), "20", label);
        item.group = Some(format!("group-{}", at / GROUP));
        item
    });
    items.collect()
}

/// Compares a summary with the same numbers computed from the results in the plainest way.
fn check_rollup(rollup: &Rollup, results: &[ResultItem], critical: u32) {
    let rewards: Vec<f64> = results.iter().filter_map(|item| item.outcome.reward()).collect();
    let all = rewards.len() as f64;
    let mean = rewards.iter().sum::<f64>() / all;
    let variance = rewards.iter().map(|reward| (reward - mean).powi(2)).sum::<f64>() / all;
    let told = rollup.rewards.as_ref().expect("there are rewards");
    assert_eq!(told.count as usize, rewards.len());
    assert!((told.mean - mean).abs() < 1e-12 && (told.std - variance.sqrt()).abs() < 1e-12);
    let least = rewards.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!((told.min, told.max), (least, most));
    assert_eq!((told.histogram.from, told.histogram.to), (0.0, 1.0));
    let mut bins = vec![0; 20];
    for reward in &rewards {
        bins[((reward * 20.0).floor() as usize).min(19)] += 1;
    }
    assert_eq!(told.histogram.counts, bins);

    let mut verdicts: BTreeMap<String, u32> = BTreeMap::new();
    let mut errors: BTreeMap<String, u32> = BTreeMap::new();
    let mut groups: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for item in results {
        *verdicts.entry(item.outcome.verdict().to_owned()).or_default() += 1;
        if let Outcome::Error { code, .. } = &item.outcome {
            *errors.entry(code.to_string()).or_default() += 1;
        }
        groups
            .entry(item.group.as_deref().expect("each has one"))
            .or_default()
            .push(item.outcome.reward());
    }
    assert_eq!((&rollup.verdicts, &rollup.errors), (&verdicts, &errors));
    let whole = groups
        .values()
        .filter(|rewards| rewards.len() == GROUP && rewards.iter().all(Option::is_some));
    let equal = whole.clone().filter(|rewards| rewards.iter().all(|one| *one == rewards[0]));
    let counts = (rollup.groups, rollup.complete_groups, rollup.zero_variance_groups);
    assert_eq!(counts, (groups.len() as u32, whole.count() as u32, equal.count() as u32));
    assert_eq!(rollup.last_seq, results.last().map(|item| item.id.seq));
    assert_eq!(rollup.critical_seq, Some(critical));

    for (at, stage) in rollup.stages.iter().enumerate() {
        let times: Vec<_> = results.iter().filter_map(|item| item.stages.get(at)).collect();
        let longest = times.iter().map(|time| time.ran_ms).fold(0.0, f64::max);
        assert_eq!(stage.requests as usize, times.len());
        assert_eq!(
            (stage.ran.max_ms, stage.ran_counts.iter().sum::<u32>()),
            (longest, stage.requests)
        );
        let mut queued: Vec<f64> = times.iter().map(|time| time.queued_ms).collect();
        queued.sort_by(f64::total_cmp);
        assert_eq!(stage.queued.median_ms, queued[queued.len().div_ceil(2) - 1]);
    }
    let busy: f64 =
        results.iter().flat_map(|item| &item.stages).map(|time| time.ran_ms / 1e3).sum();
    let told: f64 = rollup.worker_seconds.values().sum();
    assert!((told - busy).abs() < 1e-5, "{told} s, not {busy} s");
}

/// The request with the latest arrival plus times of its stages.
fn critical(timeline: &Timeline) -> (u32, f64) {
    let columns = &timeline.requests;
    let earliest = |at: usize| {
        let ran = columns
            .stages
            .iter()
            .filter_map(|stage| Some(stage.ended_ms[at]? - stage.started_ms[at]?));
        columns.arrived_ms[at] + ran.sum::<f64>()
    };
    let ends = (0..columns.seq.len()).map(|at| (columns.seq[at], earliest(at)));
    ends.max_by(|one, other| one.1.total_cmp(&other.1)).expect("there are requests")
}

#[tokio::test]
async fn a_batch_leaves_what_its_results_come_to() {
    let mut host = Host::start(HostOptions::default());
    let plugin = host.publish("worker_load").await;
    let items = items();
    let client = host.client();
    let mut answers = announce(&client, call(&plugin, "of ours", Some(items.len()))).await;
    client.submit(answers.batch, &items[..6]).await.expect("submits");
    answers.follow(&client, 6).await;
    let live: Timeline = client.timeline(answers.batch).await.expect("answers");
    assert!(live.rollup.is_none() && live.lateness.is_none());
    // Requests that ended before count as those that end after.
    host.kill();
    host.restart();
    let client = host.client();
    client.submit(answers.batch, &items[6..]).await.expect("submits");
    answers.finish(&client, &items).await;

    let timeline = client.timeline(answers.batch).await.expect("answers");
    let (seq, earliest_end_ms) = critical(&timeline);
    let rollup = timeline.rollup.as_ref().expect("it has ended");
    check_rollup(rollup, &answers.seen, seq);
    assert!(rollup.errors.values().sum::<u32>() == 1, "one label is no number: {rollup:?}");
    assert!((timeline.earliest_end_ms.expect("T") - earliest_end_ms).abs() < 0.01);
    check_drawn(&timeline, &answers);

    let view = client.run("of ours", 10).await.expect("answers");
    let at = &view.iterations;
    assert_eq!(
        (&at.batch[..], at.iteration[0], at.state[0]),
        (&[answers.batch][..], 7, BatchState::Done)
    );
    assert_eq!(at.mean[0], rollup.rewards.as_ref().map(|rewards| rewards.mean));
    assert_eq!(at.verdicts[0], rollup.verdicts);
    assert_eq!((&at.worker_seconds[0], &at.cost[0]), (&rollup.worker_seconds, &rollup.cost));
    let share = f64::from(rollup.zero_variance_groups) / f64::from(rollup.complete_groups);
    assert_eq!(at.zero_variance_share[0], Some(share));
    assert_eq!((view.run.batches, view.run.live_batches, view.earlier), (1, 0, false));
    assert_eq!((view.run.last_iteration, view.run.last_mean_reward), (Some(7), at.mean[0]));
    let [curve] = &view.curves[..] else { panic!("one curve: {:?}", view.curves) };
    assert_eq!((curve.batch, curve.share.last()), (answers.batch, Some(&1.0)));

    let stats = client.plugin_stats("worker-load", "1.0.0").await.expect("answers");
    assert_eq!((stats.batches, stats.counts.submitted as usize), (1, items.len()));
    assert_eq!((&stats.verdicts, &stats.errors), (&rollup.verdicts, &rollup.errors));
    assert_eq!(stats.runs[0].run, "of ours");
    for (sum, own) in stats.stages.iter().zip(&rollup.stages) {
        assert_eq!((&sum.counts, sum.timeout_ms), (&own.ran_counts, own.timeout_ms));
    }
    check_request(&host, &answers).await;
}

/// The columns say what the results say.
fn check_drawn(timeline: &Timeline, answers: &Answers) {
    let columns = &timeline.requests;
    assert_eq!((timeline.total as usize, timeline.thinned), (answers.seen.len(), false));
    assert!(columns.seq.iter().copied().eq(0..timeline.total));
    for item in &answers.seen {
        let at = item.id.seq as usize;
        assert_eq!((&columns.key[at], columns.reward[at]), (&item.key, item.outcome.reward()));
        assert_eq!(columns.kind[at].as_deref(), Some(item.outcome.kind()));
        assert_eq!(columns.verdict[at].as_deref(), Some(item.outcome.verdict()));
        let group = columns.group[at].expect("each has one") as usize;
        assert_eq!(Some(&timeline.groups.name[group]), item.group.as_ref());
        let completed = timeline.groups.completed_ms[group].expect("all have ended");
        let finished = columns.finished_ms[at].expect("it has ended");
        assert!(completed >= finished && Some(finished) <= timeline.ended_ms);
        let mut ready = columns.arrived_ms[at];
        for (time, stage) in item.stages.iter().zip(&columns.stages) {
            let near =
                |told: Option<f64>, wanted: f64| (told.expect("it ran") - wanted).abs() < 0.01;
            assert!(
                near(stage.queued_ms[at], ready)
                    && near(stage.started_ms[at], ready + time.queued_ms)
            );
            ready += time.queued_ms + time.ran_ms;
            assert!(near(stage.ended_ms[at], ready));
        }
        assert!(finished >= ready - 0.01, "{finished} ms is before {ready} ms");
    }
}

async fn check_request(host: &Host, answers: &Answers) {
    let http = Http::new(host);
    let failed = answers.seen.iter().find(|item| item.outcome.reward().is_none()).expect("one");
    let request: Request = http.get(&format!("/v1/requests/{}", failed.id)).await.json(200);
    let context = request.context.expect("it is told");
    assert_eq!((context.run.as_str(), context.iteration), ("of ours", 7));
    assert_eq!((context.plugin.as_str(), context.settings.get()), ("worker-load@1.0.0", "{}"));
    let stages: Vec<_> = context.spans.iter().map(|span| span.stage.as_str()).collect();
    assert_eq!(stages, ["prepare", "score"]);
    assert!(context.spans[0].queued_at == request.arrived_at);
    assert!(context.spans.windows(2).all(|pair| pair[0].ended_at == pair[1].queued_at));
    assert!(Some(context.spans[1].ended_at) <= context.finished_at);
    let [artifact] = &context.artifacts[..] else { panic!("one artifact") };
    let told = (artifact.stage.as_str(), artifact.content_type.as_str(), artifact.bytes);
    assert_eq!(told, ("prepare", "text/plain", "\"oops\"".len() as u64));

    let client = host.client();
    let list = |filters: Vec<(&'static str, &'static str)>| {
        let (client, batch) = (client.clone(), answers.batch);
        async move { client.requests(batch, &filters).await.expect("answers") }
    };
    let errors = list(vec![("kind", "error")]).await;
    assert_eq!(errors.items.len(), 1);
    assert_eq!((errors.items[0].id, errors.items[0].key.as_str()), (failed.id, "key-09"));
    assert!(errors.items[0].message.as_ref().is_some_and(|message| !message.is_empty()));
    assert_eq!(list(vec![("kind", "waiting")]).await.items, []);
    assert_eq!(list(vec![("q", "GROUP-1")]).await.items.len(), GROUP);
    assert_eq!(list(vec![("q", "y-13"), ("kind", "scored")]).await.items.len(), 1);
    let first = list(vec![("limit", "9")]).await;
    assert_eq!((first.items.len(), first.next), (9, Some(8)));
    let rest = list(vec![("limit", "9"), ("after", "8")]).await;
    assert_eq!((rest.items.len(), rest.next, rest.items[0].seq), (5, None, 9));
}

/// Without a GPU worker the second stage waits: drawn as far as it got.
#[tokio::test]
async fn a_live_batch_is_drawn_as_far_as_it_got() {
    let workers = vec!["cpu=1".into(), "gpu=0".into()];
    let host = Host::start(HostOptions { workers, ..HostOptions::default() });
    let plugin = host.publish("two_pools").await;
    let client = host.client();
    let answers = announce(&client, call(&plugin, "run", None)).await;
    let empty = client.timeline(answers.batch).await.expect("answers");
    assert_eq!((empty.total, empty.first_arrival_at, empty.requests.seq.len()), (0, None, 0));
    let two = [item("one", "", "1"), item("two", "", "2")];
    client.submit(answers.batch, &two).await.expect("submits");
    let drawn = until("both are compiled", async || {
        let drawn = client.timeline(answers.batch).await.expect("answers");
        drawn.requests.stages[0].ended_ms.iter().all(Option::is_some).then_some(drawn)
    })
    .await;
    let [compile, execute] = &drawn.requests.stages[..] else { panic!("two stages") };
    assert_eq!((drawn.total, drawn.batch.state), (2, BatchState::Open));
    assert_eq!(drawn.requests.kind, [None, None]);
    assert_eq!(execute.queued_ms, compile.ended_ms);
    assert_eq!(execute.started_ms, [None, None]);
    assert!(drawn.ended_ms.is_none() && drawn.as_of_ms >= compile.ended_ms[0].expect("compiled"));
    let waiting = client.requests(answers.batch, &[("kind", "waiting")]).await.expect("answers");
    assert_eq!(waiting.items.len(), 2);

    let live = client.batches(&[("state", "live")]).await.expect("answers");
    assert_eq!(live.items.len(), 1);
    assert_eq!((live.items[0].batch.counts.submitted, live.items[0].rollup.is_none()), (2, true));
    let view = client.run("run", 10).await.expect("answers");
    assert_eq!((view.run.batches, view.run.live_batches), (0, 1));
    assert_eq!((view.iterations.counts[0].submitted, view.iterations.ended_at[0]), (2, None));

    // Cancelled requests end as errors, and leave a roll-up that says so.
    client.cancel(answers.batch).await.expect("cancels");
    let ended = client.timeline(answers.batch).await.expect("answers");
    let rollup = ended.rollup.expect("it has ended");
    assert_eq!((rollup.rewards, rollup.errors["cancelled"]), (None, 2));
    assert_eq!(ended.requests.kind, [Some("error".to_owned()), Some("error".to_owned())]);
    let view = client.run("run", 10).await.expect("answers");
    assert_eq!((view.run.batches, view.run.live_batches, view.run.last_mean_reward), (1, 0, None));
}

#[tokio::test]
async fn a_late_batch_says_why() {
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let plugin = host.publish("worker_load").await;
    let client = host.client();
    // One worker does one after the other what could all be done at once.
    let items: Vec<_> = (0..6).map(|at| item(format!("key-{at}"), "200000", "8")).collect();
    let late = AnnounceBatch { max_extra_delay_ms: Some(1), ..call(&plugin, "late", Some(6)) };
    let mut answers = announce(&client, late).await;
    client.submit(answers.batch, &items).await.expect("submits");
    answers.finish(&client, &items).await;

    let timeline = client.timeline(answers.batch).await.expect("answers");
    let why = timeline.lateness.expect("it has ended");
    let batch = client.batch(answers.batch).await.expect("answers");
    assert_eq!((why.late, Some(why.extra_delay_ms)), (true, batch.extra_delay_ms));
    let last = answers.seen.last().expect("six");
    assert_eq!((why.last.seq, Some(why.last.seq)), (last.id.seq, timeline.last_seq));
    // d is what the last request lost, less what it had to spare.
    let waited: f64 = why.last.waits.iter().map(|wait| wait.queued_ms).sum();
    let sum = waited + why.last.rest_ms - why.last.slack_ms;
    assert!((sum - why.extra_delay_ms).abs() < 0.1, "{sum} ms: {why:?}");
    assert!(why.reason.contains("more than the tolerance of 1 ms"), "{}", why.reason);
    assert!(why.reason.contains("for a cpu worker at `"), "{}", why.reason);
    let listed = client.batches(&[("run", "late")]).await.expect("answers");
    assert!(matches!(&listed.items[..], [BatchSummary { late: true, .. }]), "{listed:?}");
}

#[tokio::test]
async fn lists_are_filtered_paged_and_ones_own() {
    let host = Host::start(HostOptions::default());
    let (client, http) = (host.client(), Http::new(&host));
    let trivial = host.publish("trivial").await;
    let load = host.publish("worker_load").await;
    let mut batches = Vec::new();
    for (plugin, run) in [(&trivial, "alpha"), (&load, "beta"), (&trivial, "alpha")] {
        let items = [item("only", "1", "8")];
        let mut answers = announce(&client, call(plugin, run, Some(1))).await;
        client.submit(answers.batch, &items).await.expect("submits");
        answers.finish(&client, &items).await;
        batches.push(answers.batch);
    }
    let cancelled = announce(&client, call(&load, "beta", None)).await.batch;
    client.cancel(cancelled).await.expect("cancels");
    // A request alone is no batch of a list.
    let reward = json!({ "plugin": trivial, "response": "" });
    assert_eq!(http.post("/v1/rewards", &reward).await.status, 200);

    let [first, second, third] = batches[..] else { panic!("three") };
    for (filters, wanted) in [
        ("", vec![cancelled, third, second, first]),
        ("?run=alpha", vec![third, first]),
        ("?plugin=worker-load", vec![cancelled, second]),
        ("?state=ended&plugin=trivial", vec![third, first]),
        ("?state=done&run=beta", vec![second]),
        ("?state=cancelled", vec![cancelled]),
        ("?state=live", vec![]),
        ("?run=nobodys", vec![]),
        ("?to=2020-01-01T00:00:00Z", vec![]),
        ("?from=2020-01-01T00:00:00Z&run=beta&plugin=worker-load", vec![cancelled, second]),
    ] {
        let list: BatchList = http.get(&format!("/v1/batches{filters}")).await.json(200);
        assert_eq!(ids(&list), wanted, "{filters}");
    }
    let exact = client.batch(second).await.expect("answers").announced_at;
    let (from, to) = (format!("/v1/batches?from={exact}"), format!("/v1/batches?to={exact}"));
    assert_eq!(ids(&http.get(&from).await.json(200)), [cancelled, third, second]);
    assert_eq!(ids(&http.get(&to).await.json(200)), [first]);
    check_pages(&http, &[cancelled, third, second, first]).await;

    for (filters, wanted) in [
        ("", vec!["beta", "alpha"]),
        ("?q=ALP", vec!["alpha"]),
        ("?plugin=worker-load", vec!["beta"]),
        ("?q=gamma", vec![]),
        ("?to=2020-01-01T00:00:00Z", vec![]),
    ] {
        let list: RunList = http.get(&format!("/v1/runs{filters}")).await.json(200);
        assert_eq!(names(&list), wanted, "{filters}");
    }
    let page: RunList = http.get("/v1/runs?limit=1").await.json(200);
    assert_eq!((names(&page), page.items[0].batches), (vec!["beta"], 2));
    let after = page.next.expect("there is more");
    let page: RunList = http.get(&format!("/v1/runs?limit=1&after={after}")).await.json(200);
    assert_eq!((names(&page), page.items[0].last_mean_reward), (vec!["alpha"], Some(0.0)));
    for wrong in
        ["/v1/runs?after=x", "/v1/batches?state=odd", "/v1/batches?after=x", "/v1/runs?from=x"]
    {
        let _ = http.get(wrong).await.problem(400, "bad_request");
    }
    nobody_elses(&http, first).await;
}

fn ids(list: &BatchList) -> Vec<BatchId> {
    list.items.iter().map(|item| item.batch.id).collect()
}

fn names(list: &RunList) -> Vec<&str> {
    list.items.iter().map(|run| run.name.as_str()).collect()
}

async fn check_pages(http: &Http, wanted: &[BatchId]) {
    let mut path = "/v1/batches?limit=3".to_owned();
    let mut seen = Vec::new();
    loop {
        let page: BatchList = http.get(&path).await.json(200);
        seen.extend(ids(&page));
        let Some(next) = page.next else { break };
        path = format!("/v1/batches?limit=3&after={next}");
    }
    assert_eq!(seen, wanted);
}

async fn nobody_elses(http: &Http, batch: BatchId) {
    assert_eq!(http.post("/v1/tenants", &json!({ "name": "other" })).await.status, 201);
    let key = json!({ "tenant": "other", "scopes": Scope::ALL });
    let key: Key = http.post("/v1/keys", &key).await.json(201);
    let other = http.with_key(key.secret.as_deref().expect("shown when it is made"));
    for path in [
        "/v1/runs/alpha".to_owned(),
        format!("/v1/batches/{batch}/timeline"),
        format!("/v1/batches/{batch}/requests"),
        "/v1/plugins/trivial/versions/1.0.0/stats".to_owned(),
    ] {
        let _ = other.get(&path).await.problem(404, "not_found");
        assert_eq!(http.get(&path).await.status, 200, "{path}");
    }
    assert_eq!(ids(&other.get("/v1/batches").await.json(200)), []);
    let runs: RunList = other.get("/v1/runs").await.json(200);
    assert!(runs.items.is_empty());
    // The curves of another tenant's batch are not drawn into one's own run.
    let view: RunView = http.get(&format!("/v1/runs/beta?curves={batch}")).await.json(200);
    assert_eq!(view.curves, []);
    let requests: RequestList = http.get(&format!("/v1/batches/{batch}/requests")).await.json(200);
    assert!(requests.items[0].arrived_at > Micros::ZERO);
}

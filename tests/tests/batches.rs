//! Batches as a trainer meets them: announced, filled, sealed, waited for, cancelled.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use assay_api::batch::{AnnounceBatch, Batch, BatchState, Consumes, ResultsPage};
use assay_api::request::{SubmitReply, SubmitStatus};
use assay_api::result::{Counts, ResultItem};
use assay_api::view::RunList;
use assay_core::id::RequestId;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_tests::{Answer, Answers, Host, HostOptions, Http, Sleepers, item, until};
use serde_json::{Value, json};

const NDJSON: &str = "application/x-ndjson";

fn host(workers: &str) -> Host {
    Host::start(HostOptions { workers: vec![workers.into()], ..HostOptions::default() })
}

async fn announce(http: &Http, plugin: &str, run: &str, more: Value) -> Batch {
    let mut call = json!({ "plugin": plugin, "run": run });
    let fields = more.as_object().expect("fields").clone();
    call.as_object_mut().expect("an object").extend(fields);
    http.post("/v1/batches", &call).await.json(201)
}

fn requests(batch: &Batch) -> String {
    format!("/v1/batches/{}/requests", batch.id)
}

fn seal(batch: &Batch) -> String {
    format!("/v1/batches/{}/seal", batch.id)
}

async fn ended(http: &Http, batch: &Batch) -> Batch {
    http.get_when_ended(&format!("/v1/batches/{}", batch.id)).await.json(200)
}

async fn results(http: &Http, batch: &Batch) -> Vec<ResultItem> {
    let page = http.get(&format!("/v1/batches/{}/results?limit=10000", batch.id)).await;
    page.json::<ResultsPage>(200).items
}

fn statuses(reply: &SubmitReply) -> Vec<SubmitStatus> {
    reply.items.iter().map(|item| item.status).collect()
}

/// Two requests with an answer and one without, over hello's two stages.
fn three() -> Value {
    json!([
        { "key": "a", "response": "Answer: 42", "label": "42" },
        { "key": "b", "response": "Answer: 41", "label": "42" },
        { "key": "c", "response": "I do not know.", "label": "42" },
    ])
}

#[tokio::test]
async fn a_batch_is_announced_once_whatever_is_repeated() {
    let host = host("cpu=0");
    let http = Http::new(&host);
    let plugin = host.publish("assay_plugin_hello").await;
    let call = json!({
        "plugin": plugin, "run": "repeats", "iteration": 7, "expected_size": 4, "group_size": 2,
        "max_extra_delay_ms": 250, "consumes": "groups", "settings": { "strict": true },
    });
    let keyed = |key: &str, call: &Value| {
        let request = http.request(reqwest::Method::POST, "/v1/batches");
        http.send(request.header("idempotency-key", key).json(call))
    };

    let first: Batch = keyed("one", &call).await.json(201);
    assert_eq!(first.state, BatchState::Announced);
    assert_eq!((first.run.as_str(), first.iteration), ("repeats", 7));
    assert_eq!((first.expected_size, first.group_size), (Some(4), Some(2)));
    assert_eq!((first.max_extra_delay_ms, first.consumes), (Some(250), Consumes::Groups));
    assert_eq!(first.counts, Counts::default());
    assert_eq!((first.mean_reward, first.done_at, first.first_request_at), (None, None, None));
    assert!(first.plugin.starts_with("hello@"), "{}", first.plugin);

    assert_eq!(keyed("one", &call).await.json::<Batch>(201).id, first.id);
    let other = json!({ "plugin": plugin, "run": "repeats", "iteration": 8 });
    let problem = keyed("one", &other).await.problem(422, "idempotency_key_reused");
    assert!(problem.detail.contains("Idempotency-Key"), "{problem:?}");
    assert_ne!(keyed("two", &call).await.json::<Batch>(201).id, first.id);

    let at_once = futures_util::future::join_all((0..16).map(|_| keyed("three", &call))).await;
    let ids: BTreeSet<_> = at_once.iter().map(|answer| answer.json::<Batch>(201).id).collect();
    assert_eq!(ids.len(), 1, "one key made several batches");
    let too_long = keyed(&"k".repeat(256), &call).await;
    assert!(too_long.problem(400, "bad_request").detail.contains("255"));
}

/// A batch that ends while others still ask for its key must neither come twice nor harm the server.
#[tokio::test]
async fn a_key_stays_taken_when_its_batch_has_just_ended() {
    let host = host("cpu=0");
    let plugin = host.publish("trivial").await;
    let client = &host.client();
    let call = &AnnounceBatch {
        plugin,
        run: "one".into(),
        iteration: 1,
        expected_size: None,
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: None,
        join: None,
        settings: None,
    };
    for round in 0..40 {
        let key = &format!("round-{round}");
        let announce_and_cancel = async || {
            let batch = client.announce_once(call, key).await.expect("announces").id;
            client.cancel(batch).await.expect("cancels");
            batch
        };
        let ids = futures_util::future::join_all((0..6).map(|_| announce_and_cancel())).await;
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
}

#[tokio::test]
async fn every_item_of_a_submit_has_its_fate() {
    let host = host("cpu=2");
    let http = Http::new(&host);
    let plugin = host.publish("assay_plugin_hello").await;

    let batch = announce(&http, &plugin, "fates", json!({})).await;
    let reply: SubmitReply = http.post(&requests(&batch), &three()).await.json(200);
    assert_eq!((reply.accepted, reply.repeated, reply.rejected), (3, 0, 0));
    let ids: Vec<_> = reply.items.iter().map(|item| item.id.expect("accepted")).collect();
    let again: SubmitReply = http.post(&requests(&batch), &three()).await.json(200);
    assert_eq!((again.accepted, again.repeated, again.rejected), (0, 3, 0));
    assert_eq!(again.items.iter().map(|item| item.id.expect("known")).collect::<Vec<_>>(), ids);

    // Lines 2 and 4 are bad, 3 is blank, 5 was there before, 6 lacks its newline.
    let lines = [
        r#"{"key":"d","response":"Answer: 42","label":"42"}"#,
        r#"{"key":"e","respnse":"x"}"#,
        "",
        r#"{"key":"f\u0007","response":"x"}"#,
        r#"{"key":"a","response":"another text"}"#,
        r#"{"key":"g","response":"Answer: 42","label":"42"}"#,
    ];
    let reply = http.post_bytes(&requests(&batch), NDJSON, lines.join("\n")).await;
    let reply: SubmitReply = reply.json(200);
    use SubmitStatus::{Accepted, Rejected, Repeated};
    assert_eq!(statuses(&reply), [Accepted, Rejected, Rejected, Repeated, Accepted]);
    assert_eq!((reply.accepted, reply.repeated, reply.rejected), (2, 1, 2));
    let problems: Vec<_> = reply.items.iter().filter_map(|item| item.problem.as_ref()).collect();
    assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [2, 4]);
    assert!(problems[0].detail.contains("respnse"), "{:?}", problems[0]);
    assert!(problems[1].detail.contains("control character"), "{:?}", problems[1]);
    assert_eq!(reply.items[3].id, Some(ids[0]));

    let wrong = http.post(&seal(&batch), &json!({ "final_count": 6 })).await;
    assert!(wrong.problem(409, "count_differs").detail.contains("5 requests, not 6"));
    let sealed: Batch = http.post(&seal(&batch), &json!({ "final_count": 5 })).await.json(200);
    assert!(sealed.sealed_at.is_some());
    let done = ended(&http, &batch).await;
    assert_eq!(done.state, BatchState::Done);
    assert_eq!(done.counts, Counts { submitted: 5, scored: 5, timed_out: 0, error: 0, shared: 2 });
    // a, d and g are right, and equal: one of them ran. b is wrong, c has no answer.
    assert_eq!(done.mean_reward, Some(3.0 / 5.0));
    assert!(done.extra_delay_ms.is_some_and(|delay| delay >= 0.0));

    // Everything may be said again, and nothing changes.
    assert_eq!(http.post_bytes(&seal(&batch), "", "").await.json::<Batch>(200).counts, done.counts);
    let wrong = http.post(&seal(&batch), &json!({ "final_count": 6 })).await;
    let _ = wrong.problem(409, "count_differs");
    let late: SubmitReply = http.post(&requests(&batch), &three()).await.json(200);
    assert_eq!(statuses(&late), [Repeated; 3]);
    assert_eq!(late.items.iter().map(|item| item.id.expect("known")).collect::<Vec<_>>(), ids);
    let new = json!([{ "key": "a", "response": "" }, { "key": "new", "response": "" }]);
    let _ = http.post(&requests(&batch), &new).await.problem(409, "batch_ended");
    assert_eq!(results(&http, &batch).await.len(), 5);
}

#[tokio::test]
async fn a_sealed_batch_takes_repeats_and_nothing_new() {
    let mut host = host("cpu=0");
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let batch = announce(&http, &plugin, "sealed", json!({ "consumes": "groups" })).await;
    let items = json!([{ "key": "a", "response": "" }, { "key": "b", "response": "" }]);
    let _: SubmitReply = http.post(&requests(&batch), &items).await.json(200);
    let open: Batch = http.get(&format!("/v1/batches/{}", batch.id)).await.json(200);
    assert_eq!((open.state, open.sealed_at), (BatchState::Open, None));
    assert!(open.first_request_at.is_some());
    let _: Batch = http.post(&seal(&batch), &json!({})).await.json(200);
    let again: Batch = http.post(&seal(&batch), &json!({ "final_count": 2 })).await.json(200);
    assert_eq!(again.state, BatchState::Sealed);
    let _ =
        http.post(&seal(&batch), &json!({ "final_count": 1 })).await.problem(409, "count_differs");

    let repeated: SubmitReply = http.post(&requests(&batch), &items).await.json(200);
    assert_eq!((repeated.accepted, repeated.repeated), (0, 2));
    let new = json!([{ "key": "c", "response": "" }]);
    let problem = http.post(&requests(&batch), &new).await.problem(409, "batch_sealed");
    assert!(problem.hint.is_some_and(|hint| hint.contains("seal")));

    // expected_size seals by itself, and an empty batch has nothing to wait for.
    let sized = announce(&http, &plugin, "sealed", json!({ "expected_size": 2 })).await;
    let _: SubmitReply = http.post(&requests(&sized), &items).await.json(200);
    let full: Batch = http.get(&format!("/v1/batches/{}", sized.id)).await.json(200);
    assert_eq!(full.state, BatchState::Sealed);
    let _ = http.post(&requests(&sized), &new).await.problem(409, "batch_sealed");
    let empty = announce(&http, &plugin, "sealed", json!({})).await;
    let _: Batch = http.post(&seal(&empty), &json!({ "final_count": 0 })).await.json(200);
    let empty = ended(&http, &empty).await;
    assert_eq!((empty.state, empty.mean_reward), (BatchState::Done, None));
    assert!(results(&http, &empty).await.is_empty());

    // A restart forgets none of it.
    assert!(host.stop());
    host.restart();
    let http = Http::new(&host);
    let restored: Batch = http.get(&format!("/v1/batches/{}", batch.id)).await.json(200);
    assert_eq!((restored.state, restored.counts), (BatchState::Sealed, again.counts));
    assert_eq!((restored.consumes, sized.consumes), (Consumes::Groups, Consumes::Batch));
    let _ = http.post(&requests(&batch), &new).await.problem(409, "batch_sealed");
}

/// A batch ends with its last request, so one that is sealed late may have ended before one that is done already.
#[tokio::test]
async fn the_last_batch_of_a_run_is_the_one_that_ended_last() {
    let host = host("cpu=2");
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let mut batches = Vec::new();
    for iteration in 0..2 {
        let batch = announce(&http, &plugin, "late", json!({ "iteration": iteration })).await;
        let item = json!([{ "key": "a", "response": "" }]);
        let _: SubmitReply = http.post(&requests(&batch), &item).await.json(200);
        until("its request has ended", async || {
            let batch: Batch = http.get(&format!("/v1/batches/{}", batch.id)).await.json(200);
            (batch.counts.finished() > 0).then_some(())
        })
        .await;
        batches.push(batch);
    }
    let mut ends = Vec::new();
    for batch in batches.iter().rev() {
        let _: Batch = http.post(&seal(batch), &json!({})).await.json(200);
        ends.push(ended(&http, batch).await.done_at);
    }
    assert!(ends[1] < ends[0], "the last one to be sealed ended first");
    let runs: RunList = http.get("/v1/runs").await.json(200);
    assert_eq!((runs.items[0].batches, runs.items[0].last_batch_at), (2, ends[0]));
}

#[tokio::test]
async fn the_stages_of_a_request_are_told_with_their_times() {
    let host = host("cpu=2");
    let http = Http::new(&host);
    let plugin = host.publish("assay_plugin_hello").await;
    let batch = announce(&http, &plugin, "stages", json!({ "expected_size": 4 })).await;
    let mut items = three();
    let bad = json!({ "key": "bad", "response": "Answer: \u{0}" });
    items.as_array_mut().expect("an array").push(bad);
    let reply: SubmitReply = http.post(&requests(&batch), &items).await.json(200);
    assert_eq!(reply.accepted, 4);
    let done = ended(&http, &batch).await;
    assert_eq!(done.counts, Counts { submitted: 4, scored: 3, timed_out: 0, error: 1, shared: 0 });
    assert_eq!(done.mean_reward, Some(1.0 / 3.0), "an error counted as a number");

    let by_key: BTreeMap<_, _> =
        results(&http, &batch).await.into_iter().map(|item| (item.key.clone(), item)).collect();
    let verdicts: Vec<_> = by_key.values().map(|item| item.outcome.verdict()).collect();
    assert_eq!(verdicts, ["success", "wrong", "bad_request", "no_answer"]);
    for (key, stages) in [("a", &["extract", "score"][..]), ("c", &["extract"])] {
        let told: Vec<_> = by_key[key].stages.iter().map(|time| time.stage.as_str()).collect();
        assert_eq!(told, stages);
        for time in &by_key[key].stages {
            assert!(time.ran_ms > 0.0 && time.queued_ms >= 0.0 && time.attempts == 1, "{time:?}");
        }
    }
    let Outcome::Error { code, retryable, message, .. } = &by_key["bad"].outcome else {
        panic!("{:?}", by_key["bad"].outcome)
    };
    assert_eq!((*code, *retryable), (ErrorCode::BadRequest, false));
    assert!(message.contains("label"), "{message}");
    let raw = http.get(&format!("/v1/batches/{}/results", batch.id)).await;
    check_errors_have_no_reward(&raw);
}

fn check_errors_have_no_reward(page: &Answer) {
    let page: Value = page.json(200);
    let items = page["items"].as_array().expect("items");
    let errors: Vec<_> = items.iter().filter(|item| item["outcome"]["kind"] == "error").collect();
    assert!(!errors.is_empty());
    for error in errors {
        assert!(!error.to_string().contains(r#""reward":"#), "{error}");
    }
}

#[tokio::test]
async fn a_running_batch_is_cancelled_without_numbers() {
    let host = host("cpu=1");
    let http = Http::new(&host);
    let liar = host.publish("liar").await;
    let batch = announce(&http, &liar, "cancelled", json!({ "share_equal": false })).await;
    // A second each: enough for a machine that stalls while the batch is to be cancelled.
    let slow = |at: u32| json!({ "key": format!("slow{at}"), "response": "spin" });
    let quick = json!({ "key": "quick", "response": "count" });
    let items: Vec<Value> = [quick].into_iter().chain((0..20).map(slow)).collect();
    let _: SubmitReply = http.post(&requests(&batch), &json!(items)).await.json(200);
    let path = format!("/v1/batches/{}", batch.id);
    until("the first result is there", async || {
        let batch: Batch = http.get(&path).await.json(200);
        (batch.counts.finished() > 0).then_some(())
    })
    .await;
    let cancelled: Batch = http.post(&format!("{path}/cancel"), &json!({})).await.json(200);
    assert_eq!(cancelled.state, BatchState::Cancelled);
    assert_eq!(cancelled.counts.submitted, 21);
    assert_eq!(cancelled.counts.finished(), 21);
    assert!(cancelled.counts.error >= 2, "{:?}", cancelled.counts);
    for item in results(&http, &batch).await {
        match item.outcome {
            Outcome::Error { code, .. } => assert_eq!(code, ErrorCode::Cancelled),
            Outcome::TimedOut { .. } => assert!(item.key.starts_with("slow"), "{item:?}"),
            Outcome::Scored(_) => assert_eq!(item.key, "quick"),
        }
    }
    check_errors_have_no_reward(&http.get(&format!("{path}/results")).await);
    let again: Batch = http.post(&format!("{path}/cancel"), &json!({})).await.json(200);
    assert_eq!((again.state, again.counts), (BatchState::Cancelled, cancelled.counts));
    // The worker is free for others at once.
    let next = announce(&http, &liar, "cancelled", json!({ "expected_size": 1 })).await;
    let item = json!([{ "key": "next", "response": "count" }]);
    let _: SubmitReply = http.post(&requests(&next), &item).await.json(200);
    assert_eq!(ended(&http, &next).await.counts.scored, 1);
}

#[tokio::test]
async fn a_pool_without_workers_keeps_its_batches_waiting() {
    let host = host("gpu=1");
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let batch = announce(&http, &plugin, "waiting", json!({ "expected_size": 2 })).await;
    let items = json!([{ "key": "a", "response": "" }, { "key": "b", "response": "" }]);
    let _: SubmitReply = http.post(&requests(&batch), &items).await.json(200);
    let path = format!("/v1/batches/{}", batch.id);
    let long_poll = http.request(reqwest::Method::GET, &path).header("prefer", "wait=1");
    let waiting: Batch = http.send(long_poll).await.json(200);
    assert_eq!((waiting.state, waiting.counts.finished()), (BatchState::Sealed, 0));
    let page: ResultsPage = http.get(&format!("{path}/results")).await.json(200);
    assert!(page.items.is_empty() && !page.done);
    let cancelled: Batch = http.post(&format!("{path}/cancel"), &json!({})).await.json(200);
    assert_eq!((cancelled.state, cancelled.counts.error), (BatchState::Cancelled, 2));
    assert_eq!(cancelled.mean_reward, None);
}

/// The lines of a stage that ran before a restart stay, and those of the next stage come after them.
#[tokio::test]
async fn the_log_of_a_request_goes_on_after_a_restart() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let mut host = Host::start(HostOptions {
        workers: vec!["cpu=1".into(), "gpu=1".into()],
        arguments: vec!["--worker-program".into(), sleepers.program()],
        ..HostOptions::default()
    });
    let client = host.client();
    let plugin = host.publish("two_pools").await;
    let items = [item("logs", "before after", "1")];
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let request = RequestId { batch: answers.batch, seq: 0 };
    sleepers.open("before");
    until("the first line is kept", async || {
        let lines = client.request_logs(request).await.expect("answers");
        (!lines.is_empty()).then_some(())
    })
    .await;
    assert!(host.stop());
    host.restart();
    let client = host.client();
    sleepers.open("after");
    answers.finish(&client, &items).await;
    until("the last line is kept", async || {
        let lines = client.request_logs(request).await.expect("answers");
        assert_eq!(lines.first().map(|line| &*line.message), Some("before"));
        lines.last().filter(|line| line.message == "after").map(|_| ())
    })
    .await;
}

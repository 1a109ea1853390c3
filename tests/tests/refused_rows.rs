//! Rows that the database refuses for ever: their caller is told, and nobody else waits for them.

use std::time::Duration;

use assay_api::batch::{BatchState, SealBatch};
use assay_api::operations::IncidentPage;
use assay_api::request::{SubmitItem, SubmitReply};
use assay_api::result::ResultItem;
use assay_tests::{Answer, Answers, Host, HostOptions, Http, item, ndjson, until};
use futures_util::future::join_all;
use serde_json::{Value, json};

/// Refuses rows of a table that hold the word `never`.
fn refuse(host: &Host, table: &str, text: &str) {
    let _ = host.psql().rows(&format!(
        "create function refuse_{table}() returns trigger language plpgsql as $$ begin \
         if position('never' in {text}) > 0 then \
         raise exception 'no row is kept that says never' using errcode = 'check_violation'; \
         end if; return new; end $$; \
         create trigger refuse before insert on {table} for each row execute function refuse_{table}()"
    ));
}

fn requests(names: impl IntoIterator<Item = String>) -> Vec<SubmitItem> {
    names.into_iter().map(|name| item(name.clone(), "count", "null")).collect()
}

async fn submit(http: &Http, batch: &Answers, items: &[SubmitItem]) -> Answer {
    let path = format!("/v1/batches/{}/requests", batch.batch);
    http.post_bytes(&path, "application/x-ndjson", ndjson(items)).await
}

/// The incident of a batch, which says why.
async fn incident(http: &Http, batch: &str) {
    until("the refusal is an incident", async || {
        let page: IncidentPage = http.get("/v1/incidents?kind=requests_failed").await.json(200);
        let ours = page
            .items
            .into_iter()
            .find(|it| batch.is_empty() || it.batch.is_some_and(|id| id.to_string() == batch));
        ours.filter(|it| it.detail.contains("no row is kept that says never"))
    })
    .await;
}

#[tokio::test]
async fn a_request_that_is_never_kept_is_refused_alone() {
    let mut host = Host::start(HostOptions::default());
    let plugin = host.publish("liar").await;
    refuse(&host, "requests", "new.key");
    let (client, http) = (host.client(), Http::new(&host));
    let mut batch = Answers::announce_open(&client, &plugin).await;

    // The bad one among many that share its commits.
    let calls: Vec<Vec<SubmitItem>> = (0..40)
        .map(|call| {
            let name = if call == 20 { "never" } else { "fine" };
            requests((0..5).map(|at| format!("{name}-{call}-{at}")))
        })
        .collect();
    let answers = join_all(calls.iter().map(|items| submit(&http, &batch, items))).await;
    for (call, answer) in answers.iter().enumerate() {
        if call == 20 {
            let problem = answer.problem(500, "not_kept");
            assert!(
                problem.hint.as_ref().is_some_and(|hint| hint.contains("incident")),
                "{problem:?}"
            );
        } else {
            assert_eq!(answer.json::<SubmitReply>(200).accepted, 5);
        }
    }
    incident(&http, &batch.batch.to_string()).await;
    let mut items: Vec<SubmitItem> =
        calls.into_iter().enumerate().filter(|(call, _)| *call != 20).flat_map(|it| it.1).collect();
    let state: Value = http.get(&format!("/v1/batches/{}", batch.batch)).await.json(200);
    assert_eq!(state["counts"]["submitted"], items.len());

    // The numbers of the refused requests stay unused over a restart, and the batch goes on.
    host.kill();
    host.restart();
    let (client, http) = (host.client(), Http::new(&host));
    let more = requests((0..3).map(|at| format!("later-{at}")));
    assert_eq!(submit(&http, &batch, &more).await.json::<SubmitReply>(200).accepted, 3);
    let repeats = submit(&http, &batch, &items[..5]).await.json::<SubmitReply>(200);
    assert_eq!((repeats.accepted, repeats.repeated), (0, 5));
    let _ = submit(&http, &batch, &requests(["never-again".into()])).await.problem(500, "not_kept");
    items.extend(more);
    client.seal(batch.batch, &SealBatch::default()).await.expect("seals");
    let by_key = batch.finish(&client, &items).await;
    assert!(by_key.values().all(|item| item.outcome.reward() == Some(1.0)));
    batch.check_stored(&host.psql());
}

#[tokio::test]
async fn a_batch_or_a_single_request_that_is_never_kept_is_refused_alone() {
    let host = Host::start(HostOptions::default());
    let plugin = host.publish("liar").await;
    refuse(&host, "batches", "new.run");
    refuse(&host, "requests", "encode(new.body, 'escape')");
    let http = Http::new(&host);
    let announce = |run: &str| json!({ "plugin": plugin, "run": run, "iteration": 1 });
    let reward = |label: &str| json!({ "plugin": plugin, "prompt": "", "response": "count", "label": label });
    for _ in 0..2 {
        let key =
            http.request(reqwest::Method::POST, "/v1/batches").header("idempotency-key", "one");
        let refused = http.send(key.json(&announce("never"))).await;
        let _ = refused.problem(500, "not_kept");
    }
    let _ = http.post("/v1/rewards", &reward("never")).await.problem(500, "not_kept");
    incident(&http, "").await;
    let _: Value = http.post("/v1/batches", &announce("fine")).await.json(201);
    let scored: Value = http.post("/v1/rewards", &reward("fine")).await.json(200);
    assert_eq!(scored["outcome"]["reward"], 1.0);
    assert_eq!(host.psql().rows("select count(*) from requests"), ["1"]);
}

#[tokio::test]
async fn an_outcome_that_is_refused_is_kept_until_it_is_taken() {
    let host = Host::start(HostOptions::default());
    let plugin = host.publish("liar").await;
    refuse(&host, "outcome_rows", "new.result::text");
    let (client, http) = (host.client(), Http::new(&host));
    let bad = requests(["fine-0".into(), "never".into(), "fine-1".into()]);
    let mut waits = Answers::submit(&client, &plugin, &bad).await;
    incident(&http, &waits.batch.to_string()).await;

    // Others are answered meanwhile, and it has no outcome that was not computed.
    let good = requests((0..20).map(|at| format!("good-{at}")));
    let mut other = Answers::submit(&client, &plugin, &good).await;
    other.finish(&client, &good).await;
    let page = client.results_page(waits.batch, 0, 10).await.expect("answers");
    assert!(!page.done && page.items.iter().all(|it: &ResultItem| it.key != "never"), "{page:?}");

    let _ = host.psql().rows("drop trigger refuse on outcome_rows");
    let by_key = waits.finish(&client, &bad).await;
    assert!(by_key.values().all(|item| item.outcome.reward() == Some(1.0)));
    waits.check_stored(&host.psql());
    let batch = client.wait_batch(waits.batch, Duration::ZERO).await.expect("answers");
    assert_eq!((batch.state, batch.counts.error), (BatchState::Done, 0));
}

#[tokio::test]
async fn an_outcome_that_is_refused_among_many_is_kept_alone() {
    let host = Host::start(HostOptions::default());
    let plugin = host.publish("liar").await;
    refuse(&host, "outcome_rows", "new.result::text");
    refuse(&host, "outcome_segments", "array_to_string(new.results, ' ')");
    let (client, http) = (host.client(), Http::new(&host));
    let mut items = requests((0..400).map(|at| format!("fine-{at}")));
    items[200].key = "never".into();
    let mut waits = Answers::submit(&client, &plugin, &items).await;
    incident(&http, &waits.batch.to_string()).await;
    let page = client.results_page(waits.batch, 0, 1_000).await.expect("answers");
    assert!(!page.done && page.items.iter().all(|it: &ResultItem| it.key != "never"));
    let _ = host
        .psql()
        .rows("drop trigger refuse on outcome_rows; drop trigger refuse on outcome_segments");
    let by_key = waits.finish(&client, &items).await;
    assert!(by_key.values().all(|item| item.outcome.reward() == Some(1.0)));
    waits.check_stored(&host.psql());
}

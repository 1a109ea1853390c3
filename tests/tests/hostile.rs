//! Guests that misbehave, between requests that do not: each ends with its own verdict, no other request
//! notices, and the worker serves on. A plugin that was damaged on its way to a worker never runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_api::request::{LogLine, SubmitItem};
use assay_api::result::ResultItem;
use assay_client::Client;
use assay_core::limits;
use assay_core::outcome::Outcome;
use assay_tests::{
    Answers, Host, HostOptions, Process, component, item, plugins_of_workers, until,
};

/// The ending of each lie of the guest `liar`: the outcome's verdict, and a part of its text.
const LIES: [(&str, &str, &str); 27] = [
    ("spin", "timed_out", ""),
    ("sleep_for_ever", "timed_out", ""),
    ("allocate", "out_of_memory", "the limit is 67108864"),
    ("recurse", "stack_overflow", "stack overflowed"),
    ("recurse_deep", "stack_overflow", "stack overflowed"),
    ("abort", "plugin_trap", "panicked or aborted"),
    ("panic", "plugin_trap", "the answer was not there"),
    ("divide", "plugin_trap", "divide by zero"),
    ("exit", "plugin_trap", "exit status"),
    ("nan", "bad_outcome", "NaN"),
    ("infinite", "bad_outcome", "inf"),
    ("verdict_huge", "bad_outcome", "1048576 bytes"),
    ("verdict_empty", "bad_outcome", "0 bytes"),
    ("explanation_huge", "bad_outcome", "1048576 bytes"),
    ("components_many", "bad_outcome", "1000 components"),
    ("components_twice", "bad_outcome", "`same`"),
    ("artifact_huge", "bad_outcome", "16777217 bytes"),
    ("artifact_type_huge", "bad_outcome", "1048576 bytes"),
    ("next", "bad_outcome", "last stage"),
    ("bad_request", "bad_request", "no label"),
    ("bad_settings", "bad_settings", "no such knob"),
    ("unavailable", "unavailable", "no GPU"),
    ("internal", "plugin_error", "xxx"),
    ("no such lie", "bad_request", "no such lie"),
    ("log_flood", "success", ""),
    ("log_long", "success", ""),
    ("print_flood", "success", ""),
];
/// Every lie as often as this.
const TIMES: usize = 2;
const TRUTHS: usize = 400;
/// Far below what the floods and bombs add up to.
const SERVER_MEMORY_BYTES_MAX: u64 = 512 << 20;

fn mixed() -> Vec<SubmitItem> {
    let mut items = Vec::new();
    for at in 0..TRUTHS {
        let response = if at % 2 == 0 { "count" } else { "two_stages" };
        items.push(item(format!("truth-{at}"), response, "null"));
        if let Some((lie, ..)) = LIES.get(at / 10).filter(|_| at % 5 == 0) {
            items.push(item(format!("{lie}-{}", at % 10 / 5), lie, "null"));
        }
    }
    items
}

async fn logs(host: &Host, result: &ResultItem) -> Vec<LogLine> {
    let call = reqwest::Client::new()
        .get(format!("{}/v1/requests/{}/logs", host.url, result.id))
        .bearer_auth(&host.key);
    let reply = call.send().await.expect("answers").error_for_status().expect("there are logs");
    reply.json().await.expect("log lines")
}

fn check(result: &ResultItem, verdict: &str, text: &str) {
    let outcome = &result.outcome;
    assert_eq!(outcome.verdict(), verdict, "{result:?}");
    match outcome {
        Outcome::Scored(scored) => assert_eq!(scored.reward, 1.0),
        Outcome::TimedOut { stage, reward } => {
            assert_eq!((stage.as_str(), *reward), ("prepare", -1.0));
            // In time, too: past the grace its worker would have been killed.
            let ran_ms = result.stages[0].ran_ms;
            assert!(ran_ms >= 1_000.0, "it ran for {ran_ms} ms of 1000");
        }
        Outcome::Error { message, attempts, .. } => {
            assert!(message.contains(text), "{}: {message}", result.key);
            assert!(message.len() <= limits::ERROR_MESSAGE_BYTES_MAX);
            assert_eq!(*attempts, 1);
            assert_eq!(outcome.reward(), None);
        }
    }
}

/// The results of a batch that took no worker along. A machine that stalls until the time of an honest stage
/// is over, or for longer than the grace of one that lasts until its time is over, judges the batch again.
async fn judged_without_loss(
    host: &Host,
    plugin: &str,
    items: &[SubmitItem],
) -> BTreeMap<String, ResultItem> {
    let client = host.client();
    let workers = || Process::children(host.pid(), "assay-worker");
    let late = || host.log().matches("a stage ran past its deadline").count();
    for _ in 0..3 {
        let two = until("two workers", async || Some(workers()).filter(|now| now.len() == 2)).await;
        let late_before = late();
        let by_key = Answers::submit(&client, plugin, items).await.finish(&client, items).await;
        assert!(workers() == two || late() > late_before, "a worker was lost:\n{}", host.log());
        let endless = |key: &str| ["spin-", "sleep_for_ever-"].iter().any(|it| key.starts_with(it));
        let in_time =
            by_key.iter().all(|(key, result)| endless(key) || result.outcome.kind() != "timed_out");
        if in_time && workers() == two {
            return by_key;
        }
    }
    panic!("each time a stage ran past its deadline");
}

#[tokio::test]
async fn lies_among_truths() {
    let host = Host::start(HostOptions::default());
    let plugin = host.publish("liar").await;
    let client = host.client();
    // So that every worker has loaded the plugin and is known.
    let warm: Vec<_> = (0..8).map(|at| item(at.to_string(), "count", "null")).collect();
    Answers::submit(&client, &plugin, &warm).await.finish(&client, &warm).await;
    let items = mixed();
    assert_eq!(items.len(), TRUTHS + TIMES * LIES.len());
    let by_key = judged_without_loss(&host, &plugin, &items).await;
    for at in 0..TRUTHS {
        let expected = if at % 2 == 0 { 1.0 } else { 0.75 };
        let result = &by_key[&format!("truth-{at}")];
        assert_eq!(result.outcome.reward(), Some(expected), "{result:?}");
    }
    for (lie, verdict, text) in LIES {
        for time in 0..TIMES {
            check(&by_key[&format!("{lie}-{time}")], verdict, text);
        }
    }
    for lie in ["log_flood", "log_long", "print_flood"] {
        let lines = logs(&host, &by_key[&format!("{lie}-0")]).await;
        assert!(!lines.is_empty() && lines.len() <= limits::LOG_LINES_MAX, "{}", lines.len());
        assert!(lines.iter().all(|line| line.message.len() <= limits::LOG_LINE_BYTES_MAX));
    }

    let server = Process::find(host.pid()).expect("the server runs");
    let peak = server.memory_bytes_peak().expect("the kernel knows");
    assert!(peak < SERVER_MEMORY_BYTES_MAX, "the server held {peak} bytes");
}

#[tokio::test]
async fn plugins_that_lie_about_themselves() {
    let host = Host::start(HostOptions::default());
    let client = host.client();
    for (name, reason) in [
        ("describe_nonsense", "Not A Name!"),
        ("describe_spins", "describe"),
        ("forbidden_import", "vault"),
    ] {
        let refused = client.publish(component(name).into()).await.expect_err(name);
        assert_eq!(refused.code(), Some("plugin_refused"), "{refused}");
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    let refused = client.publish(component("liar")[..10_000].to_vec().into()).await;
    assert_eq!(refused.expect_err("half a plugin").code(), Some("plugin_refused"));
}

/// All outcomes of a batch of `trivial`, the wrong rewards refused.
async fn kinds(client: &Client, plugin: &str) -> BTreeMap<String, usize> {
    let items: Vec<_> =
        (0..40).map(|at: usize| item(at.to_string(), &"x".repeat(at), "null")).collect();
    let by_key = Answers::submit(client, plugin, &items).await.finish(client, &items).await;
    let mut kinds = BTreeMap::new();
    for (key, result) in by_key {
        let at: usize = key.parse().expect("a number");
        let expected = if at.is_multiple_of(2) { 1.0 } else { 0.0 };
        let reward = result.outcome.reward();
        assert!(reward.is_none_or(|reward| reward == expected), "{result:?}");
        *kinds.entry(result.outcome.verdict().to_owned()).or_default() += 1;
    }
    kinds
}

/// The compiled plugin, where workers keep it and where the server does.
fn compiled(data: &Path) -> (PathBuf, PathBuf) {
    let [digest] = &plugins_of_workers(data)[..] else { panic!("not one plugin is cached") };
    let object = data.join("objects").join(&digest[..2]).join(digest);
    (data.join("cache/plugins").join(digest), object)
}

fn restart_workers(host: &Host) {
    for worker in Process::children(host.pid(), "assay-worker") {
        worker.kill();
    }
}

/// Changes single bits all over the file, or cuts it.
fn damages(whole: &[u8]) -> [Vec<u8>; 3] {
    let mut flipped = whole.to_vec();
    for at in (0..flipped.len()).step_by(4_099) {
        flipped[at] ^= 1;
    }
    let mut last = whole.to_vec();
    *last.last_mut().expect("it is not empty") ^= 0x80;
    [flipped, last, whole[..whole.len() / 2].to_vec()]
}

#[tokio::test]
async fn a_damaged_plugin_never_runs() {
    let host = Host::start(HostOptions::default());
    let plugin = host.publish("trivial").await;
    let client = host.client();
    let all_scored = BTreeMap::from([("success".to_owned(), 40)]);
    assert_eq!(kinds(&client, &plugin).await, all_scored);
    let (cached, object) = compiled(&host.data());
    let whole = std::fs::read(&object).expect("the object is there");
    assert_eq!(std::fs::read(&cached).expect("it is cached"), whole);

    for damaged in damages(&whole) {
        // A damaged cache is replaced by what the server has.
        std::fs::write(&cached, &damaged).expect("writes");
        restart_workers(&host);
        assert_eq!(kinds(&client, &plugin).await, all_scored);
        assert_eq!(std::fs::read(&cached).expect("it is cached"), whole);

        // Damaged there as well, nothing is left to run.
        std::fs::write(&cached, &damaged).expect("writes");
        std::fs::write(&object, &damaged).expect("writes");
        restart_workers(&host);
        let unloadable = BTreeMap::from([("plugin_unloadable".to_owned(), 40)]);
        assert_eq!(kinds(&client, &plugin).await, unloadable);

        // The same upload again brings it back.
        host.publish("trivial").await;
        assert_eq!(kinds(&client, &plugin).await, all_scored);
    }
}

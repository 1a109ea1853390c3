//! The plugin `cuda`: its tasks vetted without the service, then every candidate and every cheat through
//! the whole of it, on simulated GPUs. Needs a CUDA toolkit, whose folder ASSAY_TEST_CUDA names.

mod bench;
mod compiled;
mod responses;
mod truth;
mod values;
mod vetting;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use assay_api::batch::AnnounceBatch;
use assay_api::request::SubmitItem;
use assay_api::result::ResultItem;
use assay_core::id::BatchId;
use assay_core::outcome::Outcome;
use assay_tests::{Answers, Host, HostOptions, assay, checkout, item, sampled};
use compiled::CompiledCuda;
use responses::{Response, Task, cheats, tasks};
use serde_json::{Value, json};

/// So that an endless kernel ends after some million steps and not after hundreds.
const PLAN_MS: u32 = 300;
/// Texts that would appear if a compiler or a program could read the machine.
const SECRETS: [&str; 5] = ["root:x:", "PATH=", "HOME=", "CARGO", "LD_LIBRARY"];

fn skipped(what: &str) {
    // Past the capture of what passing tests print.
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: {what}: ASSAY_TEST_CUDA names no folder with a CUDA toolkit"
    );
}

async fn start(toolkit: &Path) -> (Host, String, CompiledCuda) {
    let mut options = HostOptions::with_boxes("cpu=2");
    options.workers.push("gpu=1".into());
    let toolkit = toolkit.to_str().expect("a plain path");
    options.arguments.extend(["--gpu", "simulated", "--cuda", toolkit].map(str::to_owned));
    let host = Host::start(options);
    let plugin = host.publish("assay_plugin_cuda").await;
    let compiled = CompiledCuda::give(&host);
    (host, plugin, compiled)
}

/// All items in one batch with these settings.
async fn judged(
    host: &Host,
    plugin: &str,
    settings: &Value,
    items: &[SubmitItem],
) -> BTreeMap<String, ResultItem> {
    let client = host.client();
    let announcement = AnnounceBatch {
        plugin: plugin.into(),
        run: BatchId::generate().to_string(),
        iteration: 1,
        expected_size: Some(u32::try_from(items.len()).expect("a small number")),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: None,
        join: None,
        settings: Some(serde_json::value::to_raw_value(settings).expect("plain data")),
    };
    let batch = client.announce(&announcement).await.expect("announces");
    let mut answers = Answers { batch: batch.id, seen: Vec::new() };
    let body = assay_tests::ndjson(items);
    client.submit_ndjson(answers.batch, body).await.expect("submits");
    answers.finish(&client, items).await
}

fn items(tasks: &[Task], responses: &[Response]) -> Vec<SubmitItem> {
    let labels: BTreeMap<_, _> =
        tasks.iter().map(|task| (task.name.as_str(), task.label().to_string())).collect();
    let one = |response: &Response| {
        let label = &labels[response.task.as_str()];
        item(&response.name, &response.text(), label)
    };
    responses.iter().map(one).collect()
}

/// The mistake in a result, in one line, if there is one.
fn failure(response: &Response, result: &ResultItem) -> Option<String> {
    let Outcome::Scored(scored) = &result.outcome else {
        return Some(format!("{}: {:?}", response.name, result.outcome));
    };
    let told = |what: &str| {
        let (verdict, reward) = (&scored.verdict, scored.reward);
        let name = &response.name;
        Some(format!("{name}: {what}: {verdict} ({reward}): {}", scored.explanation))
    };
    if !response.expects(&scored.verdict) {
        return told(&format!("not {}", response.expect.join(" or ")));
    }
    if (scored.reward >= 1.0) != (scored.verdict == "success") {
        return told("another reward");
    }
    if SECRETS.iter().any(|secret| scored.explanation.contains(secret)) {
        return told("tells of the machine");
    }
    let ran = ["success", "wrong_answer", "execute_error"].contains(&scored.verdict.as_str());
    let labelled = scored.explanation.starts_with("simulated:");
    let component = scored.components.get("simulated") == Some(&1.0);
    if labelled != component || (scored.verdict == "success" && !labelled) {
        return told("does not say rightly whether it was simulated");
    }
    if labelled && !ran && scored.verdict != "unsupported" {
        return told("never ran");
    }
    None
}

/// All of them, then some again.
async fn every_verdict_is_right(host: &Host, plugin: &str, tasks: &[Task], all: &[Response]) {
    let here: Vec<_> = all.iter().filter(|response| response.needs != "gpu").cloned().collect();
    let settings = json!({ "plan_ms": PLAN_MS });
    for (round, every) in [("first", 1), ("again", 8)] {
        let here: Vec<_> = sampled(every, here.iter().cloned()).collect();
        let by_key = judged(host, plugin, &settings, &items(tasks, &here)).await;
        let failures: Vec<_> = here
            .iter()
            .filter_map(|response| failure(response, &by_key[&response.name]))
            .map(|failure| format!("{round}: {failure}"))
            .collect();
        assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    }
}

#[tokio::test]
async fn every_candidate_gets_its_verdict() {
    let Some(toolkit) = bench::toolkit() else { return skipped("nothing is judged") };
    let (host, plugin, compiled) = start(&toolkit).await;
    let tasks = tasks();
    let candidates: Vec<_> = tasks.iter().flat_map(Task::candidates).collect();
    assert!(candidates.len() > 60, "only {} candidates", candidates.len());
    every_verdict_is_right(&host, &plugin, &tasks, &candidates).await;
    speed_is_never_rewarded(&host, &plugin, &tasks).await;
    the_sample_agrees_with_its_rewards(&host, &plugin);
    compiled.keep().expect("compiled files can be kept");
}

#[tokio::test]
async fn every_cheat_is_caught() {
    let Some(toolkit) = bench::toolkit() else { return skipped("nothing is judged") };
    let (host, plugin, compiled) = start(&toolkit).await;
    every_verdict_is_right(&host, &plugin, &tasks(), &cheats()).await;
    compiled.keep().expect("compiled files can be kept");
}

/// A simulated device has no timing, and what has none is no number.
async fn speed_is_never_rewarded(host: &Host, plugin: &str, tasks: &[Task]) {
    let good: Vec<_> = tasks
        .iter()
        .flat_map(Task::candidates)
        .filter(|response| response.name.ends_with("/good.cu"))
        .take(3)
        .collect();
    let thresholds = json!([{ "speedup": 1.0, "reward": 0.5 }]);
    for settings in [
        json!({ "policy": "speedup" }),
        json!({ "policy": "thresholds", "thresholds": thresholds }),
    ] {
        let by_key = judged(host, plugin, &settings, &items(tasks, &good)).await;
        for result in by_key.values() {
            assert_eq!(result.outcome.reward(), None, "{result:?}");
            assert_eq!(result.outcome.verdict(), "bad_settings", "{result:?}");
        }
    }
}

fn the_sample_agrees_with_its_rewards(host: &Host, plugin: &str) {
    let sample = checkout().join("plugins/cuda/sample.jsonl");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let results = folder.path().join("results");
    let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let (sample, results) = (text(&sample), text(&results));
    let call = ["score", &sample, "--plugin", plugin, "--output", &results];
    let call = [&call[..], &["--require-agreement", "-o", "json"]].concat();
    let summary: Value = assay(Some(host), &call).json(0);
    let rows = summary["rows"].as_u64().expect("a number");
    assert!(rows > 60, "{summary:#}");
    assert_eq!(summary["agreement"]["agreed"], rows, "{summary:#}");
}

/// `sample.py` was run after the last change of a task.
#[test]
fn the_sample_is_made_of_the_tasks() {
    let sample = std::fs::read_to_string(checkout().join("plugins/cuda/sample.jsonl"));
    let sample = sample.expect("the sample is there");
    let rows: Vec<Value> =
        sample.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect();
    let tasks = tasks();
    let mut rows = rows.iter();
    for task in &tasks {
        for candidate in task.candidates() {
            let row = rows.next().expect("a row for each candidate");
            assert_eq!(row["label"], task.label(), "{}", candidate.name);
            assert_eq!(row["prompt"], task.prompt(), "{}", candidate.name);
            let response = row["response"].as_str().expect("a text");
            assert!(response.contains(candidate.source.trim_end()), "{}", candidate.name);
            let worth = if candidate.expects("success") { 1.0 } else { 0.0 };
            let expected = row["expected"].as_f64().expect("a number");
            assert_eq!(expected.max(0.0), worth, "{}", candidate.name);
        }
    }
    assert!(rows.next().is_none(), "a row of no candidate");
}

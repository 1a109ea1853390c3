//! The plugin `code` through the whole service: every program gets the verdict it deserves, each time
//! it is judged, and on a busy machine as on a quiet one.

mod human_eval;
mod problems;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use assay_api::request::SubmitItem;
use assay_api::result::ResultItem;
use assay_core::outcome::Outcome;
use assay_tests::{Answers, Host, HostOptions, item, sampled};
use problems::Storage;

/// Threads that take all the processor time they can get, two for each core.
struct BusyLoops {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<u64>>,
}

impl BusyLoops {
    fn start() -> Self {
        let cores = std::thread::available_parallelism().expect("the kernel tells").get();
        let stop = Arc::new(AtomicBool::new(false));
        let turn = |stop: Arc<AtomicBool>| {
            move || {
                let mut turns = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    turns = std::hint::black_box(turns + 1);
                }
                turns
            }
        };
        let threads = (0..2 * cores).map(|_| std::thread::spawn(turn(Arc::clone(&stop))));
        Self { threads: threads.collect(), stop }
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            assert!(thread.join().is_ok_and(|turns| turns > 0), "a busy loop did not run");
        }
    }
}

async fn start(arguments: &[String]) -> (Host, String) {
    let mut options = HostOptions::with_boxes("cpu=2");
    options.arguments.extend_from_slice(arguments);
    let host = Host::start(options);
    let plugin = host.publish("assay_plugin_code").await;
    (host, plugin)
}

async fn judged(host: &Host, plugin: &str, items: &[SubmitItem]) -> BTreeMap<String, ResultItem> {
    let client = host.client();
    Answers::submit(&client, plugin, items).await.finish(&client, items).await
}

/// The mistake in a result, in one line, if there is one.
fn failure(result: &ResultItem, allowed: impl Fn(&str) -> bool) -> Option<String> {
    let Outcome::Scored(scored) = &result.outcome else {
        return Some(format!("{}: {:?}", result.key, result.outcome));
    };
    let reward = if scored.verdict == "success" { 1.0 } else { 0.0 };
    // A run that a busy machine disturbed is tried again, which is as it should be.
    let right = allowed(&scored.verdict) && scored.reward == reward;
    (!right).then(|| {
        format!("{}: {} ({}): {}", result.key, scored.verdict, scored.reward, scored.explanation)
    })
}

fn check(failures: Vec<String>) {
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test]
async fn every_submission_gets_its_verdict_every_time() {
    let storage = Storage::new();
    let (host, plugin) = start(&["--storage".into(), storage.file()]).await;
    let submissions = problems::submissions();
    assert!(submissions.len() > 70, "only {} submissions", submissions.len());
    let items: Vec<_> = submissions
        .iter()
        .map(|one| item(&one.name, &one.response, &problems::label(&one.problem).to_string()))
        .collect();
    for (round, every) in [("quiet", 1), ("busy", 4)] {
        let busy = (round == "busy").then(BusyLoops::start);
        let items: Vec<_> = sampled(every, items.iter().cloned()).collect();
        let by_key = judged(&host, &plugin, &items).await;
        drop(busy);
        let failures = sampled(every, &submissions).filter_map(|one| {
            let result = &by_key[&one.name];
            let told = format!("{:?}", result.outcome).contains(problems::HIDDEN);
            let failed = failure(result, |verdict| verdict == one.verdict)
                .or_else(|| told.then(|| format!("{} tells what is hidden", one.name)));
            failed.map(|failed| format!("{round}, {} expected: {failed}", one.verdict))
        });
        check(failures.collect());
    }
}

#[tokio::test]
async fn the_solutions_of_human_eval_are_right() {
    let (host, plugin) = start(&[]).await;
    let mut items = Vec::new();
    for problem in sampled(4, human_eval::problems()) {
        let label = problem.label(5_000).to_string();
        let (body, id) = (&problem.canonical_solution, &problem.task_id);
        items.push(item(format!("{id} body"), &format!("```python\n{body}```\n"), &label));
        items.push(item(format!("{id} noisy"), &human_eval::NOISY.response(&problem), &label));
    }
    let by_key = judged(&host, &plugin, &items).await;
    check(by_key.values().filter_map(|one| failure(one, |verdict| verdict == "success")).collect());
}

#[tokio::test]
async fn what_is_no_solution_of_human_eval_is_wrong() {
    let (host, plugin) = start(&[]).await;
    let problems = human_eval::problems();
    let mut items = Vec::new();
    for (at, broken) in human_eval::BROKEN.iter().enumerate() {
        let meant = problems.iter().skip(at % broken.every).step_by(broken.every);
        for problem in sampled(4, meant) {
            let key = format!("{} {}", problem.task_id, broken.name);
            items.push(item(key, &broken.response(problem), &problem.label(500).to_string()));
        }
    }
    let by_key = judged(&host, &plugin, &items).await;
    check(by_key.values().filter_map(|one| failure(one, |verdict| verdict != "success")).collect());
}

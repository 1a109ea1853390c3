//! After any process is killed while a program runs, the program ends with its box, and its request ends
//! after another try, or as an error.

use std::time::Duration;

use assay_api::request::SubmitItem;
use assay_core::outcome::Outcome;
use assay_tests::{Answers, Host, HostOptions, Process, is_root, item, poll, until};
use serde_json::json;

use super::machine::Watch;

/// Programs that may end before something was done to them, one after the other.
const TRIES: usize = 10;
/// Processor time by which a process is known for the program: 100 ms in ticks.
const BUSY_TICKS: u64 = 10;

/// A program that computes for a while and then ends well.
fn busy(key: &str, seconds: u32) -> SubmitItem {
    let source = format!(
        "#include <stdio.h>\n#include <time.h>\nint main(void)\n{{\n    \
         while (clock() < {seconds} * CLOCKS_PER_SEC) {{}}\n    puts(\"done\");\n}}\n"
    );
    let label = json!({ "toolchain": "c11-gcc", "limits": { "cpu_ms": 30_000 } });
    item(key, &source, &label.to_string())
}

/// The worker that runs the program, its helper's two processes, and everything below.
struct Running {
    worker: Process,
    /// Watches, and tidies up.
    keeper: Process,
    /// Makes the boxes.
    zygote: Process,
    below: Vec<Process>,
}

/// One whose program has worked for a while.
fn busy_one(host: &Host) -> Option<Running> {
    for worker in Process::children(host.pid(), "assay-worker") {
        for keeper in Process::children(worker.pid, "assay-exec") {
            let below = Process::descendants(keeper.pid);
            if below.iter().any(|process| process.user_ticks() > BUSY_TICKS) {
                let zygote = below.iter().find(|process| process.parent == keeper.pid)?.clone();
                return Some(Running { worker, keeper, zygote, below });
            }
        }
    }
    None
}

/// A program at work, and its batch. A machine that stalls may show a program after its end only; then comes
/// another.
async fn at_work(host: &Host, plugin: &str, items: &[SubmitItem]) -> (Answers, Running) {
    let client = host.client();
    for _ in 0..TRIES {
        let answers = Answers::submit(&client, plugin, items).await;
        let seen = until("the program runs or has ended", async || {
            if let Some(running) = busy_one(host) {
                return Some(Some(running));
            }
            let batch = client.batch(answers.batch).await.expect("answers");
            batch.state.is_final().then_some(None)
        });
        if let Some(running) = seen.await {
            return (answers, running);
        }
    }
    panic!("no program was seen at work");
}

fn all_gone(processes: &[Process]) {
    poll(Duration::from_secs(60), "what was below it is gone", || {
        (!processes.iter().any(Process::lives)).then_some(())
    });
}

async fn start() -> (Host, Watch, String) {
    let host = Host::start(HostOptions::with_boxes("cpu=1"));
    let watch = Watch::start(&host);
    let plugin = host.publish("execute").await;
    (host, watch, plugin)
}

fn check_done(outcome: &Outcome) {
    let Outcome::Scored(scored) = outcome else { panic!("{outcome:?}") };
    assert_eq!((scored.reward, scored.verdict.as_str()), (1.0, "exited_0"), "{outcome:?}");
    assert!(scored.explanation.contains("done"), "{outcome:?}");
}

#[tokio::test]
async fn a_killed_worker_takes_its_boxes_along() {
    let (mut host, watch, plugin) = start().await;
    let items = [busy("one", 2)];
    let mut attempts = 1;
    for _ in 0..TRIES {
        let (mut answers, running) = at_work(&host, &plugin, &items).await;
        let Running { worker, keeper, below, .. } = running;
        worker.kill();
        all_gone(&[&[keeper][..], &below].concat());
        let by_key = answers.finish(&host.client(), &items).await;
        check_done(&by_key["one"].outcome);
        attempts = by_key["one"].stages[0].attempts;
        if attempts > 1 {
            break;
        }
    }
    assert_eq!(attempts, 2, "the first try was lost with its worker");
    watch.check_saw(is_root());
    assert!(host.stop());
    watch.check_gone();
}

/// The request ends well all the same, the next one as well, and nothing is left in the end.
async fn kill_in_between(kill: impl Fn(&Running)) {
    let (mut host, watch, plugin) = start().await;
    let items = [busy("one", 2)];
    let client = host.client();
    let (mut answers, running) = at_work(&host, &plugin, &items).await;
    kill(&running);
    let by_key = answers.finish(&client, &items).await;
    check_done(&by_key["one"].outcome);
    let items = [busy("two", 1)];
    let by_key = Answers::submit(&client, &plugin, &items).await.finish(&client, &items).await;
    check_done(&by_key["two"].outcome);
    assert!(running.worker.lives(), "the worker died of it");
    watch.check_saw(is_root());
    assert!(host.stop());
    watch.check_gone();
}

#[tokio::test]
async fn a_killed_zygote_is_started_again() {
    kill_in_between(|running| {
        running.zygote.kill();
        all_gone(&running.below);
    })
    .await;
}

#[tokio::test]
async fn a_killed_keeper_leaves_nothing() {
    kill_in_between(|running| running.keeper.kill()).await;
}

#[tokio::test]
async fn a_helper_that_is_always_killed_is_no_verdict() {
    let (mut host, watch, plugin) = start().await;
    // Longer than a machine stalls between two looks.
    let items = [busy("one", 20)];
    let client = host.client();
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let mut killed = Vec::new();
    // Each further helper is killed in the middle of its work, until nobody starts one.
    until("the request ends", async || {
        if let Some(Running { zygote, below, .. }) = busy_one(&host) {
            zygote.kill();
            killed.push(zygote);
            all_gone(&below);
        }
        let batch = client.batch(answers.batch).await.expect("answers");
        (batch.counts.finished() == 1).then_some(())
    })
    .await;
    let by_key = answers.finish(&client, &items).await;
    let outcome = &by_key["one"].outcome;
    assert_eq!(outcome.verdict(), "unavailable", "{outcome:?}");
    assert_eq!(outcome.reward(), None);
    assert!(killed.len() > 1, "it was tried again");

    // And the next one is served as ever.
    let items = [busy("two", 1)];
    let by_key = Answers::submit(&client, &plugin, &items).await.finish(&client, &items).await;
    check_done(&by_key["two"].outcome);
    watch.check_saw(is_root());
    assert!(host.stop());
    watch.check_gone();
}

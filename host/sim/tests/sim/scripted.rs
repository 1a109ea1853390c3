//! Small traces whose every number can be worked out by hand.
//!
//! A line is a request: task, iteration, seconds into the rollout, then its service times. Rollouts
//! take 10 s, training 5 s, handing over 1 s; iteration 0 is history.

use std::fmt::Write;

use assay_core::time::Micros;
use assay_sim::policy::{ByPool, Settings};
use assay_sim::trace::{Iteration, Task, Trace, TraceRequest, TrainerMode};

use crate::made::{meta, run};

fn scripted(stages: &[&str], mode: TrainerMode, script: &str) -> Trace {
    let secs = |word: &str| Micros((word.parse::<f64>().expect("seconds") * 1e6) as u64);
    let mut tasks: Vec<Task> = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().expect("a number");
        let (task, iteration) = (number(words[0]), number(words[1]));
        if tasks.len() == task as usize {
            tasks.push(Task {
                id: task,
                tenant: None,
                start: Micros::ZERO,
                iterations: Vec::new(),
            });
        }
        let iterations = &mut tasks[task as usize].iterations;
        if iterations.len() == iteration as usize {
            iterations.push(Iteration {
                number: iteration,
                rollout_start: Micros::from_secs(100 * u64::from(iteration)),
                rollout: Micros::from_secs(10),
                train: Micros::from_secs(5),
                sync: Micros::from_secs(1),
                requests: Vec::new(),
            });
        }
        let requests = &mut iterations[iteration as usize].requests;
        let mut service: Vec<_> = words[3..].iter().map(|word| Some(secs(word))).collect();
        service.resize(stages.len(), None);
        requests.push(TraceRequest {
            request: requests.len() as u32,
            group: 0,
            tokens: 0,
            rollout: secs(words[2]),
            service,
            outcome: "success".into(),
        });
    }
    Trace { meta: meta(stages, mode), tasks }
}

/// Runs it on two stages with a pool each.
fn check(mode: TrainerMode, policy: &str, script: &str, wanted: &str) {
    check_trace(&scripted(&["cpu", "gpu"], mode, script), policy, wanted);
}

/// Runs it with two starting seconds and shows batches and pools.
fn check_trace(trace: &Trace, policy: &str, wanted: &str) {
    let startup = ByPool::all(Micros::from_secs(2));
    let run = run(trace, policy, &Settings { startup, ..Settings::default() });
    let mut shown = String::new();
    for batch in &run.batches {
        let seconds = |at: Micros| at.as_secs_f64();
        let (start, end) = (seconds(batch.rollout_start), seconds(batch.completed));
        let (task, iteration, late) = (batch.task, batch.iteration, seconds(batch.extra_delay()));
        writeln!(shown, "batch {task}.{iteration} from {start} to {end} late {late}")
            .expect("memory");
    }
    for used in &run.pools {
        let (name, peak, starts) = (&used.pool, used.peak, used.starts);
        let (paid, ran) = (used.allocated_s(), used.executed_s());
        writeln!(shown, "{name} paid {paid} ran {ran} peak {peak} starts {starts}")
            .expect("memory");
    }
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    assert_eq!(lines(&shown), lines(wanted));
}

#[test]
fn one_worker_serves_one_after_the_other() {
    // The worker starts at 100 and is there at 102; the second batch finds it.
    check(
        TrainerMode::Colocated,
        "fixed:cpu=1,gpu=1",
        "0 0  1  1 1
         0 1  1  4
         0 1  2  4 3
         0 2  1  2 3",
        "batch 0.1 from 100 to 113 late 4
         batch 0.2 from 119 to 125 late 0
         cpu paid 25 ran 10 peak 1 starts 1
         gpu paid 25 ran 6 peak 1 starts 1",
    );
}

#[test]
fn a_stale_trainer_does_not_wait_for_its_batch() {
    check(
        TrainerMode::Disaggregated { stale: 1 },
        "fixed:cpu=1,gpu=1",
        "0 0  1  1 1
         0 1  5  20
         0 2  1  2
         0 3  1  2",
        "batch 0.1 from 100 to 125 late 0
         batch 0.2 from 111 to 127 late 13
         batch 0.3 from 130 to 133 late 0
         cpu paid 33 ran 24 peak 1 starts 1
         gpu paid 33 ran 0 peak 1 starts 1",
    );
}

#[test]
fn a_request_comes_back_to_a_pool_and_waits_in_its_queue() {
    // The first request holds the GPU until 105 and comes back at 109, when the third one has it until 110.
    let script = "
        0 0  1  1 1 1
        0 1  1  3 4 2
        0 1  2  3
        0 1  8  2";
    let mut trace = scripted(&["judge-1", "tool", "judge-2"], TrainerMode::Colocated, script);
    for (stage, pool) in trace.meta.stages.iter_mut().zip(["gpu", "cpu", "gpu"]) {
        stage.pool = Some(pool.into());
        stage.cost = if pool == "gpu" { 10.0 } else { 1.0 };
    }
    check_trace(
        &trace,
        "fixed:cpu=1,gpu=1",
        "batch 0.1 from 100 to 112 late 2
         gpu paid 12 ran 10 peak 1 starts 1
         cpu paid 12 ran 4 peak 1 starts 1",
    );
    // A second worker takes the wait away.
    check_trace(
        &trace,
        "fixed:cpu=1,gpu=2",
        "batch 0.1 from 100 to 111 late 1
         gpu paid 22 ran 10 peak 2 starts 2
         cpu paid 11 ran 4 peak 1 starts 1",
    );
}

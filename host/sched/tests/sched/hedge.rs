//! Slow workers, and the last requests of a batch, which run on two workers.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::script::{Player, check};

/// The pool has lost a busy worker, and A.0 has run for a second: an idle worker runs it as well. The other
/// worker's answer changes nothing.
#[test]
fn the_last_request_runs_twice_and_its_first_answer_counts() {
    check(
        "
        config hedge_after=1s
        0ms join w1 cpu
        0ms announce A stages=cpu:100s,cpu:100s size=1
        0ms submit A 0
          -> estimate A 2000ms
          -> grant w1 L1 A.0 stage 0 try 1
        0ms lose w1
        0ms join w2 cpu
          -> grant w2 L2 A.0 stage 0 try 2
        0ms join w3 cpu
        900ms tick
        1s tick
          -> hedge w3 L3 A.0 stage 0 try 2
        2s tick
        5s answer w3 L3 next 4s
          -> advance A.0 [0: queued 1000ms ran 4000ms tries 2]
          -> estimate A 5000ms
          -> grant w3 L4 A.0 stage 1 try 1
        6s answer w3 L4 scored 1s
          -> finish A.0 scored t=5000ms [0: queued 1000ms ran 4000ms tries 2] [1: queued 0ms ran 1000ms tries 1]
          -> batch A done T=5000ms ended=6000ms
        9s answer w2 L2 scored 9s
        ",
    );
}

/// Until a busy worker was lost nothing is hedged, and nothing of a batch of which more requests may come.
#[test]
fn without_a_loss_and_in_an_open_batch_nothing_runs_twice() {
    check(
        "
        config hedge_after=1s
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A stages=cpu:100s size=1
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        5s tick
        5s announce B stages=cpu:100s
        5s submit B 0
          -> estimate B 6000ms
          -> grant w2 L2 B.0 stage 0 try 1
        6s lose w2
        6s join w3 cpu
          -> grant w3 L3 B.0 stage 0 try 2
        6s join w4 cpu
          -> hedge w4 L4 A.0 stage 0 try 1
        6s finish w1 scored 6s
          -> finish A.0 scored t=6000ms [0: queued 0ms ran 6000ms tries 1]
          -> batch A done T=6000ms ended=6000ms
          -> estimate B 11000ms
        9s tick
        9s seal B
          -> hedge w1 L5 B.0 stage 0 try 2
        ",
    );
}

/// A.0 has run for long while ten requests were left, and runs twice from the moment at which eight are.
#[test]
fn a_request_that_has_run_for_long_runs_twice_once_it_is_among_the_last() {
    let mut player = Player::default();
    player.play("config hedge_after=1s");
    player.play("0ms announce A stages=cpu:100s size=10");
    player.play("0ms submit A 0 1 2 3 4 5 6 7 8 9");
    for worker in 1..=10 {
        player.play(&format!("0ms join w{worker} cpu"));
    }
    player.play("0ms join w11 cpu");
    player.play("0ms lose w10");
    assert!(player.play("2s tick").is_empty());
    let hedges = |actions: Vec<String>| {
        actions.into_iter().filter(|action| action.starts_with("hedge")).collect::<Vec<_>>()
    };
    assert!(hedges(player.play("3s finish w9 scored 3s")).is_empty());
    let hedged = hedges(player.play("3s finish w8 scored 3s"));
    assert_eq!(hedged, ["hedge w8 L12 A.0 stage 0 try 1", "hedge w9 L13 A.1 stage 0 try 1"]);
}

/// A lost worker of two is no try, and a failure that may pass is left to the other.
#[test]
fn what_one_of_two_workers_loses_is_left_to_the_other() {
    check(
        "
        config hedge_after=1s lost_retries=1
        0ms join w1 cpu
        0ms announce A stages=cpu:100s size=2
        0ms submit A 0 1
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        0ms lose w1
        0ms join w2 cpu
          -> grant w2 L2 A.0 stage 0 try 2
        0ms join w3 cpu
          -> grant w3 L3 A.1 stage 0 try 1
        0ms join w4 cpu
        0ms join w5 cpu
        1s tick
          -> hedge w4 L4 A.0 stage 0 try 2
          -> hedge w5 L5 A.1 stage 0 try 1
        2s lose w2
        3s lose w4
          -> finish A.0 worker_lost tries 2 t=0ms
        4s answer w3 L3 unavailable 3s
        5s answer w5 L5 scored 4s
          -> finish A.1 scored t=4000ms [0: queued 1000ms ran 4000ms tries 1]
          -> batch A done T=4000ms ended=5000ms
        ",
    );
}

/// It has two workers at once, one try after the other, and ends as it does where only one is idle.
#[test]
fn a_request_that_ends_its_workers_does_not_go_on_for_ever() {
    check(
        "
        config hedge_after=1s lost_retries=1
        0ms join w1 cpu
        0ms announce A stages=cpu:100s size=1
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
        0ms join w3 cpu
        0ms join w4 cpu
        0ms join w5 cpu
        1s lose w1
          -> grant w2 L2 A.0 stage 0 try 2
        2s tick
          -> hedge w3 L3 A.0 stage 0 try 2
        3s lose w2
        4s tick
        5s lose w3
          -> finish A.0 worker_lost tries 2 t=0ms
          -> batch A done T=0ms ended=5000ms
        ",
    );
}

/// Eight workers, and requests that take 80 to 120 ms, on a worker as many times as long as `factor` says. Returns the
/// workers that are stopped as slow.
fn stopped(factor: impl Fn(u64) -> u64) -> Vec<u64> {
    let mut player = Player::default();
    let mut alive: Vec<u64> = (1..=8).collect();
    let mut stopped = Vec::new();
    player.play("0ms plan cpu hold=8 ceiling=8");
    for worker in &alive {
        player.play(&format!("0ms join w{worker} cpu"));
    }
    player.play("0ms announce A stages=cpu:100s");
    let mut submitted = 0;
    for round in 0..40 {
        let numbers: Vec<String> = alive.iter().map(|nth| (submitted + nth).to_string()).collect();
        player.play(&format!("{}s submit A {}", 10 * round, numbers.join(" ")));
        submitted += 8;
        for worker in alive.clone() {
            let ran = factor(worker) * (80 + (round * 7 + worker * 13) % 41);
            let line = format!("{}s finish w{worker} scored {ran}ms", 10 * round + 5);
            if player.play(&line).contains(&format!("stop slow w{worker}")) {
                alive.retain(|other| *other != worker);
                stopped.push(worker);
            }
        }
    }
    stopped
}

#[test]
fn a_worker_that_takes_three_times_as_long_is_stopped() {
    assert_eq!(stopped(|worker| if worker == 3 { 3 } else { 1 }), [3]);
    assert!(stopped(|_| 1).is_empty());
    // Where most of them are slow, it is not the workers.
    assert!(stopped(|worker| if worker > 2 { 3 } else { 1 }).is_empty());
}

/// Eight workers, of which some answer each request at once that a capability is not to be had. Returns the workers
/// that are stopped as slow.
fn stopped_as_failing(fails: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut player = Player::default();
    let mut alive: Vec<u64> = (1..=8).collect();
    let mut stopped = Vec::new();
    player.play("0ms plan cpu hold=8 ceiling=8");
    for worker in &alive {
        player.play(&format!("0ms join w{worker} cpu"));
    }
    player.play("0ms announce A stages=cpu:100s");
    for round in 0..30 {
        let numbers: Vec<String> = alive.iter().map(|nth| (8 * round + nth).to_string()).collect();
        player.play(&format!("{}s submit A {}", 10 * round, numbers.join(" ")));
        for worker in alive.clone() {
            let end = if fails(worker) { "unavailable 1ms" } else { "scored 100ms" };
            let line = format!("{}s finish w{worker} {end}", 10 * round + 5);
            if player.play(&line).contains(&format!("stop slow w{worker}")) {
                alive.retain(|other| *other != worker);
                stopped.push(worker);
            }
        }
    }
    stopped
}

#[test]
fn a_worker_that_fails_what_others_run_is_stopped() {
    assert_eq!(stopped_as_failing(|worker| worker == 3), [3]);
    // A request that nobody can run is no worker's fault.
    assert!(stopped_as_failing(|_| true).is_empty());
    // No more than a quarter is replaced at once.
    assert_eq!(stopped_as_failing(|worker| worker > 2), [3, 4]);
}

/// A failure takes little time, and the next try must not meet the same worker while others are idle.
#[test]
fn a_worker_that_failed_comes_after_the_others() {
    let mut player = Player::default();
    player.play("0ms announce A stages=cpu:100s:2");
    player.play("0ms join w1 cpu");
    for nth in 0..20 {
        player.play(&format!("{nth}s submit A {nth}"));
        player.play(&format!("{nth}s finish w1 scored 100ms"));
    }
    player.play("20s join w2 cpu");
    player.play("20s submit A 20 21");
    player.play("20s join w3 cpu");
    let granted = player.play("21s finish w2 unavailable 1ms");
    assert_eq!(granted, ["grant w3 L23 A.21 stage 0 try 2"]);
}

#[derive(Debug, Clone)]
enum Turn {
    Join,
    Lose(usize),
    Answer(usize, &'static str),
    Pass(u64),
}

fn turn() -> impl Strategy<Value = Turn> {
    let ends = prop::sample::select(vec!["next", "scored", "timed_out", "unavailable"]);
    prop_oneof![
        2 => Just(Turn::Join),
        1 => (0..64_usize).prop_map(Turn::Lose),
        6 => (0..64_usize, ends).prop_map(|(which, end)| Turn::Answer(which, end)),
        4 => (0..3_000_u64).prop_map(Turn::Pass),
    ]
}

proptest! {
    /// Whatever is lost and answered in whatever order, each request ends once, and no worker has two leases.
    #[test]
    fn every_request_ends_once(turns in prop::collection::vec(turn(), 1..120)) {
        let mut life = Life::default();
        life.play("config hedge_after=1s lost_retries=9");
        life.play("0ms announce A stages=cpu:100s,cpu:100s:9 size=6");
        life.play("0ms submit A 0 1 2 3 4 5");
        for turn in turns {
            life.take(&turn);
        }
        // All that runs is answered in the end.
        for _ in 0..40 {
            life.take(&Turn::Join);
            life.take(&Turn::Pass(1_500));
            for _ in 0..life.leases.len() {
                life.take(&Turn::Answer(0, "scored"));
                life.take(&Turn::Answer(0, "timed_out"));
            }
        }
        prop_assert_eq!(life.finished.len(), 6);
        prop_assert!(life.done);
    }
}

/// A scheduler with its workers and what they hold.
#[derive(Default)]
struct Life {
    player: Player,
    now: u64,
    workers: u64,
    alive: Vec<u64>,
    /// Workers with their leases.
    leases: Vec<(u64, String)>,
    finished: BTreeSet<String>,
    done: bool,
}

impl Life {
    fn take(&mut self, turn: &Turn) {
        match turn {
            Turn::Join if self.alive.len() < 8 => {
                self.workers += 1;
                self.alive.push(self.workers);
                self.play(&format!("{}ms join w{} cpu", self.now, self.workers));
            }
            Turn::Lose(which) if !self.alive.is_empty() => {
                let worker = self.alive.remove(which % self.alive.len());
                self.leases.retain(|(holder, _)| *holder != worker);
                self.play(&format!("{}ms lose w{worker}", self.now));
            }
            Turn::Answer(which, end) if !self.leases.is_empty() => {
                let (worker, lease) = self.leases.remove(which % self.leases.len());
                self.play(&format!("{}ms answer w{worker} {lease} {end} 1ms", self.now));
            }
            Turn::Pass(ms) => {
                self.now += ms;
                self.play(&format!("{}ms tick", self.now));
            }
            _ => {}
        }
    }

    fn play(&mut self, line: &str) {
        for action in self.player.play(line) {
            let words: Vec<&str> = action.split(' ').collect();
            match words[..] {
                ["grant" | "hedge", worker, lease, ..] => {
                    let worker = worker[1..].parse().expect("a number");
                    let busy = self.leases.iter().any(|(holder, _)| *holder == worker);
                    assert!(!busy, "w{worker} has a lease already: {action}");
                    self.leases.push((worker, lease.to_owned()));
                }
                ["finish", request, ..] => {
                    assert!(self.finished.insert(request.to_owned()), "{request} ended twice");
                }
                ["batch", ..] => self.done = true,
                _ => {}
            }
        }
        if !line.starts_with("config") {
            // It counts what waits and what runs.
            let view = self.player.sched().view();
            let unfinished = 6 - self.finished.len();
            let counted = view.batches.iter().map(|batch| batch.requests()).sum::<usize>();
            assert!(counted <= unfinished, "{counted} of {unfinished}");
        }
    }
}

//! Batches whose stages run in one pool: when their requests are answered.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::script::Player;

const WORKERS: usize = 4;
const REQUESTS: usize = 256;
/// The two stages of each request, in ms: a program, then what judges its output.
const STAGES_MS: [u64; 2] = [75, 5];

/// The times in ms at which the requests end, in order.
fn answers(options: &str) -> Vec<u64> {
    let mut player = Player::default();
    player.play("config leases_after=0");
    player.play("0ms announce A stages=cpu:1s,cpu:1s");
    let mut running: BinaryHeap<Reverse<(u64, String)>> = BinaryHeap::new();
    let mut stages: BTreeMap<String, usize> = BTreeMap::new();
    let mut ended = Vec::new();
    let mut lines: Vec<String> =
        (1..=WORKERS).map(|worker| format!("0ms join w{worker} cpu")).collect();
    let numbers: Vec<String> = (0..REQUESTS).map(|number| number.to_string()).collect();
    lines.push(format!("0ms submit A {}{options}", numbers.join(" ")));
    let mut now = 0;
    loop {
        for line in lines.drain(..) {
            for action in player.play(&line) {
                let words: Vec<&str> = action.split_whitespace().collect();
                if words[0] == "grant" {
                    let stage: usize = words[5].parse().expect("a stage");
                    stages.insert(words[1].to_owned(), stage);
                    running.push(Reverse((now + STAGES_MS[stage], words[1].to_owned())));
                } else if words[0] == "finish" {
                    ended.push(now);
                }
            }
        }
        let Some(Reverse((at, worker))) = running.pop() else { return ended };
        let stage = stages[&worker];
        let end = if stage == 0 { "next" } else { "scored" };
        lines.push(format!("{at}ms finish {worker} {end} {}ms", STAGES_MS[stage]));
        now = at;
    }
}

/// The batch ends when it would if the stages of all requests ran one after the other, and half of the requests are
/// answered in half of that time: 256 callers who wait for one reward each are not all served last.
#[test]
fn half_of_a_batch_is_answered_in_half_its_time() {
    let work: u64 = STAGES_MS.iter().sum::<u64>() * (REQUESTS / WORKERS) as u64;
    for deadlines in ["", " deadline=60s"] {
        let ended = answers(deadlines);
        assert_eq!((ended.len(), ended.last()), (REQUESTS, Some(&work)));
        let median = ended[REQUESTS / 2];
        assert!(median <= work * 11 / 20, "{median} ms of {work} ms");
    }
}

//! Batches whose stages run in one pool: when their requests are answered, and when the batch ends.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use proptest::collection::vec;
use proptest::prelude::*;

use super::script::Player;

const WORKERS: usize = 4;

/// The times in ms of a request's stages: a program, then what judges its output.
type StageTimes = [u64; 2];

/// The times in ms at which the requests of a batch end, in order; all of them come at 0 ms.
fn answers(requests: &[StageTimes], options: &str) -> Vec<u64> {
    let mut player = Player::default();
    player.play("config leases_after=0");
    player.play("0ms announce A stages=cpu:1s,cpu:1s");
    let mut running: BinaryHeap<Reverse<(u64, String)>> = BinaryHeap::new();
    let mut times: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    let mut ended = Vec::new();
    let mut lines: Vec<String> =
        (1..=WORKERS).map(|worker| format!("0ms join w{worker} cpu")).collect();
    let numbers: Vec<String> = (0..requests.len()).map(|number| number.to_string()).collect();
    lines.push(format!("0ms submit A {}{options}", numbers.join(" ")));
    let mut now = 0;
    loop {
        for line in lines.drain(..) {
            for action in player.play(&line) {
                let words: Vec<&str> = action.split_whitespace().collect();
                if words[0] == "grant" {
                    let worker = words[1].to_owned();
                    let request: usize = words[3][2..].parse().expect("a request of A");
                    let stage: usize = words[5].parse().expect("a stage");
                    let took = requests[request][stage];
                    times.insert(worker.clone(), (stage, took));
                    running.push(Reverse((now + took, worker)));
                } else if words[0] == "finish" {
                    ended.push(now);
                }
            }
        }
        let Some(Reverse((at, worker))) = running.pop() else { return ended };
        let (stage, took) = times[&worker];
        let end = if stage == 0 { "next" } else { "scored" };
        lines.push(format!("{at}ms finish {worker} {end} {took}ms"));
        now = at;
    }
}

/// The batch ends when it would if the stages of all requests ran one after the other, and half of the requests are
/// answered in half of that time: 256 callers who wait for one reward each are not all served last.
#[test]
fn half_of_a_batch_is_answered_in_half_its_time() {
    let requests = [[75, 5]; 256];
    let work = 80 * (requests.len() / WORKERS) as u64;
    for deadlines in ["", " deadline=60s"] {
        let ended = answers(&requests, deadlines);
        assert_eq!((ended.len(), ended.last()), (requests.len(), Some(&work)));
        let median = ended[requests.len() / 2];
        assert!(median <= work * 11 / 20, "{median} ms of {work} ms");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Serving later stages first costs the batch's end nothing: no order can end the work sooner than all workers
    /// together can do it, and this order needs one request's time more at most.
    #[test]
    fn a_batch_ends_one_request_after_its_work_could_be_done(
        requests in vec([1u64..400, 1u64..100], 1..60),
        deadlines in any::<bool>(),
    ) {
        let times = requests.iter().map(|stages| stages.iter().sum::<u64>());
        let (work, longest) = (times.clone().sum::<u64>(), times.max().expect("a request"));
        let ended = answers(&requests, if deadlines { " deadline=60s" } else { "" });
        prop_assert_eq!(ended.len(), requests.len());
        let end = *ended.last().expect("all have ended");
        prop_assert!(end <= work / WORKERS as u64 + longest, "{} ms for {} ms of work", end, work);
    }
}

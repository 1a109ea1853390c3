//! Against an independent simulator: its vectors, and its figures on its traces.

use std::fs;
use std::io::{BufReader, Cursor, Read};
use std::path::PathBuf;

use assay_core::time::Micros;
use assay_sched::Discipline;
use assay_sim::policy::{ByPool, Hint, Settings};
use assay_sim::report::Report;
use assay_sim::trace::{Trace, read};
use assay_sim::vectors::replay;
use flate2::read::GzDecoder;

use crate::made::run;

/// A file of the folder `shared` beside the checkout.
fn shared(name: &str) -> BufReader<impl Read> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let path = folder.join(name);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(GzDecoder::new(Cursor::new(bytes)))
}

fn small() -> Trace {
    read(shared("small_2x3x64_colocated.jsonl.gz")).expect("a trace")
}

#[test]
fn simulate_and_algorithm_1_agree_on_every_vector() {
    let replay = replay(shared("simulate_vectors.jsonl.gz")).expect("vectors");
    assert_eq!((replay.vectors, replay.rows), (36, 36 * 5));
    assert_eq!(replay.differences, [""; 0]);
}

#[test]
fn the_small_trace_runs_under_every_policy_and_order() {
    let trace = small();
    for discipline in Discipline::ALL {
        for hint in [Hint::RolloutStart, Hint::FirstRequest] {
            let settings = Settings { discipline, hint, ..Settings::default() };
            for policy in ["zq", "distrs", "history", "assay", "ideal", "limit"] {
                let run = run(&trace, policy, &settings);
                assert!(run.batches.iter().all(|batch| batch.failed == 0));
            }
        }
    }
}

#[test]
fn dedicated_pools_delay_the_small_trace_little_and_cost_most() {
    let startup = ByPool::all(Micros::ZERO);
    let settings = Settings { startup, hint: Hint::FirstRequest, ..Settings::default() };
    let policies = ["zq", "distrs", "assay", "ideal"];
    let runs: Vec<_> = policies.iter().map(|policy| run(&small(), policy, &settings)).collect();
    let report = Report::of(&runs);
    assert!(report.policies[0].extra_delay_s.mean < 0.5, "{:?}", report.policies[0]);
    for other in &report.policies[1..] {
        for (stage, pool) in &other.pools {
            assert!(pool.ratio_to_zq > Some(1.0), "{} {stage}: {pool:?}", other.policy);
        }
    }
}

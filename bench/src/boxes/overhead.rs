//! The cost of a box for a program that does nothing, one run at a time.

use std::time::Instant;

use anyhow::{Context, Result};
use assay_bench::goal::{Goal, Unit};
use assay_bench::stats::{Latency, median};

use crate::contender::{Contender, Kind, Workshop};
use assay_bench::sections::{ASSAY, Measure, Section};

/// The runs of one contender in one round.
const RUNS: usize = 200;
const OVERHEAD_MS_MAX: f64 = 1.2;

const ABOUT: &str = "\
A static C program that does nothing, started with its output captured and its end awaited. Plain is \
std::process: fork and exec, no limits. Assay's box limits CPU time, wall time, memory, processes, \
output, disk and open files, has a read-only world, no network, no rights, Landlock and a list of \
allowed system calls; it is made while the run before it ends, so part of its cost lies on another \
core: the rate below has all of it. bubblewrap gives namespaces, one for the network included, and a \
read-only world; here it has no limits on CPU time, memory or processes (no cgroup), no list of system \
calls, no Landlock. hakoniwa gives mount, user and PID namespaces and a read-only world; here it has \
the host's network and, like bubblewrap, none of these limits and lists.";

pub(crate) fn measure(workshop: &mut Workshop, kinds: &[Kind], rounds: usize) -> Result<Section> {
    let contenders = kinds.iter().map(|kind| anyhow::Ok((*kind, workshop.contender(*kind)?)));
    let mut contenders: Vec<_> = contenders.collect::<Result<_>>()?;
    let mut taken: Vec<Vec<Latency>> = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for ((_, contender), taken) in contenders.iter_mut().zip(&mut taken) {
            taken.push(round(contender)?);
        }
    }
    let taken: Vec<_> = kinds.iter().map(|kind| kind.name()).zip(taken).collect();
    Ok(Section {
        title: "A run of a program that does nothing".into(),
        about: ABOUT,
        measures: measures(&taken),
        notes: Vec::new(),
    })
}

fn round(contender: &mut Contender) -> Result<Latency> {
    let started = Instant::now();
    let each = (0..RUNS).map(|_| {
        let begun = Instant::now();
        contender.run()?;
        Ok(begun.elapsed())
    });
    let each: Vec<_> = each.collect::<Result<_>>()?;
    Latency::of(&each, started.elapsed()).context("there are runs")
}

/// The first one is what the others are over, round by round: what slows down one round slows down
/// all its contenders.
fn measures(taken: &[(&'static str, Vec<Latency>)]) -> Vec<Measure> {
    let mut p50 = Measure::new("median", Unit::Milliseconds);
    let mut p99 = Measure::new("99th percentile", Unit::Milliseconds);
    let mut over = Measure::new("median over plain", Unit::Milliseconds);
    for (name, rounds) in taken {
        let middle = Latency::median(rounds);
        p50 = p50.value(name, middle.map(|middle| middle.p50_ms));
        p99 = p99.value(name, middle.map(|middle| middle.p99_ms));
    }
    if let Some(((_, plain), others)) = taken.split_first() {
        for (name, rounds) in others {
            let pairs = rounds.iter().zip(plain);
            let differences: Vec<_> =
                pairs.map(|(round, plain)| round.p50_ms - plain.p50_ms).collect();
            over = over.value(name, median(&differences));
        }
    }
    if taken.iter().any(|(name, _)| *name == ASSAY) {
        over = over.goal(Goal::AtMost(OVERHEAD_MS_MAX));
    }
    vec![p50, p99, over]
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_bench::sections::PLAIN;

    #[test]
    fn the_overhead_is_taken_round_by_round() {
        let round = |p50_ms| Latency { p50_ms, p99_ms: 2.0 * p50_ms, per_second: 1.0 };
        // The machine got slower from round to round.
        let plain = [1.0, 2.0, 9.0].map(round).to_vec();
        let boxed = [2.0, 3.5, 11.0].map(round).to_vec();
        let measures = measures(&[(PLAIN, plain), (ASSAY, boxed)]);
        let json = serde_json::to_value(&measures).expect("plain");
        assert_eq!(json[0]["values"]["Assay"], 3.5);
        assert_eq!(json[1]["values"]["plain"], 4.0);
        assert_eq!(json[2]["values"], serde_json::json!({ "Assay": 1.5 }));
        assert_eq!(json[2]["goal"]["at_most"], 1.2);
    }
}

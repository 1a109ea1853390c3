//! No false time limits: thousands of runs that need 60 % of their CPU limit, on a machine that is
//! busy three times over.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use assay_bench::goal::{Goal, Unit};
use assay_bench::stats::median;
use assay_core::id::TenantId;
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::ProgramEnding;
use assay_exec::{Blob, CaseResult, ExecError, ProgramArtifact, StopAt, TestBatch, TestCase};

use crate::burner::Burners;
use crate::judge::{Judge, Submission};
use crate::say;
use assay_bench::sections::{ASSAY, Measure, Section};

const TOOLCHAIN: &str = "c11-gcc";
/// Burns as many rounds as its argument says.
const SOURCE: &str = "
#include <stdlib.h>
int main(int argc, char **argv) {
    unsigned long left = strtoul(argv[argc - 1], NULL, 10), state = 1;
    while (left--) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        __asm__ volatile(\"\" : \"+r\"(state));
    }
    return 0;
}
";
/// The wall limit follows from it: three times as long and two seconds.
const CPU_MS_MAX: u32 = 25;
/// The share of the limit that the program needs on a machine that is not busy.
const SHARE: f64 = 0.6;
/// Enough that starting the program does not count beside it.
const PROBE_ROUNDS: u64 = 20_000_000;
const PROBES: usize = 15;
/// Helpers at work at once, each with a thread.
const JUDGES: usize = 2;
/// Child processes that burn CPU time meanwhile, by core.
const BURNERS_A_CORE: usize = 2;

const ABOUT: &str = "\
Two helpers run the program one time after the other while two other processes a core burn all the CPU \
time they get. The program needs 60 % of its limit of 25 ms, as measured before the load; every run \
has to end by itself. Runs beyond 90 % of the limit, or over it while others were running, are run \
again, once.";

/// The endings of all runs.
#[derive(Debug, Default)]
struct Tally {
    exited_zero: u64,
    /// Every other way to end, and every box that could not be had, in words.
    others: BTreeMap<String, u64>,
    twice: u64,
    cpu_us_max: u64,
    /// CPU time over wall time: what a run got of a core.
    got: Vec<f64>,
}

impl Tally {
    fn take(&mut self, result: Result<CaseResult, ExecError>) {
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                *self.others.entry(error.to_string()).or_default() += 1;
                return;
            }
        };
        let ended = &result.outcome.ended;
        match ended.ending {
            ProgramEnding::Exited(0) => self.exited_zero += 1,
            other => *self.others.entry(format!("{other:?}")).or_default() += 1,
        }
        self.twice += u64::from(result.attempts > 1);
        self.cpu_us_max = self.cpu_us_max.max(ended.usage.cpu_us);
        self.got.push(ended.usage.cpu_us as f64 / ended.usage.wall_us.max(1) as f64);
    }

    fn add(mut self, other: Self) -> Self {
        self.exited_zero += other.exited_zero;
        for (ending, count) in other.others {
            *self.others.entry(ending).or_default() += count;
        }
        self.twice += other.twice;
        self.cpu_us_max = self.cpu_us_max.max(other.cpu_us_max);
        self.got.extend(other.got);
        self
    }

    fn other(&self) -> u64 {
        self.others.values().sum()
    }
}

pub(crate) fn measure(helper_program: &Path, folder: &Path, runs: usize) -> Result<Section> {
    let tenant = TenantId::generate();
    let judge = || Judge::new(helper_program, &folder.join("cache"), tenant);
    let mut judges: Vec<_> = (0..JUDGES).map(|_| judge()).collect::<Result<_>>()?;
    let submission = Submission { toolchain: TOOLCHAIN, file: "main.c", text: SOURCE };
    let first = &mut judges[0];
    let program = first.compile(&submission)?.artifact;
    let rounds = calibrate(first, &program)?;
    let unloaded_us = probe(first, &program, rounds)?;
    let batch = batch(rounds);
    let burners = Burners::start(BURNERS_A_CORE)?;
    let started = Instant::now();
    let tally = soak(&mut judges, &program, &batch, runs);
    let seconds = started.elapsed().as_secs_f64();
    let load = burners.stop()? / (seconds * available_parallelism()?.get() as f64);
    let share = |us: f64| Some(100.0 * us / (f64::from(CPU_MS_MAX) * 1e3));
    let count =
        |name: &str, value: u64| Measure::new(name, Unit::Count).value(ASSAY, Some(value as f64));
    let got = median(&tally.got).map(|got| 100.0 * got);
    let of_assay = |name: &str, unit, value| Measure::new(name, unit).value(ASSAY, value);
    let endings = tally.others.iter().map(|(ending, count)| format!("{count} ended so: {ending}"));
    Ok(Section {
        title: "No false time limits under load".into(),
        about: ABOUT,
        measures: vec![
            count("ended by themselves", tally.exited_zero).goal(Goal::AtLeast(runs as f64)),
            count("ended otherwise, or not run", tally.other()).goal(Goal::AtMost(0.0)),
            count("run twice", tally.twice),
            of_assay("CPU time of the limit, no load", Unit::Percent, share(unloaded_us)),
            of_assay(
                "CPU time of the limit, at most",
                Unit::Percent,
                share(tally.cpu_us_max as f64),
            ),
            of_assay("what a run got of a core, median", Unit::Percent, got),
            of_assay("time for all", Unit::Seconds, Some(seconds)),
            of_assay("what the load got of all cores", Unit::Percent, Some(100.0 * load)),
        ],
        notes: endings.collect(),
    })
}

/// Rounds that take the wanted share of the limit here.
fn calibrate(judge: &mut Judge, program: &ProgramArtifact) -> Result<u64> {
    let idle_us = probe(judge, program, 0)?;
    let busy_us = probe(judge, program, PROBE_ROUNDS)?;
    let wanted_us = SHARE * f64::from(CPU_MS_MAX) * 1e3;
    rounds_for(wanted_us, idle_us, busy_us).with_context(|| {
        format!("{PROBE_ROUNDS} rounds took {busy_us} us of CPU time, none took {idle_us} us")
    })
}

/// A straight line through the probe without rounds and the one with [`PROBE_ROUNDS`].
fn rounds_for(wanted_us: f64, idle_us: f64, busy_us: f64) -> Option<u64> {
    let possible = busy_us > idle_us && wanted_us > idle_us;
    let share = (wanted_us - idle_us) / (busy_us - idle_us);
    possible.then_some((share * PROBE_ROUNDS as f64) as u64)
}

/// The CPU time of that many rounds: the median of several runs, in microseconds.
fn probe(judge: &mut Judge, program: &ProgramArtifact, rounds: u64) -> Result<f64> {
    let batch = TestBatch { limits: None, ..batch(rounds) };
    let taken = (0..PROBES).map(|_| {
        let ended = one(judge, program, &batch)?.outcome.ended;
        ensure!(ended.ending == ProgramEnding::Exited(0), "a probe ended as {:?}", ended.ending);
        Ok(ended.usage.cpu_us as f64)
    });
    median(&taken.collect::<Result<Vec<_>>>()?).context("there are probes")
}

fn batch(rounds: u64) -> TestBatch {
    let case = TestCase {
        stdin: Blob::Inline(Vec::new()),
        args: vec![rounds.to_string()],
        env: Vec::new(),
        files: Vec::new(),
        collect: Vec::new(),
        limits: None,
        expect: None,
    };
    TestBatch {
        cases: vec![case],
        limits: Some(BoxLimits { cpu_ms: CPU_MS_MAX, wall_ms: 0, ..BoxLimits::RUN }),
        stop: StopAt::Never,
        return_stdout: false,
        rerun_near_limit: true,
    }
}

fn one(
    judge: &mut Judge,
    program: &ProgramArtifact,
    batch: &TestBatch,
) -> Result<CaseResult, ExecError> {
    Ok(judge.run(program, batch)?.pop().expect("a batch of one case has one result"))
}

fn soak(judges: &mut [Judge], program: &ProgramArtifact, batch: &TestBatch, runs: usize) -> Tally {
    let next = AtomicUsize::new(0);
    let next = &next;
    let work = |judge: &mut Judge| {
        let mut tally = Tally::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= runs {
                return tally;
            }
            if number > 0 && number.is_multiple_of(1_000) {
                say(&format!("{number} of {runs} runs"));
            }
            tally.take(one(judge, program, batch));
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            judges.iter_mut().map(|judge| scope.spawn(move || work(judge))).collect();
        let tallies = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        tallies.fold(Tally::default(), Tally::add)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::id::Digest;
    use assay_exec::outcome::{Captured, LimitKind, Usage};
    use assay_exec::{JobEnd, Matched, RunOutcome};

    #[test]
    fn rounds_are_in_proportion() {
        assert_eq!(rounds_for(15_000.0, 1_000.0, 29_000.0), Some(PROBE_ROUNDS / 2));
        assert_eq!(rounds_for(15_000.0, 1_000.0, 8_000.0), Some(2 * PROBE_ROUNDS));
        assert_eq!(rounds_for(15_000.0, 16_000.0, 29_000.0), None);
        assert_eq!(rounds_for(15_000.0, 1_000.0, 1_000.0), None);
    }

    fn result(ending: ProgramEnding, cpu_us: u64, attempts: u8) -> CaseResult {
        let usage = Usage { cpu_us, wall_us: 4 * cpu_us, ..Usage::default() };
        let none = Captured::default;
        let ended = JobEnd { ending, usage, stdout: none(), stderr: none(), files: vec![] };
        let outcome = RunOutcome { ended, stdout_sha256: Digest([0; 32]), weakened: vec![] };
        CaseResult { index: 0, matched: Matched::NotCompared, outcome, attempts }
    }

    #[test]
    fn every_run_counts_once() {
        let (mut one, mut other) = (Tally::default(), Tally::default());
        one.take(Ok(result(ProgramEnding::Exited(0), 15_000, 1)));
        one.take(Ok(result(ProgramEnding::Exited(0), 24_000, 2)));
        other.take(Ok(result(ProgramEnding::Limited(LimitKind::Cpu), 25_100, 2)));
        other.take(Err(ExecError::Unavailable("too busy".into())));
        other.take(Err(ExecError::Unavailable("too busy".into())));
        let sum = one.add(other);
        assert_eq!((sum.exited_zero, sum.other(), sum.twice), (2, 3, 2));
        assert_eq!(sum.cpu_us_max, 25_100);
        assert_eq!(sum.others["programs cannot be run: too busy"], 2);
        assert_eq!(median(&sum.got), Some(0.25));
    }
}

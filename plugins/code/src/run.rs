//! The stage `run`: opens the program, reads the tests, runs them, stops where it should.

use assay_plugin::{Error, Scored, exec};

use crate::compare::Comparison;
use crate::compile::{CompileFailure, toolchain};
use crate::extract::Languages;
use crate::judge::{ProgramUnderTest, TestResult, judge_function, own_us};
use crate::label::{Judging, StdioTask, Task, TestSource};
use crate::limits::{JUDGING_SECONDS_MAX, SPENT_SECONDS_MAX, STALLED_TESTS_MAX, check_tests};
use crate::machine::{Compiled, Machine, Objects};
use crate::package;
use crate::problem::{Data, Group, Judge, Problem, Test};
use crate::program::Program;
use crate::report::{Tally, without_tests};
use crate::settings::{Scoring, Settings};
use crate::verdict::{Failure, Verdict};

pub(crate) fn run<M: Machine, O: Objects>(
    machine: &M,
    objects: &O,
    settings: &Settings,
    task: &Task,
    program: &Program,
) -> Result<Scored, Error> {
    let toolchain = toolchain(machine, &program.toolchain)?;
    let problem = match task {
        Task::Function(function) => {
            let limits = task.limits().or(settings.limits);
            let limits = limits.over(&toolchain.run_defaults, settings.time_multiplier);
            let tally = judge_function(machine, settings, function, program, (&toolchain, limits))?;
            return Ok(tally.into_scored(settings, program));
        }
        Task::Stdio(stdio) => problem_of(objects, stdio, settings)?,
        Task::Package(package) => package::read(objects, package)?,
    };
    let limits = task.limits().or(problem.limits).or(settings.limits);
    let limits = limits.over(&toolchain.run_defaults, settings.time_multiplier);
    let opened = match open(machine, program, &toolchain)? {
        Ok(opened) => opened,
        Err(refused) => {
            let (origin, weakened) = (Some(program.origin.as_str()), &refused.weakened);
            let verdict = Verdict::CompileFailed;
            return Ok(without_tests(settings, verdict, &refused.reason, origin, weakened));
        }
    };
    let toolchains = machine.toolchains();
    let languages = Languages::new(&toolchains, &settings.toolchains)?;
    let mut bench =
        ProgramUnderTest::new(machine, objects, settings, languages, &problem, (opened, limits));
    let tally = run_all(&problem, settings.scoring, |test| bench.judge(test))?;
    Ok(tally.into_scored(settings, program))
}

/// Opens the program that the stage before compiled. If this worker does not have it, the program is
/// compiled again.
fn open<M: Machine>(
    machine: &M,
    program: &Program,
    toolchain: &exec::Toolchain,
) -> Result<Result<M::Program, CompileFailure>, Error> {
    if let Some(key) = &program.key {
        match machine.open(key) {
            Ok(opened) => return Ok(Ok(opened)),
            Err(exec::Error::UnknownArtifact(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(match machine.compile(&program.source(toolchain), None)? {
        Compiled::Program { program, .. } => Ok(program),
        Compiled::Rejected { outcome, log } => Err(CompileFailure::new(outcome, &log)),
    })
}

/// Runs group by group; a failure ends its group, and everything where all must pass.
fn run_all(
    problem: &Problem,
    scoring: Scoring,
    mut judge: impl FnMut(&Test) -> Result<TestResult, Error>,
) -> Result<Tally, Error> {
    let mut tally = Tally::new(problem.tests());
    tally.points = problem.groups.iter().map(|group| group.points).sum();
    let mut patience = Patience::default();
    for group in &problem.groups {
        let mut passed = true;
        for test in &group.tests {
            let failure = match patience.over()? {
                Some(failure) => Some(failure),
                None => {
                    let judged = judge(test)?;
                    patience.count(&judged);
                    tally.slowest_cpu_us = tally.slowest_cpu_us.max(judged.usage.cpu_us);
                    tally.weakened.extend(judged.weakened);
                    judged.failure
                }
            };
            if let Some(failure) = failure {
                tally.fail(&test.name, failure);
                passed = false;
                break;
            }
            tally.passed += 1;
        }
        if passed {
            tally.earned += group.points;
        } else if scoring == Scoring::All {
            break;
        }
    }
    Ok(tally)
}

/// Keeps a slow program, and a slow judge, from using up the time of the whole stage.
#[derive(Default)]
struct Patience {
    /// The time of the program, and of its judge over outputs that are wrong: they may be why it is slow.
    spent_us: u64,
    /// The time of its judge over right outputs.
    judging_us: u64,
    stalled: usize,
}

impl Patience {
    fn count(&mut self, judged: &TestResult) {
        self.spent_us += own_us(&judged.usage);
        match &judged.failure {
            Some(failure) => {
                self.spent_us += judged.judge_us;
                self.stalled += usize::from(failure.verdict == Verdict::TimeLimit);
            }
            None => self.judging_us += judged.judge_us,
        }
    }

    /// Why the tests that are left are not run, if they are not; an error where the problem is at fault.
    fn over(&self) -> Result<Option<Failure>, Error> {
        if self.spent_us > SPENT_SECONDS_MAX * 1_000_000 {
            let detail = format!("the tests before it took more than {SPENT_SECONDS_MAX} s");
            return Ok(Some(Failure::new(Verdict::TimeLimit, detail)));
        }
        if self.stalled >= STALLED_TESTS_MAX {
            let detail = format!("not run: {STALLED_TESTS_MAX} tests before it were too slow");
            return Ok(Some(Failure::new(Verdict::TimeLimit, detail)));
        }
        if self.judging_us > JUDGING_SECONDS_MAX * 1_000_000 {
            return Err(Error::bad_request(format!(
                "the judge's program is too slow: it took more than {JUDGING_SECONDS_MAX} s to accept outputs"
            )));
        }
        Ok(None)
    }
}

/// A label's own tests as a problem.
fn problem_of(
    objects: &impl Objects,
    task: &StdioTask,
    settings: &Settings,
) -> Result<Problem, Error> {
    let judge = match &task.judging {
        Judging::Compare(compare) => {
            Judge::Compare(Comparison::Host(compare.unwrap_or(settings.compare)))
        }
        Judging::Checker(checker) => Judge::Checker(checker.clone()),
        Judging::Interactor(interactor) => Judge::Interactor(interactor.clone()),
    };
    let tests: Vec<(String, Data, Data)> = match &task.tests {
        TestSource::List(tests) => tests
            .iter()
            .enumerate()
            .map(|(at, test)| {
                let answer = test.output.clone().unwrap_or_default();
                let input = test.input.clone().into_bytes();
                ((at + 1).to_string(), input.into(), answer.into_bytes().into())
            })
            .collect(),
        TestSource::Folder(folder) => in_folder(objects, folder)?,
    };
    let group = |(name, input, answer): (String, Data, Data)| Group {
        points: 1.0,
        tests: vec![Test { name, input, answer, judge: 0, args: Vec::new() }],
    };
    let groups = tests.into_iter().map(group).collect();
    Ok(Problem { groups, judges: vec![judge], limits: Default::default() })
}

fn in_folder(objects: &impl Objects, folder: &str) -> Result<Vec<(String, Data, Data)>, Error> {
    let names = objects.names(folder)?;
    let fault = |problem: String| Error::bad_request(format!("folder {folder}: {problem}"));
    let pairs = package::pairs(names.iter().map(String::as_str)).map_err(fault)?;
    check_tests(pairs.len()).map_err(fault)?;
    let object = |name: &str| Data::Object(name.to_owned());
    let name = |stem: &str| {
        let inside = stem.strip_prefix(folder).unwrap_or(stem);
        inside.trim_start_matches('/').to_owned()
    };
    Ok(pairs
        .into_iter()
        .map(|(stem, input, answer)| (name(stem), object(input), object(answer)))
        .collect())
}

#[cfg(test)]
mod tests;

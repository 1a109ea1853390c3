//! Tests of whole programs: standard input in, standard output out, judged by a comparison, a checker
//! or an interactor.

use assay_plugin::{Error, exec};

use super::dialogue::{self, SIGPIPE};
use super::programs::{Programs, message_of, word_of};
use super::{TestResult, own_us};
use crate::compare::Comparison;
use crate::extract::Languages;
use crate::limits::talking_limits;
use crate::machine::{Machine, Objects};
use crate::problem::{Data, Judge, JudgeProgram, Problem, Test};
use crate::settings::Settings;
use crate::verdict::{Failure, Part, Verdict, abnormal, excerpt};

/// Whether a checker ended as one does that an output broke, such as a length of minus one. It is the output's fault if the
/// checker accepts the expected one: a program that could end it so would choose to have no verdict.
fn is_broken(ended: exec::Ending) -> bool {
    use exec::LimitKind::{Cpu, Memory, Output};
    match ended {
        exec::Ending::Signaled(signal) => signal != SIGPIPE,
        exec::Ending::Limited(limit) => matches!(limit, Cpu | Memory | Output),
        exec::Ending::Exited(_) => false,
    }
}

/// A program and all it needs to be tested.
pub(crate) struct ProgramUnderTest<'a, M: Machine, O> {
    machine: &'a M,
    objects: &'a O,
    settings: &'a Settings,
    problem: &'a Problem,
    program: M::Program,
    limits: exec::Limits,
    programs: Programs<'a, M, O>,
}

impl<'a, M: Machine, O: Objects> ProgramUnderTest<'a, M, O> {
    pub(crate) fn new(
        machine: &'a M,
        objects: &'a O,
        settings: &'a Settings,
        languages: Languages<'a>,
        problem: &'a Problem,
        (program, limits): (M::Program, exec::Limits),
    ) -> Self {
        let programs = Programs::new(machine, objects, languages, limits);
        Self { machine, objects, settings, problem, program, limits, programs }
    }

    pub(crate) fn judge(&mut self, test: &Test) -> Result<TestResult, Error> {
        let problem = self.problem;
        match &problem.judges[test.judge] {
            Judge::Compare(comparison) => self.compare(test, comparison),
            Judge::Checker(checker) => self.check(test, checker),
            Judge::Interactor(interactor) => {
                let ready = self.programs.get(test.judge, interactor)?;
                let judging = ready.judging(interactor, test, self.objects)?;
                let limits = Some(talking_limits(&self.limits, &ready.limits));
                let dialogue =
                    self.machine.interact(&self.program, &ready.program, &judging, limits)?;
                let exec::Usage { cpu_us, wait_us, .. } = dialogue.interactor.usage;
                let mut result = dialogue::judge(dialogue, interactor)?;
                // The program waits while the interactor computes, or waits for a processor.
                let wall_us = result.usage.wall_us.saturating_sub(cpu_us + wait_us);
                result.usage.wall_us = wall_us;
                result.judge_us = cpu_us;
                Ok(result)
            }
        }
    }

    fn compare(&self, test: &Test, comparison: &Comparison) -> Result<TestResult, Error> {
        let (compare, is_final) = comparison.on_host();
        let expect = exec::Expectation { stdout: test.answer.to_blob(self.objects)?, compare };
        let return_stdout = !is_final || self.settings.show_tests;
        let result = self.run(test, Some(expect), return_stdout)?;
        let failure = match abnormal(&result.outcome) {
            Some(failure) => Some(failure),
            None => match result.matched {
                exec::Matched::Equal => None,
                exec::Matched::NotCompared => {
                    return Err(Error::internal("the host compared nothing"));
                }
                exec::Matched::Different => {
                    let right = !is_final && {
                        let answer = test.answer.read(self.objects)?;
                        comparison.accepts(&result.outcome.stdout.data, &answer)
                    };
                    (!right).then(|| Failure::new(Verdict::WrongAnswer, "another output"))
                }
            },
        };
        let failure = failure.map(|failure| self.showing(failure, test, &result.outcome, ""));
        Ok(TestResult::new(result.outcome, failure))
    }

    fn check(&mut self, test: &Test, checker: &JudgeProgram) -> Result<TestResult, Error> {
        let result = self.run(test, None, true)?;
        if let Some(failure) = abnormal(&result.outcome) {
            let failure = self.showing(failure, test, &result.outcome, "");
            return Ok(TestResult::new(result.outcome, Some(failure)));
        }
        let ready = self.programs.get(test.judge, checker)?;
        let judging = ready.judging(checker, test, self.objects)?;
        let output = exec::Blob::Inline(result.outcome.stdout.data.clone());
        let checked = self.machine.check(&ready.program, &output, &judging)?;
        let mut judge_us = own_us(&checked.usage);
        // A checker in Python ends so where the output is too short for what it reads (`judge.py`).
        let too_short = checked.ended == exec::Ending::Signaled(SIGPIPE);
        let broken = is_broken(checked.ended) && {
            let again = self.machine.check(&ready.program, &judging.answer, &judging)?;
            judge_us += own_us(&again.usage);
            matches!(word_of("checker", checker, &again), Ok(true))
        };
        if !too_short && !broken && word_of("checker", checker, &checked)? {
            return Ok(TestResult { judge_us, ..TestResult::new(result.outcome, None) });
        }
        let says = if broken { "the output breaks the checker" } else { "the checker says no" };
        let failure = Failure::new(Verdict::WrongAnswer, says);
        let failure = self.showing(failure, test, &result.outcome, &message_of(&checked));
        Ok(TestResult { judge_us, ..TestResult::new(result.outcome, Some(failure)) })
    }

    /// One at a time: the next one may not be worth running.
    fn run(
        &self,
        test: &Test,
        expect: Option<exec::Expectation>,
        return_stdout: bool,
    ) -> Result<exec::CaseResult, Error> {
        let case = exec::TestCase {
            stdin: test.input.to_blob(self.objects)?,
            args: Vec::new(),
            env: Vec::new(),
            files: Vec::new(),
            collect: Vec::new(),
            limits: None,
            expect,
        };
        let batch = exec::Batch {
            cases: vec![case],
            limits: Some(self.limits),
            stop: exec::StopAt::Never,
            return_stdout,
            rerun_near_limit: self.settings.rerun,
        };
        let results = self.machine.run(&self.program, &batch)?;
        results.into_iter().next().ok_or_else(|| Error::internal("the host ran no test"))
    }

    fn showing(
        &self,
        failure: Failure,
        test: &Test,
        outcome: &exec::Outcome,
        message: &str,
    ) -> Failure {
        if !self.settings.show_tests {
            return failure;
        }
        let mut shown = String::new();
        let parts = [
            ("input", inline(&test.input)),
            ("expected", inline(&test.answer)),
            ("output", Some(outcome.stdout.data.as_slice())),
            ("judge", Some(message.as_bytes())),
        ];
        for (name, bytes) in parts {
            if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) {
                shown.push_str(&format!("\n{name}: {}", excerpt(bytes, 200, Part::Beginning)));
            }
        }
        failure.showing(shown)
    }
}

/// Objects stay on the host, not worth fetching for an excerpt.
fn inline(data: &Data) -> Option<&[u8]> {
    match data {
        Data::Inline(bytes) => Some(bytes),
        Data::Object(_) => None,
    }
}

//! Programs that judge others: a checker reads an output, an interactor talks with a program.

use std::borrow::Cow;

use super::budget::ReturnBudget;
use super::inputs::{self, JobInputs, check_collect, check_files, check_words};
use super::probe::InstalledToolchain;
use super::rerun;
use super::{Dialogue, Exec, ExecError, JobContext, JudgeInput, RunOutcome};
use crate::artifact::ProgramArtifact;
use crate::blob::Blob;
use crate::job::{DialogueEnd, JobEnd};
use crate::limits::BoxLimits;

const INPUT: &str = "input";
const ANSWER: &str = "answer";
const OUTPUT: &str = "output";

impl Exec {
    /// Runs a checker. The judged output is its standard input and its file `output`.
    pub fn check(
        &mut self,
        caller: &JobContext,
        checker: &ProgramArtifact,
        output: &Blob,
        judging: &JudgeInput,
    ) -> Result<RunOutcome, ExecError> {
        check_judging(judging)?;
        let (tool, loaded) = self.ready(caller, checker)?;
        let output = self.set_up(|exec| output.bytes(&exec.options.objects))?;
        let mut given = self.set_up(|exec| exec.given(judging, &tool))?;
        given.files.push((OUTPUT, Cow::Borrowed(&output)));
        given.stdin = Cow::Borrowed(&output);
        let job = inputs::job(&tool, &loaded, &given)?;
        // A checker's verdict does not depend on its CPU time.
        let ended = self.run_undisturbed(&job, caller)?;
        Ok(self.judged(ended))
    }

    /// Runs a program and an interactor at once, each under its own limits. The standard output of each is
    /// the standard input of the other.
    pub fn interact(
        &mut self,
        caller: &JobContext,
        program: &ProgramArtifact,
        interactor: &ProgramArtifact,
        judging: &JudgeInput,
        program_limits: Option<BoxLimits>,
    ) -> Result<Dialogue, ExecError> {
        check_judging(judging)?;
        let (program_tool, program) = self.ready(caller, program)?;
        let (tool, interactor) = self.ready(caller, interactor)?;
        let limits = program_limits.unwrap_or(program_tool.spec.run_defaults());
        let alone = JobInputs {
            stdin: Cow::Borrowed(&[]),
            args: &[],
            env: &[],
            files: vec![],
            collect: &[],
            limits: limits.within(&program_tool.spec.ceiling()),
        };
        let given = self.set_up(|exec| exec.given(judging, &tool))?;
        let first = inputs::job(&program_tool, &program, &alone)?;
        let second = inputs::job(&tool, &interactor, &given)?;
        let talk = || self.talk(&first, &second, caller);
        let second_counts = |_: DialogueEnd, second: DialogueEnd| second;
        let look =
            |talked: &DialogueEnd| rerun::look_at_dialogue(talked, [&first.limits, &second.limits]);
        let (talked, _) = rerun::settle(talk, look, second_counts)?;
        let DialogueEnd { program, interactor, first_to_end } = talked;
        Ok(Dialogue {
            program: self.judged(program),
            interactor: self.judged(interactor),
            first_to_end,
        })
    }

    fn given<'a>(
        &self,
        judging: &'a JudgeInput,
        tool: &InstalledToolchain,
    ) -> Result<JobInputs<'a>, ExecError> {
        let objects = &self.options.objects;
        let own = [(INPUT, &judging.input), (ANSWER, &judging.answer)];
        let files = judging.files.iter().map(|file| (file.path.as_str(), &file.content));
        let files = inputs::fetch(files.chain(own), objects)?;
        let limits = judging.limits.unwrap_or(tool.spec.run_defaults());
        Ok(JobInputs {
            stdin: Cow::Borrowed(&[]),
            args: &judging.args,
            env: &[],
            files,
            collect: &judging.collect,
            limits: limits.within(&tool.spec.ceiling()),
        })
    }

    fn judged(&self, ended: JobEnd) -> RunOutcome {
        let mut outcome = self.outcome(ended);
        ReturnBudget::new().take(&mut outcome.ended);
        outcome
    }
}

fn check_judging(judging: &JudgeInput) -> Result<(), ExecError> {
    check_words("arguments", &judging.args)?;
    check_files(&judging.files)?;
    check_collect(&judging.collect)
}

//! Programs that judge others: checkers read an output, interactors talk with a program.

use std::borrow::Cow;

use super::again::{self, Look};
use super::budget::Budget;
use super::place::{self, Given, check_collect, check_files, check_words};
use super::probe::Tool;
use super::{Caller, Dialogue, Error, Exec, Judging, Outcome};
use crate::artifact::Artifact;
use crate::blob::Blob;
use crate::job::{Ended, Talked};
use crate::limits::Limits;

const INPUT: &str = "input";
const ANSWER: &str = "answer";
const OUTPUT: &str = "output";

impl Exec {
    /// The output that is judged is the checker's standard input and its file `output`.
    pub fn check(
        &mut self,
        caller: &Caller,
        checker: &Artifact,
        output: &Blob,
        judging: &Judging,
    ) -> Result<Outcome, Error> {
        check_judging(judging)?;
        let (tool, loaded) = self.ready(caller, checker)?;
        let output = output.bytes(&self.options.objects)?;
        let mut given = self.given(judging, &tool)?;
        given.files.push((OUTPUT, Cow::Borrowed(&output)));
        given.stdin = Cow::Borrowed(&output);
        let job = place::job(&tool, &loaded, &given)?;
        let look = |ended: &Ended| match again::look(ended, &job.limits) {
            Look::Disturbed => Look::Disturbed,
            // What a checker says does not depend on how long it took.
            Look::NearLimit | Look::Certain => Look::Certain,
        };
        let run = || self.run_job(&job, caller.deadline);
        let (ended, _) = again::settle(run, look, again::better)?;
        Ok(self.judged(ended))
    }

    /// Runs both at once. Each one's own limits hold; standard input and output are each other's.
    pub fn interact(
        &mut self,
        caller: &Caller,
        program: &Artifact,
        interactor: &Artifact,
        judging: &Judging,
        program_limits: Option<Limits>,
    ) -> Result<Dialogue, Error> {
        check_judging(judging)?;
        let (program_tool, program) = self.ready(caller, program)?;
        let (tool, interactor) = self.ready(caller, interactor)?;
        let limits = program_limits.unwrap_or(program_tool.spec.run_defaults());
        let alone = Given {
            stdin: Cow::Borrowed(&[]),
            args: &[],
            env: &[],
            files: vec![],
            collect: &[],
            limits: limits.within(&program_tool.spec.ceiling()),
        };
        let given = self.given(judging, &tool)?;
        let first = place::job(&program_tool, &program, &alone)?;
        let second = place::job(&tool, &interactor, &given)?;
        let talk = || self.talk(&first, &second, caller.deadline);
        let second_counts = |_: Talked, second: Talked| second;
        let (talked, _) = again::settle(talk, again::look_at_dialogue, second_counts)?;
        let Talked { program, interactor, first_to_end } = talked;
        Ok(Dialogue {
            program: self.judged(program),
            interactor: self.judged(interactor),
            first_to_end,
        })
    }

    fn given<'a>(&self, judging: &'a Judging, tool: &Tool) -> Result<Given<'a>, Error> {
        let objects = &self.options.objects;
        let mut files = place::fetch(&judging.files, objects)?;
        files.push((INPUT, judging.input.bytes(objects)?));
        files.push((ANSWER, judging.answer.bytes(objects)?));
        let limits = judging.limits.unwrap_or(tool.spec.run_defaults());
        Ok(Given {
            stdin: Cow::Borrowed(&[]),
            args: &judging.args,
            env: &[],
            files,
            collect: &judging.collect,
            limits: limits.within(&tool.spec.ceiling()),
        })
    }

    fn judged(&self, ended: Ended) -> Outcome {
        let mut outcome = self.outcome(ended);
        Budget::new().take(&mut outcome.ended);
        outcome
    }
}

fn check_judging(judging: &Judging) -> Result<(), Error> {
    check_words("arguments", &judging.args)?;
    check_files(&judging.files)?;
    check_collect(&judging.collect)
}

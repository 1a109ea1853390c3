//! Runs a program over cases, one after the other.

use assay_model::limits::EXEC_CASES_MAX;

use super::again::{self, Look};
use super::budget::Budget;
use super::place::{self, Given, check_collect, check_env, check_files, check_words};
use super::probe::Tool;
use super::{Batch, Caller, CaseResult, Error, Exec, Matched, StopAt, TestCase};
use crate::artifact::{Artifact, Loaded};
use crate::job::Ended;
use crate::outcome::Captured;

impl Exec {
    /// The results end where the batch was stopped.
    pub fn run(
        &mut self,
        caller: &Caller,
        program: &Artifact,
        batch: &Batch,
    ) -> Result<Vec<CaseResult>, Error> {
        check_batch(batch)?;
        let (tool, loaded) = self.ready(caller, program)?;
        let mut budget = Budget::new();
        let mut results = Vec::new();
        for (index, case) in (0..).zip(&batch.cases) {
            let (ended, attempts) = self.run_case(caller, &tool, &loaded, batch, case)?;
            let normal = ended.ending.is_normal();
            let matched = match &case.expect {
                Some((expected, compare)) if normal => {
                    let expected = expected.bytes(&self.options.objects)?;
                    match compare.equal(&expected, &ended.stdout.data) {
                        true => Matched::Equal,
                        false => Matched::Different,
                    }
                }
                _ => Matched::NotCompared,
            };
            let mut outcome = self.outcome(ended);
            if !batch.return_stdout {
                let truncated = outcome.ended.stdout.truncated;
                outcome.ended.stdout = Captured { data: Vec::new(), truncated };
            }
            budget.take(&mut outcome.ended);
            results.push(CaseResult { index, matched, outcome, attempts });
            if stops(batch.stop, normal, matched) {
                break;
            }
        }
        Ok(results)
    }

    fn run_case(
        &mut self,
        caller: &Caller,
        tool: &Tool,
        loaded: &Loaded,
        batch: &Batch,
        case: &TestCase,
    ) -> Result<(Ended, u8), Error> {
        let limits = case.limits.or(batch.limits).unwrap_or(tool.spec.run_defaults());
        let given = Given {
            stdin: case.stdin.bytes(&self.options.objects)?,
            args: &case.args,
            env: &case.env,
            files: place::fetch(&case.files, &self.options.objects)?,
            collect: &case.collect,
            limits: limits.within(&tool.spec.ceiling()),
        };
        let job = place::job(tool, loaded, &given)?;
        let look = |ended: &Ended| match again::look(ended, &job.limits) {
            Look::NearLimit if !batch.rerun_near_limit => Look::Certain,
            look => look,
        };
        again::settle(|| self.run_job(&job, caller.deadline), look, again::better)
    }
}

/// Before anything is run, so that nothing is run in vain.
fn check_batch(batch: &Batch) -> Result<(), Error> {
    if batch.cases.len() > EXEC_CASES_MAX {
        return Err(Error::BadRequest(format!("there are more than {EXEC_CASES_MAX} cases")));
    }
    for (index, case) in batch.cases.iter().enumerate() {
        check_case(case).map_err(|error| match error {
            Error::BadRequest(problem) => Error::BadRequest(format!("case {index}: {problem}")),
            error => error,
        })?;
    }
    Ok(())
}

fn check_case(case: &TestCase) -> Result<(), Error> {
    check_words("arguments", &case.args)?;
    check_env(&case.env)?;
    check_files(&case.files)?;
    check_collect(&case.collect)?;
    match case.expect.as_ref().and_then(|(_, compare)| compare.problem()) {
        Some(problem) => Err(Error::BadRequest(problem)),
        None => Ok(()),
    }
}

fn stops(stop: StopAt, normal: bool, matched: Matched) -> bool {
    match stop {
        StopAt::Never => false,
        StopAt::FirstAbnormal => !normal,
        StopAt::FirstMismatch => !normal || matched == Matched::Different,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_a_batch_stops() {
        use Matched::{Different, Equal, NotCompared};
        let ends = [(true, Equal), (true, NotCompared), (true, Different), (false, NotCompared)];
        for (stop, expected) in [
            (StopAt::Never, [false; 4]),
            (StopAt::FirstAbnormal, [false, false, false, true]),
            (StopAt::FirstMismatch, [false, false, true, true]),
        ] {
            assert_eq!(ends.map(|(normal, matched)| stops(stop, normal, matched)), expected);
        }
    }
}

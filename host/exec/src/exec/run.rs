//! Runs a program on test cases, one after the other.

use assay_core::limits::EXEC_CASES_MAX;

use super::budget::ReturnBudget;
use super::inputs::{self, JobInputs, check_collect, check_env, check_files, check_words};
use super::probe::InstalledToolchain;
use super::rerun::{self, Certainty};
use super::{CaseResult, Exec, ExecError, JobContext, Matched, StopAt, TestBatch, TestCase};
use crate::artifact::{LoadedProgram, ProgramArtifact};
use crate::job::JobEnd;
use crate::outcome::Captured;

impl Exec {
    /// Runs a batch. The results end at the case after which the batch stopped.
    pub fn run(
        &mut self,
        caller: &JobContext,
        program: &ProgramArtifact,
        batch: &TestBatch,
    ) -> Result<Vec<CaseResult>, ExecError> {
        check_batch(batch)?;
        let (tool, loaded) = self.ready(caller, program)?;
        let mut budget = ReturnBudget::new();
        let mut results = Vec::new();
        for (index, case) in (0..).zip(&batch.cases) {
            let (ended, attempts) = self.run_case(caller, &tool, &loaded, batch, case)?;
            let normal = ended.ending.is_normal();
            let matched = match &case.expect {
                Some((expected, compare)) if normal => {
                    let expected = self.set_up(|exec| expected.bytes(&exec.options.objects))?;
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
        caller: &JobContext,
        tool: &InstalledToolchain,
        loaded: &LoadedProgram,
        batch: &TestBatch,
        case: &TestCase,
    ) -> Result<(JobEnd, u8), ExecError> {
        let limits = case.limits.or(batch.limits).unwrap_or(tool.spec.run_defaults());
        let (stdin, files) = self.set_up(|exec| {
            let objects = &exec.options.objects;
            let files = case.files.iter().map(|file| (file.path.as_str(), &file.content));
            Ok::<_, ExecError>((case.stdin.bytes(objects)?, inputs::fetch(files, objects)?))
        })?;
        let given = JobInputs {
            stdin,
            args: &case.args,
            env: &case.env,
            files,
            collect: &case.collect,
            limits: limits.within(&tool.spec.ceiling()),
        };
        let job = inputs::job(tool, loaded, &given)?;
        let look = |ended: &JobEnd| match rerun::look(ended, &job.limits) {
            Certainty::NearLimit if !batch.rerun_near_limit => Certainty::Certain,
            look => look,
        };
        rerun::settle(|| self.run_job(&job, caller), look, rerun::better)
    }
}

/// Checks all cases before the first one runs.
fn check_batch(batch: &TestBatch) -> Result<(), ExecError> {
    if batch.cases.len() > EXEC_CASES_MAX {
        return Err(ExecError::BadRequest(format!("there are more than {EXEC_CASES_MAX} cases")));
    }
    for (index, case) in batch.cases.iter().enumerate() {
        check_case(case).map_err(|error| match error {
            ExecError::BadRequest(problem) => {
                ExecError::BadRequest(format!("case {index}: {problem}"))
            }
            error => error,
        })?;
    }
    Ok(())
}

fn check_case(case: &TestCase) -> Result<(), ExecError> {
    check_words("arguments", &case.args)?;
    check_env(&case.env)?;
    check_files(&case.files)?;
    check_collect(&case.collect)?;
    match case.expect.as_ref().and_then(|(_, compare)| compare.problem()) {
        Some(problem) => Err(ExecError::BadRequest(problem)),
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

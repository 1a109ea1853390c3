//! Which runs are repeated: those whose end may be due to a busy machine.
//!
//! ```text
//!   first    certain ─────────────────────────────────────────> first
//!            near its CPU limit, if asked for ──> second ─────> the better one
//!            disturbed ──> second, not disturbed ─────────────> second
//!                     └──> second, disturbed ─────────────────> unavailable
//! ```

use std::time::Duration;

use super::{Exec, ExecError, JobContext};
use crate::job::{BoxJob, DialogueEnd, JobEnd};
use crate::limits::BoxLimits;
use crate::outcome::{LimitKind, ProgramEnding};

/// The share of its CPU limit from which a program's CPU time is uncertain, in percent: shared caches and
/// cores change CPU time by about as much.
const NEAR_PERCENT: u64 = 90;
/// The share of its wall time for which a program waits for a core on a busy machine, in percent: other programs on the
/// same core make its CPU time longer.
const BUSY_PERCENT: u64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    Certain,
    NearLimit,
    Disturbed,
}

pub(super) fn look(ended: &JobEnd, limits: &BoxLimits) -> Certainty {
    let usage = &ended.usage;
    match ended.ending {
        ProgramEnding::Limited(LimitKind::Wall) => wall_certainty(usage.wait_us, limits),
        ProgramEnding::Limited(LimitKind::Cpu)
            if usage.wait_us * 100 >= usage.wall_us * BUSY_PERCENT =>
        {
            Certainty::NearLimit
        }
        ProgramEnding::Exited(_) | ProgramEnding::Signaled(_)
            if usage.cpu_us * 100 >= u64::from(limits.cpu_ms) * 1_000 * NEAR_PERCENT =>
        {
            Certainty::NearLimit
        }
        _ => Certainty::Certain,
    }
}

/// A program that reached its limit of wall time had all of it beside its waits for a core, unless these were too long
/// to put the limit off by all of them.
fn wall_certainty(wait_us: u64, limits: &BoxLimits) -> Certainty {
    if Duration::from_micros(wait_us) < limits.put_off_max() {
        Certainty::Certain
    } else {
        Certainty::Disturbed
    }
}

/// A dialogue is disturbed as a whole: while one program waits for a core, the other waits for its answer.
pub(super) fn look_at_dialogue(talked: &DialogueEnd, limits: [&BoxLimits; 2]) -> Certainty {
    let wait_us = talked.program.usage.wait_us + talked.interactor.usage.wait_us;
    let disturbed =
        [&talked.program, &talked.interactor].into_iter().zip(limits).any(|(it, limits)| {
            it.ending == ProgramEnding::Limited(LimitKind::Wall)
                && wall_certainty(wait_us, limits) == Certainty::Disturbed
        });
    if disturbed { Certainty::Disturbed } else { Certainty::Certain }
}

/// The end of the two that did not reach the CPU limit, else the one that used less CPU time.
pub(super) fn better(first: JobEnd, second: JobEnd) -> JobEnd {
    let rank = |ended: &JobEnd| {
        (ended.ending == ProgramEnding::Limited(LimitKind::Cpu), ended.usage.cpu_us)
    };
    if rank(&second) < rank(&first) { second } else { first }
}

/// Runs once or twice; returns the end that counts and the number of runs.
pub(super) fn settle<T>(
    mut run: impl FnMut() -> Result<T, ExecError>,
    look: impl Fn(&T) -> Certainty,
    better: impl Fn(T, T) -> T,
) -> Result<(T, u8), ExecError> {
    let first = run()?;
    match look(&first) {
        Certainty::Certain => Ok((first, 1)),
        Certainty::NearLimit => {
            let second = run()?;
            let kept = match look(&second) {
                Certainty::Disturbed => first,
                Certainty::Certain | Certainty::NearLimit => better(first, second),
            };
            Ok((kept, 2))
        }
        Certainty::Disturbed => {
            let second = run()?;
            match look(&second) {
                Certainty::Disturbed => Err(ExecError::Unavailable(
                    "this machine is too busy: in two runs a program waited for a core for twice its limit of wall \
                     time"
                        .to_owned(),
                )),
                Certainty::Certain | Certainty::NearLimit => Ok((second, 2)),
            }
        }
    }
}

impl Exec {
    /// Runs a job that needs no second run near its CPU limit: it is repeated only if a busy machine disturbed it.
    pub(super) fn run_undisturbed(
        &mut self,
        job: &BoxJob<'_>,
        caller: &JobContext,
    ) -> Result<JobEnd, ExecError> {
        let look = |ended: &JobEnd| match look(ended, &job.limits) {
            Certainty::Disturbed => Certainty::Disturbed,
            Certainty::NearLimit | Certainty::Certain => Certainty::Certain,
        };
        let settled = settle(|| self.run_job(job, caller), look, better);
        settled.map(|(ended, _)| ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Party;
    use crate::outcome::{Captured, Usage};

    const WALL: ProgramEnding = ProgramEnding::Limited(LimitKind::Wall);
    const CPU: ProgramEnding = ProgramEnding::Limited(LimitKind::Cpu);
    const OK: ProgramEnding = ProgramEnding::Exited(0);

    /// Milliseconds.
    fn ended(ending: ProgramEnding, cpu: u64, wall: u64, wait: u64) -> JobEnd {
        let usage = Usage {
            cpu_us: cpu * 1_000,
            wall_us: wall * 1_000,
            wait_us: wait * 1_000,
            memory_peak_bytes: 0,
        };
        let none = Captured::default;
        JobEnd { ending, usage, stdout: none(), stderr: none(), files: vec![] }
    }

    #[test]
    fn only_time_is_uncertain() {
        let memory = ProgramEnding::Limited(LimitKind::Memory);
        let output = ProgramEnding::Limited(LimitKind::Output);
        let cases = [
            (ended(OK, 100, 120, 0), Certainty::Certain),
            (ended(OK, 100, 8_000, 7_900), Certainty::Certain),
            (ended(OK, 1_799, 1_800, 0), Certainty::Certain),
            (ended(OK, 1_800, 1_801, 0), Certainty::NearLimit),
            (ended(ProgramEnding::Exited(1), 1_900, 1_901, 0), Certainty::NearLimit),
            (ended(ProgramEnding::Signaled(11), 1_900, 1_901, 0), Certainty::NearLimit),
            (ended(CPU, 2_001, 2_002, 0), Certainty::Certain),
            (ended(CPU, 2_001, 2_500, 250), Certainty::NearLimit),
            (ended(memory, 1_900, 8_000, 7_000), Certainty::Certain),
            (ended(output, 1_900, 8_000, 7_000), Certainty::Certain),
            // It slept, for all of its 8 s beside its waits.
            (ended(WALL, 10, 8_020, 20), Certainty::Certain),
            (ended(WALL, 1_000, 10_000, 2_000), Certainty::Certain),
            (ended(WALL, 100, 23_900, 15_900), Certainty::Certain),
            // It had less than its 8 s.
            (ended(WALL, 100, 24_000, 16_100), Certainty::Disturbed),
            (ended(WALL, 1_990, 24_000, 22_000), Certainty::Disturbed),
        ];
        for (ended, expected) in cases {
            assert_eq!(look(&ended, &BoxLimits::RUN), expected, "{ended:?}");
        }
    }

    #[test]
    fn a_program_that_only_computes_is_never_blamed_for_the_wall() {
        for cpu_ms in [1, 100, 2_000, 60_000] {
            let limits =
                BoxLimits { cpu_ms, wall_ms: 0, ..BoxLimits::RUN }.within(&BoxLimits::CEILING);
            for used in [0, u64::from(cpu_ms) / 2, u64::from(cpu_ms)] {
                let wall = 3 * u64::from(limits.wall_ms);
                let ended = ended(WALL, used, wall, wall - used);
                assert_eq!(look(&ended, &limits), Certainty::Disturbed);
            }
        }
    }

    #[test]
    fn both_sides_of_a_dialogue_count() {
        let talked =
            |program, interactor| DialogueEnd { program, interactor, first_to_end: Party::Program };
        let look = |program, interactor| {
            look_at_dialogue(&talked(program, interactor), [&BoxLimits::RUN, &BoxLimits::RUN])
        };
        let slept = || ended(WALL, 10, 24_000, 10);
        let waited = |ending| ended(ending, 10, 24_000, 16_000);
        let waited_a_little = || ended(WALL, 10, 24_000, 7_900);
        assert_eq!(look(slept(), waited(OK)), Certainty::Disturbed);
        assert_eq!(look(waited(WALL), slept()), Certainty::Disturbed);
        assert_eq!(look(slept(), slept()), Certainty::Certain);
        assert_eq!(look(waited_a_little(), waited_a_little()), Certainty::Certain);
        assert_eq!(look(waited(OK), waited(OK)), Certainty::Certain);
    }

    fn settled(runs: &[JobEnd]) -> (Result<(JobEnd, u8), ExecError>, usize) {
        let mut left = runs.iter().cloned();
        let settled = settle(
            || Ok(left.next().expect("two runs at most")),
            |ended| look(ended, &BoxLimits::RUN),
            better,
        );
        (settled, left.len())
    }

    #[test]
    fn a_second_run_decides() {
        let certain = ended(OK, 10, 10, 0);
        let near = ended(OK, 1_900, 1_900, 0);
        let nearer = ended(OK, 1_950, 1_950, 0);
        let over = ended(CPU, 2_001, 2_500, 400);
        let disturbed = ended(WALL, 100, 24_000, 23_900);
        let keeps = |runs: &[JobEnd], kept: &JobEnd, attempts| {
            assert_eq!(settled(runs), (Ok((kept.clone(), attempts)), 0));
        };
        keeps(std::slice::from_ref(&certain), &certain, 1);
        keeps(&[near.clone(), nearer.clone()], &near, 2);
        keeps(&[nearer.clone(), near.clone()], &near, 2);
        keeps(&[over.clone(), near.clone()], &near, 2);
        keeps(&[near.clone(), over.clone()], &near, 2);
        keeps(&[over.clone(), over.clone()], &over, 2);
        keeps(&[near.clone(), disturbed.clone()], &near, 2);
        keeps(&[disturbed.clone(), near.clone()], &near, 2);
        keeps(&[disturbed.clone(), certain.clone()], &certain, 2);
        let (twice, left) = settled(&[disturbed.clone(), disturbed]);
        assert!(matches!(twice, Err(ExecError::Unavailable(_))) && left == 0);
    }
}

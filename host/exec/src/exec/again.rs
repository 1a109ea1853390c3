//! What is run a second time, because a busy machine may have had a hand in how it ended.
//!
//! ```text
//!   first    certain ─────────────────────────────────────────> first
//!            near its CPU limit, and asked for ──> second ────> the better one
//!            disturbed ──> second, not disturbed ─────────────> second
//!                     └──> second, disturbed ─────────────────> unavailable
//! ```

use super::Error;
use crate::job::{Ended, Talked};
use crate::limits::Limits;
use crate::outcome::{Ending, LimitKind};

/// A program that used this share of its CPU limit might not have, or might have used more: caches
/// and cores that are shared with others change CPU time by about as much.
const NEAR_PERCENT: u64 = 90;
/// Waiting for a core this long, as a share of the wall time, means that others were running on the
/// cores, and in the caches, that it ran on.
const BUSY_PERCENT: u64 = 10;
/// A program that only computes and did not get to its CPU limit before the end of its wall time,
/// which is at least three times as long, waited for two thirds of it. One that waited for less than
/// half of it slept for most of the rest, and would have on an idle machine.
const DISTURBED_PERCENT: u64 = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Certain,
    NearLimit,
    Disturbed,
}

pub(super) fn look(ended: &Ended, limits: &Limits) -> Look {
    let usage = &ended.usage;
    let waited = |percent| usage.wait_us * 100 >= usage.wall_us * percent;
    match ended.ending {
        Ending::Limited(LimitKind::Wall) if waited(DISTURBED_PERCENT) => Look::Disturbed,
        Ending::Limited(LimitKind::Cpu) if waited(BUSY_PERCENT) => Look::NearLimit,
        Ending::Exited(_) | Ending::Signaled(_)
            if usage.cpu_us * 100 >= u64::from(limits.cpu_ms) * 1_000 * NEAR_PERCENT =>
        {
            Look::NearLimit
        }
        _ => Look::Certain,
    }
}

/// A dialogue is disturbed as a whole: while one waits for a core, the other waits for its answer.
pub(super) fn look_at_dialogue(talked: &Talked) -> Look {
    let (program, interactor) = (&talked.program, &talked.interactor);
    let wall_ended =
        [program, interactor].iter().any(|ended| ended.ending == Ending::Limited(LimitKind::Wall));
    let waited = program.usage.wait_us + interactor.usage.wait_us;
    let wall = program.usage.wall_us.max(interactor.usage.wall_us);
    if wall_ended && waited * 100 >= wall * DISTURBED_PERCENT {
        Look::Disturbed
    } else {
        Look::Certain
    }
}

/// The one that met no CPU limit, else the one that used less.
pub(super) fn better(first: Ended, second: Ended) -> Ended {
    let rank =
        |ended: &Ended| (ended.ending == Ending::Limited(LimitKind::Cpu), ended.usage.cpu_us);
    if rank(&second) < rank(&first) { second } else { first }
}

/// Runs once or twice; returns what counts and the number of runs.
pub(super) fn settle<T>(
    mut run: impl FnMut() -> Result<T, Error>,
    look: impl Fn(&T) -> Look,
    better: impl Fn(T, T) -> T,
) -> Result<(T, u8), Error> {
    let first = run()?;
    match look(&first) {
        Look::Certain => Ok((first, 1)),
        Look::NearLimit => {
            let second = run()?;
            let kept = match look(&second) {
                Look::Disturbed => first,
                Look::Certain | Look::NearLimit => better(first, second),
            };
            Ok((kept, 2))
        }
        Look::Disturbed => {
            let second = run()?;
            match look(&second) {
                Look::Disturbed => Err(Error::Unavailable(
                    "this machine is too busy: a program spent most of its time, twice, waiting for \
                     a core"
                        .to_owned(),
                )),
                Look::Certain | Look::NearLimit => Ok((second, 2)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Party;
    use crate::outcome::{Captured, Usage};

    const WALL: Ending = Ending::Limited(LimitKind::Wall);
    const CPU: Ending = Ending::Limited(LimitKind::Cpu);
    const OK: Ending = Ending::Exited(0);

    /// Milliseconds.
    fn ended(ending: Ending, cpu: u64, wall: u64, wait: u64) -> Ended {
        let usage = Usage {
            cpu_us: cpu * 1_000,
            wall_us: wall * 1_000,
            wait_us: wait * 1_000,
            memory_peak_bytes: 0,
        };
        let none = Captured::default;
        Ended { ending, usage, stdout: none(), stderr: none(), files: vec![] }
    }

    #[test]
    fn only_time_is_uncertain() {
        let memory = Ending::Limited(LimitKind::Memory);
        let output = Ending::Limited(LimitKind::Output);
        let cases = [
            (ended(OK, 100, 120, 0), Look::Certain),
            (ended(OK, 100, 8_000, 7_900), Look::Certain),
            (ended(OK, 1_799, 1_800, 0), Look::Certain),
            (ended(OK, 1_800, 1_801, 0), Look::NearLimit),
            (ended(Ending::Exited(1), 1_900, 1_901, 0), Look::NearLimit),
            (ended(Ending::Signaled(11), 1_900, 1_901, 0), Look::NearLimit),
            (ended(CPU, 2_001, 2_002, 0), Look::Certain),
            (ended(CPU, 2_001, 2_500, 250), Look::NearLimit),
            (ended(memory, 1_900, 8_000, 7_000), Look::Certain),
            (ended(output, 1_900, 8_000, 7_000), Look::Certain),
            // It slept.
            (ended(WALL, 10, 8_000, 20), Look::Certain),
            (ended(WALL, 1_000, 8_000, 3_900), Look::Certain),
            // It computed, when it was let.
            (ended(WALL, 1_990, 8_000, 6_010), Look::Disturbed),
            (ended(WALL, 100, 8_000, 4_000), Look::Disturbed),
        ];
        for (ended, expected) in cases {
            assert_eq!(look(&ended, &Limits::RUN), expected, "{ended:?}");
        }
    }

    #[test]
    fn a_program_that_only_computes_is_never_blamed_for_the_wall() {
        for cpu_ms in [1, 100, 2_000, 60_000] {
            let limits = Limits { cpu_ms, wall_ms: 0, ..Limits::RUN }.within(&Limits::CEILING);
            for used in [0, u64::from(cpu_ms) / 2, u64::from(cpu_ms)] {
                let wall = u64::from(limits.wall_ms);
                let ended = ended(WALL, used, wall, wall - used);
                assert_eq!(look(&ended, &limits), Look::Disturbed);
            }
        }
    }

    #[test]
    fn both_sides_of_a_dialogue_count() {
        let talked =
            |program, interactor| Talked { program, interactor, first_to_end: Party::Program };
        let slept = || ended(WALL, 10, 8_000, 10);
        let waited = |ending| ended(ending, 10, 8_000, 5_000);
        assert_eq!(look_at_dialogue(&talked(slept(), waited(OK))), Look::Disturbed);
        assert_eq!(look_at_dialogue(&talked(waited(WALL), slept())), Look::Disturbed);
        assert_eq!(look_at_dialogue(&talked(slept(), slept())), Look::Certain);
        assert_eq!(look_at_dialogue(&talked(waited(OK), waited(OK))), Look::Certain);
    }

    fn settled(runs: &[Ended]) -> (Result<(Ended, u8), Error>, usize) {
        let mut left = runs.iter().cloned();
        let settled = settle(
            || Ok(left.next().expect("two runs at most")),
            |ended| look(ended, &Limits::RUN),
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
        let disturbed = ended(WALL, 100, 8_000, 7_900);
        let keeps = |runs: &[Ended], kept: &Ended, attempts| {
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
        assert!(matches!(twice, Err(Error::Unavailable(_))) && left == 0);
    }
}

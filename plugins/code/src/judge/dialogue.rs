//! Decides which side failed when a program talked with an interactor.

use assay_plugin::{Error, exec};

use super::TestResult;
use super::programs::{message_of, word_of};
use crate::problem::JudgeProgram;
use crate::verdict::{Failure, Verdict, abnormal};

pub(super) const SIGPIPE: i32 = 13;

/// The first to end decides where both ended badly: the other one lost its partner.
///
/// Where the program ended well, an interactor that then crashes, or exits outside its protocol, gives no verdict:
/// nothing tells whether it could not bear the end of its input, or failed by itself after a complete dialogue.
pub(super) fn judge(dialogue: exec::Dialogue, judge: &JudgeProgram) -> Result<TestResult, Error> {
    let failure = failure(&dialogue, judge)?;
    Ok(TestResult::new(dialogue.program, failure))
}

fn failure(dialogue: &exec::Dialogue, judge: &JudgeProgram) -> Result<Option<Failure>, Error> {
    let program_first = program_was_first(dialogue);
    let own = abnormal(&dialogue.program);
    // An interactor whose program is gone may fail in any way.
    if program_first && let Some(failure) = own {
        return Ok(Some(failure));
    }
    let was_left = match dialogue.interactor.ended {
        // The program may close its side and stay.
        exec::Ending::Signaled(signal) => signal == SIGPIPE,
        // One that does not notice the end of its input goes on until it meets a limit. A program may
        // also have left by sending `SIGPIPE` to itself.
        exec::Ending::Limited(_) => dialogue.first_to_end == exec::Party::Program,
        exec::Ending::Exited(_) => false,
    };
    if was_left {
        let early = || Failure::new(Verdict::WrongAnswer, "ended before the interactor was done");
        return Ok(Some(own.unwrap_or_else(early)));
    }
    if let exec::Ending::Limited(exec::LimitKind::Wall) = dialogue.interactor.ended {
        let waited = || Failure::new(Verdict::TimeLimit, "each waited for the other");
        return Ok(Some(own.unwrap_or_else(waited)));
    }
    if !word_of("interactor", judge, &dialogue.interactor)? {
        let failure = Failure::new(Verdict::WrongAnswer, "the interactor says no");
        return Ok(Some(failure.showing(format!("\njudge: {}", message_of(&dialogue.interactor)))));
    }
    // It wrote on after the interactor was content.
    Ok(own.filter(|_| dialogue.program.ended != exec::Ending::Signaled(SIGPIPE)))
}

/// One that nobody was left to read from was not, whatever the clock says.
fn program_was_first(dialogue: &exec::Dialogue) -> bool {
    dialogue.program.ended != exec::Ending::Signaled(SIGPIPE)
        && dialogue.first_to_end == exec::Party::Program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Data, Protocol};
    use exec::{Ending, LimitKind, Party};

    fn outcome(ended: Ending) -> exec::Outcome {
        let nothing = exec::Captured { data: Vec::new(), truncated: false };
        exec::Outcome {
            ended,
            usage: exec::Usage { cpu_us: 0, wall_us: 0, memory_peak_bytes: 0, wait_us: 0 },
            stdout: nothing.clone(),
            stdout_sha256: String::new(),
            stderr: nothing,
            files: Vec::new(),
            weakened: Vec::new(),
        }
    }

    fn interactor() -> JudgeProgram {
        JudgeProgram {
            toolchain: "cpp".into(),
            main: None,
            source: Data::Inline(Vec::new()),
            files: Vec::new(),
            protocol: Protocol::Kattis,
            options: Vec::new(),
            args: Vec::new(),
        }
    }

    fn check(program: Ending, ended: Ending, first: Party, expected: Option<Verdict>) {
        let dialogue = exec::Dialogue {
            program: outcome(program),
            interactor: outcome(ended),
            first_to_end: first,
        };
        let verdict = failure(&dialogue, &interactor())
            .map(|failure| failure.map_or(Verdict::Success, |failure| failure.verdict));
        assert_eq!(verdict.ok(), expected, "{program:?} {ended:?} {first:?}");
    }

    #[test]
    fn the_first_to_end_is_to_blame() {
        use Party::{Interactor, Program};
        let (accepted, wrong) = (Ending::Exited(42), Ending::Exited(43));
        let fine = Ending::Exited(0);
        check(fine, accepted, Program, Some(Verdict::Success));
        check(fine, accepted, Interactor, Some(Verdict::Success));
        check(fine, wrong, Program, Some(Verdict::WrongAnswer));
        check(Ending::Signaled(SIGPIPE), wrong, Interactor, Some(Verdict::WrongAnswer));
        check(Ending::Signaled(SIGPIPE), accepted, Interactor, Some(Verdict::Success));
        check(Ending::Exited(1), wrong, Program, Some(Verdict::RuntimeError));
        check(Ending::Exited(1), wrong, Interactor, Some(Verdict::WrongAnswer));
        check(Ending::Exited(1), accepted, Interactor, Some(Verdict::RuntimeError));
        check(Ending::Limited(LimitKind::Cpu), wrong, Program, Some(Verdict::TimeLimit));
        check(Ending::Limited(LimitKind::Cpu), wrong, Interactor, Some(Verdict::WrongAnswer));
        check(fine, Ending::Signaled(SIGPIPE), Program, Some(Verdict::WrongAnswer));
        check(fine, Ending::Signaled(SIGPIPE), Interactor, Some(Verdict::WrongAnswer));
    }

    #[test]
    fn waiting_for_each_other_is_a_time_limit() {
        let wall = Ending::Limited(LimitKind::Wall);
        check(wall, wall, Party::Program, Some(Verdict::TimeLimit));
        check(Ending::Exited(0), wall, Party::Interactor, Some(Verdict::TimeLimit));
    }

    #[test]
    fn leaving_an_interactor_that_never_ends_is_wrong() {
        let limits = [LimitKind::Cpu, LimitKind::Wall, LimitKind::Memory, LimitKind::Output];
        for limited in limits.map(Ending::Limited) {
            check(Ending::Exited(0), limited, Party::Program, Some(Verdict::WrongAnswer));
            for left in [Ending::Exited(1), Ending::Signaled(SIGPIPE)] {
                check(left, limited, Party::Program, Some(Verdict::RuntimeError));
            }
        }
        // A program that is still there is not why.
        check(Ending::Exited(0), Ending::Limited(LimitKind::Cpu), Party::Interactor, None);
        check(Ending::Signaled(SIGPIPE), Ending::Limited(LimitKind::Cpu), Party::Interactor, None);
    }

    #[test]
    fn an_interactor_that_fails_is_no_verdict() {
        let failing =
            [Ending::Exited(0), Ending::Exited(1), Ending::Signaled(6), Ending::Signaled(11)];
        for ended in failing {
            check(Ending::Exited(0), ended, Party::Interactor, None);
            check(Ending::Exited(1), ended, Party::Interactor, None);
            // The dialogue may have been complete.
            check(Ending::Exited(0), ended, Party::Program, None);
            check(Ending::Exited(1), ended, Party::Program, Some(Verdict::RuntimeError));
        }
    }
}

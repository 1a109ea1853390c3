//! What every front-end works with: boxes, for whom, the toolkit; and how a box's end is told.

use std::os::fd::OwnedFd;

use assay_exec::limits::Limits;
use assay_exec::outcome::{Captured, Ending, LimitKind};
use assay_exec::{Caller, Ended, Exec, Job};
use assay_model::limits::GPU_LOG_BYTES_MAX;

use super::request::arch_number;
use super::toolkit::Installed;
use super::{CompilerOptions, Error};

/// `SIGXFSZ`: it wrote a file beyond the limit.
pub(super) const FILE_TOO_LARGE: i32 = 25;

pub(crate) struct Bench<'a> {
    pub exec: &'a mut Exec,
    pub caller: &'a Caller,
    pub toolkit: &'a Installed,
    pub tools: &'a mut Tools,
    pub options: &'a CompilerOptions,
}

/// What was found out at first use.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    /// The program `assay-gpu`, for boxes that do not see it.
    pub own: Option<OwnedFd>,
    pub nvrtc: Option<Tool>,
    pub nvcc: Option<Tool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tool {
    /// Such as `nvcc 13.0.88`.
    pub name: String,
    /// 90 for `compute_90`.
    pub archs: Vec<u32>,
}

impl Tool {
    pub fn takes(&self, arch: &str) -> Result<(), Error> {
        if self.archs.contains(&arch_number(arch)?) {
            return Ok(());
        }
        Err(Error::BadRequest(format!("{} compiles nothing for `{arch}`", self.name)))
    }
}

impl Bench<'_> {
    /// Runs a job in a box. Where the box itself failed, that is [`Error::Unavailable`].
    pub fn run(&mut self, job: &Job<'_>) -> Result<Ended, Error> {
        match self.exec.run_tool(self.caller, job) {
            Ok(outcome) => Ok(outcome.ended),
            Err(assay_exec::Error::Cancelled) => Err(Error::Cancelled),
            Err(assay_exec::Error::BadRequest(problem)) => Err(Error::BadRequest(problem)),
            Err(assay_exec::Error::Unavailable(reason)) => Err(Error::Unavailable(reason)),
            Err(other) => Err(Error::Unavailable(other.to_string())),
        }
    }
}

/// The fault of what ran, if a limit or a signal ended it; an exit status is its caller's to judge.
/// `log`: what it said.
pub(crate) fn fault(ended: &Ended, limits: &Limits, log: &str) -> Option<Error> {
    match ended.ending {
        Ending::Exited(_) => None,
        // It waited for what never came: its own doing, since a busy machine is told apart.
        Ending::Limited(LimitKind::Cpu | LimitKind::Wall) => Some(Error::TimedOut),
        Ending::Limited(LimitKind::Memory) => Some(Error::OutOfMemory),
        // It said more than anybody reads.
        Ending::Limited(LimitKind::Output) => Some(Error::Rejected(log.to_owned())),
        Ending::Limited(LimitKind::Processes) => {
            Some(Error::Crashed(with_log("it started too many processes", log)))
        }
        Ending::Signaled(FILE_TOO_LARGE) => Some(Error::TooLarge(limits.disk_bytes)),
        Ending::Signaled(signal) => {
            Some(Error::Crashed(with_log(&format!("signal {signal}"), log)))
        }
    }
}

pub(crate) fn with_log(what: &str, log: &str) -> String {
    if log.is_empty() { what.to_owned() } else { format!("{what}\n{log}") }
}

/// What was said, and whether there was more.
pub(crate) fn text(parts: &[&Captured]) -> (String, bool) {
    let text: String = parts.iter().map(|part| String::from_utf8_lossy(&part.data)).collect();
    (text, parts.iter().any(|part| part.truncated))
}

/// At most `GPU_LOG_BYTES_MAX` bytes of a log, and a note where there was more.
pub(crate) fn capped(text: &str, truncated: bool) -> String {
    const NOTE: &str = "\n[the rest was cut off]";
    let text = text.trim_end();
    let room = GPU_LOG_BYTES_MAX - NOTE.len();
    if text.len() <= room && !truncated {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(room)];
    format!("{kept}{NOTE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_between_letters_and_says_so() {
        assert_eq!(capped("warning\n", false), "warning");
        assert_eq!(capped("warning", true), "warning\n[the rest was cut off]");
        for pad in 0..4 {
            let text = "x".repeat(pad) + &"ä∞".repeat(GPU_LOG_BYTES_MAX);
            let cut = capped(&text, false);
            assert!(cut.len() <= GPU_LOG_BYTES_MAX && cut.len() > GPU_LOG_BYTES_MAX - 8);
            assert!(cut.ends_with("\n[the rest was cut off]"));
        }
    }

    #[test]
    fn a_compiler_knows_its_architectures() {
        let tool = Tool { name: "nvcc 13.0.88".into(), archs: vec![80, 90] };
        assert_eq!(tool.takes("sm_90a"), Ok(()));
        assert_eq!(tool.takes("compute_80"), Ok(()));
        let problem = "nvcc 13.0.88 compiles nothing for `sm_70`".to_owned();
        assert_eq!(tool.takes("sm_70"), Err(Error::BadRequest(problem)));
    }
}

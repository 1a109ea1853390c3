//! The compile context, which every front-end works with, and the meaning of a box's end.

use std::os::fd::OwnedFd;

use assay_core::limits::GPU_LOG_BYTES_MAX;
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::{Captured, LimitKind, ProgramEnding};
use assay_exec::{BoxJob, Exec, JobContext, JobEnd};

use super::request::arch_number;
use super::toolkit::Installed;
use super::{CompileError, CudaCompilerOptions};

/// `SIGXFSZ`: the program wrote a file beyond the limit.
pub(super) const FILE_TOO_LARGE: i32 = 25;

/// The boxes, the caller and the toolkit of one compilation.
pub(crate) struct CompileContext<'a> {
    pub exec: &'a mut Exec,
    pub caller: &'a JobContext,
    pub toolkit: &'a Installed,
    pub tools: &'a mut ProbedTools,
    pub options: &'a CudaCompilerOptions,
}

/// The facts about the compilers that were found out at their first use.
#[derive(Debug, Default)]
pub(crate) struct ProbedTools {
    /// The program `assay-gpu`, for boxes that do not see it.
    pub own: Option<OwnedFd>,
    pub nvrtc: Option<CompilerInfo>,
    pub nvcc: Option<CompilerInfo>,
    /// The recording runtime as an object file, for all programs that are linked with it.
    pub recorder: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompilerInfo {
    /// The name and version, such as `nvcc 13.0.88`.
    pub name: String,
    /// The architectures it compiles for: 90 for `compute_90`.
    pub archs: Vec<u32>,
}

impl CompilerInfo {
    pub fn takes(&self, arch: &str) -> Result<(), CompileError> {
        if self.archs.contains(&arch_number(arch)?) {
            return Ok(());
        }
        Err(CompileError::BadRequest(format!("{} compiles nothing for `{arch}`", self.name)))
    }
}

impl CompileContext<'_> {
    /// Runs a job in a box. Where the box itself failed, that is [`CompileError::Unavailable`].
    pub fn run(&mut self, job: &BoxJob<'_>) -> Result<JobEnd, CompileError> {
        match self.exec.run_tool(self.caller, job) {
            Ok(outcome) => Ok(outcome.ended),
            Err(assay_exec::ExecError::Cancelled) => Err(CompileError::Cancelled),
            Err(assay_exec::ExecError::BadRequest(problem)) => {
                Err(CompileError::BadRequest(problem))
            }
            Err(assay_exec::ExecError::Unavailable(reason)) => {
                Err(CompileError::Unavailable(reason))
            }
            Err(other) => Err(CompileError::Unavailable(other.to_string())),
        }
    }
}

/// The program's fault, if a limit or a signal ended it; the caller judges an exit status. `log` is its output.
pub(crate) fn fault(ended: &JobEnd, limits: &BoxLimits, log: &str) -> Option<CompileError> {
    match ended.ending {
        ProgramEnding::Exited(_) => None,
        // It waited or slept by itself: runs that a busy machine disturbed were sorted out before.
        ProgramEnding::Limited(LimitKind::Cpu | LimitKind::Wall) => Some(CompileError::TimedOut),
        ProgramEnding::Limited(LimitKind::Memory) => Some(CompileError::OutOfMemory),
        // It wrote more than the limit.
        ProgramEnding::Limited(LimitKind::Output) => Some(CompileError::Rejected(log.to_owned())),
        ProgramEnding::Limited(LimitKind::Processes) => {
            Some(CompileError::Crashed(with_log("it started too many processes", log)))
        }
        ProgramEnding::Signaled(FILE_TOO_LARGE) => Some(CompileError::TooLarge(limits.disk_bytes)),
        ProgramEnding::Signaled(signal) => {
            Some(CompileError::Crashed(with_log(&format!("signal {signal}"), log)))
        }
    }
}

/// The log of a program that ended by itself, or its [`fault`].
pub(crate) fn log_of(ended: &JobEnd, limits: &BoxLimits) -> Result<String, CompileError> {
    let (text, truncated) = text(&[&ended.stdout, &ended.stderr]);
    let log = capped(&text, truncated);
    match fault(ended, limits, &log) {
        Some(fault) => Err(fault),
        None => Ok(log),
    }
}

pub(crate) fn with_log(what: &str, log: &str) -> String {
    if log.is_empty() { what.to_owned() } else { format!("{what}\n{log}") }
}

/// The text of some outputs, and whether one of them was cut.
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
        let tool = CompilerInfo { name: "nvcc 13.0.88".into(), archs: vec![80, 90] };
        assert_eq!(tool.takes("sm_90a"), Ok(()));
        assert_eq!(tool.takes("compute_80"), Ok(()));
        let problem = "nvcc 13.0.88 compiles nothing for `sm_70`".to_owned();
        assert_eq!(tool.takes("sm_70"), Err(CompileError::BadRequest(problem)));
    }
}

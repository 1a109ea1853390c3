//! The words for what happened to a program, and how an end in a box becomes one.

use assay_plugin::exec;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Success,
    WrongAnswer,
    TimeLimit,
    MemoryLimit,
    OutputLimit,
    RuntimeError,
    CompileFailed,
    ExtractionFailed,
}

impl Verdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::WrongAnswer => "wrong_answer",
            Self::TimeLimit => "time_limit",
            Self::MemoryLimit => "memory_limit",
            Self::OutputLimit => "output_limit",
            Self::RuntimeError => "runtime_error",
            Self::CompileFailed => "compile_failed",
            Self::ExtractionFailed => "extraction_failed",
        }
    }
}

/// Why a test failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) verdict: Verdict,
    /// The explanation that anybody may see: it has nothing of the test's content.
    pub(crate) detail: String,
    /// Excerpts of the test, for those who asked to see them.
    pub(crate) shown: String,
}

impl Failure {
    pub(crate) fn new(verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { verdict, detail: detail.into(), shown: String::new() }
    }

    #[must_use]
    pub(crate) fn showing(mut self, shown: impl Into<String>) -> Self {
        self.shown = shown.into();
        self
    }
}

/// `None` where a program ended as it should, with status 0.
pub(crate) fn abnormal(outcome: &exec::Outcome) -> Option<Failure> {
    let (verdict, detail) = match outcome.ended {
        exec::Ending::Exited(0) => return None,
        exec::Ending::Exited(status) => (Verdict::RuntimeError, format!("exit status {status}")),
        exec::Ending::Signaled(signal) => {
            (Verdict::RuntimeError, format!("ended by signal {}", signal_name(signal)))
        }
        exec::Ending::Limited(kind) => limited(kind, &outcome.usage),
    };
    let message = excerpt(&outcome.stderr.data, STDERR_SHOWN, Part::End);
    let detail = if message.is_empty() || verdict != Verdict::RuntimeError {
        detail
    } else {
        format!("{detail}; standard error: {message}")
    };
    Some(Failure::new(verdict, detail))
}

fn limited(kind: exec::LimitKind, usage: &exec::Usage) -> (Verdict, String) {
    let milliseconds = usage.cpu_us / 1_000;
    match kind {
        exec::LimitKind::Cpu => (Verdict::TimeLimit, format!("{milliseconds} ms of CPU time")),
        exec::LimitKind::Wall => {
            let detail = format!(
                "still waiting after {} ms, of which it worked {milliseconds} ms",
                usage.wall_us / 1_000
            );
            (Verdict::TimeLimit, detail)
        }
        exec::LimitKind::Memory => (Verdict::MemoryLimit, "met its memory limit".into()),
        exec::LimitKind::Output => (Verdict::OutputLimit, "wrote more than it may".into()),
        exec::LimitKind::Processes => {
            (Verdict::RuntimeError, "started more processes or threads than it may".into())
        }
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        31 => "SIGSYS, a forbidden system call",
        _ => return signal.to_string(),
    };
    format!("{signal} ({name})")
}

const STDERR_SHOWN: usize = 400;

/// Which part of a long text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Beginning,
    End,
}

/// A text of at most this many characters from bytes that may be no text, with a mark where something was
/// left out.
pub(crate) fn excerpt(bytes: &[u8], characters_max: usize, part: Part) -> String {
    // Four bytes a character, and some, is all that can be shown.
    let window = (characters_max + 1) * 4;
    let near = match part {
        Part::Beginning => &bytes[..bytes.len().min(window)],
        Part::End => &bytes[bytes.len().saturating_sub(window)..],
    };
    let text = String::from_utf8_lossy(near);
    let text = text.trim();
    let count = text.chars().count();
    if count <= characters_max && near.len() == bytes.len() {
        return text.to_owned();
    }
    match part {
        Part::Beginning => text.chars().take(characters_max).chain(['…']).collect(),
        Part::End => {
            let skip = count.saturating_sub(characters_max);
            ['…'].into_iter().chain(text.chars().skip(skip)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_marks_what_it_leaves_out() {
        assert_eq!(excerpt(b" short \n", 10, Part::End), "short");
        assert_eq!(excerpt(b"0123456789abc", 10, Part::Beginning), "0123456789…");
        assert_eq!(excerpt(b"0123456789abc", 10, Part::End), "…3456789abc");
        assert_eq!(excerpt(b"\xff\xfe", 10, Part::End), "\u{fffd}\u{fffd}");
        let long = "ü".repeat(1_000);
        assert_eq!(excerpt(long.as_bytes(), 3, Part::End), "…üüü");
    }
}

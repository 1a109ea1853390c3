//! `assay:reward/log`: lines shown with the request. Too many or too long never hurt the plugin:
//! the excess is cut off and counted.

use assay_core::limits;

use crate::call::bindings::assay::reward::log;
pub use crate::call::bindings::assay::reward::log::Level;
use crate::call::ending::cut;

/// One line of a plugin, at most [`limits::LOG_LINE_BYTES_MAX`] bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub level: Level,
    pub message: String,
}

impl Level {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// The lines of one call.
#[derive(Default)]
pub(crate) struct Log {
    lines: Vec<LogLine>,
    dropped: u64,
}

impl Log {
    pub(crate) fn add(&mut self, level: Level, message: &str) {
        // The last place is for the line that says how many there were.
        if self.lines.len() + 1 >= limits::LOG_LINES_MAX {
            self.dropped += 1;
            return;
        }
        let message = cut(message, limits::LOG_LINE_BYTES_MAX).to_owned();
        self.lines.push(LogLine { level, message });
    }

    pub(crate) fn add_lines(&mut self, level: Level, text: &str) {
        for line in text.lines() {
            self.add(level, line);
        }
    }

    pub(crate) fn into_lines(mut self) -> Vec<LogLine> {
        if self.dropped > 0 {
            let message = format!("{} more lines were dropped", self.dropped);
            self.lines.push(LogLine { level: Level::Warn, message });
        }
        self.lines
    }
}

impl log::Host for Log {
    fn write(&mut self, level: Level, message: String) {
        self.add(level, &message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excess_is_counted() {
        let mut log = Log::default();
        for at in 0..100 {
            log.add(Level::Info, &format!("{at}"));
        }
        let lines = log.into_lines();
        assert_eq!(lines.len(), limits::LOG_LINES_MAX);
        assert_eq!(lines[62].message, "62");
        assert_eq!(lines[63].message, "37 more lines were dropped");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let mut log = Log::default();
        log.add(Level::Info, &format!("x{}", "ä".repeat(limits::LOG_LINE_BYTES_MAX)));
        let lines = log.into_lines();
        assert_eq!(lines[0].message.len(), limits::LOG_LINE_BYTES_MAX - 1);
    }
}

//! Output: texts of strangers on a terminal, and more than anybody reads.
//!
//! The `print!` and `println!` of this program end it where a reader such as `head` has gone; those of the standard
//! library panic there. SIGPIPE stays ignored: its default would end the program also at a connection that breaks.

use std::any::Any;
use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

use anyhow::Context as _;

/// The exit code of a program that SIGPIPE ended, as shells report it.
const READER_GONE: u8 = 141;

macro_rules! print {
    ($($text:tt)*) => { $crate::terminal::print(format_args!($($text)*)) };
}

macro_rules! println {
    () => { print!("\n") };
    ($($text:tt)*) => { print!("{}\n", format_args!($($text)*)) };
}

macro_rules! eprint {
    ($($text:tt)*) => { $crate::terminal::tell(format_args!($($text)*)) };
}

macro_rules! eprintln {
    () => { eprint!("\n") };
    ($($text:tt)*) => { eprint!("{}\n", format_args!($($text)*)) };
}

/// Standard output that cannot be written; [`guard`] catches it.
struct Unprintable(io::Error);

/// Prints to standard output; unwinds to [`guard`] if that fails.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    if let Err(error) = io::stdout().lock().write_fmt(text) {
        unprintable(error);
    }
}

/// Prints to standard error. Work goes on where nobody reads it.
pub(crate) fn tell(text: fmt::Arguments<'_>) {
    drop(io::stderr().lock().write_fmt(text));
}

/// The result of writing to standard output; unwinds to [`guard`] if its reader has gone.
pub(crate) fn written<T>(result: io::Result<T>) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => unprintable(error),
        result => result,
    }
}

/// Unwinds without a message, so that processes and folders of the work are ended and deleted.
pub(crate) fn unprintable(error: io::Error) -> ! {
    resume_unwind(Box::new(Unprintable(error)))
}

/// Does the work, and ends it quietly when the reader of standard output has gone.
pub(crate) fn guard(work: impl FnOnce() -> anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(ended)
}

fn ended(panic: Box<dyn Any + Send>) -> anyhow::Result<ExitCode> {
    match panic.downcast::<Unprintable>() {
        Ok(told) if told.0.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::from(READER_GONE)),
        Ok(told) => Err(told.0).context("writing to standard output"),
        Err(panic) => resume_unwind(panic),
    }
}

/// Prints lines as long as somebody reads them, and returns whether that was so to the end; for work that goes on
/// without a reader.
pub(crate) fn print_lines(lines: impl Iterator<Item = String>) -> bool {
    let mut out = io::stdout().lock();
    for line in lines {
        match writeln!(out, "{line}") {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return false,
            // Nothing else can be said where nothing can be written.
            _ => {}
        }
    }
    true
}

/// The text without what moves the cursor or colours the terminal; ends of lines and tabs stay.
pub(crate) fn harmless(text: &str) -> String {
    let hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.chars().map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sequence_reaches_the_terminal() {
        assert_eq!(harmless("a\n\tb\u{1b}[2Jc\u{9b}1m\r"), "a\n\tb\u{fffd}[2Jc\u{fffd}1m\u{fffd}");
    }

    #[test]
    fn a_reader_that_has_gone_ends_the_work_quietly() {
        let fails_with = |kind: ErrorKind| guard(|| unprintable(kind.into()));
        let code = fails_with(ErrorKind::BrokenPipe).unwrap();
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(READER_GONE)));
        let error = fails_with(ErrorKind::StorageFull).unwrap_err();
        assert!(error.to_string().contains("standard output"), "{error:#}");
        assert_eq!(written(Ok(1)).unwrap(), 1);
    }
}

//! Output: texts of strangers on a terminal, and lines that may be more than anybody reads.

use std::io::{ErrorKind, Write as _};

/// Prints lines as long as somebody reads them, and returns whether that was so to the end; `println!` would panic where
/// a reader such as `head` has gone.
pub(crate) fn print_lines(lines: impl Iterator<Item = String>) -> bool {
    let mut out = std::io::stdout().lock();
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
    use super::harmless;

    #[test]
    fn no_sequence_reaches_the_terminal() {
        assert_eq!(harmless("a\n\tb\u{1b}[2Jc\u{9b}1m\r"), "a\n\tb\u{fffd}[2Jc\u{fffd}1m\u{fffd}");
    }
}

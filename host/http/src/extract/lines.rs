//! Lines of a body, however its pieces cut them.

use std::borrow::Cow;

/// The part of a line that has arrived so far.
pub(crate) struct Lines {
    bytes_max: usize,
    held: Vec<u8>,
    /// A line that is too long is skipped up to its end.
    too_long: bool,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyLine<'a> {
    Whole(Cow<'a, [u8]>),
    TooLong,
}

impl Lines {
    /// Lines of at most so many bytes; no more of one is held.
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self { bytes_max, held: Vec::new(), too_long: false }
    }

    /// The next line that ends in a piece of the body, which loses it. If none does, the piece is held.
    pub(crate) fn next<'a>(&mut self, piece: &mut &'a [u8]) -> Option<BodyLine<'a>> {
        let Some(end) = memchr::memchr(b'\n', piece) else {
            self.hold(std::mem::take(piece));
            return None;
        };
        let line = &piece[..end];
        *piece = &piece[end + 1..];
        if self.held.is_empty() && !self.too_long && line.len() <= self.bytes_max {
            return Some(BodyLine::Whole(line.into()));
        }
        self.hold(line);
        Some(self.last())
    }

    /// The rest, after the end of the last line.
    pub(crate) fn last(&mut self) -> BodyLine<'static> {
        let line = std::mem::take(&mut self.held);
        if std::mem::take(&mut self.too_long) {
            BodyLine::TooLong
        } else {
            BodyLine::Whole(line.into())
        }
    }

    /// The bytes of the line that has not ended yet.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.too_long |= self.held.len() + bytes.len() > self.bytes_max;
        if self.too_long {
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of pieces, a line that is too long as `None`.
    fn lines(pieces: &[&str]) -> Vec<Option<String>> {
        let mut lines = Lines::new(4);
        let mut all = Vec::new();
        for piece in pieces {
            let mut left = piece.as_bytes();
            while let Some(line) = lines.next(&mut left) {
                all.push(text(&line));
            }
        }
        all.push(text(&lines.last()));
        all
    }

    fn text(line: &BodyLine<'_>) -> Option<String> {
        match line {
            BodyLine::Whole(line) => Some(String::from_utf8_lossy(line).into_owned()),
            BodyLine::TooLong => None,
        }
    }

    #[test]
    fn pieces_cut_lines_anywhere() {
        let whole =
            |lines: &[&str]| lines.iter().map(|line| Some((*line).to_owned())).collect::<Vec<_>>();
        assert_eq!(lines(&["ab\ncd\n"]), whole(&["ab", "cd", ""]));
        assert_eq!(lines(&["a", "b", "\nc", "d\n", "\ne"]), whole(&["ab", "cd", "", "e"]));
        assert_eq!(lines(&["abcd\nab", "cde\nf"]), [Some("abcd".into()), None, Some("f".into())]);
        assert_eq!(lines(&["abcde\na", "bcdef"]), [None, None]);
    }
}

//! Cuts a stream of bytes into lines. Its buffer never holds more than the limit of a line and one
//! chunk.

use bytes::{Buf, Bytes, BytesMut};

/// A limit far above any line that the server writes.
const LINE_BYTES_MAX: usize = 8 << 20;

#[derive(Debug, Default)]
pub(crate) struct Lines {
    buffer: BytesMut,
    /// Number of bytes at the buffer's start that contain no line end.
    searched: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong;

impl Lines {
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    pub(crate) fn clear(&mut self) {
        self.buffer.clear();
        self.searched = 0;
    }

    /// The next whole line without its end.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, LineTooLong> {
        let rest = &self.buffer[self.searched..];
        let Some(at) = rest.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return if self.searched > LINE_BYTES_MAX { Err(LineTooLong) } else { Ok(None) };
        };
        let mut line = self.buffer.split_to(self.searched + at).freeze();
        self.buffer.advance(1);
        self.searched = 0;
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_any_cut() {
        let text = b"one\r\n\ntwo and more\nlast, unfinished";
        for cut in 1..text.len() {
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for chunk in text.chunks(cut) {
                lines.push(chunk);
                while let Some(line) = lines.next().expect("short") {
                    seen.push(String::from_utf8(line.to_vec()).expect("text"));
                }
            }
            assert_eq!(seen, ["one", "", "two and more"], "cut every {cut} bytes");
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut lines = Lines::default();
        let chunk = vec![b'x'; 1 << 20];
        let refused = (0..20).any(|_| {
            lines.push(&chunk);
            lines.next() == Err(LineTooLong)
        });
        assert!(refused);
    }
}

//! The most bytes that a call returns, whatever its programs wrote.

use assay_core::limits::EXEC_RETURNED_BYTES_MAX;

use crate::job::JobEnd;
use crate::outcome::Captured;

/// The bytes that may still be returned. Output beyond them is cut and marked as truncated; with an error in
/// its place, a program could avoid its verdict by writing much.
pub(super) struct ReturnBudget(usize);

impl ReturnBudget {
    pub fn new() -> Self {
        Self(EXEC_RETURNED_BYTES_MAX)
    }

    pub fn take(&mut self, ended: &mut JobEnd) {
        self.cut(&mut ended.stdout);
        self.cut(&mut ended.stderr);
        for (_, content) in &mut ended.files {
            self.cut(content);
        }
    }

    fn cut(&mut self, captured: &mut Captured) {
        if captured.data.len() > self.0 {
            captured.data.truncate(self.0);
            captured.data.shrink_to_fit();
            captured.truncated = true;
        }
        self.0 -= captured.data.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{ProgramEnding, Usage};

    #[test]
    fn what_is_beyond_it_is_cut_and_says_so() {
        let captured = |bytes: usize| Captured { data: vec![0; bytes], truncated: false };
        let ended = || JobEnd {
            ending: ProgramEnding::Exited(0),
            usage: Usage::default(),
            stdout: captured(50),
            stderr: captured(30),
            files: vec![("a".into(), captured(30)), ("b".into(), captured(0))],
        };
        let mut budget = ReturnBudget(160);
        let (mut first, mut second) = (ended(), ended());
        budget.take(&mut first);
        budget.take(&mut second);
        assert_eq!(first, ended());
        assert_eq!((second.stdout.data.len(), second.stdout.truncated), (50, false));
        assert_eq!((second.stderr.data.len(), second.stderr.truncated), (0, true));
        assert_eq!((second.files[0].1.data.len(), second.files[0].1.truncated), (0, true));
        assert!(!second.files[1].1.truncated, "nothing of it is missing");
    }
}

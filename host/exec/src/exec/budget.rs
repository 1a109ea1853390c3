//! What a call returns at most, whatever its programs wrote.

use assay_model::limits::EXEC_RETURNED_BYTES_MAX;

use crate::job::Ended;
use crate::outcome::Captured;

/// What is beyond it is cut and says so. An error instead would let a program that writes much keep
/// itself from being judged.
pub(super) struct Budget(usize);

impl Budget {
    pub fn new() -> Self {
        Self(EXEC_RETURNED_BYTES_MAX)
    }

    pub fn take(&mut self, ended: &mut Ended) {
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
    use crate::outcome::{Ending, Usage};

    #[test]
    fn what_is_beyond_it_is_cut_and_says_so() {
        let captured = |bytes: usize| Captured { data: vec![0; bytes], truncated: false };
        let ended = || Ended {
            ending: Ending::Exited(0),
            usage: Usage::default(),
            stdout: captured(50),
            stderr: captured(30),
            files: vec![("a".into(), captured(30)), ("b".into(), captured(0))],
        };
        let mut budget = Budget(160);
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

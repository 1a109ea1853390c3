//! Describes, for the plugin's author, what a call requested and did not get because the tenant lacks the grant or
//! the operator left it out. A failure of the machine is never listed here.

use assay_exec::Exec;

use super::without_paths;

/// Lines that are kept of a call.
const LINES_MAX: usize = 8;

#[derive(Default)]
pub(crate) struct Absences(Vec<String>);

impl Absences {
    pub(crate) fn note(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.0.len() < LINES_MAX && !self.0.contains(&what) {
            self.0.push(what);
        }
    }

    /// Notes what the machine lacks for programs, if it is known to lack anything.
    pub(crate) fn note_boxes(&mut self, exec: &Exec) {
        if let Some(what) = exec.lacking() {
            self.note(format!("this server runs no programs: {}", without_paths(what)));
        }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().cloned()
    }
}

//! Why requests were refused, in words for the plugin's author: the interface's errors have no room for
//! them. No secret and no address of the machine's networks stands in one.

use std::sync::Arc;

use parking_lot::Mutex;
use wasmtime_wasi_http::Error;

/// Lines that are kept of a call.
const NOTES_MAX: usize = 8;

/// Shared by all requests of a call.
#[derive(Clone, Default)]
pub(super) struct RefusalNotes(Arc<Mutex<Vec<Note>>>);

struct Note {
    text: String,
    /// Whether the tenant lacks a grant.
    ungranted: bool,
}

impl RefusalNotes {
    pub(super) fn add(&self, note: impl Into<String>) {
        self.push(Note { text: note.into(), ungranted: false });
    }

    fn push(&self, note: Note) {
        let mut notes = self.0.lock();
        if notes.len() < NOTES_MAX {
            notes.push(note);
        }
    }

    /// Notes why, and gives the error back.
    pub(super) fn refuse(&self, error: Error, why: impl Into<String>) -> Error {
        self.add(why);
        error
    }

    /// Notes which grant the tenant lacks, and gives the error back.
    pub(super) fn ungranted(&self, error: Error, why: impl Into<String>) -> Error {
        self.push(Note { text: why.into(), ungranted: true });
        error
    }

    /// The grants that requests lacked.
    pub(super) fn missing(&self) -> Vec<String> {
        let notes = self.0.lock();
        notes.iter().filter(|note| note.ungranted).map(|note| note.text.clone()).collect()
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        let notes = std::mem::take(&mut *self.0.lock());
        notes.into_iter().map(|note| note.text).collect()
    }
}

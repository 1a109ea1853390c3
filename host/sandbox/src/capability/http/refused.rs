//! Why requests were refused, in words for the plugin's author: the interface's errors have no room for
//! them. No secret and no address of the machine's networks stands in one.

use std::sync::{Arc, Mutex, PoisonError};

use wasmtime_wasi_http::Error;

/// Lines that are kept of a call.
const NOTES_MAX: usize = 8;

/// Shared by all requests of a call.
#[derive(Clone, Default)]
pub(super) struct RefusalNotes(Arc<Mutex<Vec<String>>>);

impl RefusalNotes {
    pub(super) fn add(&self, note: impl Into<String>) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < NOTES_MAX {
            notes.push(note.into());
        }
    }

    /// Notes why, and gives the error back.
    pub(super) fn refuse(&self, error: Error, why: impl Into<String>) -> Error {
        self.add(why);
        error
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

//! `assay:reward/storage`: read-only objects under roots that the operator granted to the tenant.
//!
//! Where the objects are is behind [`Storage`]: a worker asks its host, golden cases read a local
//! folder. What a plugin has located in a call is noted, so that programs are given nothing else.

use std::collections::BTreeSet;
use std::time::Instant;

use assay_model::id::Digest;
use assay_model::limits;
use wasmtime::Trap;
use wasmtime::component::HasData;

use super::{Capabilities, is_over};
use crate::call::bindings::assay::reward::storage;
use crate::ending::cut;

/// A tenant's objects. Names are well-formed (see [`check_name`]); every function returns soon
/// after the deadline.
pub trait Storage: Send + Sync {
    /// The object's bytes, at most [`limits::OBJECT_GET_BYTES_MAX`].
    fn get(&self, name: &str, deadline: Instant) -> Result<Vec<u8>, Error>;

    /// Brings the object, at most [`limits::OBJECT_BYTES_MAX`], to where programs read it.
    fn locate(&self, name: &str, deadline: Instant) -> Result<Digest, Error>;

    /// The names of all objects below a folder, sorted.
    fn names(&self, folder: &str, deadline: Instant) -> Result<Vec<String>, Error>;
}

/// Why there is no object; the texts are for the plugin's author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("there is no object `{0}`")]
    NotFound(String),
    #[error("{0}")]
    Denied(String),
    #[error("{0}")]
    Unavailable(String),
    #[error("the object has {0} bytes")]
    TooLarge(u64),
    /// Ends the call: no plugin sees it.
    #[error("the stage's time is over")]
    Deadline,
}

/// Parts of a name, the root first: none is empty, `.` or `..`, and none means something to a file
/// system or an object store.
pub fn check_name(name: &str) -> Result<(), Error> {
    let refused = |why: &str| {
        let shown: String = cut(name, 200).chars().filter(|c| !c.is_control()).collect();
        Err(Error::Denied(format!("`{shown}` names no object: {why}")))
    };
    if name.len() > limits::OBJECT_NAME_BYTES_MAX {
        return refused("it is too long");
    }
    if name.chars().any(|c| c.is_control() || c == '\\') {
        return refused("it has a control character or a backslash");
    }
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return refused("a part is empty, `.` or `..`");
    }
    Ok(())
}

/// Selects the storage's part of a store's data.
pub(crate) struct Granted;

impl HasData for Granted {
    type Data<'a> = Objects<'a>;
}

/// The interface during one call.
pub(crate) struct Objects<'a> {
    pub(crate) granted: Option<&'a Capabilities>,
    pub(crate) located: &'a mut BTreeSet<Digest>,
    pub(crate) deadline: Instant,
}

impl Objects<'_> {
    fn with<R>(
        &self,
        name: &str,
        ask: impl FnOnce(&dyn Storage, Instant) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let Some(granted) = self.granted else {
            return Err(Error::Unavailable("there is no storage here".into()));
        };
        check_name(name)?;
        let answer = ask(&*granted.storage, self.deadline);
        if is_over(self.deadline) { Err(Error::Deadline) } else { answer }
    }
}

impl storage::Host for Objects<'_> {
    fn get(&mut self, name: String) -> Result<Vec<u8>, Error> {
        self.with(&name, |storage, deadline| storage.get(&name, deadline))
    }

    fn locate(&mut self, name: String) -> Result<String, Error> {
        let digest = self.with(&name, |storage, deadline| storage.locate(&name, deadline))?;
        self.located.insert(digest);
        Ok(digest.to_string())
    }

    fn names(&mut self, folder: String) -> Result<Vec<String>, Error> {
        self.with(&folder, |storage, deadline| storage.names(&folder, deadline))
    }

    fn convert_error(&mut self, error: Error) -> wasmtime::Result<storage::Error> {
        Ok(match error {
            Error::NotFound(name) => storage::Error::NotFound(name),
            Error::Denied(problem) => storage::Error::Denied(problem),
            Error::Unavailable(problem) => storage::Error::Unavailable(problem),
            Error::TooLarge(bytes) => storage::Error::TooLarge(bytes),
            Error::Deadline => return Err(Trap::Interrupt.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_paths() {
        for name in ["judge", "judge/sum/1.in", "a b/ä.txt", "..a/b..", "a/.hidden"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        let long = "x".repeat(limits::OBJECT_NAME_BYTES_MAX + 1);
        for name in ["", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\\b", "a\0b", "a\nb", &long] {
            let problem = check_name(name).expect_err("refused");
            assert!(matches!(problem, Error::Denied(_)), "{name}: {problem}");
        }
    }
}

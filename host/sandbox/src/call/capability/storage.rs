//! `assay:reward/storage`: read-only objects under roots that the operator granted to the tenant.
//!
//! [`Storage`] hides where the objects are: a worker asks its host, golden cases read a local folder. The call keeps a
//! list of the objects that its plugin located; programs get no others.

use std::collections::BTreeSet;
use std::time::Instant;

use assay_core::id::Digest;
use assay_core::limits;
use wasmtime::Trap;
use wasmtime::component::{HasData, Linker};

use super::Capabilities;
use crate::call::GuestCall;
use crate::call::bindings::assay::reward::storage;
use crate::call::ending::cut;
use crate::clock::CallClock;

/// A tenant's objects. Names are well-formed (see [`check_name`]); every function returns soon
/// after the deadline.
pub trait Storage: Send + Sync {
    /// The object's bytes, at most [`limits::OBJECT_GET_BYTES_MAX`].
    fn get(&self, name: &str, deadline: Instant) -> Result<Vec<u8>, ObjectError>;

    /// Brings the object, at most [`limits::OBJECT_BYTES_MAX`], to where programs read it.
    fn locate(&self, name: &str, deadline: Instant) -> Result<Digest, ObjectError>;

    /// The names of all objects below a folder, sorted.
    fn names(&self, folder: &str, deadline: Instant) -> Result<Vec<String>, ObjectError>;
}

/// Why there is no object; the texts are for the plugin's author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
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
pub fn check_name(name: &str) -> Result<(), ObjectError> {
    let refused = |why: &str| {
        let shown: String = cut(name, 200).chars().filter(|c| !c.is_control()).collect();
        Err(ObjectError::Denied(format!("`{shown}` names no object: {why}")))
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

/// Selects the data of this interface in a store.
pub(crate) struct StorageData;

impl HasData for StorageData {
    type Data<'a> = StorageHost<'a>;
}

/// The interface during one call.
pub(crate) struct StorageHost<'a> {
    pub(crate) granted: Option<&'a Capabilities>,
    pub(crate) located: &'a mut BTreeSet<Digest>,
    pub(crate) clock: &'a mut CallClock,
}

/// Links the interface.
pub(super) fn link(linker: &mut Linker<GuestCall>) -> wasmtime::Result<()> {
    storage::add_to_linker::<_, StorageData>(linker, |call| StorageHost {
        granted: call.capabilities.as_ref(),
        located: &mut call.located,
        clock: &mut call.clock,
    })
}

impl StorageHost<'_> {
    fn with<R>(
        &mut self,
        function: &'static str,
        name: &str,
        ask: impl FnOnce(&dyn Storage, Instant) -> Result<R, ObjectError>,
    ) -> Result<R, ObjectError> {
        let Some(granted) = self.granted else {
            return Err(ObjectError::Unavailable("there is no storage here".into()));
        };
        check_name(name)?;
        asked(self.clock, function, |deadline| ask(&*granted.storage, deadline))
    }
}

/// Asks a store, and waits for the answer until the call's latest end.
fn asked<R>(
    clock: &mut CallClock,
    function: &'static str,
    ask: impl FnOnce(Instant) -> Result<R, ObjectError>,
) -> Result<R, ObjectError> {
    let (answer, late) = clock.wait_for_assay(function, |deadline| {
        let answer = ask(deadline);
        (answer, Instant::now() >= deadline)
    });
    match answer {
        // A store that was not reached until then says nothing about the object.
        Err(ObjectError::Unavailable(_)) if late => {
            clock.give_up();
            Err(ObjectError::Deadline)
        }
        Err(ObjectError::Deadline) => {
            clock.give_up();
            Err(ObjectError::Deadline)
        }
        _ if clock.is_over() => Err(ObjectError::Deadline),
        answer => answer,
    }
}

impl storage::Host for StorageHost<'_> {
    fn get(&mut self, name: String) -> Result<Vec<u8>, ObjectError> {
        self.with("storage.get", &name, |storage, deadline| storage.get(&name, deadline))
    }

    fn locate(&mut self, name: String) -> Result<String, ObjectError> {
        let digest = self
            .with("storage.locate", &name, |storage, deadline| storage.locate(&name, deadline))?;
        self.located.insert(digest);
        Ok(digest.to_string())
    }

    fn names(&mut self, folder: String) -> Result<Vec<String>, ObjectError> {
        self.with("storage.names", &folder, |storage, deadline| storage.names(&folder, deadline))
    }

    fn convert_error(&mut self, error: ObjectError) -> wasmtime::Result<storage::Error> {
        Ok(match error {
            ObjectError::NotFound(name) => storage::Error::NotFound(name),
            ObjectError::Denied(problem) => storage::Error::Denied(problem),
            ObjectError::Unavailable(problem) => storage::Error::Unavailable(problem),
            ObjectError::TooLarge(bytes) => storage::Error::TooLarge(bytes),
            ObjectError::Deadline => return Err(Trap::Interrupt.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::clock::Interruption;

    const LIMIT: Duration = Duration::from_millis(100);

    /// A call of the limit above that has so much of its wall time left.
    fn ending_in(left: Duration) -> CallClock {
        let spent = limits::stage_wall_max(LIMIT).saturating_sub(left);
        let started = Instant::now().checked_sub(spent).expect("the machine runs for longer");
        CallClock::new(started, LIMIT, Arc::default())
    }

    #[test]
    fn a_store_that_does_not_answer_ends_the_call_as_a_failure_of_ours() {
        let until = |deadline: Instant| {
            while let Some(left) = deadline.checked_duration_since(Instant::now()) {
                std::thread::park_timeout(left.max(Duration::from_micros(1)));
            }
        };
        let away = || Err::<(), _>(ObjectError::Unavailable("the store cannot be reached".into()));
        let mut clock = ending_in(LIMIT * 2);
        let answer = asked(&mut clock, "storage.get", |deadline| {
            until(deadline);
            away()
        });
        assert_eq!(answer, Err(ObjectError::Deadline));
        assert!(matches!(clock.interruption(), Interruption::Starved { .. }));
        // The host gives up earlier than the call.
        let mut clock = ending_in(LIMIT * 300);
        let answer = asked::<()>(&mut clock, "storage.get", |_| Err(ObjectError::Deadline));
        assert_eq!(answer, Err(ObjectError::Deadline));
        assert!(matches!(clock.interruption(), Interruption::Starved { .. }));
        // An answer in time is the plugin's.
        let mut clock = ending_in(LIMIT * 300);
        assert_eq!(asked(&mut clock, "storage.get", |_| away()), away());
    }

    #[test]
    fn names_are_plain_paths() {
        for name in ["judge", "judge/sum/1.in", "a b/ä.txt", "..a/b..", "a/.hidden"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        let long = "x".repeat(limits::OBJECT_NAME_BYTES_MAX + 1);
        for name in ["", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\\b", "a\0b", "a\nb", &long] {
            let problem = check_name(name).expect_err("refused");
            assert!(matches!(problem, ObjectError::Denied(_)), "{name}: {problem}");
        }
    }
}

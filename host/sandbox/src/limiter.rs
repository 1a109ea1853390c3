//! Limits what a guest allocates, and notes which limit it met: from the outside, a guest that
//! ran out of memory traps like one that gave up.

use assay_core::limits;
use wasmtime::ResourceLimiter;

/// The engine's words about a memory that would become larger than its type allows, for which it does not ask the
/// limiter. That is the guest's own doing.
const BEYOND_TYPE: &str = "memory growth exceeds memory type's limits";

/// The limits of one call and what it used of them.
pub(crate) struct Limiter {
    memory_bytes_max: u64,
    memory_bytes: u64,
    met: Option<LimitReached>,
    lacking: Option<String>,
}

/// A limit that was met, and what the guest wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitReached {
    Memory { wanted: u64, bytes_max: u64 },
    Table { wanted: usize },
}

impl Limiter {
    pub(crate) fn new(memory_bytes_max: u64) -> Self {
        Self { memory_bytes_max, memory_bytes: 0, met: None, lacking: None }
    }

    pub(crate) fn met(&self) -> Option<LimitReached> {
        self.met
    }

    /// Why the machine did not give memory that the limit allows; that ended the guest.
    pub(crate) fn lacking(&self) -> Option<&str> {
        self.lacking.as_deref()
    }
}

impl ResourceLimiter for Limiter {
    /// All memories of a component count together.
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let wanted = self.memory_bytes + (desired - current) as u64;
        if wanted > self.memory_bytes_max {
            self.met = Some(LimitReached::Memory { wanted, bytes_max: self.memory_bytes_max });
            return Ok(false);
        }
        self.memory_bytes = wanted;
        Ok(true)
    }

    /// Called when the limiter allowed memory and the machine had none. It ends the guest, which might otherwise score
    /// what it could not judge.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        let problem = error.to_string();
        if problem == BEYOND_TYPE {
            return Ok(());
        }
        self.lacking = Some(format!("{error:#}"));
        Err(error)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > limits::GUEST_TABLE_ELEMENTS_MAX {
            self.met = Some(LimitReached::Table { wanted: desired });
            return Ok(false);
        }
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::{Instance, Module, Store};

    use super::*;
    use crate::engine::running_engine;

    /// A memory of one page, and a function `grow` that makes it larger by some pages.
    const GROWER: &[u8] = b"\0asm\x01\0\0\0\
        \x01\x06\x01\x60\x01\x7f\x01\x7f\
        \x03\x02\x01\x00\
        \x05\x03\x01\x00\x01\
        \x07\x08\x01\x04grow\x00\x00\
        \x0a\x08\x01\x06\x00\x20\x00\x40\x00\x0b";

    #[test]
    fn what_the_guest_itself_rules_out_is_its_own_to_handle() {
        let engine = running_engine().expect("valid");
        let module = Module::new(&engine, GROWER).expect("a module");
        let mut store = Store::new(&engine, Limiter::new(4 << 16));
        store.limiter(|limiter| limiter);
        store.set_epoch_deadline(1_000_000);
        let instance = Instance::new(&mut store, &module, &[]).expect("a memory");
        let grow = instance.get_typed_func::<u32, i32>(&mut store, "grow").expect("exported");
        let mut grown = |pages| grow.call(&mut store, pages).expect("no trap");
        assert_eq!(grown(1), 1);
        // Larger than memories of its type get, and larger than the limit.
        assert_eq!((grown(1 << 16), grown(3)), (-1, -1));
        assert_eq!(grown(2), 2);
        let limiter = store.into_data();
        assert_eq!(limiter.lacking(), None);
        assert_eq!(
            limiter.met(),
            Some(LimitReached::Memory { wanted: 5 << 16, bytes_max: 4 << 16 })
        );
    }

    #[test]
    fn memory_that_the_machine_lacks_ends_the_guest() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).expect("no error"));
        let lacking = wasmtime::Error::msg("Cannot allocate memory");
        limiter.memory_grow_failed(lacking).expect_err("the guest must not see it");
        assert_eq!(limiter.lacking(), Some("Cannot allocate memory"));
        assert_eq!(limiter.met(), None);
    }

    #[test]
    fn memories_count_together() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).expect("no error"));
        assert!(limiter.memory_growing(0, 30, None).expect("no error"));
        assert!(!limiter.memory_growing(0, 20, Some(10)).expect("no error"));
        assert_eq!(limiter.met(), None, "the guest's own maximum is not our limit");
        assert!(!limiter.memory_growing(60, 71, None).expect("no error"));
        assert_eq!(limiter.met(), Some(LimitReached::Memory { wanted: 101, bytes_max: 100 }));
    }

    #[test]
    fn a_table_has_a_limit() {
        let mut limiter = Limiter::new(0);
        let max = limits::GUEST_TABLE_ELEMENTS_MAX;
        assert!(limiter.table_growing(0, max, None).expect("no error"));
        assert!(!limiter.table_growing(max, max + 1, None).expect("no error"));
        assert_eq!(limiter.met(), Some(LimitReached::Table { wanted: max + 1 }));
    }
}

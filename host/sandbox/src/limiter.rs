//! Limits what a guest allocates, and notes which limit it met: from the outside, a guest that
//! ran out of memory traps like one that gave up.

use assay_core::limits;
use wasmtime::ResourceLimiter;

/// The limits of one call and what it used of them.
pub(crate) struct Limiter {
    memory_bytes_max: u64,
    memory_bytes: u64,
    met: Option<Met>,
}

/// A limit that was met, and what the guest wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    Memory { wanted: u64, bytes_max: u64 },
    Table { wanted: usize },
}

impl Limiter {
    pub(crate) fn new(memory_bytes_max: u64) -> Self {
        Self { memory_bytes_max, memory_bytes: 0, met: None }
    }

    pub(crate) fn met(&self) -> Option<Met> {
        self.met
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
            self.met = Some(Met::Memory { wanted, bytes_max: self.memory_bytes_max });
            return Ok(false);
        }
        self.memory_bytes = wanted;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > limits::GUEST_TABLE_ELEMENTS_MAX {
            self.met = Some(Met::Table { wanted: desired });
            return Ok(false);
        }
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_count_together() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).expect("no error"));
        assert!(limiter.memory_growing(0, 30, None).expect("no error"));
        assert!(!limiter.memory_growing(0, 20, Some(10)).expect("no error"));
        assert_eq!(limiter.met(), None, "the guest's own maximum is not our limit");
        assert!(!limiter.memory_growing(60, 71, None).expect("no error"));
        assert_eq!(limiter.met(), Some(Met::Memory { wanted: 101, bytes_max: 100 }));
    }

    #[test]
    fn a_table_has_a_limit() {
        let mut limiter = Limiter::new(0);
        let max = limits::GUEST_TABLE_ELEMENTS_MAX;
        assert!(limiter.table_growing(0, max, None).expect("no error"));
        assert!(!limiter.table_growing(max, max + 1, None).expect("no error"));
        assert_eq!(limiter.met(), Some(Met::Table { wanted: max + 1 }));
    }
}

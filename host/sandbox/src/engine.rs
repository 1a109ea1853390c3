//! The one engine configuration. What compiles and what runs must agree on it to the last bit.

use std::hash::{Hash, Hasher};

use assay_model::limits;
use sha2::{Digest as _, Sha256};
use wasmtime::{Config, Enabled, Engine, PoolingAllocationConfig};

/// Core modules, tables and memories that one component may be made of; Python has 14 modules.
const MODULES_MAX: u32 = 64;
const MEMORIES_MAX: u32 = 4;
/// More than one call at a time, so that each loaded plugin keeps a warm slot with its own image.
const RUNNING_SLOTS: u32 = 32;
/// What a slot keeps resident for the next call instead of giving it back to the kernel.
const RESIDENT_BYTES: usize = 1 << 20;

/// An engine for running stages.
pub(crate) fn running_engine() -> wasmtime::Result<Engine> {
    Engine::new(&config(RUNNING_SLOTS))
}

/// An engine for compiling and describing: the same code, but address space for one instance only.
pub(crate) fn compiling_engine() -> wasmtime::Result<Engine> {
    Engine::new(&config(1))
}

/// Names the engine's build and settings: what was compiled under one name loads under no other.
#[must_use]
pub fn engine_id() -> String {
    let engine = compiling_engine().expect("the settings are valid on every supported machine");
    let mut hash = Collected(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hash);
    format!("wasmtime-{}", hex::encode(&hash.0.finalize()[..16]))
}

fn config(slots: u32) -> Config {
    let mut config = Config::new();
    config
        .concurrency_support(false)
        .epoch_interruption(true)
        .max_wasm_stack(limits::GUEST_STACK_BYTES_MAX)
        .async_stack_size(2 * limits::GUEST_STACK_BYTES_MAX)
        .allocation_strategy(pool(slots));
    config
}

fn pool(slots: u32) -> PoolingAllocationConfig {
    let memory_bytes_max =
        usize::try_from(limits::STAGE_MEMORY_BYTES_MAX).expect("a 64-bit address space");
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots * MODULES_MAX)
        .total_tables(slots * MODULES_MAX)
        .total_memories(slots * MEMORIES_MAX)
        .total_gc_heaps(slots)
        .total_stacks(1)
        .max_core_instances_per_component(MODULES_MAX)
        .max_tables_per_component(MODULES_MAX)
        .max_memories_per_component(MEMORIES_MAX)
        .max_memory_size(memory_bytes_max)
        .table_elements(limits::GUEST_TABLE_ELEMENTS_MAX)
        .max_core_instance_size(4 << 20)
        .max_component_instance_size(4 << 20)
        .linear_memory_keep_resident(RESIDENT_BYTES)
        .table_keep_resident(RESIDENT_BYTES)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Hashes into SHA-256: the standard hasher's result may change between compilers.
struct Collected(Sha256);

impl Hasher for Collected {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the digest is read instead")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_compiled_can_be_run() {
        let hash = |engine: &Engine| {
            let mut hash = Collected(Sha256::new());
            engine.precompile_compatibility_hash().hash(&mut hash);
            hash.0.finalize()
        };
        let compiling = compiling_engine().expect("valid");
        let running = running_engine().expect("valid");
        assert_eq!(hash(&compiling), hash(&running));
        assert_eq!(engine_id(), engine_id());
        assert_eq!(engine_id().len(), "wasmtime-".len() + 32);
    }
}

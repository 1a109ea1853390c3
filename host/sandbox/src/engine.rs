//! The one engine configuration. The compiling and the running process must have exactly the same one.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use assay_core::limits;
use sha2::{Digest as _, Sha256};
use wasmtime::{Config, Enabled, Engine, PoolingAllocationConfig};

use crate::functions::FunctionCache;

/// Core modules, tables and memories that one component may be made of; Python has 14 modules.
const MODULES_MAX: u32 = 64;
const MEMORIES_MAX: u32 = 4;
/// More than one call at a time, so that each loaded plugin keeps a warm slot with its own image.
const RUNNING_SLOTS: u32 = 32;
/// The bytes that a slot keeps resident for the next call and does not give back to the kernel.
const RESIDENT_BYTES: usize = 1 << 20;
/// Up to this size what a memory holds at first is mapped for each call, however many zeros are among it. Without
/// this, one that is mostly zeros, such as a snapshot of Python, is copied for each call.
const IMAGE_BYTES_MAX: u64 = 64 << 20;

/// An engine for running stages.
pub(crate) fn running_engine() -> wasmtime::Result<Engine> {
    Engine::new(&config(RUNNING_SLOTS))
}

/// An engine for compiling and describing: the same code, but address space for one instance only. Functions that are in
/// the cache are not compiled again.
pub(crate) fn compiling_engine(functions: Option<Arc<FunctionCache>>) -> wasmtime::Result<Engine> {
    let mut config = config(1);
    if let Some(functions) = functions {
        config.enable_incremental_compilation(functions)?;
    }
    Engine::new(&config)
}

/// Names the engine's build and settings: what was compiled under one name loads under no other.
#[must_use]
pub fn engine_id() -> String {
    let engine = compiling_engine(None).expect("the settings are valid on every supported machine");
    let mut hash = Sha256Hasher(Sha256::new());
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
        .memory_guaranteed_dense_image_size(IMAGE_BYTES_MAX)
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
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
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
            let mut hash = Sha256Hasher(Sha256::new());
            engine.precompile_compatibility_hash().hash(&mut hash);
            hash.0.finalize()
        };
        let functions = Arc::new(FunctionCache::new(Vec::new));
        let compiling = compiling_engine(Some(functions)).expect("valid");
        let running = running_engine().expect("valid");
        assert_eq!(hash(&compiling), hash(&running));
        assert_eq!(engine_id(), engine_id());
        assert_eq!(engine_id().len(), "wasmtime-".len() + 32);
    }

    #[test]
    fn a_memory_with_gaps_is_mapped_up_to_a_size() {
        // One byte at 0 and one behind the gap, in a memory of so many pages.
        let compiled = |pages: [u8; 2], place: [u8; 4]| {
            let memory = [&[5, 4, 1, 0][..], &pages].concat();
            let first = [0, 0x41, 0, 0x0b, 1, b'x'];
            let second = [&[0, 0x41][..], &place, &[0x0b, 1, b'x']].concat();
            let data = [&[0x0b, 16, 2][..], &first, &second].concat();
            let module = [&b"\0asm\x01\0\0\0"[..], &memory, &data].concat();
            let engine = compiling_engine(None).expect("valid");
            engine.precompile_module(&module).expect("a module").len()
        };
        // 20 MiB less a byte: the image is part of what is compiled.
        assert!(compiled([0xc0, 0x02], [0xff, 0xff, 0xff, 0x09]) > 20 << 20);
        // 64 MiB and some bytes: it would be of a tenant's making.
        assert!(compiled([0x81, 0x08], [0x85, 0x80, 0x80, 0x20]) < 1 << 20);
    }
}

//! The one engine configuration. The compiling and the running process must have exactly the same one.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use assay_core::architecture::Architecture;
use assay_core::limits;
use sha2::{Digest as _, Sha256};
use wasmtime::{Config, Enabled, Engine, PoolingAllocationConfig};

use crate::cpu;
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

/// An engine for compiling what machines of an architecture run. Fails for another architecture than this machine's if
/// its part of the compiler was left out of this build.
pub(crate) fn compiling_engine_for(architecture: Architecture) -> wasmtime::Result<Engine> {
    Engine::new(&config_for(architecture, 1))
}

/// Names the engine's build and settings: what was compiled under one name loads under no other. Machines of one
/// architecture have one name, because code is compiled for a fixed CPU level.
#[must_use]
pub fn engine_id() -> String {
    let engine = compiling_engine(None).expect("the settings are valid on every supported machine");
    id_of(&engine, Architecture::own())
}

/// The name for an engine with the settings of that architecture.
pub(crate) fn id_of(engine: &Engine, architecture: Architecture) -> String {
    let digest = hex::encode(&settings_digest(engine)[..16]);
    format!("wasmtime-{}-{digest}", cpu::level_name(architecture))
}

/// The digest of wasmtime's version and of everything that changes what code is compiled.
fn settings_digest(engine: &Engine) -> [u8; 32] {
    let mut hash = Sha256Hasher(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hash);
    hash.0.finalize().into()
}

fn config(slots: u32) -> Config {
    config_for(Architecture::own(), slots)
}

fn config_for(architecture: Architecture, slots: u32) -> Config {
    let mut config = settings(slots);
    cpu::compile_for(architecture, &mut config);
    config
}

/// Everything but the CPU level: by itself, code for whatever CPU this machine has.
fn settings(slots: u32) -> Config {
    let mut config = Config::new();
    config
        .concurrency_support(false)
        .epoch_interruption(true)
        // Else the results of some instructions are the CPU's.
        .relaxed_simd_deterministic(true)
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
    use wasm_encoder::{
        CodeSection, ExportKind, ExportSection, Function, FunctionSection, TypeSection, ValType,
    };
    use wasmtime::{Instance, Module, Store};

    use super::*;

    #[test]
    fn what_was_compiled_can_be_run() {
        let functions = Arc::new(FunctionCache::new(Vec::new));
        let compiling = compiling_engine(Some(functions)).expect("valid");
        let running = running_engine().expect("valid");
        assert_eq!(settings_digest(&compiling), settings_digest(&running));
        assert_eq!(engine_id(), engine_id());
        let name = engine_id();
        let digest =
            name.strip_prefix(&format!("wasmtime-{}-", cpu::level_name(Architecture::own())));
        assert_eq!(digest.expect("the level is in the name").len(), 32, "{name}");
    }

    /// Compiled for the level and loaded by the engine that runs plugins, which checks each feature of it.
    #[test]
    fn code_for_the_level_runs() {
        let mut types = TypeSection::new();
        types.ty().function([ValType::I64], [ValType::I64]);
        let mut functions = FunctionSection::new();
        functions.function(0);
        let mut exports = ExportSection::new();
        exports.export("bits", ExportKind::Func, 0);
        // The bits that are set and the zeros before the first: POPCNT and LZCNT of x86-64-v3.
        let mut body = Function::new([]);
        let mut to = body.instructions();
        to.local_get(0).i64_popcnt().local_get(0).i64_clz().i64_add().end();
        let mut code = CodeSection::new();
        code.function(&body);
        let mut module = wasm_encoder::Module::new();
        module.section(&types).section(&functions).section(&exports).section(&code);

        let compiled = compiling_engine(None).expect("valid").precompile_module(module.as_slice());
        let engine = running_engine().expect("valid");
        // SAFETY: these bytes come from the compiler.
        #[expect(unsafe_code, reason = "as in `load`")]
        let module = unsafe { Module::deserialize(&engine, compiled.expect("a module")) };
        let mut store = Store::new(&engine, ());
        store.set_epoch_deadline(1);
        let instance = Instance::new(&mut store, &module.expect("loads"), &[]).expect("starts");
        let bits = instance.get_typed_func::<i64, i64>(&mut store, "bits").expect("a function");
        assert_eq!(bits.call(&mut store, 0b1011).expect("no trap"), 3 + 60);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_name_depends_on_the_level_and_not_on_the_machine() {
        let digest = |config: &Config| settings_digest(&Engine::new(config).expect("valid"));
        let ours = digest(&config(1));
        for further in ["has_avx512f", "has_avx_vnni"] {
            let mut more = config(1);
            // SAFETY: nothing is compiled.
            #[expect(unsafe_code, reason = "an unsafe setting")]
            unsafe {
                more.cranelift_flag_enable(further)
            };
            assert_ne!(digest(&more), ours, "{further}");
        }
        // The settings that wasmtime finds by itself are those of the level only on a machine that has nothing else.
        let has_more =
            std::is_x86_feature_detected!("avx512f") || std::is_x86_feature_detected!("avxvnni");
        assert_eq!(digest(&settings(1)) != ours, has_more);
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

//! The price of compiling for a fixed CPU level: the same guests compiled for x86-64, for x86-64-v3, which plugins are
//! compiled for, and for whatever CPU this machine has. The three take turns, and medians are printed.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bare::BareState;
use bare::bindings::assay::reward::types::{Outcome, Request};
use bare::bindings::{RewardPlugin, RewardPluginPre};
use serde_json::Value;
use wasm_encoder::{
    BlockType, CodeSection, ExportKind, ExportSection, Function, FunctionSection, Instruction,
    Module as Encoder, TypeSection, ValType,
};
use wasmtime::component::Component;
use wasmtime::{Config, Engine, Instance, Module, Store};

mod bare;

const LEVELS: [Level; 3] = [Level::V1, Level::V3, Level::Native];
const ROUNDS: usize = 31;
/// The time for one guest at one level in one round.
const TURN: Duration = Duration::from_millis(200);
/// All requests of the sample of `math`: one call.
const REQUESTS: u32 = 336;
/// The steps of a call of the loop.
const STEPS: u32 = 64_000;

#[derive(Debug, Clone, Copy)]
enum Level {
    V1,
    V3,
    Native,
}

impl Level {
    fn engine(self) -> Engine {
        let mut config = Config::new();
        config.concurrency_support(false).epoch_interruption(true).max_wasm_stack(4 << 20);
        config.async_stack_size(8 << 20).memory_guaranteed_dense_image_size(64 << 20);
        if !matches!(self, Self::Native) {
            config.target("x86_64-unknown-linux-gnu").expect("a known target");
        }
        if matches!(self, Self::V3) {
            for flag in ["x86-64-v3", "has_avx"] {
                // SAFETY: settings of the sandbox's own engine.
                #[expect(unsafe_code, reason = "an unsafe setting")]
                unsafe {
                    config.cranelift_flag_enable(flag)
                };
            }
        }
        Engine::new(&config).expect("valid")
    }
}

struct Plugin {
    engine: Engine,
    ready: RewardPluginPre<BareState>,
}

impl Plugin {
    fn new(level: Level, component: &[u8]) -> Self {
        let engine = level.engine();
        let component = Component::from_binary(&engine, component).expect("a component");
        let ready = bare::linker(&engine).instantiate_pre(&component).expect("all is linked");
        Self { engine, ready: RewardPluginPre::new(ready).expect("a plugin") }
    }

    /// The reward of one request, in a fresh instance.
    fn reward(&self, response: &str, label: &str) -> f64 {
        let mut store = bare::store(&self.engine);
        let plugin: RewardPlugin = self.ready.instantiate(&mut store).expect("a plugin");
        let request = Request {
            id: "a-request",
            group: None,
            prompt: "",
            response,
            label,
            metadata: "null",
            attempt: 1,
            seed: 7,
        };
        let plugin = plugin.assay_reward_plugin();
        let end = plugin.call_run_stage(&mut store, "score", "{}", request, None);
        match end.expect("no trap") {
            Ok(Outcome::Scored(scored)) => scored.reward,
            Ok(Outcome::Next(_)) | Err(_) => 0.0,
        }
    }
}

/// One call; its result must be the same at every level.
type Turn = Box<dyn FnMut() -> f64>;

fn math(level: Level) -> Turn {
    let plugin = Plugin::new(level, &component("wasm32-wasip2/plugin/assay_plugin_math.wasm"));
    let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plugins/math/sample.jsonl");
    let sample = std::fs::read_to_string(sample).expect("the plugin has a sample");
    let requests: Vec<(String, String)> = sample
        .lines()
        .map(|line| {
            let request: Value = serde_json::from_str(line).expect("JSON");
            let response = request["response"].as_str().expect("a text");
            (response.to_owned(), request["label"].to_string())
        })
        .collect();
    assert_eq!(requests.len(), REQUESTS as usize);
    Box::new(move || requests.iter().map(|(text, label)| plugin.reward(text, label)).sum())
}

/// Python in the guest, which simplifies a formula by SymPy.
fn sympy(level: Level) -> Turn {
    let plugin = Plugin::new(level, &component("python-plugins/sympy_equal/plugin.wasm"));
    Box::new(move || plugin.reward("Answer: x^2 + 2*x + 1", "\"(x + 1)^2\""))
}

/// A loop of instructions on vectors that AVX-512 has and AVX2 lacks; plugins have none unless they are built for SIMD.
fn vectors(level: Level) -> Turn {
    let engine = level.engine();
    let module = Module::new(&engine, vector_loop()).expect("a module");
    let mut store = Store::new(&engine, ());
    store.set_epoch_deadline(1);
    let instance = Instance::new(&mut store, &module, &[]).expect("starts");
    let run = instance.get_typed_func::<u32, i64>(&mut store, "run").expect("a function");
    #[expect(clippy::cast_precision_loss, reason = "it is compared with itself")]
    Box::new(move || run.call(&mut store, black_box(STEPS)).expect("no trap") as f64)
}

/// `run(n)`: n times a multiplication of 64-bit lanes, and the bits that are set in each byte of it.
fn vector_loop() -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I64]);
    let mut functions = FunctionSection::new();
    functions.function(0);
    let mut exports = ExportSection::new();
    exports.export("run", ExportKind::Func, 0);
    let mut body = Function::new([(2, ValType::V128)]);
    let constant = Instruction::V128Const(0x5851_f42d_4c95_7f2d_1405_7b7e_f767_814f);
    body.instruction(&constant).instruction(&Instruction::LocalSet(1));
    body.instruction(&Instruction::Loop(BlockType::Empty));
    for instruction in [
        Instruction::LocalGet(1),
        constant,
        Instruction::I64x2Mul,
        Instruction::LocalTee(1),
        Instruction::I8x16Popcnt,
        Instruction::LocalGet(2),
        Instruction::I64x2Add,
        Instruction::LocalSet(2),
        Instruction::LocalGet(0),
        Instruction::I32Const(1),
        Instruction::I32Sub,
        Instruction::LocalTee(0),
        Instruction::BrIf(0),
        Instruction::End,
        Instruction::LocalGet(2),
        Instruction::I64x2ExtractLane(0),
        Instruction::End,
    ] {
        body.instruction(&instruction);
    }
    let mut code = CodeSection::new();
    code.function(&body);
    let mut module = Encoder::new();
    module.section(&types).section(&functions).section(&exports).section(&code);
    module.finish()
}

fn component(path: &str) -> Vec<u8> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = target.parent().expect("the target folder holds the temporary one").join(path);
    std::fs::read(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; run `make plugins` and `cargo test -p assay-tests python::`",
            path.display()
        )
    })
}

/// Seconds of one call, of so many as fit a turn.
fn measure(turn: &mut Turn, expected: f64) -> f64 {
    let (mut calls, started) = (0, Instant::now());
    while calls == 0 || started.elapsed() < TURN {
        assert_eq!(turn().to_bits(), expected.to_bits(), "the result depends on the level");
        calls += 1;
    }
    started.elapsed().as_secs_f64() / f64::from(calls)
}

/// Prints the median of the rounds for each level, with the quartiles, for a part of a call.
fn compare(name: &str, parts: u32, make: impl Fn(Level) -> Turn) {
    let mut turns = LEVELS.map(make);
    let expected = turns[0]();
    assert!(expected != 0.0, "{name}: no call worked");
    let mut times = [(); LEVELS.len()].map(|()| Vec::new());
    for round in 0..ROUNDS {
        // Each level begins as often as the others.
        for place in 0..LEVELS.len() {
            let level = (round + place) % LEVELS.len();
            times[level].push(measure(&mut turns[level], expected) / f64::from(parts));
        }
    }
    println!("{name}");
    for (level, mut times) in LEVELS.into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let quarter = times.len() / 4;
        let [low, median, high] = [quarter, times.len() / 2, times.len() - 1 - quarter]
            .map(|place| Duration::from_secs_f64(times[place]));
        println!("    {level:?}: {median:.2?} ({low:.2?} to {high:.2?})");
    }
}

fn main() {
    if !cfg!(target_arch = "x86_64") {
        println!("aarch64 has one level: nothing is compared");
        return;
    }
    // `cargo test --benches` asks whether it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    compare("math, a request", REQUESTS, math);
    compare("SymPy in Python, a request", 1, sympy);
    compare("a loop of vectors, 1,000 steps", STEPS / 1_000, vectors);
}

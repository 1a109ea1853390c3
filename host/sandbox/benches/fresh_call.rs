//! The cost of a call beyond the guest's own work, with a fresh instance and, for comparison, by the engine alone with its
//! default pool: with a fresh instance, and with a reused one, which no two requests may share.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use assay_core::outcome::StageEnd;
use assay_sandbox::compile::PluginCompiler;
use assay_sandbox::{LoadedPlugin, Request, Sandbox, StageCall};
use criterion::{Criterion, criterion_group, criterion_main};

mod bare;

fn guest(name: &str) -> Vec<u8> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let target = target.parent().expect("the target folder holds the temporary one");
    let path = target.join("wasm32-wasip2/plugin/examples").join(format!("{name}.wasm"));
    std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `make guests` first", path.display()))
}

fn load(sandbox: &Sandbox, component: &[u8]) -> LoadedPlugin {
    let compiler = PluginCompiler::reserve().expect("address space");
    let compiled = compiler.compile(component).expect("a plugin");
    sandbox.load(&compiled.bytes, compiled.compiled_digest).expect("loadable")
}

/// A Python plugin that the tests have built, if they have.
fn python(name: &str) -> Option<Vec<u8>> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let target = target.parent().expect("the target folder holds the temporary one");
    let path = target.join("python-plugins").join(name).join("plugin.wasm");
    let found = std::fs::read(&path).ok();
    if found.is_none() {
        println!("{} is missing: run `cargo test -p assay-tests python::`", path.display());
    }
    found
}

fn call(response: &str) -> StageCall<'_> {
    StageCall {
        stage: "score",
        settings: "{}",
        request: Request {
            id: "a-request",
            group: None,
            prompt: "",
            response,
            label: "null",
            metadata: "null",
            attempt: 1,
            seed: 7,
        },
        input: None,
        last: true,
        timeout: Duration::from_secs(1),
        memory_bytes_max: 64 << 20,
        capabilities: None,
    }
}

fn calls(criterion: &mut Criterion) {
    let sandbox = Sandbox::new().expect("a sandbox");
    let trivial = load(&sandbox, &guest("trivial"));
    let response = "x".repeat(2_000);
    criterion.bench_function("fresh instance, 2 kB", |bencher| {
        bencher.iter(|| {
            let run = sandbox.run_stage(&trivial, call(black_box(&response)));
            assert!(matches!(run.end, StageEnd::Scored(_)));
        });
    });
    let engine = engine_alone::Plugin::new(&guest("trivial"));
    criterion.bench_function("the engine alone, fresh instance, 2 kB", |bencher| {
        bencher.iter(|| assert_eq!(engine.instance().reward(black_box(&response)), 1.0));
    });
    let mut reused = engine.instance();
    criterion.bench_function("the engine alone, reused instance, 2 kB", |bencher| {
        bencher.iter(|| assert_eq!(reused.reward(black_box(&response)), 1.0));
    });
    let liar = load(&sandbox, &guest("liar"));
    let mut group = criterion.benchmark_group("runaway");
    group.sample_size(20).measurement_time(Duration::from_secs(4));
    group.bench_function("killed at a deadline of 50 ms", |bencher| {
        bencher.iter(|| {
            let timeout = Duration::from_millis(50);
            let run = sandbox.run_stage(&liar, StageCall { timeout, ..call("spin") });
            assert_eq!(run.end, StageEnd::TimedOut);
        });
    });
    group.finish();
}

/// CPython in the guest: a plugin without packages, and one with SymPy that has a formula to simplify.
fn python_calls(criterion: &mut Criterion) {
    let sandbox = Sandbox::new().expect("a sandbox");
    let mut group = criterion.benchmark_group("Python");
    group.sample_size(20).measurement_time(Duration::from_secs(5));
    for (name, response, label) in [
        ("template", "Paris", "\"Paris\""),
        ("sympy_equal", "Answer: x^2 + 2*x + 1", "\"(x + 1)^2\""),
    ] {
        let Some(component) = python(name) else { continue };
        group.bench_function(format!("{name}, from the upload to ready"), |bencher| {
            bencher.iter(|| load(&sandbox, black_box(&component)));
        });
        let plugin = load(&sandbox, &component);
        group.bench_function(format!("{name}, fresh instance"), |bencher| {
            bencher.iter(|| {
                let call = call(black_box(response));
                let request = Request { label, ..call.request };
                let (timeout, memory_bytes_max) = (Duration::from_secs(10), 512 << 20);
                let call = StageCall { request, timeout, memory_bytes_max, ..call };
                let run = sandbox.run_stage(&plugin, call);
                assert!(matches!(run.end, StageEnd::Scored(_)), "{run:?}");
            });
        });
    }
    group.finish();
}

/// The engine without the sandbox: instances from its pool, no limits but the epoch.
mod engine_alone {
    use wasmtime::component::Component;
    use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};

    use crate::bare::bindings::assay::reward::types::{Outcome, Request};
    use crate::bare::bindings::{RewardPlugin, RewardPluginPre};
    use crate::bare::{self, BareState};

    pub(super) struct Plugin {
        engine: Engine,
        linked: RewardPluginPre<BareState>,
    }

    pub(super) struct Instance {
        store: Store<BareState>,
        plugin: RewardPlugin,
    }

    impl Plugin {
        pub(super) fn new(component: &[u8]) -> Self {
            let mut config = Config::new();
            config.epoch_interruption(true);
            let pool = PoolingAllocationConfig::new();
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
            let engine = Engine::new(&config).expect("valid");
            let component = Component::from_binary(&engine, component).expect("a component");
            let linked = bare::linker(&engine).instantiate_pre(&component).expect("a plugin");
            Self { engine, linked: RewardPluginPre::new(linked).expect("a plugin") }
        }

        pub(super) fn instance(&self) -> Instance {
            let mut store = bare::store(&self.engine);
            let plugin = self.linked.instantiate(&mut store).expect("a plugin");
            Instance { store, plugin }
        }
    }

    impl Instance {
        pub(super) fn reward(&mut self, response: &str) -> f64 {
            let request = Request {
                id: "a-request",
                group: None,
                prompt: "",
                response,
                label: "null",
                metadata: "null",
                attempt: 1,
                seed: 7,
            };
            let plugin = self.plugin.assay_reward_plugin();
            let end = plugin.call_run_stage(&mut self.store, "score", "{}", request, None);
            match end.expect("no trap").expect("no error") {
                Outcome::Scored(scored) => scored.reward,
                Outcome::Next(_) => f64::NAN,
            }
        }
    }
}

criterion_group!(benches, calls, python_calls);
criterion_main!(benches);

//! Guests for tests: compiled once a process, run with limits that suit them.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use assay_sandbox::compile::{Compiled, Compiler, Refused};
use assay_sandbox::{Input, Loaded, Request, Sandbox, StageCall, StageRun};

/// The bytes of a guest that was built before.
pub(crate) fn guest(name: &str) -> Vec<u8> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let target = target.parent().expect("the target folder holds the temporary one");
    let path = target.join("wasm32-wasip2/plugin/examples").join(format!("{name}.wasm"));
    std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `make guests` first", path.display()))
}

pub(crate) fn compiled(bytes: &[u8]) -> Result<Compiled, Refused> {
    Compiler::reserve().expect("address space").compile(bytes)
}

/// A plugin that is ready to be called.
pub(crate) struct Plugin {
    pub(crate) sandbox: Sandbox,
    pub(crate) loaded: Loaded,
    pub(crate) compiled: Compiled,
}

impl Plugin {
    pub(crate) fn new(name: &str) -> Self {
        let compiled = compiled(&guest(name)).expect("a plugin");
        let sandbox = Sandbox::new().expect("a sandbox");
        let loaded = sandbox.load(&compiled.bytes, compiled.compiled_digest).expect("loadable");
        Self { sandbox, loaded, compiled }
    }
}

/// The guest that does as it is told.
pub(crate) fn liar() -> &'static Plugin {
    static LIAR: OnceLock<Plugin> = OnceLock::new();
    LIAR.get_or_init(|| Plugin::new("liar"))
}

pub(crate) fn request(response: &str) -> Request<'_> {
    Request {
        id: "a-request",
        group: Some("a-group"),
        prompt: "a prompt",
        response,
        label: "{\"answer\":42}",
        metadata: "null",
        attempt: 2,
        seed: 7,
    }
}

pub(crate) fn call(response: &str) -> StageCall<'_> {
    StageCall {
        stage: "score",
        settings: "{}",
        request: request(response),
        input: None::<Input<'_>>,
        last: true,
        timeout: Duration::from_secs(30),
        memory_bytes_max: 64 << 20,
        capabilities: None,
    }
}

impl Plugin {
    pub(crate) fn run(&self, call: StageCall<'_>) -> StageRun {
        self.sandbox.run_stage(&self.loaded, call)
    }
}

//! Guests for tests: compiled once for all of them, run with limits that suit them.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use assay_core::id::Digest;
use assay_once::Once;
use assay_sandbox::compile::{CompiledPlugin, PluginCompiler, UploadError};
use assay_sandbox::{Input, LoadedPlugin, Request, Sandbox, StageCall, StageRun};

/// The bytes of a guest that was built before.
pub(crate) fn guest(name: &str) -> Vec<u8> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let target = target.expect("the target folder holds the temporary one");
    let path = target.join("wasm32-wasip2/plugin/examples").join(format!("{name}.wasm"));
    std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `make guests` first", path.display()))
}

pub(crate) fn compiled(bytes: &[u8]) -> Result<CompiledPlugin, UploadError> {
    PluginCompiler::reserve().expect("address space").compile(bytes)
}

/// The same, kept in a file: a debug build takes seconds for it.
fn compiled_once(component: &[u8]) -> CompiledPlugin {
    let program = std::env::current_exe().expect("a running test has a path");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sandbox-guests");
    let once = Once::new(&folder, &program).expect("a folder");
    let kept = once.get(&Digest::of(component).to_string(), || {
        let CompiledPlugin { digest, compiled_digest, description, imports, bytes } =
            compiled(component).expect("a plugin");
        let about = (digest, compiled_digest, description, imports);
        let mut kept = serde_json::to_vec(&about).expect("plain data");
        kept.push(b'\n');
        kept.extend(bytes);
        kept
    });
    let kept = kept.expect("a file");
    let end = kept.iter().position(|byte| *byte == b'\n').expect("a line and the bytes");
    let (digest, compiled_digest, description, imports) =
        serde_json::from_slice(&kept[..end]).expect("as it was written");
    CompiledPlugin {
        digest,
        compiled_digest,
        description,
        imports,
        bytes: kept[end + 1..].to_vec(),
    }
}

/// A plugin that is ready to be called.
pub(crate) struct Plugin {
    pub(crate) sandbox: Sandbox,
    pub(crate) loaded: LoadedPlugin,
    pub(crate) compiled: CompiledPlugin,
}

impl Plugin {
    pub(crate) fn new(name: &str) -> Self {
        let compiled = compiled_once(&guest(name));
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

//! Compiles an uploaded component into a plugin that is ready to run.
//!
//! This runs in a child process with limited memory and time. Compiling hostile bytes is the riskiest step of an
//! upload, and a crash must take nothing else down.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::capability;
use assay_core::id::Digest;
use assay_core::limits;
use assay_core::outcome::StageEnd;
use assay_core::plugin::{Description, Stage};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::call::bindings::assay::reward::types;
use crate::call::{Allowance, ending};
use crate::engine::compiling_engine;
use crate::functions::FunctionCache;
use crate::load::{deserialize, prepare};
use crate::stage::{NotStarted, Sandbox};
use crate::wasi;

/// A compiled upload.
#[derive(Debug)]
pub struct CompiledPlugin {
    /// The digest of the component as it was uploaded.
    pub digest: Digest,
    /// The digest of the native code.
    pub compiled_digest: Digest,
    pub description: Description,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    pub bytes: Vec<u8>,
}

/// Why an upload was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The upload is at fault; the text is for its author.
    #[error("{0}")]
    Refused(String),
    /// The machine kept the compiler waiting for a processor, or had no memory for it: the same upload may work later.
    #[error("{0}")]
    Starved(String),
}

/// Compiles components.
pub struct PluginCompiler {
    engine: Engine,
}

impl PluginCompiler {
    /// Reserves address space for the guest's memory, far more than it may ever use: to be called
    /// before the process limits its own.
    pub fn reserve() -> Result<Self, NotStarted> {
        Ok(Self { engine: compiling_engine(None)? })
    }

    /// The same with functions that were compiled before.
    pub fn reserve_with(functions: Arc<FunctionCache>) -> Result<Self, NotStarted> {
        Ok(Self { engine: compiling_engine(Some(functions))? })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Compiles a component and asks it what it is.
    pub fn compile(&self, bytes: &[u8]) -> Result<CompiledPlugin, UploadError> {
        let engine = &self.engine;
        check(bytes)?;
        let component = Component::from_binary(engine, bytes).map_err(|error| {
            UploadError::Refused(format!("the component is not valid: {error:#}"))
        })?;
        let (description, imports) = describe_component(engine, &component)?;
        let compiled = component.serialize().map_err(|error| {
            UploadError::Refused(format!("the compiled component was not written: {error:#}"))
        })?;
        let compiled_digest = Digest::of(&compiled);
        let digest = Digest::of(bytes);
        Ok(CompiledPlugin { digest, compiled_digest, description, imports, bytes: compiled })
    }

    /// The same for a component that [`Self::compile`] compiled before, with the code that it returned then; the component is
    /// asked anew what it is. `None` if the code has another digest or is another engine's.
    ///
    /// The code and its digest must come from a place that this user alone can write to, or from the server: native
    /// code is only as good as its origin.
    pub fn recall(
        &self,
        bytes: &[u8],
        code: Vec<u8>,
        compiled_digest: Digest,
    ) -> Option<Result<CompiledPlugin, UploadError>> {
        let component = deserialize(&self.engine, &code, compiled_digest).ok()?;
        let described = describe_component(&self.engine, &component);
        Some(described.map(|(description, imports)| CompiledPlugin {
            digest: Digest::of(bytes),
            compiled_digest,
            description,
            imports,
            bytes: code,
        }))
    }
}

pub(crate) fn check(bytes: &[u8]) -> Result<(), UploadError> {
    let size = bytes.len();
    if size > limits::PLUGIN_BYTES_MAX {
        let max = limits::PLUGIN_BYTES_MAX;
        return Err(UploadError::Refused(format!(
            "the plugin has {size} bytes, the limit is {max}"
        )));
    }
    if Engine::detect_precompiled(bytes).is_some() || !is_component(bytes) {
        return Err(UploadError::Refused(
            "this is no WebAssembly component; build it for wasm32-wasip2".into(),
        ));
    }
    Ok(())
}

/// The code of a component that is not asked what it is.
pub(crate) fn compile_alone(engine: &Engine, component: &[u8]) -> Result<Vec<u8>, UploadError> {
    let compiled = engine.precompile_component(component);
    compiled.map_err(|error| UploadError::Refused(format!("it does not compile: {error:#}")))
}

/// The component's own description, and its imports.
fn describe_component(
    engine: &Engine,
    component: &Component,
) -> Result<(Description, Vec<String>), UploadError> {
    let imports = imports(engine, component)?;
    let sandbox = Sandbox::with_engine(engine.clone())
        .map_err(|error| UploadError::Starved(format!("the sandbox did not start: {error:#}")))?;
    let description = describe(&sandbox, component)?;
    description.check().map_err(UploadError::Refused)?;
    Ok((description, imports))
}

/// The magic number, and the layer that tells a component from a core module.
fn is_component(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm") && bytes.get(6..8) == Some(&[1, 0])
}

/// The imports of a component; fails if one of them is not an interface for plugins.
fn imports(engine: &Engine, component: &Component) -> Result<Vec<String>, UploadError> {
    let kind = component.component_type();
    let names: Vec<String> = kind.imports(engine).map(|(name, _)| name.to_owned()).collect();
    for name in &names {
        let granted = match name.split_once('@') {
            Some((interface, version)) if interface.starts_with("wasi:") => {
                version.starts_with("0.2.") && wasi::INTERFACES.contains(&interface)
            }
            Some((interface, version)) => {
                let always = matches!(interface, "assay:reward/log" | "assay:reward/types");
                version.starts_with("0.1.")
                    && (always || capability::of_import(interface).is_some())
            }
            None => false,
        };
        if !granted {
            let name = ending::cut(name, 200);
            return Err(UploadError::Refused(format!(
                "the plugin imports `{name}`, which no plugin is given"
            )));
        }
    }
    Ok(names)
}

fn describe(sandbox: &Sandbox, component: &Component) -> Result<Description, UploadError> {
    let plugin = prepare(&sandbox.engine, &sandbox.linker, component).map_err(|error| {
        UploadError::Refused(format!("the component is not a plugin: {error:#}"))
    })?;
    let allowance = Allowance {
        timeout: Duration::from_millis(limits::DESCRIBE_MS_MAX),
        memory_bytes_max: limits::DESCRIBE_MEMORY_BYTES_MAX,
        seed: 0,
        capabilities: None,
        waits: plugin.waits(),
    };
    let (result, call) = sandbox.call(allowance, Instant::now(), |store| {
        let instance = plugin.pre.instantiate(&mut *store)?;
        instance.assay_reward_plugin().call_describe(store)
    });
    let described = result.map_err(|error| not_described(&ending::broken(&error, &call)))?;
    Ok(description(described))
}

fn not_described(end: &StageEnd) -> UploadError {
    match end {
        StageEnd::Failed(problem) if end.is_starved() => {
            let problem = &problem.message;
            UploadError::Starved(format!("`describe` did not come to its end: {problem}"))
        }
        StageEnd::Failed(problem) => {
            UploadError::Refused(format!("`describe` failed: {}", problem.message))
        }
        _ => UploadError::Refused(format!(
            "`describe` failed: it took longer than {} ms",
            limits::DESCRIBE_MS_MAX
        )),
    }
}

fn description(described: types::Description) -> Description {
    let stage = |stage: types::Stage| Stage {
        name: stage.name,
        pool: stage.pool,
        timeout_ms: stage.timeout_ms,
        memory_bytes_max: stage.memory_bytes_max,
        retries_max: stage.retries_max,
    };
    Description {
        name: described.name,
        version: described.version,
        summary: described.summary,
        stages: described.stages.into_iter().map(stage).collect(),
        settings_schema: described.settings_schema,
        label_schema: described.label_schema,
        timeout_reward: described.timeout_reward,
        deterministic: described.deterministic,
    }
}

#[cfg(test)]
mod tests {
    use assay_core::outcome::ErrorCode;

    use super::*;

    #[test]
    fn an_overloaded_machine_is_no_fault_of_an_upload() {
        let end = |code| not_described(&ending::failed(code, "why"));
        assert!(matches!(end(ErrorCode::LeaseExpired), UploadError::Starved(_)));
        assert!(matches!(end(ErrorCode::PluginTrap), UploadError::Refused(_)));
        assert!(matches!(not_described(&StageEnd::TimedOut), UploadError::Refused(_)));
    }
}

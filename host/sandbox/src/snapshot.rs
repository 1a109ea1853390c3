//! A component with the memory that a call left: what a component of Python read and made as it described itself is part
//! of the result, so that no later call does it again.
//!
//! The author's builder has a component with the interpreter alone, and this makes the plugin of it. The component must
//! have one memory, whose whole content it brings itself, and instantiate each module once; `componentize-py` writes such
//! ones. Its code stays as it is, byte for byte: only the memory and the globals of the result differ.
//!
//! It runs what its user wrote on its user's machine, with that user's folders. A server never does it.

mod binary;
mod measure;
mod rewrite;

use std::path::Path;

use assay_core::id::Digest;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, ResourceType};
use wasmtime::{Engine, Store};
use wasmtime_wasi::{FsPerms, WasiCtx};

pub use self::measure::Measurable;
use crate::call::GuestCall;
use crate::call::bindings::RewardPlugin;
use crate::compile::{PluginCompiler, UploadError, compile_alone};
use crate::load::deserialize;

/// A folder that the component sees while it describes itself, and may write to.
pub struct Folder<'a> {
    pub path: &'a Path,
    /// Its name in the component's root folder.
    pub name: &'a str,
}

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum NoSnapshot {
    /// The component is not of the kind that this can change.
    #[error("the component cannot be changed: {0}")]
    Unsuitable(String),
    /// It did not describe itself.
    #[error("{0}")]
    Failed(String),
}

impl From<wasmparser::BinaryReaderError> for NoSnapshot {
    fn from(error: wasmparser::BinaryReaderError) -> Self {
        Self::Unsuitable(error.to_string())
    }
}

impl PluginCompiler {
    /// Compiles a component without asking it anything.
    pub fn compile_alone(&self, component: &[u8]) -> Result<Vec<u8>, UploadError> {
        compile_alone(self.engine(), component)
    }

    /// The component after it described itself. `code` is what [`Self::compile_alone`] made of
    /// [`Measurable::component`], and comes from a place that this user alone can write to.
    pub fn snapshot(
        &self,
        measurable: &Measurable,
        code: &[u8],
        code_digest: Digest,
        folders: &[Folder<'_>],
    ) -> Result<Vec<u8>, NoSnapshot> {
        let failed = |error: wasmtime::Error| NoSnapshot::Failed(format!("{error:#}"));
        let engine = self.engine();
        let component = deserialize(engine, code, code_digest)
            .map_err(|problem| NoSnapshot::Failed(problem.to_string()))?;
        // A store of another type would have all of the system interface compiled once more into this program.
        let mut linker = Linker::<GuestCall>::new(engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).map_err(failed)?;
        refuse_capabilities(&mut linker, &component, engine).map_err(failed)?;
        let mut store = Store::new(engine, GuestCall::unlimited(system(folders).map_err(failed)?));
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = linker.instantiate(&mut store, &component).map_err(failed)?;
        let plugin = RewardPlugin::new(&mut store, &instance).map_err(failed)?;
        plugin.assay_reward_plugin().call_describe(&mut store).map_err(failed)?;
        let measure = instance
            .get_typed_func::<(), (Vec<u8>,)>(&mut store, measure::EXPORT)
            .map_err(failed)?;
        let (measured,) = measure.call(&mut store, ()).map_err(failed)?;
        rewrite::component(measurable, &measured)
    }
}

/// Links the imports that are no part of the system interface: there is no request yet that could use one.
fn refuse_capabilities(
    linker: &mut Linker<GuestCall>,
    component: &Component,
    engine: &Engine,
) -> wasmtime::Result<()> {
    let kind = component.component_type();
    for (name, import) in kind.imports(engine) {
        let is_system = name.starts_with("wasi:") && !name.starts_with("wasi:http/");
        let ComponentItem::ComponentInstance(interface) = import.ty else { continue };
        if is_system {
            continue;
        }
        let mut instance = linker.instance(name)?;
        for (item, export) in interface.exports(engine) {
            match export.ty {
                ComponentItem::ComponentFunc(_) => {
                    let called = format!("{name}.{item} was called as the plugin was built");
                    instance.func_new(item, move |_, _, _, _| {
                        Err(wasmtime::Error::msg(called.clone()))
                    })?;
                }
                ComponentItem::Resource(_) => {
                    instance.resource(item, ResourceType::host::<()>(), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The system interface with the user's folders and the user's terminal for errors.
fn system(folders: &[Folder<'_>]) -> wasmtime::Result<WasiCtx> {
    let mut wasi = WasiCtx::builder();
    wasi.inherit_stderr().allow_blocking_current_thread(true);
    wasi.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
    for folder in folders {
        wasi.preopened_dir(folder.path, folder.name, FsPerms::ReadWrite)?;
    }
    Ok(wasi.build())
}

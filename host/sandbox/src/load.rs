//! Compiled plugins, from bytes that were verified to a component that is ready to instantiate.

use assay_core::capability;
use assay_core::id::Digest;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::call::GuestCall;
use crate::call::bindings::RewardPluginPre;

/// A plugin that is ready for calls.
pub struct LoadedPlugin {
    pub(crate) pre: RewardPluginPre<GuestCall>,
    asks: bool,
    waits: bool,
}

impl LoadedPlugin {
    /// Whether it imports something of [`Capabilities`](crate::call::capability::Capabilities): the others
    /// need none made for their calls.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Whether a call of it may wait for other hosts.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }
}

/// Why compiled bytes were not loaded.
#[derive(Debug, thiserror::Error)]
pub enum Unloadable {
    /// Damaged or exchanged on their way: another copy may be whole.
    #[error("the compiled plugin has the digest {found}, not {expected}")]
    WrongDigest { expected: Digest, found: Digest },
    /// Compiled by another engine, or importing what is not linked.
    #[error("the compiled plugin does not load: {0}")]
    Engine(String),
}

/// Loads compiled bytes if their digest is `expected`.
///
/// `expected` must come from the process that ran the compiler: native code is only as good as its origin.
pub(crate) fn load(
    engine: &Engine,
    linker: &Linker<GuestCall>,
    bytes: &[u8],
    expected: Digest,
) -> Result<LoadedPlugin, Unloadable> {
    let component = deserialize(engine, bytes, expected)?;
    prepare(engine, linker, &component).map_err(unloadable)
}

/// The component of compiled bytes, as for [`load`].
pub(crate) fn deserialize(
    engine: &Engine,
    bytes: &[u8],
    expected: Digest,
) -> Result<Component, Unloadable> {
    let found = Digest::of(bytes);
    if found != expected {
        return Err(Unloadable::WrongDigest { expected, found });
    }
    // SAFETY: the bytes have the digest of an artifact that our own compiler wrote; the engine
    // refuses those of another build or configuration.
    #[expect(unsafe_code, reason = "native code is loaded here and nowhere else")]
    unsafe { Component::deserialize(engine, bytes) }.map_err(unloadable)
}

fn unloadable(error: wasmtime::Error) -> Unloadable {
    Unloadable::Engine(format!("{error:#}"))
}

/// Links a component; fails on an import that is not granted and on a missing export.
pub(crate) fn prepare(
    engine: &Engine,
    linker: &Linker<GuestCall>,
    component: &Component,
) -> wasmtime::Result<LoadedPlugin> {
    let pre = RewardPluginPre::new(linker.instantiate_pre(component)?)?;
    let kind = component.component_type();
    let names = kind.imports(engine).filter_map(|(name, _)| name.split('@').next());
    let interfaces: Vec<&str> = names.collect();
    let asks = interfaces.iter().any(|interface| capability::of_import(interface).is_some());
    let waits = interfaces.iter().any(|interface| capability::HTTP.has_package_of(interface));
    Ok(LoadedPlugin { pre, asks, waits })
}

//! Compiles components for machines of another architecture. This machine runs nothing of them.

use assay_core::architecture::Architecture;
use wasmtime::Engine;

use crate::compile::{UploadError, check, compile_alone};
use crate::engine::{compiling_engine_for, id_of};
use crate::stage::NotStarted;

/// There is no compiler for the architecture.
#[derive(Debug, thiserror::Error)]
pub enum NoCrossCompiler {
    #[error(
        "this build compiles plugins for {own} alone; releases, and what `make release` builds, do so for {asked} too",
        own = Architecture::own()
    )]
    LeftOut { asked: Architecture },
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
}

/// A compiler for the other architecture, or for this one.
pub struct CrossCompiler {
    engine: Engine,
    architecture: Architecture,
}

impl CrossCompiler {
    /// Reserves address space, as [`PluginCompiler::reserve`](crate::compile::PluginCompiler::reserve) does.
    pub fn reserve(architecture: Architecture) -> Result<Self, NoCrossCompiler> {
        if architecture != Architecture::own() && !cfg!(feature = "cross-compilation") {
            return Err(NoCrossCompiler::LeftOut { asked: architecture });
        }
        let engine = compiling_engine_for(architecture).map_err(NotStarted::from)?;
        Ok(Self { engine, architecture })
    }

    /// The id of the engine that loads what this compiles.
    #[must_use]
    pub fn engine_id(&self) -> String {
        id_of(&self.engine, self.architecture)
    }

    /// Compiles a component, which is not asked what it is.
    pub fn compile(&self, component: &[u8]) -> Result<Vec<u8>, UploadError> {
        check(component)?;
        compile_alone(&self.engine, component)
    }
}

#[cfg(all(test, feature = "cross-compilation"))]
mod tests {
    use assay_core::id::Digest;

    use super::*;
    use crate::engine::engine_id;
    use crate::load::deserialize;

    /// A component without anything in it.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";
    /// Where an ELF file names its architecture, and the names.
    const MACHINE: std::ops::Range<usize> = 18..20;
    const MACHINES: [(Architecture, [u8; 2]); 2] =
        [(Architecture::X86_64, [62, 0]), (Architecture::Aarch64, [183, 0])];

    #[test]
    fn each_architecture_has_code_and_an_engine_of_its_own() {
        for (architecture, machine) in MACHINES {
            let compiler = CrossCompiler::reserve(architecture).expect("this build has both");
            let code = compiler.compile(EMPTY).expect("a component");
            assert_eq!(code[MACHINE], machine, "{architecture}");
            let is_own = architecture == Architecture::own();
            assert_eq!(compiler.engine_id() == engine_id(), is_own);
            let own = compiling_engine_for(Architecture::own()).expect("valid");
            let loaded = deserialize(&own, &code, Digest::of(&code));
            assert_eq!(loaded.is_ok(), is_own, "{architecture}");
        }
    }

    #[test]
    fn what_is_no_component_is_refused() {
        let compiler = CrossCompiler::reserve(Architecture::Aarch64).expect("this build has it");
        for bytes in [&b"\0asm\x01\0\0\0"[..], b"\x7fELF", b""] {
            let refused = compiler.compile(bytes);
            assert!(matches!(refused, Err(UploadError::Refused(_))), "{bytes:?}");
        }
    }
}

//! The sections of a component and of its modules, in their order. What is not changed is copied as it is.

use wasm_encoder::{Component, Module, RawSection};
use wasmparser::{BinaryReader, FromReader, SectionLimited};

use super::NoSnapshot;

/// The magic number, the version and the layer.
const PREAMBLE_BYTES: usize = 8;

/// The kinds of sections in a component that are read here.
pub(super) mod of_component {
    pub(in crate::snapshot) const CORE_MODULE: u8 = 1;
    pub(in crate::snapshot) const CORE_INSTANCE: u8 = 2;
    pub(in crate::snapshot) const ALIAS: u8 = 6;
    pub(in crate::snapshot) const TYPE: u8 = 7;
    pub(in crate::snapshot) const CANONICAL: u8 = 8;
    pub(in crate::snapshot) const IMPORT: u8 = 10;
    pub(in crate::snapshot) const EXPORT: u8 = 11;
}

/// The kinds of sections in a module that are read here.
pub(super) mod of_module {
    pub(in crate::snapshot) const IMPORT: u8 = 2;
    pub(in crate::snapshot) const MEMORY: u8 = 5;
    pub(in crate::snapshot) const GLOBAL: u8 = 6;
    pub(in crate::snapshot) const EXPORT: u8 = 7;
    pub(in crate::snapshot) const START: u8 = 8;
    pub(in crate::snapshot) const DATA: u8 = 11;
    pub(in crate::snapshot) const DATA_COUNT: u8 = 12;
}

/// A section of a component or of a module.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    pub(super) kind: u8,
    pub(super) content: &'a [u8],
}

/// The sections of a component or a module.
pub(super) fn sections(bytes: &[u8]) -> Result<Vec<Section<'_>>, NoSnapshot> {
    let mut reader = BinaryReader::new(bytes, 0);
    reader.read_bytes(PREAMBLE_BYTES)?;
    let mut sections = Vec::new();
    while !reader.eof() {
        let kind = reader.read_u8()?;
        let length = reader.read_var_u32()? as usize;
        sections.push(Section { kind, content: reader.read_bytes(length)? });
    }
    Ok(sections)
}

impl<'a> Section<'a> {
    /// The items of a section that is a list of them.
    pub(super) fn items<T: FromReader<'a>>(&self) -> Result<SectionLimited<'a, T>, NoSnapshot> {
        Ok(SectionLimited::new(BinaryReader::new(self.content, 0))?)
    }

    pub(super) fn copy_to_component(&self, component: &mut Component) {
        component.section(&RawSection { id: self.kind, data: self.content });
    }

    pub(super) fn copy_to_module(&self, module: &mut Module) {
        module.section(&RawSection { id: self.kind, data: self.content });
    }
}

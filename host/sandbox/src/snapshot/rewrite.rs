//! The component of a snapshot: the original with other memory and other globals.

use wasm_encoder::{
    Component, ConstExpr, DataCountSection, DataSection, Encode as _, GlobalType, Ieee32, Ieee64,
    MemorySection, Module, ModuleSection, RawSection, ValType,
};
use wasmparser::{Global, Imports, TypeRef};

use super::NoSnapshot;
use super::binary::{Section, of_component, of_module, sections};
use super::measure::{
    GLOBAL_BYTES, GLOBALS_AT, Measurable, MutableGlobal, PAGE_BYTES, number_type, unsuitable,
};

/// More zeros than this end a piece of data; where that makes too many pieces, the next number holds.
const ZEROS: [usize; 4] = [64, 512, 4_096, 65_536];
/// The most pieces of data; a module may have 100,000.
const PIECES_MAX: usize = 90_000;

/// The original component with what [`super::measure`] returned: the memory, and a page with the globals.
pub(super) fn component(of: &Measurable, measured: &[u8]) -> Result<Vec<u8>, NoSnapshot> {
    let memory_bytes = measured.len().checked_sub(PAGE_BYTES);
    let Some((memory, page)) = memory_bytes.map(|bytes| measured.split_at(bytes)) else {
        return Err(unsuitable("it returned no page of globals"));
    };
    let mut component = Component::new();
    let mut number = 0;
    for section in sections(of.original())? {
        if section.kind != of_component::CORE_MODULE {
            section.copy_to_component(&mut component);
            continue;
        }
        let rewritten = Rewritten { of, number, page };
        let memory = (number == of.memory_module).then_some(memory);
        component.section(&ModuleSection(&rewritten.module(section.content, memory)?));
        number += 1;
    }
    Ok(component.finish())
}

/// One module of the component.
struct Rewritten<'a> {
    of: &'a Measurable,
    number: usize,
    page: &'a [u8],
}

impl Rewritten<'_> {
    /// The module with its new globals and, if it has the memory, with the memory's new content.
    fn module(&self, bytes: &[u8], memory: Option<&[u8]>) -> Result<Module, NoSnapshot> {
        let pieces = memory.map(pieces).unwrap_or_default();
        let mut imported = 0;
        let mut has_data = false;
        let mut module = Module::new();
        for section in sections(bytes)? {
            match section.kind {
                of_module::IMPORT => {
                    for import in section.items::<Imports>()?.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Global(_)));
                    }
                    section.copy_to_module(&mut module);
                }
                of_module::MEMORY => {
                    let bytes = memory.map(<[u8]>::len);
                    module.section(&memories(&section, bytes)?);
                }
                of_module::GLOBAL => {
                    let data = self.globals(&section, imported)?;
                    module.section(&RawSection { id: of_module::GLOBAL, data: &data });
                }
                of_module::DATA_COUNT => {
                    let count = u32::try_from(pieces.len()).expect("they are bounded");
                    module.section(&DataCountSection { count });
                }
                of_module::DATA => match memory {
                    Some(memory) => {
                        module.section(&data(memory, &pieces));
                        has_data = true;
                    }
                    None if section.items::<wasmparser::Data>()?.count() == 0 => {}
                    None => return Err(unsuitable("a module without the memory has data for it")),
                },
                _ => section.copy_to_module(&mut module),
            }
        }
        if memory.is_some() && !has_data {
            return Err(unsuitable("the module with the memory has no data"));
        }
        Ok(module)
    }

    fn globals(&self, section: &Section<'_>, imported: u32) -> Result<Vec<u8>, NoSnapshot> {
        let globals = section.items::<Global>()?;
        let mut data = Vec::new();
        globals.count().encode(&mut data);
        for (index, global) in (imported..).zip(globals) {
            let global = global?;
            let place = self.place(index);
            let mut init = global.init_expr.get_binary_reader();
            let count = init.bytes_remaining();
            let bytes = init.read_bytes(count)?;
            match place {
                Some((place, kind)) => {
                    GlobalType { val_type: kind, mutable: true, shared: false }.encode(&mut data);
                    constant(kind, &self.page[place..place + GLOBAL_BYTES]).encode(&mut data);
                }
                None => {
                    number_type(global.ty.content_type)?.encode(&mut data);
                    data.push(0);
                    data.extend_from_slice(bytes);
                }
            }
        }
        Ok(data)
    }

    /// The place of a mutable global on the page, and its type.
    fn place(&self, index: u32) -> Option<(usize, ValType)> {
        let ours = |global: &MutableGlobal| global.module == self.number && global.index == index;
        let number = self.of.globals.iter().position(ours)?;
        Some((GLOBALS_AT + GLOBAL_BYTES * number, self.of.globals[number].kind))
    }
}

fn constant(kind: ValType, bytes: &[u8]) -> ConstExpr {
    let bytes: [u8; GLOBAL_BYTES] = bytes.try_into().expect("a global has eight bytes there");
    let [a, b, c, d, ..] = bytes;
    let low = [a, b, c, d];
    match kind {
        ValType::I64 => ConstExpr::i64_const(i64::from_le_bytes(bytes)),
        ValType::F32 => ConstExpr::f32_const(Ieee32::new(u32::from_le_bytes(low))),
        ValType::F64 => ConstExpr::f64_const(Ieee64::new(u64::from_le_bytes(bytes))),
        _ => ConstExpr::i32_const(i32::from_le_bytes(low)),
    }
}

/// The memory with the size that it has in the snapshot.
fn memories(section: &Section<'_>, bytes: Option<usize>) -> Result<MemorySection, NoSnapshot> {
    let mut memories = MemorySection::new();
    for memory in section.items::<wasmparser::MemoryType>()? {
        let memory = memory?;
        let minimum = bytes.map_or(memory.initial, |bytes| (bytes / PAGE_BYTES) as u64);
        memories.memory(wasm_encoder::MemoryType {
            minimum,
            maximum: memory.maximum,
            memory64: memory.memory64,
            shared: memory.shared,
            page_size_log2: memory.page_size_log2,
        });
    }
    Ok(memories)
}

fn data(memory: &[u8], pieces: &[(usize, usize)]) -> DataSection {
    let mut data = DataSection::new();
    for (start, end) in pieces {
        let at =
            i32::from_le_bytes((u32::try_from(*start).expect("a 32-bit memory")).to_le_bytes());
        data.active(0, &ConstExpr::i32_const(at), memory[*start..*end].iter().copied());
    }
    data
}

/// The beginning and the end of each part of the memory that is not zero.
fn pieces(memory: &[u8]) -> Vec<(usize, usize)> {
    for zeros in ZEROS {
        let pieces = pieces_apart(memory, zeros);
        if pieces.len() <= PIECES_MAX {
            return pieces;
        }
    }
    // A memory of 4 GiB has 65,536 pages: the last number cannot make too many.
    unreachable!("pieces that are a page apart are fewer than pages")
}

fn pieces_apart(memory: &[u8], zeros_max: usize) -> Vec<(usize, usize)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let words = memory.chunks(8);
    for (number, word) in words.enumerate() {
        if word.iter().all(|byte| *byte == 0) {
            continue;
        }
        let start = 8 * number;
        let end = start + word.len();
        match pieces.last_mut() {
            Some(last) if start - last.1 <= zeros_max => last.1 = end,
            _ => pieces.push((start, end)),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_between_data_are_left_out() {
        let mut memory = vec![0; 1 << 20];
        assert!(pieces(&memory).is_empty());
        memory[9] = 1;
        memory[100] = 1;
        memory[(1 << 20) - 1] = 1;
        assert_eq!(pieces_apart(&memory, 64), [(8, 16), (96, 104), ((1 << 20) - 8, 1 << 20)]);
        assert_eq!(pieces_apart(&memory, 80), [(8, 104), ((1 << 20) - 8, 1 << 20)]);
    }

    #[test]
    fn a_memory_full_of_holes_has_a_bounded_number_of_pieces() {
        let memory: Vec<u8> = (0..20 << 20).map(|at| u8::from(at % 128 == 0)).collect();
        assert_eq!(pieces(&memory).len(), 1);
    }
}

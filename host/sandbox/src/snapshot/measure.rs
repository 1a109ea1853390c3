//! A component with one more function, which returns all that the component remembers: its memory and, on a page after
//! it, the globals of its modules.

use wasm_encoder::{
    Alias, CanonicalFunctionSection, CanonicalOption, CodeSection, Component,
    ComponentAliasSection, ComponentExportKind, ComponentExportSection, ComponentTypeSection,
    ComponentValType, ExportKind, ExportSection, Function, FunctionSection, GlobalType,
    ImportSection, InstanceSection, MemArg, MemoryType, Module, ModuleArg, ModuleSection,
    PrimitiveValType, TypeSection, ValType,
};
use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExport, ComponentExternalKind, ComponentImport,
    ComponentOuterAliasKind, ComponentType, Export, ExternalKind, Global, Imports, Instance,
    TypeRef,
};

use super::NoSnapshot;
use super::binary::{Section, of_component, of_module, sections};

/// The added function: `func() -> list<u8>`.
pub(super) const EXPORT: &str = "assay-measure";
pub(super) const PAGE_BYTES: usize = 64 << 10;
/// The place of the globals on the last page, eight bytes each; before it is the list that the function returns.
pub(super) const GLOBALS_AT: usize = 16;
pub(super) const GLOBAL_BYTES: usize = 8;
const GLOBALS_MAX: usize = (PAGE_BYTES - GLOBALS_AT) / GLOBAL_BYTES;
/// Functions of the C library and of the adapter to the system interface that forget which files are open. They are
/// called before the memory is measured: the handles belong to this process.
const FORGET: [&str; 2] = ["reset_adapter_state", "__wasilibc_reset_preopens"];

/// A component that can be measured, with what is needed to make the result of it.
pub struct Measurable {
    original: Vec<u8>,
    component: Vec<u8>,
    pub(super) memory_module: usize,
    /// In the order of their places on the last page.
    pub(super) globals: Vec<MutableGlobal>,
}

/// A mutable global of a module.
pub(super) struct MutableGlobal {
    pub(super) module: usize,
    /// Its index among all globals of the module, imported ones included.
    pub(super) index: u32,
    pub(super) kind: ValType,
    export: String,
}

impl Measurable {
    /// Fails if the component is not of the kind that can be measured.
    pub fn new(original: Vec<u8>) -> Result<Self, NoSnapshot> {
        let mut found = ItemCounts::default();
        let mut component = Component::new();
        for section in sections(&original)? {
            match section.kind {
                of_component::CORE_MODULE => {
                    let module = found.module(section.content)?;
                    component.section(&ModuleSection(&module));
                }
                _ => {
                    found.count(&section)?;
                    section.copy_to_component(&mut component);
                }
            }
        }
        let Some((memory_module, memory_export)) = found.memory.clone() else {
            return Err(unsuitable("it has no memory that is exported"));
        };
        if found.globals.len() > GLOBALS_MAX {
            return Err(unsuitable("it has too many globals"));
        }
        found.add_function(&mut component, memory_module, &memory_export)?;
        Ok(Self { component: component.finish(), memory_module, globals: found.globals, original })
    }

    /// The component with the function, to be compiled.
    #[must_use]
    pub fn component(&self) -> &[u8] {
        &self.component
    }

    pub(super) fn original(&self) -> &[u8] {
        &self.original
    }
}

pub(super) fn unsuitable(problem: &str) -> NoSnapshot {
    NoSnapshot::Unsuitable(problem.to_owned())
}

/// The numbers of a component's items so far, and the measures of its modules.
#[derive(Default)]
struct ItemCounts {
    modules: usize,
    core_instances: u32,
    core_functions: u32,
    core_memories: u32,
    types: u32,
    functions: u32,
    /// The core instance of each module.
    instances: Vec<(usize, u32)>,
    memory: Option<(usize, String)>,
    globals: Vec<MutableGlobal>,
    /// The module and the name of each function of [`FORGET`].
    forget: Vec<(usize, &'static str)>,
}

impl ItemCounts {
    /// The module with all its mutable globals exported.
    fn module(&mut self, bytes: &[u8]) -> Result<Module, NoSnapshot> {
        let number = self.modules;
        self.modules += 1;
        let sections = sections(bytes)?;
        let mut mutable = mutable_globals(&sections, number)?;
        let mut has_memory = false;
        let mut module = Module::new();
        for section in sections {
            match section.kind {
                of_module::MEMORY => {
                    has_memory = section.items::<wasmparser::MemoryType>()?.count() > 0
                }
                of_module::START => return Err(unsuitable("a module has a start function")),
                of_module::EXPORT => {
                    let exports = self.exports(&section, number, has_memory, &mut mutable)?;
                    module.section(&exports);
                    continue;
                }
                _ => {}
            }
            section.copy_to_module(&mut module);
        }
        if mutable.iter().any(|global| global.export.is_empty()) {
            return Err(unsuitable("a module with globals exports nothing"));
        }
        self.globals.extend(mutable);
        Ok(module)
    }

    fn exports(
        &mut self,
        section: &Section<'_>,
        module: usize,
        has_memory: bool,
        mutable: &mut [MutableGlobal],
    ) -> Result<ExportSection, NoSnapshot> {
        let mut exports = ExportSection::new();
        for export in section.items::<Export>()? {
            let Export { name, kind, index } = export?;
            let kind = match kind {
                ExternalKind::Func | ExternalKind::FuncExact => ExportKind::Func,
                ExternalKind::Table => ExportKind::Table,
                ExternalKind::Memory => ExportKind::Memory,
                ExternalKind::Global => ExportKind::Global,
                ExternalKind::Tag => ExportKind::Tag,
            };
            match kind {
                ExportKind::Memory if has_memory => {
                    let other = self.memory.replace((module, name.to_owned()));
                    if other.is_some() {
                        return Err(unsuitable("it has more than one memory"));
                    }
                }
                ExportKind::Global => {
                    let known = mutable.iter_mut().find(|global| global.index == index);
                    if let Some(global) = known {
                        name.clone_into(&mut global.export);
                    }
                }
                ExportKind::Func => {
                    let known = FORGET.into_iter().find(|forget| *forget == name);
                    self.forget.extend(known.map(|name| (module, name)));
                }
                _ => {}
            }
            exports.export(name, kind, index);
        }
        for global in mutable.iter_mut().filter(|global| global.export.is_empty()) {
            global.export = format!("assay:{}", global.index);
            exports.export(&global.export, ExportKind::Global, global.index);
        }
        Ok(exports)
    }

    /// Counts what a section of the component adds to it.
    fn count(&mut self, section: &Section<'_>) -> Result<(), NoSnapshot> {
        match section.kind {
            of_component::CORE_INSTANCE => {
                for instance in section.items::<Instance>()? {
                    if let Instance::Instantiate { module_index, .. } = instance? {
                        self.instances.push((module_index as usize, self.core_instances));
                    }
                    self.core_instances += 1;
                }
            }
            of_component::ALIAS => {
                for alias in section.items::<ComponentAlias>()? {
                    self.count_alias(&alias?);
                }
            }
            of_component::TYPE => self.types += section.items::<ComponentType>()?.count(),
            of_component::CANONICAL => {
                for function in section.items::<CanonicalFunction>()? {
                    match function? {
                        CanonicalFunction::Lift { .. } => self.functions += 1,
                        _ => self.core_functions += 1,
                    }
                }
            }
            of_component::IMPORT => {
                for import in section.items::<ComponentImport>()? {
                    self.count_item(import?.ty.kind());
                }
            }
            of_component::EXPORT => {
                for export in section.items::<ComponentExport>()? {
                    self.count_item(export?.kind);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn count_alias(&mut self, alias: &ComponentAlias<'_>) {
        match alias {
            ComponentAlias::InstanceExport { kind, .. } => self.count_item(*kind),
            ComponentAlias::CoreInstanceExport { kind: ExternalKind::Func, .. } => {
                self.core_functions += 1;
            }
            ComponentAlias::CoreInstanceExport { kind: ExternalKind::Memory, .. } => {
                self.core_memories += 1;
            }
            ComponentAlias::Outer { kind: ComponentOuterAliasKind::Type, .. } => self.types += 1,
            ComponentAlias::CoreInstanceExport { .. } | ComponentAlias::Outer { .. } => {}
        }
    }

    fn count_item(&mut self, kind: ComponentExternalKind) {
        match kind {
            ComponentExternalKind::Func => self.functions += 1,
            ComponentExternalKind::Type => self.types += 1,
            _ => {}
        }
    }

    fn instance_of(&self, module: usize) -> Result<u32, NoSnapshot> {
        let mut instances = self.instances.iter().filter(|(of, _)| *of == module);
        match (instances.next(), instances.next()) {
            (Some((_, instance)), None) => Ok(*instance),
            _ => Err(unsuitable("a module is not instantiated exactly once")),
        }
    }

    /// Adds the module with the function, and its export.
    fn add_function(
        &self,
        component: &mut Component,
        memory_module: usize,
        memory_export: &str,
    ) -> Result<(), NoSnapshot> {
        component.section(&ModuleSection(&self.measuring_module(memory_module, memory_export)));
        let mut arguments = Vec::new();
        let of = self.globals.iter().map(|global| global.module);
        let mut modules: Vec<usize> = of
            .chain(self.forget.iter().map(|(module, _)| *module))
            .chain([memory_module])
            .collect();
        modules.sort_unstable();
        modules.dedup();
        for module in modules {
            arguments.push((module.to_string(), ModuleArg::Instance(self.instance_of(module)?)));
        }
        let mut instances = InstanceSection::new();
        let number = u32::try_from(self.modules).map_err(|_| unsuitable("too many modules"))?;
        instances.instantiate(number, arguments);
        component.section(&instances);
        let mut aliases = ComponentAliasSection::new();
        aliases.alias(Alias::CoreInstanceExport {
            instance: self.core_instances,
            kind: ExportKind::Func,
            name: EXPORT,
        });
        aliases.alias(Alias::CoreInstanceExport {
            instance: self.instance_of(memory_module)?,
            kind: ExportKind::Memory,
            name: memory_export,
        });
        component.section(&aliases);
        let mut types = ComponentTypeSection::new();
        types.defined_type().list(PrimitiveValType::U8);
        types
            .function()
            .params([] as [(&str, ComponentValType); 0])
            .result(Some(ComponentValType::Type(self.types)));
        component.section(&types);
        let mut lifts = CanonicalFunctionSection::new();
        let memory = CanonicalOption::Memory(self.core_memories);
        lifts.lift(self.core_functions, self.types + 1, [CanonicalOption::UTF8, memory]);
        component.section(&lifts);
        let mut exports = ComponentExportSection::new();
        exports.export(EXPORT, ComponentExportKind::Func, self.functions, None);
        component.section(&exports);
        Ok(())
    }

    fn measuring_module(&self, memory_module: usize, memory_export: &str) -> Module {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        types.ty().function([], [ValType::I32]);
        let mut imports = ImportSection::new();
        let memory = MemoryType {
            minimum: 0,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        };
        imports.import(&memory_module.to_string(), memory_export, memory);
        for (module, name) in &self.forget {
            imports.import(&module.to_string(), name, wasm_encoder::EntityType::Function(0));
        }
        for MutableGlobal { module, kind, export, .. } in &self.globals {
            let global = GlobalType { val_type: *kind, mutable: true, shared: false };
            imports.import(&module.to_string(), export, global);
        }
        let forgets = u32::try_from(self.forget.len()).expect("there are two");
        let mut functions = FunctionSection::new();
        functions.function(1);
        let mut exports = ExportSection::new();
        exports.export(EXPORT, ExportKind::Func, forgets);
        let mut code = CodeSection::new();
        code.function(&self.measuring_function(forgets));
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&exports);
        module.section(&code);
        module
    }

    /// Adds a page, writes the globals there, and returns the place of a list of all bytes: from 0 to the page's end.
    fn measuring_function(&self, forgets: u32) -> Function {
        let at =
            |offset: usize, align: u32| MemArg { offset: offset as u64, align, memory_index: 0 };
        let mut function = Function::new([(1, ValType::I32)]);
        let mut code = function.instructions();
        for forget in 0..forgets {
            code.call(forget);
        }
        code.memory_size(0).i32_const(16).i32_shl().local_set(0);
        code.i32_const(1).memory_grow(0).i32_const(0).i32_lt_s();
        code.if_(wasm_encoder::BlockType::Empty).unreachable().end();
        code.local_get(0).i32_const(0).i32_store(at(0, 2));
        code.local_get(0).local_get(0).i32_const(1 << 16).i32_add().i32_store(at(4, 2));
        for (number, global) in self.globals.iter().enumerate() {
            let place = GLOBALS_AT + GLOBAL_BYTES * number;
            code.local_get(0).global_get(u32::try_from(number).expect("they fit on a page"));
            match global.kind {
                ValType::I64 => code.i64_store(at(place, 3)),
                ValType::F32 => code.f32_store(at(place, 2)),
                ValType::F64 => code.f64_store(at(place, 3)),
                _ => code.i32_store(at(place, 2)),
            };
        }
        code.local_get(0).end();
        function
    }
}

/// The mutable globals that a module defines, without their exports.
fn mutable_globals(
    sections: &[Section<'_>],
    module: usize,
) -> Result<Vec<MutableGlobal>, NoSnapshot> {
    let mut index = 0;
    let mut mutable = Vec::new();
    for section in sections {
        if section.kind == of_module::IMPORT {
            for import in section.items::<Imports>()?.into_imports() {
                index += u32::from(matches!(import?.ty, TypeRef::Global(_)));
            }
        } else if section.kind == of_module::GLOBAL {
            for global in section.items::<Global>()? {
                let kind = global?.ty;
                if kind.mutable {
                    let kind = number_type(kind.content_type)?;
                    mutable.push(MutableGlobal { module, index, kind, export: String::new() });
                }
                index += 1;
            }
        }
    }
    Ok(mutable)
}

pub(super) fn number_type(kind: wasmparser::ValType) -> Result<ValType, NoSnapshot> {
    match kind {
        wasmparser::ValType::I32 => Ok(ValType::I32),
        wasmparser::ValType::I64 => Ok(ValType::I64),
        wasmparser::ValType::F32 => Ok(ValType::F32),
        wasmparser::ValType::F64 => Ok(ValType::F64),
        _ => Err(unsuitable("a global is no number")),
    }
}

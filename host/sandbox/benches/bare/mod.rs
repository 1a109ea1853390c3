//! Plugins that wasmtime calls without the sandbox around them.

use bindings::assay::reward::log;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

pub mod bindings {
    wasmtime::component::bindgen!({
        path: "../../sdk/wit/reward",
        world: "reward-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

pub struct BareState {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for BareState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl log::Host for BareState {
    fn write(&mut self, _level: log::Level, _message: String) {}
}

/// Links what plugins import.
pub fn linker(engine: &Engine) -> Linker<BareState> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker).expect("linked once");
    log::add_to_linker::<_, HasSelf<BareState>>(&mut linker, |state: &mut BareState| state)
        .expect("linked once");
    linker
}

/// Makes a store whose guests may run until the engine's epoch changes.
pub fn store(engine: &Engine) -> Store<BareState> {
    let state = BareState { wasi: WasiCtx::builder().build(), table: ResourceTable::new() };
    let mut store = Store::new(engine, state);
    store.set_epoch_deadline(1);
    store
}

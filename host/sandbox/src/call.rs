//! One call into a plugin: a store of its own with its limits, and what the guest left in it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_model::id::Digest;
use assay_model::limits;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use crate::capability::exec::Programs;
use crate::capability::gpu::Kernels;
use crate::capability::http::Requests;
use crate::capability::log::{Level, Log, LogLine};
use crate::capability::storage::Objects;
use crate::capability::{Capabilities, exec, gpu, storage};
use crate::limiter::Limiter;
use crate::output::Output;
use crate::waits::{Waiting, Waits};
use crate::wasi;

/// Generated code.
pub(crate) mod bindings {
    wasmtime::component::bindgen!({
        path: "../../sdk/wit/reward",
        world: "reward-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        require_store_data_send: true,
        with: {
            "assay:exec/exec.artifact": assay_exec::Artifact,
            "assay:gpu/device.session": assay_gpu::session::Session,
        },
        imports: {
            "assay:reward/storage": trappable,
            "assay:exec/exec": trappable,
            "assay:gpu/compiler": trappable,
            "assay:gpu/device": trappable,
        },
        trappable_error_type: {
            "assay:exec/types.error" => assay_exec::Error,
            "assay:gpu/compiler.error" => assay_gpu::compiler::Error,
            "assay:gpu/device.error" => assay_gpu::session::Error,
            "assay:reward/storage.error" => crate::capability::storage::Error,
        },
    });
}

/// Bytes that a guest may hand to the host in one call: an artifact and what surrounds it. One that
/// may run programs hands over their input as well.
const HANDED_BYTES_MAX: usize = limits::ARTIFACT_BYTES_MAX + (1 << 20);

/// What one call may use.
pub(crate) struct Allowance {
    pub(crate) timeout: Duration,
    pub(crate) memory_bytes_max: u64,
    pub(crate) seed: u64,
    pub(crate) capabilities: Option<Capabilities>,
    /// Whether it may wait for other hosts.
    pub(crate) waits: bool,
}

/// The data of a call's store.
pub(crate) struct Call {
    wasi: WasiCtx,
    table: ResourceTable,
    pub(crate) limiter: Limiter,
    log: Log,
    stdout: Output,
    pub(crate) stderr: Output,
    requests: Requests,
    waiting: Waiting,
    capabilities: Option<Capabilities>,
    /// Objects that the guest found in its tenant's storage.
    located: BTreeSet<Digest>,
    deadline: Instant,
}

impl WasiView for Call {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for Call {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.requests.view(&mut self.table)
    }
}

impl Call {
    /// A store for one call, whose time starts at `now`.
    pub(crate) fn store(engine: &Engine, allowance: Allowance, now: Instant) -> Store<Self> {
        let (stdout, stderr) = (Output::default(), Output::default());
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits::GUEST_HANDLES_MAX);
        let handed_bytes_max = match allowance.capabilities {
            Some(_) => limits::PROGRAM_CALL_BYTES_MAX,
            None => HANDED_BYTES_MAX,
        };
        let deadline = now + allowance.timeout;
        let requests = match &allowance.capabilities {
            Some(granted) if allowance.waits => Requests::granted(
                Arc::clone(&granted.outbound),
                Arc::clone(&granted.network),
                now,
                allowance.timeout,
            ),
            _ => Requests::refused(),
        };
        let waiting = match allowance.waits {
            true => Waiting::Until { deadline, sleep: requests.waits_until() },
            false => Waiting::Never,
        };
        let call = Self {
            wasi: wasi::context(allowance.seed, stdout.clone(), stderr.clone()),
            table,
            limiter: Limiter::new(allowance.memory_bytes_max),
            log: Log::default(),
            stdout,
            stderr,
            requests,
            waiting,
            capabilities: allowance.capabilities,
            located: BTreeSet::new(),
            deadline,
        };
        let mut store = Store::new(engine, call);
        store.limiter(|call| &mut call.limiter);
        store.set_hostcall_fuel(handed_bytes_max);
        // The epoch only says when to look at the clock: a ticker that was late must neither
        // lengthen nor shorten a deadline.
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|call| {
            if Instant::now() >= call.data().deadline {
                Ok(UpdateDeadline::Interrupt)
            } else {
                Ok(UpdateDeadline::Continue(1))
            }
        });
        store
    }

    fn programs(&mut self) -> Programs<'_> {
        Programs {
            granted: self.capabilities.as_ref(),
            located: &self.located,
            table: &mut self.table,
            deadline: self.deadline,
        }
    }

    fn kernels(&mut self) -> Kernels<'_> {
        Kernels {
            granted: self.capabilities.as_ref(),
            table: &mut self.table,
            deadline: self.deadline,
        }
    }

    fn waits(&mut self) -> Waits<'_> {
        Waits { table: &mut self.table, waiting: self.waiting }
    }

    fn objects(&mut self) -> Objects<'_> {
        Objects {
            granted: self.capabilities.as_ref(),
            located: &mut self.located,
            deadline: self.deadline,
        }
    }

    /// The guest's log, and its output as lines after it.
    pub(crate) fn into_lines(mut self) -> Vec<LogLine> {
        for (level, output) in [(Level::Info, &self.stdout), (Level::Warn, &self.stderr)] {
            if !output.is_empty() {
                self.log.add_lines(level, &output.text());
            }
        }
        for note in self.requests.into_notes() {
            self.log.add(Level::Warn, &format!("a request was refused: {note}"));
        }
        self.log.into_lines()
    }
}

/// Everything a plugin may import.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Call>> {
    let mut linker = Linker::new(engine);
    wasi::link(&mut linker, Call::waits)?;
    bindings::assay::reward::log::add_to_linker::<_, HasSelf<Log>>(
        &mut linker,
        |call: &mut Call| &mut call.log,
    )?;
    bindings::assay::reward::storage::add_to_linker::<_, storage::Granted>(
        &mut linker,
        Call::objects,
    )?;
    bindings::assay::exec::exec::add_to_linker::<_, exec::Granted>(&mut linker, Call::programs)?;
    bindings::assay::gpu::compiler::add_to_linker::<_, gpu::Granted>(&mut linker, Call::kernels)?;
    bindings::assay::gpu::device::add_to_linker::<_, gpu::Granted>(&mut linker, Call::kernels)?;
    Ok(linker)
}

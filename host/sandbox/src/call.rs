//! One call into a plugin: a store with its limits, and the data that the guest leaves in it.

pub mod capability;
pub(crate) mod ending;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::id::Digest;
use assay_core::limits;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use crate::call::capability::Capabilities;
use crate::call::capability::absent::Absences;
use crate::call::capability::http::Requests;
use crate::call::capability::log::{Level, Log, LogLine};
use crate::clock::CallClock;
use crate::latest_end::LatestEnd;
use crate::limiter::Limiter;
use crate::output::CapturedOutput;
use crate::ticker::Stalls;
use crate::waits::{WaitPolicy, Waits};
use crate::wasi;

/// Generated code.
pub(crate) mod bindings {
    wasmtime::component::bindgen!({
        path: "../../sdk/wit/reward",
        world: "reward-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        require_store_data_send: true,
        with: {
            "assay:exec/exec.artifact": assay_exec::ProgramArtifact,
            "assay:gpu/device.session": assay_gpu::session::GpuSession,
        },
        imports: {
            "assay:reward/storage": trappable,
            "assay:exec/exec": trappable,
            "assay:gpu/compiler": trappable,
            "assay:gpu/device": trappable,
        },
        trappable_error_type: {
            "assay:exec/types.error" => assay_exec::ExecError,
            "assay:gpu/compiler.error" => assay_gpu::compiler::CompileError,
            "assay:gpu/device.error" => assay_gpu::session::SessionError,
            "assay:reward/storage.error" => crate::call::capability::storage::ObjectError,
        },
    });
}

/// The most bytes that a guest may pass to the host in one call: an artifact and its envelope. A guest
/// with capabilities may pass the inputs of programs as well.
const HANDED_BYTES_MAX: usize = limits::ARTIFACT_BYTES_MAX + (1 << 20);

/// The limits and capabilities of one call.
pub(crate) struct Allowance {
    pub(crate) timeout: Duration,
    pub(crate) memory_bytes_max: u64,
    pub(crate) seed: u64,
    pub(crate) capabilities: Option<Capabilities>,
    /// Whether the call may wait for other hosts.
    pub(crate) waits: bool,
}

/// The data of a call's store.
pub(crate) struct GuestCall {
    wasi: WasiCtx,
    pub(crate) table: ResourceTable,
    pub(crate) limiter: Limiter,
    log: Log,
    stdout: CapturedOutput,
    pub(crate) stderr: CapturedOutput,
    requests: Requests,
    waiting: WaitPolicy,
    pub(crate) capabilities: Option<Capabilities>,
    /// The objects that the guest located in its tenant's storage.
    pub(crate) located: BTreeSet<Digest>,
    pub(crate) absences: Absences,
    pub(crate) clock: CallClock,
    /// Whether the instance of a plugin that was started before is being made.
    pub(crate) is_starting: bool,
}

impl WasiView for GuestCall {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for GuestCall {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.waiting.put_off(&self.clock);
        self.requests.view(&mut self.table)
    }
}

impl GuestCall {
    /// A store for one call, whose time starts at `now`.
    pub(crate) fn store(
        engine: &Engine,
        allowance: Allowance,
        now: Instant,
        stalls: Arc<Stalls>,
    ) -> Store<Self> {
        let (stdout, stderr) = (CapturedOutput::default(), CapturedOutput::default());
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits::GUEST_HANDLES_MAX);
        let handed_bytes_max = match allowance.capabilities {
            Some(_) => limits::PROGRAM_CALL_BYTES_MAX,
            None => HANDED_BYTES_MAX,
        };
        let clock = CallClock::new(now, allowance.timeout, stalls);
        let requests = match &allowance.capabilities {
            Some(granted) if allowance.waits => Requests::granted(
                granted.tenant,
                Arc::clone(&granted.outbound),
                Arc::clone(&granted.network),
                Arc::new(LatestEnd::of(&clock)),
            ),
            _ => Requests::refused(),
        };
        let waiting = match allowance.waits {
            true => WaitPolicy::Allowed { sleep: requests.latest_end() },
            false => WaitPolicy::Never,
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
            absences: Absences::default(),
            clock,
            is_starting: false,
        };
        let mut store = Store::new(engine, call);
        store.limiter(|call| &mut call.limiter);
        store.set_hostcall_fuel(handed_bytes_max);
        // The epoch only decides when to read the clock: a late tick must not move the deadline.
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut call| {
            let call = call.data_mut();
            // A request may be under way while the guest computes.
            call.waiting.put_off(&call.clock);
            if call.clock.is_due() {
                Ok(UpdateDeadline::Interrupt)
            } else {
                Ok(UpdateDeadline::Continue(1))
            }
        });
        store
    }

    /// The data of a guest on its user's own machine: without limits or capabilities, and with the system interface that
    /// `wasi` gives it.
    pub(crate) fn unlimited(wasi: WasiCtx) -> Self {
        Self {
            wasi,
            table: ResourceTable::new(),
            limiter: Limiter::new(u64::MAX),
            log: Log::default(),
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
            requests: Requests::refused(),
            waiting: WaitPolicy::Never,
            capabilities: None,
            located: BTreeSet::new(),
            absences: Absences::default(),
            clock: CallClock::new(Instant::now(), Duration::MAX, Arc::default()),
            is_starting: false,
        }
    }

    fn waits(&mut self) -> Waits<'_> {
        Waits { table: &mut self.table, waiting: &self.waiting, clock: &mut self.clock }
    }

    /// Descriptions of the capabilities that the guest requested and did not get.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.requests.missing().into_iter().chain(self.absences.lines()).collect()
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
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<GuestCall>> {
    let mut linker = Linker::new(engine);
    wasi::link(&mut linker, GuestCall::waits)?;
    bindings::assay::reward::log::add_to_linker::<_, HasSelf<Log>>(
        &mut linker,
        |call: &mut GuestCall| &mut call.log,
    )?;
    capability::link(&mut linker)?;
    Ok(linker)
}

//! Runs stages.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assay_core::id::Digest;
use assay_core::limits;
use assay_core::outcome::StageEnd;
use assay_core::time::Micros;
use tokio::runtime::Runtime;
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::call::bindings::assay::reward::types::{ArtifactParam, Request};
use crate::call::capability::Capabilities;
use crate::call::capability::log::LogLine;
use crate::call::ending;
use crate::call::{Allowance, GuestCall, linker};
use crate::clock::WaitedCall;
use crate::engine::running_engine;
use crate::load::{LoadedPlugin, Unloadable, load};
use crate::ticker::Ticker;

/// Runs plugins. A process has one; calls may come from several threads.
pub struct Sandbox {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<GuestCall>,
    ticker: Ticker,
    /// The system interface's functions are written as futures, though none of ours ever waits.
    /// Without this they would start a runtime with threads of its own.
    context: Runtime,
    /// The one in which requests are sent, from the first call of a plugin that may send some.
    sending: OnceLock<Runtime>,
}

/// One stage of one request.
pub struct StageCall<'a> {
    pub stage: &'a str,
    /// JSON text, `{}` when there are none.
    pub settings: &'a str,
    pub request: Request<'a>,
    /// The artifact of the stage before; none at the first.
    pub input: Option<ArtifactParam<'a>>,
    /// The last stage may not end in `next`.
    pub last: bool,
    /// The limit of the guest's processor time and of the time that it chooses to wait: for another host, a program or a
    /// kernel.
    pub timeout: Duration,
    pub memory_bytes_max: u64,
    /// The capabilities, for a plugin that [imports one](LoadedPlugin::asks). Without them every function is unavailable.
    pub capabilities: Option<Capabilities>,
}

/// The end of a stage.
#[derive(Debug)]
pub struct StageRun {
    pub end: StageEnd,
    /// The time from before the instance was made until after it was dropped.
    pub ran: Micros,
    /// The part of that time which the limit counts: the guest's processor time and its chosen waits.
    pub used: Micros,
    pub logs: Vec<LogLine>,
    /// The calls of capabilities that the guest waited for, in order, at most [`limits::TRACED_CALLS_MAX`].
    pub calls: Vec<WaitedCall>,
    /// Descriptions, for the plugin's author, of what the stage requested and did not get because the tenant lacks the
    /// grant or the operator left it out.
    pub missing: Vec<String>,
}

/// The machine does not give what a sandbox needs: address space or a thread.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox did not start: {0}")]
pub struct NotStarted(pub(crate) String);

impl From<wasmtime::Error> for NotStarted {
    fn from(error: wasmtime::Error) -> Self {
        Self(format!("{error:#}"))
    }
}

impl Sandbox {
    pub fn new() -> Result<Self, NotStarted> {
        Ok(Self::with_engine(running_engine()?)?)
    }

    pub(crate) fn with_engine(engine: Engine) -> wasmtime::Result<Self> {
        let linker = linker(&engine)?;
        let ticker = Ticker::start(&engine)?;
        let context = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(Self { engine, linker, ticker, context, sending: OnceLock::new() })
    }

    fn sending(&self) -> &Runtime {
        self.sending.get_or_init(|| {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .max_blocking_threads(limits::LOOKUPS_MAX)
                .thread_name("requests")
                .enable_all()
                .build()
                .expect("the machine gives a thread and an epoll instance")
        })
    }

    /// Loads compiled bytes whose SHA-256 is `expected`.
    pub fn load(&self, bytes: &[u8], expected: Digest) -> Result<LoadedPlugin, Unloadable> {
        load(&self.engine, &self.linker, bytes, expected)
    }

    /// Runs one stage in a fresh instance. Never fails: whatever the plugin does is an end.
    ///
    /// Must not be called from asynchronous code, whose thread it would hold.
    pub fn run_stage(&self, plugin: &LoadedPlugin, call: StageCall<'_>) -> StageRun {
        let started = Instant::now();
        let allowance = Allowance {
            timeout: call.timeout,
            memory_bytes_max: call.memory_bytes_max,
            seed: call.request.seed,
            capabilities: call.capabilities,
            waits: plugin.waits(),
        };
        let (end, mut left) = self.call(allowance, started, |store| {
            store.data_mut().is_starting = true;
            let instance = plugin.pre.instantiate(&mut *store)?;
            store.data_mut().is_starting = false;
            let result = instance.assay_reward_plugin().call_run_stage(
                store,
                call.stage,
                call.settings,
                call.request,
                call.input,
            )?;
            Ok(ending::returned(result, call.last))
        });
        let end = end.unwrap_or_else(|error| ending::broken(&error, &left));
        let missing = left.missing();
        let used = Micros::from(left.clock.used());
        let calls = left.clock.take_calls();
        let logs = left.into_lines();
        StageRun { end, ran: started.elapsed().into(), used, logs, calls, missing }
    }

    /// Calls into a guest under its limits.
    pub(crate) fn call<R>(
        &self,
        allowance: Allowance,
        started: Instant,
        run: impl FnOnce(&mut wasmtime::Store<GuestCall>) -> wasmtime::Result<R>,
    ) -> (wasmtime::Result<R>, GuestCall) {
        let runtime = if allowance.waits { self.sending() } else { &self.context };
        let _context = runtime.enter();
        let _running = self.ticker.running();
        let mut store = GuestCall::store(&self.engine, allowance, started, self.ticker.stalls());
        let result = run(&mut store);
        (result, store.into_data())
    }
}

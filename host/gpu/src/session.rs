//! One exclusive GPU, or its simulation, from the worker's side. It starts executors, sends them requests, and turns
//! their answers into results for a plugin.
//!
//! A session has two executors. The candidate's is new for each session and is killed at its end, or as
//! soon as its kernels have done what no process recovers from. The judge's is kept from session to
//! session: the candidate's kernels never run in it, and what the reference computes never leaves it.
//! Both have all buffers; what the candidate left goes to the judge through a file in memory, or stays on the GPU.
//!
//! This side holds numbers, sizes and roles; it never sees what is in a buffer but by
//! [`GpuSession::download`]. Whatever fails that is nobody's kernel's fault is [`SessionError::Unavailable`] or
//! [`SessionError::Cancelled`].
//!
//! ```text
//!           a kernel's fault that a process outlives, a bad request
//!            +-----+
//!            v     |
//!  open --> Open --+--> Over: an illegal address and the like, time-out, cancelled, unavailable;
//!            |           |    every later call gets the same error
//!            +-----------+--> dropped: the candidate's executor is killed
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::limits::{GPU_PRINTED_BYTES_MAX, GPU_SIMULATED_STEPS_PER_MS};
use assay_exec::{HeldUp, JobDeadline};
use parking_lot::{Mutex, MutexGuard};

use crate::device::Properties;
use crate::executor::message::ExecutorRequest;

mod check;
mod claimed_device;
mod measure;
mod order;
mod process;
mod request;
mod run;
mod timing;
mod types;

use claimed_device::ClaimedDevice;
use process::{Executor, ExecutorError};
use request::SessionObjects;

pub use crate::device::{BufferInit, BufferRole, BufferSpec, Pair};
pub use types::{
    CheckReport, MeasureOptions, Measurement, Origin, SessionError, SessionLimits, Timing,
};

/// The starts of an executor in a session before it counts as impossible.
const STARTS_MAX: u32 = 2;

/// The most executors that are kept for candidates to come, and the memory of a GPU that has one more of them.
const SPARES_MAX: u64 = 4;
const MEMORY_BYTES_OF_SPARE: u64 = 16 << 30;
/// The longest that a session waits for executors of later ones.
const SPARE_START_MAX: Duration = Duration::from_secs(10);

/// The kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// The interpreter of PTX.
    Simulated,
    /// A GPU of this machine.
    Cuda,
}

/// The settings of a [`Gpu`].
#[derive(Debug, Clone)]
pub struct GpuSettings {
    /// The path of the program `assay-gpu`.
    pub program: PathBuf,
    /// The kind of the device.
    pub kind: DeviceKind,
}

/// A GPU with at most one session at a time. A clone is the same GPU; it is held until the last clone and the last
/// session are dropped.
#[derive(Clone)]
pub struct Gpu {
    inner: Arc<GpuInner>,
}

struct GpuInner {
    options: GpuSettings,
    state: Mutex<GpuState>,
}

#[derive(Default)]
struct GpuState {
    in_session: bool,
    place: Option<ClaimedDevice>,
    properties: Option<Properties>,
    /// Whether one executor could not read the GPU's memory of another.
    sharing_failed: bool,
    /// The judge's executor while no session uses it.
    judge: Option<Executor>,
    /// Executors that have never run anything, for the candidates of the next sessions.
    spares: Vec<Executor>,
}

impl Gpu {
    /// Makes the value; starts no process.
    #[must_use]
    pub fn new(options: GpuSettings) -> Self {
        Self { inner: Arc::new(GpuInner { options, state: Mutex::default() }) }
    }

    /// The device's properties; starts an executor at the first call.
    pub fn describe(&self, deadline: Instant) -> Result<Properties, SessionError> {
        let mut state = self.state();
        if let Some(properties) = &state.properties {
            return Ok(properties.clone());
        }
        self.inner.settle(&mut state, deadline)?;
        let (judge, properties) =
            self.inner.executor(&mut state, ExecutorRole::Judge, 0, deadline)?;
        state.judge = Some(judge);
        Ok(properties)
    }

    /// Opens a session, which is over when `deadline` passes; [`GpuSession::put_off`] moves it.
    pub fn open(
        &self,
        limits: SessionLimits,
        deadline: Instant,
    ) -> Result<GpuSession, SessionError> {
        let mut state = self.state();
        if state.in_session {
            return Err(SessionError::Limit("one session at a time".into()));
        }
        if limits.plan_ms == 0 || limits.total_ms == 0 {
            return Err(SessionError::BadRequest("a session without time".into()));
        }
        if Instant::now() >= deadline {
            return Err(SessionError::Cancelled);
        }
        self.inner.settle(&mut state, deadline)?;
        // Start both before waiting for either.
        for which in [ExecutorRole::Judge, ExecutorRole::Candidate] {
            self.inner.start(&mut state, which)?;
        }
        let printed_bytes = limits.printed_bytes.min(GPU_PRINTED_BYTES_MAX);
        let (judge, properties) =
            self.inner.executor(&mut state, ExecutorRole::Judge, 0, deadline)?;
        let candidate =
            self.inner.executor(&mut state, ExecutorRole::Candidate, printed_bytes, deadline);
        let (candidate, _) = match candidate {
            Ok(candidate) => candidate,
            Err(error) => {
                state.judge = Some(judge);
                return Err(error);
            }
        };
        // Nothing may start while something is measured.
        let soon = deadline.min(Instant::now() + SPARE_START_MAX);
        state.spares.retain_mut(|spare| spare.ready(soon).is_ok());
        state.in_session = true;
        drop(state);
        Ok(GpuSession {
            gpu: self.clone(),
            limits,
            deadline,
            latest: deadline,
            held_up: HeldUp::default(),
            properties,
            candidate: Some(candidate),
            judge: Some(judge),
            made: SessionObjects::default(),
            left: RemainingBudget::of(limits.total_ms.into()),
            judge_left: RemainingBudget::of(
                u64::from(limits.total_ms) * u64::from(order::JUDGE_SLOWNESS_MAX),
            ),
            over: None,
        })
    }

    fn state(&self) -> MutexGuard<'_, GpuState> {
        self.inner.state.lock()
    }
}

#[derive(Clone, Copy)]
enum ExecutorRole {
    Judge,
    Candidate,
}

impl GpuState {
    fn take(&mut self, which: ExecutorRole) -> Option<Executor> {
        match which {
            ExecutorRole::Judge => self.judge.take(),
            ExecutorRole::Candidate => self.spares.pop(),
        }
    }

    /// How many spare executors start together. The first waits a few tenths of a second for its driver, whatever the others
    /// do meanwhile, and each holds some of the GPU's memory.
    fn spares(&self) -> u64 {
        let memory_bytes = match &self.properties {
            Some(properties) if !properties.simulated => properties.memory_bytes,
            _ => 0,
        };
        (memory_bytes / MEMORY_BYTES_OF_SPARE).clamp(1, SPARES_MAX)
    }
}

impl GpuInner {
    /// Claims a device if there is none yet, and empties the exchange.
    fn settle(&self, state: &mut GpuState, deadline: Instant) -> Result<(), SessionError> {
        let place = match &state.place {
            Some(place) => place,
            None => state.place.insert(ClaimedDevice::find(&self.options, deadline)?),
        };
        let emptied = place.exchange.set_len(0);
        emptied
            .map_err(|error| SessionError::Unavailable(format!("the exchange of buffers: {error}")))
    }

    fn start(&self, state: &mut GpuState, which: ExecutorRole) -> Result<(), SessionError> {
        let place = state.place.as_ref().expect("whoever starts one has settled");
        let one = || {
            let started = Executor::start(&self.options.program, place.choice, &place.exchange);
            started.map_err(ExecutorError::unavailable)
        };
        match which {
            ExecutorRole::Judge if state.judge.is_none() => state.judge = Some(one()?),
            ExecutorRole::Candidate if state.spares.is_empty() => {
                state.spares = (0..state.spares()).map(|_| one()).collect::<Result<_, _>>()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// An executor that is ready and empty. A kept one may have died meanwhile, and is then replaced.
    fn executor(
        &self,
        state: &mut GpuState,
        which: ExecutorRole,
        printed_bytes: u32,
        deadline: Instant,
    ) -> Result<(Executor, Properties), SessionError> {
        let mut starts = 0;
        loop {
            self.start(state, which)?;
            starts += 1;
            let mut executor = state.take(which).expect("it has just been started");
            let reset = ExecutorRequest::Reset { printed_bytes };
            let ready = executor
                .ready(deadline)
                .and_then(|properties| executor.order(&reset, deadline).map(|_| properties));
            match ready {
                Ok(properties) => {
                    state.properties = Some(properties.clone());
                    return Ok((executor, properties));
                }
                Err(ExecutorError::Late) => return Err(SessionError::Cancelled),
                Err(lost) if starts >= STARTS_MAX => return Err(lost.unavailable()),
                Err(lost) => {
                    tracing::warn!(reason = %lost.unavailable(), "an executor is replaced");
                }
            }
        }
    }
}

/// The time and steps that the code of one side may still use.
#[derive(Debug, Clone, Copy)]
struct RemainingBudget {
    time: Duration,
    steps: u64,
}

impl RemainingBudget {
    fn of(total_ms: u64) -> Self {
        let steps = total_ms * GPU_SIMULATED_STEPS_PER_MS;
        Self { time: Duration::from_millis(total_ms), steps }
    }
}

/// The WIT resource `session`, method by method.
pub struct GpuSession {
    gpu: Gpu,
    limits: SessionLimits,
    deadline: Instant,
    /// The latest time to which the deadline is put off, by executors without a core and by the judge's work.
    latest: Instant,
    /// The time that was not the candidate's, since it was last taken: executors had no core, or worked for the judge.
    held_up: HeldUp,
    properties: Properties,
    /// `None` once the session is over.
    candidate: Option<Executor>,
    /// `None` once it is of no use.
    judge: Option<Executor>,
    made: SessionObjects,
    /// The candidate's.
    left: RemainingBudget,
    judge_left: RemainingBudget,
    over: Option<SessionError>,
}

impl GpuSession {
    /// Sets the time at which the session is over. Its caller may have been kept waiting for a processor, which must not
    /// cost it time of the session.
    pub fn put_off(&mut self, deadline: impl Into<JobDeadline>) {
        let JobDeadline { at, latest } = deadline.into();
        (self.deadline, self.latest) = (at, latest);
    }

    /// Takes the time since the last call for which its executors were ready and had no core, and for which they worked for the
    /// judge. It has put the deadline off.
    pub fn take_held_up(&mut self) -> HeldUp {
        std::mem::take(&mut self.held_up)
    }

    /// The processes of this session that still live: the candidate's executor, then the judge's.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        [&self.candidate, &self.judge].into_iter().flatten().map(Executor::pid).collect()
    }
}

impl Drop for GpuSession {
    fn drop(&mut self) {
        drop(self.candidate.take());
        let is_last = Arc::strong_count(&self.gpu.inner) == 1;
        let mut state = self.gpu.state();
        state.judge = self.judge.take();
        state.in_session = false;
        if is_last {
            return;
        }
        // If there is none for the next candidate, some start now, while nothing is measured.
        if let Err(error) = self.gpu.inner.start(&mut state, ExecutorRole::Candidate) {
            tracing::warn!(reason = %error, "no spare executor");
        }
    }
}

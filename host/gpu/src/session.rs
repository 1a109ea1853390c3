//! One exclusive GPU, or its simulation, from the worker's side: starts executors, tells them what to
//! do, and makes of what they answer what a plugin sees.
//!
//! A session has two executors. The candidate's is new for each session and is killed at its end, or as
//! soon as its kernels have done what no process recovers from. The judge's is kept from session to
//! session: the candidate's kernels never run in it, and what the reference computes never leaves it.
//! Both have all buffers; what the candidate left goes to the judge through a file in memory.
//!
//! This side holds numbers, sizes and roles; it never sees what is in a buffer but by
//! [`Session::download`]. Whatever fails that is nobody's kernel's fault is [`Error::Unavailable`] or
//! [`Error::Cancelled`].
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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_model::limits::{GPU_PRINTED_BYTES_MAX, GPU_SIMULATED_STEPS_PER_MS};

use crate::device::Properties;
use crate::executor::message::Order;

mod check;
mod measure;
mod order;
mod place;
mod process;
mod request;
mod run;
mod timing;
mod types;

use place::Place;
use process::{Executor, Lost};
use request::Made;

pub use types::{
    BufferSpec, CheckReport, Error, Init, Limits, MeasureOptions, Measurement, Origin, Pair, Role,
    Timing,
};

/// Executors that are started for one place in a session, until it counts as impossible.
const STARTS_MAX: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Simulated,
    Cuda,
}

#[derive(Debug, Clone)]
pub struct GpuOptions {
    /// The program `assay-gpu`.
    pub program: PathBuf,
    pub kind: Kind,
    /// A folder in which the workers of a machine agree who has which GPU.
    pub locks: PathBuf,
}

/// At most one session at a time; a clone is the same GPU. It is held until the last clone and the last
/// session are gone.
#[derive(Clone)]
pub struct Gpu {
    inner: Arc<Inner>,
}

struct Inner {
    options: GpuOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    in_session: bool,
    place: Option<Place>,
    properties: Option<Properties>,
    /// Those that no session has at the moment.
    judge: Option<Executor>,
    /// Has never run anything; the next session's candidate.
    spare: Option<Executor>,
}

impl Gpu {
    /// Starts nothing.
    #[must_use]
    pub fn new(options: GpuOptions) -> Self {
        Self { inner: Arc::new(Inner { options, state: Mutex::default() }) }
    }

    pub fn describe(&self, deadline: Instant) -> Result<Properties, Error> {
        let mut state = self.state();
        if let Some(properties) = &state.properties {
            return Ok(properties.clone());
        }
        self.inner.settle(&mut state, deadline)?;
        let (judge, properties) = self.inner.executor(&mut state, Which::Judge, 0, deadline)?;
        state.judge = Some(judge);
        Ok(properties)
    }

    /// Everything in the session is over when `deadline` passes.
    pub fn open(&self, limits: Limits, deadline: Instant) -> Result<Session, Error> {
        let mut state = self.state();
        if state.in_session {
            return Err(Error::Limit("one session at a time".into()));
        }
        if limits.plan_ms == 0 || limits.total_ms == 0 {
            return Err(Error::BadRequest("a session without time".into()));
        }
        self.inner.settle(&mut state, deadline)?;
        // Both before either is waited for.
        for which in [Which::Judge, Which::Candidate] {
            self.inner.start(&mut state, which)?;
        }
        let printed_bytes = limits.printed_bytes.min(GPU_PRINTED_BYTES_MAX);
        let (judge, properties) = self.inner.executor(&mut state, Which::Judge, 0, deadline)?;
        let candidate = self.inner.executor(&mut state, Which::Candidate, printed_bytes, deadline);
        let (candidate, _) = match candidate {
            Ok(candidate) => candidate,
            Err(error) => {
                state.judge = Some(judge);
                return Err(error);
            }
        };
        state.in_session = true;
        drop(state);
        Ok(Session {
            gpu: self.clone(),
            limits,
            deadline,
            properties,
            candidate: Some(candidate),
            judge: Some(judge),
            made: Made::default(),
            left: Left {
                time: Duration::from_millis(limits.total_ms.into()),
                steps: u64::from(limits.total_ms) * GPU_SIMULATED_STEPS_PER_MS,
            },
            over: None,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy)]
enum Which {
    Judge,
    Candidate,
}

impl State {
    fn kept(&mut self, which: Which) -> &mut Option<Executor> {
        match which {
            Which::Judge => &mut self.judge,
            Which::Candidate => &mut self.spare,
        }
    }
}

impl Inner {
    /// Has a device, and an exchange in which nothing of an earlier session is left.
    fn settle(&self, state: &mut State, deadline: Instant) -> Result<(), Error> {
        let place = match &state.place {
            Some(place) => place,
            None => state.place.insert(Place::find(&self.options, deadline)?),
        };
        let emptied = place.exchange.set_len(0);
        emptied.map_err(|error| Error::Unavailable(format!("the exchange of buffers: {error}")))
    }

    fn start(&self, state: &mut State, which: Which) -> Result<(), Error> {
        if state.kept(which).is_none() {
            let place = state.place.as_ref().expect("whoever starts one has settled");
            let started = Executor::start(&self.options.program, place.choice, &place.exchange);
            *state.kept(which) = Some(started.map_err(Lost::unavailable)?);
        }
        Ok(())
    }

    /// One that is ready and holds nothing. A kept one may have died unseen.
    fn executor(
        &self,
        state: &mut State,
        which: Which,
        printed_bytes: u32,
        deadline: Instant,
    ) -> Result<(Executor, Properties), Error> {
        let mut starts = 0;
        loop {
            self.start(state, which)?;
            starts += 1;
            let mut executor = state.kept(which).take().expect("it has just been started");
            let reset = Order::Reset { printed_bytes };
            let ready = executor
                .ready(deadline)
                .and_then(|properties| executor.order(&reset, deadline).map(|_| properties));
            match ready {
                Ok(properties) => {
                    state.properties = Some(properties.clone());
                    return Ok((executor, properties));
                }
                Err(Lost::Late) => return Err(Error::Cancelled),
                Err(lost) if starts >= STARTS_MAX => return Err(lost.unavailable()),
                Err(lost) => {
                    tracing::warn!(reason = %lost.unavailable(), "an executor is replaced");
                }
            }
        }
    }
}

/// What the candidate's side may still use.
#[derive(Debug, Clone, Copy)]
struct Left {
    time: Duration,
    steps: u64,
}

/// The WIT resource `session`, method by method.
pub struct Session {
    gpu: Gpu,
    limits: Limits,
    deadline: Instant,
    properties: Properties,
    /// `None` once the session is over.
    candidate: Option<Executor>,
    /// `None` once it is of no use.
    judge: Option<Executor>,
    made: Made,
    left: Left,
    over: Option<Error>,
}

impl Session {
    /// The processes of this session that still live: the candidate's executor, then the judge's.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        [&self.candidate, &self.judge].into_iter().flatten().map(Executor::pid).collect()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.candidate.take());
        let is_last = Arc::strong_count(&self.gpu.inner) == 1;
        let mut state = self.gpu.state();
        state.judge = self.judge.take();
        state.in_session = false;
        if is_last {
            return;
        }
        // It gets ready while nobody times anything.
        if let Err(error) = self.gpu.inner.start(&mut state, Which::Candidate) {
            tracing::warn!(reason = %error, "no spare executor");
        }
    }
}

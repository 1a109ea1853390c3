//! The parts of the system interface that wait: for an answer from another host, and for a time to pass.
//! Each ends with the call at the latest, and then ends the guest.
//!
//! A plugin that sends no requests never waits: its clock stands still and a sleep is over at once. One
//! that does sleeps for as long as it says, so that it can try again later; its clock stands still as
//! well. Time in which it sleeps ends when its time for requests does.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::time::timeout_at;
use wasmtime::Trap;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::bindings::io::{poll as waiting_poll, streams as waiting_streams};
use wasmtime_wasi::p2::bindings::sync::io::{poll, streams};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, DynPollable, Pollable, StreamError, StreamResult, subscribe,
};

use crate::clock::{CallClock, HTTP};
use crate::latest_end::LatestEnd;
use waiting_streams::{HostInputStream as WaitingInput, HostOutputStream as WaitingOutput};

/// Whether a call may wait.
pub(crate) enum WaitPolicy {
    Never,
    /// Until the call's time is used up.
    Allowed {
        /// The latest end of a sleep; `None` if sleeps end at once.
        sleep: Option<Arc<LatestEnd>>,
    },
}

impl WaitPolicy {
    /// Puts the latest end of sleeps and requests off by the time in which the guest was ready and did not run.
    pub(crate) fn put_off(&self, clock: &CallClock) {
        if let Self::Allowed { sleep: Some(end) } = self {
            end.put_off(clock);
        }
    }
}

/// Waits for a future until the call's time is used up; `None` then. Time in which the machine stood still is waited for
/// again.
async fn within<R>(clock: &CallClock, waited: impl Future<Output = R>) -> Option<R> {
    let mut waited = pin!(waited);
    loop {
        match timeout_at(clock.deadline().into(), waited.as_mut()).await {
            Ok(came) => return Some(came),
            Err(_) if clock.goes_on() => {}
            Err(_) => return None,
        }
    }
}

/// Selects this part of a store's data.
pub(crate) struct Waited;

impl HasData for Waited {
    type Data<'a> = Waits<'a>;
}

/// The interfaces during one call.
pub(crate) struct Waits<'a> {
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) waiting: &'a WaitPolicy,
    pub(crate) clock: &'a mut CallClock,
}

/// Puts these in the place of the system interface's own.
pub(crate) fn link<T: Send>(
    linker: &mut Linker<T>,
    waits: for<'a> fn(&'a mut T) -> Waits<'a>,
) -> wasmtime::Result<()> {
    monotonic_clock::add_to_linker::<T, Waited>(linker, waits)?;
    poll::add_to_linker::<T, Waited>(linker, waits)?;
    streams::add_to_linker::<T, Waited>(linker, waits)
}

impl Waits<'_> {
    /// Runs what may wait; ends the guest when the call's time is used up.
    fn wait<R>(&mut self, run: impl AsyncFnOnce(&mut ResourceTable) -> R) -> wasmtime::Result<R> {
        let runtime = Handle::current();
        match self.waiting {
            WaitPolicy::Never => Ok(runtime.block_on(run(self.table))),
            WaitPolicy::Allowed { .. } => {
                self.waiting.put_off(self.clock);
                self.clock.begin_wait(HTTP);
                let waited = runtime.block_on(within(self.clock, run(self.table)));
                self.clock.end_wait();
                waited.ok_or_else(|| Trap::Interrupt.into())
            }
        }
    }

    fn wait_streaming<R>(
        &mut self,
        run: impl AsyncFnOnce(&mut ResourceTable) -> StreamResult<R>,
    ) -> StreamResult<R> {
        self.wait(run).map_err(StreamError::Trap)?
    }

    fn sleep(&mut self, span: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let ends = match self.waiting {
            WaitPolicy::Allowed { sleep: Some(latest) } => {
                let wanted = Instant::now().checked_add(Duration::from_nanos(span));
                Some(SleepEnd { wanted, latest: Arc::clone(latest) })
            }
            WaitPolicy::Allowed { sleep: None } | WaitPolicy::Never => None,
        };
        let sleep = self.table.push(Sleep { ends })?;
        subscribe(self.table, sleep)
    }
}

/// A clock that stands still.
impl monotonic_clock::Host for Waits<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(0)
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.sleep(when)
    }

    fn subscribe_duration(&mut self, span: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.sleep(span)
    }
}

/// Ready when its time has come; at once without one.
struct Sleep {
    ends: Option<SleepEnd>,
}

/// The end of a sleep: the earlier of both.
struct SleepEnd {
    /// `None` if that is too far away.
    wanted: Option<Instant>,
    latest: Arc<LatestEnd>,
}

#[async_trait]
impl Pollable for Sleep {
    async fn ready(&mut self) {
        let Some(SleepEnd { wanted, latest }) = &self.ends else { return };
        match wanted {
            Some(wanted) => tokio::select! {
                () = tokio::time::sleep_until((*wanted).into()) => {}
                () = latest.reached() => {}
            },
            None => latest.reached().await,
        }
    }
}

impl poll::Host for Waits<'_> {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        self.wait(async |table| waiting_poll::Host::poll(table, pollables).await)?
    }
}

impl poll::HostPollable for Waits<'_> {
    fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        self.wait(async |table| waiting_poll::HostPollable::ready(table, pollable).await)?
    }

    fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        self.wait(async |table| waiting_poll::HostPollable::block(table, pollable).await)?
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        waiting_poll::HostPollable::drop(self.table, pollable)
    }
}

impl streams::Host for Waits<'_> {
    fn convert_stream_error(
        &mut self,
        error: StreamError,
    ) -> wasmtime::Result<streams::StreamError> {
        Ok(waiting_streams::Host::convert_stream_error(self.table, error)?.into())
    }
}

impl streams::HostOutputStream for Waits<'_> {
    fn drop(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<()> {
        self.wait(async |table| WaitingOutput::drop(table, stream).await)?
    }

    fn check_write(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<u64> {
        WaitingOutput::check_write(self.table, stream)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        WaitingOutput::write(self.table, stream, bytes)
    }

    fn blocking_write_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        bytes: Vec<u8>,
    ) -> StreamResult<()> {
        self.wait_streaming(async |table| {
            WaitingOutput::blocking_write_and_flush(table, stream, bytes).await
        })
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        count: u64,
    ) -> StreamResult<()> {
        self.wait_streaming(async |table| {
            WaitingOutput::blocking_write_zeroes_and_flush(table, stream, count).await
        })
    }

    fn subscribe(
        &mut self,
        stream: Resource<DynOutputStream>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        WaitingOutput::subscribe(self.table, stream)
    }

    fn write_zeroes(&mut self, stream: Resource<DynOutputStream>, count: u64) -> StreamResult<()> {
        WaitingOutput::write_zeroes(self.table, stream, count)
    }

    fn flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        WaitingOutput::flush(self.table, stream)
    }

    fn blocking_flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        self.wait_streaming(async |table| WaitingOutput::blocking_flush(table, stream).await)
    }

    fn splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        count: u64,
    ) -> StreamResult<u64> {
        WaitingOutput::splice(self.table, to, from, count)
    }

    fn blocking_splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        count: u64,
    ) -> StreamResult<u64> {
        self.wait_streaming(async |table| {
            WaitingOutput::blocking_splice(table, to, from, count).await
        })
    }
}

impl streams::HostInputStream for Waits<'_> {
    fn drop(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<()> {
        self.wait(async |table| WaitingInput::drop(table, stream).await)?
    }

    fn read(&mut self, stream: Resource<DynInputStream>, count: u64) -> StreamResult<Vec<u8>> {
        WaitingInput::read(self.table, stream, count)
    }

    fn blocking_read(
        &mut self,
        stream: Resource<DynInputStream>,
        count: u64,
    ) -> StreamResult<Vec<u8>> {
        self.wait_streaming(async |table| WaitingInput::blocking_read(table, stream, count).await)
    }

    fn skip(&mut self, stream: Resource<DynInputStream>, count: u64) -> StreamResult<u64> {
        WaitingInput::skip(self.table, stream, count)
    }

    fn blocking_skip(&mut self, stream: Resource<DynInputStream>, count: u64) -> StreamResult<u64> {
        self.wait_streaming(async |table| WaitingInput::blocking_skip(table, stream, count).await)
    }

    fn subscribe(
        &mut self,
        stream: Resource<DynInputStream>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        WaitingInput::subscribe(self.table, stream)
    }
}

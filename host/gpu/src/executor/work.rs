//! The state of an executor and its work: one device, its buffers, one plan.

use std::time::Instant;

use serde_bytes::ByteBuf;

use crate::device::{BufferInit, BufferRole, BufferSpec, Pair};
use crate::device::{Compared, Device, DeviceProblem};
use crate::types::BufferAddress;

use super::buffer::{self, DeviceBuffer, GUARD_BYTES, unknown};
use super::exchange::Exchange;
use super::message::{ExecutorAnswer, ExecutorRequest, RunTarget, RunTimes, SharedBuffer};
use super::plan::RawStep;
use super::printed::Printed;

/// Elements of so many bytes and more are shared where they can be: fewer take no longer through the exchange.
const SHARED_BYTES_MIN: u64 = 512 << 10;
/// The most bytes of an executor's buffers in the machine's memory: those that were uploaded, and those that go through the
/// exchange.
const HOST_BYTES_MAX: u64 = 16 << 30;

pub(crate) struct ExecutorState {
    device: Box<dyn Device>,
    exchange: Exchange,
    printed: Printed,
    buffers: Vec<DeviceBuffer>,
    plan: Vec<RawStep>,
    /// The seed from which the buffers were made last.
    seed: u64,
    /// Room on the device for one buffer of the other side: where, and its bytes.
    staging: Option<(u64, u64)>,
}

impl ExecutorState {
    pub(crate) fn new(device: Box<dyn Device>, exchange: Exchange, printed: Printed) -> Self {
        let (buffers, plan) = (Vec::new(), Vec::new());
        Self { device, exchange, printed, buffers, plan, seed: 0, staging: None }
    }

    pub(crate) fn carry_out(
        &mut self,
        order: ExecutorRequest,
    ) -> Result<ExecutorAnswer, DeviceProblem> {
        match order {
            ExecutorRequest::Reset { printed_bytes } => self.reset(printed_bytes)?,
            ExecutorRequest::Load(image) => {
                return Ok(ExecutorAnswer::Loaded(self.device.load(&image)?));
            }
            ExecutorRequest::Kernels(module) => {
                return Ok(ExecutorAnswer::Kernels(self.device.kernels(module)?));
            }
            ExecutorRequest::Alloc(specs) => self.alloc(&specs)?,
            ExecutorRequest::Upload { at, bytes } => self.upload(at, &bytes)?,
            ExecutorRequest::Download { at, bytes } => {
                let place = self.buffer(at.buffer)?.data() + at.offset;
                let mut read = vec![0; bytes as usize];
                self.device.read(place, &mut read)?;
                return Ok(ExecutorAnswer::Bytes(ByteBuf::from(read)));
            }
            ExecutorRequest::Plan(steps) => {
                let raw = steps.iter().map(|step| RawStep::new(step, &self.buffers));
                self.plan = raw.collect::<Result<_, _>>()?;
            }
            ExecutorRequest::Prepare { seed } => self.prepare(seed)?,
            ExecutorRequest::Run { what, flush, steps } => return self.run(what, flush, steps),
            ExecutorRequest::Export { share } => return self.export(share),
            ExecutorRequest::Inspect { shared } => return self.inspect(&shared),
            ExecutorRequest::Compare { pairs, shared } => return self.compare(&pairs, &shared),
            ExecutorRequest::Printed => {
                return Ok(ExecutorAnswer::Bytes(ByteBuf::from(self.printed.so_far()?)));
            }
        }
        Ok(ExecutorAnswer::Done)
    }

    fn reset(&mut self, printed_bytes: u32) -> Result<(), DeviceProblem> {
        self.buffers.clear();
        self.plan.clear();
        self.staging = None;
        self.exchange.close();
        self.printed.keep(printed_bytes as usize);
        self.device.reset()
    }

    fn buffer(&self, number: u32) -> Result<&DeviceBuffer, DeviceProblem> {
        self.buffers.get(number as usize).ok_or_else(|| unknown("buffer", number))
    }

    fn alloc(&mut self, specs: &[BufferSpec]) -> Result<(), DeviceProblem> {
        let all = || self.buffers.iter().map(|buffer| &buffer.spec).chain(specs);
        let device_bytes = self.device.properties().memory_bytes;
        buffer::bytes_within(all(), device_bytes, "on the device")?;
        let uploaded = all().filter(|spec| is_uploaded(spec));
        buffer::bytes_within(uploaded, HOST_BYTES_MAX, "that are uploaded")?;
        for spec in specs {
            let bytes = buffer::bytes(spec).expect("it is within the device's memory");
            let start = self.device.alloc(bytes)?;
            let exchange = self.buffers.last().map_or(0, |last| last.exchange + last.bytes());
            let number = self.buffers.len() as u32;
            let mut buffer =
                DeviceBuffer { number, spec: *spec, start, exchange, uploaded: Vec::new() };
            if is_uploaded(spec) {
                buffer.uploaded = vec![0; buffer.data_bytes() as usize];
            }
            // Nothing of what was there before may be seen.
            self.device.set(start, buffer.bytes(), 0)?;
            self.buffers.push(buffer);
        }
        self.device.finish()
    }

    fn upload(&mut self, at: BufferAddress, bytes: &[u8]) -> Result<(), DeviceProblem> {
        let place = self.buffer(at.buffer)?.data() + at.offset;
        let kept = &mut self.buffers[at.buffer as usize].uploaded;
        if !kept.is_empty() {
            let from = at.offset as usize;
            let kept = kept.get_mut(from..from + bytes.len());
            kept.ok_or_else(|| DeviceProblem::Failed("an upload beyond its buffer".into()))?
                .copy_from_slice(bytes);
        }
        self.device.write(place, bytes)?;
        self.device.finish()
    }

    fn prepare(&mut self, seed: u64) -> Result<(), DeviceProblem> {
        self.seed = seed;
        for buffer in &self.buffers {
            for part in buffer.guards(seed) {
                self.device.fill(buffer.start + part.from, &part.fill)?;
            }
            match buffer.content(seed) {
                Some(fill) => self.device.fill(buffer.data(), &fill)?,
                None => self.device.write(buffer.data(), &buffer.uploaded)?,
            }
        }
        self.device.finish()
    }

    fn run(
        &mut self,
        what: RunTarget,
        flush: bool,
        steps: u64,
    ) -> Result<ExecutorAnswer, DeviceProblem> {
        self.device.allow(steps);
        let started = Instant::now();
        // Nobody waits for its end: on a device that is busy with it, the plan's first launch follows the event at once. An
        // idle one would be timed while it waits for that launch, some five microseconds.
        if flush {
            self.device.flush()?;
        }
        self.device.begin()?;
        if what == RunTarget::Plan {
            for step in &self.plan {
                step.run(self.device.as_mut())?;
            }
        }
        let event_ns = self.device.end()?;
        self.device.finish()?;
        let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(ExecutorAnswer::Ran(RunTimes { event_ns, wall_ns, steps_left: self.device.allowed() }))
    }

    /// Copies all buffers to the exchange; of scratch buffers and those that are shared only the guards.
    fn export(&mut self, share: bool) -> Result<ExecutorAnswer, DeviceProblem> {
        let mut shared = Vec::new();
        let Some(last) = self.buffers.last() else { return Ok(ExecutorAnswer::Exported(shared)) };
        let end = last.exchange + last.bytes();
        self.exchange.extend(end).map_err(exchange_problem)?;
        let mut left = HOST_BYTES_MAX;
        for buffer in &self.buffers {
            let is_scratch = buffer.spec.role == BufferRole::Scratch;
            let may_share = share && !is_scratch && buffer.data_bytes() >= SHARED_BYTES_MIN;
            let handle = if may_share { self.device.share(buffer.start) } else { None };
            let behind = GUARD_BYTES + buffer.data_bytes();
            let parts = if is_scratch || handle.is_some() {
                vec![(0, GUARD_BYTES), (behind, buffer.bytes() - behind)]
            } else {
                vec![(0, buffer.bytes())]
            };
            for (from, bytes) in parts {
                left = left.checked_sub(bytes).ok_or_else(exchanges_too_much)?;
                let to = self.exchange.range(buffer.exchange + from, bytes);
                let to = to.map_err(exchange_problem)?;
                self.device.read(buffer.start + from, to)?;
            }
            shared.extend(handle.map(|handle| SharedBuffer { number: buffer.number, handle }));
        }
        Ok(ExecutorAnswer::Exported(shared))
    }

    fn inspect(&mut self, shared: &[SharedBuffer]) -> Result<ExecutorAnswer, DeviceProblem> {
        let (mut inputs_changed, mut overrun) = (Vec::new(), Vec::new());
        for number in 0..self.buffers.len() {
            let buffer = &self.buffers[number];
            let end = GUARD_BYTES + buffer.data_bytes();
            let mut read = |from: u64, bytes: u64| {
                let read = self.exchange.range(buffer.exchange + from, bytes);
                read.map(|bytes| bytes.to_vec()).map_err(exchange_problem)
            };
            let (before, behind) = (read(0, GUARD_BYTES)?, read(end, buffer.bytes() - end)?);
            if !buffer.guards_are_whole(self.seed, &before, &behind) {
                overrun.push(number as u32);
            }
            if buffer.spec.role == BufferRole::Input {
                let (own, bytes) = (buffer.data(), buffer.data_bytes());
                let theirs = match self.import(number, shared)? {
                    Imported::At(theirs) => theirs,
                    Imported::OutOfReach(reason) => return Ok(ExecutorAnswer::NotShared(reason)),
                };
                if !self.device.equal(theirs, own, bytes)? {
                    inputs_changed.push(number as u32);
                }
            }
        }
        Ok(ExecutorAnswer::Inspected { inputs_changed, overrun })
    }

    fn compare(
        &mut self,
        pairs: &[Pair],
        shared: &[SharedBuffer],
    ) -> Result<ExecutorAnswer, DeviceProblem> {
        let mut comparisons = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let want = self.buffer(pair.want)?.data();
            let poison = self.buffer(pair.got)?.poison(self.seed);
            let got = match self.import(pair.got as usize, shared)? {
                Imported::At(got) => got,
                Imported::OutOfReach(reason) => return Ok(ExecutorAnswer::NotShared(reason)),
            };
            let compared = Compared { got, want, poison, tolerance: pair.tolerance };
            comparisons.push(self.device.compare(&compared)?);
        }
        Ok(ExecutorAnswer::Compared(comparisons))
    }

    /// Copies the other side's elements of a buffer to a place of this side's own, where nobody else changes them.
    fn import(
        &mut self,
        number: usize,
        shared: &[SharedBuffer],
    ) -> Result<Imported, DeviceProblem> {
        let bytes = self.buffers[number].data_bytes();
        let staging = match self.staging {
            Some((at, room)) if room >= bytes => at,
            _ => {
                // One for all that are handed over, so that it is made once.
                let is_handed = |one: &&DeviceBuffer| one.spec.role != BufferRole::Scratch;
                let handed = self.buffers.iter().filter(is_handed);
                let room = handed.map(DeviceBuffer::data_bytes).max().unwrap_or(bytes);
                let at = self.device.alloc(room)?;
                self.staging = Some((at, room));
                at
            }
        };
        if let Some(theirs) = shared.iter().find(|shared| shared.number as usize == number) {
            return Ok(
                match self.device.copy_shared(staging, &theirs.handle, GUARD_BYTES, bytes) {
                    Ok(()) => Imported::At(staging),
                    Err(problem) => Imported::OutOfReach(problem.to_string()),
                },
            );
        }
        let from = self.buffers[number].exchange + GUARD_BYTES;
        let theirs = self.exchange.range(from, bytes).map_err(exchange_problem)?;
        self.device.write(staging, theirs)?;
        self.device.finish()?;
        Ok(Imported::At(staging))
    }
}

fn is_uploaded(spec: &BufferSpec) -> bool {
    let is_made = matches!(spec.role, BufferRole::Input | BufferRole::Inout);
    is_made && spec.init == BufferInit::Uploaded
}

/// The other side's elements on this device: their address, or why they cannot be read.
enum Imported {
    At(u64),
    OutOfReach(String),
}

fn exchanges_too_much() -> DeviceProblem {
    let problem = format!("buffers of more than {HOST_BYTES_MAX} bytes that cannot be shared");
    DeviceProblem::Limit(problem)
}

fn exchange_problem(error: std::io::Error) -> DeviceProblem {
    DeviceProblem::Failed(format!("the exchange of buffers: {error}"))
}

//! `assay:gpu/device`.

use std::time::Instant;

use assay_gpu::session::{Gpu, GpuSession, SessionError};
use wasmtime::Trap;
use wasmtime::component::Resource;

use super::{GpuHost, StageDevice, convert};
use crate::call::bindings::assay::gpu::{device as wit, types};
use crate::call::capability::without_paths;

impl<'a> GpuHost<'a> {
    fn gpu(&mut self) -> Result<&'a Gpu, SessionError> {
        match self.granted.map(|granted| &granted.device) {
            Some(StageDevice::Gpu(gpu)) => Ok(gpu),
            Some(StageDevice::None(why)) => {
                self.absences.note(*why);
                Err(SessionError::Unavailable((*why).into()))
            }
            None => Err(SessionError::Unavailable("no kernels are run here".into())),
        }
    }

    /// Asks the device itself, which may start an executor: the guest is not charged for that time.
    fn ask<R>(
        &mut self,
        name: &'static str,
        ask: impl FnOnce(&Gpu, Instant) -> Result<R, SessionError>,
    ) -> Result<R, SessionError> {
        let gpu = self.gpu()?;
        let came = self.clock.wait_for_assay(name, |deadline| ask(gpu, deadline));
        if matches!(came, Err(SessionError::Cancelled)) {
            self.clock.give_up();
        }
        if self.clock.is_over() { Err(SessionError::Cancelled) } else { came }
    }

    /// A handle of the guest's was given out by the table, so it is there.
    fn with<R>(
        &mut self,
        name: &'static str,
        handle: &Resource<GpuSession>,
        run: impl FnOnce(&mut GpuSession) -> Result<R, SessionError>,
    ) -> Result<R, SessionError> {
        let gone = |_| SessionError::BadRequest("the session is not open".into());
        let session = self.table.get_mut(handle).map_err(gone)?;
        let came = self.clock.wait_for_programs(name, |until| {
            session.put_off(until);
            let came = run(session);
            (came, session.take_held_up())
        });
        if self.clock.is_over() { Err(SessionError::Cancelled) } else { came }
    }
}

impl wit::HostSession for GpuHost<'_> {
    fn open(&mut self, limits: wit::Limits) -> Result<Resource<GpuSession>, SessionError> {
        let session =
            self.ask("device.open", |gpu, deadline| gpu.open(convert::limits(limits), deadline))?;
        let full = |_| SessionError::BadRequest("too many handles are open: drop some".into());
        self.table.push(session).map_err(full)
    }

    fn load(
        &mut self,
        session: Resource<GpuSession>,
        image: Vec<u8>,
        origin: wit::Origin,
    ) -> Result<u32, SessionError> {
        self.with("device.load", &session, |session| session.load(&image, convert::origin(origin)))
    }

    fn kernels(
        &mut self,
        session: Resource<GpuSession>,
        module: u32,
    ) -> Result<Vec<types::KernelInfo>, SessionError> {
        let kernels = self.with("device.kernels", &session, |session| session.kernels(module))?;
        Ok(kernels.into_iter().map(convert::kernel_info).collect())
    }

    fn alloc(
        &mut self,
        session: Resource<GpuSession>,
        specs: Vec<wit::BufferSpec>,
    ) -> Result<Vec<u32>, SessionError> {
        let specs: Vec<_> = specs.into_iter().map(convert::buffer_spec).collect();
        self.with("device.alloc", &session, |session| session.alloc(&specs))
    }

    fn upload(
        &mut self,
        session: Resource<GpuSession>,
        at: types::Address,
        bytes: Vec<u8>,
    ) -> Result<(), SessionError> {
        self.with("device.upload", &session, |session| session.upload(convert::address(at), &bytes))
    }

    fn download(
        &mut self,
        session: Resource<GpuSession>,
        at: types::Address,
        bytes: u64,
    ) -> Result<Vec<u8>, SessionError> {
        self.with("device.download", &session, |session| {
            session.download(convert::address(at), bytes)
        })
    }

    fn run(
        &mut self,
        session: Resource<GpuSession>,
        plan: Vec<types::Step>,
        seed: Option<u64>,
    ) -> Result<u64, SessionError> {
        let plan = convert::plan(plan);
        self.with("device.run", &session, |session| session.run(&plan, seed))
    }

    fn check(
        &mut self,
        session: Resource<GpuSession>,
        candidate: Vec<types::Step>,
        reference: Vec<types::Step>,
        pairs: Vec<wit::Pair>,
        seeds: Vec<u64>,
    ) -> Result<Vec<wit::CheckReport>, SessionError> {
        let (candidate, reference) = (convert::plan(candidate), convert::plan(reference));
        let pairs = convert::pairs(pairs);
        let reports = self.with("device.check", &session, |session| {
            session.check(&candidate, &reference, &pairs, &seeds)
        })?;
        Ok(reports.into_iter().map(convert::check_report).collect())
    }

    fn measure(
        &mut self,
        session: Resource<GpuSession>,
        candidate: Vec<types::Step>,
        reference: Vec<types::Step>,
        pairs: Vec<wit::Pair>,
        seed: u64,
        options: wit::MeasureOptions,
    ) -> Result<wit::Measurement, SessionError> {
        let (candidate, reference) = (convert::plan(candidate), convert::plan(reference));
        let (pairs, options) = (convert::pairs(pairs), convert::measure_options(options));
        self.with("device.measure", &session, |session| {
            session.measure(&candidate, &reference, &pairs, seed, &options)
        })
        .map(convert::measurement)
    }

    fn time(
        &mut self,
        session: Resource<GpuSession>,
        candidate: Vec<types::Step>,
        reference: Vec<types::Step>,
        pairs: Vec<wit::Pair>,
        seed: u64,
        options: wit::MeasureOptions,
    ) -> Result<wit::Measurement, SessionError> {
        let (candidate, reference) = (convert::plan(candidate), convert::plan(reference));
        let (pairs, options) = (convert::pairs(pairs), convert::measure_options(options));
        self.with("device.time", &session, |session| {
            session.time(&candidate, &reference, &pairs, seed, &options)
        })
        .map(convert::measurement)
    }

    fn printed(&mut self, session: Resource<GpuSession>) -> Result<String, SessionError> {
        self.with("device.printed", &session, GpuSession::printed)
    }

    fn drop(&mut self, session: Resource<GpuSession>) -> wasmtime::Result<()> {
        let session = self.table.delete(session)?;
        // Ending its executors takes a while.
        self.clock.wait_for_assay("device.close", |_| drop(session));
        Ok(())
    }
}

impl wit::Host for GpuHost<'_> {
    fn describe(&mut self) -> Result<wit::Properties, SessionError> {
        self.ask("device.describe", Gpu::describe).map(convert::properties)
    }

    fn convert_error(&mut self, error: SessionError) -> wasmtime::Result<wit::Error> {
        Ok(match error {
            SessionError::BadRequest(problem) => wit::Error::BadRequest(problem),
            SessionError::ImageRejected(problem) => wit::Error::ImageRejected(problem),
            SessionError::NoSuchKernel(problem) => wit::Error::NoSuchKernel(problem),
            SessionError::BadArguments(problem) => wit::Error::BadArguments(problem),
            SessionError::InvalidLaunch(problem) => wit::Error::InvalidLaunch(problem),
            SessionError::Limit(problem) => wit::Error::Limit(problem),
            SessionError::Unsupported(problem) => wit::Error::Unsupported(problem),
            SessionError::IllegalAddress(problem) => wit::Error::IllegalAddress(problem),
            SessionError::MisalignedAddress(problem) => wit::Error::MisalignedAddress(problem),
            SessionError::IllegalInstruction(problem) => wit::Error::IllegalInstruction(problem),
            SessionError::Trapped(problem) => wit::Error::Trapped(problem),
            SessionError::LaunchFailed(problem) => wit::Error::LaunchFailed(problem),
            SessionError::TimedOut(ms) => wit::Error::TimedOut(ms),
            SessionError::Unavailable(problem) => wit::Error::Unavailable(without_paths(&problem)),
            // A plugin that saw it could still make a number of it.
            SessionError::Cancelled => return Err(Trap::Interrupt.into()),
        })
    }
}

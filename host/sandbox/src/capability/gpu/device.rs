//! `assay:gpu/device`.

use assay_gpu::session::{Error, Gpu, Session};
use wasmtime::Trap;
use wasmtime::component::Resource;

use super::{Device, Kernels, convert};
use crate::call::bindings::assay::gpu::{device as wit, types};
use crate::capability::{is_over, without_paths};

impl Kernels<'_> {
    fn gpu(&self) -> Result<&Gpu, Error> {
        match self.granted.map(|granted| &granted.device) {
            Some(Device::Gpu(gpu)) => Ok(gpu),
            Some(Device::None(why)) => Err(Error::Unavailable((*why).into())),
            None => Err(Error::Unavailable("no kernels are run here".into())),
        }
    }

    /// A handle of the guest's was given out by the table, so it is there.
    fn with<R>(
        &mut self,
        handle: &Resource<Session>,
        run: impl FnOnce(&mut Session) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let gone = |_| Error::BadRequest("the session is not open".into());
        let came = run(self.table.get_mut(handle).map_err(gone)?);
        if is_over(self.deadline) { Err(Error::Cancelled) } else { came }
    }
}

impl wit::HostSession for Kernels<'_> {
    fn open(&mut self, limits: wit::Limits) -> Result<Resource<Session>, Error> {
        let session = self.gpu()?.open(convert::limits(limits), self.deadline)?;
        let full = |_| Error::BadRequest("too many handles are open: drop some".into());
        self.table.push(session).map_err(full)
    }

    fn load(
        &mut self,
        session: Resource<Session>,
        image: Vec<u8>,
        origin: wit::Origin,
    ) -> Result<u32, Error> {
        self.with(&session, |session| session.load(&image, convert::origin(origin)))
    }

    fn kernels(
        &mut self,
        session: Resource<Session>,
        module: u32,
    ) -> Result<Vec<types::KernelInfo>, Error> {
        let kernels = self.with(&session, |session| session.kernels(module))?;
        Ok(kernels.into_iter().map(convert::kernel_info).collect())
    }

    fn alloc(
        &mut self,
        session: Resource<Session>,
        specs: Vec<wit::BufferSpec>,
    ) -> Result<Vec<u32>, Error> {
        let specs: Vec<_> = specs.into_iter().map(convert::buffer_spec).collect();
        self.with(&session, |session| session.alloc(&specs))
    }

    fn upload(
        &mut self,
        session: Resource<Session>,
        at: types::Address,
        bytes: Vec<u8>,
    ) -> Result<(), Error> {
        self.with(&session, |session| session.upload(convert::address(at), &bytes))
    }

    fn download(
        &mut self,
        session: Resource<Session>,
        at: types::Address,
        bytes: u64,
    ) -> Result<Vec<u8>, Error> {
        self.with(&session, |session| session.download(convert::address(at), bytes))
    }

    fn run(
        &mut self,
        session: Resource<Session>,
        plan: Vec<types::Step>,
        seed: Option<u64>,
    ) -> Result<u64, Error> {
        let plan = convert::plan(plan);
        self.with(&session, |session| session.run(&plan, seed))
    }

    fn check(
        &mut self,
        session: Resource<Session>,
        candidate: Vec<types::Step>,
        reference: Vec<types::Step>,
        pairs: Vec<wit::Pair>,
        seeds: Vec<u64>,
    ) -> Result<Vec<wit::CheckReport>, Error> {
        let (candidate, reference) = (convert::plan(candidate), convert::plan(reference));
        let pairs = convert::pairs(pairs);
        let reports =
            self.with(&session, |session| session.check(&candidate, &reference, &pairs, &seeds))?;
        Ok(reports.into_iter().map(convert::check_report).collect())
    }

    fn measure(
        &mut self,
        session: Resource<Session>,
        candidate: Vec<types::Step>,
        reference: Vec<types::Step>,
        pairs: Vec<wit::Pair>,
        seed: u64,
        options: wit::MeasureOptions,
    ) -> Result<wit::Measurement, Error> {
        let (candidate, reference) = (convert::plan(candidate), convert::plan(reference));
        let (pairs, options) = (convert::pairs(pairs), convert::measure_options(options));
        self.with(&session, |session| {
            session.measure(&candidate, &reference, &pairs, seed, &options)
        })
        .map(convert::measurement)
    }

    fn printed(&mut self, session: Resource<Session>) -> Result<String, Error> {
        self.with(&session, Session::printed)
    }

    fn drop(&mut self, session: Resource<Session>) -> wasmtime::Result<()> {
        self.table.delete(session)?;
        Ok(())
    }
}

impl wit::Host for Kernels<'_> {
    fn describe(&mut self) -> Result<wit::Properties, Error> {
        self.gpu()?.describe(self.deadline).map(convert::properties)
    }

    fn convert_error(&mut self, error: Error) -> wasmtime::Result<wit::Error> {
        Ok(match error {
            Error::BadRequest(problem) => wit::Error::BadRequest(problem),
            Error::ImageRejected(problem) => wit::Error::ImageRejected(problem),
            Error::NoSuchKernel(problem) => wit::Error::NoSuchKernel(problem),
            Error::BadArguments(problem) => wit::Error::BadArguments(problem),
            Error::InvalidLaunch(problem) => wit::Error::InvalidLaunch(problem),
            Error::Limit(problem) => wit::Error::Limit(problem),
            Error::Unsupported(problem) => wit::Error::Unsupported(problem),
            Error::IllegalAddress(problem) => wit::Error::IllegalAddress(problem),
            Error::MisalignedAddress(problem) => wit::Error::MisalignedAddress(problem),
            Error::IllegalInstruction(problem) => wit::Error::IllegalInstruction(problem),
            Error::Trapped(problem) => wit::Error::Trapped(problem),
            Error::LaunchFailed(problem) => wit::Error::LaunchFailed(problem),
            Error::TimedOut(ms) => wit::Error::TimedOut(ms),
            Error::Unavailable(problem) => wit::Error::Unavailable(without_paths(&problem)),
            // A plugin that saw it could still make a number of it.
            Error::Cancelled => return Err(Trap::Interrupt.into()),
        })
    }
}

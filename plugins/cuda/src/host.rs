//! The host as the plugin's world.

use assay_plugin::gpu::{compiler, device};

use crate::machine::{Machine, Plans};

pub(crate) struct Host;

impl Machine for Host {
    type Session = device::Session;

    fn toolkit(&self) -> Result<compiler::Toolkit, compiler::Error> {
        compiler::found()
    }

    fn compile(&self, request: &compiler::Request) -> Result<compiler::Artifact, compiler::Error> {
        compiler::compile(request)
    }

    fn record(&self, recording: &compiler::Recording) -> Result<compiler::Trace, compiler::Error> {
        compiler::record_plan(recording)
    }

    fn describe(&self) -> Result<device::Properties, device::Error> {
        device::describe()
    }

    fn open(&self, limits: device::Limits) -> Result<device::Session, device::Error> {
        device::Session::open(limits)
    }

    fn load(
        &self,
        session: &device::Session,
        image: &[u8],
        origin: device::Origin,
    ) -> Result<u32, device::Error> {
        session.load(image, origin)
    }

    fn alloc(
        &self,
        session: &device::Session,
        specs: &[device::BufferSpec],
    ) -> Result<Vec<u32>, device::Error> {
        session.alloc(specs)
    }

    fn check(
        &self,
        session: &device::Session,
        plans: Plans<'_>,
        pairs: &[device::Pair],
        seeds: &[u64],
    ) -> Result<Vec<device::CheckReport>, device::Error> {
        session.check(plans.candidate, plans.reference, pairs, seeds)
    }

    fn printed(&self, session: &device::Session) -> Result<String, device::Error> {
        session.printed()
    }

    fn log(&self, message: &str) {
        assay_plugin::log::info(message);
    }

    fn measure(
        &self,
        session: &device::Session,
        plans: Plans<'_>,
        pairs: &[device::Pair],
        seed: u64,
        options: device::MeasureOptions,
    ) -> Result<device::Measurement, device::Error> {
        session.measure(plans.candidate, plans.reference, pairs, seed, options)
    }

    fn time(
        &self,
        session: &device::Session,
        plans: Plans<'_>,
        pairs: &[device::Pair],
        seed: u64,
        options: device::MeasureOptions,
    ) -> Result<device::Measurement, device::Error> {
        session.time(plans.candidate, plans.reference, pairs, seed, options)
    }
}

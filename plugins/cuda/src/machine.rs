//! The plugin's interface to its environment: a compiler and a device.
//!
//! The host is one such world (`host`); the tests have another, which is made up. Nothing else in this
//! crate calls the host.

use assay_plugin::gpu::{Step, compiler, device};

pub trait Machine {
    type Session;

    fn toolkit(&self) -> Result<compiler::Toolkit, compiler::Error>;

    fn compile(&self, request: &compiler::Request) -> Result<compiler::Artifact, compiler::Error>;

    fn record(&self, recording: &compiler::Recording) -> Result<compiler::Trace, compiler::Error>;

    fn describe(&self) -> Result<device::Properties, device::Error>;

    fn open(&self, limits: device::Limits) -> Result<Self::Session, device::Error>;

    fn load(
        &self,
        session: &Self::Session,
        image: &[u8],
        origin: device::Origin,
    ) -> Result<u32, device::Error>;

    fn alloc(
        &self,
        session: &Self::Session,
        specs: &[device::BufferSpec],
    ) -> Result<Vec<u32>, device::Error>;

    fn check(
        &self,
        session: &Self::Session,
        plans: Plans<'_>,
        pairs: &[device::Pair],
        seeds: &[u64],
    ) -> Result<Vec<device::CheckReport>, device::Error>;

    /// The beginning of what the response's kernels printed.
    fn printed(&self, session: &Self::Session) -> Result<String, device::Error>;

    fn log(&self, message: &str);

    fn measure(
        &self,
        session: &Self::Session,
        plans: Plans<'_>,
        pairs: &[device::Pair],
        seed: u64,
        options: device::MeasureOptions,
    ) -> Result<device::Measurement, device::Error>;

    /// As `measure`; the reference only checks trials.
    fn time(
        &self,
        session: &Self::Session,
        plans: Plans<'_>,
        pairs: &[device::Pair],
        seed: u64,
        options: device::MeasureOptions,
    ) -> Result<device::Measurement, device::Error>;
}

/// The plans that are compared: the response's steps and the task's own.
#[derive(Debug, Clone, Copy)]
pub struct Plans<'a> {
    pub candidate: &'a [Step],
    pub reference: &'a [Step],
}

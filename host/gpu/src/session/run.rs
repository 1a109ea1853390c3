//! A session's modules and buffers, and single runs.

use assay_core::limits::{GPU_MODULES_MAX, GPU_TRANSFER_BYTES_MAX};
use serde_bytes::ByteBuf;

use super::GpuSession;
use super::types::{Origin, SessionError};
use crate::device::BufferSpec;
use crate::executor::message::{ExecutorAnswer, ExecutorRequest, RunTarget};
use crate::types::{BufferAddress, KernelInfo, PlanStep};

impl GpuSession {
    /// A candidate's module is loaded on its side alone, a trusted one on the judge's alone.
    pub fn load(&mut self, image: &[u8], origin: Origin) -> Result<u32, SessionError> {
        self.alive()?;
        if self.made.modules.len() >= GPU_MODULES_MAX {
            return Err(SessionError::Limit(format!("more than {GPU_MODULES_MAX} modules")));
        }
        if image.len() as u64 > GPU_TRANSFER_BYTES_MAX {
            return Err(SessionError::Limit(format!("an image of {} bytes", image.len())));
        }
        match self.tell(origin, &ExecutorRequest::Load(ByteBuf::from(image)))? {
            ExecutorAnswer::Loaded(there) => {
                self.made.modules.push((origin, there));
                Ok(self.made.modules.len() as u32 - 1)
            }
            other => Err(self.unexpected(&other)),
        }
    }

    /// The kernels of a module.
    pub fn kernels(&mut self, module: u32) -> Result<Vec<KernelInfo>, SessionError> {
        self.alive()?;
        let (origin, there) = self.made.module(module)?;
        match self.tell(origin, &ExecutorRequest::Kernels(there))? {
            ExecutorAnswer::Kernels(kernels) => Ok(kernels),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Allocates buffers, on both sides; they are numbered from 0, in order.
    pub fn alloc(&mut self, specs: &[BufferSpec]) -> Result<Vec<u32>, SessionError> {
        self.alive()?;
        self.made.check_specs(specs, self.limits.memory_bytes)?;
        let order = ExecutorRequest::Alloc(specs.to_vec());
        self.done(Origin::Candidate, &order)?;
        if let Err(error) = self.done(Origin::Trusted, &order) {
            // One side has them, the other has not.
            return Err(self.end(error));
        }
        let first = self.made.buffers.len() as u32;
        self.made.buffers.extend(specs);
        Ok((first..self.made.buffers.len() as u32).collect())
    }

    /// Writes bytes to a buffer, on both sides.
    pub fn upload(&mut self, at: BufferAddress, bytes: &[u8]) -> Result<(), SessionError> {
        self.alive()?;
        self.made.check_transfer(at, bytes.len() as u64)?;
        let order = ExecutorRequest::Upload { at, bytes: ByteBuf::from(bytes) };
        self.done(Origin::Candidate, &order)?;
        self.done(Origin::Trusted, &order)
    }

    /// Reads bytes of a buffer from the candidate's side.
    pub fn download(&mut self, at: BufferAddress, bytes: u64) -> Result<Vec<u8>, SessionError> {
        self.alive()?;
        self.made.check_transfer(at, bytes)?;
        match self.tell(Origin::Candidate, &ExecutorRequest::Download { at, bytes })? {
            ExecutorAnswer::Bytes(read) if read.len() as u64 == bytes => Ok(read.into_vec()),
            other => Err(self.unexpected(&other)),
        }
    }

    /// 0 on a simulated device.
    pub fn run(&mut self, plan: &[PlanStep], seed: Option<u64>) -> Result<u64, SessionError> {
        self.alive()?;
        let plan = self.made.plan(plan, Origin::Candidate, self.limits.steps_max)?;
        self.plan(Origin::Candidate, plan)?;
        if let Some(seed) = seed {
            self.done(Origin::Candidate, &ExecutorRequest::Prepare { seed })?;
        }
        let ran = self.ran(Origin::Candidate, RunTarget::Plan, false)?;
        Ok(self.elapsed_ns(&ran))
    }

    /// The beginning of what the candidate's kernels printed.
    pub fn printed(&mut self) -> Result<String, SessionError> {
        self.alive()?;
        match self.tell(Origin::Candidate, &ExecutorRequest::Printed)? {
            ExecutorAnswer::Bytes(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            other => Err(self.unexpected(&other)),
        }
    }
}

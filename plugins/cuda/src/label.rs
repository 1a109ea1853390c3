//! The label of a request, read and checked as a whole: a value that makes no sense is a bad request, and
//! the error names it.

mod check;
mod data;
mod size;

use std::collections::BTreeMap;

use assay_plugin::gpu::device;
use assay_plugin::{Error, Request};
use serde::Deserialize;

use crate::expression::Expression;
pub(crate) use data::{Dtype, Init, Role};
use size::Values;
pub(crate) use size::{Kind, Size};

pub(crate) const SCHEMA: &str = include_str!("schema/label.json");

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    /// The text of the task, for people alone.
    task: String,
    /// A buffer's number in plans is its place in this order.
    pub(crate) buffers: BTreeMap<String, Buffer>,
    #[serde(default)]
    pub(crate) scalars: BTreeMap<String, ScalarKind>,
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) tensors: Option<Tensors>,
    #[serde(default)]
    module: Option<Module>,
    sizes: Vec<Values>,
    #[serde(default)]
    held_out: Vec<Values>,
    #[serde(default)]
    timed: Option<Values>,
    pub(crate) entry: String,
    #[serde(default)]
    pub(crate) launch: Option<Launch>,
    pub(crate) reference: Trusted,
    #[serde(default)]
    pub(crate) baseline: Option<Trusted>,
    /// The baseline's time by the name of the GPU that it was measured on, in nanoseconds.
    #[serde(default)]
    baseline_ns: BTreeMap<String, u64>,
    #[serde(default)]
    pub(crate) tolerance: Tolerance,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Buffer {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<Expression>,
    pub(crate) role: Role,
    /// The way in which a buffer is filled before a run, for inputs and for buffers that are both input and
    /// output.
    #[serde(default)]
    pub(crate) init: Option<Init>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScalarKind {
    I32,
    I64,
    Fp32,
    Fp64,
}

/// How the PyTorch form is called: buffers and scalars by name, and where its results belong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tensors {
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) returns: Vec<String>,
}

/// How a response's `ModelNew` is made and called; absent, it is made of nothing and called with `tensors.arguments`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Module {
    inputs: Vec<String>,
    /// Buffers by the name of the module's parameter, such as `conv.weight`.
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    #[serde(default)]
    init: Vec<serde_json::Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Launch {
    pub(crate) grid: Vec<Expression>,
    pub(crate) block: Vec<Expression>,
    #[serde(default)]
    pub(crate) shared_bytes: Option<Expression>,
}

/// A program of the task's own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trusted {
    pub(crate) source: String,
    pub(crate) entry: String,
    /// The launch of a kernel; absent for a host function.
    #[serde(default)]
    pub(crate) launch: Option<Launch>,
}

/// Absent numbers ask for equality.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tolerance {
    absolute: f64,
    relative: f64,
    matched_ratio: f64,
    allow_nonfinite: bool,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { absolute: 0.0, relative: 0.0, matched_ratio: 1.0, allow_nonfinite: false }
    }
}

impl Tolerance {
    pub(crate) fn to_host(self) -> device::Tolerance {
        let Self { absolute, relative, matched_ratio, allow_nonfinite } = self;
        device::Tolerance { absolute, relative, matched_ratio, allow_nonfinite }
    }
}

impl Task {
    /// The baseline's time that the label states for this GPU; `None` where the baseline is a program.
    pub(crate) fn stated_baseline_ns(&self, device: &str) -> Result<Option<u64>, Error> {
        let Some(known) = self.baseline_ns.keys().next() else { return Ok(None) };
        let stated = self.baseline_ns.get(device).copied();
        stated.map(Some).ok_or_else(|| {
            fault(format!(
                "baseline_ns: no time for `{device}`, the GPU here, but for `{known}`; `assay cuda time` measures one"
            ))
        })
    }

    pub(crate) fn read(request: &Request) -> Result<Self, Error> {
        let task: Self = request.label_as()?;
        task.check().map_err(fault)?;
        Ok(task)
    }

    /// The sizes at which every answer is checked: the stated sizes, then the held-out ones.
    pub(crate) fn checked(&self) -> Vec<Size> {
        self.evaluate_checked().expect("checked when it was read")
    }

    /// The size at which time is measured.
    pub(crate) fn timed(&self) -> Size {
        self.evaluate_timed().expect("checked when it was read")
    }

    fn evaluate_checked(&self) -> Result<Vec<Size>, String> {
        let stated =
            self.sizes.iter().enumerate().map(|(at, values)| (Kind::Stated(at + 1), values));
        let held_out = self.held_out.iter().map(|values| (Kind::HeldOut, values));
        let sizes = stated.chain(held_out).map(|(kind, values)| Size::new(self, kind, values));
        sizes.collect()
    }

    fn evaluate_timed(&self) -> Result<Size, String> {
        let values = self.timed.as_ref().or(self.sizes.last());
        Size::new(self, Kind::Timed, values.ok_or("sizes: there is none")?)
    }

    /// Buffers and scalars that a module's `forward` takes.
    pub(crate) fn inputs(&self) -> &[String] {
        match (&self.module, &self.tensors) {
            (Some(module), _) => &module.inputs,
            (None, Some(tensors)) => &tensors.arguments,
            (None, None) => &[],
        }
    }

    /// The values that a module is made of.
    pub(crate) fn init(&self) -> &[serde_json::Value] {
        self.module.as_ref().map_or(&[], |module| &module.init)
    }

    /// The buffer of a module's parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.module.as_ref()?.parameters.get(name).map(String::as_str)
    }

    pub(crate) fn buffer_number(&self, name: &str) -> Option<u32> {
        let at = self.buffers.keys().position(|known| known == name)?;
        Some(u32::try_from(at).expect("few buffers"))
    }
}

pub(crate) fn fault(problem: impl std::fmt::Display) -> Error {
    Error::bad_request(format!("label: {problem}"))
}

#[cfg(test)]
mod tests;

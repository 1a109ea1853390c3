//! Reads what a recording program left: hostile bytes, until every number in them was checked.

use assay_core::limits::{
    GPU_BUFFERS_MAX, GPU_DEVICE_BYTES_MAX, GPU_DIMENSIONS_MAX, GPU_RETURNED_MAX,
    GPU_SENTENCE_BYTES_MAX, GPU_STEPS_MAX,
};
use serde::Deserialize;

use crate::compiler::{CompileError, RecordedTrace, Returned};
use crate::types::{
    BufferAddress, Dim3, ElementType, KernelArg, KernelInfo, KernelLaunch, Patch, PlanStep,
};

const ADDRESS_BYTES: usize = 8;
/// The element types in the order in which `record.h` numbers them.
const DTYPES: [ElementType; 12] = [
    ElementType::Fp64,
    ElementType::Fp32,
    ElementType::Fp16,
    ElementType::Bf16,
    ElementType::I64,
    ElementType::I32,
    ElementType::I16,
    ElementType::I8,
    ElementType::Ui64,
    ElementType::Ui32,
    ElementType::Ui16,
    ElementType::Ui8,
];

/// How a recording ended, by the recorder's word.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RecordingEnd {
    Plan(RecordedPlan),
    Unsupported(String),
    Mismatch(String),
    Threw(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedPlan {
    steps: Vec<RecordedStep>,
    scratch: Vec<u64>,
    returned: Vec<RecordedReturn>,
}

/// A buffer's number and an offset.
type RecordedAddress = (u32, u64);

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RecordedStep {
    Launch(RecordedLaunch),
    Set { at: RecordedAddress, bytes: u64, value: u8 },
    Copy { to: RecordedAddress, from: RecordedAddress, bytes: u64 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedLaunch {
    /// Among the image's.
    kernel: usize,
    grid: [u32; 3],
    block: [u32; 3],
    cooperative: bool,
    shared: u32,
    args: Vec<RecordedArg>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RecordedArg {
    Address(RecordedAddress),
    /// Hexadecimal digits, and the addresses in them.
    Bytes(String, Vec<(u32, RecordedAddress)>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedReturn {
    at: RecordedAddress,
    dtype: usize,
    shape: Vec<u64>,
}

/// `buffers`: the caller's. Whatever makes no sense is the program's doing.
pub(super) fn read(
    left: &[u8],
    kernels: &[KernelInfo],
    buffers: &[u64],
) -> Result<RecordedTrace, CompileError> {
    let left = serde_json::from_slice(left)
        .map_err(|_| CompileError::Crashed("it left a trace that makes no sense".to_owned()))?;
    match left {
        RecordingEnd::Plan(plan) => TraceReader::new(kernels, buffers, &plan)
            .and_then(|reader| reader.plan(plan))
            .map_err(|problem| CompileError::Crashed(format!("it left a trace with {problem}"))),
        RecordingEnd::Unsupported(what) => Ok(RecordedTrace {
            steps: Vec::new(),
            scratch_bytes: Vec::new(),
            returned: Vec::new(),
            unsupported: vec![sentence(&what)],
        }),
        RecordingEnd::Mismatch(what) => Err(CompileError::Rejected(sentence(&what))),
        RecordingEnd::Threw(what) => {
            Err(CompileError::Crashed(format!("it threw an exception: {}", sentence(&what))))
        }
    }
}

fn sentence(text: &str) -> String {
    let bytes_max = usize::try_from(GPU_SENTENCE_BYTES_MAX).expect("a small number");
    let cut = &text[..text.floor_char_boundary(bytes_max)];
    cut.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

struct TraceReader<'a> {
    kernels: &'a [KernelInfo],
    /// Bytes of all buffers, the caller's first.
    buffers: Vec<u64>,
}

type TraceResult<T> = Result<T, &'static str>;

impl<'a> TraceReader<'a> {
    fn new(kernels: &'a [KernelInfo], given: &[u64], plan: &RecordedPlan) -> TraceResult<Self> {
        let buffers: Vec<u64> = given.iter().chain(&plan.scratch).copied().collect();
        let sum = plan.scratch.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(*bytes));
        if buffers.len() > GPU_BUFFERS_MAX || plan.scratch.contains(&0) {
            return Err("buffers that cannot be");
        }
        if sum.is_none_or(|sum| sum > GPU_DEVICE_BYTES_MAX) {
            return Err("more bytes than a device has");
        }
        Ok(Self { kernels, buffers })
    }

    fn plan(&self, plan: RecordedPlan) -> TraceResult<RecordedTrace> {
        if plan.steps.len() as u64 > u64::from(GPU_STEPS_MAX) {
            return Err("more steps than a plan can have");
        }
        if plan.returned.len() > GPU_RETURNED_MAX {
            return Err("more tensors than can be returned");
        }
        let returned = plan.returned.into_iter().map(|one| self.returned(one));
        Ok(RecordedTrace {
            steps: plan
                .steps
                .into_iter()
                .map(|step| self.step(step))
                .collect::<TraceResult<_>>()?,
            returned: returned.collect::<TraceResult<_>>()?,
            scratch_bytes: plan.scratch,
            unsupported: Vec::new(),
        })
    }

    fn step(&self, step: RecordedStep) -> TraceResult<PlanStep> {
        Ok(match step {
            RecordedStep::Launch(launch) => PlanStep::Launch(self.launch(launch)?),
            RecordedStep::Set { at, bytes, value } => {
                PlanStep::Set { at: self.address(at, bytes)?, bytes, value }
            }
            RecordedStep::Copy { to, from, bytes } => PlanStep::Copy {
                to: self.address(to, bytes)?,
                from: self.address(from, bytes)?,
                bytes,
            },
        })
    }

    fn launch(&self, launch: RecordedLaunch) -> TraceResult<KernelLaunch> {
        let kernel = self.kernels.get(launch.kernel).ok_or("a kernel that is not in the image")?;
        if launch.args.len() != kernel.params.len() {
            return Err("another number of arguments than its kernel has");
        }
        let args = launch.args.into_iter().zip(&kernel.params);
        let args = args.map(|(arg, param)| self.arg(arg, param.bytes as usize));
        let dim3 = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
        Ok(KernelLaunch {
            module: 0,
            kernel: kernel.name.clone(),
            grid: dim3(launch.grid),
            block: dim3(launch.block),
            cooperative: launch.cooperative,
            dynamic_shared_bytes: launch.shared,
            args: args.collect::<TraceResult<_>>()?,
        })
    }

    fn arg(&self, arg: RecordedArg, length: usize) -> TraceResult<KernelArg> {
        let (digits, places) = match arg {
            RecordedArg::Address(place) if length == ADDRESS_BYTES => {
                return Ok(KernelArg::Address(self.address(place, 0)?));
            }
            RecordedArg::Address(_) => return Err("an address for what is none"),
            RecordedArg::Bytes(digits, places) => (digits, places),
        };
        let mut bytes = hex::decode(&digits).map_err(|_| "bytes that are none")?;
        if bytes.len() != length {
            return Err("an argument of another size than its parameter");
        }
        let mut patches = Vec::new();
        let mut free = 0;
        for (at, place) in places {
            let start = at as usize;
            if start < free || start.checked_add(ADDRESS_BYTES).is_none_or(|end| end > length) {
                return Err("an address that is not within its argument");
            }
            free = start + ADDRESS_BYTES;
            // The recorder's own addresses mean nothing elsewhere.
            bytes[start..free].fill(0);
            patches.push(Patch { at, address: self.address(place, 0)? });
        }
        Ok(KernelArg::ByValue { bytes, patches })
    }

    /// The address, if so many bytes from there lie in the buffer.
    fn address(&self, (buffer, offset): RecordedAddress, bytes: u64) -> TraceResult<BufferAddress> {
        let room = usize::try_from(buffer).ok().and_then(|number| self.buffers.get(number));
        let room = room.ok_or("a buffer that there is not")?;
        if offset.checked_add(bytes).is_none_or(|end| end > *room) {
            return Err("an address outside of its buffer");
        }
        Ok(BufferAddress { buffer, offset })
    }

    fn returned(&self, returned: RecordedReturn) -> TraceResult<Returned> {
        let dtype = *DTYPES.get(returned.dtype).ok_or("a type that there is not")?;
        if returned.shape.len() > GPU_DIMENSIONS_MAX {
            return Err("a tensor of too many dimensions");
        }
        let bytes = returned.shape.iter().try_fold(dtype.bytes(), |all, one| all.checked_mul(*one));
        let bytes = bytes.ok_or("a tensor outside of its buffer")?;
        let BufferAddress { buffer, offset } = self.address(returned.at, bytes)?;
        Ok(Returned { buffer, offset, dtype, shape: returned.shape })
    }
}

#[cfg(test)]
mod tests;

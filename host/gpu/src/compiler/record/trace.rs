//! Reads what a recording program left: hostile bytes, until every number in them was checked.

use assay_model::limits::{
    GPU_BUFFERS_MAX, GPU_DEVICE_BYTES_MAX, GPU_DIMENSIONS_MAX, GPU_RETURNED_MAX,
    GPU_SENTENCE_BYTES_MAX, GPU_STEPS_MAX,
};
use serde::Deserialize;

use crate::compiler::{Error, Returned, Trace};
use crate::types::{Address, Arg, Dim3, Dtype, KernelInfo, Launch, Patch, Step};

const ADDRESS_BYTES: usize = 8;
/// In the order in which `record.h` numbers them.
const DTYPES: [Dtype; 12] = [
    Dtype::Fp64,
    Dtype::Fp32,
    Dtype::Fp16,
    Dtype::Bf16,
    Dtype::I64,
    Dtype::I32,
    Dtype::I16,
    Dtype::I8,
    Dtype::Ui64,
    Dtype::Ui32,
    Dtype::Ui16,
    Dtype::Ui8,
];

/// How a recording ended, by the recorder's word.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Left {
    Plan(Plan),
    Unsupported(String),
    Mismatch(String),
    Threw(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    steps: Vec<RawStep>,
    scratch: Vec<u64>,
    returned: Vec<RawReturned>,
}

/// A buffer's number and an offset.
type Place = (u32, u64);

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RawStep {
    Launch(RawLaunch),
    Set { at: Place, bytes: u64, value: u8 },
    Copy { to: Place, from: Place, bytes: u64 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLaunch {
    /// Among the image's.
    kernel: usize,
    grid: [u32; 3],
    block: [u32; 3],
    cooperative: bool,
    shared: u32,
    args: Vec<RawArg>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RawArg {
    Address(Place),
    /// Hexadecimal digits, and the addresses in them.
    Bytes(String, Vec<(u32, Place)>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReturned {
    at: Place,
    dtype: usize,
    shape: Vec<u64>,
}

/// `buffers`: the caller's. Whatever makes no sense is the program's doing.
pub(super) fn read(left: &[u8], kernels: &[KernelInfo], buffers: &[u64]) -> Result<Trace, Error> {
    let left = serde_json::from_slice(left)
        .map_err(|_| Error::Crashed("it left a trace that makes no sense".to_owned()))?;
    match left {
        Left::Plan(plan) => Reader::new(kernels, buffers, &plan)
            .and_then(|reader| reader.plan(plan))
            .map_err(|problem| Error::Crashed(format!("it left a trace with {problem}"))),
        Left::Unsupported(what) => Ok(Trace {
            steps: Vec::new(),
            scratch_bytes: Vec::new(),
            returned: Vec::new(),
            unsupported: vec![sentence(&what)],
        }),
        Left::Mismatch(what) => Err(Error::Rejected(sentence(&what))),
        Left::Threw(what) => {
            Err(Error::Crashed(format!("it threw an exception: {}", sentence(&what))))
        }
    }
}

fn sentence(text: &str) -> String {
    let bytes_max = usize::try_from(GPU_SENTENCE_BYTES_MAX).expect("a small number");
    let cut = &text[..text.floor_char_boundary(bytes_max)];
    cut.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

struct Reader<'a> {
    kernels: &'a [KernelInfo],
    /// Bytes of all buffers, the caller's first.
    buffers: Vec<u64>,
}

type Checked<T> = Result<T, &'static str>;

impl<'a> Reader<'a> {
    fn new(kernels: &'a [KernelInfo], given: &[u64], plan: &Plan) -> Checked<Self> {
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

    fn plan(&self, plan: Plan) -> Checked<Trace> {
        if plan.steps.len() as u64 > u64::from(GPU_STEPS_MAX) {
            return Err("more steps than a plan can have");
        }
        if plan.returned.len() > GPU_RETURNED_MAX {
            return Err("more tensors than can be returned");
        }
        let returned = plan.returned.into_iter().map(|one| self.returned(one));
        Ok(Trace {
            steps: plan.steps.into_iter().map(|step| self.step(step)).collect::<Checked<_>>()?,
            returned: returned.collect::<Checked<_>>()?,
            scratch_bytes: plan.scratch,
            unsupported: Vec::new(),
        })
    }

    fn step(&self, step: RawStep) -> Checked<Step> {
        Ok(match step {
            RawStep::Launch(launch) => Step::Launch(self.launch(launch)?),
            RawStep::Set { at, bytes, value } => {
                Step::Set { at: self.address(at, bytes)?, bytes, value }
            }
            RawStep::Copy { to, from, bytes } => {
                Step::Copy { to: self.address(to, bytes)?, from: self.address(from, bytes)?, bytes }
            }
        })
    }

    fn launch(&self, launch: RawLaunch) -> Checked<Launch> {
        let kernel = self.kernels.get(launch.kernel).ok_or("a kernel that is not in the image")?;
        if launch.args.len() != kernel.params.len() {
            return Err("another number of arguments than its kernel has");
        }
        let args = launch.args.into_iter().zip(&kernel.params);
        let args = args.map(|(arg, param)| self.arg(arg, param.bytes as usize));
        let dim3 = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
        Ok(Launch {
            module: 0,
            kernel: kernel.name.clone(),
            grid: dim3(launch.grid),
            block: dim3(launch.block),
            cooperative: launch.cooperative,
            dynamic_shared_bytes: launch.shared,
            args: args.collect::<Checked<_>>()?,
        })
    }

    fn arg(&self, arg: RawArg, length: usize) -> Checked<Arg> {
        let (digits, places) = match arg {
            RawArg::Address(place) if length == ADDRESS_BYTES => {
                return Ok(Arg::Address(self.address(place, 0)?));
            }
            RawArg::Address(_) => return Err("an address for what is none"),
            RawArg::Bytes(digits, places) => (digits, places),
        };
        let mut bytes = unhex(&digits).ok_or("bytes that are none")?;
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
        Ok(Arg::ByValue { bytes, patches })
    }

    /// The address, if so many bytes from there lie in the buffer; just behind it lie none.
    fn address(&self, (buffer, offset): Place, bytes: u64) -> Checked<Address> {
        let room = usize::try_from(buffer).ok().and_then(|number| self.buffers.get(number));
        let room = room.ok_or("a buffer that there is not")?;
        if offset.checked_add(bytes).is_none_or(|end| end > *room) {
            return Err("an address outside of its buffer");
        }
        Ok(Address { buffer, offset })
    }

    fn returned(&self, returned: RawReturned) -> Checked<Returned> {
        let dtype = *DTYPES.get(returned.dtype).ok_or("a type that there is not")?;
        if returned.shape.len() > GPU_DIMENSIONS_MAX {
            return Err("a tensor of too many dimensions");
        }
        let bytes = returned.shape.iter().try_fold(dtype.bytes(), |all, one| all.checked_mul(*one));
        let bytes = bytes.ok_or("a tensor outside of its buffer")?;
        let Address { buffer, offset } = self.address(returned.at, bytes)?;
        Ok(Returned { buffer, offset, dtype, shape: returned.shape })
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()).collect()
}

#[cfg(test)]
mod tests;

//! The judge's own kernels on a GPU: fills and comparisons where the data is, as [`crate::fill`] and
//! [`crate::compare`] define them.
//!
//! They are loaded beside a candidate's kernels in its process, for fills alone: what they say there is
//! never believed. They have no variables that a candidate's kernel could change.

use super::code::DriverCode;
use super::driver::{DriverContext, DriverModule};
use super::image;
use crate::compare::{passes, value};
use crate::device::{BufferComparison, Compared, DeviceProblem, Fill, FillRule, RawLaunch};
use crate::types::{Dim3, ElementType};

/// Made of judge.cu by `scripts/gpu-ptx.sh`.
const PTX: &str = include_str!("judge.ptx");
/// The same as machine code, by the least architecture of each generation: a driver need not compile it at the start of each
/// executor. Other generations get the PTX.
const COMPILED: [(&str, &[u8]); 2] = [
    ("sm_80", include_bytes!("judge.sm_80.cubin")),
    ("sm_90", include_bytes!("judge.sm_90.cubin")),
];

const BLOCK_THREADS: u64 = 256;
/// Enough for every GPU to be full; further elements are taken in strides.
const BLOCKS_MAX: u64 = 2048;
/// `Counts` of judge.cu.
const COUNTS_BYTES: usize = 48;
const FIRST_WRONG_AT: usize = 40;

pub struct TrustedKernels {
    module: DriverModule,
    result: u64,
}

impl TrustedKernels {
    /// `arch` is the GPU's, such as `sm_90`.
    pub fn load(context: &DriverContext, arch: &str) -> Result<TrustedKernels, DeviceProblem> {
        let is_fit =
            |least: &str| arch.len() == least.len() && arch[..4] == least[..4] && arch >= least;
        let compiled = COMPILED.iter().find(|(least, _)| is_fit(least));
        let compiled =
            compiled.and_then(|(_, code)| context.load(&image::checked(code).ok()?).ok());
        let module = match compiled {
            Some(module) => module,
            None => context.load(&image::checked(PTX.as_bytes())?).map_err(|(code, log)| {
                context.driver.failed(&format!("the judge's kernels, {log}"), code)
            })?,
        };
        let result = context
            .alloc(COUNTS_BYTES)
            .map_err(|code| context.driver.failed("memory for the judge", code))?;
        Ok(TrustedKernels { module, result })
    }

    pub fn fill(&self, context: &DriverContext, at: u64, fill: &Fill) -> Result<(), DeviceProblem> {
        crate::fill::check(fill.dtype, fill.count, fill.rule)
            .map_err(|unfit| DeviceProblem::Failed(unfit.to_string()))?;
        let args = vec![bytes(at), bytes(fill.count), fill_bytes(fill)];
        self.launch(context, "assay_fill", fill.count, args)
    }

    pub fn compare(
        &self,
        context: &DriverContext,
        compared: &Compared,
    ) -> Result<BufferComparison, DeviceProblem> {
        let Compared { got, want, poison, tolerance } = compared;
        let failed = |code: DriverCode| {
            code.of_work(format!("a comparison: {}", context.driver.name_of(code)))
        };
        let first_at = self.result + FIRST_WRONG_AT as u64;
        context.set(self.result, FIRST_WRONG_AT, 0).map_err(failed)?;
        context.set(first_at, COUNTS_BYTES - FIRST_WRONG_AT, 0xff).map_err(failed)?;
        let args = vec![
            bytes(*got),
            bytes(*want),
            bytes(poison.count),
            fill_bytes(poison),
            bytes(tolerance.absolute.to_bits()),
            bytes(tolerance.relative.to_bits()),
            u32::from(tolerance.allow_nonfinite).to_le_bytes().to_vec(),
            bytes(self.result),
        ];
        self.launch(context, "assay_compare", poison.count, args)?;
        let mut found = [0; COUNTS_BYTES];
        context.read(self.result, &mut found).map_err(failed)?;
        let [mismatched, never_written, got_nonfinite, absolute, relative, first] = numbers(&found);
        let first_wrong = (first != u64::MAX).then_some(first);
        let there = |buffer: u64| match first_wrong {
            None => Ok(0.0),
            Some(element) => {
                let size = poison.dtype.bytes();
                let mut bits = [0; 8];
                context
                    .read(buffer + element * size, &mut bits[..size as usize])
                    .map_err(failed)?;
                Ok(value(poison.dtype, u64::from_le_bytes(bits)))
            }
        };
        Ok(BufferComparison {
            ok: passes(mismatched, never_written, poison.dtype, poison.count, tolerance),
            mismatched,
            absolute_max: f64::from_bits(absolute),
            relative_max: f64::from_bits(relative),
            got_nonfinite,
            never_written,
            first_wrong,
            got_there: there(*got)?,
            want_there: there(*want)?,
        })
    }

    pub fn equal(
        &self,
        context: &DriverContext,
        one: u64,
        other: u64,
        count: u64,
    ) -> Result<bool, DeviceProblem> {
        if !one.is_multiple_of(8) || !other.is_multiple_of(8) {
            return Err(DeviceProblem::Failed("bytes that are compared begin at words".to_owned()));
        }
        let failed = |code: DriverCode| {
            code.of_work(format!("a comparison of bytes: {}", context.driver.name_of(code)))
        };
        context.set(self.result, COUNTS_BYTES, 0).map_err(failed)?;
        let args = vec![bytes(one), bytes(other), bytes(count), bytes(self.result)];
        self.launch(context, "assay_equal", count.div_ceil(8), args)?;
        let mut differs = [0; 4];
        context.read(self.result, &mut differs).map_err(failed)?;
        Ok(differs == [0; 4])
    }

    /// Overwrites the result of the last comparison.
    pub fn forget(&self, context: &DriverContext) -> Result<(), DeviceProblem> {
        context.set(self.result, COUNTS_BYTES, 0).map_err(|code| {
            code.of_work(format!("emptying memory: {}", context.driver.name_of(code)))
        })
    }

    /// Writes so many bytes, which pass through the cache.
    pub fn flush(&self, context: &DriverContext, at: u64, count: u64) -> Result<(), DeviceProblem> {
        let words = count / 8;
        let args = vec![bytes(at), bytes(words), bytes(words)];
        self.launch(context, "assay_flush", words, args)
    }

    fn launch(
        &self,
        context: &DriverContext,
        name: &str,
        elements: u64,
        args: Vec<Vec<u8>>,
    ) -> Result<(), DeviceProblem> {
        if elements == 0 {
            return Ok(());
        }
        let found = self.module.kernels.iter().find(|kernel| kernel.name == name);
        let kernel = found
            .ok_or_else(|| DeviceProblem::Failed(format!("the judge has no kernel {name}")))?;
        let blocks = elements.div_ceil(BLOCK_THREADS).min(BLOCKS_MAX);
        let launch = RawLaunch {
            kernel: name.to_owned(),
            grid: Dim3 { x: blocks as u32, y: 1, z: 1 },
            block: Dim3 { x: BLOCK_THREADS as u32, y: 1, z: 1 },
            cooperative: false,
            dynamic_shared_bytes: 0,
            args,
        };
        context.launch(kernel, &launch).map_err(|code| {
            code.of_work(format!("the judge's {name}: {}", context.driver.name_of(code)))
        })
    }
}

fn bytes(number: u64) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

fn numbers(found: &[u8; COUNTS_BYTES]) -> [u64; 6] {
    std::array::from_fn(|index| {
        let word = &found[index * 8..index * 8 + 8];
        u64::from_le_bytes(word.try_into().expect("eight bytes"))
    })
}

/// `Fill` of judge.cu.
fn fill_bytes(fill: &Fill) -> Vec<u8> {
    let (rule, a, b) = match fill.rule {
        FillRule::Zeros => (0, 0, 0),
        FillRule::Uniform { low, high } => (1, low.to_bits(), (high - low).to_bits()),
        FillRule::Normal { mean, deviation } => (2, mean.to_bits(), deviation.to_bits()),
        FillRule::Integers { low, high } => {
            (3, low as u64, (high as u64).wrapping_sub(low as u64).wrapping_add(1))
        }
        FillRule::Permutation => (4, fill.count, u64::from(half_bits(fill.count))),
        FillRule::Poison => (5, 0, 0),
        FillRule::Guard => (6, 0, 0),
    };
    let mut made = Vec::with_capacity(40);
    for word in [fill.seed, a, b] {
        made.extend(word.to_le_bytes());
    }
    for word in [fill.stream, rule, dtype(fill.dtype), 0u32] {
        made.extend(word.to_le_bytes());
    }
    made
}

/// Half the bits of the Feistel network over so many elements.
fn half_bits(count: u64) -> u32 {
    let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
    bits.div_ceil(2).max(1)
}

fn dtype(dtype: ElementType) -> u32 {
    match dtype {
        ElementType::Fp64 => 0,
        ElementType::Fp32 => 1,
        ElementType::Fp16 => 2,
        ElementType::Bf16 => 3,
        ElementType::I64 => 4,
        ElementType::I32 => 5,
        ElementType::I16 => 6,
        ElementType::I8 => 7,
        ElementType::Ui64 => 8,
        ElementType::Ui32 => 9,
        ElementType::Ui16 => 10,
        ElementType::Ui8 => 11,
    }
}

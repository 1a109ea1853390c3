//! Facts about kernels: from the declarations in their PTX, and from the assembler's notes.

use std::collections::BTreeMap;

use assay_core::limits::{GPU_IMAGE_BYTES_MAX, GPU_KERNELS_MAX};

use super::CompileError;
use crate::types::{KernelInfo, KernelParam};

/// The most threads of a block for a kernel that states no bound.
const THREADS_MAX: u32 = 1_024;

/// The assembler's note on one kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KernelUsage {
    pub registers: u32,
    pub static_shared_bytes: u32,
    pub local_bytes: u32,
}

/// A compiler's log, separated from the assembler's notes on each kernel (`ptxas -v`).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CompilerLog {
    pub log: String,
    pub uses: BTreeMap<String, KernelUsage>,
}

impl CompilerLog {
    pub fn read(text: &str) -> Self {
        let mut said = Self::default();
        let mut kernel: Option<&str> = None;
        for line in text.lines() {
            if let Some(note) = line.strip_prefix("ptxas info") {
                let note = note.trim_start_matches([' ', ':']);
                if let Some(rest) = note.strip_prefix("Compiling entry function '") {
                    kernel = rest.split('\'').next();
                } else if let (Some(kernel), Some(used)) = (kernel, note.strip_prefix("Used ")) {
                    said.uses.insert(kernel.to_owned(), used_by(used));
                }
            } else if !is_frame_note(line) {
                said.log.push_str(line);
                said.log.push('\n');
            }
        }
        said.log.truncate(said.log.trim_end().len());
        said
    }
}

/// `0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`, a line of its own.
fn is_frame_note(line: &str) -> bool {
    line.contains(" bytes stack frame, ") && line.ends_with(" bytes spill loads")
}

/// Reads `40 registers, used 1 barriers, 160 bytes cumulative stack size, 1200 bytes smem`.
fn used_by(text: &str) -> KernelUsage {
    let mut all = KernelUsage::default();
    for part in text.split(", ") {
        let (number, what) = part.split_once(' ').unwrap_or((part, ""));
        let number = number.parse().unwrap_or(0);
        match what {
            "registers" => all.registers = number,
            "bytes smem" => all.static_shared_bytes = number,
            "bytes cumulative stack size" => all.local_bytes = number,
            _ => {}
        }
    }
    all
}

/// The kernels of a text, in its order.
pub(crate) fn describe(
    ptx: &str,
    uses: &BTreeMap<String, KernelUsage>,
) -> Result<Vec<KernelInfo>, CompileError> {
    if ptx.len() as u64 > GPU_IMAGE_BYTES_MAX {
        return Err(CompileError::TooLarge(GPU_IMAGE_BYTES_MAX));
    }
    let entries = assay_ptx::entries(ptx)
        .map_err(|error| CompileError::Rejected(format!("the PTX cannot be read: {error}")))?;
    if entries.len() > GPU_KERNELS_MAX {
        return Err(CompileError::Rejected(format!(
            "there are more than {GPU_KERNELS_MAX} kernels"
        )));
    }
    // Without an assembler's word, for what is run by the interpreter.
    let parsed = if uses.is_empty() { assay_ptx::PtxModule::parse(ptx).ok() } else { None };
    let simulated = |name: &str| {
        let info = parsed.as_ref()?.kernels().iter().find(|info| info.name == name)?;
        Some(KernelUsage {
            registers: 0,
            static_shared_bytes: small(info.static_shared_bytes),
            local_bytes: small(info.local_bytes),
        })
    };
    let describe = |entry: assay_ptx::PtxEntry| {
        let used = uses.get(&entry.name).copied().or_else(|| simulated(&entry.name));
        let used = used.unwrap_or_default();
        let params = entry.params.iter();
        KernelInfo {
            params: params
                .map(|param| KernelParam { offset: small(param.offset), bytes: small(param.bytes) })
                .collect(),
            registers: used.registers,
            static_shared_bytes: used.static_shared_bytes,
            local_bytes: used.local_bytes,
            threads_max: entry.max_threads.unwrap_or(THREADS_MAX).min(THREADS_MAX),
            name: entry.name,
        }
    };
    Ok(entries.into_iter().map(describe).collect())
}

/// Cut where it is larger than anything that a kernel may have.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assemblers_notes_are_taken_out_of_the_log() {
        let text = "main.cu(3): warning #177-D: unused\n\
             ptxas info    : 0 bytes gmem\n\
             ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
             ptxas info    : Function properties for k\n\
             ptxas         .     160 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
             ptxas info    : Used 40 registers, used 1 barriers, 160 bytes cumulative stack size, \
             1200 bytes smem\n\
             ptxas info    : Compile time = 25.405 ms\n\
             ptxas info    : Compiling entry function 'm' for 'sm_90'\n\
             \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
             ptxas info    : Used 12 registers, used 0 barriers\n\
             ptxas warning : something\n";
        let said = CompilerLog::read(text);
        assert_eq!(said.log, "main.cu(3): warning #177-D: unused\nptxas warning : something");
        let k = KernelUsage { registers: 40, static_shared_bytes: 1_200, local_bytes: 160 };
        let m = KernelUsage { registers: 12, ..KernelUsage::default() };
        assert_eq!(said.uses, BTreeMap::from([("k".to_owned(), k), ("m".to_owned(), m)]));
        assert_eq!(CompilerLog::read(""), CompilerLog::default());
    }
}

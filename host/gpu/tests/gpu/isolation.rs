//! Traces of one process that another can find: in global memory, and in the shared memory of its blocks.

use std::process::{Command, Stdio};

use assay_gpu::cuda::{CudaDevice, devices};
use assay_gpu::device::Device;
use assay_gpu::session::{BufferInit, BufferRole, BufferSpec, Origin};
use assay_gpu::types::{BufferAddress, Dim3, ElementType, KernelArg, KernelLaunch, PlanStep};

use super::bench::{BLOCK, Bench, KERNELS, bench, buffer, is_wanted, report, turn};

/// Set in a process that leaves something behind, to how it is to end.
const LEAVES: &str = "ASSAY_GPU_LEAVES";
const LEFT: u8 = 0x5c;
const PART_BYTES: u64 = 64 << 20;

/// The number of 8-byte words in this range that hold the value of another process.
fn words_left(device: &mut CudaDevice, at: u64, bytes: u64) -> u64 {
    let mut part = vec![0; PART_BYTES as usize];
    let parts = (0..bytes / PART_BYTES).map(|number| {
        device.read(at + number * PART_BYTES, &mut part).unwrap();
        part.chunks_exact(8).filter(|word| **word == [LEFT; 8]).count() as u64
    });
    parts.sum()
}

fn bytes_looked_at() -> u64 {
    (devices().unwrap()[0].memory_bytes / 4).min(16 << 30) / PART_BYTES * PART_BYTES
}

#[test]
fn memory_of_a_process_that_ended_is_not_to_be_found() {
    let test = "stale memory";
    if !is_wanted(test) {
        return;
    }
    let bytes = bytes_looked_at();
    if let Some(end) = std::env::var_os(LEAVES) {
        let mut device = CudaDevice::open(0).unwrap();
        let at = device.alloc(bytes).unwrap();
        device.set(at, bytes, LEFT).unwrap();
        device.finish().unwrap();
        assert_eq!(words_left(&mut device, at, bytes), bytes / 8, "it was written");
        if end == "killed" {
            nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL).unwrap();
        }
        return;
    }
    let _turn = turn();
    for end in ["killed", "ended"] {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "gpu::isolation::memory_of_a_process_that_ended_is_not_to_be_found"])
            .env(LEAVES, end)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.success(), end == "ended", "{status}");
        let mut device = CudaDevice::open(0).unwrap();
        let at = device.alloc(bytes).unwrap();
        let found = words_left(&mut device, at, bytes);
        report(test, &format!("words of 8 bytes of a process that was {end}"), found, "");
        report(test, "bytes looked at", bytes, "B");
        assert_eq!(found, 0);
    }
}

/// Runs a kernel of `(y, n)` over every multiprocessor; gives what is in `y` then.
fn shared(bench: &Bench, kernel: &str) -> Vec<u8> {
    let blocks = bench.properties.multiprocessors * 2;
    let words = 12_288;
    let mut session = bench.open();
    let module = session.load(KERNELS.as_bytes(), Origin::Candidate).unwrap();
    let count = u64::from(blocks * words);
    let spec = BufferSpec {
        dtype: ElementType::I32,
        count,
        role: BufferRole::Scratch,
        init: BufferInit::Zeros,
    };
    session.alloc(&[spec]).unwrap();
    let launch = KernelLaunch {
        module,
        kernel: kernel.into(),
        grid: Dim3 { x: blocks, y: 1, z: 1 },
        block: Dim3 { x: BLOCK, y: 1, z: 1 },
        cooperative: false,
        dynamic_shared_bytes: words * 4,
        args: vec![buffer(0), KernelArg::I32(words as i32)],
    };
    session.run(&[PlanStep::Launch(launch)], None).unwrap();
    session.download(BufferAddress { buffer: 0, offset: 0 }, count * 4).unwrap()
}

/// A finding, not a promise: neither side keeps anything secret in shared memory.
#[test]
fn what_blocks_of_another_process_shared() {
    let test = "stale shared memory";
    let Some(bench) = bench(test) else { return };
    shared(&bench, "left_in_shared");
    let found = shared(&bench, "found_in_shared");
    let words = found.chunks_exact(4).filter(|word| word[1..] == [0xe7, 0xc2, 0x5e]).count();
    report(test, "words found", words, "");
}

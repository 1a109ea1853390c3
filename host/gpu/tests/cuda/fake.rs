//! Tests in a process that has the fake driver.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assay_gpu::cuda::CudaDevice;
use assay_gpu::device::{Device, RawLaunch};
use assay_gpu::types::Dim3;

/// Set in the process that has the driver.
const INSIDE: &str = "ASSAY_FAKE_CUDA_INSIDE";

/// A folder with `libcuda.so`, which is that file.
pub fn folder_with(library: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert!(library.exists(), "{} is built with the tests", library.display());
    std::os::unix::fs::symlink(library, folder.path().join("libcuda.so")).unwrap();
    folder
}

pub fn folder() -> tempfile::TempDir {
    let program = std::env::current_exe().unwrap();
    let built: PathBuf = program.with_file_name("libassay_fake_cuda.so");
    folder_with(&built)
}

/// Runs the test of that name again, with a driver from a folder and `FAKE_CUDA_ERROR`.
pub fn again(name: &str, folder: &Path, error: &str) -> Output {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("LD_LIBRARY_PATH", folder)
        .env("FAKE_CUDA_ERROR", error)
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("running 1 test"), "no test is called {name}:\n{text}");
    output
}

pub fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// The name of a test that stands in this module.
pub fn name(module: &str, test: &str) -> String {
    let (_, module) = module.split_once("::").unwrap();
    format!("{module}::{test}")
}

macro_rules! on_fake {
    (fn $name:ident() $body:block) => {
        #[test]
        fn $name() {
            if super::fake::is_inside() {
                return $body;
            }
            let name = super::fake::name(module_path!(), stringify!($name));
            let output = super::fake::again(&name, super::fake::folder().path(), "");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        }
    };
}
pub(crate) use on_fake;

pub fn open() -> CudaDevice {
    CudaDevice::open(0).unwrap()
}

pub fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx/fixtures");
    std::fs::read(folder.join(format!("{name}.ptx"))).unwrap()
}

pub fn buffer(device: &mut CudaDevice, bytes: &[u8]) -> u64 {
    let at = device.alloc(bytes.len() as u64).unwrap();
    device.write(at, bytes).unwrap();
    at
}

pub fn held(device: &mut CudaDevice, at: u64, bytes: u64) -> Vec<u8> {
    let mut held = vec![0; bytes as usize];
    device.read(at, &mut held).unwrap();
    held
}

pub fn launch(kernel: &str, grid: u32, block: u32, args: Vec<Vec<u8>>) -> RawLaunch {
    RawLaunch {
        kernel: kernel.to_owned(),
        grid: Dim3 { x: grid, y: 1, z: 1 },
        block: Dim3 { x: block, y: 1, z: 1 },
        cooperative: false,
        dynamic_shared_bytes: 0,
        args,
    }
}

pub fn address(at: u64) -> Vec<u8> {
    at.to_le_bytes().to_vec()
}

//! Drivers that are there, are not, or are too old.

use std::path::{Path, PathBuf};
use std::process::Command;

use assay_gpu::cuda::{CudaDevice, devices};
use assay_gpu::device::{Device, DeviceProblem, Properties};

use super::fake::{again, folder, folder_with, is_inside, name, on_fake, open};

fn expected() -> Properties {
    Properties {
        name: "Fake GPU".into(),
        uuid: String::new(),
        arch: "sm_90".into(),
        driver: String::new(),
        multiprocessors: 4,
        clock_khz: 1_000_000,
        memory_bytes: 1 << 30,
        l2_bytes: 4096,
        shared_bytes_max: 227 << 10,
        peak_bytes_per_s: 32_000_000_000,
        reaches_host_memory: true,
        simulated: false,
    }
}

on_fake! {
    fn properties_are_the_drivers() {
        let device = open();
        let mut found = device.properties().clone();
        assert!(found.driver.ends_with("CUDA 13.0"), "{}", found.driver);
        assert_eq!(devices().unwrap(), [found.clone()]);
        assert_eq!(found.uuid.len(), 36);
        found.driver.clear();
        found.uuid.clear();
        assert_eq!(found, expected());
        assert!(matches!(CudaDevice::open(1), Err(DeviceProblem::Failed(_))));
        assert!(matches!(CudaDevice::open(u32::MAX), Err(DeviceProblem::Failed(_))));
    }
}

/// The command, with libraries from a folder.
fn command(folder: &Path, error: &str) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_assay-gpu"))
        .arg("devices")
        .env_clear()
        .env("LD_LIBRARY_PATH", folder)
        .env("FAKE_CUDA_ERROR", error)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_prints_one_line() {
    let (success, line, said) = command(folder().path(), "");
    assert!(success, "{said}");
    assert_eq!(line.lines().count(), 1);
    let mut found: Vec<Properties> = serde_json::from_str(&line).unwrap();
    found[0].driver.clear();
    found[0].uuid.clear();
    assert_eq!(found, [expected()]);
}

#[test]
fn a_driver_without_gpus_is_no_error_and_a_broken_one_is() {
    assert_eq!(command(folder().path(), "cuInit:100"), (true, "[]\n".into(), String::new()));
    let (success, line, said) = command(folder().path(), "cuInit:803");
    assert!(!success && line.is_empty() && said.contains("cuInit: error 803"), "{said}");
}

/// A library that is no driver.
fn another_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let found = paths.find(|path| path.contains("/libc.so") || path.contains("/libc-"));
    PathBuf::from(found.expect("tests are linked with the C library"))
}

#[test]
fn a_driver_that_lacks_a_function_is_too_old() {
    if is_inside() {
        let Err(DeviceProblem::Failed(reason)) = CudaDevice::open(0) else {
            panic!("no driver, but a GPU")
        };
        assert!(reason.contains("too old: it has no cu"), "{reason}");
        assert!(devices().is_err());
        return;
    }
    let name = name(module_path!(), "a_driver_that_lacks_a_function_is_too_old");
    let output = again(&name, folder_with(&another_library()).path(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn no_driver_is_no_gpu() {
    if is_inside() {
        return match devices() {
            Ok(found) if found.is_empty() => {
                let Err(DeviceProblem::Failed(reason)) = CudaDevice::open(0) else {
                    panic!("no driver")
                };
                assert!(reason.contains("CUDA driver"), "{reason}");
            }
            other => println!("SKIPPED: this machine has a driver of its own: {other:?}"),
        };
    }
    let nothing = tempfile::tempdir().unwrap();
    let output = again(&name(module_path!(), "no_driver_is_no_gpu"), nothing.path(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

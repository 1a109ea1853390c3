//! The part of this suite that a fake driver can run: the tests, the sessions and the executor with the
//! device `cuda` on machines without a GPU.

// A release has no fake driver.
#![cfg(debug_assertions)]

use std::process::Command;

fn check(test: &str) {
    check_with_errors(test, "");
}

/// With what `FAKE_CUDA_ERROR` would say, in executors as well.
fn check_with_errors(test: &str, errors: &str) {
    let program = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let driver = program.with_file_name("libassay_fake_cuda.so");
    assert!(driver.exists(), "{} is built with the tests", driver.display());
    std::os::unix::fs::symlink(driver, folder.path().join("libcuda.so")).unwrap();
    std::fs::write(folder.path().join("errors"), errors).unwrap();
    let output = Command::new(program)
        .args(["--exact", test])
        .env("LD_LIBRARY_PATH", folder.path())
        .env("ASSAY_TEST_GPU", "1")
        .env_remove("ASSAY_GPU_REPORT")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("running 1 test"), "no test is called {test}:\n{text}");
    assert!(output.status.success(), "{text}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("SKIPPED"));
}

#[test]
fn cheats() {
    check("gpu::cheats::an_honest_kernel_is_clean");
    check("gpu::cheats::each_cheat_is_seen");
}

#[test]
fn memory_that_is_shared() {
    // Nothing is copied from this machine's memory to the GPU.
    let shares = "cuMemcpyHtoDAsync_v2:1";
    check_with_errors("gpu::cheats::cheats_are_seen_in_memory_that_is_shared", shares);
    let test = "gpu::cheats::an_honest_kernel_is_clean_in_memory_that_is_shared";
    check_with_errors(test, shares);
    // Where it cannot be opened, or has no handle, all goes through this machine's memory.
    check_with_errors(test, "cuIpcOpenMemHandle_v2:304");
    check_with_errors(test, "cuIpcGetMemHandle:801");
}

#[test]
fn errors() {
    check("gpu::errors::what_a_kernel_does_wrong_is_named_and_ends_the_session");
    check("gpu::errors::what_a_launch_cannot_be_is_named_and_the_session_goes_on");
    check("gpu::errors::images_and_memory_that_cannot_be");
    // After the check the judge has four pieces of memory, the candidate's side three.
    let test = "gpu::errors::memory_that_one_side_has_and_the_other_lacks";
    check_with_errors(test, "cuMemAlloc_v2:2:4");
}

#[test]
fn a_gpu_of_one_worker() {
    check("gpu::errors::a_gpu_is_one_workers");
}

#[test]
fn an_endless_kernel() {
    check("gpu::errors::an_endless_kernel_is_killed");
}

#[test]
fn a_plan() {
    check("gpu::same::a_plan_is_replayed_step_by_step");
}

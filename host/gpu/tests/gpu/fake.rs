//! What of this suite a fake driver can run, is run everywhere: the tests, the sessions and the executor by
//! the device `cuda`, where no GPU is.

// A release has no fake driver.
#![cfg(debug_assertions)]

use std::process::Command;

fn check(test: &str) {
    let program = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let driver = program.with_file_name("libassay_fake_cuda.so");
    assert!(driver.exists(), "{} is built with the tests", driver.display());
    std::os::unix::fs::symlink(driver, folder.path().join("libcuda.so")).unwrap();
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
    check("cheats::an_honest_kernel_is_clean");
    check("cheats::each_cheat_is_seen");
}

#[test]
fn errors() {
    check("errors::what_a_kernel_does_wrong_is_named_and_ends_the_session");
    check("errors::what_a_launch_cannot_be_is_named_and_the_session_goes_on");
    check("errors::images_and_memory_that_cannot_be");
}

#[test]
fn an_endless_kernel() {
    check("errors::an_endless_kernel_is_killed");
}

#[test]
fn a_plan() {
    check("same::a_plan_is_replayed_step_by_step");
}

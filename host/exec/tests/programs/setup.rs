//! The time that is no caller's: a worker starts the helper and looks for toolchains once, for all callers.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use assay_exec::ExecOptions;

use super::{Fixture, case, options, source};

#[test]
fn the_first_caller_does_not_pay_for_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let usual = options(folder.path());
    let helper_program = folder.path().join("slow");
    let text = format!("#!/bin/sh\nsleep 1\nexec {} \"$@\"\n", usual.helper_program.display());
    std::fs::write(&helper_program, text).expect("written");
    std::fs::set_permissions(&helper_program, PermissionsExt::from_mode(0o755)).expect("ours");
    let mut fixture = Fixture::over(ExecOptions { helper_program, ..usual });
    let (mut caller, second) = (fixture.caller, Duration::from_secs(1));
    caller.latest = caller.deadline;
    caller.deadline = Instant::now() + second / 2;
    let compiled = fixture.exec.compile(&caller, &source("cpython-3", "print(1)"), None);
    let program = super::accepted(compiled.expect("a tool that was found in time"));
    let held_up = fixture.exec.take_held_up();
    assert!(held_up.setup >= second, "{held_up:?}");
    assert!(held_up.starved.is_zero(), "that would count twice: {held_up:?}");
    let began = Instant::now();
    fixture.run_once(&program, case(""));
    let setup = fixture.exec.take_held_up().setup;
    assert!(setup < began.elapsed() / 2, "what is set up stays so: {setup:?}");
}

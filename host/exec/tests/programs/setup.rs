//! The time that is no caller's: a worker starts the helper and looks for toolchains once, for all callers.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use assay_exec::{Blob, CompareMode, ExecOptions, JudgeInput, SourceFile, TestCase};
use nix::sys::stat::Mode;

use super::{Fixture, batch, case, options, source};

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

/// An object that is a pipe instead of a file: each of `times` readers waits for `pause`.
fn slow_object(fixture: &Fixture, cache: &Path, text: &str, times: u32, pause: Duration) -> Blob {
    let digest = fixture.objects.put(text.as_bytes()).expect("written");
    let path = cache.join("objects").join(digest.to_string());
    std::fs::remove_file(&path).expect("ours");
    nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).expect("a pipe");
    let text = text.to_owned();
    std::thread::spawn(move || {
        for _ in 0..times {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(&path).expect("a reader");
            std::thread::sleep(pause);
            pipe.write_all(text.as_bytes()).expect("the reader waits");
            drop(pipe);
            // The reader must have seen the end before another writer comes.
            std::thread::sleep(pause);
        }
    });
    Blob::Stored(digest)
}

#[test]
fn a_slow_disk_takes_no_callers_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut fixture = Fixture::over(options(folder.path()));
    let pause = Duration::from_millis(400);
    let slow =
        |fixture: &Fixture, text, times| slow_object(fixture, folder.path(), text, times, pause);
    let took = |fixture: &mut Fixture, pauses: u32| {
        let setup = fixture.exec.take_held_up().setup;
        assert!(setup >= pause * pauses, "{setup:?}");
    };
    // The helper and the toolchain are there.
    let copies = "import sys; sys.stdout.write(sys.stdin.read())";
    let program = fixture.program("cpython-3", copies);
    fixture.run_once(&program, case(""));
    fixture.exec.take_held_up();
    let text = slow(&fixture, "print(1)", 1);
    let mut stored = source("cpython-3", "");
    stored.files[0].content = text;
    super::accepted(fixture.exec.compile(&fixture.caller, &stored, None).expect("a tool"));
    took(&mut fixture, 1);
    let data = slow(&fixture, "data", 3);
    let asked = TestCase {
        stdin: data.clone(),
        files: vec![SourceFile { path: "file".into(), content: data.clone() }],
        expect: Some((data, CompareMode::Exact)),
        ..case("")
    };
    fixture.exec.run(&fixture.caller, &program, &batch(vec![asked])).expect("a box");
    took(&mut fixture, 3);
    let (output, input) = (slow(&fixture, "output", 1), slow(&fixture, "input", 1));
    let judging = JudgeInput {
        input,
        answer: Blob::Inline(vec![]),
        files: vec![],
        args: vec![],
        collect: vec![],
        limits: None,
    };
    fixture.exec.check(&fixture.caller, &program, &output, &judging).expect("a box");
    took(&mut fixture, 2);
}

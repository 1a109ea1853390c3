//! What a box costs: a static program that does nothing, by plain `fork` and `exec` and in a box.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_exec::job::{Program, Purpose};
use assay_exec::limits::Limits;
use assay_exec::outcome::Ending;
use assay_exec::{Helper, Job, Options};
use criterion::{Criterion, criterion_group, criterion_main};
use nix::sys::memfd::{MFdFlags, memfd_create};

fn compare(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("nothing");
    let compiled = Command::new("gcc")
        .args(["-O2", "-static", "-x", "c", "-", "-o"])
        .arg(&program)
        .stdin(Stdio::piped())
        .spawn()
        .and_then(|mut gcc| {
            gcc.stdin.take().expect("piped").write_all(b"int main(void) { return 0; }")?;
            gcc.wait()
        });
    assert!(compiled.expect("gcc runs").success());
    let made = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).expect("a folder");
        path
    };
    let options = Options {
        program: env!("CARGO_BIN_EXE_assay-exec").into(),
        scratch: made("scratch"),
        paths: Vec::new(),
        toolchains: made("toolchains"),
        weaker: Vec::new(),
    };
    let mut helper = Helper::start(&options).expect("this machine boxes programs");
    let sealed = memory_file(&std::fs::read(&program).expect("it was compiled"));
    let mut group = criterion.benchmark_group("nothing");
    group.bench_function("plain", |bench| {
        bench.iter(|| {
            let mut command = Command::new(&program);
            let output = command.stdin(Stdio::null()).output().expect("it runs");
            assert!(output.status.success());
        });
    });
    group.bench_function("boxed", |bench| {
        bench.iter(|| {
            let job = Job {
                purpose: Purpose::Run,
                program: Program::Sealed(sealed.as_fd()),
                args: vec!["nothing".into()],
                env: Vec::new(),
                files: Vec::new(),
                stdin: b"",
                collect: Vec::new(),
                limits: Limits::RUN,
            };
            let ended = helper.run(&job, Instant::now() + Duration::from_secs(10)).expect("a box");
            assert_eq!(ended.ending, Ending::Exited(0));
        });
    });
    group.finish();
}

fn memory_file(bytes: &[u8]) -> OwnedFd {
    let file = memfd_create(c"nothing", MFdFlags::MFD_CLOEXEC).expect("a file in memory");
    let mut file = File::from(file);
    file.write_all(bytes).expect("it is written");
    file.into()
}

criterion_group!(benches, compare);
criterion_main!(benches);

//! Executors that die, sessions that end, workers that are killed, and what is left.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_gpu::session::{DeviceKind, Gpu, GpuSettings, Origin, SessionError};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::bench::*;

fn slay(pid: u32) {
    kill(Pid::from_raw(pid as i32), Signal::SIGKILL).unwrap();
}

#[test]
fn one_session_at_a_time() {
    let gpu = gpu();
    let session = open(&gpu);
    let second = gpu.clone().open(LIMITS, later());
    assert!(matches!(second, Err(SessionError::Limit(_))));
    drop(session);
    drop(open(&gpu));
}

#[test]
fn each_session_has_a_new_candidate_and_the_same_judge() {
    let gpu = gpu();
    let first = open(&gpu);
    let [candidate, judge] = first.processes()[..] else { panic!() };
    drop(first);
    assert!(!lives(candidate) && lives(judge));
    let second = open(&gpu);
    let [other, same] = second.processes()[..] else { panic!() };
    assert_ne!(candidate, other);
    assert_eq!(judge, same);
    // With the GPU everything goes, whichever of the two is dropped last.
    drop(gpu);
    drop(second);
    assert!(!lives(other) && !lives(judge));
}

#[test]
fn a_session_begins_with_nothing() {
    let gpu = gpu();
    let task = Task::new(&gpu);
    drop(task);
    let mut session = open(&gpu);
    assert!(matches!(session.kernels(0), Err(SessionError::BadRequest(_))));
    let address = assay_gpu::types::BufferAddress { buffer: 0, offset: 0 };
    assert!(matches!(session.download(address, 1), Err(SessionError::BadRequest(_))));
    assert_eq!(session.load(KERNELS, Origin::Candidate), Ok(0));
}

#[test]
fn a_killed_executor_is_nobodys_fault() {
    let gpu = gpu();
    for which in 0..2 {
        let mut task = Task::new(&gpu);
        let pid = task.session.processes()[which];
        slay(pid);
        let error = task.fault("twice");
        let SessionError::Unavailable(words) = &error else { panic!("{error}") };
        assert!(words.contains("signal 9"), "{words}");
        assert_eq!(task.session.kernels(0), Err(error));
        drop(task);
        assert!(!lives(pid));
        assert!(Task::new(&gpu).check_kernel("twice").outputs[0].ok);
    }
}

#[test]
fn a_judge_that_died_between_sessions_is_replaced() {
    let gpu = gpu();
    let session = open(&gpu);
    let judge = session.processes()[1];
    drop(session);
    slay(judge);
    let mut task = Task::new(&gpu);
    assert_ne!(task.session.processes()[1], judge);
    assert!(task.check_kernel("twice").outputs[0].ok);
}

#[test]
fn a_program_that_cannot_serve_is_unavailable() {
    for program in ["/bin/true", "/bin/false", "/nonexistent/assay-gpu"] {
        let gpu = Gpu::new(GpuSettings { program: program.into(), kind: DeviceKind::Simulated });
        assert!(matches!(gpu.describe(later()), Err(SessionError::Unavailable(_))), "{program}");
        let opened = gpu.open(LIMITS, later()).err();
        assert!(matches!(opened, Some(SessionError::Unavailable(_))), "{program}");
    }
    // One that never says a word, until the deadline.
    let folder = tempfile::tempdir().unwrap();
    let silent = folder.path().join("silent");
    std::fs::write(&silent, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&silent, mode).unwrap();
    let options = GpuSettings { program: silent, kind: DeviceKind::Simulated };
    let deadline = Instant::now() + Duration::from_millis(300);
    assert_eq!(Gpu::new(options).describe(deadline), Err(SessionError::Cancelled));
}

#[test]
fn the_stages_deadline_cancels() {
    let gpu = gpu();
    let limits =
        assay_gpu::session::SessionLimits { plan_ms: 600_000, total_ms: 600_000, ..LIMITS };
    let uniform = assay_gpu::session::BufferInit::Zeros;
    let specs = [assay_gpu::session::BufferRole::Input, assay_gpu::session::BufferRole::Output];
    let specs = specs.map(|role| buffer(role, uniform));
    // Longer where a machine stalls until it is over before anything runs.
    let (mut session, module) = [700, 4_000, 20_000]
        .into_iter()
        .find_map(|ms| {
            let mut session = gpu.open(limits, Instant::now() + Duration::from_millis(ms)).ok()?;
            let module = session.load(KERNELS, Origin::Candidate).ok()?;
            session.alloc(&specs).ok()?;
            Some((session, module))
        })
        .expect("a session that has begun");
    let process = session.processes()[0];
    let args = vec![at(0), at(1), assay_gpu::types::KernelArg::I32(1)];
    let endless = assay_gpu::types::PlanStep::Launch(launch(module, "endless", args));
    assert_eq!(session.run(&[endless], Some(1)), Err(SessionError::Cancelled));
    assert!(!lives(process));
    assert_eq!(session.printed(), Err(SessionError::Cancelled));
    drop(session);
    assert_eq!(gpu.open(LIMITS, Instant::now()).err(), Some(SessionError::Cancelled));
    assert!(Task::new(&gpu).check_kernel("twice").outputs[0].ok);
}

/// This test binary again, as a worker that is killed in the midst of an endless kernel.
#[test]
#[ignore = "the other one runs it"]
fn a_worker_in_the_midst_of_a_session() {
    let limits =
        assay_gpu::session::SessionLimits { plan_ms: 600_000, total_ms: 600_000, ..LIMITS };
    let mut task = Task::with(&gpu(), limits);
    let processes = task.session.processes();
    println!("\nprocesses {} {}", processes[0], processes[1]);
    task.fault("endless");
}

#[test]
fn executors_end_with_their_worker() {
    let name = "session::deaths::a_worker_in_the_midst_of_a_session";
    let mut worker = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", name])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(worker.stdout.take().unwrap()).lines();
    let told = lines.map_while(Result::ok).find(|line| line.starts_with("processes ")).unwrap();
    let processes: Vec<u32> = told.split(' ').skip(1).map(|pid| pid.parse().unwrap()).collect();
    assert!(processes.iter().all(|pid| lives(*pid)));
    worker.kill().unwrap();
    worker.wait().unwrap();
    soon("the executors end", || !processes.iter().any(|pid| lives(*pid)));
}

#[test]
fn without_a_gpu_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let printed = folder.path().join("none");
    std::fs::write(&printed, "#!/bin/sh\necho '[]'\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&printed, mode).unwrap();
    let gpu = Gpu::new(GpuSettings { program: printed, kind: DeviceKind::Cuda });
    let described = gpu.describe(later());
    let Err(SessionError::Unavailable(words)) = described else { panic!("{described:?}") };
    assert!(words.contains("no GPU"), "{words}");
}

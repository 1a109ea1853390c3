//! Plain processes with the limits that a shell can set.

use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, pipe};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use assay_plugin::exec;

const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

/// A program that has not been started yet, whose standard input and output may still be chosen.
pub struct Started {
    command: Command,
    folder: PathBuf,
    output: tempfile::TempDir,
    limits: exec::Limits,
}

impl Started {
    pub fn new(words: Vec<String>, folder: &Path, limits: &exec::Limits) -> Self {
        let output = tempfile::TempDir::new().expect("a folder");
        let mut command = Command::new("/bin/bash");
        let seconds = limits.cpu_ms.div_ceil(1_000);
        let blocks = limits.stdout_bytes / 1_024 + 1;
        let kibibytes = limits.memory_bytes / 1_024;
        command
            .arg("-c")
            .arg(format!(
                "ulimit -c 0; ulimit -St {seconds}; ulimit -f {blocks}; ulimit -v {kibibytes}; exec \"$@\""
            ))
            .arg("bash")
            .args(words)
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("PYTHONHASHSEED", "0")
            .stdin(Stdio::null())
            .stdout(File::create(output.path().join("stdout")).expect("a file"))
            .stderr(File::create(output.path().join("stderr")).expect("a file"))
            .process_group(0);
        // A compiler writes more than a program may.
        if limits.cpu_ms == 60_000 {
            command = without_file_limit(command);
        }
        Self { command, folder: folder.to_owned(), output, limits: *limits }
    }

    pub fn feed(&mut self, bytes: Vec<u8>) {
        let path = self.output.path().join("stdin");
        fs::write(&path, bytes).expect("a file");
        self.command.stdin(File::open(path).expect("a file"));
    }

    fn wire(&mut self, input: PipeReader, output: PipeWriter) {
        self.command.stdin(input).stdout(output);
    }

    fn spawn(self) -> Running {
        let Self { mut command, folder, output, limits } = self;
        let child = command.spawn().expect("a process");
        // The pipe ends it holds must be the child's alone.
        drop(command);
        let now = Instant::now();
        let (began, looked) = (now, now);
        let (waited, ended, late) = (Duration::ZERO, None, false);
        Running { child, folder, output, limits, began, looked, waited, ended, late }
    }

    pub fn end(self, collect: &[String]) -> exec::Outcome {
        let mut running = self.spawn();
        while !running.is_over() {
            pause();
        }
        running.outcome(collect)
    }
}

fn without_file_limit(command: Command) -> Command {
    let mut fresh = Command::new(command.get_program());
    let script: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let words = &script[3..];
    fresh.arg("-c").arg("exec \"$@\"").arg("bash").args(words);
    fresh.current_dir(command.get_current_dir().expect("set above"));
    fresh.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    let log = command.get_current_dir().expect("set above").join("compiler.log");
    fresh.stderr(File::create(log).expect("a file"));
    fresh
}

/// Two looks are further apart than this only where the machine stalls.
const LOOK_MAX: Duration = Duration::from_millis(50);

struct Running {
    child: Child,
    folder: PathBuf,
    output: tempfile::TempDir,
    limits: exec::Limits,
    began: Instant,
    looked: Instant,
    /// The time since the beginning, without what passed while this machine stood still.
    waited: Duration,
    ended: Option<ExitStatus>,
    late: bool,
}

/// Waits between two looks at a process; no measured time depends on it.
fn pause() {
    std::thread::park_timeout(Duration::from_millis(1));
}

/// How long a process was ready to run and had no processor, which does not count as its time.
fn run_delay(child: &Child) -> Duration {
    let told = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap_or_default();
    let nanoseconds = told.split(' ').nth(1).and_then(|delay| delay.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

impl Running {
    fn is_over(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().expect("a child of ours");
        }
        let wall = Duration::from_millis(u64::from(self.limits.wall_ms));
        let now = Instant::now();
        self.waited += (now - self.looked).min(LOOK_MAX);
        self.looked = now;
        if self.ended.is_none() && self.waited.saturating_sub(run_delay(&self.child)) > wall {
            self.late = true;
            self.child.kill().expect("a child of ours");
        }
        self.ended.is_some()
    }

    fn outcome(self, collect: &[String]) -> exec::Outcome {
        let status = self.ended.expect("it is over");
        let read = |name: &str| fs::read(self.output.path().join(name)).unwrap_or_default();
        let stdout = read("stdout");
        let ended = match (status.code(), status.signal()) {
            _ if self.late => exec::Ending::Limited(exec::LimitKind::Wall),
            _ if stdout.len() as u64 > self.limits.stdout_bytes => {
                exec::Ending::Limited(exec::LimitKind::Output)
            }
            (_, Some(SIGXCPU)) => exec::Ending::Limited(exec::LimitKind::Cpu),
            (_, Some(SIGXFSZ)) => exec::Ending::Limited(exec::LimitKind::Output),
            (Some(code), _) => exec::Ending::Exited(code),
            (None, signal) => exec::Ending::Signaled(signal.unwrap_or(SIGKILL)),
        };
        let wall_us = u64::try_from(self.began.elapsed().as_micros()).expect("short");
        let mut stderr = read("stderr");
        stderr.extend(fs::read(self.folder.join("compiler.log")).unwrap_or_default());
        let files = collect.iter().filter_map(|path| {
            let bytes = fs::read(self.folder.join(path)).ok()?;
            Some((path.clone(), capture(bytes)))
        });
        exec::Outcome {
            ended,
            usage: exec::Usage { cpu_us: wall_us, wall_us, memory_peak_bytes: 0, wait_us: 0 },
            stdout: capture(stdout),
            stdout_sha256: String::new(),
            stderr: capture(stderr),
            files: files.collect(),
            weakened: vec!["boxes".into()],
        }
    }
}

pub fn capture(data: Vec<u8>) -> exec::Captured {
    exec::Captured { data, truncated: false }
}

/// Runs both, each the other's input and output.
pub fn talk(mut program: Started, mut interactor: Started, collect: &[String]) -> exec::Dialogue {
    let (to_program, from_interactor) = pipe().expect("a pipe");
    let (to_interactor, from_program) = pipe().expect("a pipe");
    // The pipes from one to the other are closed here only when the one's end has been seen: the other
    // cannot notice it, and end, before that.
    let copies = |input: &PipeReader, output: &PipeWriter| {
        Some((input.try_clone().expect("a copy"), output.try_clone().expect("a copy")))
    };
    let mut program_ends = copies(&to_program, &from_program);
    let mut interactor_ends = copies(&to_interactor, &from_interactor);
    program.wire(to_program, from_program);
    interactor.wire(to_interactor, from_interactor);
    let (mut program, mut interactor) = (program.spawn(), interactor.spawn());
    let mut first = None;
    loop {
        let over = (program.is_over(), interactor.is_over());
        program_ends.take_if(|_| over.0);
        interactor_ends.take_if(|_| over.1);
        first = first.or(match over {
            (true, _) => Some(exec::Party::Program),
            (false, true) => Some(exec::Party::Interactor),
            (false, false) => None,
        });
        if over == (true, true) {
            break;
        }
        pause();
    }
    exec::Dialogue {
        program: program.outcome(&[]),
        interactor: interactor.outcome(collect),
        first_to_end: first.expect("both are over"),
    }
}

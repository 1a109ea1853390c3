//! The last steps of a box: a process gives up what it has left and becomes the program.

use std::convert::Infallible;
use std::ffi::CString;
use std::fs;
use std::io::Error;

use nix::fcntl::AtFlags;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{chdir, dup2_stderr, dup2_stdin, dup2_stdout, execve, execveat, setsid};

use crate::filter::Filter;
use crate::init::Task;
use crate::job::{Purpose, WORKING_FOLDER};
use crate::limits::Limits;
use crate::{lock, sys};

/// Beyond the limit on CPU time, which the zygote watches: only where that is gone does it matter.
const CPU_GRACE_SECONDS: u64 = 5;
/// Where address space is limited: it is also what a thread's stack takes of that.
const STACK_SHARE: u64 = 8;
/// Where no cgroup counts processes, the kernel counts all of the user: these are not the program's.
const OTHER_PROCESSES: u64 = 4;
/// Signals that may wait to be delivered; POSIX timers count as well.
const SIGNALS_MAX: u64 = 1_024;

/// What programs are locked in by, beside their namespaces.
pub(crate) struct Locks {
    pub(crate) landlock: bool,
    to_compile: Filter,
    to_run: Filter,
}

impl Locks {
    pub(crate) fn new(landlock: bool) -> Self {
        let filter = Filter::new;
        Self { landlock, to_compile: filter(Purpose::Compile), to_run: filter(Purpose::Run) }
    }

    fn filter(&self, purpose: Purpose) -> &Filter {
        match purpose {
            Purpose::Compile => &self.to_compile,
            Purpose::Run => &self.to_run,
        }
    }
}

/// Why a process did not become the program.
pub(crate) enum Failure {
    /// A lock did not close, or the like: never the program's fault.
    Preparing(Error),
    /// The kernel does not execute it.
    Executing(Error),
}

/// Does not return unless something failed.
pub(crate) fn become_program(task: &Task<'_>) -> Failure {
    let failed = prepare(task)
        .map_err(Failure::Preparing)
        .and_then(|(args, env)| execute(task, &args, &env).map_err(Failure::Executing));
    match failed {
        Err(failure) => failure,
    }
}

/// The program's arguments and environment.
type Texts = (Vec<CString>, Vec<CString>);

fn prepare(task: &Task<'_>) -> std::io::Result<Texts> {
    setsid()?;
    let [stdin, stdout, stderr] = &task.standard;
    dup2_stdin(stdin)?;
    dup2_stdout(stdout)?;
    dup2_stderr(stderr)?;
    sys::close_on_exec_from(3)?;
    sys::reset_signals();
    set_limits(&task.job.limits, task.alone)?;
    // Its own settings are its to write only as long as it may be looked into.
    prctl::set_dumpable(true)?;
    fs::write("/proc/self/oom_score_adj", "1000")?;
    chdir(WORKING_FOLDER)?;
    umask(Mode::from_bits_truncate(0o022));
    let texts = texts(task)?;
    sys::drop_capabilities()?;
    prctl::set_no_new_privs()?;
    if task.locks.landlock {
        lock::lock_files()?;
    }
    task.locks.filter(task.job.purpose).apply()?;
    Ok(texts)
}

fn execute(task: &Task<'_>, args: &[CString], env: &[CString]) -> std::io::Result<Infallible> {
    match (&task.job.path, &task.sealed) {
        (Some(path), _) => Ok(execve(&text(path)?, args, env)?),
        (None, Some(file)) => Ok(execveat(file, c"", args, env, AtFlags::AT_EMPTY_PATH)?),
        (None, None) => Err(Error::from_raw_os_error(nix::libc::EBADF)),
    }
}

fn texts(task: &Task<'_>) -> std::io::Result<Texts> {
    let args = task.job.args.iter().map(|argument| text(argument)).collect::<Result<_, _>>()?;
    let pairs = task.job.env.iter().map(|(name, value)| text(&format!("{name}={value}")));
    Ok((args, pairs.collect::<Result<_, _>>()?))
}

fn text(text: &str) -> std::io::Result<CString> {
    // As the kernel would say of an argument that is none.
    CString::new(text).map_err(|_| Error::from_raw_os_error(nix::libc::EINVAL))
}

/// For each process by itself; what all may use together is the cgroup's, where there is one.
fn set_limits(limits: &Limits, alone: bool) -> std::io::Result<()> {
    let cpu_seconds = u64::from(limits.cpu_ms).div_ceil(1_000) + CPU_GRACE_SECONDS;
    let memory = limits.memory_bytes;
    let (stack, address_space, processes) = if alone {
        (memory / STACK_SHARE, memory, u64::from(limits.processes) + OTHER_PROCESSES)
    } else {
        (memory, u64::MAX, u64::MAX)
    };
    for (resource, most) in [
        (Resource::RLIMIT_NOFILE, u64::from(limits.open_files)),
        (Resource::RLIMIT_FSIZE, limits.disk_bytes),
        (Resource::RLIMIT_STACK, stack),
        // With 0 a machine that pipes dumps into a program would still do so.
        (Resource::RLIMIT_CORE, 1),
        (Resource::RLIMIT_MEMLOCK, 0),
        (Resource::RLIMIT_MSGQUEUE, 0),
        (Resource::RLIMIT_SIGPENDING, SIGNALS_MAX),
        (Resource::RLIMIT_NICE, 0),
        (Resource::RLIMIT_RTPRIO, 0),
        (Resource::RLIMIT_CPU, cpu_seconds),
        (Resource::RLIMIT_AS, address_space),
        (Resource::RLIMIT_NPROC, processes),
    ] {
        let (_, hard) = getrlimit(resource)?;
        let most = most.min(hard);
        setrlimit(resource, most, most)?;
    }
    Ok(())
}

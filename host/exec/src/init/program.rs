//! The last steps before the program: a process gives up its remaining rights and executes it.

use std::convert::Infallible;
use std::ffi::CString;
use std::fs;
use std::io::Error;

use nix::fcntl::AtFlags;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{chdir, dup2_stderr, dup2_stdin, dup2_stdout, execve, execveat, setsid};

use crate::filter::SyscallFilter;
use crate::init::BoxTask;
use crate::job::{Purpose, WORKING_FOLDER};
use crate::limits::BoxLimits;
use crate::{lock, sys};

/// The kernel's limit on CPU time is this much above that of the job, which the zygote enforces; it matters only
/// if the zygote is gone.
const CPU_GRACE_SECONDS: u64 = 5;
/// The divisor of the memory limit that gives the limit of a stack, where the memory limit is one on address
/// space: each thread's stack takes as much of that.
const STACK_DIVISOR: u64 = 8;
/// The processes of the helper's user that are not the program's. Without a cgroup the kernel counts all
/// processes of the user.
const OTHER_PROCESSES: u64 = 4;
/// The most pending signals; POSIX timers count as well.
const SIGNALS_MAX: u64 = 1_024;

/// Landlock and the lists of system calls, which restrict programs in addition to their namespaces.
pub(crate) struct Locks {
    pub(crate) landlock: bool,
    to_compile: SyscallFilter,
    to_run: SyscallFilter,
}

impl Locks {
    pub(crate) fn new(landlock: bool) -> Self {
        let filter = SyscallFilter::new;
        Self { landlock, to_compile: filter(Purpose::Compile), to_run: filter(Purpose::Run) }
    }

    fn filter(&self, purpose: Purpose) -> &SyscallFilter {
        match purpose {
            Purpose::Compile => &self.to_compile,
            Purpose::Run => &self.to_run,
        }
    }
}

/// Why a process did not become the program.
pub(crate) enum LaunchFailure {
    /// A step before the execution failed; never the program's fault.
    Preparing(Error),
    /// The kernel refused to execute the program.
    Executing(Error),
}

/// Becomes the program; returns only if that failed.
pub(crate) fn become_program(task: &BoxTask<'_>) -> LaunchFailure {
    let failed = prepare(task)
        .map_err(LaunchFailure::Preparing)
        .and_then(|(args, env)| execute(task, &args, &env).map_err(LaunchFailure::Executing));
    match failed {
        Err(failure) => failure,
    }
}

/// The program's arguments and environment.
type Texts = (Vec<CString>, Vec<CString>);

fn prepare(task: &BoxTask<'_>) -> std::io::Result<Texts> {
    setsid()?;
    let [stdin, stdout, stderr] = &task.standard;
    dup2_stdin(stdin)?;
    dup2_stdout(stdout)?;
    dup2_stderr(stderr)?;
    sys::close_on_exec_from(3)?;
    sys::reset_signals();
    set_limits(&task.job.limits, task.alone)?;
    // A process that is not dumpable may not write its own files in `/proc`.
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

fn execute(task: &BoxTask<'_>, args: &[CString], env: &[CString]) -> std::io::Result<Infallible> {
    match (&task.job.path, &task.sealed) {
        (Some(path), _) => Ok(execve(&text(path)?, args, env)?),
        (None, Some(file)) => Ok(execveat(file, c"", args, env, AtFlags::AT_EMPTY_PATH)?),
        (None, None) => Err(Error::from_raw_os_error(nix::libc::EBADF)),
    }
}

fn texts(task: &BoxTask<'_>) -> std::io::Result<Texts> {
    let args = task.job.args.iter().map(|argument| text(argument)).collect::<Result<_, _>>()?;
    let pairs = task.job.env.iter().map(|(name, value)| text(&format!("{name}={value}")));
    Ok((args, pairs.collect::<Result<_, _>>()?))
}

fn text(text: &str) -> std::io::Result<CString> {
    // The error of the kernel for an invalid argument.
    CString::new(text).map_err(|_| Error::from_raw_os_error(nix::libc::EINVAL))
}

/// Sets the limits of each single process. The cgroup, if there is one, limits all processes together.
fn set_limits(limits: &BoxLimits, alone: bool) -> std::io::Result<()> {
    let cpu_seconds = u64::from(limits.cpu_ms).div_ceil(1_000) + CPU_GRACE_SECONDS;
    let memory = limits.memory_bytes;
    let (stack, address_space, processes) = if alone {
        (memory / STACK_DIVISOR, memory, u64::from(limits.processes) + OTHER_PROCESSES)
    } else {
        (memory, u64::MAX, u64::MAX)
    };
    for (resource, most) in [
        (Resource::RLIMIT_NOFILE, u64::from(limits.open_files)),
        (Resource::RLIMIT_FSIZE, limits.disk_bytes),
        (Resource::RLIMIT_STACK, stack),
        // With 0 the kernel would still pipe core dumps into the machine's dump handler.
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

//! One box from the zygote's side: it is made, watched, killed at its limits and reported.
//!
//! A box is an init process in namespaces and a cgroup of its own; the init starts the program. This
//! module enforces the limits that the kernel does not enforce by itself: time and output.

mod proc_usage;
mod stream;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use assay_core::limits::EXEC_COLLECTED_BYTES_MAX;
use nix::fcntl::OFlag;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{Pid, pipe2};

use crate::cgroup::{CgroupFactory, OUT_OF_MEMORY, ReachedLimits, RunCgroup};
use crate::init::program::Locks;
use crate::init::{self, Birth};
use crate::limits::BoxLimits;
use crate::message::{self, BoxFailure, BoxReport, InitReport, JobMessage};
use crate::outcome::{LimitKind, ProgramEnding, Usage};
use crate::sys::{self, Reaped};
use stream::Stream;

/// The shortest time between two readings of a box's CPU time; a limit is exceeded by this at most.
const CPU_CHECK_MIN: Duration = Duration::from_millis(1);
/// The longest time between two readings of a box's CPU time.
const CPU_CHECK_MAX: Duration = Duration::from_millis(500);

/// Makes boxes, and keeps some in reserve.
pub(crate) struct SandboxFactory {
    groups: Option<CgroupFactory>,
    locks: Locks,
    cores: u32,
    /// Boxes without a job, made while the last programs ran, so that the next job need not wait.
    spares: Vec<SpareSandbox>,
}

/// A box whose init waits for a job.
struct SpareSandbox {
    init: Pid,
    pidfd: OwnedFd,
    socket: OwnedFd,
    group: Option<RunCgroup>,
}

/// The open files that come with a job.
pub(crate) struct JobDescriptors {
    pub(crate) stdin: OwnedFd,
    pub(crate) files: OwnedFd,
    pub(crate) sealed: Option<OwnedFd>,
}

/// The pipes between the two programs of a dialogue; a program that runs alone has none.
pub(crate) struct DialoguePipes {
    pairs: Vec<(OwnedFd, OwnedFd)>,
}

impl DialoguePipes {
    pub(crate) fn between(boxes: usize) -> Result<Self, String> {
        let failed = |error: nix::Error| format!("a pipe cannot be made: {error}");
        match boxes {
            1 => Ok(Self { pairs: Vec::new() }),
            2 => {
                let (program_in, interactor_out) = pipe2(OFlag::O_CLOEXEC).map_err(failed)?;
                let (interactor_in, program_out) = pipe2(OFlag::O_CLOEXEC).map_err(failed)?;
                // `next` takes the last pair first.
                let pairs = vec![(interactor_in, interactor_out), (program_in, program_out)];
                Ok(Self { pairs })
            }
            _ => Err("a request is for one box or two".into()),
        }
    }

    /// The next box's standard input and output, if they are connected to the other box.
    pub(crate) fn next(&mut self) -> Option<(OwnedFd, OwnedFd)> {
        self.pairs.pop()
    }
}

/// A box with a job.
pub(crate) struct SandboxProcess {
    init: Pid,
    pidfd: OwnedFd,
    /// The socket to its init, which reports how the program ended.
    socket: OwnedFd,
    stdout: Option<Stream>,
    stderr: Stream,
    group: Option<RunCgroup>,
    limits: BoxLimits,
    cores: u32,
    collect: Vec<String>,
    started: Instant,
    /// The time that does not count towards the limit on wall time.
    forgiven: Duration,
    /// The time of the next reading of its CPU time.
    cpu_check_at: Instant,
    killed_for: Option<LimitKind>,
    /// The usage that was read from `/proc`, for a box without a cgroup, or whose cgroup measures no waits.
    proc_usage: proc_usage::ProcUsage,
    /// The CPU time of its init, which places the files; it is none of the program's.
    init_cpu_us: u64,
    reaped: Option<(Reaped, Instant)>,
    /// The time at which it was killed, or else its program ended, by [`sys::now`].
    ended_at: Option<Duration>,
    /// The time at which its init was reaped, by [`sys::now`].
    reaped_at: Duration,
}

impl SandboxFactory {
    pub(crate) fn new(groups: Option<CgroupFactory>, landlock: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let cores = u32::try_from(cores).unwrap_or(u32::MAX);
        Self { groups, locks: Locks::new(landlock), cores, spares: Vec::new() }
    }

    /// Makes boxes for later jobs until `count` are in reserve.
    pub(crate) fn prepare(&mut self, count: usize) {
        while self.spares.len() < count {
            match self.blank() {
                Ok(blank) => self.spares.push(blank),
                // The error is reported when a box is needed.
                Err(_) => return,
            }
        }
    }

    /// Starts a job in a box.
    pub(crate) fn start(
        &mut self,
        job: &JobMessage,
        contents: JobDescriptors,
        wire: Option<(OwnedFd, OwnedFd)>,
    ) -> Result<SandboxProcess, String> {
        let blank = match self.spares.pop() {
            // The kernel may have killed it when memory was short.
            Some(blank) if has_ended(blank.pidfd.as_fd()) => {
                self.throw_away(blank);
                self.blank()?
            }
            Some(blank) => blank,
            None => self.blank()?,
        };
        let SpareSandbox { init, pidfd, socket, group } = blank;
        let started = Instant::now();
        let handed = hand_over(job, contents, wire, &socket, group.as_ref());
        let proc_usage = proc_usage::ProcUsage::begin(group.is_none());
        match handed {
            Ok((stdout, stderr)) => Ok(SandboxProcess {
                init,
                pidfd,
                socket,
                stdout,
                stderr,
                group,
                limits: job.limits,
                cores: self.cores,
                collect: job.collect.clone(),
                started,
                forgiven: Duration::ZERO,
                cpu_check_at: started,
                killed_for: None,
                proc_usage,
                init_cpu_us: 0,
                reaped: None,
                ended_at: None,
                reaped_at: Duration::ZERO,
            }),
            Err(error) => {
                self.throw_away(SpareSandbox { init, pidfd, socket, group });
                Err(format!("a box cannot be given its job: {error}"))
            }
        }
    }

    fn blank(&mut self) -> Result<SpareSandbox, String> {
        let group = self.groups.as_mut().map(CgroupFactory::make).transpose()?;
        let (kind, flags) = (SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
        let made = socketpair(AddressFamily::Unix, kind, None, flags)
            .map_err(std::io::Error::from)
            .and_then(|pair| {
                Ok((pair, sys::clone_box(group.as_ref().map(RunCgroup::birthplace))?))
            });
        match made {
            Ok(((socket, _), Some(cloned))) => {
                Ok(SpareSandbox { init: cloned.pid, pidfd: cloned.pidfd, socket, group })
            }
            Ok(((ours, zygote), None)) => {
                drop(ours);
                init::run(Birth { group: group.as_ref(), zygote, locks: &self.locks })
            }
            Err(error) => {
                self.end(group);
                Err(format!("the first process of a box cannot be started: {error}"))
            }
        }
    }

    fn throw_away(&mut self, blank: SpareSandbox) {
        // It may have ended by itself.
        let _ = sys::kill_by(blank.pidfd.as_fd());
        let _ = sys::wait(Some(blank.init));
        self.end(blank.group);
    }

    /// Kills the boxes of a request that failed.
    pub(crate) fn discard(&mut self, boxes: Vec<SandboxProcess>) {
        for mut process in boxes {
            if process.reaped.is_none() {
                // It may have ended by itself.
                let _ = sys::kill_by(process.pidfd.as_fd());
                let _ = sys::wait(Some(process.init));
            }
            self.end(process.group.take());
        }
    }

    /// The report of a box that has ended, and the time of its end by [`sys::now`].
    pub(crate) fn report(
        &mut self,
        mut ended: SandboxProcess,
    ) -> Result<(BoxReport, Duration), BoxFailure> {
        let report = ended.report();
        self.end(ended.group.take());
        Ok((report?, ended.ended_at.unwrap_or(ended.reaped_at)))
    }

    fn end(&mut self, group: Option<RunCgroup>) {
        if let (Some(groups), Some(group)) = (&mut self.groups, group) {
            groups.end(group);
        }
    }
}

/// Gives a spare box its job; returns the streams of its standard output and standard error.
fn hand_over(
    job: &JobMessage,
    contents: JobDescriptors,
    wire: Option<(OwnedFd, OwnedFd)>,
    socket: &OwnedFd,
    group: Option<&RunCgroup>,
) -> std::io::Result<(Option<Stream>, Stream)> {
    if let Some(group) = group {
        group.limit(&job.limits)?;
    }
    let (stdin, stdout, to_stdout) = match wire {
        Some((from_other, to_other)) => (from_other, None, to_other),
        None => {
            let (stream, end) = Stream::new(job.limits.stdout_bytes)?;
            (contents.stdin, Some(stream), end)
        }
    };
    let (stderr, to_stderr) = Stream::new(job.limits.stderr_bytes)?;
    let mut given = vec![&stdin, &to_stdout, &to_stderr, &contents.files];
    given.extend(&contents.sealed);
    let given: Vec<BorrowedFd<'_>> = given.into_iter().map(OwnedFd::as_fd).collect();
    message::send(socket, job, &given)?;
    Ok((stdout, stderr))
}

fn has_ended(pidfd: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::new(pidfd, PollFlags::POLLIN)];
    // An error here shows again when the box gets its job.
    poll(&mut polled, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

impl SandboxProcess {
    pub(crate) fn is_running(&self) -> bool {
        self.reaped.is_none()
    }

    /// The descriptors to wait for: its end and its output.
    pub(crate) fn polled(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let streams = self.stdout.iter().chain([&self.stderr]).filter_map(Stream::open);
        let end = self.is_running().then(|| self.pidfd.as_fd());
        end.into_iter().chain(streams.filter(|_| self.is_running()))
    }

    /// The time at which its wall time ends if it, and its partner in a dialogue, waited so long for a core.
    pub(crate) fn wall_end(&self, waited: Duration) -> Instant {
        let wall = Duration::from_millis(self.limits.wall_ms.into()) + self.forgiven;
        self.started + wall + waited.min(self.limits.put_off_max())
    }

    /// Kills it if it exceeded a limit on time; returns when to check again. `waited` as of [`Self::wall_end`].
    pub(crate) fn enforce_limits(
        &mut self,
        now: Instant,
        waited: Duration,
    ) -> std::io::Result<Instant> {
        let wall_end = self.wall_end(waited);
        if now >= wall_end {
            self.kill(LimitKind::Wall);
        }
        if now >= self.cpu_check_at {
            let used = Duration::from_micros(self.cpu_us()?);
            let limit = Duration::from_millis(self.limits.cpu_ms.into());
            if used > limit {
                self.kill(LimitKind::Cpu);
            }
            // Check again when the program could have used up its CPU time on all cores at once.
            let left = limit.saturating_sub(used) / self.cores.min(self.limits.processes).max(1);
            self.cpu_check_at = now + left.clamp(CPU_CHECK_MIN, CPU_CHECK_MAX);
        }
        Ok(if self.killed_for.is_some() {
            now + CPU_CHECK_MAX
        } else {
            self.cpu_check_at.min(wall_end)
        })
    }

    /// The CPU time of the program while it runs.
    fn cpu_us(&mut self) -> std::io::Result<u64> {
        self.look_at_proc();
        self.init_cpu_us = proc_usage::own_cpu_us(self.init);
        let of_all = match &self.group {
            Some(group) => group.cpu_us()?,
            None => self.proc_usage.cpu_us,
        };
        Ok(of_all.saturating_sub(self.init_cpu_us))
    }

    /// Reads what its cgroup does not tell, while it runs.
    fn look_at_proc(&mut self) {
        if self.is_running() && self.group.as_ref().is_none_or(|group| group.wait_us().is_none()) {
            self.proc_usage.update(self.init);
        }
    }

    /// The time for which it was ready and did not run so far, in microseconds.
    pub(crate) fn wait_us(&mut self) -> u64 {
        self.look_at_proc();
        self.known_wait_us()
    }

    fn known_wait_us(&self) -> u64 {
        let of_group = self.group.as_ref().and_then(RunCgroup::wait_us);
        of_group.unwrap_or(self.proc_usage.wait_us)
    }

    fn kill(&mut self, limit: LimitKind) {
        if self.killed_for.is_none() {
            self.killed_for = Some(limit);
            self.ended_at = Some(sys::now());
            // It may have ended by itself in this moment.
            let _ = sys::kill_by(self.pidfd.as_fd());
        }
    }

    /// Takes a time in which nobody watched the box out of its wall time.
    pub(crate) fn forgive(&mut self, time: Duration) {
        self.forgiven += time;
    }

    /// Reads its output and notes its end.
    pub(crate) fn update(&mut self) -> std::io::Result<()> {
        let ended = has_ended(self.pidfd.as_fd());
        if ended {
            self.init_cpu_us = proc_usage::own_cpu_us(self.init);
            // Reap it before the streams are read to their end: then nobody writes any more.
            let reaped = sys::wait(Some(self.init))?;
            let (_, reaped) = reaped.ok_or_else(|| std::io::Error::other("a box was lost"))?;
            self.reaped = Some((reaped, Instant::now()));
            self.reaped_at = sys::now();
        }
        if let Some(stdout) = &mut self.stdout {
            stdout.read(ended)?;
            if stdout.is_over() {
                self.kill(LimitKind::Output);
            }
        }
        self.stderr.read(ended)
    }

    fn report(&mut self) -> Result<BoxReport, BoxFailure> {
        let (reaped, at) = self.reaped.take().expect("it has ended");
        let mut usage = self
            .usage(&reaped, at)
            .map_err(|error| format!("the usage of a box cannot be read: {error}"))?;
        let last = message::receive::<InitReport>(&self.socket)
            .map_err(|error| format!("a box's report cannot be read: {error}"))?;
        let (ending, descriptors) = match last {
            Some((last, descriptors)) => {
                if let InitReport::Ended { init_cpu_us, ended_at, .. } = last {
                    self.init_cpu_us = self.init_cpu_us.max(init_cpu_us);
                    self.ended_at.get_or_insert(ended_at);
                }
                (self.ending(last)?, descriptors)
            }
            None => (None, Vec::new()),
        };
        usage.cpu_us = usage.cpu_us.saturating_sub(self.init_cpu_us);
        let reached = self.group.as_ref().map(RunCgroup::reached_limits).transpose()?;
        let failed = !ending.is_some_and(|ending| ending.is_normal());
        if failed && self.proc_usage.machine_killed() {
            return Err(OUT_OF_MEMORY.into());
        }
        let ending = self.limited(&usage, &reached.unwrap_or_default(), ending).or(ending);
        let ending = ending.ok_or("the init of a box was killed by somebody else")?;
        // Links to one file, and holes, can have more bytes together than the box could hold.
        let mut left = self.limits.disk_bytes.min(EXEC_COLLECTED_BYTES_MAX);
        let mut files = Vec::new();
        for (at, descriptor) in descriptors.into_iter().enumerate() {
            let path =
                self.collect.get(at).ok_or("a box returned more files than were asked for")?;
            let kept = stream::read_file(descriptor, left)
                .map_err(|error| format!("a file that a program left cannot be read: {error}"))?;
            if let Some(kept) = kept {
                left -= kept.data.len() as u64;
                files.push((path.clone(), kept));
            }
        }
        Ok(BoxReport {
            ending,
            usage,
            stdout: self.stdout.take().map(Stream::into_captured).unwrap_or_default(),
            stderr: std::mem::take(&mut self.stderr).into_captured(),
            files,
        })
    }

    fn usage(&self, reaped: &Reaped, ended: Instant) -> std::io::Result<Usage> {
        let wall = ended.duration_since(self.started);
        let wall_us = u64::try_from(wall.as_micros()).unwrap_or(u64::MAX);
        Ok(match &self.group {
            Some(group) => Usage {
                cpu_us: group.cpu_us()?,
                wall_us,
                memory_peak_bytes: group.memory_peak_bytes(),
                wait_us: self.known_wait_us(),
            },
            None => Usage {
                cpu_us: reaped.cpu_us.max(self.proc_usage.cpu_us),
                wall_us,
                memory_peak_bytes: reaped.memory_peak_bytes,
                wait_us: self.known_wait_us(),
            },
        })
    }

    /// The end that its init reported, as an ending of the program.
    fn ending(&mut self, last: InitReport) -> Result<Option<ProgramEnding>, BoxFailure> {
        match last {
            InitReport::Ended { status, .. } if libc::WIFEXITED(status) => {
                Ok(Some(ProgramEnding::Exited(libc::WEXITSTATUS(status))))
            }
            InitReport::Ended { status, .. } => {
                Ok(Some(ProgramEnding::Signaled(libc::WTERMSIG(status))))
            }
            InitReport::NotExecuted { problem } => {
                self.stderr.add(format!("it cannot be executed: {problem}\n").as_bytes());
                Ok(Some(ProgramEnding::Exited(NOT_EXECUTED)))
            }
            InitReport::NoProgram { problem } => Err(BoxFailure::NoProgram(problem)),
            InitReport::NotMade { problem } => Err(format!("a box failed: {problem}").into()),
        }
    }

    /// The limit that ended the program, if one did: the kernel or this process enforced it.
    fn limited(
        &self,
        usage: &Usage,
        reached: &ReachedLimits,
        ending: Option<ProgramEnding>,
    ) -> Option<ProgramEnding> {
        let over_cpu = usage.cpu_us > u64::from(self.limits.cpu_ms) * 1_000;
        let killed_for_cpu = ending == Some(ProgramEnding::Signaled(libc::SIGXCPU));
        let limit = if reached.memory {
            LimitKind::Memory
        } else if over_cpu || killed_for_cpu {
            LimitKind::Cpu
        } else if let Some(limit) = self.killed_for {
            limit
        } else if self.stdout.as_ref().is_some_and(Stream::is_over) {
            LimitKind::Output
        } else if reached.processes && ending.is_some_and(|ending| !ending.is_normal()) {
            LimitKind::Processes
        } else {
            return None;
        };
        Some(ProgramEnding::Limited(limit))
    }
}

/// The exit status of a program that cannot be executed, as a shell reports it.
const NOT_EXECUTED: i32 = 127;

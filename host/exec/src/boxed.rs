//! One box as the zygote sees it: made, watched, killed at its limits, reported.

mod accounts;
mod stream;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{Pid, pipe2};

use crate::cgroup::{Group, Groups};
use crate::init::{self, Birth};
use crate::limits::Limits;
use crate::message::{self, Last, OrderedJob, Report};
use crate::outcome::{Ending, LimitKind, Usage};
use crate::program::Locks;
use crate::sys::{self, Reaped};
use stream::Stream;

/// How closely a limit of CPU time is kept.
const LOOK_MIN: Duration = Duration::from_millis(1);
/// And how long nobody looks at most: what the kernel kills is seen at once, but what it only
/// refuses is not.
const LOOK_MAX: Duration = Duration::from_millis(500);

/// Makes boxes.
pub(crate) struct Maker {
    groups: Option<Groups>,
    locks: Locks,
    cores: u32,
    /// Made while the last programs ran, so that the next jobs find some.
    spares: Vec<Blank>,
}

/// A box without a job: its init waits for one.
struct Blank {
    init: Pid,
    pidfd: OwnedFd,
    socket: OwnedFd,
    group: Option<Group>,
}

/// What comes with a job.
pub(crate) struct Contents {
    pub(crate) stdin: OwnedFd,
    pub(crate) files: OwnedFd,
    pub(crate) sealed: Option<OwnedFd>,
}

/// The pipes of two programs that talk; of one alone, none.
pub(crate) struct Wires {
    pairs: Vec<(OwnedFd, OwnedFd)>,
}

impl Wires {
    pub(crate) fn between(boxes: usize) -> Result<Self, String> {
        let said = |error: nix::Error| format!("a pipe cannot be made: {error}");
        match boxes {
            1 => Ok(Self { pairs: Vec::new() }),
            2 => {
                let (program_in, interactor_out) = pipe2(OFlag::O_CLOEXEC).map_err(said)?;
                let (interactor_in, program_out) = pipe2(OFlag::O_CLOEXEC).map_err(said)?;
                // Taken from the end.
                let pairs = vec![(interactor_in, interactor_out), (program_in, program_out)];
                Ok(Self { pairs })
            }
            _ => Err("an order is for one box or two".into()),
        }
    }

    /// The next box's standard input and output, where they lead to the other box.
    pub(crate) fn next(&mut self) -> Option<(OwnedFd, OwnedFd)> {
        self.pairs.pop()
    }
}

/// A box that was made.
pub(crate) struct Boxed {
    init: Pid,
    pidfd: OwnedFd,
    /// To its init, which tells how the program ended.
    socket: OwnedFd,
    stdout: Option<Stream>,
    stderr: Stream,
    group: Option<Group>,
    limits: Limits,
    cores: u32,
    collect: Vec<String>,
    started: Instant,
    forgiven: Duration,
    /// When somebody looks at its accounts next.
    look_at: Instant,
    killed_for: Option<LimitKind>,
    /// The most that was seen before its end, where nobody counts for us.
    seen: accounts::Seen,
    reaped: Option<(Reaped, Instant)>,
    /// By the clock of [`sys::now`]: when it was killed, or else when its program ended.
    ended_at: Option<Duration>,
    /// And when its init was gone.
    reaped_at: Duration,
}

impl Maker {
    pub(crate) fn new(groups: Option<Groups>, landlock: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let cores = u32::try_from(cores).unwrap_or(u32::MAX);
        Self { groups, locks: Locks::new(landlock), cores, spares: Vec::new() }
    }

    /// Makes boxes for later jobs, until there are so many.
    pub(crate) fn prepare(&mut self, count: usize) {
        while self.spares.len() < count {
            match self.blank() {
                Ok(blank) => self.spares.push(blank),
                // It is said when a box is needed.
                Err(_) => return,
            }
        }
    }

    /// Starts a job in a box.
    pub(crate) fn start(
        &mut self,
        job: &OrderedJob,
        contents: Contents,
        wire: Option<(OwnedFd, OwnedFd)>,
    ) -> Result<Boxed, String> {
        let blank = match self.spares.pop() {
            // It may have died meanwhile, if memory is short.
            Some(blank) if has_ended(blank.pidfd.as_fd()) => {
                self.throw_away(blank);
                self.blank()?
            }
            Some(blank) => blank,
            None => self.blank()?,
        };
        let Blank { init, pidfd, socket, group } = blank;
        let started = Instant::now();
        let handed = hand_over(job, contents, wire, &socket, group.as_ref());
        match handed {
            Ok((stdout, stderr)) => Ok(Boxed {
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
                look_at: started,
                killed_for: None,
                seen: accounts::Seen::default(),
                reaped: None,
                ended_at: None,
                reaped_at: Duration::ZERO,
            }),
            Err(error) => {
                self.throw_away(Blank { init, pidfd, socket, group });
                Err(format!("a box cannot be given its job: {error}"))
            }
        }
    }

    fn blank(&mut self) -> Result<Blank, String> {
        let group = self.groups.as_mut().map(Groups::make).transpose()?;
        let (kind, flags) = (SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
        let made = socketpair(AddressFamily::Unix, kind, None, flags)
            .map_err(std::io::Error::from)
            .and_then(|pair| Ok((pair, sys::clone_box(group.as_ref().map(Group::birthplace))?)));
        match made {
            Ok(((socket, _), Some(cloned))) => {
                Ok(Blank { init: cloned.pid, pidfd: cloned.pidfd, socket, group })
            }
            Ok(((ours, zygote), None)) => {
                drop(ours);
                init::run(Birth { group: group.as_ref(), zygote, locks: &self.locks })
            }
            Err(error) => {
                self.end(group);
                Err(format!("a box cannot be made: {error}"))
            }
        }
    }

    fn throw_away(&mut self, blank: Blank) {
        // Gone already is as good.
        let _ = sys::kill_by(blank.pidfd.as_fd());
        let _ = sys::wait(Some(blank.init));
        self.end(blank.group);
    }

    /// Kills boxes whose order came to nothing.
    pub(crate) fn discard(&mut self, boxes: Vec<Boxed>) {
        for mut boxed in boxes {
            if boxed.reaped.is_none() {
                // Gone already is as good.
                let _ = sys::kill_by(boxed.pidfd.as_fd());
                let _ = sys::wait(Some(boxed.init));
            }
            self.end(boxed.group.take());
        }
    }

    /// What is to be told of a box that has ended, and when that was by [`sys::now`].
    pub(crate) fn report(&mut self, mut ended: Boxed) -> Result<(Report, Duration), String> {
        let report = ended.report();
        self.end(ended.group.take());
        Ok((report?, ended.ended_at.unwrap_or(ended.reaped_at)))
    }

    fn end(&mut self, group: Option<Group>) {
        if let (Some(groups), Some(group)) = (&mut self.groups, group) {
            groups.end(group);
        }
    }
}

/// Gives a blank box its job; returns where its output is read.
fn hand_over(
    job: &OrderedJob,
    contents: Contents,
    wire: Option<(OwnedFd, OwnedFd)>,
    socket: &OwnedFd,
    group: Option<&Group>,
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
    // What cannot be asked is found out when it gets its job.
    poll(&mut polled, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

impl Boxed {
    pub(crate) fn is_running(&self) -> bool {
        self.reaped.is_none()
    }

    /// What is waited for: its end, and its output.
    pub(crate) fn polled(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let streams = self.stdout.iter().chain([&self.stderr]).filter_map(Stream::open);
        let end = self.is_running().then(|| self.pidfd.as_fd());
        end.into_iter().chain(streams.filter(|_| self.is_running()))
    }

    /// Kills it if it is past a limit; returns when to look again.
    pub(crate) fn look(&mut self, now: Instant) -> std::io::Result<Instant> {
        let wall = Duration::from_millis(self.limits.wall_ms.into()) + self.forgiven;
        let wall_end = self.started + wall;
        if now >= wall_end {
            self.kill(LimitKind::Wall);
        }
        if now >= self.look_at {
            let used = Duration::from_micros(self.cpu_us()?);
            let limit = Duration::from_millis(self.limits.cpu_ms.into());
            if used > limit {
                self.kill(LimitKind::Cpu);
            }
            // No sooner than all cores together could use up what is left.
            let left = limit.saturating_sub(used) / self.cores.min(self.limits.processes).max(1);
            self.look_at = now + left.clamp(LOOK_MIN, LOOK_MAX);
        }
        Ok(if self.killed_for.is_some() { now + LOOK_MAX } else { self.look_at.min(wall_end) })
    }

    fn cpu_us(&mut self) -> std::io::Result<u64> {
        match &self.group {
            Some(group) => group.cpu_us(),
            None => {
                self.seen.look(self.init);
                Ok(self.seen.cpu_us)
            }
        }
    }

    fn kill(&mut self, limit: LimitKind) {
        if self.killed_for.is_none() {
            self.killed_for = Some(limit);
            self.ended_at = Some(sys::now());
            // Ended by itself in this moment is as good.
            let _ = sys::kill_by(self.pidfd.as_fd());
        }
    }

    /// Its wall time does not count while nobody watches.
    pub(crate) fn forgive(&mut self, time: Duration) {
        self.forgiven += time;
    }

    /// Takes in what it wrote, and its end.
    pub(crate) fn hear(&mut self) -> std::io::Result<()> {
        let ended = has_ended(self.pidfd.as_fd());
        if ended {
            // Before the streams are read to their end: nobody writes any more.
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

    fn report(&mut self) -> Result<Report, String> {
        let (reaped, at) = self.reaped.take().expect("it has ended");
        let mut usage =
            self.usage(&reaped, at).map_err(|error| format!("its accounts: {error}"))?;
        let last = message::receive::<Last>(&self.socket)
            .map_err(|error| format!("a box's report cannot be read: {error}"))?;
        let (ending, descriptors) = match last {
            Some((last, descriptors)) => {
                if let Last::Ended { init_cpu_us, ended_at, .. } = last {
                    usage.cpu_us = usage.cpu_us.saturating_sub(init_cpu_us);
                    self.ended_at.get_or_insert(ended_at);
                }
                (self.ending(last)?, descriptors)
            }
            None => (None, Vec::new()),
        };
        let ending = self.limited(&usage, ending).or(ending);
        let ending = ending.ok_or("a box's init was killed, and not by us")?;
        let mut files = Vec::new();
        for (at, descriptor) in descriptors.into_iter().enumerate() {
            let path = self.collect.get(at).ok_or("a box returned a file too many")?;
            let kept = stream::read_file(descriptor, self.limits.disk_bytes)
                .map_err(|error| format!("a file cannot be read: {error}"))?;
            if let Some(kept) = kept {
                files.push((path.clone(), kept));
            }
        }
        Ok(Report {
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
                wait_us: group.wait_us(),
            },
            None => Usage {
                cpu_us: reaped.cpu_us.max(self.seen.cpu_us),
                wall_us,
                memory_peak_bytes: reaped.memory_peak_bytes,
                wait_us: self.seen.wait_us,
            },
        })
    }

    /// The end that its init reported; none when that was killed.
    fn ending(&mut self, last: Last) -> Result<Option<Ending>, String> {
        match last {
            Last::Ended { status, .. } if libc::WIFEXITED(status) => {
                Ok(Some(Ending::Exited(libc::WEXITSTATUS(status))))
            }
            Last::Ended { status, .. } => Ok(Some(Ending::Signaled(libc::WTERMSIG(status)))),
            Last::NotExecuted { problem } => {
                self.stderr.add(format!("it cannot be executed: {problem}\n").as_bytes());
                Ok(Some(Ending::Exited(NOT_EXECUTED)))
            }
            Last::NotMade { problem } => Err(format!("a box cannot be made: {problem}")),
        }
    }

    /// The limit that ended it, whoever noticed.
    fn limited(&self, usage: &Usage, ending: Option<Ending>) -> Option<Ending> {
        let group = self.group.as_ref();
        let over_cpu = usage.cpu_us > u64::from(self.limits.cpu_ms) * 1_000;
        let killed_for_cpu = ending == Some(Ending::Signaled(libc::SIGXCPU));
        let limit = if group.is_some_and(Group::out_of_memory) {
            LimitKind::Memory
        } else if over_cpu || killed_for_cpu {
            LimitKind::Cpu
        } else if let Some(limit) = self.killed_for {
            limit
        } else if self.stdout.as_ref().is_some_and(Stream::is_over) {
            LimitKind::Output
        } else if ending.is_some_and(|ending| !ending.is_normal())
            && group.is_some_and(Group::out_of_processes)
        {
            LimitKind::Processes
        } else {
            return None;
        };
        Some(Ending::Limited(limit))
    }
}

/// As a shell has it.
const NOT_EXECUTED: i32 = 127;

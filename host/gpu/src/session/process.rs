//! An executor as a child process: started, given requests, killed.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_exec::JobDeadline;

use crate::device::{DeviceProblem, Properties};
use crate::executor::DeviceChoice;
use crate::executor::message::{self, ExecutorAnswer, ExecutorRequest, Hello, Reply};

/// The most bytes of an executor's standard error that are kept.
const WORDS_BYTES_MAX: u64 = 4_096;

/// The longest wait for an executor before a look at the clock.
const SLICE_MAX: Duration = Duration::from_millis(50);
/// The wait after the deadline, for what has come already.
const LAST_LOOK: Duration = Duration::from_millis(1);
/// The longest time for such waits: an executor that sends byte after byte is late too.
const LAST_LOOKS_MAX: Duration = Duration::from_secs(1);
/// A wait that lasts longer than it should by more than this was held up.
const LATE_MIN: Duration = Duration::from_millis(20);

/// Why an executor did not answer a request.
#[derive(Debug)]
pub(crate) enum ExecutorError {
    /// It reports the problem itself and is ready for the next request.
    Problem(DeviceProblem),
    /// It did not answer in time. Its state is unknown, so it must be killed.
    Late,
    /// It ended, or is of no use.
    Gone(String),
}

/// A running executor; dropping the value kills it and waits for its end.
pub(crate) struct Executor {
    child: Child,
    socket: UnixStream,
    properties: Option<Properties>,
    /// The time of the last request for which this process stood still.
    stood_still: Duration,
    /// The time of the last request for which the executor was ready and had no core.
    starved: Duration,
}

impl Executor {
    /// Starts an executor; does not wait until it is ready.
    pub(crate) fn start(
        program: &Path,
        choice: DeviceChoice,
        exchange: &File,
    ) -> Result<Self, ExecutorError> {
        let failed =
            |error: std::io::Error| ExecutorError::Gone(format!("{}: {error}", program.display()));
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        let child = Command::new(program)
            .args(["serve", "--device", &choice.to_string()])
            .env_clear()
            .envs(crate::cuda::environment())
            // The driver's own cache of compiled code would outlive the session.
            .env("CUDA_CACHE_DISABLE", "1")
            .env("CUDA_MODULE_LOADING", "EAGER")
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(exchange.try_clone().map_err(failed)?))
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        Ok(Self {
            child,
            socket,
            properties: None,
            stood_still: Duration::ZERO,
            starved: Duration::ZERO,
        })
    }

    /// Waits until its device is open.
    pub(crate) fn ready(&mut self, until: Instant) -> Result<Properties, ExecutorError> {
        if let Some(properties) = &self.properties {
            return Ok(properties.clone());
        }
        let received = message::receive::<Hello>(&mut Bounded::new(&self.socket, until));
        let hello = self.heard(received)?;
        let properties = hello.map_err(|problem| ExecutorError::Gone(problem.to_string()))?;
        self.properties = Some(properties.clone());
        Ok(properties)
    }

    pub(crate) fn order(
        &mut self,
        order: &ExecutorRequest,
        until: impl Into<JobDeadline>,
    ) -> Result<ExecutorAnswer, ExecutorError> {
        let until = until.into();
        let schedstat = PathBuf::from(format!("/proc/{}/schedstat", self.child.id()));
        let core = CoreWait::begin(schedstat, until.latest);
        let mut bounded = Bounded { core: Some(core), ..Bounded::new(&self.socket, until.at) };
        let sent = message::send(&mut bounded, order);
        let received = sent.and_then(|()| message::receive::<Reply>(&mut bounded));
        self.stood_still = bounded.stood_still;
        self.starved = bounded.starved(received.is_ok());
        self.heard(received)?.map_err(ExecutorError::Problem)
    }

    /// The time of the last request for which this process stood still, and could not have heard an answer, or the
    /// executor had no core. An overloaded machine holds up both at the same time.
    pub(crate) fn held_up(&self) -> Duration {
        self.stood_still.max(self.starved)
    }

    /// The time of the last request for which the executor was ready and had no core.
    pub(crate) fn starved(&self) -> Duration {
        self.starved
    }

    fn heard<T>(&mut self, received: std::io::Result<Option<T>>) -> Result<T, ExecutorError> {
        match received {
            Ok(Some(heard)) => Ok(heard),
            Ok(None) => Err(ExecutorError::Gone(self.last_words())),
            Err(error) => Err(self.lost(&error)),
        }
    }

    fn lost(&mut self, error: &std::io::Error) -> ExecutorError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => ExecutorError::Late,
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                ExecutorError::Gone(self.last_words())
            }
            _ => ExecutorError::Gone(format!("the executor cannot be reached: {error}")),
        }
    }

    /// The text about the end of an executor that closed its socket.
    fn last_words(&mut self) -> String {
        // It has closed its socket, so this cannot cut an answer short.
        let _ = self.child.kill();
        let how = match self.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) => format!("signal {signal}"),
                None => format!("status {}", status.code().unwrap_or_default()),
            },
            Err(error) => error.to_string(),
        };
        let mut words = Vec::new();
        if let Some(stderr) = self.child.stderr.take() {
            // All its writers are gone.
            let _ = stderr.take(WORDS_BYTES_MAX).read_to_end(&mut words);
        }
        let words = String::from_utf8_lossy(&words);
        format!("the executor ended, {how}: {}", words.trim())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A socket with a deadline for reading and writing. The deadline moves on by the time for which this process stood still,
/// as it does when it is stopped or its machine is: an executor must not seem late because nobody listened. It moves on by
/// the time for which the executor waited for a core as well.
struct Bounded<'s> {
    socket: &'s UnixStream,
    until: Instant,
    /// By how much the deadline has moved.
    stood_still: Duration,
    /// The end of waits after the deadline, once there was one.
    last_looks_end: Option<Instant>,
    core: Option<CoreWait>,
}

/// An executor's wait for a core during a request. Its first thread does what it is told.
struct CoreWait {
    schedstat: PathBuf,
    /// The time that it had waited before.
    before: Duration,
    /// The part by which the deadline has moved.
    counted: Duration,
    /// The latest time to which it moves.
    latest: Instant,
}

impl CoreWait {
    fn begin(schedstat: PathBuf, latest: Instant) -> Self {
        let before = run_delay(&schedstat);
        Self { schedstat, before, counted: Duration::ZERO, latest }
    }

    fn so_far(&self) -> Duration {
        run_delay(&self.schedstat).saturating_sub(self.before)
    }
}

/// The time for which a thread was ready and did not run, the second number of its `schedstat`; zero if the kernel does not
/// count it.
fn run_delay(schedstat: &Path) -> Duration {
    let text = std::fs::read_to_string(schedstat).unwrap_or_default();
    let delay_ns = text.split_whitespace().nth(1).and_then(|number| number.parse().ok());
    Duration::from_nanos(delay_ns.unwrap_or_default())
}

impl<'s> Bounded<'s> {
    fn new(socket: &'s UnixStream, until: Instant) -> Self {
        Self { socket, until, stood_still: Duration::ZERO, last_looks_end: None, core: None }
    }

    /// Waits for one read or write, in slices: one that ends late shows that the process stood still.
    fn wait(
        &mut self,
        mut once: impl FnMut(&UnixStream) -> std::io::Result<usize>,
    ) -> std::io::Result<usize> {
        loop {
            let began = Instant::now();
            let left = self.until.saturating_duration_since(began);
            // At the end there is a last look: an answer may have come before anybody could see it.
            let slice = left.clamp(LAST_LOOK, SLICE_MAX);
            if left.is_zero() {
                if self.waits_for_core() {
                    continue;
                }
                let end = *self.last_looks_end.get_or_insert(began + LAST_LOOKS_MAX);
                if began >= end {
                    return Err(ErrorKind::TimedOut.into());
                }
            }
            self.socket.set_read_timeout(Some(slice))?;
            self.socket.set_write_timeout(Some(slice))?;
            let done = once(self.socket);
            self.put_off(began.elapsed().saturating_sub(slice));
            match done.as_ref().map_err(std::io::Error::kind) {
                Err(ErrorKind::WouldBlock | ErrorKind::TimedOut) if !left.is_zero() => {}
                // So ends a wait during which the process was stopped.
                Err(ErrorKind::Interrupted) => {}
                _ => return done,
            }
        }
    }

    /// Puts off the deadline by the time for which the executor had no core; whether it is in the future then.
    fn waits_for_core(&mut self) -> bool {
        let Some(core) = &mut self.core else { return false };
        let more = core.so_far().saturating_sub(core.counted);
        if more <= LATE_MIN {
            return false;
        }
        core.counted += more;
        self.until = (self.until + more).min(core.latest.max(self.until));
        self.until > Instant::now()
    }

    /// The time for which the executor had no core. If it did not answer, it is the part that it was given.
    fn starved(&self, has_answered: bool) -> Duration {
        let core = self.core.as_ref();
        core.map_or(Duration::ZERO, |core| if has_answered { core.so_far() } else { core.counted })
    }

    fn put_off(&mut self, late: Duration) {
        if late > LATE_MIN {
            self.until += late;
            self.stood_still += late;
        }
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.wait(|mut socket| socket.read(bytes))
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.wait(|mut socket| socket.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! An executor as a child process: started, given requests, killed.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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
        Ok(Self { child, socket, properties: None, stood_still: Duration::ZERO })
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
        until: Instant,
    ) -> Result<ExecutorAnswer, ExecutorError> {
        let mut bounded = Bounded::new(&self.socket, until);
        let sent = message::send(&mut bounded, order);
        let received = sent.and_then(|()| message::receive::<Reply>(&mut bounded));
        self.stood_still = bounded.stood_still;
        self.heard(received)?.map_err(ExecutorError::Problem)
    }

    /// The time of the last request for which this process stood still, and could not have heard an answer.
    pub(crate) fn stood_still(&self) -> Duration {
        self.stood_still
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
/// as it does when it is stopped or its machine is: an executor must not seem late because nobody listened.
struct Bounded<'s> {
    socket: &'s UnixStream,
    until: Instant,
    /// By how much the deadline has moved.
    stood_still: Duration,
    /// The end of waits after the deadline, once there was one.
    last_looks_end: Option<Instant>,
}

impl<'s> Bounded<'s> {
    fn new(socket: &'s UnixStream, until: Instant) -> Self {
        Self { socket, until, stood_still: Duration::ZERO, last_looks_end: None }
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

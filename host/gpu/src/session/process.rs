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
        Ok(Self { child, socket, properties: None })
    }

    /// Waits until its device is open.
    pub(crate) fn ready(&mut self, until: Instant) -> Result<Properties, ExecutorError> {
        if let Some(properties) = &self.properties {
            return Ok(properties.clone());
        }
        let hello = self.hear::<Hello>(until)?;
        let properties = hello.map_err(|problem| ExecutorError::Gone(problem.to_string()))?;
        self.properties = Some(properties.clone());
        Ok(properties)
    }

    pub(crate) fn order(
        &mut self,
        order: &ExecutorRequest,
        until: Instant,
    ) -> Result<ExecutorAnswer, ExecutorError> {
        let sent = message::send(&mut Bounded { socket: &self.socket, until }, order);
        sent.map_err(|error| self.lost(&error))?;
        self.hear::<Reply>(until)?.map_err(ExecutorError::Problem)
    }

    fn hear<T: serde::de::DeserializeOwned>(&mut self, until: Instant) -> Result<T, ExecutorError> {
        match message::receive(&mut Bounded { socket: &self.socket, until }) {
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

/// A socket with a deadline for reading and writing.
struct Bounded<'s> {
    socket: &'s UnixStream,
    until: Instant,
}

impl Bounded<'_> {
    fn left(&self) -> std::io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(bytes)
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

//! An executor as a child process: started, told, heard, killed.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::device::{Problem, Properties};
use crate::executor::Choice;
use crate::executor::message::{self, Answer, Hello, Order, Reply};

/// What is kept of an executor's last words.
const WORDS_BYTES_MAX: u64 = 4_096;

/// Why an executor did not do what it was told.
#[derive(Debug)]
pub(crate) enum Lost {
    /// It says so itself and goes on.
    Problem(Problem),
    /// It did not answer in time. What it does is unknown: kill it.
    Late,
    /// It is no more, or is of no use.
    Gone(String),
}

/// Killed, and waited for, with this value.
pub(crate) struct Executor {
    child: Child,
    socket: UnixStream,
    properties: Option<Properties>,
}

impl Executor {
    /// Does not wait until it is ready.
    pub(crate) fn start(program: &Path, choice: Choice, exchange: &File) -> Result<Self, Lost> {
        let failed = |error: std::io::Error| Lost::Gone(format!("{}: {error}", program.display()));
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
    pub(crate) fn ready(&mut self, until: Instant) -> Result<Properties, Lost> {
        if let Some(properties) = &self.properties {
            return Ok(properties.clone());
        }
        let hello = self.hear::<Hello>(until)?;
        let properties = hello.map_err(|problem| Lost::Gone(problem.to_string()))?;
        self.properties = Some(properties.clone());
        Ok(properties)
    }

    pub(crate) fn order(&mut self, order: &Order, until: Instant) -> Result<Answer, Lost> {
        let sent = message::send(&mut Bounded { socket: &self.socket, until }, order);
        sent.map_err(|error| self.lost(&error))?;
        self.hear::<Reply>(until)?.map_err(Lost::Problem)
    }

    fn hear<T: serde::de::DeserializeOwned>(&mut self, until: Instant) -> Result<T, Lost> {
        match message::receive(&mut Bounded { socket: &self.socket, until }) {
            Ok(Some(heard)) => Ok(heard),
            Ok(None) => Err(Lost::Gone(self.last_words())),
            Err(error) => Err(self.lost(&error)),
        }
    }

    fn lost(&mut self, error: &std::io::Error) -> Lost {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Lost::Late,
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Lost::Gone(self.last_words()),
            _ => Lost::Gone(format!("the executor cannot be reached: {error}")),
        }
    }

    /// How it ended, once it has closed its socket.
    fn last_words(&mut self) -> String {
        // It holds nothing any more that this could cut short.
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

/// A socket that gives up at an instant.
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

//! The worker's end of the socket: it starts the helper and gives it one job at a time.

use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use serde::{Deserialize, Serialize};

use crate::cgroup;
use crate::job::{BoxJob, DialogueEnd, JobDeadline, JobEnd, JobProgram};
use crate::message::{
    self, BoxFailure, BoxReport, FileMessage, Hello, JobMessage, RunReply, RunRequest,
};
use crate::support::{BoxSupport, Refusal, SandboxPart};

/// The time in which a helper must report that it is ready.
const START_MAX: Duration = Duration::from_secs(20);
/// The time after a request's deadline after which a silent helper counts as dead.
const ANSWER_GRACE: Duration = Duration::from_secs(5);
/// The time in which a helper must clean up after its worker closed the socket.
const END_MAX: Duration = Duration::from_secs(5);

/// The options of a helper. They travel as JSON on its command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HelperOptions {
    /// The path of the program `assay-exec`.
    pub program: PathBuf,
    /// An empty folder, over which the helper mounts the file tree of its boxes.
    pub scratch: PathBuf,
    /// Paths of this machine that programs may read, in addition to the system's (`/usr`, `/lib*`).
    pub paths: Vec<PathBuf>,
    /// Folders that programs see under other paths.
    pub shown: Vec<Shown>,
    /// The folder that is `/toolchains` in every box. Boxes see what is added to it later.
    pub toolchains: PathBuf,
    /// The parts of the sandbox that may be missing.
    pub weaker: Vec<SandboxPart>,
}

/// A folder of this machine that boxes see, read-only, under another path. A folder that does not exist is not
/// shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The folder's path on this machine.
    pub path: PathBuf,
    /// The absolute path in the box, outside of the system's folders, such as `/cuda`.
    pub at: PathBuf,
}

/// A box could not be made or watched. This says nothing about the program.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// The helper refuses to make boxes.
    #[error("{0}")]
    Refused(Refusal),
    /// The caller's deadline came first.
    #[error("the stage's time is over")]
    Deadline,
    /// This machine lacks the program, which is a path of the machine and not a file of the box.
    #[error("a program cannot be executed: {0}")]
    NoProgram(String),
    /// The helper died or the machine failed.
    #[error("{0}")]
    Failed(String),
}

impl From<std::io::Error> for HelperError {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(format!("the helper cannot be reached: {error}"))
    }
}

/// A running helper; dropping the value ends it.
pub struct Helper {
    /// `None` while it is dropped: closing the socket tells the helper to end.
    socket: Option<OwnedFd>,
    child: Child,
    support: BoxSupport,
    /// The time for which boxes were ready and did not run, since it was last taken.
    starved: Duration,
}

impl Helper {
    /// Starts a helper and waits until it is ready.
    pub fn start(options: &HelperOptions) -> Result<Self, HelperError> {
        let pair =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
        let (socket, theirs) = pair.map_err(std::io::Error::from)?;
        let options_json = serde_json::to_string(options).map_err(std::io::Error::other)?;
        let child = Command::new(&options.program)
            .arg0("assay-exec")
            .args(["serve", &options_json])
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            // An interrupt from a terminal must not end it before its worker.
            .process_group(0)
            .spawn();
        let child = child.map_err(|error| {
            let problem = format!("{}: {error}", options.program.display());
            match error.kind() {
                ErrorKind::NotFound | ErrorKind::PermissionDenied => {
                    HelperError::Refused(Refusal::Lacking(problem))
                }
                _ => HelperError::Failed(problem),
            }
        })?;
        let missing = BoxSupport::nothing();
        let mut helper =
            Self { socket: Some(socket), child, support: missing, starved: Duration::ZERO };
        match helper.receive::<Hello>(Instant::now() + START_MAX)? {
            Ok(support) => helper.support = support,
            Err(refusal) => return Err(HelperError::Refused(refusal)),
        }
        Ok(helper)
    }

    /// The parts of the sandbox that its boxes have.
    #[must_use]
    pub fn support(&self) -> &BoxSupport {
        &self.support
    }

    /// Whether its supervisor was killed: its zygote works on, and nobody would remove its cgroups.
    pub(crate) fn is_orphan(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Takes the time for which boxes were ready and did not run, since the last call.
    pub(crate) fn take_starved(&mut self) -> Duration {
        std::mem::take(&mut self.starved)
    }

    /// Runs one program to its end, or to its deadline.
    ///
    /// After [`HelperError::Failed`] the helper may be gone: start another.
    pub fn run(
        &mut self,
        job: &BoxJob<'_>,
        until: impl Into<JobDeadline>,
    ) -> Result<JobEnd, HelperError> {
        let (mut boxes, _) = self.request(&[job], until.into())?;
        boxes.pop().ok_or_else(|| HelperError::Failed("the helper reported no box".into()))
    }

    /// Runs two programs, each with its standard output connected to the other's standard input. The `stdin` of
    /// the jobs is ignored, and their `stdout` is empty.
    pub fn talk(
        &mut self,
        program: &BoxJob<'_>,
        interactor: &BoxJob<'_>,
        until: impl Into<JobDeadline>,
    ) -> Result<DialogueEnd, HelperError> {
        let (boxes, first_to_end) = self.request(&[program, interactor], until.into())?;
        let [program, interactor] = <[JobEnd; 2]>::try_from(boxes)
            .map_err(|_| HelperError::Failed("the helper did not report two boxes".into()))?;
        Ok(DialogueEnd { program, interactor, first_to_end })
    }

    fn request(
        &mut self,
        jobs: &[&BoxJob<'_>],
        until: JobDeadline,
    ) -> Result<(Vec<JobEnd>, crate::job::Party), HelperError> {
        let now = Instant::now();
        let left_ms = |at: Instant| {
            u64::try_from(at.saturating_duration_since(now).as_millis()).unwrap_or(u64::MAX)
        };
        if until.at <= now {
            return Err(HelperError::Deadline);
        }
        let order = RunRequest {
            jobs: jobs.iter().map(|job| ordered(job)).collect(),
            deadline_ms: left_ms(until.at),
            latest_ms: left_ms(until.latest),
        };
        let contents = jobs.iter().map(|job| {
            let files = job.files.iter().map(|file| file.bytes);
            Ok([message::memory_file_with([job.stdin])?, message::memory_file_with(files)?])
        });
        let contents: Vec<[OwnedFd; 2]> = contents.collect::<std::io::Result<_>>()?;
        let mut descriptors: Vec<BorrowedFd<'_>> = Vec::new();
        for (job, content) in jobs.iter().zip(&contents) {
            descriptors.extend(content.iter().map(OwnedFd::as_fd));
            if let JobProgram::Sealed(file) = job.program {
                descriptors.push(file);
            }
        }
        let socket = self.socket.as_ref().expect("it is closed by drop alone");
        message::send(socket, &order, &descriptors)?;
        match self.receive::<RunReply>(until.latest + ANSWER_GRACE)? {
            RunReply::Ended { boxes, first_to_end } => {
                // While one of two waits for a core, the other waits for its answer.
                let wait_us = boxes.iter().map(|report| report.usage.wait_us).max();
                self.starved += Duration::from_micros(wait_us.unwrap_or(0));
                Ok((boxes.into_iter().map(JobEnd::from).collect(), first_to_end))
            }
            RunReply::Deadline { wait_us } => {
                self.starved += Duration::from_micros(wait_us);
                Err(HelperError::Deadline)
            }
            RunReply::Failed(BoxFailure::NoProgram(problem)) => {
                Err(HelperError::NoProgram(problem))
            }
            RunReply::Failed(BoxFailure::Failed(problem)) => Err(HelperError::Failed(problem)),
        }
    }

    fn receive<T: serde::de::DeserializeOwned>(
        &mut self,
        until: Instant,
    ) -> Result<T, HelperError> {
        let socket = self.socket.as_ref().expect("it is closed by drop alone");
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
            match poll(&mut polled, timeout) {
                Err(nix::Error::EINTR) => continue,
                Err(error) => return Err(std::io::Error::from(error).into()),
                Ok(0) => return Err(HelperError::Failed("the helper does not answer".into())),
                Ok(_) => {}
            }
            return match message::receive(socket)? {
                Some((message, _)) => Ok(message),
                None => Err(HelperError::Failed("the helper is gone".into())),
            };
        }
    }
}

fn ordered(job: &BoxJob<'_>) -> JobMessage {
    let path = match job.program {
        JobProgram::Sealed(_) => None,
        JobProgram::Path(path) => Some(path.to_owned()),
    };
    let file = |file: &crate::job::JobFile<'_>| FileMessage {
        path: file.path.to_owned(),
        executable: file.executable,
        size_bytes: file.bytes.len() as u64,
    };
    JobMessage {
        purpose: job.purpose,
        path,
        args: job.args.clone(),
        env: job.env.clone(),
        files: job.files.iter().map(file).collect(),
        collect: job.collect.clone(),
        limits: job.limits,
    }
}

impl From<BoxReport> for JobEnd {
    fn from(report: BoxReport) -> Self {
        let BoxReport { ending, usage, stdout, stderr, files } = report;
        Self { ending, usage, stdout, stderr, files }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.socket.take());
        let until = Instant::now() + END_MAX;
        // The end of its zygote kills the boxes; the rest of its work takes milliseconds.
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                Ok(None) => {
                    tracing::warn!("the helper does not end; it is killed");
                    let _ = self.child.kill();
                    break self.child.wait().ok();
                }
                Err(_) => break None,
            }
        };
        if !status.is_some_and(|status| status.success()) {
            cgroup::remove_of_killed(self.child.id(), until);
        }
    }
}

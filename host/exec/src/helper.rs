//! The worker's end of the socket: starts the helper, gives it jobs, one at a time.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use serde::{Deserialize, Serialize};

use crate::job::{Ended, Job, Program, Talked};
use crate::message::{self, Hello, Order, OrderedFile, OrderedJob, Reply, Report};
use crate::support::{Part, Support};

/// A helper that has not said a word this long after its start is given up.
const START_MAX: Duration = Duration::from_secs(20);
/// On top of an order's deadline, until a helper that does not answer counts as dead.
const ANSWER_GRACE: Duration = Duration::from_secs(5);
/// What a helper gets to clean up after its worker has closed the socket.
const END_MAX: Duration = Duration::from_secs(5);

/// How a helper is started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Options {
    /// The program `assay-exec`.
    pub program: PathBuf,
    /// An empty folder of the helper's, in which it builds the world of its boxes.
    pub scratch: PathBuf,
    /// Paths of this machine that programs may read, beyond the system's own (`/usr`, `/lib*`).
    pub paths: Vec<PathBuf>,
    /// And what they see at places of its own.
    pub shown: Vec<Shown>,
    /// A folder that is `/toolchains` in every box; what is put there later is seen as well.
    pub toolchains: PathBuf,
    /// What may be missing.
    pub weaker: Vec<Part>,
}

/// A folder of this machine that boxes see, read-only, wherever it lies; one that is not there is not
/// shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub path: PathBuf,
    /// An absolute path, in a folder that is not the system's: `/cuda`.
    pub at: PathBuf,
}

/// A box could not be made or watched: nothing was learnt about the program.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The helper refuses or cannot start; the text says what is missing and what to do.
    #[error("{0}")]
    Refused(String),
    /// The caller's time was over first.
    #[error("the stage's time is over")]
    Deadline,
    /// The helper died or the machine failed.
    #[error("{0}")]
    Failed(String),
}

impl From<std::io::Error> for Lost {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(format!("the helper cannot be reached: {error}"))
    }
}

/// A running helper, ended with this value.
pub struct Helper {
    /// Closed first: that is how the helper is told to end.
    socket: Option<OwnedFd>,
    child: Child,
    support: Support,
}

impl Helper {
    pub fn start(options: &Options) -> Result<Self, Lost> {
        let pair =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
        let (socket, theirs) = pair.map_err(std::io::Error::from)?;
        let told = serde_json::to_string(options).map_err(std::io::Error::other)?;
        let child = Command::new(&options.program)
            .arg0("assay-exec")
            .args(["serve", &told])
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            // It outlives a terminal's interrupt: it ends with its worker, in order.
            .process_group(0)
            .spawn();
        let program = options.program.display();
        let child = child.map_err(|error| Lost::Refused(format!("{program}: {error}")))?;
        let missing = Support::nothing();
        let mut helper = Self { socket: Some(socket), child, support: missing };
        match helper.hear::<Hello>(Instant::now() + START_MAX)? {
            Ok(support) => helper.support = support,
            Err(refusal) => return Err(Lost::Refused(refusal)),
        }
        Ok(helper)
    }

    #[must_use]
    pub fn support(&self) -> &Support {
        &self.support
    }

    /// Runs one program to its end, at the longest until `deadline`.
    ///
    /// After [`Lost::Failed`] the helper may be gone: start another.
    pub fn run(&mut self, job: &Job<'_>, deadline: Instant) -> Result<Ended, Lost> {
        let (mut boxes, _) = self.order(&[job], deadline)?;
        boxes.pop().ok_or_else(|| Lost::Failed("the helper reported no box".into()))
    }

    /// Runs two, the standard output of each wired to the other's standard input; `stdin` of the jobs
    /// is not used, their `stdout` comes back empty.
    pub fn talk(
        &mut self,
        program: &Job<'_>,
        interactor: &Job<'_>,
        deadline: Instant,
    ) -> Result<Talked, Lost> {
        let (boxes, first_to_end) = self.order(&[program, interactor], deadline)?;
        let [program, interactor] = <[Ended; 2]>::try_from(boxes)
            .map_err(|_| Lost::Failed("the helper did not report two boxes".into()))?;
        Ok(Talked { program, interactor, first_to_end })
    }

    fn order(
        &mut self,
        jobs: &[&Job<'_>],
        deadline: Instant,
    ) -> Result<(Vec<Ended>, crate::job::Party), Lost> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Lost::Deadline);
        }
        let order = Order {
            jobs: jobs.iter().map(|job| ordered(job)).collect(),
            deadline_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
        };
        let contents = jobs.iter().map(|job| {
            let files = job.files.iter().map(|file| file.bytes);
            Ok([message::memory_file_with([job.stdin])?, message::memory_file_with(files)?])
        });
        let contents: Vec<[OwnedFd; 2]> = contents.collect::<std::io::Result<_>>()?;
        let mut descriptors: Vec<BorrowedFd<'_>> = Vec::new();
        for (job, content) in jobs.iter().zip(&contents) {
            descriptors.extend(content.iter().map(OwnedFd::as_fd));
            if let Program::Sealed(file) = job.program {
                descriptors.push(file);
            }
        }
        let socket = self.socket.as_ref().expect("it is closed by drop alone");
        message::send(socket, &order, &descriptors)?;
        match self.hear::<Reply>(deadline + ANSWER_GRACE)? {
            Reply::Ended { boxes, first_to_end } => {
                Ok((boxes.into_iter().map(Ended::from).collect(), first_to_end))
            }
            Reply::Deadline => Err(Lost::Deadline),
            Reply::Failed(problem) => Err(Lost::Failed(problem)),
        }
    }

    fn hear<T: serde::de::DeserializeOwned>(&mut self, until: Instant) -> Result<T, Lost> {
        let socket = self.socket.as_ref().expect("it is closed by drop alone");
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
            match poll(&mut polled, timeout) {
                Err(nix::Error::EINTR) => continue,
                Err(error) => return Err(std::io::Error::from(error).into()),
                Ok(0) => return Err(Lost::Failed("the helper does not answer".into())),
                Ok(_) => {}
            }
            return match message::receive(socket)? {
                Some((heard, _)) => Ok(heard),
                None => Err(Lost::Failed("the helper is gone".into())),
            };
        }
    }
}

fn ordered(job: &Job<'_>) -> OrderedJob {
    let path = match job.program {
        Program::Sealed(_) => None,
        Program::Path(path) => Some(path.to_owned()),
    };
    let file = |file: &crate::job::JobFile<'_>| OrderedFile {
        path: file.path.to_owned(),
        executable: file.executable,
        size_bytes: file.bytes.len() as u64,
    };
    OrderedJob {
        purpose: job.purpose,
        path,
        args: job.args.clone(),
        env: job.env.clone(),
        files: job.files.iter().map(file).collect(),
        collect: job.collect.clone(),
        limits: job.limits,
    }
}

impl From<Report> for Ended {
    fn from(report: Report) -> Self {
        let Report { ending, usage, stdout, stderr, files } = report;
        Self { ending, usage, stdout, stderr, files }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.socket.take());
        let until = Instant::now() + END_MAX;
        // What it ran is killed by its zygote's end; what is left to do takes milliseconds.
        while Instant::now() < until {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                _ => return,
            }
        }
        tracing::warn!("a helper does not end; killing it");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

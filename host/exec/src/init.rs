//! The first process of a box. It mounts the box's folders, starts the program, reaps every process, and
//! reports how the program ended. It counts towards the box's limits, and is out of the program's reach: the
//! program cannot signal it, trace it or read its memory.

pub(crate) mod program;

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use nix::fcntl::OFlag;
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, pipe2};

use crate::cgroup::RunCgroup;
use crate::job::WORKING_FOLDER;
use crate::limits::BoxLimits;
use crate::message::{self, FileMessage, InitReport, JobMessage};
use crate::sys;
use program::{LaunchFailure, Locks};

/// The most files and folders in a box; the kernel's memory for each counts towards the box's limit.
const FILES_MAX: u32 = 16_384;

/// The arguments of an init.
pub(crate) struct Birth<'a> {
    pub(crate) group: Option<&'a RunCgroup>,
    /// The socket to the zygote, which sends the job and receives the [`InitReport`].
    pub(crate) zygote: OwnedFd,
    pub(crate) locks: &'a Locks,
}

/// A job as it came from the zygote.
pub(crate) struct BoxTask<'a> {
    pub(crate) job: JobMessage,
    pub(crate) standard: [OwnedFd; 3],
    pub(crate) sealed: Option<OwnedFd>,
    pub(crate) locks: &'a Locks,
    /// Whether the box has no cgroup, so that each process has limits of its own.
    pub(crate) alone: bool,
    files: OwnedFd,
    zygote: RawFd,
}

/// The open working folder, from which files are collected. It was opened before the program could put another
/// folder in its place.
struct WorkingFolder(OwnedFd);

/// Runs the init until the box ends.
pub(crate) fn run(birth: Birth<'_>) -> ! {
    // A panic must not unwind into the copy of the zygote that this process is.
    let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| live(&birth)));
    sys::exit(if matches!(lived, Ok(Ok(()))) { 0 } else { 1 })
}

/// The first half of the work, which takes most of the time, is done before there is a job.
fn live(birth: &Birth<'_>) -> std::io::Result<()> {
    let made = make(birth);
    // The zygote closes the socket of a box that it does not need.
    let Some((job, descriptors)) = message::receive::<JobMessage>(&birth.zygote)? else {
        return Ok(());
    };
    let (last, files) = match made.and_then(|()| BoxTask::new(birth, job, descriptors)) {
        Ok(task) => {
            let ended = run_task(&task);
            // `wait` has closed its descriptors.
            std::mem::forget(task);
            ended
        }
        Err(error) => (InitReport::NotMade { problem: error.to_string() }, Vec::new()),
    };
    let files: Vec<BorrowedFd<'_>> = files.iter().map(OwnedFd::as_fd).collect();
    message::send(&birth.zygote, &last, &files)
}

impl<'a> BoxTask<'a> {
    fn new(birth: &Birth<'a>, job: JobMessage, descriptors: Vec<OwnedFd>) -> std::io::Result<Self> {
        let mut descriptors = descriptors.into_iter();
        let mut next = || descriptors.next().ok_or_else(|| Error::other("a descriptor is missing"));
        let standard = [next()?, next()?, next()?];
        let files = next()?;
        let sealed = descriptors.next();
        let (locks, alone) = (birth.locks, birth.group.is_none());
        Ok(Self { job, standard, sealed, locks, alone, files, zygote: birth.zygote.as_raw_fd() })
    }
}

fn run_task(task: &BoxTask<'_>) -> (InitReport, Vec<OwnedFd>) {
    let not_made = |error: Error| (InitReport::NotMade { problem: error.to_string() }, Vec::new());
    let folder = match fill(task) {
        Ok(folder) => folder,
        Err(error) => return not_made(error),
    };
    match start(task) {
        Ok(StartResult::Program(pid)) => wait(task, &folder, pid),
        Ok(StartResult::Failed(LaunchFailure::Executing(error))) => {
            (not_executed(task.job.path.as_deref(), &error), Vec::new())
        }
        Ok(StartResult::Failed(LaunchFailure::Preparing(error))) | Err(error) => not_made(error),
    }
}

/// The report of a program that the kernel did not execute. `path` is the program's, unless it is a sealed file.
fn not_executed(path: Option<&str>, error: &Error) -> InitReport {
    let problem = error.to_string();
    let number = error.raw_os_error().unwrap_or(libc::EIO);
    // Programs elsewhere are the machine's.
    match path.filter(|path| !Path::new(path).starts_with("/box")) {
        // A file that is the candidate's can cause any error that no shortage causes: it names its interpreter.
        None if !is_a_shortage(number) => InitReport::NotExecuted { problem },
        // The arguments or the environment, whatever the program is.
        Some(_) if matches!(number, libc::EINVAL | libc::E2BIG) => {
            InitReport::NotExecuted { problem }
        }
        Some(path) if is_unfit(number) => {
            InitReport::NoProgram { problem: format!("{path}: {problem}") }
        }
        _ => InitReport::NotMade { problem },
    }
}

/// Whether the machine, or the box, lacks something that every execution takes.
fn is_a_shortage(number: i32) -> bool {
    matches!(number, libc::ENOMEM | libc::EAGAIN | libc::EMFILE | libc::ENFILE)
}

/// Whether the file of a program of the machine is missing or cannot be executed.
fn is_unfit(number: i32) -> bool {
    matches!(
        number,
        libc::ENOEXEC
            | libc::EACCES
            | libc::EPERM
            | libc::ENOENT
            | libc::ENOTDIR
            | libc::ELOOP
            | libc::ELIBBAD
    )
}

fn make(birth: &Birth<'_>) -> std::io::Result<()> {
    if let Some(group) = birth.group {
        group.join()?;
    }
    // Not in the zygote: where cgroups are mounted with `nsdelegate`, as systemd mounts them, it could then start no
    // process in a group beside its own.
    unshare(CloneFlags::CLONE_NEWCGROUP)?;
    mount_proc()
}

fn fill(task: &BoxTask<'_>) -> std::io::Result<WorkingFolder> {
    mount_box(&task.job.limits)?;
    for folder in [WORKING_FOLDER, "/box/tmp"] {
        fs::create_dir(folder)?;
    }
    let mut contents = File::from(task.files.try_clone()?);
    task.job.files.iter().try_for_each(|file| place(file, &mut contents))?;
    Ok(WorkingFolder(File::open(WORKING_FOLDER)?.into()))
}

fn mount_box(limits: &BoxLimits) -> std::io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    let options = format!("size={},nr_inodes={FILES_MAX},mode=755", limits.disk_bytes);
    Ok(mount(Some("box"), "/box", Some("tmpfs"), flags, Some(options.as_str()))?)
}

/// Mounts `/proc`: it shows the box's processes only, and to the program only its own.
fn mount_proc() -> std::io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let options = Some("subset=pid,hidepid=invisible");
    Ok(mount(Some("proc"), "/proc", Some("proc"), flags, options)?)
}

fn place(file: &FileMessage, contents: &mut File) -> std::io::Result<()> {
    let path = Path::new(&file.path);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Error::other(format!("{} is not a path in a box", file.path)));
    }
    let path: PathBuf = Path::new(WORKING_FOLDER).join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mode = if file.executable { 0o755 } else { 0o644 };
    let mut made = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    // The kernel copies, so that no buffer of this process counts towards the box's memory.
    let copied = std::io::copy(&mut contents.take(file.size_bytes), &mut made)?;
    if copied == file.size_bytes { Ok(()) } else { Err(Error::other("a file is incomplete")) }
}

enum StartResult {
    Program(Pid),
    Failed(LaunchFailure),
}

fn start(task: &BoxTask<'_>) -> std::io::Result<StartResult> {
    let (problem, report_problem) = pipe2(OFlag::O_CLOEXEC)?;
    let Some(pid) = sys::fork()? else {
        let (executing, error) = match program::become_program(task) {
            LaunchFailure::Preparing(error) => (0_u8, error),
            LaunchFailure::Executing(error) => (1, error),
        };
        let number = error.raw_os_error().unwrap_or(libc::EIO);
        let mut bytes = vec![executing];
        bytes.extend(number.to_ne_bytes());
        // Fails only if the box is being killed.
        let _ = File::from(report_problem).write_all(&bytes);
        sys::exit(1)
    };
    drop(report_problem);
    let mut bytes = [0; 5];
    // The pipe is empty if the program runs.
    if File::from(problem).read_exact(&mut bytes).is_err() {
        return Ok(StartResult::Program(pid));
    }
    sys::wait(Some(pid))?;
    let [executing, number @ ..] = bytes;
    let error = Error::from_raw_os_error(i32::from_ne_bytes(number));
    let failure = if executing == 1 { LaunchFailure::Executing } else { LaunchFailure::Preparing };
    Ok(StartResult::Failed(failure(error)))
}

/// Waits for the program, kills the processes that it left, and opens the files to collect.
fn wait(task: &BoxTask<'_>, folder: &WorkingFolder, program: Pid) -> (InitReport, Vec<OwnedFd>) {
    let not_made = |problem: String| (InitReport::NotMade { problem }, Vec::new());
    // The pipes to a partner stay open until the program's end has been noted, so that the partner, which ends
    // because they close, ends later.
    let [stdin, stdout, _] = &task.standard;
    let to_partner = [stdin.as_raw_fd(), stdout.as_raw_fd()];
    keep_only([task.zygote, folder.0.as_raw_fd(), to_partner[0], to_partner[1]]);
    let status = loop {
        match sys::wait(None) {
            Ok(Some((pid, reaped))) if pid == program => break reaped.status,
            Ok(Some(_)) => {}
            Ok(None) => return not_made("the program was lost".into()),
            Err(error) => return not_made(error.to_string()),
        }
    };
    let ended_at = sys::now();
    for descriptor in to_partner {
        close(sys::close_between(descriptor, descriptor));
    }
    // Kills every process but this one; there may be none.
    let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
    while sys::wait(None).is_ok_and(|reaped| reaped.is_some()) {}
    match collect(folder, &task.job.collect) {
        Ok(files) => {
            (InitReport::Ended { status, init_cpu_us: sys::own_cpu_us(), ended_at }, files)
        }
        Err(error) => not_made(format!("a file to collect cannot be opened: {error}")),
    }
}

/// Closes all descriptors but these. Among the closed ones are ends of pipes, of this box and others, that
/// somebody waits to see closed.
fn keep_only(mut kept: [RawFd; 4]) {
    kept.sort_unstable();
    let mut next = 0;
    for descriptor in kept {
        if descriptor > next {
            close(sys::close_between(next, descriptor - 1));
        }
        next = descriptor + 1;
    }
    close(sys::close_from(next));
}

fn close(closed: std::io::Result<()>) {
    closed.expect("closing a range of descriptors takes nothing");
}

/// Opens the files to collect, in the order of `paths`. The null device, which is not a regular file, stands for a
/// file that does not exist.
fn collect(folder: &WorkingFolder, paths: &[String]) -> std::io::Result<Vec<OwnedFd>> {
    let opened = |path: &String| {
        let Ok(path) = CString::new(path.as_str()) else { return null() };
        match sys::open_beneath(folder.0.as_fd(), &path) {
            Err(error) if is_absent(&error) => null(),
            opened => opened,
        }
    };
    paths.iter().map(opened).collect()
}

fn null() -> std::io::Result<OwnedFd> {
    File::open("/dev/null").map(OwnedFd::from)
}

/// Whether there is no regular file of that path which may be read: what a program can cause. Any other error is the
/// machine's, such as a lack of descriptors.
fn is_absent(error: &Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::ENOENT
                | libc::ENOTDIR
                | libc::ELOOP
                | libc::EXDEV
                | libc::EACCES
                | libc::ENAMETOOLONG
                // A socket.
                | libc::ENXIO
        )
    )
}

#[cfg(test)]
mod tests {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    use super::*;

    #[test]
    fn a_program_of_the_machine_that_is_missing_is_not_the_candidates_fault() {
        let report = |path: Option<&str>, number| match not_executed(
            path,
            &Error::from_raw_os_error(number),
        ) {
            InitReport::NotExecuted { .. } => "its fault",
            InitReport::NoProgram { problem } => {
                assert!(problem.starts_with("/usr/bin/gcc: "), "{problem}");
                "none here"
            }
            _ => "ours",
        };
        let gcc = Some("/usr/bin/gcc");
        for number in [libc::ENOENT, libc::EACCES, libc::ENOTDIR, libc::EPERM, libc::ENOEXEC] {
            assert_eq!(report(gcc, number), "none here", "{number}");
            assert_eq!(report(None, number), "its fault", "{number}");
            assert_eq!(report(Some("/box/w/a.out"), number), "its fault", "{number}");
        }
        let its = Some("/box/w/a.out");
        for path in [gcc, None, its] {
            assert_eq!(report(path, libc::E2BIG), "its fault");
            assert_eq!(report(path, libc::EINVAL), "its fault");
            for number in [libc::ENOMEM, libc::EMFILE, libc::ENFILE, libc::EAGAIN] {
                assert_eq!(report(path, number), "ours", "{number}");
            }
        }
        // From an interpreter that is no program, and from one with a long name.
        for number in [libc::EIO, libc::ENAMETOOLONG] {
            assert_eq!(report(gcc, number), "ours", "{number}");
            assert_eq!(report(None, number), "its fault", "{number}");
            assert_eq!(report(its, number), "its fault", "{number}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_not_one_that_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("left"), "x").unwrap();
        let long = "x".repeat(300);
        let paths = ["left", "missing", "left/below", "../up", &long].map(str::to_owned);
        let folder = WorkingFolder(File::open(folder.path()).unwrap().into());
        let regular = |files: Vec<OwnedFd>| -> Vec<_> {
            files.iter().map(|file| sys::is_regular(file).unwrap()).collect()
        };
        let opened = regular(collect(&folder, &paths).unwrap());
        assert_eq!(opened, [true, false, false, false, false]);
        // In a child, so that no other test lacks descriptors.
        let Some(child) = sys::fork().unwrap() else {
            let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
            setrlimit(Resource::RLIMIT_NOFILE, 0, hard).unwrap();
            sys::exit(i32::from(collect(&folder, &paths).is_ok()))
        };
        let (_, reaped) = sys::wait(Some(child)).unwrap().unwrap();
        assert_eq!(reaped.status, 0, "the lack of descriptors is an error");
    }
}

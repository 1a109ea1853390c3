//! The first process of a box: builds its inside, starts the program, reaps everything, and tells
//! how the program ended. It counts to the box's limits and is out of the program's reach: it
//! cannot be signalled, looked into or traced from inside.

use std::ffi::{CString, NulError};
use std::fs::{self, File, OpenOptions};
use std::io::{Error, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use nix::fcntl::OFlag;
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, pipe2};

use crate::cgroup::Group;
use crate::job::WORKING_FOLDER;
use crate::limits::Limits;
use crate::message::{self, Last, OrderedFile, OrderedJob};
use crate::program::{self, Failure, Locks};
use crate::sys;

/// Files and folders in a box; what one costs the kernel counts to its memory.
const FILES_MAX: u32 = 16_384;

/// What an init is born with.
pub(crate) struct Birth<'a> {
    pub(crate) group: Option<&'a Group>,
    /// To the zygote: the job comes from there, and the [`Last`] goes there.
    pub(crate) zygote: OwnedFd,
    pub(crate) locks: &'a Locks,
}

/// What a program is to run, as it came from the zygote.
pub(crate) struct Task<'a> {
    pub(crate) job: OrderedJob,
    pub(crate) standard: [OwnedFd; 3],
    pub(crate) sealed: Option<OwnedFd>,
    pub(crate) locks: &'a Locks,
    /// No cgroup counts its processes together.
    pub(crate) alone: bool,
    files: OwnedFd,
    zygote: RawFd,
}

/// Where files are collected: the folder as it was before the program could put another in its place.
struct Folder(OwnedFd);

/// Lives the box's life and ends with it.
pub(crate) fn run(birth: Birth<'_>) -> ! {
    // A panic must not unwind into the copy of the zygote that this process is.
    let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| live(&birth)));
    sys::exit(if matches!(lived, Ok(Ok(()))) { 0 } else { 1 })
}

/// The first half is done before there is a job: it takes most of the time.
fn live(birth: &Birth<'_>) -> std::io::Result<()> {
    let made = make(birth);
    // A zygote that is gone has taken this process with it; one that wants no box ends it.
    let Some((job, descriptors)) = message::receive::<OrderedJob>(&birth.zygote)? else {
        return Ok(());
    };
    let (last, files) = match made.and_then(|()| Task::new(birth, job, descriptors)) {
        Ok(task) => {
            let ended = run_task(&task);
            // Its descriptors are closed.
            std::mem::forget(task);
            ended
        }
        Err(error) => (Last::NotMade { problem: error.to_string() }, Vec::new()),
    };
    let files: Vec<BorrowedFd<'_>> = files.iter().map(OwnedFd::as_fd).collect();
    message::send(&birth.zygote, &last, &files)
}

impl<'a> Task<'a> {
    fn new(birth: &Birth<'a>, job: OrderedJob, descriptors: Vec<OwnedFd>) -> std::io::Result<Self> {
        let mut descriptors = descriptors.into_iter();
        let mut next = || descriptors.next().ok_or_else(|| Error::other("a descriptor is missing"));
        let standard = [next()?, next()?, next()?];
        let files = next()?;
        let sealed = descriptors.next();
        let (locks, alone) = (birth.locks, birth.group.is_none());
        Ok(Self { job, standard, sealed, locks, alone, files, zygote: birth.zygote.as_raw_fd() })
    }
}

fn run_task(task: &Task<'_>) -> (Last, Vec<OwnedFd>) {
    let not_made = |error: Error| (Last::NotMade { problem: error.to_string() }, Vec::new());
    let folder = match fill(task) {
        Ok(folder) => folder,
        Err(error) => return not_made(error),
    };
    match start(task) {
        Ok(Started::Program(pid)) => wait(task, &folder, pid),
        Ok(Started::Failed(Failure::Executing(error))) if is_its_fault(&error) => {
            (Last::NotExecuted { problem: error.to_string() }, Vec::new())
        }
        Ok(Started::Failed(Failure::Executing(error) | Failure::Preparing(error))) | Err(error) => {
            not_made(error)
        }
    }
}

/// Not a lack of memory, descriptors or the like, which are the machine's.
fn is_its_fault(error: &Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::ENOEXEC
                | libc::EACCES
                | libc::EPERM
                | libc::ENOENT
                | libc::ENOTDIR
                | libc::ELOOP
                | libc::EINVAL
                | libc::E2BIG
                | libc::ELIBBAD
        )
    )
}

fn make(birth: &Birth<'_>) -> std::io::Result<()> {
    if let Some(group) = birth.group {
        group.join()?;
    }
    mount_proc()
}

fn fill(task: &Task<'_>) -> std::io::Result<Folder> {
    mount_box(&task.job.limits)?;
    for folder in [WORKING_FOLDER, "/box/tmp"] {
        fs::create_dir(folder)?;
    }
    let mut contents = File::from(task.files.try_clone()?);
    task.job.files.iter().try_for_each(|file| place(file, &mut contents))?;
    Ok(Folder(File::open(WORKING_FOLDER)?.into()))
}

fn mount_box(limits: &Limits) -> std::io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    let options = format!("size={},nr_inodes={FILES_MAX},mode=755", limits.disk_bytes);
    Ok(mount(Some("box"), "/box", Some("tmpfs"), flags, Some(options.as_str()))?)
}

/// Only the box's own processes, and of them only what is the program's.
fn mount_proc() -> std::io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let options = Some("subset=pid,hidepid=invisible");
    Ok(mount(Some("proc"), "/proc", Some("proc"), flags, options)?)
}

fn place(file: &OrderedFile, contents: &mut File) -> std::io::Result<()> {
    let path = Path::new(&file.path);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Error::other(format!("{} is no path in a box", file.path)));
    }
    let path: PathBuf = Path::new(WORKING_FOLDER).join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mode = if file.executable { 0o755 } else { 0o644 };
    let mut made = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    // The kernel copies: this process's memory counts to the box.
    let copied = std::io::copy(&mut contents.take(file.size_bytes), &mut made)?;
    if copied == file.size_bytes { Ok(()) } else { Err(Error::other("a file is cut off")) }
}

enum Started {
    Program(Pid),
    Failed(Failure),
}

fn start(task: &Task<'_>) -> std::io::Result<Started> {
    let (problem, tell_problem) = pipe2(OFlag::O_CLOEXEC)?;
    let Some(pid) = sys::fork()? else {
        let (executing, error) = match program::become_program(task) {
            Failure::Preparing(error) => (0_u8, error),
            Failure::Executing(error) => (1, error),
        };
        let number = error.raw_os_error().unwrap_or(libc::EIO);
        let mut told = vec![executing];
        told.extend(number.to_ne_bytes());
        // Nobody reads it only when the box is being ended.
        let _ = File::from(tell_problem).write_all(&told);
        sys::exit(1)
    };
    drop(tell_problem);
    let mut told = [0; 5];
    // Empty once the program runs.
    if File::from(problem).read_exact(&mut told).is_err() {
        return Ok(Started::Program(pid));
    }
    sys::wait(Some(pid))?;
    let [executing, number @ ..] = told;
    let error = Error::from_raw_os_error(i32::from_ne_bytes(number));
    let failure = if executing == 1 { Failure::Executing } else { Failure::Preparing };
    Ok(Started::Failed(failure(error)))
}

/// Waits for the program, ends what it left behind, and opens the files that were asked for.
fn wait(task: &Task<'_>, folder: &Folder, program: Pid) -> (Last, Vec<OwnedFd>) {
    let not_made = |problem: String| (Last::NotMade { problem }, Vec::new());
    // What leads to a partner stays open until the program's end has been noted: the partner cannot
    // notice it, and end, before that.
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
    // All but this process; there may be none.
    let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
    while sys::wait(None).is_ok_and(|reaped| reaped.is_some()) {}
    let last = Last::Ended { status, init_cpu_us: sys::own_cpu_us(), ended_at };
    (last, collect(folder, &task.job.collect))
}

/// Closes all but these: ends of pipes that others must see closed, of other boxes too.
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

/// In the order in which they were asked for.
fn collect(folder: &Folder, paths: &[String]) -> Vec<OwnedFd> {
    let null = || File::open("/dev/null").map(OwnedFd::from).ok();
    let mut files = Vec::new();
    for path in paths {
        let path: Result<CString, NulError> = CString::new(path.as_str());
        let opened = path.ok().and_then(|path| sys::open_beneath(folder.0.as_fd(), &path).ok());
        // What is not there is the null device, which is no regular file.
        let Some(file) = opened.or_else(null) else { break };
        files.push(file);
    }
    files
}

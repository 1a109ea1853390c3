//! System calls that no crate here wraps. All that is unsafe in this crate stands in this file.
#![expect(unsafe_code, reason = "system calls that no crate here wraps")]

use std::ffi::CStr;
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

use nix::libc::{self, c_int, c_long, c_uint};
use nix::unistd::Pid;

/// The constant of that name in [`libc`] is too narrow for it.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// The child that [`clone_box`] made, as its parent sees it.
pub(crate) struct Cloned {
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
}

fn check(result: c_long) -> Result<c_long> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// A child in new pid, mount and IPC namespaces, born in the cgroup if one is given. `None` in the
/// child.
///
/// The process must have one thread: the child goes on in a copy of it, as after `fork`.
pub(crate) fn clone_box(cgroup: Option<BorrowedFd<'_>>) -> Result<Option<Cloned>> {
    let mut pidfd: RawFd = -1;
    // SAFETY: all zeros is a valid value of this plain struct.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    let spaces = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
    args.flags = u64::from((spaces | libc::CLONE_PIDFD).cast_unsigned());
    args.pidfd = (&raw mut pidfd) as u64;
    args.exit_signal = u64::from(libc::SIGCHLD.cast_unsigned());
    if let Some(cgroup) = cgroup {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = u64::from(cgroup.as_raw_fd().cast_unsigned());
    }
    // SAFETY: without CLONE_VM the child has its own copy of the memory, and this process has one
    // thread, so that no lock is held in the copy; `args` and `pidfd` live through the call.
    let pid = check(unsafe {
        libc::syscall(libc::SYS_clone3, &raw mut args, std::mem::size_of::<libc::clone_args>())
    })?;
    if pid == 0 {
        return Ok(None);
    }
    // SAFETY: the kernel has just made this descriptor for us.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    let pid = Pid::from_raw(c_int::try_from(pid).expect("a process id fits"));
    Ok(Some(Cloned { pid, pidfd }))
}

/// A copy of this process; `None` in the child. The process must have one thread.
pub(crate) fn fork() -> Result<Option<Pid>> {
    // SAFETY: this process has one thread, so that the child may do whatever it could.
    match unsafe { nix::unistd::fork() }? {
        nix::unistd::ForkResult::Parent { child } => Ok(Some(child)),
        nix::unistd::ForkResult::Child => Ok(None),
    }
}

/// Ends this process at once, without unwinding or flushing.
pub(crate) fn exit(status: c_int) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(status) }
}

pub(crate) fn kill_by(pidfd: BorrowedFd<'_>) -> Result<()> {
    let none: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: plain numbers and a null pointer, which the call allows.
    check(unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), libc::SIGKILL, none, 0)
    })?;
    Ok(())
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: RawFd) -> Result<()> {
    close_range(first, RawFd::MAX, 0)
}

/// Closes a range of descriptors, both ends included.
pub(crate) fn close_between(first: RawFd, last: RawFd) -> Result<()> {
    close_range(first, last, 0)
}

/// Marks every descriptor from `first` on to be closed by `execve`.
pub(crate) fn close_on_exec_from(first: RawFd) -> Result<()> {
    close_range(first, RawFd::MAX, libc::CLOSE_RANGE_CLOEXEC)
}

fn close_range(first: RawFd, last: RawFd, flags: c_uint) -> Result<()> {
    // SAFETY: plain numbers. The owner of a descriptor that is closed here is gone or ends soon.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) })?;
    Ok(())
}

/// Takes over a descriptor that this process was started with.
pub(crate) fn inherited(fd: RawFd) -> Result<OwnedFd> {
    // SAFETY: a plain number; fails where there is no such descriptor.
    check(unsafe { libc::fcntl(fd, libc::F_GETFD) }.into())?;
    // SAFETY: it is open, and nothing else in this process owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// `mount_setattr`: what is mounted at a path, and below it, gets these attributes.
pub(crate) fn restrict_mount(path: &CStr, attributes: u64, recursive: bool) -> Result<()> {
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path and the struct live through the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attr,
            std::mem::size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(())
}

/// A kernel's `struct __user_cap_data_struct`, version 3, both halves.
#[repr(C)]
struct CapabilitySets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up every capability.
pub(crate) fn drop_capabilities() -> Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header: [u32; 2] = [VERSION_3, 0];
    let none = || CapabilitySets { effective: 0, permitted: 0, inheritable: 0 };
    let data = [none(), none()];
    // SAFETY: header and data have the layout that version 3 asks for.
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) })?;
    Ok(())
}

/// No program that is executed from here on has any capability, whatever its file says.
pub(crate) fn empty_capability_bounds() -> Result<()> {
    for capability in 0.. {
        // SAFETY: plain numbers.
        if unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) } < 0 {
            break;
        }
        // SAFETY: plain numbers.
        check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) }.into())?;
    }
    Ok(())
}

/// Opens a regular file below a folder; neither a link nor `..` on the way is followed.
pub(crate) fn open_beneath(folder: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd> {
    // SAFETY: all zeros is a valid value of this plain struct.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    how.flags = u64::from(flags.cast_unsigned());
    how.resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_XDEV;
    // SAFETY: path and struct live through the call.
    let fd = check(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            folder.as_raw_fd(),
            path.as_ptr(),
            &raw const how,
            std::mem::size_of::<libc::open_how>(),
        )
    })?;
    let fd = RawFd::try_from(fd).expect("a descriptor fits");
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The version of the kernel's Landlock interface; 0 without it.
pub(crate) fn landlock_version() -> u32 {
    const VERSION: c_uint = 1;
    let none: *const libc::c_void = std::ptr::null();
    // SAFETY: asking for the version takes a null pointer.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// Every signal does what it does by default, and none is blocked.
pub(crate) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: default dispositions are valid for every signal; those of which they cannot be
        // changed have them already.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: an empty set, filled by the call itself, and a null pointer for the old one.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// How a child ended: its wait status, and the CPU time in microseconds and the largest resident
/// set in bytes of it and of all that it waited for.
pub(crate) struct Reaped {
    pub(crate) status: c_int,
    pub(crate) cpu_us: u64,
    pub(crate) memory_peak_bytes: u64,
}

/// Waits for one child, or for any with `None`; `None` when there is no child left.
pub(crate) fn wait(child: Option<Pid>) -> Result<Option<(Pid, Reaped)>> {
    let mut status = 0;
    // SAFETY: all zeros is a valid value of this plain struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let wanted = child.map_or(-1, Pid::as_raw);
    loop {
        // SAFETY: both pointers live through the call.
        let pid = unsafe { libc::wait4(wanted, &raw mut status, libc::__WALL, &raw mut usage) };
        if pid > 0 {
            let micros = |time: libc::timeval| {
                u64::try_from(time.tv_sec * 1_000_000 + time.tv_usec).unwrap_or(0)
            };
            let reaped = Reaped {
                status,
                cpu_us: micros(usage.ru_utime) + micros(usage.ru_stime),
                memory_peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) << 10,
            };
            return Ok(Some((Pid::from_raw(pid), reaped)));
        }
        match Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
            error if error.raw_os_error() == Some(libc::EINTR) => {}
            error => return Err(error),
        }
    }
}

/// The machine's monotonic clock: the same in all processes, unlike an `Instant` it can be sent.
pub(crate) fn now() -> Duration {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    now.map_or(Duration::ZERO, Duration::from)
}

/// CPU time of this process without its children.
pub(crate) fn own_cpu_us() -> u64 {
    use nix::sys::time::TimeValLike as _;
    nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).map_or(0, |usage| {
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        u64::try_from(micros).unwrap_or(0)
    })
}

/// Installs a filter of system calls for this thread and its later children, or as the flags of `seccomp` have it.
pub(crate) fn filter_calls(program: &[libc::sock_filter], flags: libc::c_ulong) -> Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(Error::other)?,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: the kernel reads the program, which lives through the call.
    let thread = check(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    })?;
    match thread {
        0 => Ok(()),
        thread => Err(Error::other(format!("thread {thread} has a filter of its own"))),
    }
}

/// A file in memory that grows as it is written, until it is sealed.
pub(crate) fn memory_file(name: &CStr) -> Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name lives through the call.
    let fd = check(unsafe { libc::memfd_create(name.as_ptr(), flags) }.into())?;
    let fd = RawFd::try_from(fd).expect("a descriptor fits");
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whether a descriptor is a regular file.
pub(crate) fn is_regular(fd: impl AsFd) -> Result<bool> {
    let stat = nix::sys::stat::fstat(fd)?;
    Ok(stat.st_mode & libc::S_IFMT == libc::S_IFREG)
}

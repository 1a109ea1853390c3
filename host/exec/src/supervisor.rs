//! The supervisor is the helper's outer process. It makes the boxes' cgroups, starts the zygote without
//! any rights, waits for its end, and removes what is left. It reads nothing that a program wrote.
//!
//! ```text
//!   supervisor ── fork ── builder: mounts the files of the boxes, changes user, enters namespaces
//!                           └── fork ── zygote, pid 1 of its namespace (the builder ends)
//! ```

use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::stat::Mode;
use nix::unistd::{
    Gid, Uid, dup2_stdin, geteuid, setgroups, sethostname, setresgid, setresuid, setsid,
};

use crate::cgroup::{self, CgroupFactory, HelperCgroups};
use crate::helper::HelperOptions;
use crate::message::{self, Hello};
use crate::support::{BoxSupport, Cgroups, Refusal, SandboxPart};
use crate::{sys, user, world, zygote};

/// The user id and group id that programs see.
const USER_IN_BOX: u32 = 1_000;
/// The first kernel version with every interface that this crate needs.
const KERNEL_MIN: (u32, u32) = (5, 14);

/// Serves the worker at the other end of standard input until it closes the socket.
///
/// `options` is JSON. This must be the first call in `main`, while there is one thread.
pub fn serve(options: &str) -> anyhow::Result<()> {
    sys::close_from(3)?;
    let socket = take_stdin()?;
    let options: HelperOptions = serde_json::from_str(options)?;
    let user = user::of_boxes();
    let groups = cgroup::prepare(user);
    let started = support(&options, &groups).and_then(|support| {
        let groups = groups.as_ref().ok();
        start(&socket, &options, support, groups, user)
    });
    let told = started.or_else(|refusal| message::send(&socket, &Hello::Err(refusal), &[]));
    drop(socket);
    // The zygote is a grandchild; this process adopted it.
    while sys::wait(None)?.is_some() {}
    if let Ok(groups) = groups {
        groups.remove();
    }
    Ok(told?)
}

/// Moves the socket away from descriptor 0, which becomes the null device.
fn take_stdin() -> anyhow::Result<OwnedFd> {
    let stdin = sys::inherited(0)?;
    let moved = fcntl(&stdin, FcntlArg::F_DUPFD_CLOEXEC(3))?;
    let null = nix::fcntl::open("/dev/null", OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    // Descriptor 0 stays open, as the null device.
    std::mem::forget(stdin);
    Ok(sys::inherited(moved)?)
}

/// Finds out what boxes on this machine have. Fails if a part is missing that the operator did not allow
/// to be missing.
fn support(
    options: &HelperOptions,
    groups: &Result<HelperCgroups, String>,
) -> Result<BoxSupport, Refusal> {
    check_kernel()?;
    let landlock = sys::landlock_version();
    let mut missing = Vec::new();
    let cgroups = match groups {
        Ok(groups) => groups.kind,
        Err(reason) => {
            missing.push((SandboxPart::Cgroups, reason.clone()));
            Cgroups::None
        }
    };
    if landlock == 0 {
        missing
            .push((SandboxPart::Landlock, "the kernel has no Landlock, or it is disabled".into()));
    }
    let refused: Vec<String> = missing
        .iter()
        .filter(|(part, _)| !options.weaker.contains(part))
        .map(|(part, reason)| format!("no {part}: {reason}"))
        .collect();
    if refused.is_empty() {
        return Ok(BoxSupport { cgroups, landlock, missing });
    }
    Err(Refusal::Lacking(format!(
        "this machine lacks parts of the sandbox for programs: {} (--weaker-sandbox allows a sandbox \
         without them)",
        refused.join("; ")
    )))
}

fn check_kernel() -> Result<(), Refusal> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_err(|error| format!("the version of the kernel cannot be read: {error}"))?;
    let mut numbers = release.split('.').map(|part| part.trim().parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= KERNEL_MIN {
        return Ok(());
    }
    let (major, minor) = KERNEL_MIN;
    let release = release.trim();
    let problem = format!("Linux {major}.{minor} or newer is needed; this is Linux {release}");
    Err(Refusal::Lacking(problem))
}

fn start(
    socket: &OwnedFd,
    options: &HelperOptions,
    support: BoxSupport,
    groups: Option<&HelperCgroups>,
    user: u32,
) -> Result<(), Refusal> {
    let failed = |error: std::io::Error| format!("the helper cannot be started: {error}");
    prctl::set_child_subreaper(true).map_err(|error| failed(error.into()))?;
    if sys::fork().map_err(failed)?.is_some() {
        return Ok(());
    }
    let started = std::panic::catch_unwind(|| -> Result<(), Refusal> {
        let groups = prepare_zygote(options, groups, user)?;
        if sys::fork().map_err(failed)?.is_some() {
            return Ok(());
        }
        world::enter()?;
        sys::empty_capability_bounds().map_err(failed)?;
        // The boxes inherit this flag: a program cannot read the memory of its box's init or trace it.
        prctl::set_dumpable(false).map_err(|error| failed(error.into()))?;
        Ok(zygote::run(socket.as_fd(), support, groups)?)
    });
    let status = match started {
        Ok(Ok(())) => 0,
        Ok(Err(refusal)) => {
            // Fails only if the worker is gone.
            let _ = message::send(socket, &Hello::Err(refusal), &[]);
            1
        }
        Err(_) => 2,
    };
    sys::exit(status)
}

/// Gives up every right, and enters the namespaces that all boxes share.
fn prepare_zygote(
    options: &HelperOptions,
    groups: Option<&HelperCgroups>,
    user: u32,
) -> Result<Option<CgroupFactory>, Refusal> {
    setsid().map_err(|error| format!("a session for the helper cannot be made: {error}"))?;
    let groups = groups.map(|groups| groups.enter().and_then(|()| groups.open())).transpose()?;
    let root = geteuid().is_root();
    if root {
        // Mount before the user changes: some paths can be read by root alone.
        unshare_namespaces(CloneFlags::CLONE_NEWNS)?;
        world::hide_mounts()?;
        world::build(options)?;
        become_user(user)
            .map_err(|error| format!("the helper cannot become user {user}: {error}"))?;
    }
    unshare_namespaces(
        CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWNET
            | CloneFlags::CLONE_NEWIPC
            | CloneFlags::CLONE_NEWUTS
            | CloneFlags::CLONE_NEWPID,
    )?;
    map_user(user).map_err(|error| format!("the user of the boxes cannot be mapped: {error}"))?;
    if !root {
        world::hide_mounts()?;
        world::build(options)?;
    }
    sethostname("box")
        .map_err(|error| format!("the host name of the boxes cannot be set: {error}"))?;
    Ok(groups)
}

fn unshare_namespaces(spaces: CloneFlags) -> Result<(), Refusal> {
    unshare(spaces).map_err(|error| {
        let problem = format!(
            "the kernel refuses new namespaces: {error} (see the settings \
             user.max_user_namespaces, kernel.unprivileged_userns_clone and \
             kernel.apparmor_restrict_unprivileged_userns)"
        );
        match error {
            // The other errors say that there are too many namespaces or too little memory now.
            Errno::EPERM | Errno::EINVAL | Errno::ENOSYS => Refusal::Lacking(problem),
            _ => Refusal::Failed(problem),
        }
    })
}

fn become_user(user: u32) -> nix::Result<()> {
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    setgroups(&[])?;
    setresgid(gid, gid, gid)?;
    setresuid(uid, uid, uid)?;
    // The change of user clears this flag; without it the process cannot write its own user map.
    prctl::set_dumpable(true)
}

fn map_user(user: u32) -> std::io::Result<()> {
    // The kernel allows an unprivileged process to map its group only after it gave up `setgroups`.
    fs::write("/proc/self/setgroups", "deny")?;
    let map = format!("{USER_IN_BOX} {user} 1");
    fs::write("/proc/self/uid_map", &map)?;
    fs::write("/proc/self/gid_map", map)
}

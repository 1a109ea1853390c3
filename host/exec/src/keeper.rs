//! The helper's outer process: makes the boxes' cgroups, starts the zygote in a world without
//! rights, waits until it is gone, and removes what is left. It hears nothing of the programs.
//!
//! ```text
//!   keeper ── fork ── builder: mounts the world, gives up its user, enters namespaces
//!                       └── fork ── zygote, pid 1 of its namespace (the builder ends)
//! ```

use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::stat::Mode;
use nix::unistd::{
    Gid, Uid, dup2_stdin, geteuid, setgroups, sethostname, setresgid, setresuid, setsid,
};

use crate::cgroup::{self, Groups, Prepared};
use crate::helper::Options;
use crate::message::{self, Hello};
use crate::support::{Cgroups, Part, Support};
use crate::{sys, world, zygote};

/// As root every helper takes a user of its own, which owns nothing on the machine: this number
/// plus its process id.
const USER_BASE: u32 = 1_900_000_000;
/// What programs see as their user and group.
const USER_IN_BOX: u32 = 1_000;
/// Interfaces that this crate needs, and since when they are there.
const KERNEL_MIN: (u32, u32) = (5, 14);

/// Serves the worker at the other end of standard input until it closes the socket. Must be called
/// first in `main`, with one thread.
pub fn serve(options: &str) -> anyhow::Result<()> {
    sys::close_from(3)?;
    let socket = take_stdin()?;
    let options: Options = serde_json::from_str(options)?;
    let user =
        if geteuid().is_root() { USER_BASE + std::process::id() } else { geteuid().as_raw() };
    let groups = cgroup::prepare(user);
    let started = support(&options, &groups).and_then(|support| {
        let groups = groups.as_ref().ok();
        start(&socket, &options, support, groups, user)
    });
    if let Err(refusal) = started {
        message::send(&socket, &Hello::Err(refusal), &[])?;
    }
    drop(socket);
    // The zygote is a grandchild that became ours.
    while sys::wait(None)?.is_some() {}
    if let Ok(groups) = groups {
        groups.remove();
    }
    Ok(())
}

/// The socket, moved away from where programs have their standard input.
fn take_stdin() -> anyhow::Result<OwnedFd> {
    let stdin = sys::inherited(0)?;
    let moved = fcntl(&stdin, FcntlArg::F_DUPFD_CLOEXEC(3))?;
    let null = nix::fcntl::open("/dev/null", OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    // Still open, as the null device, until the process ends.
    std::mem::forget(stdin);
    Ok(sys::inherited(moved)?)
}

/// What boxes here have; refused where something is missing that the operator has not allowed to be.
fn support(options: &Options, groups: &Result<Prepared, String>) -> Result<Support, String> {
    check_kernel()?;
    let landlock = sys::landlock_version();
    let mut missing = Vec::new();
    let cgroups = match groups {
        Ok(groups) => groups.kind,
        Err(reason) => {
            missing.push((Part::Cgroups, reason.clone()));
            Cgroups::None
        }
    };
    if landlock == 0 {
        missing.push((Part::Landlock, "the kernel has no Landlock, or it is disabled".into()));
    }
    let refused: Vec<String> = missing
        .iter()
        .filter(|(part, _)| !options.weaker.contains(part))
        .map(|(part, reason)| format!("no {part}: {reason}"))
        .collect();
    if refused.is_empty() {
        return Ok(Support { cgroups, landlock, missing });
    }
    Err(format!(
        "this machine cannot box programs as it should: {} (allow a weaker box with \
         --weaker-sandbox)",
        refused.join("; ")
    ))
}

fn check_kernel() -> Result<(), String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_err(|error| format!("the kernel's version cannot be read: {error}"))?;
    let mut numbers = release.split('.').map(|part| part.trim().parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= KERNEL_MIN {
        return Ok(());
    }
    let (major, minor) = KERNEL_MIN;
    Err(format!("Linux {major}.{minor} or newer is needed, this is {}", release.trim()))
}

fn start(
    socket: &OwnedFd,
    options: &Options,
    support: Support,
    groups: Option<&Prepared>,
    user: u32,
) -> Result<(), String> {
    let system = |error: std::io::Error| format!("the helper cannot be started: {error}");
    prctl::set_child_subreaper(true).map_err(|error| system(error.into()))?;
    if sys::fork().map_err(system)?.is_some() {
        return Ok(());
    }
    let became = std::panic::catch_unwind(|| {
        let groups = prepare_zygote(options, groups, user)?;
        if sys::fork().map_err(system)?.is_some() {
            return Ok(());
        }
        world::enter()?;
        sys::empty_capability_bounds().map_err(system)?;
        // Its children start as it is: not to be looked into by what they box.
        prctl::set_dumpable(false).map_err(|error| system(error.into()))?;
        zygote::run(socket.as_fd(), support, groups)
    });
    let status = match became {
        Ok(Ok(())) => 0,
        Ok(Err(refusal)) => {
            // A worker that is gone needs no reason.
            let _ = message::send(socket, &Hello::Err(refusal), &[]);
            1
        }
        Err(_) => 2,
    };
    sys::exit(status)
}

/// Gives up every right and enters the namespaces that all boxes share.
fn prepare_zygote(
    options: &Options,
    groups: Option<&Prepared>,
    user: u32,
) -> Result<Option<Groups>, String> {
    setsid().map_err(|error| format!("a session of its own: {error}"))?;
    let groups = groups.map(|groups| groups.enter().and_then(|()| groups.open())).transpose()?;
    let root = geteuid().is_root();
    if root {
        // What only root may read is mounted as root.
        leave(CloneFlags::CLONE_NEWNS)?;
        world::hide_mounts()?;
        world::build(options)?;
        become_user(user).map_err(|error| format!("becoming user {user}: {error}"))?;
    }
    leave(
        CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWNET
            | CloneFlags::CLONE_NEWIPC
            | CloneFlags::CLONE_NEWUTS
            | CloneFlags::CLONE_NEWCGROUP
            | CloneFlags::CLONE_NEWPID,
    )?;
    map_user(user).map_err(|error| format!("mapping the user of the boxes: {error}"))?;
    if !root {
        world::hide_mounts()?;
        world::build(options)?;
    }
    sethostname("box").map_err(|error| format!("the boxes' host name: {error}"))?;
    Ok(groups)
}

fn leave(spaces: CloneFlags) -> Result<(), String> {
    unshare(spaces).map_err(|error| {
        format!(
            "the kernel does not give new namespaces: {error} (see the settings \
             user.max_user_namespaces, kernel.unprivileged_userns_clone and \
             kernel.apparmor_restrict_unprivileged_userns)"
        )
    })
}

fn become_user(user: u32) -> nix::Result<()> {
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    setgroups(&[])?;
    setresgid(gid, gid, gid)?;
    setresuid(uid, uid, uid)?;
    // Lost with the user; without it the process may not write its own maps.
    prctl::set_dumpable(true)
}

fn map_user(user: u32) -> std::io::Result<()> {
    // A process without rights may map its group only once it has given up this call.
    fs::write("/proc/self/setgroups", "deny")?;
    let map = format!("{USER_IN_BOX} {user} 1");
    fs::write("/proc/self/uid_map", &map)?;
    fs::write("/proc/self/gid_map", map)
}

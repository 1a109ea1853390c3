//! The file tree that every box sees: the machine's programs and libraries, read-only, and none of its data.
//! The supervisor's child builds it once; each box adds a folder in memory at `/box`.

use std::ffi::CString;
use std::fs::{self, DirBuilder, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use nix::libc::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, pivot_root};

use crate::helper::{HelperOptions, Shown};
use crate::sys;

/// Folders of programs and libraries. Where one is a link on this machine, it is one in the box.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];
/// The settings of the machine that programs need: the list of libraries, and the links of Debian's alternatives.
const SETTINGS: [&str; 2] = ["/etc/ld.so.cache", "/etc/alternatives"];
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
const LINKS: [(&str, &str); 8] = [
    ("/box/w", "w"),
    ("/box/tmp", "tmp"),
    ("/box/tmp", "dev/shm"),
    ("/proc/self/fd", "dev/fd"),
    ("/proc/self/fd/0", "dev/stdin"),
    ("/proc/self/fd/1", "dev/stdout"),
    ("/proc/self/fd/2", "dev/stderr"),
    ("/proc/self/mounts", "etc/mtab"),
];
const USERS: &str = "box:x:1000:1000::/box/w:/usr/sbin/nologin\n";
const USER_GROUPS: &str = "box:x:1000:\n";

/// The message for an operator about a step that failed.
fn failed(what: &str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("the file tree of the boxes cannot be built: {what}: {error}")
}

fn failed_call(what: &str) -> impl Fn(nix::Error) -> String {
    move |error| failed(what)(error.into())
}

/// Hides later mounts of this process and its children from the rest of the machine.
pub(crate) fn hide_mounts() -> Result<(), String> {
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).map_err(failed_call("/"))
}

/// Builds the file tree in the scratch folder and makes it this process's working folder.
pub(crate) fn build(options: &HelperOptions) -> Result<(), String> {
    let root = &options.scratch;
    let none: Option<&str> = None;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("box"), root, Some("tmpfs"), flags, Some("size=1m,nr_inodes=256,mode=755"))
        .map_err(failed_call("a folder in memory"))?;
    chdir(root).map_err(failed_call("a folder in memory"))?;
    for folder in ["etc", "dev", "proc", "box", "toolchains"] {
        make_folder(Path::new(folder))?;
    }
    for path in SYSTEM.iter().chain(&SETTINGS) {
        show(Path::new(path))?;
    }
    for path in &options.paths {
        show(path)?;
    }
    for Shown { path, at } in options.shown.iter().filter(|shown| shown.path.is_dir()) {
        let target: PathBuf = at.components().skip(1).collect();
        make_folder(&target)?;
        bind(path, &target)?;
    }
    bind(&options.toolchains, Path::new("toolchains"))?;
    for device in DEVICES {
        let target = Path::new("dev").join(device);
        File::create(&target).map_err(failed(device))?;
        // Device files work here; everywhere else in the tree they are disabled.
        let source = Path::new("/dev").join(device);
        mount(Some(&source), &target, none, MsFlags::MS_BIND, none).map_err(failed_call(device))?;
        // Read-only for the times, mode and owner of the machine's own file; what is written goes to the device.
        restrict(&target, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID)?;
    }
    for (target, link) in LINKS {
        symlink(target, link).map_err(failed(link))?;
    }
    fs::write("etc/passwd", USERS).map_err(failed("users"))?;
    fs::write("etc/group", USER_GROUPS).map_err(failed("groups"))
}

/// Makes the file tree the root, with a `/proc` of its own; the machine's files cannot be reached after that.
/// The caller must be the first process of a pid namespace, with the tree as its working folder.
pub(crate) fn enter() -> Result<(), String> {
    // A mount from a namespace with more rights cannot become the root, but a bind mount of it can. It is mounted
    // over a folder that every machine has.
    let (none, flags): (Option<&str>, _) = (None, MsFlags::MS_BIND | MsFlags::MS_REC);
    mount(Some("."), "/usr", none, flags, none).map_err(failed_call("the new root"))?;
    chdir("/usr").map_err(failed_call("the new root"))?;
    mount_proc(Path::new("proc"))?;
    pivot_root(".", ".").map_err(failed_call("changing the root"))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(failed_call("leaving the old root"))?;
    chdir("/").map_err(failed_call("/"))?;
    // Restricts the tree's own files; the mounts below were restricted when they were made.
    let attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    sys::restrict_mount(c"/", attributes, false).map_err(failed("/"))
}

fn mount_proc(target: &Path) -> Result<(), String> {
    let none: Option<&str> = None;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), target, Some("proc"), flags, none).map_err(failed_call(
        "/proc (in a container the runtime must not mask it: an unmasked /proc is needed)",
    ))
}

/// Shows a path of the machine under the same name, read-only; does nothing if it does not exist.
fn show(path: &Path) -> Result<(), String> {
    let Ok(kind) = fs::symlink_metadata(path) else { return Ok(()) };
    let target: PathBuf = path.components().skip(1).collect();
    if let Some(parent) = target.parent() {
        make_folder(parent)?;
    }
    if kind.is_symlink() {
        let leads = fs::read_link(path).map_err(failed("a link"))?;
        return symlink(leads, &target).map_err(failed("a link"));
    }
    if kind.is_dir() {
        make_folder(&target)?;
    } else {
        File::create(&target).map_err(failed("a file"))?;
    }
    bind(path, &target)
}

fn bind(source: &Path, target: &Path) -> Result<(), String> {
    let none: Option<&str> = None;
    let shown = source.display().to_string();
    mount(Some(source), target, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)
        .map_err(failed_call(&shown))?;
    restrict(target, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
}

fn restrict(target: &Path, attributes: u64) -> Result<(), String> {
    let path = CString::new(target.as_os_str().as_bytes()).expect("a path that was mounted");
    sys::restrict_mount(&path, attributes, true).map_err(failed("restricting a mount"))
}

fn make_folder(path: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o755).create(path);
    made.map_err(failed("a folder"))
}

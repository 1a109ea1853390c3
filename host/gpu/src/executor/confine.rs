//! The files that an executor may open. Its kernels reach no memory of the process where the GPU has none of the host's
//! (`Properties::reaches_host_memory`), but a driver has errors, and the process runs as its worker does.

use std::io::Result;
use std::path::PathBuf;

use nix::sys::prctl;

use super::DeviceChoice;
use crate::cuda;

/// Where a driver has its libraries and settings, and what it asks about the machine.
const READ: [&str; 9] = [
    "/usr",
    "/lib",
    "/lib64",
    "/opt",
    "/nix/store",
    "/run/opengl-driver",
    "/etc/ld.so.cache",
    "/proc",
    "/sys",
];

/// A driver names its threads in `/proc/self`, and does not start where it cannot.
const WRITE: [&str; 4] = ["/proc/self", "/dev/null", "/dev/zero", "/dev/urandom"];

/// The beginnings of the names of a driver's devices in `/dev`: on Linux, and on Linux inside Windows.
const DEVICES: [&str; 2] = ["nvidia", "dxg"];

/// To be called before there are other threads.
pub(super) fn restrict_files(choice: DeviceChoice) -> Result<()> {
    prctl::set_no_new_privs()?;
    let (mut read, mut write) = (Vec::new(), Vec::new());
    if let DeviceChoice::Cuda(_) = choice {
        read = READ.map(PathBuf::from).into();
        read.extend(cuda::library_folders());
        write = WRITE.map(PathBuf::from).into();
        for entry in std::fs::read_dir("/dev")?.filter_map(std::result::Result::ok) {
            let name = entry.file_name();
            if DEVICES.iter().any(|device| name.to_string_lossy().starts_with(device)) {
                write.push(entry.path());
            }
        }
    }
    assay_exec::confine::restrict_files(&read, &write)
}

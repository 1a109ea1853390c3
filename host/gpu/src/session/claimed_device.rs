//! The device of this worker: a simulated one, or the first GPU of the machine that no other worker holds. A worker
//! holds a GPU by locking its file; the kernel releases the lock with the process.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::memfd::{MFdFlags, memfd_create};

use super::types::SessionError;
use super::{DeviceKind, GpuSettings};
use crate::device::Properties;
use crate::executor::DeviceChoice;

/// The most bytes of a list of the machine's GPUs.
const DEVICES_BYTES_MAX: u64 = 1 << 20;

pub(crate) struct ClaimedDevice {
    pub(crate) choice: DeviceChoice,
    /// The file in memory through which buffers go from one executor to the other.
    pub(crate) exchange: File,
    /// The lock on the GPU's file; held until the value is dropped.
    _lock: Option<Flock<File>>,
}

impl ClaimedDevice {
    pub(crate) fn find(options: &GpuSettings, deadline: Instant) -> Result<Self, SessionError> {
        let (choice, lock) = match options.kind {
            DeviceKind::Simulated => (DeviceChoice::Simulated, None),
            DeviceKind::Cuda => {
                let (ordinal, lock) = free_gpu(options, deadline)?;
                (DeviceChoice::Cuda(ordinal), Some(lock))
            }
        };
        let exchange = memfd_create(c"assay-gpu", MFdFlags::MFD_CLOEXEC)
            .map_err(|error| SessionError::Unavailable(format!("a file in memory: {error}")))?;
        Ok(Self { choice, exchange: File::from(exchange), _lock: lock })
    }
}

fn free_gpu(options: &GpuSettings, deadline: Instant) -> Result<(u32, Flock<File>), SessionError> {
    let gpus = devices(options, deadline)?.len();
    let unavailable = |error: &dyn std::fmt::Display| {
        SessionError::Unavailable(format!("the locks in {}: {error}", options.locks.display()))
    };
    std::fs::create_dir_all(&options.locks).map_err(|error| unavailable(&error))?;
    let visible = std::env::var("CUDA_VISIBLE_DEVICES").unwrap_or_default();
    for ordinal in 0..gpus {
        let path = options.locks.join(lock_name(&visible, ordinal));
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| unavailable(&error))?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok((ordinal as u32, lock)),
            Err((_, Errno::EWOULDBLOCK)) => {}
            Err((_, error)) => return Err(unavailable(&error)),
        }
    }
    Err(SessionError::Unavailable(match gpus {
        0 => "this machine has no GPU that its driver shows".into(),
        _ => format!("other workers have all of this machine's GPUs ({gpus})"),
    }))
}

/// The file name of a GPU's lock. Workers that share the folder may be shown different GPUs, by `CUDA_VISIBLE_DEVICES`:
/// the file has the GPU's name there, as its number is each worker's own.
fn lock_name(visible: &str, ordinal: usize) -> String {
    let listed = visible.split(',').nth(ordinal).unwrap_or_default();
    let listed: String =
        listed.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
    if listed.is_empty() { format!("gpu-{ordinal}.lock") } else { format!("gpu-{listed}.lock") }
}

/// The GPUs of this machine, as `assay-gpu devices` prints them.
fn devices(options: &GpuSettings, deadline: Instant) -> Result<Vec<Properties>, SessionError> {
    let program = options.program.display();
    let unavailable = |error: &dyn std::fmt::Display| {
        SessionError::Unavailable(format!("{program} devices: {error}"))
    };
    let (mut ours, theirs) = UnixStream::pair().map_err(|error| unavailable(&error))?;
    let mut child = Command::new(&options.program)
        .arg("devices")
        .env_clear()
        .envs(crate::cuda::environment())
        .stdin(Stdio::null())
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| unavailable(&error))?;
    let mut printed = Vec::new();
    let read = read_until(&mut ours, &mut printed, deadline);
    let _ = child.kill();
    let _ = child.wait();
    match read {
        Ok(()) => serde_json::from_slice(&printed).map_err(|error| unavailable(&error)),
        Err(_) if Instant::now() >= deadline => Err(SessionError::Cancelled),
        Err(error) => Err(unavailable(&error)),
    }
}

fn read_until(
    from: &mut UnixStream,
    bytes: &mut Vec<u8>,
    deadline: Instant,
) -> std::io::Result<()> {
    let mut part = [0; 4096];
    while (bytes.len() as u64) < DEVICES_BYTES_MAX {
        let left = deadline.saturating_duration_since(Instant::now());
        from.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match from.read(&mut part)? {
            0 => return Ok(()),
            count => bytes.extend(&part[..count]),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_of_one_gpu_whoever_is_shown_it() {
        assert_eq!([0, 1].map(|ordinal| lock_name("", ordinal)), ["gpu-0.lock", "gpu-1.lock"]);
        assert_eq!(lock_name("1", 0), lock_name("", 1));
        assert_eq!(lock_name("3, 2", 1), "gpu-2.lock");
        assert_eq!(lock_name("GPU-8f/../1", 0), "gpu-GPU-8f1.lock");
    }
}

//! The device of this worker: a simulated one, or the first GPU of the machine that no other worker holds. A worker
//! holds a GPU by a socket of its name, of which a machine has one (a network namespace of it, as containers have their own),
//! whoever the workers run as. The kernel removes it with the process.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    /// The socket that holds the GPU until the value is dropped.
    _hold: Option<UnixDatagram>,
}

impl ClaimedDevice {
    pub(crate) fn find(options: &GpuSettings, deadline: Instant) -> Result<Self, SessionError> {
        let (choice, hold) = match options.kind {
            DeviceKind::Simulated => (DeviceChoice::Simulated, None),
            DeviceKind::Cuda => {
                let (ordinal, hold) = free_gpu(options, deadline)?;
                (DeviceChoice::Cuda(ordinal), Some(hold))
            }
        };
        let exchange = memfd_create(c"assay-gpu", MFdFlags::MFD_CLOEXEC)
            .map_err(|error| SessionError::Unavailable(format!("a file in memory: {error}")))?;
        Ok(Self { choice, exchange: File::from(exchange), _hold: hold })
    }
}

fn free_gpu(options: &GpuSettings, deadline: Instant) -> Result<(u32, UnixDatagram), SessionError> {
    let gpus = devices(options, deadline)?;
    for (ordinal, gpu) in (0..).zip(&gpus) {
        let name = format!("assay-gpu-{}", gpu.uuid);
        let held = SocketAddr::from_abstract_name(&name)
            .and_then(|address| UnixDatagram::bind_addr(&address));
        match held {
            Ok(hold) => return Ok((ordinal, hold)),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => {
                return Err(SessionError::Unavailable(format!("the socket @{name}: {error}")));
            }
        }
    }
    Err(SessionError::Unavailable(match gpus.len() {
        0 => "this machine has no GPU that its driver shows".into(),
        count => format!("other workers have all of this machine's GPUs ({count})"),
    }))
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

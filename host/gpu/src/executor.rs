//! The process in which kernels run: `assay-gpu serve --device simulated`, or `cuda:0`. It drives one
//! device and does what its worker tells it, one order after the other.
//!
//! It is given two descriptors: standard input is the socket to its worker, standard output the file
//! through which buffers are exchanged. All its state is one session's; it knows nothing of plugins,
//! tenants, references or verdicts. It never decides what a failure means: it reports it, and what it
//! cannot come back from ends with its death, which is its worker's to order.
//!
//! It ends when its worker does: a thread waits for the socket's other end to close. A signal on the
//! parent's death would follow the thread that started this process instead, which may end long before.

use std::any::Any;
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, raise};

use crate::device::{Device, DeviceProblem};
use crate::simulated::SimulatedDevice;

pub(crate) mod buffer;
mod confine;
mod exchange;
pub(crate) mod message;
mod plan;
mod printed;
mod work;

use exchange::Exchange;
use message::{ExecutorRequest, Hello, Reply};
use printed::Printed;
use work::ExecutorState;

/// The limit on open files; a driver opens some dozens.
const FILES_MAX: u64 = 512;

/// The device that an executor drives, as on its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The interpreter of PTX.
    Simulated,
    /// The GPU of this number.
    Cuda(u32),
}

impl std::fmt::Display for DeviceChoice {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Simulated => to.write_str("simulated"),
            Self::Cuda(ordinal) => write!(to, "cuda:{ordinal}"),
        }
    }
}

impl std::str::FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "simulated" {
            return Ok(Self::Simulated);
        }
        let ordinal = text.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok());
        ordinal.map(Self::Cuda).ok_or_else(|| format!("{text:?} is neither simulated nor cuda:N"))
    }
}

/// `assay-gpu serve`.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let choice = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--device", device] => device.parse(),
        _ => Err("usage: assay-gpu serve --device simulated|cuda:N; a worker starts it".into()),
    };
    match choice.map_err(Error::other).and_then(serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay-gpu: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(choice: DeviceChoice) -> Result<()> {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let exchange = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&nothing)?;
    let printed = Printed::capture()?;
    confine::restrict_files(choice)?;
    end_with(&socket)?;
    limit(choice)?;
    let device = match open(choice) {
        Ok(device) => {
            message::send(&mut socket, &Hello::Ok(device.properties().clone()))?;
            device
        }
        Err(problem) => return message::send(&mut socket, &Hello::Err(problem)),
    };
    assay_exec::confine::forbid_calls()?;
    // Problems up to here were reported. From here on hostile code runs, and its standard error is discarded.
    nix::unistd::dup2_stderr(&nothing)?;
    let mut work = ExecutorState::new(device, Exchange::new(exchange), printed);
    while let Some(order) = message::receive::<ExecutorRequest>(&mut socket)? {
        let carried_out = catch_unwind(AssertUnwindSafe(|| work.carry_out(order)));
        let reply: Reply =
            carried_out.unwrap_or_else(|panic| Err(DeviceProblem::Failed(words(&*panic))));
        message::send(&mut socket, &reply)?;
    }
    Ok(())
}

fn open(choice: DeviceChoice) -> std::result::Result<Box<dyn Device>, DeviceProblem> {
    match choice {
        DeviceChoice::Simulated => Ok(Box::new(SimulatedDevice::default())),
        DeviceChoice::Cuda(ordinal) => Ok(Box::new(crate::cuda::CudaDevice::open(ordinal)?)),
    }
}

/// From here on this process ends when the other end of its socket closes, whatever else it does then.
fn end_with(socket: &UnixStream) -> Result<()> {
    let socket = socket.try_clone()?;
    let wait = move || loop {
        // Without events of its own it waits for the end alone.
        let mut polled = [PollFd::new(socket.as_fd(), PollFlags::empty())];
        match poll(&mut polled, PollTimeout::NONE) {
            Ok(0) | Err(nix::Error::EINTR) => {}
            // At once: no handler of a driver in the midst of a kernel may hold it up.
            _ => drop(raise(Signal::SIGKILL)),
        }
    };
    std::thread::Builder::new().name("end".into()).spawn(wait)?;
    Ok(())
}

fn limit(choice: DeviceChoice) -> Result<()> {
    // The other executor may not look into this one's memory either.
    prctl::set_dumpable(false)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_NOFILE, FILES_MAX, FILES_MAX)?;
    if choice == DeviceChoice::Simulated {
        // A driver starts threads, which count.
        setrlimit(Resource::RLIMIT_NPROC, 0, 0)?;
    }
    Ok(())
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the executor panicked: {}", text.unwrap_or("without words"))
}

//! `assay gpu`, and the GPU options of other verbs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::{Format, print_json};
use assay_fleet::{Device, Gpu};

const PROGRAM: &str = "assay-gpu";
/// The default architecture of simulated devices.
const SIMULATED_ARCH: &str = "compute_90";
/// A driver may take seconds to wake a GPU up.
const DEVICES_TIMEOUT: Duration = Duration::from_secs(60);
/// A hostile kernel could then change what the process that launches it does.
const REACH: &str = "kernels reach the memory of the process that runs them (HMM): before you let others use it, switch \
                     that off with `options nvidia_uvm uvm_disable_hmm=1` in /etc/modprobe.d";
/// The folder of CUDA's own installer.
const SYSTEM_TOOLKIT: &str = "/usr/local/cuda";

#[derive(clap::Args)]
#[group(skip)]
pub(super) struct GpuOptions {
    /// Device that runs kernels: the GPUs of this machine if it has any (auto), its GPUs or an
    /// error (cuda), an interpreter, whose rewards are labelled (simulated), or no device (none)
    #[arg(long, env = "ASSAY_GPU", value_enum, default_value = "auto")]
    gpu: DeviceArgument,
    /// Architecture that CUDA sources are compiled for, such as sm_90 [default: that of this
    /// machine's GPUs]
    #[arg(long, value_name = "ARCH", value_parser = arch)]
    gpu_arch: Option<String>,
    /// Folder of the CUDA toolkit [default: $CUDA_HOME, else what `assay gpu install-toolchain`
    /// installed, else /usr/local/cuda]
    #[arg(long, env = "ASSAY_CUDA", value_name = "DIR")]
    cuda: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DeviceArgument {
    Auto,
    /// Like `auto`, but with an interpreter if there is no GPU.
    #[value(skip)]
    AutoOrSimulated,
    Cuda,
    Simulated,
    None,
}

/// The options applied to this machine.
pub(super) struct Settled {
    pub gpu: Gpu,
    /// Maximum number of workers of GPU pools.
    pub workers_max: usize,
}

impl GpuOptions {
    /// Takes an interpreter if the machine has no GPU and no option says otherwise.
    pub(super) fn or_simulated(&mut self) {
        if self.gpu == DeviceArgument::Auto {
            self.gpu = DeviceArgument::AutoOrSimulated;
        }
    }

    pub(super) async fn settle(&self, worker: &Path, data: &Path) -> anyhow::Result<Settled> {
        let found = match self.gpu {
            DeviceArgument::Simulated | DeviceArgument::None => Ok(Vec::new()),
            _ => devices(worker).await,
        };
        let found = match (found, self.gpu) {
            (Ok(found), DeviceArgument::Cuda) if found.is_empty() => {
                anyhow::bail!("--gpu cuda: the CUDA driver finds no GPU on this machine")
            }
            (Err(error), DeviceArgument::Cuda) => return Err(error.context("--gpu cuda")),
            (Err(error), _) => {
                tracing::warn!("cannot look for GPUs: {error:#}");
                Vec::new()
            }
            (Ok(found), _) => found,
        };
        let device = match self.gpu {
            DeviceArgument::Simulated => Some(Device::Simulated),
            _ if !found.is_empty() => Some(Device::Cuda),
            DeviceArgument::AutoOrSimulated => Some(Device::Simulated),
            _ => None,
        };
        if device == Some(Device::Cuda) && found.iter().any(|it| it.reaches_host_memory) {
            tracing::warn!("{REACH}");
        }
        // The oldest one: later GPUs run its code as well.
        let oldest = || {
            let found = found.iter().map(|it| it.arch.clone());
            found.min_by_key(|arch| (arch.len(), arch.clone()))
        };
        let arch = self.gpu_arch.clone().or_else(oldest);
        let workers_max = match device {
            Some(Device::Cuda) => found.len(),
            Some(Device::Simulated) => std::thread::available_parallelism().map_or(2, usize::from),
            None => 0,
        };
        let gpu = Gpu {
            device,
            arch: arch.unwrap_or_else(|| SIMULATED_ARCH.to_owned()),
            toolkit: self.toolkit(data)?,
            pools: BTreeSet::new(),
        };
        Ok(Settled { gpu, workers_max })
    }

    fn toolkit(&self, data: &Path) -> anyhow::Result<Option<PathBuf>> {
        if let Some(folder) = &self.cuda {
            anyhow::ensure!(
                folder.is_dir(),
                "--cuda (or ASSAY_CUDA) names {}, which is not a folder",
                folder.display()
            );
            return Ok(Some(std::path::absolute(folder).context("finding the CUDA toolkit")?));
        }
        let home = std::env::var_os("CUDA_HOME").map(PathBuf::from);
        let folders = home.into_iter().chain([installed_toolkit(data), SYSTEM_TOOLKIT.into()]);
        Ok(folders.into_iter().find(|folder| folder.is_absolute() && folder.is_dir()))
    }
}

/// The folder of `install-toolchain`.
fn installed_toolkit(data: &Path) -> PathBuf {
    data.join("cuda")
}

fn arch(text: &str) -> Result<String, String> {
    let number = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"));
    let good = number.is_some_and(|number| {
        (2..=4).contains(&number.len()) && number.chars().all(|c| c.is_ascii_alphanumeric())
    });
    if good { Ok(text.to_owned()) } else { Err("write it as sm_90 or compute_90".to_owned()) }
}

/// A GPU of this machine, as `assay-gpu devices` prints it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct GpuDevice {
    name: String,
    arch: String,
    driver: String,
    memory_bytes: u64,
    reaches_host_memory: bool,
}

async fn devices(worker: &Path) -> anyhow::Result<Vec<GpuDevice>> {
    let program = beside(worker, PROGRAM);
    let shown = program.display();
    let run =
        Command::new(&program).arg("devices").stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(DEVICES_TIMEOUT, run)
        .await
        .with_context(|| format!("`{shown} devices` did not end in time"))?
        .with_context(|| format!("cannot run {shown}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().last().unwrap_or_default();
    anyhow::ensure!(output.status.success(), "{shown} devices: {}: {last}", output.status);
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!("{shown} has another version than this program: build both from the same sources")
    })
}

/// Install the CUDA compiler, and list the GPUs of this machine.
#[derive(clap::Args)]
pub(super) struct GpuCommand {
    #[command(subcommand)]
    verb: GpuVerb,
}

#[derive(clap::Subcommand)]
enum GpuVerb {
    /// Download and unpack the CUDA compiler, at fixed versions, from the Python package index;
    /// does nothing if it is installed
    InstallToolchain {
        /// Folder to install to [default: cuda in the data folder, where `serve` and `dev` find it]
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
        /// Data folder, as for `serve`
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// List the GPUs of this machine
    Devices {
        /// Output format
        #[arg(short = 'o', long = "format", value_enum, default_value = "text")]
        format: Format,
    },
}

pub(super) async fn run(options: GpuCommand) -> anyhow::Result<ExitCode> {
    let here = std::env::current_exe().context("finding this program")?;
    match options.verb {
        GpuVerb::InstallToolchain { to, data } => {
            let to = match (to, data) {
                (Some(to), _) => to,
                (None, Some(data)) => installed_toolkit(&data),
                (None, None) => installed_toolkit(&assay_postgres::default_data_folder()?),
            };
            let program = beside(&here, PROGRAM);
            let status = Command::new(&program).arg("install").arg("--to").arg(&to).status().await;
            let status = status.with_context(|| format!("cannot run {}", program.display()))?;
            Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        GpuVerb::Devices { format } => {
            let found = devices(&here).await?;
            match format {
                Format::Json => print_json(&found)?,
                Format::Text if found.is_empty() => println!("the CUDA driver finds no GPU"),
                Format::Text => found.iter().for_each(|it| println!("{}", line(it))),
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn line(found: &GpuDevice) -> String {
    let GpuDevice { name, arch, driver, memory_bytes, reaches_host_memory } = found;
    let reach = if *reaches_host_memory { format!("; {REACH}") } else { String::new() };
    format!("{name}, {arch}, {} MiB, driver {driver}{reach}", memory_bytes >> 20)
}

/// Another of Assay's programs, in the same folder.
pub(super) fn beside(program: &Path, name: &str) -> PathBuf {
    program.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_one_spelling() {
        for good in ["sm_90", "sm_90a", "compute_75", "sm_100"] {
            assert_eq!(arch(good).as_deref(), Ok(good));
        }
        for bad in ["90", "sm90", "sm_", "sm_9", "sm_90;x", "compute_90000", "SM_90"] {
            assert!(arch(bad).is_err(), "{bad}");
        }
    }
}

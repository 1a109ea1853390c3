//! The launchers of workers, by the operator's settings: processes of this machine, and jobs of Slurm.

use std::path::PathBuf;

use anyhow::Context as _;
use assay_fleet::{
    Failures, Fleet, Launch, Launchers, ProcessLauncher, SlurmLauncher, SlurmSettings,
};
use assay_link::RemoteWorkers;

use super::{CACHE, Settings};

/// The workers, by the launcher of each pool.
pub(super) fn fleet(
    settings: &Settings,
    remote: Option<&RemoteWorkers>,
    socket: PathBuf,
) -> anyhow::Result<(Fleet, Failures)> {
    let program = settings.worker_program.clone();
    let programs = settings.programs.clone();
    let cache = settings.data.join(CACHE);
    let launch = Launch { program, socket, cache, programs };
    let slurm = slurm(settings, remote)?;
    Ok(Fleet::with_launchers(|events| {
        let launchers = Launchers::new(ProcessLauncher::new(launch, events.clone()));
        match slurm {
            None => launchers,
            Some(slurm) => {
                let pools = slurm.pools.keys().cloned().collect();
                launchers.with(pools, SlurmLauncher::new(slurm, events))
            }
        }
    }))
}

/// The settings of jobs of Slurm, with what the nodes must know of this server.
fn slurm(
    settings: &Settings,
    remote: Option<&RemoteWorkers>,
) -> anyhow::Result<Option<SlurmSettings>> {
    let Some(file) = &settings.slurm else { return Ok(None) };
    let remote = remote.context(
        "workers on the nodes of Slurm join by TLS: give the server an address for them by --worker-listen",
    )?;
    let listen = remote.listen();
    let server = match &file.server {
        Some(server) => server.clone(),
        None => {
            anyhow::ensure!(
                !listen.ip().is_unspecified(),
                "the file of --slurm needs `server`, the address at which nodes reach {listen}"
            );
            listen.to_string()
        }
    };
    let ca_pin = remote.pin().to_string();
    let digest = ca_pin.rsplit(':').next().unwrap_or_default();
    Ok(Some(SlurmSettings {
        server,
        cluster: digest.chars().take(8).collect(),
        program: file.program.clone().unwrap_or_else(|| settings.worker_program.clone()),
        logs: file.logs.clone(),
        pools: file.pools.clone(),
        ca_pin,
    }))
}

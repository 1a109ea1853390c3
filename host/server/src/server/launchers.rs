//! The launchers of workers, by the operator's settings: processes of this machine, jobs of Slurm, and Pods of Kubernetes.

use std::path::PathBuf;

use anyhow::Context as _;
use assay_fleet::{
    Failures, Fleet, Launch, Launchers, ProcessLauncher, SlurmLauncher, SlurmSettings, Tenure,
};
use assay_kubernetes::{KubernetesConnection, KubernetesLauncher, KubernetesSettings};
use assay_link::RemoteWorkers;

use super::{CACHE, Settings};

/// The workers, by the launcher of each pool.
pub(super) async fn fleet(
    settings: &Settings,
    remote: Option<&RemoteWorkers>,
    socket: PathBuf,
    tenure: Tenure,
) -> anyhow::Result<(Fleet, Failures)> {
    let program = settings.worker_program.clone();
    let programs = settings.programs.clone();
    let cache = settings.data.join(CACHE);
    let launch = Launch { program, socket, cache, programs };
    let slurm = slurm(settings, remote)?;
    let kubernetes = kubernetes(settings, remote).await?;
    Ok(Fleet::with_launchers(tenure, |events| {
        let mut launchers = Launchers::new(ProcessLauncher::new(launch, events.clone()));
        if let Some(slurm) = slurm {
            let pools = slurm.pools.keys().cloned().collect();
            launchers = launchers.with(pools, SlurmLauncher::new(slurm, events.clone()));
        }
        if let Some((settings, connection)) = kubernetes {
            let pools = settings.pools.keys().cloned().collect();
            let launcher = KubernetesLauncher::new(settings, connection, events);
            launchers = launchers.with(pools, launcher);
        }
        launchers
    }))
}

/// The address at which workers of other machines reach this server. `option` names the file that may say it.
fn address(
    remote: Option<&RemoteWorkers>,
    named: Option<&String>,
    option: &str,
) -> anyhow::Result<(String, String)> {
    let remote = remote.with_context(|| {
        format!("the workers of {option} join by TLS: give the server an address for them by --worker-listen")
    })?;
    let listen = remote.listen();
    let server = match named {
        Some(server) => server.clone(),
        None => {
            anyhow::ensure!(
                !listen.ip().is_unspecified(),
                "the file of {option} needs `server`, the address at which workers reach {listen}"
            );
            listen.to_string()
        }
    };
    Ok((server, remote.pin().to_string()))
}

/// A short text that tells this server's workers from those of other servers.
fn cluster(ca_pin: &str) -> String {
    ca_pin.rsplit(':').next().unwrap_or_default().chars().take(8).collect()
}

/// The settings of Pods, with what they must know of this server, and the way to Kubernetes.
async fn kubernetes(
    settings: &Settings,
    remote: Option<&RemoteWorkers>,
) -> anyhow::Result<Option<(KubernetesSettings, KubernetesConnection)>> {
    let Some(file) = &settings.kubernetes else { return Ok(None) };
    let (server, ca_pin) = address(remote, file.server.as_ref(), "--kubernetes")?;
    let connection = assay_kubernetes::connect(file.namespace.as_deref()).await?;
    tracing::info!("workers are Pods of the namespace {}", connection.namespace());
    let pools = file.pools.clone().into_iter().map(|(name, pool)| (name.into(), pool));
    let settings = KubernetesSettings {
        server,
        cluster: cluster(&ca_pin),
        ca_pin,
        join: file.join,
        pools: pools.collect(),
    };
    Ok(Some((settings, connection)))
}

/// The settings of jobs of Slurm, with what the nodes must know of this server.
fn slurm(
    settings: &Settings,
    remote: Option<&RemoteWorkers>,
) -> anyhow::Result<Option<SlurmSettings>> {
    let Some(file) = &settings.slurm else { return Ok(None) };
    let (server, ca_pin) = address(remote, file.server.as_ref(), "--slurm")?;
    Ok(Some(SlurmSettings {
        server,
        cluster: cluster(&ca_pin),
        program: file.program.clone().unwrap_or_else(|| settings.worker_program.clone()),
        logs: file.logs.clone(),
        pools: file.pools.clone(),
        ca_pin,
    }))
}

//! Options for workers, storage roots and secrets.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;

use super::gpu::{GpuOptions, beside};
use assay_core::architecture::Architecture;
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::secrets::Secrets;
use assay_fleet::{Gpu, Programs, SandboxLayer};
use assay_server::RemoteSettings;
use assay_storage::StorageFile;

#[derive(clap::Args)]
pub(super) struct WorkerOptions {
    /// Worker program [default: assay-worker in the folder of this program]
    #[arg(long, env = "ASSAY_WORKER_PROGRAM")]
    worker_program: Option<PathBuf>,
    /// Folder with additional toolchains (*.toml) for programs that plugins compile and run
    #[arg(long, env = "ASSAY_TOOLCHAINS", value_name = "DIR")]
    toolchains: Option<PathBuf>,
    /// Parts of the sandbox that programs may run without on a machine that lacks them; every
    /// outcome is labelled. By default such a machine runs no programs
    #[arg(long, value_name = "PARTS", value_enum, value_delimiter = ',')]
    weaker_sandbox: Vec<SandboxLayer>,
    /// PEM file with certificate authorities that plugins' requests trust in addition to the public
    /// ones
    #[arg(long, env = "ASSAY_TRUST", value_name = "FILE")]
    trust: Option<PathBuf>,
    #[command(flatten)]
    pub(super) gpu: GpuOptions,
}

/// The options for workers of other machines, of the verbs that start a server.
#[derive(clap::Args)]
pub(super) struct RemoteWorkerOptions {
    /// Address on which workers of other machines join, by TLS; none may join unless given
    #[arg(long, env = "ASSAY_WORKER_LISTEN", value_name = "ADDRESS")]
    worker_listen: Option<SocketAddr>,
    /// Architectures of workers of other machines, besides this machine's own, for which plugins are compiled, such as
    /// aarch64
    #[arg(
        long,
        env = "ASSAY_WORKER_ARCHITECTURES",
        value_name = "ARCHITECTURES",
        value_delimiter = ',',
        requires = "worker_listen"
    )]
    worker_architectures: Vec<Architecture>,
    /// Lifetime of the certificates of workers of other machines, in seconds; each is renewed at two
    /// thirds of it
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = limits::WORKER_CERTIFICATE_SECONDS,
        value_parser = clap::value_parser!(u64)
            .range(limits::WORKER_CERTIFICATE_SECONDS_MIN..=limits::WORKER_CERTIFICATE_SECONDS_MAX)
    )]
    worker_certificate_seconds: u64,
}

impl RemoteWorkerOptions {
    /// The settings of workers of other machines, if any may join.
    pub(super) fn settings(&self) -> Option<RemoteSettings> {
        let certificate_lifetime = Micros::from_secs(self.worker_certificate_seconds);
        let architectures = self.worker_architectures.clone();
        self.worker_listen.map(|listen| RemoteSettings {
            listen,
            certificate_lifetime,
            architectures,
        })
    }
}

impl WorkerOptions {
    pub(super) fn program(&self) -> anyhow::Result<PathBuf> {
        let program = match &self.worker_program {
            Some(program) => program.clone(),
            None => {
                beside(&std::env::current_exe().context("finding this program")?, "assay-worker")
            }
        };
        anyhow::ensure!(
            program.is_file(),
            "the worker program {} is missing; build it with `cargo build -p assay-worker` or name it with --worker-program",
            program.display()
        );
        Ok(program)
    }

    pub(super) fn programs(&self, gpu: Gpu) -> anyhow::Result<Programs> {
        let toolchains = self.toolchains.as_ref().map(|folder| {
            anyhow::ensure!(
                folder.is_dir(),
                "--toolchains (or ASSAY_TOOLCHAINS) names {}, which is not a folder",
                folder.display()
            );
            // Workers may run in another folder.
            std::path::absolute(folder).context("finding the folder of toolchains")
        });
        let trust = self.trust.as_ref().map(|file| {
            anyhow::ensure!(
                file.is_file(),
                "--trust (or ASSAY_TRUST) names {}, which is not a file",
                file.display()
            );
            std::path::absolute(file).context("finding the file of certificates")
        });
        let mut weaker = self.weaker_sandbox.clone();
        weaker.sort_unstable();
        weaker.dedup();
        Ok(Programs { toolchains: toolchains.transpose()?, weaker, trust: trust.transpose()?, gpu })
    }
}

#[derive(clap::Args)]
pub(super) struct StorageOptions {
    /// TOML file with the folders and buckets that plugins may read, and the tenants to which each
    /// is granted ([roots.NAME] with url, tenants and options), and where the server keeps its own
    /// objects ([objects] with url and options)
    #[arg(long = "storage", env = "ASSAY_STORAGE", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl StorageOptions {
    pub(super) fn read(&self) -> anyhow::Result<StorageFile> {
        self.file.as_deref().map_or_else(|| Ok(StorageFile::default()), StorageFile::read)
    }
}

#[derive(clap::Args)]
pub(super) struct SecretOptions {
    /// TOML file with secrets that are added to plugins' requests, and the tenants to which each is
    /// granted ([secrets.NAME] with tenants, host, header and value)
    #[arg(id = "secrets", long = "secrets", env = "ASSAY_SECRETS", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl SecretOptions {
    pub(super) fn read(&self) -> anyhow::Result<Secrets> {
        self.file.as_deref().map_or_else(|| Ok(Secrets::default()), Secrets::read)
    }
}

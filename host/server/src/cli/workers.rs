//! What an operator says of workers, and of the data that plugins read there.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::fleet::{Part, Programs};
use crate::storage::Roots;

#[derive(clap::Args)]
pub(super) struct WorkerOptions {
    /// The worker program [default: assay-worker beside this program]
    #[arg(long, env = "ASSAY_WORKER_PROGRAM")]
    worker_program: Option<PathBuf>,
    /// Folder with further toolchains (*.toml) for programs that plugins compile and run
    #[arg(long, env = "ASSAY_TOOLCHAINS", value_name = "DIR")]
    toolchains: Option<PathBuf>,
    /// Run programs even where this part of their sandbox cannot be had; every outcome says so.
    /// Without it such a machine runs no programs at all
    #[arg(long, value_name = "PARTS", value_enum, value_delimiter = ',')]
    weaker_sandbox: Vec<Part>,
}

impl WorkerOptions {
    pub(super) fn program(&self) -> anyhow::Result<PathBuf> {
        let program = match &self.worker_program {
            Some(program) => program.clone(),
            None => std::env::current_exe()
                .context("finding this program")?
                .with_file_name("assay-worker"),
        };
        anyhow::ensure!(
            program.is_file(),
            "the worker program {} is missing; build it with `cargo build -p assay-worker` or name it with --worker-program",
            program.display()
        );
        Ok(program)
    }

    pub(super) fn programs(&self) -> anyhow::Result<Programs> {
        let toolchains = self.toolchains.as_ref().map(|folder| {
            anyhow::ensure!(
                folder.is_dir(),
                "--toolchains (or ASSAY_TOOLCHAINS) names {}, which is no folder",
                folder.display()
            );
            // Workers may be started anywhere.
            std::path::absolute(folder).context("finding the folder of toolchains")
        });
        let mut weaker = self.weaker_sandbox.clone();
        weaker.sort_unstable();
        weaker.dedup();
        Ok(Programs { toolchains: toolchains.transpose()?, weaker })
    }
}

#[derive(clap::Args)]
pub(super) struct StorageOptions {
    /// File that names folders and buckets which plugins may read, and the tenants that each is
    /// granted to ([roots.NAME] with url, tenants and options)
    #[arg(long = "storage", env = "ASSAY_STORAGE", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl StorageOptions {
    pub(super) fn read(&self) -> anyhow::Result<Roots> {
        self.file.as_deref().map_or_else(|| Ok(Roots::default()), Roots::read)
    }
}

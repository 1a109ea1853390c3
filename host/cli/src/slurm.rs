//! The file of `--slurm`, read once at the start.
//!
//! ```toml
//! server = "head.cluster:7701"              # where nodes reach --worker-listen
//! program = "/shared/assay/assay-worker"    # on the nodes
//! logs = "/shared/assay/logs"               # nothing is kept without it
//! [pools.gpu]
//! minutes = 240                             # the walltime
//! drain_seconds = 660                       # before its end a worker takes nothing new
//! start_seconds = 120                       # for a job's worker to join, prologs included
//! sbatch = ["--partition=gpu", "--gres=gpu:1"]
//! worker = ["--gpus", "1", "--gpu", "cuda"]
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use assay_core::limits;
use assay_core::plugin::check_name;
use assay_fleet::{SlurmFile, SlurmPool};
use serde::Deserialize;

/// The time for a start unless the pool names another one, as workers of this machine have it.
const START_SECONDS: u32 = limits::WORKER_START_SECONDS_MAX as u32;

#[derive(clap::Args)]
pub(super) struct SlurmOptions {
    /// TOML file with the pools whose workers are jobs of Slurm ([pools.NAME] with minutes,
    /// drain_seconds, sbatch and worker); needs --worker-listen
    #[arg(id = "slurm", long = "slurm", env = "ASSAY_SLURM", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl SlurmOptions {
    /// The pools whose workers are jobs of Slurm, if there are any.
    pub(super) fn read(&self) -> anyhow::Result<Option<SlurmFile>> {
        self.file.as_deref().map(read).transpose()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    server: Option<String>,
    program: Option<PathBuf>,
    logs: Option<PathBuf>,
    #[serde(default)]
    pools: BTreeMap<String, Pool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pool {
    minutes: u32,
    drain_seconds: u32,
    start_seconds: Option<u32>,
    #[serde(default)]
    sbatch: Vec<String>,
    #[serde(default)]
    worker: Vec<String>,
}

/// Errors name the pool and the key, and say what to do.
fn read(file: &Path) -> anyhow::Result<SlurmFile> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("reading the file of --slurm, {}", file.display()))?;
    parse(&text).with_context(|| format!("in the file of --slurm, {}", file.display()))
}

fn parse(text: &str) -> anyhow::Result<SlurmFile> {
    let File { server, program, logs, pools } = toml::from_str(text)?;
    for (key, path) in [("program", &program), ("logs", &logs)] {
        let absolute = path.as_ref().is_none_or(|path| path.is_absolute());
        ensure!(absolute, "`{key}` must be an absolute path: jobs run in another folder");
    }
    if let Some(server) = &server {
        let port = server.rsplit_once(':').map(|(_, port)| port.parse::<u16>().is_ok());
        ensure!(port == Some(true) && is_plain(server), "`server` must be HOST:PORT");
    }
    ensure!(!pools.is_empty(), "it names no pool; add [pools.NAME]");
    let (count, max) = (pools.len(), limits::POOLS_MAX);
    ensure!(count <= max, "it names {count} pools, the limit is {max}");
    let pools = pools.into_iter().map(|(name, pool)| {
        let pool = pool.checked().with_context(|| format!("pool `{name}`"))?;
        check_name("pool", &name, limits::PLUGIN_NAME_BYTES_MAX).map_err(anyhow::Error::msg)?;
        Ok((name.into(), pool))
    });
    Ok(SlurmFile { server, program, logs, pools: pools.collect::<anyhow::Result<_>>()? })
}

impl Pool {
    fn checked(self) -> anyhow::Result<SlurmPool> {
        let Self { minutes, drain_seconds, start_seconds, sbatch, worker } = self;
        let start_seconds = start_seconds.unwrap_or(START_SECONDS);
        let max = limits::SLURM_MINUTES_MAX;
        ensure!((1..=max).contains(&minutes), "`minutes` must be from 1 to {max}");
        ensure!(
            drain_seconds < minutes * 60,
            "`drain_seconds` must be less than the {} seconds of `minutes`",
            minutes * 60
        );
        let max = limits::SLURM_START_SECONDS_MAX;
        ensure!((1..=max).contains(&start_seconds), "`start_seconds` must be from 1 to {max}");
        for (key, options) in [("sbatch", &sbatch), ("worker", &worker)] {
            let (count, max) = (options.len(), limits::SLURM_OPTIONS_MAX);
            ensure!(count <= max, "`{key}` has {count} options, the limit is {max}");
            let good =
                options.iter().all(|it| it.len() <= limits::SLURM_OPTION_BYTES_MAX && is_plain(it));
            ensure!(good, "`{key}` has an option that is too long or has control characters");
        }
        let bare = sbatch.iter().find(|option| !option.starts_with('-'));
        if let Some(option) = bare {
            anyhow::bail!("`sbatch` has `{option}`: write each option as one text, --name=value");
        }
        Ok(SlurmPool { minutes, drain_seconds, start_seconds, sbatch, worker })
    }
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        server = "head:7701"
        program = "/opt/assay-worker"
        [pools.gpu]
        minutes = 240
        drain_seconds = 660
        sbatch = ["--partition=gpu", "--gres=gpu:1"]
        worker = ["--gpus", "1"]
    "#;

    #[test]
    fn a_file_names_pools_with_their_jobs() {
        let file = parse(GOOD).expect("is good");
        assert_eq!(file.server.as_deref(), Some("head:7701"));
        let pool = &file.pools["gpu"];
        assert_eq!((pool.minutes, pool.drain_seconds, pool.start_seconds), (240, 660, 30));
        assert_eq!(pool.sbatch, ["--partition=gpu", "--gres=gpu:1"]);
        let least = parse("[pools.cpu]\nminutes = 1\ndrain_seconds = 0\n").expect("is good");
        assert_eq!((least.server, least.program, least.logs), (None, None, None));
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        for (was, becomes, says) in [
            ("minutes = 240", "minutes = 0", "`minutes` must be from 1 to"),
            (
                "minutes = 240",
                "minutes = 240\nstart_seconds = 0",
                "`start_seconds` must be from 1 to",
            ),
            ("minutes = 240", "minutes = 11", "less than the 660 seconds of `minutes`"),
            ("minutes = 240", "", "missing field `minutes`"),
            ("minutes = 240", "minutes = 240\nhours = 1", "unknown field `hours`"),
            ("\"/opt/assay-worker\"", "\"assay-worker\"", "`program` must be an absolute path"),
            ("head:7701", "head", "`server` must be HOST:PORT"),
            ("pools.gpu", "pools.GPU", "pool"),
            ("\"--gres=gpu:1\"", "\"--gres\", \"gpu:1\"", "`sbatch` has `gpu:1`"),
            ("\"--gpus\"", "\"a\\nb\"", "`worker` has an option"),
        ] {
            let text = GOOD.replace(was, becomes);
            assert_ne!(text, GOOD, "{was}");
            let said = format!("{:#}", parse(&text).expect_err("is refused"));
            assert!(said.contains(says), "`{says}` is not in `{said}`");
        }
        assert!(format!("{:#}", parse("").expect_err("is refused")).contains("names no pool"));
    }
}

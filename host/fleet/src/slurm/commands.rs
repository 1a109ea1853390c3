//! Slurm's commands, run with a limit on their time and on what they print.

use std::process::Stdio;
use std::time::Duration;

use assay_core::limits;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::time::timeout;

use super::answers::{COLUMNS, JobId, cut, is_gone, plain, submitted};
use super::jobs::Cancel;

const ANSWER_MAX: Duration = Duration::from_secs(limits::SLURM_COMMAND_SECONDS_MAX);

/// The variables of the environment that Slurm's commands get: others may hold secrets.
const KEPT: [&str; 6] = ["PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF", "LD_LIBRARY_PATH"];

pub(super) async fn sbatch(options: &[String], script: &str) -> Result<JobId, String> {
    submitted(&run("sbatch", options, script).await?)
}

/// The output of `squeue` for all jobs of this user, with those that ended recently.
pub(super) async fn squeue() -> Result<String, String> {
    let options = ["--noheader", "--array", "--states=all", "--me", "--format", COLUMNS];
    run("squeue", &options.map(str::to_owned), "").await
}

pub(super) async fn scancel(ids: &[JobId], how: Cancel) -> Result<(), String> {
    let mut options = match how {
        // Programs in boxes of the worker must not get the signal: their end would be taken for their own.
        Cancel::Ask => vec!["--batch".into(), "--signal=TERM".into()],
        Cancel::End => Vec::new(),
    };
    options.extend(ids.iter().map(JobId::to_string));
    match run("scancel", &options, "").await {
        Err(said) if !is_gone(&said) => Err(said),
        _ => Ok(()),
    }
}

/// The version of Slurm whose controller answers, or why none does.
pub async fn ask_slurm() -> Result<String, String> {
    let version = run("sbatch", &["--version".into()], "").await?;
    squeue().await?;
    Ok(cut(&plain(&version)))
}

/// Runs a program and returns its output, or its message when it fails.
async fn run(program: &str, options: &[String], input: &str) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(options).env_clear().env("LC_ALL", "C");
    command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let (mut stdin, stdout, stderr) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let talking = async {
        let writing = async {
            if let Some(mut stdin) = stdin.take() {
                // A program that does not read it says why by its status.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let ((), printed, said) = tokio::join!(writing, read(stdout), read(stderr));
        let status = child.wait().await.map_err(|error| format!("{program}: {error}"))?;
        let (printed, said) = (printed?, said?);
        if status.success() {
            return Ok(printed);
        }
        let said = if said.trim().is_empty() { printed } else { said };
        Err(format!("{program}: {status}: {}", cut(&plain(&said))))
    };
    let ended = timeout(ANSWER_MAX, talking).await;
    ended.unwrap_or_else(|_| Err(format!("{program} gave no answer in {} s", ANSWER_MAX.as_secs())))
}

async fn read(from: Option<impl AsyncRead + Unpin>) -> Result<String, String> {
    let Some(from) = from else { return Ok(String::new()) };
    let mut bytes = Vec::new();
    let most = limits::SLURM_OUTPUT_BYTES_MAX;
    let read = from.take(most + 1).read_to_end(&mut bytes).await;
    read.map_err(|error| format!("reading an answer of Slurm: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("an answer of Slurm has more than {most} bytes"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

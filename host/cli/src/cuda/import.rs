//! `assay cuda import`: tasks of the plugin `cuda` out of a checkout of KernelBench, a process for each task: one that
//! fails, or never ends, is left out of the list with its reason.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use serde::Deserialize;
use tokio::process::Command;

use super::{TorchOptions, check_program, check_torch, last_line, program, replacing};
use crate::table::table;

const TASK_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(clap::Args)]
pub(super) struct ImportOptions {
    /// Checkout of KernelBench, or a folder with folders level1, level2 and so on
    folder: PathBuf,
    /// File to write the tasks to; one that exists is not overwritten, as it may have measured baselines
    #[arg(long, value_name = "FILE", default_value = "kernelbench.jsonl")]
    output: PathBuf,
    /// Level to import; may be repeated
    #[arg(long = "level", value_name = "N", default_values_t = [1, 2])]
    levels: Vec<u32>,
    /// Tasks whose names begin so, such as level1/19_; may be repeated [default: all]
    #[arg(long = "task", value_name = "NAME")]
    tasks: Vec<String>,
    /// Sizes of tensors: small ones, which a simulated device can run, or those of KernelBench, up to
    /// 3 GiB a task
    #[arg(long, value_enum, default_value = "small")]
    sizes: TaskSizes,
    #[command(flatten)]
    torch: TorchOptions,
    /// Tasks that are imported at once [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum TaskSizes {
    Small,
    Original,
}

/// A file of the checkout; its key is `level1/19_ReLU`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TaskFile {
    level: u32,
    number: u32,
    key: String,
    path: PathBuf,
}

/// The answer that the Python program prints about a file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Import {
    Task(serde_json::Value),
    Unsupported(String),
}

pub(super) async fn run(options: ImportOptions) -> anyhow::Result<ExitCode> {
    let output = options.output.display();
    anyhow::ensure!(
        !options.output.exists(),
        "{output} exists already and is not overwritten; delete it, or name another file by --output"
    );
    let mut files = files(&options.folder, &options.levels)?;
    if !options.tasks.is_empty() {
        files.retain(|file| options.tasks.iter().any(|name| file.key.starts_with(name.as_str())));
    }
    anyhow::ensure!(!files.is_empty(), "no task of {} has such a name", options.folder.display());
    check_torch(&options.torch.python).await?;
    check_program(Path::new("g++"), &["--version", "-v"]).await?;
    let program = program()?;
    let mut out = replacing(&options.output)?;
    let jobs =
        options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let all = files.len();
    let one = |file: TaskFile| import_one(&options, program.path(), file);
    let mut imports = futures_util::stream::iter(files).map(one).buffered(jobs.max(1));
    let mut ended = Vec::new();
    while let Some((file, import)) = imports.next().await {
        let count = ended.len() + 1;
        match &import {
            Import::Task(task) => {
                writeln!(out, "{task}")?;
                eprintln!("{count} of {all}: {}", file.key);
            }
            Import::Unsupported(why) => eprintln!("{count} of {all}: {} left out: {why}", file.key),
        }
        ended.push((file, import));
    }
    drop(imports);
    print!("{}", summary(&ended));
    if ended.iter().all(|(_, import)| matches!(import, Import::Unsupported(_))) {
        eprintln!("no task was imported, so {output} was not written");
        return Ok(ExitCode::FAILURE);
    }
    out.persist_noclobber(&options.output).with_context(|| format!("writing {output}"))?;
    println!("{output}");
    Ok(ExitCode::SUCCESS)
}

/// How many tasks of each level were imported.
fn summary(ended: &[(TaskFile, Import)]) -> String {
    let mut levels: Vec<u32> = ended.iter().map(|(file, _)| file.level).collect();
    levels.dedup();
    let row = |level: u32| {
        let of_level = || ended.iter().filter(|(file, _)| file.level == level);
        let imported = of_level().filter(|(_, import)| matches!(import, Import::Task(_))).count();
        [level.to_string(), of_level().count().to_string(), imported.to_string()]
    };
    table(["LEVEL", "TASKS", "IMPORTED"], levels.into_iter().map(row))
}

/// The files of the levels in the order of their numbers.
fn files(folder: &Path, levels: &[u32]) -> anyhow::Result<Vec<TaskFile>> {
    let inside = folder.join("KernelBench");
    let folder = if inside.is_dir() { inside } else { folder.to_owned() };
    let mut files = Vec::new();
    for level in levels {
        let folder = folder.join(format!("level{level}"));
        let entries = std::fs::read_dir(&folder).with_context(|| {
            format!(
                "{} is no folder of KernelBench: git clone it, and name the checkout",
                folder.display()
            )
        })?;
        for entry in entries {
            files.extend(task_file(*level, entry?.path()));
        }
    }
    files.sort_by(|a, b| (a.level, a.number, &a.key).cmp(&(b.level, b.number, &b.key)));
    // A level may be named twice.
    files.dedup();
    Ok(files)
}

fn task_file(level: u32, path: PathBuf) -> Option<TaskFile> {
    let name = path.file_name()?.to_str()?.strip_suffix(".py")?;
    let number = name.split('_').next()?.parse().ok()?;
    let key = format!("level{level}/{name}");
    Some(TaskFile { level, number, key, path })
}

async fn import_one(options: &ImportOptions, program: &Path, file: TaskFile) -> (TaskFile, Import) {
    let import = match import_file(options, program, &file).await {
        Ok(import) => import,
        Err(error) => Import::Unsupported(format!("{error:#}")),
    };
    (file, import)
}

async fn import_file(
    options: &ImportOptions,
    program: &Path,
    file: &TaskFile,
) -> anyhow::Result<Import> {
    let sizes = match options.sizes {
        TaskSizes::Small => "small",
        TaskSizes::Original => "original",
    };
    let run = Command::new(&options.torch.python)
        .arg(program.join("task.py"))
        .args([file.path.as_os_str(), file.key.as_ref(), sizes.as_ref()])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(TASK_TIMEOUT, run)
        .await
        .map_err(|_| anyhow::anyhow!("it took over {} minutes", TASK_TIMEOUT.as_secs() / 60))?
        .context("cannot run Python")?;
    anyhow::ensure!(output.status.success(), "{}: {}", output.status, last_line(&output.stderr));
    serde_json::from_slice(&output.stdout).context("the Python program printed something else")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_exists_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let level = folder.path().join("level1");
        std::fs::create_dir(&level).expect("a level");
        std::fs::write(level.join("1_One.py"), "").expect("a task");
        let output = folder.path().join("kernelbench.jsonl");
        std::fs::write(&output, "with baselines").expect("a file");
        let options = ImportOptions {
            folder: folder.path().to_owned(),
            output: output.clone(),
            levels: vec![1],
            tasks: Vec::new(),
            sizes: TaskSizes::Small,
            torch: TorchOptions { python: "/nowhere/python".into() },
            jobs: None,
        };
        let refused = run(options).await.expect_err("it exists").to_string();
        assert!(refused.contains("delete it, or name another file by --output"), "{refused}");
        assert_eq!(std::fs::read_to_string(&output).expect("it is there"), "with baselines");
    }

    #[test]
    fn files_come_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().expect("a folder");
        let level = folder.path().join("KernelBench/level1");
        std::fs::create_dir_all(&level).expect("a level");
        for name in ["10_Ten.py", "9_Nine.py", "notes.md", "helper.py"] {
            std::fs::write(level.join(name), "").expect("a file");
        }
        let found = files(folder.path(), &[1]).expect("files");
        let keys: Vec<_> = found.iter().map(|file| file.key.as_str()).collect();
        assert_eq!(keys, ["level1/9_Nine", "level1/10_Ten"]);
        let error = files(folder.path(), &[2]).expect_err("there is no level 2").to_string();
        assert!(error.contains("level2"), "{error}");
    }
}

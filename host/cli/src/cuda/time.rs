//! `assay cuda time`: how long PyTorch takes for the modules of imported tasks, written to the tasks' labels.
//!
//! One Python process for as many tasks as it survives: it takes seconds to start, and a module may end it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{TorchOptions, check_torch, program, replacing};

const START_TIMEOUT: Duration = Duration::from_secs(120);
const TASK_TIMEOUT: Duration = Duration::from_secs(120);
const HAS_GPU: &str = "import torch, sys; sys.exit(not torch.cuda.is_available())";

#[derive(clap::Args)]
pub(super) struct TimeOptions {
    /// File of tasks that `assay cuda import` wrote
    file: PathBuf,
    /// File to write the tasks with times to [default: FILE itself]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Tasks whose names begin so, such as level1/19_; may be repeated [default: all]
    #[arg(long = "task", value_name = "NAME")]
    tasks: Vec<String>,
    #[command(flatten)]
    torch: TorchOptions,
}

#[derive(Debug, Deserialize)]
struct PythonGreeting {
    device: String,
    by: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModuleTime {
    Ns(u64),
    Unsupported(String),
}

pub(super) async fn run(options: TimeOptions) -> anyhow::Result<ExitCode> {
    let shown = options.file.display();
    let text =
        std::fs::read_to_string(&options.file).with_context(|| format!("reading {shown}"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let tasks: Vec<Map<String, Value>> = lines
        .map(|(at, line)| {
            serde_json::from_str(line).with_context(|| format!("line {} of {shown}", at + 1))
        })
        .collect::<anyhow::Result<_>>()?;
    check_torch(&options.torch.python).await?;
    let has_gpu = Command::new(&options.torch.python).args(["-c", HAS_GPU]).status().await;
    anyhow::ensure!(
        has_gpu.context("cannot run Python")?.success(),
        "PyTorch finds no GPU on this machine"
    );
    let output = options.output.as_ref().unwrap_or(&options.file);
    let program = program()?;
    let mut out = replacing(output)?;
    let (mut python, mut timed) = (None, 0_usize);
    let all = tasks.len();
    for (at, mut task) in tasks.into_iter().enumerate() {
        let key =
            task.get("key").and_then(Value::as_str).unwrap_or("a task without a key").to_owned();
        let wanted =
            options.tasks.is_empty() || options.tasks.iter().any(|it| key.starts_with(it.as_str()));
        if wanted {
            match time_one(&mut python, &options, program.path(), &task).await {
                Ok((device, ns)) => {
                    eprintln!("{} of {all}: {key}: {} on {device}", at + 1, in_words(ns));
                    add_time(&mut task, &device, ns)?;
                    timed += 1;
                }
                Err(error) => eprintln!("{} of {all}: {key} has no time: {error:#}", at + 1),
            }
        }
        writeln!(out, "{}", Value::Object(task))?;
    }
    out.persist(output).with_context(|| format!("writing {}", output.display()))?;
    println!("{timed} of {all} tasks have a time: {}", output.display());
    Ok(if timed == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A Python process that waits for modules.
struct TimingProcess {
    device: String,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

/// The GPU's name and the time there. A process that fails is given up; the next task starts another.
async fn time_one(
    python: &mut Option<TimingProcess>,
    options: &TimeOptions,
    program: &std::path::Path,
    task: &Map<String, Value>,
) -> anyhow::Result<(String, u64)> {
    let module = task.get("module").and_then(Value::as_str);
    let module = module.context("it has no `module`: import it again")?;
    let mut running = match python.take() {
        Some(running) => running,
        None => TimingProcess::start(options, program).await?,
    };
    let answer = tokio::time::timeout(TASK_TIMEOUT, running.ask(module)).await;
    let answer =
        answer.map_err(|_| anyhow::anyhow!("it took over {} s", TASK_TIMEOUT.as_secs()))??;
    let device = running.device.clone();
    *python = Some(running);
    match answer {
        ModuleTime::Ns(ns) => Ok((device, ns)),
        ModuleTime::Unsupported(why) => anyhow::bail!("{why}"),
    }
}

impl TimingProcess {
    async fn start(options: &TimeOptions, program: &std::path::Path) -> anyhow::Result<Self> {
        let mut child = Command::new(&options.torch.python)
            .arg(program.join("speed.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot run Python")?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (to, from) = to.zip(from).context("no pipes to Python")?;
        let mut from = BufReader::new(from).lines();
        let line = tokio::time::timeout(START_TIMEOUT, from.next_line()).await;
        let line = line.context("Python did not start in time")??;
        let greeting: PythonGreeting = serde_json::from_str(&line.context("Python ended")?)
            .context("the Python program printed something else")?;
        eprintln!("{} on {}", greeting.by, greeting.device);
        Ok(Self { device: greeting.device, to, from, _child: child })
    }

    async fn ask(&mut self, module: &str) -> anyhow::Result<ModuleTime> {
        let line = format!("{}\n", json!({ "module": module }));
        self.to.write_all(line.as_bytes()).await.context("Python ended")?;
        let answer = self.from.next_line().await?.context("Python ended")?;
        serde_json::from_str(&answer).context("the Python program printed something else")
    }
}

fn add_time(task: &mut Map<String, Value>, device: &str, ns: u64) -> anyhow::Result<()> {
    let label = task.get_mut("label").and_then(Value::as_object_mut).context("it has no label")?;
    let times = label.entry("baseline_ns").or_insert_with(|| json!({}));
    times
        .as_object_mut()
        .context("its baseline_ns are no object")?
        .insert(device.to_owned(), json!(ns));
    Ok(())
}

fn in_words(ns: u64) -> String {
    if ns < 10_000_000 {
        format!("{:.1} µs", ns as f64 / 1e3)
    } else {
        format!("{:.1} ms", ns as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_several_gpus_stand_beside_each_other() {
        let mut task = Map::from_iter([("label".to_owned(), json!({ "task": "a" }))]);
        add_time(&mut task, "one", 5).expect("a label");
        add_time(&mut task, "other", 6).expect("a label");
        add_time(&mut task, "one", 7).expect("a label");
        assert_eq!(task["label"], json!({ "task": "a", "baseline_ns": { "one": 7, "other": 6 } }));
        assert!(add_time(&mut Map::new(), "one", 5).is_err());
    }

    #[test]
    fn times_are_read_as_people_read_them() {
        assert_eq!(in_words(12_345), "12.3 µs");
        assert_eq!(in_words(12_345_678), "12.3 ms");
    }
}

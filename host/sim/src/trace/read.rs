//! Reads a trace, line by line; names the line that is wrong.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use assay_core::time::Micros;
use serde::Deserialize;

use super::{FORMAT, Iteration, Meta, Task, Trace, TraceRequest, TraceStage, TrainerMode};

/// Longer than any trace; keeps sums of times far from wrapping.
const SECONDS_MAX: f64 = 1e9;

const STAGES_MAX: usize = 16;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error("the trace cannot be read")]
    Io(#[from] io::Error),
    #[error("line {line}: {problem}")]
    Line { line: usize, problem: String },
    #[error("task {task}, iteration {iteration}: {problem}")]
    Iteration { task: u32, iteration: u32, problem: String },
    #[error("the trace is empty")]
    Empty,
}

/// The kind of a line. It is read first because the other fields depend on it.
#[derive(Deserialize)]
struct KindLine {
    kind: String,
}

#[derive(Deserialize)]
struct MetaLine {
    format: String,
    stages: Vec<String>,
    timeout_s: Vec<f64>,
    cost: Vec<f64>,
    /// The pool of each stage; without it each stage has one of its own.
    pools: Option<Vec<String>>,
    #[serde(default)]
    generator: String,
    #[serde(default)]
    seed: u64,
    mode: Option<TrainerMode>,
    #[serde(default)]
    spec: serde_json::Value,
}

#[derive(Deserialize)]
struct IterationLine {
    task: u32,
    iteration: u32,
    requests: Option<usize>,
    rollout_start_s: f64,
    rollout_end_s: f64,
    #[serde(default)]
    train_s: f64,
    #[serde(default)]
    sync_s: f64,
    tenant: Option<String>,
}

#[derive(Deserialize)]
struct RequestLine {
    task: u32,
    iteration: u32,
    request: u32,
    group: Option<u32>,
    #[serde(default)]
    tokens: u32,
    rollout_s: f64,
    service_s: Vec<Option<f64>>,
    outcome: String,
}

/// An iteration as far as it was read.
struct Partial {
    iteration: Iteration,
    tenant: Option<String>,
    promised: Option<usize>,
}

/// The iterations by task and number.
type Iterations = BTreeMap<(u32, u32), Partial>;

/// Reads a whole trace. Unknown fields are ignored; an iteration's line stands before its requests'.
pub fn read(from: impl BufRead) -> Result<Trace, TraceError> {
    let mut meta = None;
    let mut iterations = Iterations::new();
    for (number, text) in from.lines().enumerate() {
        let text = text?;
        if !text.trim().is_empty() {
            read_line(&text, &mut meta, &mut iterations)
                .map_err(|problem| TraceError::Line { line: number + 1, problem })?;
        }
    }
    Ok(Trace { meta: meta.ok_or(TraceError::Empty)?, tasks: tasks(iterations)? })
}

fn read_line(
    text: &str,
    meta: &mut Option<Meta>,
    iterations: &mut Iterations,
) -> Result<(), String> {
    let kind = parsed::<KindLine>(text)?.kind;
    match (kind.as_str(), &meta) {
        ("meta", None) => *meta = Some(read_meta(parsed(text)?)?),
        ("meta", Some(_)) => return Err("a second meta line".into()),
        (_, None) => return Err(format!("the first line is of kind `{kind}`, not `meta`")),
        ("iteration", Some(_)) => read_iteration(parsed(text)?, iterations)?,
        ("request", Some(meta)) => read_request(parsed(text)?, meta, iterations)?,
        _ => return Err(format!("unknown kind `{kind}`")),
    }
    Ok(())
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn read_meta(line: MetaLine) -> Result<Meta, String> {
    if line.format != FORMAT {
        return Err(format!("the format is `{}`, not `{FORMAT}`", line.format));
    }
    let count = line.stages.len();
    if count == 0 || count > STAGES_MAX {
        return Err(format!("{count} stages, not 1 to {STAGES_MAX}"));
    }
    if line.timeout_s.len() != count || line.cost.len() != count {
        let (timeouts, costs) = (line.timeout_s.len(), line.cost.len());
        return Err(format!("{count} stages, {timeouts} timeouts and {costs} costs"));
    }
    let pools = line.pools.unwrap_or_else(|| line.stages.clone());
    if pools.len() != count {
        return Err(format!("{count} stages and {} pools", pools.len()));
    }
    let mut stages: Vec<TraceStage> = Vec::with_capacity(count);
    let named = line.stages.into_iter().zip(pools);
    for (((name, pool), timeout), cost) in named.zip(line.timeout_s).zip(line.cost) {
        if stages.iter().any(|stage| stage.name == name) {
            return Err(format!("two stages have the name `{name}`"));
        }
        if !cost.is_finite() || cost < 0.0 {
            return Err(format!("the cost of `{name}` is {cost}"));
        }
        let pool = Some(pool).filter(|pool| *pool != name);
        stages.push(TraceStage { name, pool, timeout: micros("timeout_s", timeout)?, cost });
    }
    let meta = Meta {
        stages,
        mode: line.mode.unwrap_or(TrainerMode::Colocated),
        generator: line.generator,
        seed: line.seed,
        spec: line.spec,
    };
    meta.pools().map_err(|unlike| unlike.to_string())?;
    Ok(meta)
}

fn read_iteration(line: IterationLine, iterations: &mut Iterations) -> Result<(), String> {
    let start = micros("rollout_start_s", line.rollout_start_s)?;
    let end = micros("rollout_end_s", line.rollout_end_s)?;
    if end < start {
        return Err("the rollout ends before it starts".into());
    }
    let iteration = Iteration {
        number: line.iteration,
        rollout_start: start,
        rollout: end.since(start),
        train: micros("train_s", line.train_s)?,
        sync: micros("sync_s", line.sync_s)?,
        requests: Vec::with_capacity(line.requests.unwrap_or(0).min(1 << 16)),
    };
    let partial = Partial { iteration, tenant: line.tenant, promised: line.requests };
    match iterations.insert((line.task, line.iteration), partial) {
        None => Ok(()),
        Some(_) => Err(format!("a second iteration {} of task {}", line.iteration, line.task)),
    }
}

fn read_request(line: RequestLine, meta: &Meta, iterations: &mut Iterations) -> Result<(), String> {
    let of = iterations.get_mut(&(line.task, line.iteration));
    let of = of.ok_or_else(|| {
        format!("no line for iteration {} of task {} before this", line.iteration, line.task)
    })?;
    if line.service_s.len() != meta.stages.len() {
        let (times, stages) = (line.service_s.len(), meta.stages.len());
        return Err(format!("`service_s` has {times} entries, the trace {stages} stages"));
    }
    let mut service = Vec::with_capacity(line.service_s.len());
    for (time, stage) in line.service_s.iter().zip(&meta.stages) {
        let time = time.map(|seconds| micros("service_s", seconds)).transpose()?;
        if time.is_some_and(|time| time > stage.timeout) {
            return Err(format!("stage `{}` ran for longer than its timeout", stage.name));
        }
        service.push(time);
    }
    let mut reached = service.iter().skip_while(|time| time.is_none());
    reached.find(|time| time.is_none());
    if reached.any(|time| time.is_some()) {
        return Err("a stage was reached after one that was not".into());
    }
    of.iteration.requests.push(TraceRequest {
        request: line.request,
        group: line.group.unwrap_or(line.request),
        tokens: line.tokens,
        rollout: micros("rollout_s", line.rollout_s)?,
        service,
        outcome: line.outcome,
    });
    Ok(())
}

fn micros(field: &str, seconds: f64) -> Result<Micros, String> {
    if (0.0..=SECONDS_MAX).contains(&seconds) {
        Ok(Micros::from_secs_f64(seconds))
    } else {
        Err(format!("`{field}` is {seconds}, not 0 to {SECONDS_MAX} seconds"))
    }
}

fn tasks(iterations: Iterations) -> Result<Vec<Task>, TraceError> {
    let mut tasks: Vec<Task> = Vec::new();
    for ((id, number), Partial { iteration, tenant, promised }) in iterations {
        let problem = match (iteration.requests.len(), promised) {
            (0, _) => Some("it has no requests".to_owned()),
            (count, Some(promised)) if count != promised => {
                Some(format!("{promised} requests were promised, {count} are there"))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(TraceError::Iteration { task: id, iteration: number, problem });
        }
        match tasks.last_mut().filter(|task| task.id == id) {
            Some(task) if task.tenant != tenant => {
                let problem = "it is another tenant's than the one before".to_owned();
                return Err(TraceError::Iteration { task: id, iteration: number, problem });
            }
            Some(task) => task.iterations.push(iteration),
            None => {
                let start = iteration.rollout_start;
                tasks.push(Task { id, tenant, start, iterations: vec![iteration] });
            }
        }
    }
    if tasks.is_empty() { Err(TraceError::Empty) } else { Ok(tasks) }
}

//! Writes a trace, so that reading it gives the same one.

use std::io::{self, Write};

use assay_core::time::Micros;
use serde::Serialize;
use serde_json::json;

use super::{FORMAT, Iteration, Task, Trace, TraceRequest, TraceStage};

#[derive(Serialize)]
struct RequestLine<'a> {
    kind: &'static str,
    task: u32,
    iteration: u32,
    request: u32,
    group: u32,
    tokens: u32,
    rollout_s: f64,
    arrival_s: f64,
    service_s: Vec<Option<f64>>,
    outcome: &'a str,
}

/// One JSON object a line: the trace's meta data, then each iteration followed by its requests.
pub fn write(trace: &Trace, mut to: impl Write) -> io::Result<()> {
    let meta = &trace.meta;
    let stages = &meta.stages;
    let mut line = json!({
        "kind": "meta",
        "format": FORMAT,
        "stages": stages.iter().map(|stage| stage.name.as_str()).collect::<Vec<_>>(),
        "timeout_s": stages.iter().map(|stage| stage.timeout.as_secs_f64()).collect::<Vec<_>>(),
        "cost": stages.iter().map(|stage| stage.cost).collect::<Vec<_>>(),
        "generator": meta.generator,
        "seed": meta.seed,
        "mode": meta.mode,
        "spec": meta.spec,
    });
    if stages.iter().any(|stage| stage.pool() != stage.name) {
        line["pools"] = stages.iter().map(TraceStage::pool).collect();
    }
    write_line(&line, &mut to)?;
    for task in &trace.tasks {
        for iteration in &task.iterations {
            write_iteration(task, iteration, &mut to)?;
        }
    }
    to.flush()
}

fn write_iteration(task: &Task, iteration: &Iteration, to: &mut impl Write) -> io::Result<()> {
    let start = iteration.rollout_start;
    let mut line = json!({
        "kind": "iteration",
        "task": task.id,
        "iteration": iteration.number,
        "requests": iteration.requests.len(),
        "rollout_start_s": start.as_secs_f64(),
        "rollout_end_s": (start + iteration.rollout).as_secs_f64(),
        "earliest_end_s": (start + iteration.earliest_end()).as_secs_f64(),
        "train_s": iteration.train.as_secs_f64(),
        "sync_s": iteration.sync.as_secs_f64(),
    });
    if let Some(tenant) = &task.tenant {
        line["tenant"] = tenant.as_str().into();
    }
    write_line(&line, to)?;
    for request in &iteration.requests {
        write_request(task.id, iteration, request, to)?;
    }
    Ok(())
}

fn write_request(
    task: u32,
    iteration: &Iteration,
    request: &TraceRequest,
    to: &mut impl Write,
) -> io::Result<()> {
    let line = RequestLine {
        kind: "request",
        task,
        iteration: iteration.number,
        request: request.request,
        group: request.group,
        tokens: request.tokens,
        rollout_s: request.rollout.as_secs_f64(),
        arrival_s: (iteration.rollout_start + request.rollout).as_secs_f64(),
        service_s: request.service.iter().map(|time| time.map(Micros::as_secs_f64)).collect(),
        outcome: &request.outcome,
    };
    write_line(&line, to)
}

fn write_line(line: &impl Serialize, to: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, line)?;
    to.write_all(b"\n")
}

//! Replays vectors of SIMULATE and algorithm 1 that an independent implementation computed.
//!
//! JSON lines; each is a workload with what algorithm 1 finds for it and what SIMULATE says of some
//! allocations. Names every row that differs; decides nothing.

use std::io::{self, BufRead};
use std::sync::Arc;

use assay_core::time::Micros;
use assay_planner::{
    Check, Flow, FlowStage, Problem, ProblemBatch, ProblemPool, ProblemRequest, Rule, search,
    simulate,
};
use assay_sched::Discipline;
use serde::Deserialize;

use crate::engine::batch_id;

/// The vectors' times are rounded to milliseconds.
const TOLERANCE: Micros = Micros::from_ms(1);

/// Why vectors cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    #[error("the vectors cannot be read")]
    Io(#[from] io::Error),
    #[error("line {line}: {problem}")]
    Line { line: usize, problem: String },
}

/// The result of comparing a file of vectors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replay {
    pub vectors: usize,
    /// Answers that were compared.
    pub rows: usize,
    /// One line each.
    pub differences: Vec<String>,
}

#[derive(Deserialize)]
struct Vector {
    case: u64,
    now: f64,
    #[serde(rename = "D")]
    tolerance: f64,
    lt_check: bool,
    policy: VectorPolicy,
    timeout: Vec<f64>,
    cost: Vec<f64>,
    #[serde(rename = "T")]
    earliest_end: Vec<f64>,
    priority: Vec<f64>,
    requests: Vec<VectorRequest>,
    algorithm1: Vec<usize>,
    simulate: Vec<Row>,
}

#[derive(Deserialize)]
enum VectorPolicy {
    #[serde(rename = "EBF")]
    Ebf,
    #[serde(rename = "FCFS")]
    Fcfs,
}

#[derive(Deserialize)]
struct VectorRequest {
    arr: f64,
    s: Vec<f64>,
    stage: usize,
    running: bool,
    batch: usize,
}

#[derive(Deserialize)]
struct Row {
    num: Vec<usize>,
    sat: bool,
    batch_finish: Vec<f64>,
}

/// Runs every vector and compares every row.
pub fn replay(from: impl BufRead) -> Result<Replay, VectorError> {
    let mut replay = Replay::default();
    for (number, text) in from.lines().enumerate() {
        let text = text?;
        let line = number + 1;
        let wrong = |problem: String| VectorError::Line { line, problem };
        if !text.trim().is_empty() {
            let vector: Vector =
                serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            vector.check().map_err(wrong)?;
            vector.compare(&mut replay);
        }
    }
    Ok(replay)
}

impl Vector {
    fn check(&self) -> Result<(), String> {
        let (stages, batches) = (self.timeout.len(), self.earliest_end.len());
        if stages == 0 || self.cost.len() != stages || self.algorithm1.len() != stages {
            return Err(format!("{stages} timeouts, and not as many costs or results"));
        }
        if self.priority.len() != batches {
            return Err(format!("{batches} batches, {} priorities", self.priority.len()));
        }
        let misplaced = self.requests.iter().position(|request| {
            request.s.len() != stages || request.stage >= stages || request.batch >= batches
        });
        if let Some(request) = misplaced {
            return Err(format!("request {request} has no such stage or batch"));
        }
        let short = |row: &Row| row.num.len() != stages || row.batch_finish.len() != batches;
        match self.simulate.iter().position(short) {
            Some(row) => Err(format!("row {row} does not fit stages and batches")),
            None => Ok(()),
        }
    }

    fn compare(&self, replay: &mut Replay) {
        let problem = self.problem();
        let rule = Rule {
            discipline: match self.policy {
                VectorPolicy::Ebf => Discipline::EBF,
                VectorPolicy::Fcfs => Discipline::FCFS,
            },
            check: if self.lt_check { Check::Timeouts } else { Check::Late },
        };
        let case = self.case;
        let found = search(&problem, &rule);
        replay.vectors += 1;
        replay.rows += 1 + self.simulate.len();
        if found != self.algorithm1 {
            let wanted = &self.algorithm1;
            let text = format!("case {case}, algorithm 1: {found:?}, not {wanted:?}");
            replay.differences.push(text);
        }
        for row in &self.simulate {
            let said = simulate(&problem, &rule, &row.num);
            let row_name = format!("case {case}, {:?} workers", row.num);
            if said.satisfied != row.sat {
                let (said, wanted) = (said.satisfied, row.sat);
                replay.differences.push(format!("{row_name}: satisfied is {said}, not {wanted}"));
            }
            for (batch, (end, wanted)) in said.batch_ends.iter().zip(&row.batch_finish).enumerate()
            {
                if end.0.abs_diff(Micros::from_secs_f64(*wanted).0) > TOLERANCE.0 {
                    let end = end.as_secs_f64();
                    let text = format!("{row_name}: batch {batch} ends at {end} s, not {wanted} s");
                    replay.differences.push(text);
                }
            }
        }
    }

    fn problem(&self) -> Problem {
        let stages = self.timeout.len();
        let names: Vec<Arc<str>> = (0..stages).map(|stage| format!("{stage}").into()).collect();
        let pools = names.iter().zip(&self.cost);
        let batches = self.earliest_end.iter().zip(&self.priority).enumerate();
        Problem {
            now: Micros::from_secs_f64(self.now),
            pools: pools
                .map(|(name, cost)| ProblemPool {
                    name: Arc::clone(name),
                    cost: *cost,
                    max: usize::MAX,
                })
                .collect(),
            flows: vec![Flow { stages: self.timeout.iter().enumerate().map(flow_stage).collect() }],
            batches: batches
                .map(|(number, (earliest_end, rank))| ProblemBatch {
                    id: batch_id(number),
                    run: format!("{number}").into(),
                    flow: 0,
                    rank: Micros::from_secs_f64(*rank),
                    earliest_end: Micros::from_secs_f64(*earliest_end),
                    tolerance: Micros::from_secs_f64(self.tolerance),
                    wait_max: None,
                })
                .collect(),
            requests: self
                .requests
                .iter()
                .map(|request| ProblemRequest {
                    batch: request.batch,
                    stage: request.stage,
                    running: request.running,
                    ready: Micros::from_secs_f64(request.arr),
                })
                .collect(),
            service: self
                .requests
                .iter()
                .flat_map(|request| &request.s)
                .map(|s| Micros::from_secs_f64(*s))
                .collect(),
            stages_max: stages,
        }
    }
}

fn flow_stage((pool, timeout): (usize, &f64)) -> FlowStage {
    FlowStage { pool, timeout: Micros::from_secs_f64(*timeout) }
}

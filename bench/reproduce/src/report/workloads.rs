//! The traces that a report runs: the shared ones if they exist, otherwise drawn ones.

use std::path::{Path, PathBuf};

use assay_sim::trace::{Trace, TrainerMode};
use assay_sim::workload::{Shift, Spec, Trainer, generate};
use assay_simulation::file::read_trace;

/// How much is run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Number of requests in a drawn iteration.
    pub(super) batch: u32,
    pub(super) tasks: u32,
    pub(super) iterations: u32,
    /// Number of iterations of a single task.
    pub(super) iterations_alone: u32,
    /// Number of iterations of a single task whose workload shifts.
    pub(super) iterations_shifted: u32,
    pub(super) seeds: &'static [u64],
    /// The seeds on which the parts of a policy are compared: more, as chance must be told from a small effect.
    pub(super) seeds_of_parts: &'static [u64],
    /// Live batches to plan for, of `load::BATCH` requests.
    pub(super) live_batches: &'static [usize],
}

impl Scale {
    pub(super) const FULL: Self = Self {
        batch: 2_048,
        tasks: 6,
        iterations: 9,
        iterations_alone: 50,
        iterations_shifted: 17,
        seeds: &[101, 102, 103],
        seeds_of_parts: &[101, 102, 103, 104, 105, 106],
        live_batches: &[1, 2, 4, 8, 16, 100, 1_000],
    };
    pub(super) const QUICK: Self = Self {
        batch: 48,
        tasks: 2,
        iterations: 3,
        iterations_alone: 3,
        iterations_shifted: 3,
        seeds: &[101],
        seeds_of_parts: &[101],
        live_batches: &[1],
    };
}

/// The seed of the traces that replace missing shared ones; the shared ones had other seeds.
const SEED: u64 = 2;

#[derive(Debug)]
pub(super) struct Workloads {
    folder: Option<PathBuf>,
    pub(super) scale: Scale,
}

/// A trace, and where it comes from.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) trace: Trace,
    pub(super) origin: String,
    pub(super) is_shared: bool,
}

impl Workloads {
    pub(super) fn new(folder: Option<PathBuf>, scale: Scale) -> Self {
        Self { folder, scale }
    }

    /// One task of many iterations.
    pub(super) fn alone(&self) -> anyhow::Result<Workload> {
        let drawn = || self.draw(1, self.scale.iterations_alone, SEED, &[]);
        self.shared_or("full_1x50x2048_colocated.jsonl.gz", drawn)
    }

    /// Several tasks at once.
    pub(super) fn together(&self) -> anyhow::Result<Workload> {
        let drawn = || self.draw(self.scale.tasks, self.scale.iterations, SEED, &[]);
        self.shared_or("e2e_6x9x2048_colocated.jsonl.gz", drawn)
    }

    /// The same, and rollouts go on with weights one step stale: as in the paper, the requests of a
    /// colocated trace with other gaps between batches.
    pub(super) fn together_disaggregated(&self) -> anyhow::Result<Workload> {
        let mut workload = self.together()?;
        workload.trace.meta.mode = TrainerMode::Disaggregated { stale: 1 };
        workload.origin.push_str(", its tasks disaggregated");
        Ok(workload)
    }

    pub(super) fn draw(&self, tasks: u32, iterations: u32, seed: u64, shifts: &[Shift]) -> Trace {
        let trainer = Trainer { tasks, iterations, batch: self.scale.batch, ..Trainer::default() };
        draw(trainer, seed, shifts)
    }

    fn shared_or(&self, name: &str, drawn: impl Fn() -> Trace) -> anyhow::Result<Workload> {
        let folder = self.folder.as_deref();
        if let Some(path) = folder.map(|folder| folder.join(name)).filter(|path| path.is_file()) {
            let origin = format!("`{name}`");
            return Ok(Workload { trace: read_trace(&path)?, origin, is_shared: true });
        }
        let trace = drawn();
        let (tasks, iterations) = (trace.tasks.len(), trace.tasks[0].iterations.len());
        let origin = format!(
            "{tasks} × {iterations} × {} requests drawn here (seed {SEED})",
            self.scale.batch
        );
        Ok(Workload { trace, origin, is_shared: false })
    }

    /// The origin of the traces, for the reader of the report.
    pub(super) fn described(&self) -> String {
        match &self.folder {
            Some(folder) if has_shared(folder) => {
                "The traces of one and of six tasks are those that the reference ran; all others \
                 are drawn here, by `assay simulate generate`."
                    .to_owned()
            }
            _ => "The reference's traces were not there: all traces are drawn here, by `assay \
                  simulate generate`, and numbers beside the reference's are of another trace."
                .to_owned(),
        }
    }
}

pub(super) fn has_shared(folder: &Path) -> bool {
    ["full_1x50x2048_colocated.jsonl.gz", "e2e_6x9x2048_colocated.jsonl.gz"]
        .iter()
        .all(|name| folder.join(name).is_file())
}

/// A trace of CUDA.
pub(super) fn draw(trainer: Trainer, seed: u64, shifts: &[Shift]) -> Trace {
    let spec = Spec { seed, trainer, shifts: shifts.to_vec(), ..Spec::default() };
    generate(&spec).expect("what a report draws is within the ranges")
}

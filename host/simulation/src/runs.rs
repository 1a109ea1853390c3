//! Several simulations at once on this machine's cores, with progress bars on a terminal.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::bail;
use assay_sim::policy::{Settings, SimulatedPolicy};
use assay_sim::trace::Trace;
use assay_sim::{Run, SimulateError, Watch, simulate};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// One simulation to run.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    pub trace: &'a Trace,
    pub policy: &'a SimulatedPolicy,
    pub settings: &'a Settings,
}

/// Runs all jobs, as many at once as there are cores, and returns the runs in the order of the jobs.
///
/// # Errors
/// When a job cannot be simulated; the text names its policy and trace.
pub fn run_all(jobs: &[Job]) -> anyhow::Result<Vec<Run>> {
    let next = AtomicUsize::new(0);
    let runs = Mutex::new(vec![None; jobs.len()]);
    let bars = bars();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(jobs.len()) {
            scope.spawn(|| {
                while let Some((place, job)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(place).map(|job| (place, job))
                } {
                    let run = job.run(&bars);
                    runs.lock().expect("no run panics with it")[place] = Some(run);
                }
            });
        }
    });
    let runs = runs.into_inner().expect("no run panics with it");
    let mut all = Vec::with_capacity(jobs.len());
    for (run, job) in runs.into_iter().zip(jobs) {
        match run.expect("every job was run") {
            Ok(run) => all.push(run),
            Err(error) => bail!("{} on {}: {error}", job.policy, job.trace_name()),
        }
    }
    Ok(all)
}

impl Job<'_> {
    /// A description of the trace for error texts.
    fn trace_name(&self) -> String {
        let (meta, tasks) = (&self.trace.meta, self.trace.tasks.len());
        let by = if meta.generator.is_empty() { "an unknown generator" } else { &meta.generator };
        format!("a trace by {by}, seed {}, {tasks} tasks", meta.seed)
    }

    fn run(&self, bars: &MultiProgress) -> Result<Run, SimulateError> {
        let bar = bars.add(ProgressBar::new(1));
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} batches  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(self.policy.to_string());
        let started = Instant::now();
        let mut elapsed = || started.elapsed();
        let mut completed = |done: usize, all: usize| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        };
        let watch = Watch { elapsed: &mut elapsed, completed: &mut completed, patience: None };
        let run = simulate(self.trace, self.policy, self.settings, watch);
        bar.finish_and_clear();
        run
    }
}

fn bars() -> MultiProgress {
    MultiProgress::with_draw_target(if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    })
}

//! Charts of runs, one file each: what they say is the simulator's, how they look its plots'.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use assay_model::time::Micros;
use assay_sim::plot::{Bars, Delays, Labels, Line, Series, bars, line_chart, sorted_delays};
use assay_sim::{Run, Sample};

pub(super) fn write(folder: &Path, runs: &[Run]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let write = |name: &str, chart: String| {
        let path = folder.join(name);
        fs::write(&path, chart).with_context(|| format!("cannot write {}", path.display()))
    };
    write("delays.svg", delays("Extra delay of each batch", runs))?;
    write("norms.svg", norms(runs))?;
    for stage in 0..runs.first().map_or(0, |run| run.stages.len()) {
        let name = &runs[0].stages[stage].stage;
        let chart = workers(&format!("Workers of {name}"), runs, stage);
        write(&format!("workers-{}.svg", file_name(name)), chart)?;
    }
    for run in runs {
        for stage in &run.stages {
            let name = format!("{}-{}", run.policy, stage.stage);
            write(
                &format!("stage-{}.svg", file_name(&name)),
                queue(&name, &stage.timeline.samples),
            )?;
        }
    }
    Ok(())
}

fn names(runs: &[Run]) -> Vec<String> {
    runs.iter().map(|run| run.policy.to_string()).collect()
}

pub(super) fn delays(title: &str, runs: &[Run]) -> String {
    let delays: Vec<Vec<f64>> = runs
        .iter()
        .map(|run| run.batches.iter().map(|batch| batch.extra_delay().as_secs_f64()).collect())
        .collect();
    let names = names(runs);
    let delays: Vec<Delays> =
        names.iter().zip(&delays).map(|(name, delays_s)| Delays { name, delays_s }).collect();
    sorted_delays(title, &delays)
}

/// Allocated over executed, by stage and policy.
fn norms(runs: &[Run]) -> String {
    let stages = runs.first().map_or(&[][..], |run| &run.stages);
    let stages: Vec<&str> = stages.iter().map(|stage| stage.stage.as_str()).collect();
    let values: Vec<Vec<f64>> = runs
        .iter()
        .map(|run| run.stages.iter().map(|stage| stage.norm().unwrap_or(0.0)).collect())
        .collect();
    let names = names(runs);
    let series: Vec<Bars> =
        names.iter().zip(&values).map(|(name, values)| Bars { name, values }).collect();
    let labels = Labels { title: "Cost of each stage", x: "stage", y: "allocated / executed" };
    bars(&labels, &stages, &series)
}

pub(super) fn workers(title: &str, runs: &[Run], stage: usize) -> String {
    let points: Vec<Vec<(f64, f64)>> = runs
        .iter()
        .map(|run| points(&run.stages[stage].timeline.samples, |sample| sample.workers))
        .collect();
    let names = names(runs);
    let series: Vec<Series> =
        names.iter().zip(&points).map(|(name, points)| Series { name, points }).collect();
    let labels = Labels { title, x: "time (s)", y: "workers" };
    line_chart(&labels, Line::Step, &series)
}

fn queue(title: &str, samples: &[Sample]) -> String {
    let workers = points(samples, |sample| sample.workers);
    let busy = points(samples, |sample| sample.busy);
    let queued = points(samples, |sample| sample.queued);
    let series = [("workers", &workers), ("busy", &busy), ("queued", &queued)];
    let series = series.map(|(name, points)| Series { name, points });
    let labels = Labels { title, x: "time (s)", y: "workers, requests" };
    line_chart(&labels, Line::Step, &series)
}

fn points(samples: &[Sample], value: impl Fn(&Sample) -> usize) -> Vec<(f64, f64)> {
    let seconds = |at: Micros| at.as_secs_f64();
    samples.iter().map(|sample| (seconds(sample.at), value(sample) as f64)).collect()
}

/// Stages and policies are named by users; a file's name is ours.
fn file_name(name: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    name.chars().map(|letter| if keep(letter) { letter } else { '_' }).collect()
}

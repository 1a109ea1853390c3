//! The ends that are expected of live batches, half-way through them, beside what came.

use assay_core::time::Micros;
use assay_sim::BatchRun;
use assay_sim::policy::Settings;

use super::comparison::{CPU, GPU, compare, fixed, settings};
use super::page::Page;
use super::workloads::Workloads;

const STARTUP_S: u64 = 30;
/// Workers of each stage of the fixed pool, for batches of this many requests; fewer for smaller ones.
const FIXED: (usize, usize) = (200, 6 * 2_048);

/// The goals for `assay`, as shares of a batch's median span: how far T is off at the median, and the end.
const T_OFF_MAX: f64 = 0.03;
const END_OFF_MAX: f64 = 0.05;

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    let workload = workloads.together()?;
    page.heading("The end that is expected of a batch");
    page.say(format!(
        "{}, {STARTUP_S} s of start-up. Half-way through each batch, by time: how far the plan's T (eq. 2, with the requests \
         that are still to come) and its end (with the waits for workers) were from those that came. The first \
         iteration has no history and is left out.",
        workload.origin
    ));
    let requests = (workloads.scale.batch * workloads.scale.tasks) as usize;
    let workers = (FIXED.0 * requests / FIXED.1).max(1);
    let settings = Settings { forecasts: true, ..settings(STARTUP_S) };
    let cases = [
        ("`assay`".to_owned(), "assay".to_owned()),
        (format!("{workers} of each stage"), format!("fixed:{CPU}={workers},{GPU}={workers}")),
    ];
    let mut table = Vec::new();
    for (name, policy) in cases {
        let compared = compare(&workload.trace, &policy, &settings)?;
        let measured: Vec<[f64; 3]> = compared.runs[0].batches.iter().filter_map(off).collect();
        let [t, end, span] = [0, 1, 2]
            .map(|at| ErrorSpread::of(measured.iter().map(|numbers| numbers[at]).collect()));
        table.push(vec![
            name,
            measured.len().to_string(),
            fixed(span.median, 0),
            t.text(),
            end.text(),
        ]);
        if policy == "assay" {
            page.goal(
                "`assay`, half-way: T and the end off at the median, of a batch's median span",
                format!("{:.0} %, {:.0} %", T_OFF_MAX * 100.0, END_OFF_MAX * 100.0),
                format!(
                    "{} %, {} %",
                    fixed(t.median / span.median * 100.0, 1),
                    fixed(end.median / span.median * 100.0, 1)
                ),
                t.median <= T_OFF_MAX * span.median && end.median <= END_OFF_MAX * span.median,
            );
        }
    }
    let heading = [
        "workers",
        "batches",
        "span, s",
        "T off: median (mean, max), s",
        "end off: median (mean, max), s",
    ];
    page.table(&heading, &table);
    Ok(())
}

/// Seconds by which T and the end were off, and those from the start of its rollout to its end.
fn off(batch: &BatchRun) -> Option<[f64; 3]> {
    let expected = batch.expected?;
    let apart = |one: Micros, other: Micros| one.since(other).max(other.since(one)).as_secs_f64();
    Some([
        apart(expected.earliest_end, batch.earliest_end),
        apart(expected.end, batch.completed),
        batch.completed.since(batch.rollout_start).as_secs_f64(),
    ])
}

struct ErrorSpread {
    median: f64,
    mean: f64,
    max: f64,
}

impl ErrorSpread {
    fn of(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        let count = numbers.len();
        let median = numbers.get(count / 2).copied().unwrap_or(f64::NAN);
        let mean = numbers.iter().sum::<f64>() / count as f64;
        Self { median, mean, max: numbers.last().copied().unwrap_or(f64::NAN) }
    }

    fn text(&self) -> String {
        format!("{} ({}, {})", fixed(self.median, 1), fixed(self.mean, 1), fixed(self.max, 1))
    }
}

//! How many programs that do nothing two threads run in a second.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use assay_bench::goal::Unit;
use assay_bench::stats::median;

use crate::contender::{Contender, Kind, Workshop};
use assay_bench::sections::{Measure, Section};

/// The number of threads: that of the workers of a machine with two cores.
const THREADS: usize = 2;
/// The time for which one contender runs in one round.
const STRETCH: Duration = Duration::from_secs(1);

const ABOUT: &str = "\
Two threads, each with a contender of its own (Assay: a helper process each), one run after the other. \
The same program and the same boxes as above.";

pub(crate) fn measure(workshop: &mut Workshop, kinds: &[Kind], rounds: usize) -> Result<Section> {
    let teams = kinds.iter().map(|kind| {
        let team = (0..THREADS).map(|_| workshop.contender(*kind));
        team.collect::<Result<Vec<_>>>()
    });
    let mut teams: Vec<_> = teams.collect::<Result<_>>()?;
    let mut rates = vec![Vec::new(); kinds.len()];
    for _ in 0..rounds {
        for (team, rates) in teams.iter_mut().zip(&mut rates) {
            rates.push(round(team)?);
        }
    }
    let mut measure = Measure::new("runs by two threads", Unit::PerSecond);
    for (kind, rates) in kinds.iter().zip(&rates) {
        measure = measure.value(kind.name(), median(rates));
    }
    Ok(Section {
        title: "Runs a second".into(),
        about: ABOUT,
        measures: vec![measure],
        notes: Vec::new(),
    })
}

/// Runs a second.
fn round(team: &mut [Contender]) -> Result<f64> {
    let started = Instant::now();
    let counts = thread::scope(|scope| {
        let start = |contender| scope.spawn(move || runs_until(contender, started + STRETCH));
        let threads: Vec<_> = team.iter_mut().map(start).collect();
        let counts = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        counts.collect::<Result<Vec<_>>>()
    })?;
    Ok(f64::from(counts.iter().sum::<u32>()) / started.elapsed().as_secs_f64())
}

fn runs_until(contender: &mut Contender, until: Instant) -> Result<u32> {
    let mut runs = 0;
    while Instant::now() < until {
        contender.run()?;
        runs += 1;
    }
    Ok(runs)
}

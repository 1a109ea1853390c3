//! `assay-reproduce`: the figures of the DistRS paper by simulation, and the planner's search compared
//! with another implementation.

mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use assay_sim::vectors;
use assay_simulation::file::open;
use clap::{Parser, Subcommand};

/// Reproduce the figures of the DistRS paper by simulation.
#[derive(Parser)]
#[command(name = "assay-reproduce", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run the figures of the DistRS paper and more, and write a page with charts
    Report(report::Options),
    /// Compare the planner's search with vectors that another implementation computed; exit with 1
    /// if a row differs
    Vectors {
        /// JSON lines, gzipped or plain; `-` for standard input
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    let ended = match Arguments::parse().verb {
        Verb::Report(options) => report::run(&options),
        Verb::Vectors { file } => compare_vectors(&file),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("assay-reproduce: {error:#}");
        ExitCode::FAILURE
    })
}

fn compare_vectors(file: &Path) -> anyhow::Result<ExitCode> {
    let replay = vectors::replay(open(file)?)?;
    for difference in &replay.differences {
        println!("{difference}");
    }
    let (differences, rows) = (replay.differences.len(), replay.rows);
    println!("{} vectors, {rows} rows: {differences} differences", replay.vectors);
    Ok(if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

//! How a report is given: on standard output, for people or programs, and into a file.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Serialize;

/// Tells a waiting person what is going on; the report alone is on standard output.
pub fn say(what: &str) {
    eprintln!("bench: {what}");
}

/// The findings of a benchmark.
pub trait Report: Serialize {
    fn text(&self) -> String;
    fn markdown(&self) -> String;
}

#[derive(clap::Args)]
pub struct Output {
    /// Also write the report as Markdown to this file.
    #[arg(long)]
    out: Option<PathBuf>,
    #[arg(short, long, value_enum, default_value = "text")]
    output: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

impl Output {
    pub fn give(&self, report: &impl Report) -> Result<()> {
        match self.output {
            Form::Text => print!("{}", report.text()),
            Form::Json => println!("{}", serde_json::to_string_pretty(report)?),
        }
        if let Some(path) = &self.out {
            std::fs::write(path, report.markdown())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

//! `assay passes`: pass@k of a run by iteration, or the solve rate of one prompt.

use std::collections::BTreeSet;
use std::process::ExitCode;

use assay_api::sample::SolveRates;
use assay_api::view::Iterations;
use assay_core::limits::{RUN_ITERATIONS_DEFAULT, RUN_ITERATIONS_MAX};
use serde_json::json;

use super::samples::tell_preparing;
use super::{ClientOptions, Format, print_json};

#[derive(clap::Args)]
pub(super) struct PassesCommand {
    #[command(flatten)]
    client: ClientOptions,
    /// Name of the run
    run: String,
    /// Show the solve rate of one prompt instead: the name of its group
    #[arg(long)]
    group: Option<String>,
    /// Number of iterations to show
    #[arg(long, default_value_t = RUN_ITERATIONS_DEFAULT, value_parser = iterations())]
    last: u32,
}

fn iterations() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(RUN_ITERATIONS_MAX))
}

pub(super) async fn run(options: PassesCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let format = options.client.format;
    // pass@k and solve rates come with the samples of a batch.
    let page = client.sample_page(&[("run", &options.run), ("limit", "1")]).await?;
    tell_preparing(page.preparing);
    if let Some(group) = &options.group {
        let rates = client.solve_rates(&options.run, group).await?;
        format.print(&rates, prompt)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = client.run(&options.run, options.last).await?.iterations;
    match format {
        Format::Json => print_json(&json!({
            "batch": found.batch,
            "iteration": found.iteration,
            "pass_at": found.pass_at,
            "solve_rates": found.solve_rates,
            "components": found.components,
        }))?,
        Format::Text => print!("{}", text(&found)),
    }
    Ok(ExitCode::SUCCESS)
}

/// A line an iteration, with a column for each k.
fn text(iterations: &Iterations) -> String {
    let all: BTreeSet<u32> =
        iterations.pass_at.iter().flat_map(|of| of.keys()).filter_map(|k| k.parse().ok()).collect();
    if all.is_empty() {
        return "pass@k is known for batches with groups, soon after their end\n".into();
    }
    let mut text = "iteration".to_owned();
    all.iter().for_each(|k| text.push_str(&format!("{:>10}", format!("pass@{k}"))));
    text.push('\n');
    for (iteration, of) in iterations.iteration.iter().zip(&iterations.pass_at) {
        text.push_str(&format!("{iteration:>9}"));
        for k in &all {
            let value = of.get(&k.to_string()).map_or("-".into(), |value| format!("{value:.3}"));
            text.push_str(&format!("{value:>10}"));
        }
        text.push('\n');
    }
    text
}

fn prompt(rates: &SolveRates) -> String {
    let mut text = "iteration    passed  solve rate\n".to_owned();
    for (at, iteration) in rates.iteration.iter().enumerate() {
        let (samples, passed) = (rates.samples[at], rates.passed[at]);
        let part = f64::from(passed) / f64::from(samples.max(1));
        let of = format!("{passed} of {samples}");
        text.push_str(&format!("{iteration:>9}{of:>10}{part:>12.3}\n"));
    }
    if rates.earlier {
        text.push_str("earlier batches are not shown\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn pass_at_k_reads_as_a_table() {
        let of = |values: &[(&str, f64)]| -> BTreeMap<String, f64> {
            values.iter().map(|(k, value)| ((*k).to_owned(), *value)).collect()
        };
        let iterations = Iterations {
            iteration: vec![7, 8],
            pass_at: vec![of(&[("1", 0.25), ("16", 1.0), ("2", 0.5)]), of(&[])],
            ..Iterations::default()
        };
        let expected = "\
iteration    pass@1    pass@2   pass@16
        7     0.250     0.500     1.000
        8         -         -         -
";
        assert_eq!(text(&iterations), expected);
        assert!(text(&Iterations::default()).contains("batches with groups"));
    }

    #[test]
    fn a_prompt_reads_as_a_table() {
        let mut rates = SolveRates::empty("a".into(), 1.0, true);
        (rates.iteration, rates.samples, rates.passed) = (vec![3], vec![8], vec![2]);
        let expected = "\
iteration    passed  solve rate
        3    2 of 8       0.250
earlier batches are not shown
";
        assert_eq!(prompt(&rates), expected);
    }
}

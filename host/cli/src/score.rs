//! `assay score`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use assay_client::Client;
use assay_client::score::{self, ScoreError, Summary, Target};
use serde_json::value::RawValue;

use super::progress::View;
use super::serve::Interruption;
use super::terminal::unprintable;
use super::{Connection, Format, print_json};

/// Score every line of FILE: {"key", "group", "prompt", "response", "label", "expected"?, "expected_ms"?}.
///
/// Results are written as JSON lines next to FILE as they arrive. A second call scores only the
/// lines that have no reward yet. Exits with 1 if a request ended in an error or a line could not
/// be read.
#[derive(clap::Args)]
pub(super) struct ScoreCommand {
    #[command(flatten)]
    connection: Connection,
    /// JSON-lines file to score
    file: PathBuf,
    /// Plugin, as NAME@CHANNEL or NAME@VERSION
    #[arg(long)]
    plugin: String,
    /// File for the results, `-` for standard output [default: FILE.results.jsonl]
    #[arg(long)]
    output: Option<PathBuf>,
    /// Name of the run
    #[arg(long)]
    run: Option<String>,
    /// Settings of the plugin, as a JSON object
    #[arg(long, value_parser = settings)]
    settings: Option<String>,
    /// Compute every line, even if an equal line was computed
    #[arg(long)]
    compute_each: bool,
    /// Largest difference between a reward and `expected` that counts as agreement
    #[arg(long, default_value_t = 1e-9, value_parser = tolerance)]
    tolerance: f64,
    /// Exit with 1 also if a reward differs from `expected`
    #[arg(long)]
    require_agreement: bool,
    /// Output format of the summary
    #[arg(short = 'o', long = "format", value_enum, default_value = "text")]
    format: Format,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "write a finite number of 0 or more".into())
}

fn settings(text: &str) -> Result<String, String> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(_)) => Ok(text.into()),
        Ok(_) => Err("settings must be a JSON object".into()),
        Err(error) => Err(format!("settings are not JSON: {error}")),
    }
}

pub(super) async fn run(options: ScoreCommand) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let mut wanted = score::Options::new(options.file, options.plugin);
    wanted.run = options.run;
    wanted.share_equal = !options.compute_each;
    wanted.tolerance = options.tolerance;
    wanted.require_agreement = options.require_agreement;
    wanted.settings =
        options.settings.map(RawValue::from_string).transpose().context("reading the settings")?;
    let to_stdout = options.output.as_ref().is_some_and(|output| output.as_os_str() == "-");
    if to_stdout {
        wanted.output = Target::Stdout;
    } else if let Some(output) = options.output {
        wanted.output = Target::File(output);
    }
    let mut interruption = Interruption::listen()?;
    let summary = match score_file(&client, &wanted, &mut interruption).await {
        Err(ScoreError::Output { source, .. }) if to_stdout => unprintable(source),
        ended => ended?,
    };
    match options.format {
        Format::Json if to_stdout => eprintln!("{}", serde_json::to_string_pretty(&summary)?),
        Format::Json => print_json(&summary)?,
        Format::Text => eprint!("{}", summary.text()),
    }
    Ok(if summary.ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Scores with a progress bar.
pub(super) async fn score_file(
    client: &Client,
    options: &score::Options,
    interruption: &mut Interruption,
) -> Result<Summary, ScoreError> {
    let mut view = View::new();
    let scored =
        score::score(client, options, |progress| view.show(progress), interruption.came()).await;
    view.end();
    scored
}

#[cfg(test)]
mod tests {
    use super::tolerance;

    #[test]
    fn a_tolerance_is_finite_and_not_negative() {
        for text in ["nan", "inf", "-1", "-1e-9", "", "much"] {
            assert!(tolerance(text).is_err(), "{text}");
        }
        assert_eq!(tolerance("0"), Ok(0.0));
        assert_eq!(tolerance("1e-6"), Ok(1e-6));
    }
}

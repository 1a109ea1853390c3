//! `assay plugin test`: builds, then runs golden cases on this machine in the sandbox of the service.

mod against;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use assay_client::Client;
use serde::Serialize;

use super::super::engine::{Described, EngineOptions, LocalCaseOptions, LocalCaseReport};
use super::super::terminal::harmless;
use super::super::{Format, print_json};
use super::project::Source;

#[derive(clap::Args)]
pub(super) struct PluginTestCommand {
    /// Folder of the project
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Write the actual outcome into each case that expects another; review the change before you
    /// keep it
    #[arg(long)]
    update: bool,
    /// Number of times to run each case; a case fails if its outcomes differ
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Run again after each change of the files that `watch` in plugin.toml names, until Ctrl-C
    #[arg(long, conflicts_with_all = ["update", "against"])]
    watch: bool,
    /// Replay recorded requests of this version or channel, and list the rewards that changed
    #[arg(long, value_name = "VERSION|CHANNEL")]
    against: Option<String>,
    /// Only requests of this run
    #[arg(long, requires = "against")]
    run: Option<String>,
    /// Maximum number of requests, those of the latest batches first
    #[arg(long, requires = "against", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    #[command(flatten)]
    engine: EngineOptions,
}

/// The results of the golden cases.
#[derive(Serialize)]
pub(super) struct Tested {
    pub plugin: String,
    pub passed: usize,
    pub failed: usize,
    cases: Vec<LocalCaseReport>,
}

pub(super) async fn run(
    options: PluginTestCommand,
    format: Format,
    client: impl FnOnce() -> anyhow::Result<Client>,
) -> anyhow::Result<ExitCode> {
    let source = Source::at(&options.path)?;
    if options.watch {
        let project = source.project();
        let project =
            project.ok_or_else(|| anyhow::anyhow!("--watch needs the folder of a project"))?;
        watch::run(project, &options, format).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(against) = &options.against else {
        let (_, tested) = test(&source, &options.engine, options.runs(), format).await?;
        ensure!(
            !tested.cases.is_empty(),
            "there are no golden cases: write some in the folder that `cases` in plugin.toml names"
        );
        if format == Format::Json {
            print_json(&tested)?;
        }
        return Ok(code(tested.failed == 0));
    };
    let plugin = options.engine.describe(&source.component(&options.engine).await?).await?;
    let wanted =
        against::ReplaySelection { against, run: options.run.as_deref(), limit: options.limit };
    let report = against::replay(&client()?, &options.engine, &plugin, wanted).await?;
    format.print(&report, against::text)?;
    ensure!(
        report.compared > 0,
        "no request could be compared on this machine, so that nothing was shown; the report says why"
    );
    Ok(code(report.changed.is_empty()))
}

impl PluginTestCommand {
    fn runs(&self) -> LocalCaseOptions {
        LocalCaseOptions { update: self.update, repeat: self.repeat }
    }
}

fn code(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Builds the component and runs the project's cases; as text, each is printed when it ends.
pub(super) async fn test(
    source: &Source,
    engine: &EngineOptions,
    runs: LocalCaseOptions,
    format: Format,
) -> anyhow::Result<(Described, Tested)> {
    let plugin = engine.describe(&source.component(engine).await?).await?;
    let cases = source.project().map_or_else(|| Ok(Vec::new()), |project| project.cases())?;
    let told = |case: &LocalCaseReport| {
        if format == Format::Text {
            print!("{}", line(case));
        }
    };
    let cases = match cases.is_empty() {
        true => Vec::new(),
        false => engine.test(&plugin, &cases, runs, told).await?,
    };
    let failed = cases.iter().filter(|case| case.failed()).count();
    let tested = Tested { plugin: plugin.reference(), passed: cases.len() - failed, failed, cases };
    if format == Format::Text {
        println!("{}: {} passed, {failed} failed", tested.plugin, tested.passed);
    }
    Ok((plugin, tested))
}

/// A line for a case; below a failed one, the differences and the plugin's explanation and logs.
fn line(case: &LocalCaseReport) -> String {
    let LocalCaseReport { case: name, file, state, ran_ms, .. } = case;
    let word = match state.as_str() {
        "passed" => "ok",
        "updated" => "updated",
        _ => "FAILED",
    };
    let mut text = format!("{word:7} {name}  {ran_ms:.1} ms\n");
    if state == "passed" {
        return text;
    }
    let indent = " ".repeat(8);
    text.push_str(&format!("{indent}in {}\n", file.display()));
    if state == "unstable" {
        let problem = case.problem.as_deref().unwrap_or_default();
        text.push_str(&format!("{indent}its outcomes differ: {problem}\n"));
        return text;
    }
    for field in ["outcome", "reward", "verdict", "code"] {
        let (expected, got) = (&case.expected[field], &case.got[field]);
        if !expected.is_null() && expected != got {
            text.push_str(&format!("{indent}- {field}: {}\n", plain(expected)));
        }
        if expected != got && !got.is_null() {
            text.push_str(&format!("{indent}+ {field}: {}\n", plain(got)));
        }
    }
    if !case.explanation.is_empty() {
        let explanation = harmless(&case.explanation).replace('\n', " ");
        text.push_str(&format!("{indent}  explanation: {explanation}\n"));
    }
    for log in &case.logs {
        text.push_str(&format!("{indent}  log {}\n", harmless(log)));
    }
    text
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), harmless)
}

//! Runs golden cases against a component on the author's own machine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use assay_core::outcome::{ErrorCode, StageEnd};
use assay_sandbox::cases::{Expect, GoldenCase};
use assay_sandbox::pipeline::{self, StageRecord};
use serde::Serialize;

use crate::local::{self, Local};
use crate::schemas;

#[derive(clap::Args)]
pub(crate) struct GoldenOptions {
    #[command(flatten)]
    local: local::LocalOptions,
    /// Files or folders with golden cases
    #[arg(required = true)]
    cases: Vec<PathBuf>,
    /// Write the actual outcome into each case that expects another
    #[arg(long)]
    update: bool,
    /// Number of times to run each case; a case fails if its outcomes differ
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Print a line of JSON for each case
    #[arg(long)]
    json: bool,
}

/// The result of one case.
#[derive(Debug, Serialize)]
struct GoldenReport<'a> {
    case: &'a str,
    file: &'a Path,
    state: LocalCaseState,
    /// The time of its first run, over all stages, in milliseconds.
    ran_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    expected: Option<&'a Expect>,
    got: Expect,
    /// The plugin's explanation, or the error's message.
    explanation: String,
    /// `stage level: message`, a line each.
    logs: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LocalCaseState {
    Passed,
    Failed,
    /// It failed, and now expects the new outcome.
    Updated,
    /// Its runs ended differently.
    Unstable,
}

/// Prints a line a case; fails when one of them differs.
pub(crate) fn run(options: &GoldenOptions) -> anyhow::Result<ExitCode> {
    let local = options.local.open()?;
    let schemas = schemas::compile(&local.compiled.description)?;
    let mut failures = 0;
    for path in &options.cases {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let case = GoldenCase::parse(&text).map_err(anyhow::Error::msg);
        let case = case.with_context(|| format!("{} is no case", path.display()))?;
        let ran = case.run(&local.pipeline());
        let mut report = judge(&local, options, &case, &ran, path);
        if let Err(mismatch) = schemas::check(&schemas, &case) {
            (report.state, report.problem) = (LocalCaseState::Failed, Some(mismatch));
        }
        if report.state == LocalCaseState::Updated {
            let timeout_reward = local.compiled.description.timeout_reward;
            let updated = case.updated(&text, pipeline::end(&ran), timeout_reward);
            std::fs::write(path, updated).with_context(|| format!("writing {}", path.display()))?;
        }
        failures +=
            usize::from(matches!(report.state, LocalCaseState::Failed | LocalCaseState::Unstable));
        if options.json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            println!("{}", line(&report));
        }
    }
    if !options.json {
        println!("{} passed, {failures} failed", options.cases.len() - failures);
    }
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judge<'a>(
    local: &Local,
    options: &GoldenOptions,
    case: &'a GoldenCase,
    ran: &[StageRecord],
    file: &'a Path,
) -> GoldenReport<'a> {
    let timeout_reward = local.compiled.description.timeout_reward;
    let end = pipeline::end(ran);
    let first = Expect::of(end, timeout_reward);
    // An explanation may contain times; the reward must be the same.
    let repeat = if end.is_starved() { 1 } else { options.repeat };
    let again = (1..repeat).find_map(|before| {
        let ran = case.run(&local.pipeline());
        difference(before + 1, pipeline::end(&ran), &first, timeout_reward)
    });
    let compared = case.compare(end, timeout_reward);
    let (state, problem) = state_of(end, again, compared, options.update);
    let ran_ms = ran.iter().map(|ran| ran.run.ran.as_ms_f64()).sum();
    let logs = ran.iter().flat_map(|ran| {
        let lines = ran.run.logs.iter();
        lines.map(|line| format!("{} {}: {}", ran.stage, line.level.as_str(), line.message))
    });
    GoldenReport {
        case: &case.name,
        file,
        state,
        ran_ms,
        problem,
        expected: case.expected(),
        got: first,
        explanation: explanation(end),
        logs: logs.collect(),
    }
}

/// The state of a case, and the problem in words. `again` says how a later run differs from the first.
fn state_of(
    end: &StageEnd,
    again: Option<String>,
    compared: Result<(), String>,
    update: bool,
) -> (LocalCaseState, Option<String>) {
    match (again, compared) {
        // This says nothing about the plugin, so an update must not expect it.
        _ if end.is_starved() => (LocalCaseState::Failed, Some(explanation(end))),
        (None, Err(_)) if update && is_unavailable(end) => {
            (LocalCaseState::Failed, Some(explanation(end)))
        }
        (Some(problem), _) => (LocalCaseState::Unstable, Some(problem)),
        (None, Ok(())) => (LocalCaseState::Passed, None),
        (None, Err(problem)) if update => (LocalCaseState::Updated, Some(problem)),
        (None, Err(problem)) => (LocalCaseState::Failed, Some(problem)),
    }
}

/// Whether this machine lacked what the plugin asked for.
fn is_unavailable(end: &StageEnd) -> bool {
    matches!(end, StageEnd::Failed(error) if error.code == ErrorCode::Unavailable)
}

/// How a later run differs from the first. A run that the machine kept waiting says nothing.
fn difference(run: u32, end: &StageEnd, first: &Expect, timeout_reward: f64) -> Option<String> {
    let other = Expect::of(end, timeout_reward);
    (!end.is_starved() && other != *first)
        .then(|| format!("run {run} ended in {}, the first in {}", as_json(&other), as_json(first)))
}

fn as_json(end: &Expect) -> String {
    serde_json::to_string(end).expect("plain data")
}

fn explanation(end: &StageEnd) -> String {
    match end {
        StageEnd::Scored(scored) => scored.explanation.clone(),
        StageEnd::Failed(error) => error.message.clone(),
        StageEnd::TimedOut | StageEnd::Next(_) => String::new(),
    }
}

fn line(report: &GoldenReport<'_>) -> String {
    let name = report.case;
    let problem = report.problem.as_deref().unwrap_or_default();
    match report.state {
        LocalCaseState::Passed => format!("ok      {name}"),
        LocalCaseState::Failed => format!("FAILED  {name}: {problem}"),
        LocalCaseState::Updated => format!("updated {name}: {problem}"),
        LocalCaseState::Unstable => {
            format!("FAILED  {name}: it is not the same each time: {problem}")
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::outcome::{ErrorCode, StageError};

    use super::*;

    fn failed(code: ErrorCode) -> StageEnd {
        let message = "the machine is overloaded".to_owned();
        StageEnd::Failed(StageError { code, message })
    }

    #[test]
    fn a_run_that_the_machine_kept_waiting_changes_no_case() {
        let (starved, trapped) = (failed(ErrorCode::LeaseExpired), failed(ErrorCode::PluginTrap));
        let differs = || Err("expected Scored".to_owned());
        for update in [false, true] {
            let (state, problem) = state_of(&starved, None, differs(), update);
            assert_eq!(state, LocalCaseState::Failed);
            assert_eq!(problem.as_deref(), Some("the machine is overloaded"));
        }
        assert_eq!(state_of(&trapped, None, differs(), true).0, LocalCaseState::Updated);
        let lacking = failed(ErrorCode::Unavailable);
        assert_eq!(state_of(&lacking, None, differs(), true).0, LocalCaseState::Failed);
        assert_eq!(state_of(&lacking, None, Ok(()), true).0, LocalCaseState::Passed);
        let first = Expect::of(&StageEnd::TimedOut, 0.0);
        assert_eq!(difference(2, &starved, &first, 0.0), None);
        assert!(difference(2, &trapped, &first, 0.0).is_some());
    }
}

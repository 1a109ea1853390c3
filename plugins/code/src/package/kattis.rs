//! Kattis packages, in the legacy format and that of 2023-07; README.md lists what is supported.

use assay_plugin::Error;
use serde::Deserialize;
use serde_json::Value;

use super::Package;
use super::folder::pairs;
use super::program::program_of;
use crate::compare::{Comparison, Flags};
use crate::limits::{CPU_MS_MAX, TestLimits};
use crate::machine::Objects;
use crate::problem::{Data, Group, Judge, Problem, Protocol, Test};

/// The fields of `problem.yaml` that are used.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ProblemFile {
    #[serde(rename = "type")]
    kind: Words,
    validation: Words,
    validator_flags: Words,
    limits: LimitsFile,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LimitsFile {
    /// Seconds.
    time_limit: Option<f64>,
    /// MiB.
    memory: Option<f64>,
    /// MiB.
    output: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GroupFile {
    output_validator_flags: Words,
    output_validator_args: Words,
}

/// A text of words or a list of them, as the versions of the format have it.
#[derive(Default)]
struct Words(Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = |value: Value| match value {
            Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
            Value::Null => Vec::new(),
            other => vec![other.to_string()],
        };
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::Array(items) => items.into_iter().flat_map(word).collect(),
            one => word(one),
        }))
    }
}

impl Words {
    fn has(&self, word: &str) -> bool {
        self.0.iter().any(|have| have == word)
    }
}

pub(super) fn read<O: Objects>(package: &Package<'_, O>) -> Result<Problem, Error> {
    let file: ProblemFile = package.yaml("problem.yaml")?;
    let refused = ["scoring", "multi-pass", "submit-answer", "score", "multipass"];
    let is_refused = |word: &&&str| file.kind.has(word) || file.validation.has(word);
    if let Some(word) = refused.iter().find(is_refused) {
        return Err(package.fault(format!("problems of type `{word}` are not supported")));
    }
    if let Some(path) = package.below("include").next() {
        return Err(
            package.fault(format!("files included in submissions ({path}) are not supported"))
        );
    }
    let validator = validator(package, &file)?;
    let mut problem = Problem {
        groups: Vec::new(),
        judges: validator.into_iter().collect(),
        limits: limits(package, &file.limits)?,
    };
    for folder in ["data/sample", "data/secret"] {
        let tests = pairs(package.below(folder)).map_err(|problem| package.fault(problem))?;
        for (stem, input, answer) in tests {
            let mut args = file.validator_flags.0.clone();
            args.extend(group_flags(package, stem)?);
            let (judge, args) =
                judge_of(&mut problem.judges, args).map_err(|problem| package.fault(problem))?;
            let test = Test {
                name: stem.trim_start_matches("data/").to_owned(),
                input: Data::Object(package.name(input)),
                answer: Data::Object(package.name(answer)),
                judge,
                args,
            };
            problem.groups.push(Group { points: 1.0, tests: vec![test] });
        }
    }
    Ok(problem)
}

/// The package's own validator takes the flags as arguments; the default one is a comparison of each.
fn judge_of(judges: &mut Vec<Judge>, args: Vec<String>) -> Result<(usize, Vec<String>), String> {
    if matches!(judges.first(), Some(Judge::Checker(_) | Judge::Interactor(_))) {
        return Ok((0, args));
    }
    let judge = Judge::Compare(Comparison::Kattis(Flags::read(&args)?));
    let at = judges.iter().position(|have| *have == judge).unwrap_or_else(|| {
        judges.push(judge);
        judges.len() - 1
    });
    Ok((at, Vec::new()))
}

/// `None` for the default validator.
fn validator<O: Objects>(
    package: &Package<'_, O>,
    file: &ProblemFile,
) -> Result<Option<Judge>, Error> {
    let folder = ["output_validator", "output_validators"]
        .into_iter()
        .find(|folder| package.below(folder).next().is_some());
    let interactive = file.kind.has("interactive") || file.validation.has("interactive");
    // The legacy format says whether the validator is used; the later one uses it where it is there.
    let custom = file.validation.has("custom") || folder == Some("output_validator") || interactive;
    let folder = match folder {
        _ if !custom => return Ok(None),
        Some(folder) => folder,
        None => return Err(package.fault("there is no output validator")),
    };
    let paths: Vec<&str> = package.below(folder).collect();
    let inside =
        |path: &'_ str| path[folder.len() + 1..].split_once('/').map(|(name, _)| name.to_owned());
    let mut programs: Vec<Option<String>> = paths.iter().map(|path| inside(path)).collect();
    programs.dedup();
    if programs.len() > 1 && programs.iter().any(Option::is_some) {
        return Err(package.fault(format!("more than one validator in {folder}")));
    }
    let program = program_of(package, &paths, Protocol::Kattis)
        .map_err(|problem| package.fault(format!("{folder}: {problem}")))?;
    Ok(Some(if interactive { Judge::Interactor(program) } else { Judge::Checker(program) }))
}

fn limits<O: Objects>(package: &Package<'_, O>, file: &LimitsFile) -> Result<TestLimits, Error> {
    let mut seconds = file.time_limit;
    if seconds.is_none() && package.has(".timelimit") {
        let text = package.text(".timelimit")?;
        let read = text.trim().parse();
        seconds = Some(read.map_err(|_| package.fault(".timelimit holds no number"))?);
    }
    let whole = |what: &str, value: Option<f64>, scale: f64, least: u32, most: u32| {
        let Some(value) = value else { return Ok(None) };
        if !(value.is_finite() && value > 0.0) {
            return Err(package.fault(format!("{what} must be above 0")));
        }
        // The cast saturates.
        Ok(Some(((value * scale).ceil() as u32).clamp(least, most)))
    };
    Ok(TestLimits {
        cpu_ms: whole("the time limit", seconds, 1_000.0, 1, CPU_MS_MAX)?,
        memory_mib: whole("limits.memory", file.memory, 1.0, 4, 4_096)?,
        output_kib: whole("limits.output", file.output, 1_024.0, 1, 16_384)?,
        processes: None,
    })
}

/// The flags in the nearest folder above the test that has any.
fn group_flags<O: Objects>(package: &Package<'_, O>, test: &str) -> Result<Vec<String>, Error> {
    let mut folder = test;
    while let Some((above, _)) = folder.rsplit_once('/') {
        folder = above;
        for name in ["testdata.yaml", "test_group.yaml"] {
            let path = format!("{folder}/{name}");
            if !package.has(&path) {
                continue;
            }
            let file: GroupFile = package.yaml(&path)?;
            let flags = [file.output_validator_flags.0, file.output_validator_args.0].concat();
            if !flags.is_empty() {
                return Ok(flags);
            }
        }
    }
    Ok(Vec::new())
}

//! HumanEval's canonical solutions through a real server, and by a plain Python process each.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use assay_bench::assay::{Assay, Start, pinned};
use assay_bench::goal::{Goal, Unit};
use assay_bench::stats::median;
use assay_client::score::{self, Options, Target};
use flate2::read::GzDecoder;
use futures_util::future::pending;
use serde::Deserialize;
use serde_json::json;

use assay_bench::sections::{ASSAY, Measure, PLAIN, Section};

/// Workers of the server, and plain processes at once.
const AT_ONCE: usize = 2;

const ABOUT: &str = "\
Every prompt with its canonical solution, judged by the problem's own tests. Plain: a Python process a \
problem, two at once, in which solution and tests run together without any box, so that a solution can \
pass by ending the process or by changing what the tests see. Assay: `assay score` against a server \
with two workers and the plugin `code`; requests and results are durable, the solution and its tests \
run in a box each and only plain data passes between them.";

#[derive(Deserialize)]
pub(crate) struct Problem {
    prompt: String,
    canonical_solution: String,
    test: String,
    entry_point: String,
}

pub(crate) struct Places<'a> {
    /// The server's program.
    pub(crate) assay: &'a Path,
    /// The component of the plugin `code`.
    pub(crate) plugin: &'a Path,
    pub(crate) python: &'a Path,
    pub(crate) folder: &'a Path,
}

pub(crate) fn read(path: &Path) -> Result<Vec<Problem>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

pub(crate) async fn measure(
    places: &Places<'_>,
    problems: &[Problem],
    rounds: usize,
) -> Result<Section> {
    fs::create_dir_all(places.folder)?;
    let input = places.folder.join("rows.jsonl");
    write_rows(&input, problems)?;
    let scripts = write_scripts(places.folder, problems)?;
    let folder = places.folder.join("server");
    let start = Start { program: places.assay, folder: &folder, workers: AT_ONCE };
    let assay = Assay::start(&start).await?;
    let plugin = pinned(&assay.publish(places.plugin).await?);
    let (mut of_plain, mut of_assay) = (Vec::new(), Vec::new());
    let (mut passed_min, mut notes) = (problems.len() as f64, Vec::new());
    // The first round warms up and does not count: workers load the plugin and start their helpers.
    for number in 0..=rounds {
        let (python, scripts) = (places.python.to_owned(), scripts.clone());
        of_plain.push(tokio::task::spawn_blocking(move || plain(&python, &scripts)).await??);
        let mut options = Options::new(input.clone(), plugin.clone());
        options.output = Target::File(places.folder.join(format!("{number}.results.jsonl")));
        let begun = Instant::now();
        let summary = score::score(&assay.client, &options, |_| {}, pending()).await?;
        of_assay.push(begun.elapsed().as_secs_f64());
        let passed = summary.verdicts.get("success").map_or(0.0, |passed| *passed as f64);
        if passed < problems.len() as f64 {
            notes.push(format!("Not every solution passed:\n{}", summary.text()));
        }
        passed_min = passed.min(passed_min);
    }
    let counted = |taken: &[f64]| taken.get(1..).and_then(median);
    let (of_plain, of_assay) = (counted(&of_plain), counted(&of_assay));
    let count = problems.len() as f64;
    let rate = |taken: Option<f64>| taken.map(|taken| count / taken);
    Ok(Section {
        title: "HumanEval".into(),
        about: ABOUT,
        measures: vec![
            Measure::new("all problems", Unit::Seconds)
                .value(PLAIN, of_plain)
                .value(ASSAY, of_assay),
            Measure::new("problems", Unit::PerSecond)
                .value(PLAIN, rate(of_plain))
                .value(ASSAY, rate(of_assay)),
            // A plain run that fails ends the measurement.
            Measure::new("passed in every round", Unit::Count)
                .value(PLAIN, Some(count))
                .value(ASSAY, Some(passed_min))
                .goal(Goal::AtLeast(count)),
        ],
        notes,
    })
}

/// Rows as a trainer has them: the whole function in a fenced block.
fn write_rows(path: &Path, problems: &[Problem]) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for (number, problem) in problems.iter().enumerate() {
        let Problem { prompt, canonical_solution, test, entry_point } = problem;
        let row = json!({
            "key": format!("HumanEval/{number}"),
            "prompt": prompt,
            "response": format!("```python\n{prompt}{canonical_solution}\n```\n"),
            "label": { "prompt": prompt, "entry_point": entry_point, "test": test },
            "expected": 1.0,
        });
        writeln!(file, "{row}")?;
    }
    Ok(file.flush()?)
}

fn write_scripts(folder: &Path, problems: &[Problem]) -> Result<Vec<PathBuf>> {
    let scripts = problems.iter().enumerate().map(|(number, problem)| {
        let path = folder.join(format!("{number}.py"));
        fs::write(&path, script(problem))?;
        Ok(path)
    });
    scripts.collect()
}

fn script(problem: &Problem) -> String {
    let Problem { prompt, canonical_solution, test, entry_point } = problem;
    format!("{prompt}{canonical_solution}\n{test}\ncheck({entry_point})\n")
}

/// Seconds for all of them.
fn plain(python: &Path, scripts: &[PathBuf]) -> Result<f64> {
    let next = AtomicUsize::new(0);
    let take = || -> Result<()> {
        while let Some(script) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut command = Command::new(python);
            let output = command.arg(script).stdin(Stdio::null()).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "{}: {said}", script.display());
        }
        Ok(())
    };
    let begun = Instant::now();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(take)).collect();
        let ended = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        ended.collect::<Result<()>>()
    })?;
    Ok(begun.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "/usr/bin/python3";

    fn problem(solution: &str) -> Problem {
        Problem {
            prompt: "def twice(n):\n".into(),
            canonical_solution: format!("    return {solution}\n"),
            test: "def check(candidate):\n    assert candidate(4) == 8\n".into(),
            entry_point: "twice".into(),
        }
    }

    #[test]
    fn a_script_fails_where_the_solution_is_wrong() {
        let folder = tempfile::tempdir().expect("a folder");
        let right = write_scripts(folder.path(), &[problem("2 * n"), problem("n + n")]);
        let seconds = plain(Path::new(PYTHON), &right.expect("two scripts")).expect("both pass");
        assert!(seconds > 0.0);
        let wrong = write_scripts(folder.path(), &[problem("n")]).expect("a script");
        let error = plain(Path::new(PYTHON), &wrong).expect_err("it is wrong").to_string();
        assert!(error.contains("AssertionError"), "{error}");
    }

    #[test]
    fn rows_are_read_and_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let (packed, rows) = (folder.path().join("in.gz"), folder.path().join("rows"));
        let line = json!({
            "task_id": "x", "prompt": "def f():\n", "canonical_solution": "    return 1\n",
            "test": "def check(f): pass", "entry_point": "f",
        });
        let file = File::create(&packed).expect("a file");
        let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        write!(packer, "{line}\n{line}\n").expect("it takes it");
        packer.finish().expect("whole");
        let problems = read(&packed).expect("two problems");
        write_rows(&rows, &problems).expect("they are written");
        let text = fs::read_to_string(rows).expect("they are there");
        let rows: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1]["response"], "```python\ndef f():\n    return 1\n\n```\n");
        assert_eq!(rows[1]["label"]["entry_point"], "f");
    }
}

//! A C++ submission from its source to the verdict over three tests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use assay_bench::goal::Unit;
use assay_bench::stats::median;
use assay_core::id::TenantId;
use assay_exec::{Blob, CompareMode, Matched, ProgramArtifact, StopAt, TestBatch, TestCase};

use crate::judge::{Judge, Submission};
use assay_bench::sections::{ASSAY, Measure, PLAIN, Section};

const SOURCE: &str = include_str!("submission.cpp");
const TOOLCHAIN: &str = "cpp17-gcc";
/// Submissions in a round.
const SUBMISSIONS: usize = 3;
/// Input and output of each test.
const TESTS: [(&str, &str); 3] = [
    ("0\n", "0 0\n"),
    ("3\nb 1\na 2\nb 4\n", "b 5\na 2\n7 2\n"),
    ("5\nz -3\ny 10\nx 10\nw 0\nz 3\n", "x 10\ny 10\nw 0\nz 0\n20 3\n"),
];

const ABOUT: &str = "\
A program with <bits/stdc++.h>, vector, sort and map, and three tests whose output is compared by \
tokens. Plain: `g++ -std=gnu++17 -O2 -static` and three runs without any box. Assay: the same options \
in a box with the header precompiled, which happens once a machine, and a box for each run. A program \
that was compiled before is found by the hash of its source; plain has no such thing and is shown with \
its three runs alone.";

/// How long one way took with one submission.
#[derive(Clone, Copy)]
struct Taken {
    compile: Duration,
    run: Duration,
}

pub(crate) fn measure(helper_program: &Path, folder: &Path, rounds: usize) -> Result<Section> {
    let mut judge = Judge::new(helper_program, &folder.join("cache"), TenantId::generate())?;
    let found = judge.toolchains()?;
    ensure!(found.iter().any(|id| id == TOOLCHAIN), "{TOOLCHAIN} is not here: install g++");
    let plain = Plain::new(folder)?;
    let batch = batch();
    // The first compilation precompiles the header.
    let first = boxed(&mut judge, &batch, 0)?.compile;
    let (mut of_plain, mut of_assay, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=rounds * SUBMISSIONS {
        of_plain.push(plain.judge(number)?);
        of_assay.push(boxed(&mut judge, &batch, number)?);
        again.push(boxed_again(&mut judge, &batch, number)?);
    }
    let row = |name: &str, taken: fn(&Taken) -> Duration| {
        Measure::new(name, Unit::Milliseconds)
            .value(PLAIN, median_ms(&of_plain, taken))
            .value(ASSAY, median_ms(&of_assay, taken))
    };
    let measures = vec![
        row("compiled and run over three tests", |taken| taken.compile + taken.run),
        row("of it the compilation", |taken| taken.compile),
        Measure::new("the same, compiled before", Unit::Milliseconds)
            .value(PLAIN, median_ms(&of_plain, |taken| taken.run))
            .value(ASSAY, median_ms(&again, |taken| taken.compile + taken.run)),
        Measure::new("the machine's first compilation", Unit::Milliseconds)
            .value(ASSAY, Some(first.as_secs_f64() * 1e3)),
    ];
    let title = "A C++ submission with three tests".into();
    Ok(Section { title, about: ABOUT, measures, notes: Vec::new() })
}

fn median_ms(taken: &[Taken], pick: fn(&Taken) -> Duration) -> Option<f64> {
    let each: Vec<_> = taken.iter().map(|taken| pick(taken).as_secs_f64() * 1e3).collect();
    median(&each)
}

/// Another source each time: nothing has seen it before.
fn source(number: usize) -> String {
    format!("// Submission {number}\n{SOURCE}")
}

fn batch() -> TestBatch {
    let case = |(input, output): &(&str, &str)| TestCase {
        stdin: Blob::Inline(input.as_bytes().to_vec()),
        args: Vec::new(),
        env: Vec::new(),
        files: Vec::new(),
        collect: Vec::new(),
        limits: None,
        expect: Some((Blob::Inline(output.as_bytes().to_vec()), CompareMode::Tokens)),
    };
    TestBatch {
        cases: TESTS.iter().map(case).collect(),
        limits: None,
        stop: StopAt::FirstMismatch,
        return_stdout: false,
        rerun_near_limit: true,
    }
}

fn boxed(judge: &mut Judge, batch: &TestBatch, number: usize) -> Result<Taken> {
    let (taken, cached) = judged(judge, batch, number)?;
    ensure!(!cached, "submission {number} was there before");
    Ok(taken)
}

fn boxed_again(judge: &mut Judge, batch: &TestBatch, number: usize) -> Result<Taken> {
    let (taken, cached) = judged(judge, batch, number)?;
    ensure!(cached, "submission {number} was compiled twice");
    Ok(taken)
}

fn judged(judge: &mut Judge, batch: &TestBatch, number: usize) -> Result<(Taken, bool)> {
    let text = source(number);
    let begun = Instant::now();
    let submission = Submission { toolchain: TOOLCHAIN, file: "main.cpp", text: &text };
    let accepted = judge.compile(&submission)?;
    let compile = begun.elapsed();
    run(judge, &accepted.artifact, batch)?;
    Ok((Taken { compile, run: begun.elapsed() - compile }, accepted.cached))
}

fn run(judge: &mut Judge, program: &ProgramArtifact, batch: &TestBatch) -> Result<()> {
    let results = judge.run(program, batch)?;
    let passed = results.iter().filter(|result| result.matched == Matched::Equal).count();
    ensure!(passed == TESTS.len(), "the submission passed {passed} tests: {results:?}");
    Ok(())
}

/// Without any box.
struct Plain {
    folder: PathBuf,
    /// A file for each test.
    inputs: Vec<PathBuf>,
}

impl Plain {
    fn new(folder: &Path) -> Result<Self> {
        let folder = folder.join("plain");
        fs::create_dir_all(&folder)?;
        let inputs = TESTS.iter().enumerate().map(|(number, (input, _))| {
            let path = folder.join(format!("{number}.in"));
            fs::write(&path, input)?;
            anyhow::Ok(path)
        });
        Ok(Self { inputs: inputs.collect::<Result<_>>()?, folder })
    }

    fn judge(&self, number: usize) -> Result<Taken> {
        let (source_file, program) = (self.folder.join("main.cpp"), self.folder.join("a.out"));
        let text = source(number);
        let begun = Instant::now();
        fs::write(&source_file, text)?;
        let mut compiler = Command::new("g++");
        compiler.args(["-std=gnu++17", "-O2", "-static", "-pipe", "-o"]);
        let output = compiler.arg(&program).arg(&source_file).output().context("g++ is needed")?;
        ensure!(output.status.success(), "g++: {}", String::from_utf8_lossy(&output.stderr));
        let compile = begun.elapsed();
        for (input, (_, expected)) in self.inputs.iter().zip(TESTS) {
            let output = Command::new(&program).stdin(File::open(input)?).output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            let equal = text.split_whitespace().eq(expected.split_whitespace());
            ensure!(output.status.success() && equal, "a plain run gave {text}");
        }
        Ok(Taken { compile, run: begun.elapsed() - compile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_submission_is_right_without_a_box() {
        let folder = tempfile::tempdir().expect("a folder");
        let taken = Plain::new(folder.path()).expect("files").judge(1).expect("every test passes");
        assert!(taken.compile > taken.run);
    }
}

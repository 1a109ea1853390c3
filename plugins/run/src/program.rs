//! Compiling and running it, case by case.

use assay_plugin::{Error, exec};

use crate::job::{Case, Job};
use crate::report::{ProgramRun, Report};

/// The file in which a case leaves its word to show that the end of the program was reached.
const REACHED: &str = ".assay-reached";
/// A program's working folder in its box.
const WORKING_FOLDER: &str = "/box/w";

pub(crate) fn run(program: &str, job: &Job, seed: u64) -> Result<Report, Error> {
    let toolchain = toolchain(&job.language)?;
    let mut report = Report::default();
    let mut compiled: Option<(Option<&str>, exec::Artifact)> = None;
    for (at, case) in job.cases.iter().enumerate() {
        let append = case.append.as_deref();
        if append.is_some() && toolchain.main != "main.py" {
            return Err(Error::bad_request("only to a Python program something can be appended"));
        }
        let word = format!("{seed:016x}-{at}");
        if compiled.as_ref().is_none_or(|(of, _)| append.is_some() || *of != append) {
            let text = with(program, append, &word);
            let (ran, artifact) = compile(&toolchain, job, text)?;
            if toolchain.compiled {
                report.compile = Some(ran);
            }
            let Some(artifact) = artifact else { return Ok(report) };
            compiled = Some((append, artifact));
        }
        if let Some((_, artifact)) = &compiled {
            run_case(artifact, &toolchain, (job, case, &word), &mut report)?;
        }
    }
    Ok(report)
}

fn toolchain(language: &str) -> Result<exec::Toolchain, Error> {
    find(language, exec::toolchains())
}

fn find(language: &str, all: Vec<exec::Toolchain>) -> Result<exec::Toolchain, Error> {
    if all.is_empty() {
        return Err(Error::unavailable("this worker can run no programs"));
    }
    let wanted = language.to_lowercase();
    let known = all.iter().find(|it| it.id == wanted || it.languages.contains(&wanted)).cloned();
    known.ok_or_else(|| {
        let mut languages: Vec<_> = all.into_iter().flat_map(|it| it.languages).collect();
        languages.sort_unstable();
        languages.dedup();
        let shown: String = language.chars().take(40).collect();
        let all = languages.join(", ");
        Error::bad_request(format!("language: there is no `{shown}` here, only {all}"))
    })
}

/// A program that ends early, whatever its status, never says the word. Saying it depends on no name and no
/// folder that the program may have changed.
fn with(program: &str, append: Option<&str>, word: &str) -> String {
    let Some(append) = append else { return program.to_owned() };
    format!(
        "{program}\n\n{append}\n\n__import__('io').open('{WORKING_FOLDER}/{REACHED}', 'w').write({word:?})\n"
    )
}

fn compile(
    toolchain: &exec::Toolchain,
    job: &Job,
    text: String,
) -> Result<(ProgramRun, Option<exec::Artifact>), Error> {
    let source = exec::Source {
        toolchain: toolchain.id.clone(),
        files: vec![exec::File::text(toolchain.main.clone(), text)],
        main: toolchain.main.clone(),
        options: vec![],
    };
    let limits = job.compile_ms.map(|cpu_ms| exec::Limits {
        cpu_ms,
        wall_ms: wall_ms(cpu_ms),
        ..toolchain.compile_defaults
    });
    let result = exec::compile(&source, limits)?;
    Ok(match result.compiled {
        exec::Compiled::Ok(artifact) => {
            let ran = ProgramRun {
                ended: "exited".into(),
                stderr: result.log.to_text(),
                passed: true,
                ..ProgramRun::default()
            };
            (ran, Some(artifact))
        }
        exec::Compiled::Rejected(outcome) => (ProgramRun::of(&outcome), None),
    })
}

fn run_case(
    artifact: &exec::Artifact,
    toolchain: &exec::Toolchain,
    (job, case, word): (&Job, &Case, &str),
    report: &mut Report,
) -> Result<(), Error> {
    let defaults = toolchain.run_defaults;
    let cpu_ms = job.run_ms.unwrap_or(defaults.cpu_ms);
    let memory_bytes = job.memory_mib.map_or(defaults.memory_bytes, |mib| u64::from(mib) << 20);
    let limits = exec::Limits { cpu_ms, wall_ms: wall_ms(cpu_ms), memory_bytes, ..defaults };
    let mut collect = job.collect.clone();
    if case.append.is_some() {
        collect.push(REACHED.into());
    }
    let files = job.files.iter().map(|(path, bytes)| exec::File {
        path: path.clone(),
        content: exec::Blob::Inline(bytes.clone()),
    });
    let batch = exec::Batch {
        cases: vec![exec::TestCase {
            stdin: exec::Blob::text(case.stdin.clone()),
            args: vec![],
            env: vec![],
            files: files.collect(),
            collect,
            limits: None,
            expect: None,
        }],
        limits: Some(limits),
        stop: exec::StopAt::Never,
        return_stdout: true,
        rerun_near_limit: false,
    };
    let ran = exec::run(artifact, &batch).map_err(|error| match error {
        // A path that leads out of the working folder, say.
        exec::Error::BadRequest(problem) => Error::bad_request(problem),
        other => other.into(),
    })?;
    let result = ran.into_iter().next().ok_or_else(|| Error::internal("the case was not run"))?;
    let mut told = ProgramRun::of(&result.outcome);
    let mut files = result.outcome.files;
    if case.append.is_some() {
        let said = files.iter().find(|(path, _)| path == REACHED);
        told.passed &= said.is_some_and(|(_, said)| said.data == word.as_bytes());
        files.retain(|(path, _)| path != REACHED);
    }
    report.keep(files.into_iter().map(|(path, captured)| (path, captured.data)));
    report.add(told);
    Ok(())
}

/// The least that keeps CPU time the limit that decides.
fn wall_ms(cpu_ms: u32) -> u32 {
    cpu_ms.saturating_mul(3).saturating_add(2_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python() -> exec::Toolchain {
        let limits = exec::Limits {
            cpu_ms: 1,
            wall_ms: 1,
            memory_bytes: 1,
            stdout_bytes: 1,
            stderr_bytes: 1,
            disk_bytes: 1,
            processes: 1,
            open_files: 1,
        };
        exec::Toolchain {
            id: "cpython-3".into(),
            version: String::new(),
            languages: vec!["python".into()],
            main: "main.py".into(),
            compiled: false,
            compile_defaults: limits,
            run_defaults: limits,
            ceiling: limits,
        }
    }

    #[test]
    fn a_worker_without_toolchains_says_nothing_about_the_request() {
        assert_eq!(find("Python", vec![python()]).unwrap().id, "cpython-3");
        let unknown = find("cobol", vec![python()]).unwrap_err();
        assert!(matches!(unknown, Error::BadRequest(_)), "{unknown:?}");
        let none = find("python", Vec::new()).unwrap_err();
        assert!(matches!(none, Error::Unavailable(_)), "{none:?}");
    }
}

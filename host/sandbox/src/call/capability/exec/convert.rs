//! The interface's types to those of [`assay_exec`] and back. Bytes are moved, never copied.

use std::collections::BTreeSet;

use assay_core::id::Digest;
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::{Captured, LimitKind, ProgramEnding, Usage};
use assay_exec::{
    AvailableToolchain, Blob, CaseResult, CompareMode, Dialogue, ExecError, JudgeInput, Matched,
    Party, ProgramSource, RunOutcome, SourceFile, StopAt, TestBatch, TestCase,
};

use crate::call::bindings::assay::exec::exec as wit;
use crate::call::bindings::assay::exec::types;
use crate::call::ending::cut;

type Located = BTreeSet<Digest>;

pub(super) fn blob(blob: types::Blob, located: &Located) -> Result<Blob, ExecError> {
    match blob {
        types::Blob::Inline(bytes) => Ok(Blob::Inline(bytes)),
        types::Blob::Stored(text) => match text.parse() {
            Ok(digest) if located.contains(&digest) => Ok(Blob::Stored(digest)),
            _ => Err(ExecError::BadRequest(format!(
                "`{}` was not located in this stage (`storage.locate`)",
                cut(&text, 80)
            ))),
        },
    }
}

fn files(files: Vec<types::File>, located: &Located) -> Result<Vec<SourceFile>, ExecError> {
    let file = |file: types::File| {
        Ok(SourceFile { path: file.path, content: blob(file.content, located)? })
    };
    files.into_iter().map(file).collect()
}

pub(super) fn limits(limits: types::Limits) -> BoxLimits {
    BoxLimits {
        cpu_ms: limits.cpu_ms,
        wall_ms: limits.wall_ms,
        memory_bytes: limits.memory_bytes,
        stdout_bytes: limits.stdout_bytes,
        stderr_bytes: limits.stderr_bytes,
        disk_bytes: limits.disk_bytes,
        processes: limits.processes,
        open_files: limits.open_files,
    }
}

pub(super) fn source(source: wit::Source, located: &Located) -> Result<ProgramSource, ExecError> {
    Ok(ProgramSource {
        toolchain: source.toolchain,
        files: files(source.files, located)?,
        main: source.main,
        options: source.options,
    })
}

pub(super) fn batch(batch: wit::Batch, located: &Located) -> Result<TestBatch, ExecError> {
    let cases = batch.cases.into_iter().map(|case| test_case(case, located));
    Ok(TestBatch {
        cases: cases.collect::<Result<_, _>>()?,
        limits: batch.limits.map(limits),
        stop: match batch.stop {
            wit::StopAt::Never => StopAt::Never,
            wit::StopAt::FirstAbnormal => StopAt::FirstAbnormal,
            wit::StopAt::FirstMismatch => StopAt::FirstMismatch,
        },
        return_stdout: batch.return_stdout,
        rerun_near_limit: batch.rerun_near_limit,
    })
}

fn test_case(case: wit::TestCase, located: &Located) -> Result<TestCase, ExecError> {
    let expect = match case.expect {
        None => None,
        Some(expect) => Some((blob(expect.stdout, located)?, compare(expect.compare))),
    };
    Ok(TestCase {
        stdin: blob(case.stdin, located)?,
        args: case.args,
        env: case.env,
        files: files(case.files, located)?,
        collect: case.collect,
        limits: case.limits.map(limits),
        expect,
    })
}

fn compare(compare: wit::Compare) -> CompareMode {
    match compare {
        wit::Compare::Exact => CompareMode::Exact,
        wit::Compare::TrimLines => CompareMode::TrimLines,
        wit::Compare::Tokens => CompareMode::Tokens,
        wit::Compare::Floats(wit::Tolerance { absolute, relative }) => {
            CompareMode::Floats { absolute, relative }
        }
    }
}

pub(super) fn judging(judging: wit::Judging, located: &Located) -> Result<JudgeInput, ExecError> {
    Ok(JudgeInput {
        input: blob(judging.input, located)?,
        answer: blob(judging.answer, located)?,
        files: files(judging.files, located)?,
        args: judging.args,
        collect: judging.collect,
        limits: judging.limits.map(limits),
    })
}

pub(super) fn captured(captured: Captured) -> types::Captured {
    types::Captured { data: captured.data, truncated: captured.truncated }
}

pub(super) fn outcome(outcome: RunOutcome) -> types::Outcome {
    let RunOutcome { ended, stdout_sha256, weakened } = outcome;
    let file = |(name, content)| (name, captured(content));
    types::Outcome {
        ended: ending(ended.ending),
        usage: usage(ended.usage),
        stdout: captured(ended.stdout),
        stdout_sha256: stdout_sha256.to_string(),
        stderr: captured(ended.stderr),
        files: ended.files.into_iter().map(file).collect(),
        weakened: weakened.into_iter().map(|part| part.as_str().to_owned()).collect(),
    }
}

fn ending(ending: ProgramEnding) -> types::Ending {
    match ending {
        ProgramEnding::Exited(status) => types::Ending::Exited(status),
        ProgramEnding::Signaled(signal) => types::Ending::Signaled(signal),
        ProgramEnding::Limited(kind) => types::Ending::Limited(match kind {
            LimitKind::Cpu => types::LimitKind::Cpu,
            LimitKind::Wall => types::LimitKind::Wall,
            LimitKind::Memory => types::LimitKind::Memory,
            LimitKind::Output => types::LimitKind::Output,
            LimitKind::Processes => types::LimitKind::Processes,
        }),
    }
}

fn usage(usage: Usage) -> types::Usage {
    types::Usage {
        cpu_us: usage.cpu_us,
        wall_us: usage.wall_us,
        memory_peak_bytes: usage.memory_peak_bytes,
        wait_us: usage.wait_us,
    }
}

pub(super) fn case_result(case: CaseResult) -> wit::CaseResult {
    wit::CaseResult {
        index: case.index,
        matched: match case.matched {
            Matched::NotCompared => wit::Matched::NotCompared,
            Matched::Equal => wit::Matched::Equal,
            Matched::Different => wit::Matched::Different,
        },
        outcome: outcome(case.outcome),
        attempts: case.attempts,
    }
}

pub(super) fn dialogue(dialogue: Dialogue) -> wit::Dialogue {
    wit::Dialogue {
        program: outcome(dialogue.program),
        interactor: outcome(dialogue.interactor),
        first_to_end: match dialogue.first_to_end {
            Party::Program => wit::Party::Program,
            Party::Interactor => wit::Party::Interactor,
        },
    }
}

pub(super) fn toolchain(toolchain: AvailableToolchain) -> wit::Toolchain {
    let limits = |limits: BoxLimits| types::Limits {
        cpu_ms: limits.cpu_ms,
        wall_ms: limits.wall_ms,
        memory_bytes: limits.memory_bytes,
        stdout_bytes: limits.stdout_bytes,
        stderr_bytes: limits.stderr_bytes,
        disk_bytes: limits.disk_bytes,
        processes: limits.processes,
        open_files: limits.open_files,
    };
    wit::Toolchain {
        id: toolchain.id,
        version: toolchain.version,
        languages: toolchain.languages,
        main: toolchain.main,
        compiled: toolchain.compiled,
        compile_defaults: limits(toolchain.compile_defaults),
        run_defaults: limits(toolchain.run_defaults),
        ceiling: limits(toolchain.ceiling),
    }
}

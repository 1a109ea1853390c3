//! Checkers and interactors, compiled when the first test needs them.

use std::collections::BTreeMap;

use assay_plugin::{Error, exec};

use crate::extract::Languages;
use crate::limits::judge_limits;
use crate::machine::{Machine, Objects};
use crate::problem::{Data, JudgeProgram, Protocol, Test};
use crate::program::compile_trusted;
use crate::verdict::{Part, excerpt};

/// Calls a judge's program in Python, so that its failure is no word of the judge.
const PYTHON_CALLER: &str =
    concat!(include_str!("../python/blame.py"), include_str!("../python/judge.py"));
const PYTHON_CALLER_NAME: &str = "assay_judge.py";

pub(super) struct Ready<P> {
    pub(super) program: P,
    /// The arguments before the judge's own.
    args: Vec<String>,
    pub(super) limits: exec::Limits,
}

pub(super) struct Programs<'a, M: Machine, O> {
    machine: &'a M,
    objects: &'a O,
    languages: Languages<'a>,
    /// The limits of the program that is judged.
    limits: exec::Limits,
    /// The compiled judges, by their position in the problem.
    ready: BTreeMap<usize, Ready<M::Program>>,
}

impl<'a, M: Machine, O: Objects> Programs<'a, M, O> {
    pub(super) fn new(
        machine: &'a M,
        objects: &'a O,
        languages: Languages<'a>,
        limits: exec::Limits,
    ) -> Self {
        Self { machine, objects, languages, limits, ready: BTreeMap::new() }
    }

    pub(super) fn get(
        &mut self,
        at: usize,
        judge: &JudgeProgram,
    ) -> Result<&Ready<M::Program>, Error> {
        if !self.ready.contains_key(&at) {
            let ready = self.compile(judge)?;
            self.ready.insert(at, ready);
        }
        Ok(&self.ready[&at])
    }

    fn compile(&self, judge: &JudgeProgram) -> Result<Ready<M::Program>, Error> {
        let toolchain = self.languages.toolchain(&judge.toolchain).ok_or_else(|| {
            let name = &judge.toolchain;
            Error::bad_request(format!("no toolchain here knows the judge's language `{name}`"))
        })?;
        let mut main = judge.main.as_ref().unwrap_or(&toolchain.main).clone();
        let mut files = vec![self.file(&main, &judge.source)?];
        for (path, data) in &judge.files {
            files.push(self.file(path, data)?);
        }
        let mut args = Vec::new();
        let python = toolchain.languages.iter().any(|language| language == "python");
        if python && judge.protocol != Protocol::Harness {
            files.push(exec::File::text(PYTHON_CALLER_NAME, PYTHON_CALLER));
            args.push(judge.protocol.wrong().to_string());
            args.push(std::mem::replace(&mut main, PYTHON_CALLER_NAME.to_owned()));
        }
        let options = judge.options.clone();
        let source = exec::Source { toolchain: toolchain.id.clone(), files, main, options };
        let program = compile_trusted(self.machine, &source, "the judge's program")?;
        let limits = judge_limits(&toolchain.run_defaults, &self.limits);
        Ok(Ready { program, args, limits })
    }

    fn file(&self, path: &str, data: &Data) -> Result<exec::File, Error> {
        Ok(exec::File { path: path.to_owned(), content: data.to_blob(self.objects)? })
    }
}

const MESSAGE: &str = "feedback/judgemessage.txt";

impl<P> Ready<P> {
    /// The arguments and files that the judge's program gets for a test.
    pub(super) fn judging(
        &self,
        judge: &JudgeProgram,
        test: &Test,
        objects: &impl Objects,
    ) -> Result<exec::Judging, Error> {
        let own = self.args.iter().chain(&judge.args).cloned();
        let protocol = judge.protocol.args().iter().map(|arg| (*arg).to_owned());
        let kattis = judge.protocol == Protocol::Kattis;
        Ok(exec::Judging {
            input: test.input.to_blob(objects)?,
            answer: test.answer.to_blob(objects)?,
            // Folders are made for files; the validator expects this one to be there.
            files: if kattis { vec![exec::File::text("feedback/.keep", "")] } else { Vec::new() },
            args: own.chain(protocol).chain(test.args.iter().cloned()).collect(),
            collect: if kattis { vec![MESSAGE.to_owned()] } else { Vec::new() },
            limits: Some(self.limits),
        })
    }
}

/// The judge's word; an error where it gave none.
pub(super) fn word_of(
    what: &str,
    judge: &JudgeProgram,
    outcome: &exec::Outcome,
) -> Result<bool, Error> {
    if let exec::Ending::Exited(status) = outcome.ended
        && let Some(accepted) = judge.protocol.accepts(status)
    {
        return Ok(accepted);
    }
    let message = message_of(outcome);
    Err(Error::bad_request(format!("the {what} failed: {:?}; {message}", outcome.ended)))
}

/// The judge's message about the output; it may quote the test.
pub(super) fn message_of(outcome: &exec::Outcome) -> String {
    let message = outcome.files.iter().find(|(path, _)| path == MESSAGE);
    let bytes = message.map_or(&outcome.stderr.data, |(_, message)| &message.data);
    excerpt(bytes, 300, Part::Beginning)
}

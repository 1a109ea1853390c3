//! A world for the plugin without boxes: our own test programs run as plain processes, with limits of
//! their own but no walls around them. It speaks the same interface as the host.

mod process;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use assay_plugin::{Error, Outcome, Request, Scored, exec, storage};
use assay_plugin_code::machine::{Compiled, Machine, Objects};
use assay_plugin_code::run_stage;
use tempfile::TempDir;

use process::{Started, capture};

/// The stored objects and the compiled programs.
#[derive(Default)]
pub struct World {
    objects: BTreeMap<String, Vec<u8>>,
    compiled: RefCell<BTreeMap<String, Rc<Built>>>,
}

/// A folder with a program and how it is called.
pub struct Built {
    folder: TempDir,
    command: Vec<String>,
}

impl World {
    pub fn with(objects: BTreeMap<String, Vec<u8>>) -> Self {
        Self { objects, ..Self::default() }
    }

    /// All stages of one request.
    pub fn judge(&self, response: &str, label: &str, settings: &str) -> Result<Scored, Error> {
        let request = Request::new("", response, label);
        let mut artifact = None;
        for stage in ["extract", "compile", "run"] {
            match run_stage((self, self), stage, settings, &request, artifact)? {
                Outcome::Scored(scored) => return Ok(scored),
                Outcome::Next(next) => artifact = Some(next),
            }
        }
        unreachable!("the last stage ends in a reward")
    }

    /// Forgets what was compiled, as another worker would.
    pub fn forget(&self) {
        self.compiled.borrow_mut().clear();
    }

    fn bytes(&self, blob: &exec::Blob) -> Result<Vec<u8>, exec::Error> {
        match blob {
            exec::Blob::Inline(bytes) => Ok(bytes.clone()),
            exec::Blob::Stored(digest) => self
                .objects
                .get(digest)
                .cloned()
                .ok_or_else(|| exec::Error::MissingBlob(digest.clone())),
        }
    }

    fn write(&self, folder: &Path, files: &[exec::File]) -> Result<(), exec::Error> {
        for file in files {
            let path = folder.join(&file.path);
            fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
            fs::write(path, self.bytes(&file.content)?).expect("a file");
        }
        Ok(())
    }

    /// A fresh working folder with the program and what it gets.
    fn folder(&self, program: &Built, files: &[exec::File]) -> Result<TempDir, exec::Error> {
        let folder = TempDir::new().expect("a folder");
        for entry in fs::read_dir(program.folder.path()).expect("the program") {
            let entry = entry.expect("an entry");
            // Links, not copies: what is open for writing cannot be executed.
            fs::hard_link(entry.path(), folder.path().join(entry.file_name())).expect("a link");
        }
        self.write(folder.path(), files)?;
        Ok(folder)
    }

    fn start(
        &self,
        program: &Built,
        folder: &Path,
        args: &[String],
        limits: &exec::Limits,
    ) -> Started {
        let command: Vec<String> = program.command.iter().chain(args).cloned().collect();
        Started::new(command, folder, limits)
    }

    fn judging_files(&self, judging: &exec::Judging) -> Vec<exec::File> {
        let mut files = judging.files.clone();
        files.push(exec::File { path: "input".into(), content: judging.input.clone() });
        files.push(exec::File { path: "answer".into(), content: judging.answer.clone() });
        files
    }
}

fn limits(cpu_ms: u32) -> exec::Limits {
    exec::Limits {
        cpu_ms,
        wall_ms: cpu_ms * 3 + 2_000,
        memory_bytes: 1 << 30,
        stdout_bytes: 1 << 20,
        stderr_bytes: 1 << 16,
        disk_bytes: 1 << 25,
        processes: 16,
        open_files: 64,
    }
}

fn toolchain(id: &str, languages: &[&str], main: &str, compiled: bool) -> exec::Toolchain {
    exec::Toolchain {
        id: id.into(),
        version: "1".into(),
        languages: languages.iter().map(|name| (*name).to_owned()).collect(),
        main: main.into(),
        compiled,
        compile_defaults: limits(10_000),
        run_defaults: limits(2_000),
        ceiling: limits(60_000),
    }
}

fn matched(expect: Option<&exec::Expectation>, output: &[u8], answer: &[u8]) -> exec::Matched {
    let words = |text: &[u8]| -> Vec<Vec<u8>> {
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect()
    };
    let equal = match expect.map(|expect| &expect.compare) {
        None => return exec::Matched::NotCompared,
        Some(exec::Compare::Exact) => output == answer,
        Some(_) => words(output) == words(answer),
    };
    if equal { exec::Matched::Equal } else { exec::Matched::Different }
}

impl Machine for World {
    type Program = Rc<Built>;

    fn toolchains(&self) -> Vec<exec::Toolchain> {
        vec![
            toolchain("cpp17-gcc", &["cpp", "c++"], "main.cpp", true),
            toolchain("cpython-3", &["python", "py", "python3"], "main.py", false),
        ]
    }

    fn compile(
        &self,
        source: &exec::Source,
        _limits: Option<exec::Limits>,
    ) -> Result<Compiled<Rc<Built>>, exec::Error> {
        let folder = TempDir::new().expect("a folder");
        self.write(folder.path(), &source.files)?;
        let command = if source.toolchain == "cpython-3" {
            vec!["/usr/bin/python3".to_owned(), source.main.clone()]
        } else {
            let gcc = ["g++", "-std=c++17", "-o", "program", source.main.as_str()];
            let gcc = gcc.iter().map(|word| (*word).to_owned()).collect();
            let compiler = Started::new(gcc, folder.path(), &limits(60_000));
            let outcome = compiler.end(&[]);
            if outcome.ended != exec::Ending::Exited(0) {
                let log = outcome.stderr.clone();
                return Ok(Compiled::Rejected { outcome, log });
            }
            vec!["./program".to_owned()]
        };
        let program = Rc::new(Built { folder, command });
        let key = format!("{:p}", Rc::as_ptr(&program));
        self.compiled.borrow_mut().insert(key.clone(), Rc::clone(&program));
        Ok(Compiled::Program { program, key })
    }

    fn open(&self, key: &str) -> Result<Rc<Built>, exec::Error> {
        let compiled = self.compiled.borrow();
        compiled.get(key).cloned().ok_or_else(|| exec::Error::UnknownArtifact(key.into()))
    }

    fn run(
        &self,
        program: &Rc<Built>,
        batch: &exec::Batch,
    ) -> Result<Vec<exec::CaseResult>, exec::Error> {
        let limits = batch.limits.expect("the plugin states limits");
        let mut results = Vec::new();
        for (index, case) in (0..).zip(&batch.cases) {
            let folder = self.folder(program, &case.files)?;
            let mut started = self.start(program, folder.path(), &case.args, &limits);
            started.feed(self.bytes(&case.stdin)?);
            let mut outcome = started.end(&case.collect);
            let answer = match &case.expect {
                Some(expect) => self.bytes(&expect.stdout)?,
                None => Vec::new(),
            };
            let matched = matched(case.expect.as_ref(), &outcome.stdout.data, &answer);
            if !batch.return_stdout {
                outcome.stdout = capture(Vec::new());
            }
            results.push(exec::CaseResult { index, matched, outcome, attempts: 1 });
        }
        Ok(results)
    }

    fn check(
        &self,
        checker: &Rc<Built>,
        output: &exec::Blob,
        judging: &exec::Judging,
    ) -> Result<exec::Outcome, exec::Error> {
        let mut files = self.judging_files(judging);
        files.push(exec::File { path: "output".into(), content: output.clone() });
        let folder = self.folder(checker, &files)?;
        let limits = judging.limits.expect("the plugin states limits");
        let mut started = self.start(checker, folder.path(), &judging.args, &limits);
        started.feed(self.bytes(output)?);
        Ok(started.end(&judging.collect))
    }

    fn interact(
        &self,
        program: &Rc<Built>,
        interactor: &Rc<Built>,
        judging: &exec::Judging,
        program_limits: Option<exec::Limits>,
    ) -> Result<exec::Dialogue, exec::Error> {
        let program_folder = self.folder(program, &[])?;
        let judge_folder = self.folder(interactor, &self.judging_files(judging))?;
        let limits = program_limits.expect("the plugin states limits");
        let program = self.start(program, program_folder.path(), &[], &limits);
        let limits = judging.limits.expect("the plugin states limits");
        let interactor = self.start(interactor, judge_folder.path(), &judging.args, &limits);
        Ok(process::talk(program, interactor, &judging.collect))
    }
}

impl Objects for World {
    fn get(&self, name: &str) -> Result<Vec<u8>, storage::Error> {
        self.objects.get(name).cloned().ok_or_else(|| storage::Error::NotFound(name.into()))
    }

    /// Names are digests here.
    fn locate(&self, name: &str) -> Result<String, storage::Error> {
        self.get(name).map(|_| name.to_owned())
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, storage::Error> {
        let below = |name: &&String| name.starts_with(&format!("{folder}/"));
        Ok(self.objects.keys().filter(below).cloned().collect())
    }
}

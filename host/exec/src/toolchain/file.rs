//! The format of a toolchain's file.
//!
//! ```toml
//! id = "cpp17-gcc"                    # small letters, digits, `-`, `_`, `.`
//! languages = ["cpp", "c++"]          # as in fenced blocks, in small letters
//! main = "main.cpp"                   # the name of a source that is one file
//! version = ["/usr/bin/g++", "--version"]  # its first line is the version; must succeed
//! paths = ["/opt/tools"]              # what its boxes may read beyond /usr and /lib*
//!
//! [compile]                           # left out where sources run as they are
//! command = ["/usr/bin/g++", "-I{prepared}", "{options}", "-o", "{out}", "{main}"]
//! files = ["program.jar"]             # what it leaves and the run needs; {out} is the first.
//!                                     # Left out: it leaves one binary, which is run itself.
//! env = { NAME = "value" }
//!
//! [run]
//! command = ["/usr/bin/java", "-cp", "{out}", "{stem}"]  # left out with a binary
//! env = { NAME = "value" }
//!
//! [limits.compile]                    # each key may be left out; so with limits.run and
//! cpu_ms = 15_000                     # limits.ceiling, which nothing exceeds
//!
//! [[prepare]]                         # done once a machine; each leaves one file for {prepared}
//! command = ["/usr/bin/g++", "-x", "c++-header", "-o", "{out}", "all.hpp"]
//! files = { "all.hpp" = "#include <bits/stdc++.h>" }
//! out = "bits/stdc++.h.gch"           # its path below {prepared}
//! limits = { memory_bytes = 2_000_000_000 }
//! ```
//!
//! Placeholders: `{main}` the main file, `{stem}` its name without folders and extension, `{out}` what
//! is to be written, `{options}` the caller's, a word of its own, `{prepared}` the folder of prepared
//! files; a word with `{prepared}` is left out where preparing failed. A box's environment is `PATH`,
//! `HOME`, `TMPDIR` and `LANG`, and what `env` adds; its working folder is `/box/w`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::CommandTemplate;
use crate::limits::BoxLimits;
use crate::path;

const ID_BYTES_MAX: usize = 64;
const LEFT_FILES_MAX: usize = 16;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolchainSpec {
    pub id: String,
    pub languages: Vec<String>,
    pub main: String,
    pub version: CommandTemplate,
    #[serde(default)]
    pub paths: Vec<PathBuf>,
    pub compile: Option<CompileSpec>,
    #[serde(default)]
    pub run: RunSpec,
    #[serde(default)]
    limits: LimitTables,
    #[serde(default)]
    pub prepare: Vec<PrepareStep>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompileSpec {
    pub command: CommandTemplate,
    files: Option<Vec<String>>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSpec {
    pub command: Option<CommandTemplate>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrepareStep {
    pub command: CommandTemplate,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    pub out: String,
    #[serde(default)]
    limits: PartialLimits,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitTables {
    #[serde(default)]
    compile: PartialLimits,
    #[serde(default)]
    run: PartialLimits,
    #[serde(default)]
    ceiling: PartialLimits,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartialLimits {
    cpu_ms: Option<u32>,
    wall_ms: Option<u32>,
    memory_bytes: Option<u64>,
    stdout_bytes: Option<u64>,
    stderr_bytes: Option<u64>,
    disk_bytes: Option<u64>,
    processes: Option<u32>,
    open_files: Option<u32>,
}

impl PartialLimits {
    fn over(&self, base: BoxLimits) -> BoxLimits {
        BoxLimits {
            cpu_ms: self.cpu_ms.unwrap_or(base.cpu_ms),
            wall_ms: self.wall_ms.unwrap_or(base.wall_ms),
            memory_bytes: self.memory_bytes.unwrap_or(base.memory_bytes),
            stdout_bytes: self.stdout_bytes.unwrap_or(base.stdout_bytes),
            stderr_bytes: self.stderr_bytes.unwrap_or(base.stderr_bytes),
            disk_bytes: self.disk_bytes.unwrap_or(base.disk_bytes),
            processes: self.processes.unwrap_or(base.processes),
            open_files: self.open_files.unwrap_or(base.open_files),
        }
    }
}

/// The files that a compiler writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves<'a> {
    /// One file, which is executed.
    Binary,
    /// Files for the working folder of the run.
    Files(&'a [String]),
}

impl CompileSpec {
    pub fn leaves(&self) -> Leaves<'_> {
        self.files.as_deref().map_or(Leaves::Binary, Leaves::Files)
    }
}

impl PrepareStep {
    pub fn limits(&self) -> BoxLimits {
        self.limits.over(BoxLimits::COMPILE)
    }
}

impl ToolchainSpec {
    pub fn compile_defaults(&self) -> BoxLimits {
        self.limits.compile.over(BoxLimits::COMPILE)
    }

    pub fn run_defaults(&self) -> BoxLimits {
        self.limits.run.over(BoxLimits::RUN)
    }

    pub fn ceiling(&self) -> BoxLimits {
        self.limits.ceiling.over(BoxLimits::CEILING)
    }

    /// Whether the compiler writes a binary that is executed.
    pub fn leaves_binary(&self) -> bool {
        self.compile.as_ref().is_some_and(|compile| compile.leaves() == Leaves::Binary)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
        let id_is_plain = self.id.bytes().all(plain) && !self.id.starts_with('.');
        if self.id.is_empty() || self.id.len() > ID_BYTES_MAX || !id_is_plain {
            return Err(format!(
                "`id`: 1 to {ID_BYTES_MAX} of `a` to `z`, `0` to `9`, `-`, `_` and `.`, which is not first"
            ));
        }
        let lower = |name: &String| !name.is_empty() && *name == name.to_lowercase();
        if self.languages.is_empty() || !self.languages.iter().all(lower) {
            return Err("`languages`: one name at least, all in small letters".to_owned());
        }
        path::check(&self.main).map_err(|problem| format!("`main`: {problem}"))?;
        self.version.check("version", &[])?;
        if let Some(path) = self.paths.iter().find(|path| !path.is_absolute()) {
            return Err(format!("`paths`: `{}` must be absolute", path.display()));
        }
        self.check_compile()?;
        self.check_run()?;
        self.prepare.iter().try_for_each(check_step)
    }

    fn check_compile(&self) -> Result<(), String> {
        let Some(compile) = &self.compile else { return Ok(()) };
        let allowed = &super::command::PLACEHOLDERS;
        compile.command.check("compile.command", allowed)?;
        check_env("compile.env", &compile.env)?;
        if compile.command.names("{prepared}") && self.prepare.is_empty() {
            return Err("`compile.command`: {prepared} needs a table [[`prepare`]]".to_owned());
        }
        match (compile.leaves(), &self.run.command) {
            (Leaves::Binary, None) => Ok(()),
            (Leaves::Binary, Some(_)) => Err("`compile.files`: name what the compiler leaves and \
                `run.command` needs, or leave `run.command` out to run the binary itself"
                .to_owned()),
            (Leaves::Files(files), _) => {
                if files.is_empty() || files.len() > LEFT_FILES_MAX {
                    return Err(format!("`compile.files`: 1 to {LEFT_FILES_MAX} paths"));
                }
                files
                    .iter()
                    .try_for_each(|file| path::check(file))
                    .and_then(|()| path::check_together(files.iter().map(String::as_str)))
                    .map_err(|problem| format!("`compile.files`: {problem}"))
            }
        }
    }

    fn check_run(&self) -> Result<(), String> {
        check_env("run.env", &self.run.env)?;
        let leaves = self.compile.as_ref().map(CompileSpec::leaves);
        match (&self.run.command, leaves) {
            (None, Some(Leaves::Binary)) => Ok(()),
            (None, _) => Err("`run.command`: say how a program is run".to_owned()),
            (Some(command), None) => command.check("run.command", &["{main}", "{stem}"]),
            (Some(command), Some(_)) => {
                command.check("run.command", &["{main}", "{stem}", "{out}"])
            }
        }
    }
}

fn check_step(step: &PrepareStep) -> Result<(), String> {
    step.command.check("prepare.command", &["{out}"])?;
    path::check(&step.out).map_err(|problem| format!("`prepare.out`: {problem}"))?;
    step.files
        .keys()
        .try_for_each(|file| path::check(file))
        .map_err(|problem| format!("`prepare.files`: {problem}"))
}

fn check_env(key: &str, env: &BTreeMap<String, String>) -> Result<(), String> {
    let bad = |(name, value): (&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    match env.iter().find(|pair| bad(*pair)) {
        Some((name, _)) => Err(format!(
            "`{key}`: `{}` is not a valid name or value of a variable",
            name.escape_debug()
        )),
        None => Ok(()),
    }
}

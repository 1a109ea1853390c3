//! Toolchains: how sources of a language are compiled and run, read from small files.
//!
//! The files in the folder `toolchains` of this crate are built in. An operator adds or replaces toolchains by files
//! of the same format, which [`file`] describes. Reading a file runs nothing: [`crate::Exec`] finds out in a box
//! whether this machine has the toolchain.

mod command;
mod file;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use assay_core::limits::TOOLCHAIN_FILE_BYTES_MAX;

pub(crate) use command::{CommandTemplate, Values};
pub(crate) use file::{CompileSpec, Leaves, PrepareStep, ToolchainSpec};

use crate::limits::BoxLimits;

const BUILT_IN: [(&str, &str); 4] = [
    ("c11-gcc.toml", include_str!("../toolchains/c11-gcc.toml")),
    ("cpp17-gcc.toml", include_str!("../toolchains/cpp17-gcc.toml")),
    ("cpp20-gcc.toml", include_str!("../toolchains/cpp20-gcc.toml")),
    ("cpython-3.toml", include_str!("../toolchains/cpython-3.toml")),
];

/// A toolchain that this machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvailableToolchain {
    /// The id, such as `cpp17-gcc`.
    pub id: String,
    /// The first line of the version that the tool prints.
    pub version: String,
    /// The names of its languages in fenced blocks.
    pub languages: Vec<String>,
    /// The file name of a source that is a single file.
    pub main: String,
    /// Whether sources are compiled, and not run as they are.
    pub compiled: bool,
    /// The limits of a compilation that sets none.
    pub compile_defaults: BoxLimits,
    /// The limits of a run that sets none.
    pub run_defaults: BoxLimits,
    /// The largest limits.
    pub ceiling: BoxLimits,
}

/// A toolchain file that an operator must correct.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct BadFile {
    /// The file's path.
    pub file: String,
    /// The problem, with the key and the remedy.
    pub problem: String,
}

/// All toolchains by id, and the invalid files. An operator's toolchain replaces a built-in one of the same id.
pub(crate) fn read_all(folder: Option<&Path>) -> (BTreeMap<String, ToolchainSpec>, Vec<BadFile>) {
    let mut specs = BTreeMap::new();
    let mut bad = Vec::new();
    for (file, text) in BUILT_IN {
        match parse(file, text) {
            Ok(spec) => drop(specs.insert(spec.id.clone(), spec)),
            Err(problem) => bad.push(problem),
        }
    }
    for read in folder.map(read_folder).unwrap_or_default() {
        match read {
            Ok(spec) => drop(specs.insert(spec.id.clone(), spec)),
            Err(problem) => bad.push(problem),
        }
    }
    (specs, bad)
}

/// Reads the folder's files in the order of their names.
fn read_folder(folder: &Path) -> Vec<Result<ToolchainSpec, BadFile>> {
    let bad = |path: &Path, problem: String| BadFile { file: path.display().to_string(), problem };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return vec![Err(bad(folder, format!("the folder cannot be read: {error}")))],
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort_unstable();
    let read = |path: &Path| {
        let text = read_text(path).map_err(|problem| bad(path, problem))?;
        parse(&path.display().to_string(), &text)
    };
    paths.iter().map(|path| read(path)).collect()
}

fn read_text(path: &Path) -> Result<String, String> {
    let file = fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut text = String::new();
    file.take(TOOLCHAIN_FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() as u64 > TOOLCHAIN_FILE_BYTES_MAX {
        return Err(format!("is longer than {TOOLCHAIN_FILE_BYTES_MAX} bytes: shorten it"));
    }
    Ok(text)
}

fn parse(file: &str, text: &str) -> Result<ToolchainSpec, BadFile> {
    let bad = |problem| BadFile { file: file.to_owned(), problem };
    let spec: ToolchainSpec = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
    spec.check().map_err(bad)?;
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        id = "sh"
        languages = ["sh"]
        main = "main.sh"
        version = ["/bin/sh", "--version"]
        [run]
        command = ["/bin/sh", "{main}"]
    "#;

    fn problem(text: &str) -> String {
        parse("x.toml", text).expect_err("a bad file").to_string()
    }

    #[test]
    fn those_built_in_and_the_examples_are_good() {
        let (specs, bad) = read_all(None);
        assert_eq!(bad, []);
        assert_eq!(
            specs.keys().collect::<Vec<_>>(),
            ["c11-gcc", "cpp17-gcc", "cpp20-gcc", "cpython-3"]
        );
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("toolchains/examples");
        let read = read_folder(&examples);
        assert_eq!(read.len(), 3);
        for spec in read {
            spec.expect("a good example");
        }
    }

    #[test]
    fn an_operators_file_replaces_a_built_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let text = SMALL.replace("id = \"sh\"", "id = \"c11-gcc\"");
        fs::write(folder.path().join("c.toml"), text).unwrap();
        fs::write(folder.path().join("notes.txt"), "not a toolchain").unwrap();
        fs::write(folder.path().join("z.toml"), "id = 1").unwrap();
        let (specs, bad) = read_all(Some(folder.path()));
        assert_eq!(specs["c11-gcc"].main, "main.sh");
        assert_eq!(specs.len(), 4);
        assert_eq!(bad.len(), 1);
        assert!(bad[0].file.ends_with("z.toml"), "{bad:?}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_said() {
        let (specs, bad) = read_all(Some(Path::new("/nowhere/at/all")));
        assert_eq!(specs.len(), 4);
        assert!(bad[0].to_string().starts_with("/nowhere/at/all: the folder cannot be read"));
    }

    #[test]
    fn limits_may_be_given_in_part() {
        let text = format!("{SMALL}\n[limits.run]\ncpu_ms = 7\n[limits.ceiling]\nprocesses = 3\n");
        let spec = parse("x.toml", &text).unwrap();
        assert_eq!(spec.run_defaults(), BoxLimits { cpu_ms: 7, ..BoxLimits::RUN });
        assert_eq!(spec.ceiling(), BoxLimits { processes: 3, ..BoxLimits::CEILING });
        assert_eq!(spec.compile_defaults(), BoxLimits::COMPILE);
    }

    #[test]
    fn a_problem_names_file_and_key() {
        let unknown = problem(&SMALL.replace("main =", "mian = \"x\"\nmain ="));
        assert!(unknown.starts_with("x.toml: ") && unknown.contains("mian"), "{unknown}");
        let cases = [
            (SMALL.replace("\"sh\"\n        lang", "\"S H\"\n        lang"), "`id`"),
            (SMALL.replace("[\"sh\"]", "[]"), "`languages`"),
            (SMALL.replace("[\"sh\"]", "[\"Sh\"]"), "`languages`"),
            (SMALL.replace("main.sh", "../main.sh"), "`main`"),
            (SMALL.replace("[\"/bin/sh\", \"--version\"]", "[]"), "`version`"),
            (SMALL.replace("\"/bin/sh\", \"{main}\"", "\"sh\", \"{main}\""), "`run.command`"),
            (SMALL.replace("{main}", "{options}"), "`run.command`"),
            (SMALL.replace("{main}", "{mian}"), "{mian}"),
            (SMALL.replace("[run]\n        command", "[run]\n        env"), "x.toml"),
            (
                SMALL.replace("[run]\n        command = [\"/bin/sh\", \"{main}\"]", ""),
                "`run.command`",
            ),
            (SMALL.replace("[run]", "paths = [\"opt\"]\n[run]"), "`paths`"),
            (format!("{SMALL}\n[limits.run]\ncpu = 1"), "cpu"),
            (format!("{SMALL}\n[compile]\ncommand = [\"/bin/cp\"]"), "`compile.files`"),
            (
                format!("{SMALL}\n[compile]\ncommand = [\"/bin/cp\"]\nfiles = [\"/x\"]"),
                "`compile.files`",
            ),
            (
                format!(
                    "{SMALL}\n[compile]\ncommand = [\"/c\", \"-I{{prepared}}\"]\nfiles = [\"x\"]"
                ),
                "`prepare`",
            ),
            (
                format!("{SMALL}\n[[prepare]]\ncommand = [\"/bin/cp\"]\nout = \"/x\""),
                "`prepare.out`",
            ),
        ];
        for (text, wanted) in cases {
            let found = problem(&text);
            assert!(found.contains(wanted), "{wanted} is not in: {found}");
        }
    }
}

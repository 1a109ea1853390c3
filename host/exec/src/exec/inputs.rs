//! The inputs of a run: checked, fetched, and put together as a job.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;

use assay_core::limits::{
    EXEC_COLLECTED_FILES_MAX, EXEC_FILES_MAX, EXEC_PLACED_BYTES_MAX, EXEC_SOURCE_BYTES_MAX,
    EXEC_WORDS_BYTES_MAX, EXEC_WORDS_MAX,
};

use super::probe::InstalledToolchain;
use super::{ExecError, ProgramSource};
use crate::artifact::{LoadedProgram, ProgramContent};
use crate::blob::{Blob, SourceFile};
use crate::job::{BoxJob, JobFile, JobProgram, Purpose, WORKING_FOLDER};
use crate::limits::BoxLimits;
use crate::object_cache::ObjectCache;
use crate::path;
use crate::toolchain::{Leaves, Values};

/// The unit in which files and folders take space in a box, in bytes.
const PAGE_BYTES: u64 = 4_096;
/// The name under which a binary is run: its first argument.
const BINARY_NAME: &str = "./program";

/// Files as pairs of their path in the working folder and their bytes.
pub(super) type Files<'a> = Vec<(&'a str, Cow<'a, [u8]>)>;

/// The inputs of one run.
pub(super) struct JobInputs<'a> {
    pub stdin: Cow<'a, [u8]>,
    pub args: &'a [String],
    pub env: &'a [(String, String)],
    pub files: Files<'a>,
    pub collect: &'a [String],
    /// The limits, without the space for placed files.
    pub limits: BoxLimits,
}

fn bad(problem: impl Into<String>) -> ExecError {
    ExecError::BadRequest(problem.into())
}

pub(super) fn check_source(source: &ProgramSource) -> Result<(), ExecError> {
    if !source.files.iter().any(|file| file.path == source.main) {
        return Err(bad("`main` is not among the files"));
    }
    if source.main.starts_with('-') {
        return Err(bad("`main` starts with `-`: a compiler would take it for an option"));
    }
    check_words("options", &source.options)?;
    check_files(&source.files)
}

pub(super) fn check_files(files: &[SourceFile]) -> Result<(), ExecError> {
    if files.len() > EXEC_FILES_MAX {
        return Err(bad(format!("there are more than {EXEC_FILES_MAX} files")));
    }
    files.iter().try_for_each(|file| path::check(&file.path)).map_err(bad)?;
    path::check_together(files.iter().map(|file| file.path.as_str())).map_err(bad)
}

pub(super) fn check_words(what: &str, words: &[String]) -> Result<(), ExecError> {
    if words.len() > EXEC_WORDS_MAX {
        return Err(bad(format!("there are more than {EXEC_WORDS_MAX} {what}")));
    }
    if words.iter().map(String::len).sum::<usize>() > EXEC_WORDS_BYTES_MAX {
        return Err(bad(format!("the {what} have more than {EXEC_WORDS_BYTES_MAX} bytes")));
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(bad(format!("the {what} contain a NUL character")));
    }
    Ok(())
}

pub(super) fn check_env(env: &[(String, String)]) -> Result<(), ExecError> {
    let words: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    check_words("variables", &words)?;
    if env.iter().any(|(name, _)| name.is_empty() || name.contains('=')) {
        return Err(bad("the name of a variable is empty or contains `=`"));
    }
    Ok(())
}

pub(super) fn check_collect(collect: &[String]) -> Result<(), ExecError> {
    if collect.len() > EXEC_COLLECTED_FILES_MAX {
        return Err(bad(format!("more than {EXEC_COLLECTED_FILES_MAX} files are to be returned")));
    }
    collect.iter().try_for_each(|file| path::check(file)).map_err(bad)
}

/// The bytes of a source's files; fails if all together exceed the limit for sources.
pub(super) fn fetch_source<'a>(
    files: &'a [SourceFile],
    objects: &ObjectCache,
) -> Result<Files<'a>, ExecError> {
    let files = files.iter().map(|file| (file.path.as_str(), &file.content));
    fetch_within(EXEC_SOURCE_BYTES_MAX, files, objects)
}

/// The bytes of files beside a program; fails if all together exceed the limit for one run.
pub(super) fn fetch<'a>(
    files: impl Iterator<Item = (&'a str, &'a Blob)>,
    objects: &ObjectCache,
) -> Result<Files<'a>, ExecError> {
    fetch_within(EXEC_PLACED_BYTES_MAX, files, objects)
}

/// Fails before it reads what goes beyond the limit: one object may stand in many files.
fn fetch_within<'a>(
    bytes_max: u64,
    files: impl Iterator<Item = (&'a str, &'a Blob)>,
    objects: &ObjectCache,
) -> Result<Files<'a>, ExecError> {
    let mut left = bytes_max;
    let fetched = files.map(|(path, content)| {
        let less = left.checked_sub(content.size(objects));
        left = less.ok_or_else(|| bad(format!("the files have more than {bytes_max} bytes")))?;
        Ok((path, content.bytes(objects)?))
    });
    fetched.collect()
}

/// The whole environment of a box.
pub(super) fn environment<'a>(
    more: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<(String, String)> {
    let basic = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", WORKING_FOLDER),
        ("TMPDIR", "/tmp"),
        ("LANG", "C.UTF-8"),
    ];
    let all: BTreeMap<&str, &str> = basic.into_iter().chain(more).collect();
    all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Pairs of a table, borrowed.
pub(super) fn pairs<'a>(
    table: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    table.into_iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

/// The job that runs a program.
pub(super) fn job<'a>(
    tool: &'a InstalledToolchain,
    loaded: &'a LoadedProgram,
    given: &'a JobInputs<'a>,
) -> Result<BoxJob<'a>, ExecError> {
    let own: &[(String, Vec<u8>)] = match &loaded.program {
        ProgramContent::Binary(_) => &[],
        ProgramContent::Files(files) => files,
    };
    let files: Vec<JobFile<'a>> = own
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .chain(given.files.iter().map(|(path, bytes)| (*path, &**bytes)))
        .map(|(path, bytes)| JobFile { path, bytes, executable: false })
        .collect();
    path::check_together(files.iter().map(|file| file.path)).map_err(bad)?;
    let limits = with_room(given.limits, files.iter().map(|file| file.bytes.len()))?;
    let spec = &tool.spec;
    let (program, mut args) = match (&loaded.program, &spec.run.command) {
        (ProgramContent::Binary(file), _) => {
            (JobProgram::Sealed(file.as_fd()), vec![BINARY_NAME.to_owned()])
        }
        (ProgramContent::Files(_), Some(command)) => {
            let out = match spec.compile.as_ref().map(|compile| compile.leaves()) {
                Some(Leaves::Files(files)) => files[0].as_str(),
                _ => "",
            };
            let values = Values { main: &loaded.main, out, ..Values::default() };
            (JobProgram::Path(command.program()), command.expand(&values))
        }
        (ProgramContent::Files(_), None) => {
            return Err(ExecError::UnknownArtifact(spec.id.clone()));
        }
    };
    args.extend_from_slice(given.args);
    let more = given.env.iter().map(|(name, value)| (name, value));
    Ok(BoxJob {
        purpose: Purpose::Run,
        program,
        args,
        env: environment(pairs(&spec.run.env).chain(pairs(more))),
        files,
        stdin: &given.stdin,
        collect: given.collect.to_vec(),
        limits,
    })
}

/// Adds the space for placed files to a run's limits: to the disk limit, and to the memory limit, which
/// counts those bytes too.
pub(super) fn with_room(
    limits: BoxLimits,
    files: impl Iterator<Item = usize>,
) -> Result<BoxLimits, ExecError> {
    let mut placed = 0;
    for bytes in files {
        // One more page for the folder that the file may need.
        placed += (bytes as u64).next_multiple_of(PAGE_BYTES) + PAGE_BYTES;
    }
    if placed > EXEC_PLACED_BYTES_MAX {
        return Err(bad(format!(
            "the files of one run have more than {EXEC_PLACED_BYTES_MAX} bytes"
        )));
    }
    Ok(BoxLimits {
        disk_bytes: limits.disk_bytes + placed,
        memory_bytes: limits.memory_bytes + placed,
        ..limits
    })
}

#[cfg(test)]
mod tests {
    use assay_core::id::Digest;

    use super::*;

    fn files(paths: &[&str]) -> Vec<SourceFile> {
        let file = |path: &&str| SourceFile { path: (*path).into(), content: Blob::Inline(vec![]) };
        paths.iter().map(file).collect()
    }

    fn source(paths: &[&str], main: &str) -> ProgramSource {
        ProgramSource {
            toolchain: "x".into(),
            files: files(paths),
            main: main.into(),
            options: vec![],
        }
    }

    #[test]
    fn sources_are_checked() {
        assert_eq!(check_source(&source(&["main.c", "a/b.h"], "main.c")), Ok(()));
        for (paths, main) in [
            (&["main.c"][..], "other.c"),
            (&[], "main.c"),
            (&["../main.c"], "../main.c"),
            (&["/main.c"], "/main.c"),
            (&["-x"], "-x"),
            (&["a", "a/b"], "a"),
            (&["a", "a"], "a"),
        ] {
            let checked = check_source(&source(paths, main));
            assert!(matches!(checked, Err(ExecError::BadRequest(_))), "{paths:?}");
        }
        let names: Vec<String> = (0..=EXEC_FILES_MAX).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(check_source(&source(&names, "0")).is_err());
        assert_eq!(check_source(&source(&names[1..], "1")), Ok(()));
    }

    #[test]
    fn words_are_checked() {
        let words = |count, word: &str| vec![word.to_owned(); count];
        assert_eq!(check_words("options", &words(EXEC_WORDS_MAX, "-DA")), Ok(()));
        assert!(check_words("options", &words(EXEC_WORDS_MAX + 1, "")).is_err());
        assert!(check_words("options", &words(1, &"x".repeat(EXEC_WORDS_BYTES_MAX + 1))).is_err());
        assert!(check_words("options", &words(1, "a\0")).is_err());
        let env = |name: &str, value: &str| check_env(&[(name.to_owned(), value.to_owned())]);
        assert_eq!(env("A", "b=c"), Ok(()));
        assert!(env("", "b").is_err() && env("A=B", "c").is_err() && env("A", "\0").is_err());
        assert!(check_collect(&words(1, "../x")).is_err());
        assert!(check_collect(&words(EXEC_COLLECTED_FILES_MAX + 1, "x")).is_err());
    }

    #[test]
    fn what_is_placed_comes_on_top() {
        let limits = with_room(BoxLimits::RUN, [1, 4_096, 0].into_iter()).unwrap();
        assert_eq!(limits.disk_bytes, BoxLimits::RUN.disk_bytes + 5 * 4_096);
        assert_eq!(limits.memory_bytes, BoxLimits::RUN.memory_bytes + 5 * 4_096);
        let most = usize::try_from(EXEC_PLACED_BYTES_MAX).unwrap();
        assert!(with_room(BoxLimits::RUN, std::iter::once(most)).is_err());
    }

    #[test]
    fn an_object_counts_in_each_file_that_it_stands_in() {
        let folder = tempfile::tempdir().unwrap();
        let objects = ObjectCache::open(folder.path(), 1 << 30).unwrap();
        let digest = objects.put(&[0; 1_000]).unwrap();
        let fetched = |bytes_max, blob: &Blob, count| {
            let files = fetch_within(bytes_max, std::iter::repeat_n(("a", blob), count), &objects);
            files.map(|files| files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>())
        };
        let stored = Blob::Stored(digest);
        assert_eq!(fetched(5_000, &stored, 5), Ok(5_000));
        assert!(matches!(fetched(4_999, &stored, 5), Err(ExecError::BadRequest(_))));
        let inline = Blob::Inline(vec![0; 10]);
        assert_eq!(fetched(10, &inline, 1), Ok(10));
        assert!(matches!(fetched(9, &inline, 1), Err(ExecError::BadRequest(_))));
        let missing = Blob::Stored(Digest::of(b""));
        assert!(matches!(fetched(9, &missing, 1), Err(ExecError::MissingBlob(_))));
    }

    #[test]
    fn the_last_word_on_a_variable_counts() {
        let env = environment([("LANG", "C"), ("A", "1"), ("A", "2")]);
        let get = |wanted: &str| {
            let found: Vec<_> = env.iter().filter(|(name, _)| name == wanted).collect();
            assert_eq!(found.len(), 1);
            found[0].1.clone()
        };
        assert_eq!((get("LANG"), get("A"), get("HOME")), ("C".into(), "2".into(), "/box/w".into()));
    }
}

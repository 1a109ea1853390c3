//! Programs of packages: which file is the source and what language it is in.

use super::Package;
use crate::machine::Objects;
use crate::problem::{Data, JudgeProgram, Protocol};

const LANGUAGES: &[(&str, &str)] = &[
    ("c", "c"),
    ("cc", "cpp"),
    ("cpp", "cpp"),
    ("cxx", "cpp"),
    ("py", "python"),
    ("java", "java"),
    ("rs", "rust"),
    ("go", "go"),
    ("kt", "kotlin"),
    ("js", "javascript"),
];

/// The language of a source, by its name.
fn language_of(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    LANGUAGES.iter().find(|(known, _)| *known == extension).map(|(_, language)| *language)
}

/// The program made of these files: one source, or one called `main`, and what it includes. The error
/// says why it is none.
pub(super) fn program_of<O: Objects>(
    package: &Package<'_, O>,
    paths: &[&str],
    protocol: Protocol,
) -> Result<JudgeProgram, String> {
    let listed = paths.join(", ");
    if paths.iter().any(|path| matches!(base(path), "build" | "run")) {
        return Err(format!("programs with `build` or `run` scripts are not supported: {listed}"));
    }
    let sources: Vec<&str> =
        paths.iter().copied().filter(|path| language_of(path).is_some()).collect();
    let main = match sources.as_slice() {
        [] => return Err(format!("no source of a known language among {listed}")),
        [one] => *one,
        several => *several
            .iter()
            .find(|path| base(path).starts_with("main."))
            .ok_or_else(|| format!("more than one source, and none is called main: {listed}"))?,
    };
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let files = paths.iter().filter(|path| **path != main).filter_map(|path| {
        let inside = if folder.is_empty() { Some(*path) } else { path.strip_prefix(folder) };
        let inside = inside?.trim_start_matches('/');
        Some((inside.to_owned(), Data::Object(package.name(path))))
    });
    Ok(JudgeProgram {
        toolchain: language_of(main).expect("sources have a language").to_owned(),
        main: Some(base(main).to_owned()),
        source: Data::Object(package.name(main)),
        files: files.collect(),
        protocol,
        options: Vec::new(),
        args: Vec::new(),
    })
}

fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, base)| base)
}

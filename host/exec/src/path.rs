//! Paths of files in a working folder: relative, and written in only one way.

use assay_core::limits::{EXEC_PATH_BYTES_MAX, EXEC_PATH_PARTS_MAX};

/// The most bytes of a file's name: the kernel's limit.
const NAME_BYTES_MAX: usize = 255;

/// Checks a path; the error says what is wrong with it.
pub fn check(path: &str) -> Result<(), String> {
    let shown: String = path.chars().take(80).collect();
    let bad = |why: &str| Err(format!("the path `{}` {why}", shown.escape_debug()));
    if path.len() > EXEC_PATH_BYTES_MAX {
        return bad(&format!("is longer than {EXEC_PATH_BYTES_MAX} bytes"));
    }
    if path.starts_with('/') {
        return bad("is absolute; paths are relative to the working folder");
    }
    if path.contains('\0') {
        return bad("contains a NUL character");
    }
    if path.split('/').count() > EXEC_PATH_PARTS_MAX {
        return bad(&format!("has more than {EXEC_PATH_PARTS_MAX} parts"));
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return bad("has a part that is empty, `.` or `..`");
    }
    if path.split('/').any(|part| part.len() > NAME_BYTES_MAX) {
        return bad(&format!("has a part of more than {NAME_BYTES_MAX} bytes"));
    }
    Ok(())
}

/// Checks the paths of files in one folder: no two may be equal, and none may be a folder of another.
pub fn check_together<'a>(paths: impl Iterator<Item = &'a str>) -> Result<(), String> {
    // By parts, so that what lies in a folder follows the folder at once.
    let mut sorted: Vec<Vec<&str>> = paths.map(|path| path.split('/').collect()).collect();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        if pair[0] == pair[1] {
            return Err(format!("there are two files `{}`", pair[0].join("/").escape_debug()));
        }
        if pair[1].starts_with(&pair[0]) {
            return Err(format!("`{}` is a file and a folder", pair[0].join("/").escape_debug()));
        }
    }
    Ok(())
}

/// The file's name without folders and extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn relative_paths_only() {
        for good in ["a", "a/b.c", ".hidden", "...", "a b", "ä/ö", &"x".repeat(255)] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let longest = "x/".repeat(4) + &"x".repeat(248);
        assert_eq!((longest.len(), check(&longest)), (256, Ok(())));
        let long = longest + "x";
        let long_name = "x".repeat(256);
        let deep = "a/".repeat(16) + "a";
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a/.",
            "a\0b",
            &long,
            &long_name,
            &deep,
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_two_files_in_one_place() {
        let together = |paths: &[&str]| check_together(paths.iter().copied());
        assert_eq!(together(&["a", "b/c", "b/d", "a.b", "ab"]), Ok(()));
        assert_eq!(together(&["a", "b", "a"]), Err("there are two files `a`".into()));
        assert_eq!(together(&["a/b", "a.x", "a"]), Err("`a` is a file and a folder".into()));
        assert!(together(&["x/y/z", "x", "x-y"]).is_err());
    }

    #[test]
    fn stems() {
        for (path, wanted) in
            [("main.cpp", "main"), ("a/Main.java", "Main"), ("x", "x"), (".x", ".x")]
        {
            assert_eq!(stem(path), wanted);
        }
    }

    proptest! {
        #[test]
        fn a_good_path_stays_in_its_folder(path in "[a./\0]{0,12}") {
            if check(&path).is_ok() {
                let mut depth = 0;
                for part in std::path::Path::new(&path).components() {
                    prop_assert!(matches!(part, std::path::Component::Normal(_)));
                    depth += 1;
                }
                prop_assert!(depth > 0);
            }
        }
    }
}

//! Names of objects: a root, and a path within it.

use assay_core::limits;

/// The root's name and the path within it.
pub(crate) fn split(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or((name, ""))
}

/// Refuses a path unless it consists of plain parts between single slashes, as every object's does.
pub(crate) fn check_path(path: &str) -> Result<(), String> {
    let explain = |why: &str| {
        let shown: String = path.chars().take(80).collect();
        Err(format!("`{shown}` {why}; an object is named root/path/of/the/object"))
    };
    if path.len() > limits::OBJECT_NAME_BYTES_MAX {
        return explain(&format!("is longer than {} bytes", limits::OBJECT_NAME_BYTES_MAX));
    }
    if path.contains(|letter: char| letter.is_control() || letter == '\\') {
        return explain("has a character that no name may have");
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return explain("has an empty part, `.` or `..`");
    }
    Ok(())
}

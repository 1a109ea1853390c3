//! Puts what plugin projects are made of into the command line: templates and the SDKs, as a table that
//! `src/plugin/new.rs` includes. The Rust SDK's manifest is made to stand alone, as no workspace of
//! ours is around it in a project.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The files and folders of `sdk/` that the program contains.
const TAKEN: &[&str] = &[
    "rust/Cargo.toml",
    "rust/src",
    "wit",
    "python-plugin/build.py",
    "python-plugin/pyproject.toml",
    "python-plugin/README.md",
    "python-plugin/src",
    "templates",
];
const MANIFEST: &str = "rust/Cargo.toml";

fn main() -> io::Result<()> {
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    write(&variable("CARGO_MANIFEST_DIR").join("../.."), &variable("OUT_DIR"))
}

/// Writes `templates.rs` to `out`.
fn write(checkout: &Path, out: &Path) -> io::Result<()> {
    let sdk = checkout.join("sdk");
    let mut files = Vec::new();
    for taken in TAKEN.iter().map(|taken| sdk.join(taken)) {
        // Cargo watches everything below a folder, later files included.
        println!("cargo::rerun-if-changed={}", taken.display());
        find(&taken, &mut files)?;
    }
    files.sort();
    let workspace = checkout.join("Cargo.toml");
    println!("cargo::rerun-if-changed={}", workspace.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut table = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&sdk).expect("was found in there");
        let name = name.to_str().expect("sources have plain names");
        let mut from = file.clone();
        if name == MANIFEST {
            from = out.join("sdk-manifest.toml");
            let manifest = alone(&fs::read_to_string(&file)?, &fs::read_to_string(&workspace)?);
            fs::write(&from, manifest)?;
        }
        table += &format!("({name:?}, include_bytes!({from:?}) as &[u8]),\n");
    }
    table += "]\n";
    fs::write(out.join("templates.rs"), table)
}

/// All files below a path; what is not there has none. Nothing that a build or an editor left.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if matches!(name, "target" | "__pycache__" | "node_modules") || name.ends_with(".egg-info") {
        return Ok(());
    }
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            find(&entry?.path(), files)?;
        }
    } else if path.is_file() {
        files.push(path.to_owned());
    }
    Ok(())
}

/// The manifest with what it inherits of the workspace written out, and without our lints.
fn alone(manifest: &str, workspace: &str) -> String {
    let mut lines = Vec::new();
    for line in manifest.lines().filter(|line| !matches!(*line, "[lints]" | "workspace = true")) {
        lines.push(match line.strip_suffix(".workspace = true") {
            None => line,
            Some(name) => inherited(workspace, name),
        });
    }
    let text = lines.join("\n") + "\n";
    assert!(!text.contains("workspace"), "the SDK's manifest inherits in a way not known: {text}");
    text
}

fn inherited<'a>(workspace: &'a str, name: &str) -> &'a str {
    let is_it = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(" = "));
    let found = workspace.lines().find(is_it);
    found.unwrap_or_else(|| panic!("the workspace's manifest has no `{name} = `"))
}

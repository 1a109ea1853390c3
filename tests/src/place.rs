//! Where things lie in the checkout.

use std::path::{Path, PathBuf};

/// The root of the checkout.
///
/// # Panics
/// Where this crate was moved within the checkout.
#[must_use]
pub fn checkout() -> PathBuf {
    let crate_folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_folder.parent().expect("this crate lies in a folder of the checkout").to_path_buf()
}

/// A program of the workspace, built beside the running test.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.ancestors().nth(2).expect("a test lies in target/<profile>/deps");
    let program = folder.join(name);
    assert!(program.is_file(), "{} is missing: run `cargo build --workspace`", program.display());
    program
}

/// A component of `make plugins` or `make guests`, such as `assay_plugin_math` or `trivial`.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn component_path(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let target = test.ancestors().nth(3).expect("a test lies in target/<profile>/deps");
    let folder = target.join("wasm32-wasip2/plugin");
    let places =
        [folder.join(format!("{name}.wasm")), folder.join(format!("examples/{name}.wasm"))];
    let found = places.iter().find(|place| place.is_file()).cloned();
    found.unwrap_or_else(|| panic!("{} is missing: run `make plugins guests`", places[0].display()))
}

/// The bytes of a component.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn component(name: &str) -> Vec<u8> {
    std::fs::read(component_path(name)).expect("a component is readable")
}

/// A file of the reference folder beside the checkout, where there is one.
#[must_use]
pub fn shared(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("ASSAY_SHARED").map_or_else(
        || checkout().parent().map(|parent| parent.join("shared")),
        |set| Some(set.into()),
    );
    folder.map(|folder| folder.join(name)).filter(|file| file.exists())
}

/// The digests of the compiled plugins that the workers of a server with this data folder keep; partial files are none.
#[must_use]
pub fn plugins_of_workers(data: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(data.join("cache/plugins")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !name.starts_with('.')).collect()
}

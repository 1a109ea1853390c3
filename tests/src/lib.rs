//! What the tests of the whole share. It knows the checkout and nothing of Assay's insides.

use std::path::PathBuf;

/// The root of the checkout.
///
/// # Panics
/// Where this crate was moved within the checkout.
#[must_use]
pub fn checkout() -> PathBuf {
    let crate_folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_folder.parent().expect("this crate lies in a folder of the checkout").to_path_buf()
}

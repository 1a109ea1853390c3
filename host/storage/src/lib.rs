//! Storage roots: an operator's folders and buckets, from which plugins read test cases and
//! reference data.
//!
//! A file names the roots and the tenants to which each is granted ([`roots`]); a root is a local
//! folder ([`folder`]) or a bucket ([`bucket`]). Objects are only read. A name never leads out of its
//! root, and a tenant cannot tell a root that it was not granted from one that does not exist. A store
//! that cannot be read is reported as unavailable, never as a missing object.

mod storage;

mod roots;

mod root;

mod bucket;
mod folder;

mod reading;

mod name;

mod error;

pub mod blob;

pub use error::StorageError;
pub use root::Root;
pub use roots::{Roots, StorageFile};
pub use storage::{FetchedObject, Storage};

#[cfg(test)]
mod tests {
    /// As the program does at its start.
    pub(crate) fn install_tls_provider() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

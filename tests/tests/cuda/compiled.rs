//! Compiled CUDA of earlier runs: a source is compiled once, as long as it and its compiler stay the same.
//!
//! The workers' own cache is kept, in which a file's name depends on the source, the options and the toolkit, for as long as the
//! sources of what fills it are the same. Rejected sources are in no cache, so they are compiled in every run; `make test-long`
//! compiles all sources anew.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use assay_core::id::Digest;
use assay_tests::{Host, checkout, long, program};

/// The folder of the compiled CUDA of one tenant on a server.
pub(crate) struct CompiledCuda {
    cache: PathBuf,
    /// The start of the names of the files there, which names the tenant.
    prefix: String,
    kept: PathBuf,
}

impl CompiledCuda {
    /// Gives a server, which has compiled nothing yet, what was kept for the tenant that has its only plugin.
    pub(crate) fn give(host: &Host) -> Self {
        let tenant = host.psql().rows("select distinct tenant_id from plugins");
        let [tenant] = &tenant[..] else { panic!("plugins of one tenant: {tenant:?}") };
        let compiled = Self {
            cache: host.data().join("cache/cuda"),
            prefix: format!("{tenant}."),
            kept: kept().expect("the target folder is ours"),
        };
        if !long() {
            let given = compiled.copy_to_cache();
            given.expect("compiled files can be copied");
        }
        compiled
    }

    fn copy_to_cache(&self) -> io::Result<()> {
        fs::create_dir_all(&self.cache)?;
        for file in fs::read_dir(&self.kept)? {
            let file = file?;
            let name = format!("{}{}", self.prefix, file.file_name().display());
            fs::copy(file.path(), self.cache.join(name))?;
        }
        Ok(())
    }

    /// Keeps what the server has compiled since.
    pub(crate) fn keep(&self) -> io::Result<()> {
        for file in fs::read_dir(&self.cache)? {
            let file = file?;
            let name = file.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_prefix(&self.prefix)) else {
                continue;
            };
            let place = self.kept.join(name);
            if !place.exists() {
                // Another test may read or keep it now.
                let draft = tempfile::NamedTempFile::new_in(self.kept.parent().expect("a folder"))?;
                fs::copy(file.path(), draft.path())?;
                draft.persist(place)?;
            }
        }
        Ok(())
    }
}

/// The folder for what the compiler compiles that these sources build; those for other sources are deleted.
fn kept() -> io::Result<PathBuf> {
    let mut sources = Vec::new();
    read_all(&checkout().join("host/gpu/src"), &mut sources)?;
    let name = Digest::of(&sources).to_string();
    let all = program("assay-worker").with_file_name("compiled-cuda");
    fs::create_dir_all(all.join(&name))?;
    for other in fs::read_dir(&all)? {
        let other = other?.path();
        if other.is_dir() && !other.ends_with(&name) {
            // Another test may delete it now.
            let _ = fs::remove_dir_all(other);
        }
    }
    Ok(all.join(name))
}

/// Appends the path and the content of each file in a folder and those below it.
fn read_all(folder: &Path, sources: &mut Vec<u8>) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_all(&path, sources)?;
        } else {
            sources.extend_from_slice(path.as_os_str().as_bytes());
            sources.extend_from_slice(&fs::read(&path)?);
        }
    }
    Ok(())
}

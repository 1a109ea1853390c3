//! Compiled CUDA of earlier runs: a source is compiled once, as long as it and its compiler stay the same.
//!
//! The workers' own cache is kept, in which a file's name depends on the source, the options, the toolkit and the build of
//! `assay-gpu`, for as long as that build is the same. Rejected sources are in no cache, so they are compiled in every run; `make test-long`
//! compiles all sources anew.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use assay_tests::{Host, long, program};

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

/// The folder for what this build of the compiler compiles; those for other builds are deleted.
fn kept() -> io::Result<PathBuf> {
    let compiler = program("assay-gpu");
    let built = fs::metadata(&compiler)?;
    let build = format!("{}.{:09}-{}", built.mtime(), built.mtime_nsec(), built.size());
    let all = compiler.with_file_name("compiled-cuda");
    fs::create_dir_all(all.join(&build))?;
    for other in fs::read_dir(&all)? {
        let other = other?.path();
        if other.is_dir() && !other.ends_with(&build) {
            // Another test may delete it now.
            let _ = fs::remove_dir_all(other);
        }
    }
    Ok(all.join(build))
}

//! Code that this user's processes have compiled, by the component's digest and the engine: `assay plugin test` and
//! `assay plugin publish` compile a component once.
//!
//! Loading code is trusting it: the folder must be this user's, and nobody else may write to it or to a folder above
//! it. Otherwise nothing is kept. Each file begins with the digest of the code, so that a damaged one is compiled anew.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

use anyhow::{Context as _, ensure};
use assay_core::id::Digest;
use assay_core::limits;
use assay_exec::file_cache::{FileCache, PartialFile};
use assay_sandbox::compile::{CompiledPlugin, PluginCompiler, UploadError};
use assay_sandbox::engine_id;
use nix::unistd::geteuid;

const DIGEST_BYTES: usize = 32;
/// The permission of the group or of others to write.
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

pub(crate) struct CompiledCache {
    files: FileCache,
    engine: String,
}

impl CompiledCache {
    /// The cache in this folder, to be opened before the process limits its memory; without one, or with one that cannot be trusted, nothing is kept.
    pub(crate) fn open(folder: Option<&Path>) -> Option<Self> {
        match Self::trusted(folder?) {
            Ok(cache) => Some(cache),
            Err(problem) => {
                eprintln!("compiled code is not kept: {problem:#}");
                None
            }
        }
    }

    fn trusted(folder: &Path) -> anyhow::Result<Self> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.with_context(|| format!("making {}", folder.display()))?;
        // Without links, so that the folders above it are those that lead to it.
        let folder = folder.canonicalize().context("finding the folder")?;
        for above in folder.ancestors() {
            let meta = fs::symlink_metadata(above)
                .with_context(|| format!("looking at {}", above.display()))?;
            let ours = meta.uid() == geteuid().as_raw();
            let safe = if above == folder { ours && !others_write(&meta) } else { is_safe(&meta) };
            ensure!(safe, "{} is another user's, or others may write to it", above.display());
        }
        let files = FileCache::open(&folder, limits::COMPILED_CACHE_BYTES_MAX)?;
        Ok(Self { files, engine: engine_id() })
    }

    /// Compiles a component, unless a process of this user has done so before. Of several at the same time one compiles.
    pub(crate) fn compile(
        &self,
        compiler: &PluginCompiler,
        bytes: &[u8],
    ) -> Result<CompiledPlugin, UploadError> {
        let name = format!("{}-{}", Digest::of(bytes), self.engine);
        if let Some(known) = self.recall(compiler, bytes, &name) {
            return known;
        }
        let Ok(mut file) = self.files.partial(&name) else { return compiler.compile(bytes) };
        if let Some(known) = self.recall(compiler, bytes, &name) {
            self.files.discard(file);
            return known;
        }
        let compiled = compiler.compile(bytes);
        let written = compiled.as_ref().is_ok_and(|compiled| write(&mut file, compiled).is_ok());
        if written {
            // A full disk costs another compilation, nothing else.
            let _ = self.files.complete(file, &name);
        } else {
            self.files.discard(file);
        }
        compiled
    }

    fn recall(
        &self,
        compiler: &PluginCompiler,
        bytes: &[u8],
        name: &str,
    ) -> Option<Result<CompiledPlugin, UploadError>> {
        let mut kept = self.files.read(name)?;
        if kept.len() < DIGEST_BYTES {
            return None;
        }
        let code = kept.split_off(DIGEST_BYTES);
        let digest = Digest::try_from(&kept[..]).expect("it has the length of a digest");
        compiler.recall(bytes, code, digest)
    }
}

fn write(file: &mut PartialFile, compiled: &CompiledPlugin) -> io::Result<()> {
    file.clear()?;
    file.write(&compiled.compiled_digest.0)?;
    file.write(&compiled.bytes)
}

/// Whether nobody but this user and root can put something else in the place of what is in the folder.
fn is_safe(meta: &Metadata) -> bool {
    let trusted = meta.uid() == 0 || meta.uid() == geteuid().as_raw();
    trusted && (!others_write(meta) || meta.mode() & STICKY != 0)
}

fn others_write(meta: &Metadata) -> bool {
    meta.mode() & OTHERS_WRITE != 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn allow(folder: &Path, mode: u32) {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_not_trusted() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("cache/compiled");
        assert!(CompiledCache::open(Some(&folder)).is_some(), "it is made");
        assert_eq!(fs::metadata(&folder).expect("there").mode() & 0o777, 0o700);
        for mode in [0o720, 0o702, 0o1777] {
            allow(&folder, mode);
            assert!(CompiledCache::open(Some(&folder)).is_none(), "{mode:o}");
        }
        allow(&folder, 0o755);
        assert!(CompiledCache::open(Some(&folder)).is_some());
        allow(&home.path().join("cache"), 0o777);
        assert!(CompiledCache::open(Some(&folder)).is_none(), "the folder above it");
        allow(&home.path().join("cache"), 0o1777);
        assert!(CompiledCache::open(Some(&folder)).is_some(), "nobody else may rename it");
        assert!(CompiledCache::open(None).is_none());
    }
}

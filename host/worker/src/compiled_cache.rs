//! Code that this user's processes have compiled, by the component's digest and the engine: `assay plugin test` and
//! `assay plugin publish` compile a component once. The functions of all components are kept as well, so that of a component
//! that was built anew only new functions are compiled.
//!
//! Loading code is trusting it: the folder must be this user's, and nobody else may write to it or to a folder above
//! it. Otherwise nothing is kept. Each file begins with the digest of the code, so that a damaged one is compiled anew.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use assay_core::id::Digest;
use assay_core::limits;
use assay_exec::file_cache::{FileCache, PartialFile};
use assay_sandbox::compile::{CompiledPlugin, PluginCompiler, UploadError};
use assay_sandbox::{FunctionCache, NotStarted, engine_id};
use nix::unistd::geteuid;

const DIGEST_BYTES: usize = 32;
/// The permission of the group or of others to write.
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// A compiler that uses the code of earlier runs, if there is a folder for it.
pub(crate) struct CachingCompiler {
    pub(crate) compiler: PluginCompiler,
    cache: Option<CompiledCache>,
}

impl CachingCompiler {
    /// To be opened before the process limits its memory. Without a folder, or with one that cannot be trusted, nothing is
    /// kept.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Self, NotStarted> {
        let cache = CompiledCache::open(folder);
        let compiler = match &cache {
            Some(cache) => PluginCompiler::reserve_with(Arc::clone(&cache.functions))?,
            None => PluginCompiler::reserve()?,
        };
        Ok(Self { compiler, cache })
    }

    /// Compiles a component, unless a process of this user has done so before. One of several at the same time compiles.
    pub(crate) fn compile(&self, bytes: &[u8]) -> Result<CompiledPlugin, UploadError> {
        match &self.cache {
            Some(cache) => cache.compile(&self.compiler, bytes),
            None => self.compiler.compile(bytes),
        }
    }

    /// The code of a component that is not asked what it is, and the code's digest.
    pub(crate) fn compile_alone(&self, bytes: &[u8]) -> Result<(Digest, Vec<u8>), UploadError> {
        match &self.cache {
            Some(cache) => cache.compile_alone(&self.compiler, bytes),
            None => alone(&self.compiler, bytes),
        }
    }
}

struct CompiledCache {
    files: Arc<FileCache>,
    engine: String,
    functions: Arc<FunctionCache>,
}

impl CompiledCache {
    fn open(folder: Option<&Path>) -> Option<Self> {
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
        let files = Arc::new(FileCache::open(&folder, limits::COMPILED_CACHE_BYTES_MAX)?);
        let engine = engine_id();
        let (kept, name) = (Arc::clone(&files), functions_name(&engine));
        let functions = FunctionCache::new(move || match read(&kept, &name) {
            Some((digest, functions)) if Digest::of(&functions) == digest => functions,
            _ => Vec::new(),
        });
        Ok(Self { files, engine, functions: Arc::new(functions) })
    }

    fn compile(
        &self,
        compiler: &PluginCompiler,
        bytes: &[u8],
    ) -> Result<CompiledPlugin, UploadError> {
        let name = format!("{}-{}", Digest::of(bytes), self.engine);
        let recall = || {
            let (digest, code) = read(&self.files, &name)?;
            compiler.recall(bytes, code, digest)
        };
        let compile = || compiler.compile(bytes);
        self.kept_or(&name, recall, compile, |plugin| {
            (plugin.compiled_digest, plugin.bytes.as_slice())
        })
    }

    fn compile_alone(
        &self,
        compiler: &PluginCompiler,
        bytes: &[u8],
    ) -> Result<(Digest, Vec<u8>), UploadError> {
        let name = format!("{}-alone-{}", Digest::of(bytes), self.engine);
        let recall = || {
            let kept = read(&self.files, &name);
            kept.filter(|(digest, code)| Digest::of(code) == *digest).map(Ok)
        };
        let compile = || alone(compiler, bytes);
        self.kept_or(&name, recall, compile, |(digest, code)| (*digest, code.as_slice()))
    }

    /// `code` is the code of a value with its digest.
    fn kept_or<T>(
        &self,
        name: &str,
        recall: impl Fn() -> Option<Result<T, UploadError>>,
        compile: impl Fn() -> Result<T, UploadError>,
        code: fn(&T) -> (Digest, &[u8]),
    ) -> Result<T, UploadError> {
        if let Some(known) = recall() {
            return known;
        }
        let Ok(mut file) = self.files.partial(name) else { return compile() };
        if let Some(known) = recall() {
            self.files.discard(file);
            return known;
        }
        let compiled = compile();
        let written = compiled.as_ref().is_ok_and(|compiled| {
            let (digest, code) = code(compiled);
            write(&mut file, digest, code).is_ok()
        });
        if written {
            // A full disk costs another compilation, nothing else.
            let _ = self.files.complete(file, name);
        } else {
            self.files.discard(file);
        }
        self.keep_functions();
        compiled
    }

    /// Another process may do so at the same time; what one of them added is then compiled once more.
    fn keep_functions(&self) {
        let max = limits::COMPILED_FUNCTIONS_BYTES_MAX;
        let Some(functions) = self.functions.changed(max) else { return };
        let kept = self.files.draft().and_then(|mut draft| {
            draft.write(&Digest::of(&functions).0)?;
            draft.write(&functions)?;
            self.files.keep(draft, &functions_name(&self.engine))
        });
        if let Err(problem) = kept {
            eprintln!("compiled functions are not kept: {problem}");
        }
    }
}

fn alone(compiler: &PluginCompiler, bytes: &[u8]) -> Result<(Digest, Vec<u8>), UploadError> {
    let code = compiler.compile_alone(bytes)?;
    Ok((Digest::of(&code), code))
}

fn functions_name(engine: &str) -> String {
    format!("functions-{engine}")
}

/// The digest at the beginning of a file, and what follows it.
fn read(files: &FileCache, name: &str) -> Option<(Digest, Vec<u8>)> {
    let mut kept = files.read(name)?;
    if kept.len() < DIGEST_BYTES {
        return None;
    }
    let rest = kept.split_off(DIGEST_BYTES);
    let digest = Digest::try_from(&kept[..]).expect("it has the length of a digest");
    Some((digest, rest))
}

fn write(file: &mut PartialFile, digest: Digest, code: &[u8]) -> io::Result<()> {
    file.clear()?;
    file.write(&digest.0)?;
    file.write(code)
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

//! Compiled plugins: the loaded ones in memory, others in a folder by digest or at the host.
//!
//! The folder is only a cache. Bytes from it or from the host are verified before they are loaded; a damaged file is
//! replaced.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use assay_core::id::Digest;
use assay_core::limits;
use assay_sandbox::{LoadedPlugin, Sandbox, Unloadable};
use lru::LruCache;
use tokio::sync::{mpsc, oneshot};

use super::host_request::HostRequest;

const LOADED_MAX: NonZeroUsize =
    NonZeroUsize::new(limits::LOADED_PLUGINS_MAX).expect("the limit is not 0");

pub(crate) struct Plugins {
    cache: PathBuf,
    host_requests: mpsc::UnboundedSender<HostRequest>,
    loaded: LruCache<Digest, LoadedPlugin>,
}

impl Plugins {
    pub(crate) fn new(cache: PathBuf, host_requests: mpsc::UnboundedSender<HostRequest>) -> Self {
        Self { cache, host_requests, loaded: LruCache::new(LOADED_MAX) }
    }

    /// The plugin whose compiled form has this digest; the error says why there is none.
    pub(crate) fn get(
        &mut self,
        sandbox: &Sandbox,
        digest: Digest,
    ) -> Result<&LoadedPlugin, String> {
        if !self.loaded.contains(&digest) {
            let loaded = self.load(sandbox, digest)?;
            self.loaded.put(digest, loaded);
        }
        Ok(self.loaded.get(&digest).expect("it was just put there"))
    }

    fn load(&self, sandbox: &Sandbox, digest: Digest) -> Result<LoadedPlugin, String> {
        let path = self.cache.join(digest.to_string());
        if let Ok(bytes) = std::fs::read(&path) {
            match sandbox.load(&bytes, digest) {
                Err(Unloadable::WrongDigest { .. }) => {
                    tracing::warn!(compiled.digest = %digest, "a cached plugin is damaged");
                }
                loaded => return loaded.map_err(|problem| problem.to_string()),
            }
        }
        let bytes = self.fetch(digest)?;
        let loaded = sandbox.load(&bytes, digest).map_err(|problem| problem.to_string())?;
        if let Err(problem) = keep(&path, &bytes) {
            tracing::warn!(compiled.digest = %digest, %problem, "a plugin is not cached");
        }
        Ok(loaded)
    }

    fn fetch(&self, digest: Digest) -> Result<Vec<u8>, String> {
        let (answer, answered) = oneshot::channel();
        let gone = || "the host is gone".to_owned();
        self.host_requests.send(HostRequest::Compiled { digest, answer }).map_err(|_| gone())?;
        answered.blocking_recv().map_err(|_| gone())?
    }
}

/// Writes under another name and renames, so that other workers see the complete file or none.
fn keep(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    std::fs::write(&partial, bytes)?;
    std::fs::rename(&partial, path)
}

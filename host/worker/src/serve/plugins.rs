//! Compiled plugins: the loaded ones in memory, others in a folder by digest or at the host.
//!
//! A thread of its own loads them: those that the host announces while there is time, those of a lease before all
//! others. The workers of a machine share the folder, and one of them fetches a file for all.
//!
//! The folder is only a cache. Bytes from it or from the host are verified before they are loaded; a damaged file is
//! replaced.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use assay_core::id::Digest;
use assay_core::limits;
use assay_exec::file_cache::{FileCache, PartialFile};
use assay_sandbox::{LoadedPlugin, Sandbox, Unloadable};
use lru::LruCache;
use parking_lot::{Condvar, Mutex};
use tokio::sync::mpsc;

use super::host_request::HostRequest;

const LOADED_MAX: NonZeroUsize =
    NonZeroUsize::new(limits::LOADED_PLUGINS_MAX).expect("the limit is not 0");
/// The most pieces of a plugin that wait to be written.
const PIECES_MAX: usize = 4;

type Loaded = Result<Arc<LoadedPlugin>, String>;

/// The plugins of a worker, for the runner and the conversation.
pub(crate) struct Plugins {
    state: Mutex<PluginsState>,
    changed: Condvar,
}

struct PluginsState {
    loaded: LruCache<Digest, Arc<LoadedPlugin>>,
    /// The plugins to load, each with the receiver of the answer if a lease waits for it.
    wanted: VecDeque<(Digest, Option<Sender<Loaded>>)>,
}

impl Default for Plugins {
    fn default() -> Self {
        let state = PluginsState { loaded: LruCache::new(LOADED_MAX), wanted: VecDeque::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl Plugins {
    /// The plugin whose compiled form has this digest, if it is loaded.
    pub(crate) fn get(&self, digest: Digest) -> Option<Arc<LoadedPlugin>> {
        self.state.lock().loaded.get(&digest).cloned()
    }

    /// Asks for a plugin before all others; the error says why there is none.
    pub(crate) fn load(&self, digest: Digest) -> Loaded {
        let (answer, answered): (_, Receiver<Loaded>) = channel();
        self.state.lock().wanted.push_front((digest, Some(answer)));
        self.changed.notify_one();
        answered.recv().expect("the loader lives as long as its worker")
    }

    /// Asks for plugins that requests are expected for. Most messages of the host name none, and the loader sleeps on.
    pub(crate) fn preload(&self, digests: &[impl AsRef<[u8]>]) {
        if digests.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        for digest in digests {
            let Ok(digest) = Digest::try_from(digest.as_ref()) else { continue };
            let known = state.loaded.contains(&digest)
                || state.wanted.iter().any(|(wanted, _)| *wanted == digest);
            if !known && state.wanted.len() < limits::PRELOADED_PLUGINS_MAX {
                state.wanted.push_back((digest, None));
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Loads what is wanted, for ever.
    pub(crate) fn run(&self, sandbox: &Sandbox, source: &PluginSource) {
        loop {
            let (digest, answer) = self.next();
            let loaded = match self.get(digest) {
                Some(plugin) => Ok(plugin),
                None => source.load(sandbox, digest).map(Arc::new),
            };
            match &loaded {
                Ok(plugin) => drop(self.state.lock().loaded.put(digest, Arc::clone(plugin))),
                Err(problem) => {
                    tracing::warn!(compiled.digest = %digest, problem, "a plugin is not loaded");
                }
            }
            if let Some(answer) = answer {
                // The runner is gone only if the worker ends.
                let _ = answer.send(loaded);
            }
        }
    }

    fn next(&self) -> (Digest, Option<Sender<Loaded>>) {
        let mut state = self.state.lock();
        loop {
            if let Some(wanted) = state.wanted.pop_front() {
                return wanted;
            }
            self.changed.wait(&mut state);
        }
    }
}

/// Where the bytes of plugins come from: the folder of this machine, or the host.
pub(crate) struct PluginSource {
    files: FileCache,
    host_requests: mpsc::UnboundedSender<HostRequest>,
}

impl PluginSource {
    /// Opens the cache in this folder, which the workers of a machine share.
    pub(crate) fn open(
        folder: &Path,
        host_requests: mpsc::UnboundedSender<HostRequest>,
    ) -> std::io::Result<Self> {
        let files = FileCache::open(&folder.join("plugins"), limits::COMPILED_CACHE_BYTES_MAX)?;
        remove_old_layout(folder);
        Ok(Self { files, host_requests })
    }

    fn load(&self, sandbox: &Sandbox, digest: Digest) -> Result<LoadedPlugin, String> {
        let name = digest.to_string();
        if let Some(loaded) = self.load_kept(sandbox, digest, &name) {
            return loaded;
        }
        let partial = self.files.partial(&name).map_err(|problem| {
            tracing::warn!(compiled.digest = %digest, %problem, "a plugin is not cached");
        });
        let Ok(mut partial) = partial else {
            let bytes = self.fetch(digest, Vec::new(), None)?;
            return sandbox.load(&bytes, digest).map_err(|problem| problem.to_string());
        };
        // Another worker may have fetched it meanwhile.
        if let Some(loaded) = self.load_kept(sandbox, digest, &name) {
            self.files.discard(partial);
            return loaded;
        }
        let bytes = match self.fetch_into(&mut partial, digest) {
            Ok(bytes) => bytes,
            Err(problem) => {
                if partial.is_empty() {
                    self.files.discard(partial);
                }
                return Err(problem);
            }
        };
        let loaded = sandbox.load(&bytes, digest);
        // An empty file could not be written.
        if partial.is_empty() || matches!(loaded, Err(Unloadable::WrongDigest { .. })) {
            self.files.discard(partial);
        } else if let Err(problem) = self.files.complete(partial, &name) {
            tracing::warn!(compiled.digest = %digest, %problem, "a plugin is not cached");
        }
        loaded.map_err(|problem| problem.to_string())
    }

    /// Fetches what the file lacks. It goes on after what is there, unless that is damaged. A file that cannot be
    /// written is left empty: a full disk keeps no plugin from running.
    fn fetch_into(&self, partial: &mut PartialFile, digest: Digest) -> Result<Vec<u8>, String> {
        let there = partial.read().unwrap_or_default();
        let resumed = !there.is_empty();
        let bytes = self.fetch(digest, there, Some(partial))?;
        if !resumed || Digest::of(&bytes) == digest {
            return Ok(bytes);
        }
        let kept = partial.clear().is_ok();
        self.fetch(digest, Vec::new(), kept.then_some(partial))
    }

    /// Loads the plugin from the folder; a damaged file is removed.
    fn load_kept(
        &self,
        sandbox: &Sandbox,
        digest: Digest,
        name: &str,
    ) -> Option<Result<LoadedPlugin, String>> {
        match sandbox.load(&self.files.read(name)?, digest) {
            Err(Unloadable::WrongDigest { .. }) => {
                tracing::warn!(compiled.digest = %digest, "a cached plugin is damaged");
                self.files.remove(name);
                None
            }
            loaded => Some(loaded.map_err(|problem| problem.to_string())),
        }
    }

    /// Fetches what follows the bytes that are there, and keeps it in the file.
    fn fetch(
        &self,
        digest: Digest,
        mut bytes: Vec<u8>,
        mut partial: Option<&mut PartialFile>,
    ) -> Result<Vec<u8>, String> {
        let (pieces, mut received) = mpsc::channel(PIECES_MAX);
        let request = HostRequest::Compiled { digest, offset: bytes.len() as u64, pieces };
        self.host_requests.send(request).map_err(|_| "the host is gone".to_owned())?;
        while let Some(piece) = received.blocking_recv() {
            let piece = piece?;
            if bytes.len() + piece.len() > limits::COMPILED_BYTES_MAX {
                let max = limits::COMPILED_BYTES_MAX;
                return Err(format!("the compiled plugin has more than {max} bytes"));
            }
            bytes.extend_from_slice(&piece);
            if let Some(file) = &mut partial
                && let Err(problem) = file.write(&piece)
            {
                tracing::warn!(compiled.digest = %digest, %problem, "a plugin is not cached");
                // If this fails as well, the digest of what is there will be found wrong.
                let _ = file.clear();
                partial = None;
            }
        }
        Ok(bytes)
    }
}

/// Deletes the plugins and partial files that earlier versions kept in the folder itself, without a limit.
fn remove_old_layout(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        let name = entry.file_name();
        let beginning = name.to_str().and_then(|name| name.split('.').next());
        if beginning.is_some_and(|digest| digest.parse::<Digest>().is_ok()) {
            // Another worker of this machine may have deleted it.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

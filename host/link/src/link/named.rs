//! The compiled plugins that workers were told of: no other object is theirs to fetch.

use std::collections::HashSet;
use std::sync::Arc;

use assay_core::id::Digest;
use assay_wire::proto::ToWorker;
use parking_lot::Mutex;

/// The digests of compiled plugins in all messages to workers since the start of this server. A worker begins each
/// conversation with nothing to load, so that it asks for none that was named by another server.
#[derive(Clone, Default)]
pub struct NamedPlugins(Arc<Mutex<HashSet<Digest>>>);

impl NamedPlugins {
    /// Notes what a message names, before a worker gets it.
    pub(super) fn note(&self, message: &ToWorker) {
        let granted = message.grants.iter().map(|grant| &grant.compiled_digest);
        let named = granted.chain(&message.preload);
        let named = named.filter_map(|digest| Digest::try_from(&digest[..]).ok());
        self.0.lock().extend(named);
    }

    pub(super) fn contains(&self, digest: Digest) -> bool {
        self.0.lock().contains(&digest)
    }
}

#[cfg(test)]
mod tests {
    use assay_wire::proto::Grant;
    use bytes::Bytes;

    use super::*;

    #[test]
    fn compiled_plugins_of_grants_and_preloads_are_named_and_components_are_not() {
        let [component, granted, preloaded] = [1, 2, 3].map(|byte| Digest([byte; 32]));
        let bytes = |digest: Digest| Bytes::copy_from_slice(&digest.0);
        let grant = Grant {
            plugin_digest: bytes(component),
            compiled_digest: bytes(granted),
            ..Grant::default()
        };
        let named = NamedPlugins::default();
        assert!(!named.contains(granted));
        named.note(&ToWorker { grants: vec![grant], ..ToWorker::default() });
        named.note(&ToWorker { preload: vec![bytes(preloaded)], ..ToWorker::default() });
        assert!(named.contains(granted) && named.contains(preloaded));
        assert!(!named.contains(component));
    }
}

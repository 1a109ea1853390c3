//! The native code of single functions, kept from one compilation to the next: a component that was built anew is mostly
//! made of functions that were compiled before.
//!
//! Its owner keeps the bytes, where nobody but its user can write: they become native code. A function is known by the
//! digest of what it is compiled from and of the compiler's settings.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use parking_lot::Mutex;
use wasmtime::CacheStore;

type Key = [u8; KEY_BYTES];

const KEY_BYTES: usize = 32;
const LENGTH_BYTES: usize = 4;

/// Functions that were compiled before, and those that are compiled now.
pub struct FunctionCache {
    /// Gives the bytes of [`Self::changed`] of an earlier compilation.
    read: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    kept: OnceLock<StoredFunctions>,
    added: Mutex<HashMap<Key, Vec<u8>>>,
}

/// Entries one after the other: a key, the length of the code in four bytes, the code.
#[derive(Default)]
struct StoredFunctions {
    bytes: Vec<u8>,
    places: HashMap<Key, Range<usize>>,
}

impl FunctionCache {
    /// `read` is called when the first function is compiled.
    pub fn new(read: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self { read: Box::new(read), kept: OnceLock::new(), added: Mutex::default() }
    }

    /// The bytes to keep from now on; `None` if no function was added. If they would be more than the limit, only the
    /// functions of this compilation are kept.
    pub fn changed(&self, bytes_max: usize) -> Option<Vec<u8>> {
        let added = self.added.lock();
        if added.is_empty() {
            return None;
        }
        let mut fresh = Vec::new();
        for (key, code) in &*added {
            let Ok(length) = u32::try_from(code.len()) else { continue };
            fresh.extend_from_slice(key);
            fresh.extend_from_slice(&length.to_le_bytes());
            fresh.extend_from_slice(code);
        }
        let kept = self.kept.get().map_or(&[][..], |kept| &kept.bytes);
        let all =
            if kept.len() + fresh.len() <= bytes_max { [kept, &fresh].concat() } else { fresh };
        (all.len() <= bytes_max).then_some(all)
    }
}

impl CacheStore for FunctionCache {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let kept = self.kept.get_or_init(|| StoredFunctions::of((self.read)()));
        kept.places.get(key).map(|place| Cow::Borrowed(&kept.bytes[place.clone()]))
    }

    fn insert(&self, key: &[u8], value: Vec<u8>) -> bool {
        let Ok(key) = Key::try_from(key) else { return false };
        self.added.lock().insert(key, value);
        true
    }
}

impl fmt::Debug for FunctionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionCache").finish_non_exhaustive()
    }
}

impl StoredFunctions {
    /// Reads up to the first entry that is not whole.
    fn of(bytes: Vec<u8>) -> Self {
        let mut places = HashMap::new();
        let mut rest = &bytes[..];
        while let Some((key, after)) = rest.split_first_chunk::<KEY_BYTES>()
            && let Some((length, after)) = after.split_first_chunk::<LENGTH_BYTES>()
        {
            let length = u32::from_le_bytes(*length) as usize;
            if after.len() < length {
                break;
            }
            let start = bytes.len() - after.len();
            places.insert(*key, start..start + length);
            rest = &after[length..];
        }
        Self { bytes, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(keys: &[u8], code: &[u8]) -> Vec<u8> {
        let cache = FunctionCache::new(Vec::new);
        for key in keys {
            assert!(cache.insert(&[*key; KEY_BYTES], code.to_vec()));
        }
        cache.changed(usize::MAX).expect("functions were added")
    }

    #[test]
    fn what_was_added_is_found_later() {
        let kept = entries(&[1, 2], b"code");
        let cache = FunctionCache::new(move || kept.clone());
        assert_eq!(cache.get(&[2; KEY_BYTES]).as_deref(), Some(&b"code"[..]));
        assert_eq!(cache.get(&[3; KEY_BYTES]), None);
        assert_eq!(cache.changed(usize::MAX), None);
        cache.insert(&[3; KEY_BYTES], b"more".to_vec());
        let all = cache.changed(usize::MAX).expect("one was added");
        let cache = FunctionCache::new(move || all.clone());
        assert_eq!(cache.get(&[1; KEY_BYTES]).as_deref(), Some(&b"code"[..]));
        assert_eq!(cache.get(&[3; KEY_BYTES]).as_deref(), Some(&b"more"[..]));
    }

    #[test]
    fn what_is_too_much_or_cut_off_is_left_out() {
        let kept = entries(&[1], b"code");
        let one = kept.len();
        let cut = kept[..one - 1].to_vec();
        let damaged = FunctionCache::new(move || cut.clone());
        assert_eq!(damaged.get(&[1; KEY_BYTES]), None);
        let cache = FunctionCache::new(move || kept.clone());
        assert!(cache.get(&[1; KEY_BYTES]).is_some());
        cache.insert(&[2; KEY_BYTES], b"code".to_vec());
        assert_eq!(cache.changed(2 * one - 1).expect("the new one fits").len(), one);
        assert_eq!(cache.changed(one - 1), None);
    }
}

//! JSON objects of calls, and words for what is wrong in them.

use assay_core::limits;
use serde::Deserialize;

/// The reason why JSON is no `T`, after the path of the field that it is about.
pub(crate) fn explain<'a, T: Deserialize<'a>>(json: &'a [u8], error: &serde_json::Error) -> String {
    if is_array(json) {
        return error.to_string();
    }
    // Paths are followed for wrong values alone, because that takes time.
    let mut again = serde_json::Deserializer::from_slice(json);
    match serde_path_to_error::deserialize::<_, T>(&mut again) {
        Err(named) if named.path().iter().next().is_some() => {
            // A name in it may be as long as the body.
            let path = named.path().to_string();
            let path: String = path.chars().take(limits::COMPAT_FIELD_BYTES_MAX).collect();
            format!("{path}: {}", named.inner())
        }
        Ok(_) | Err(_) => error.to_string(),
    }
}

/// An object, and not its values in an array, which serde takes for one, too.
pub(crate) fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, serde_json::Error> {
    if is_array(json) {
        return Err(serde::de::Error::custom("it is an array instead of an object"));
    }
    serde_json::from_slice(json)
}

fn is_array(json: &[u8]) -> bool {
    json.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

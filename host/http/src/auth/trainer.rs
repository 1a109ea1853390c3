//! Keys as trainers can give them: most of their clients cannot set a header.
//!
//! Only below `/compat/`: `Bearer`, `Basic` with the key as password (what userinfo in a URL becomes),
//! `XRL-Authorization: Bearer` (ROLL's), or the key as the first part of the path. A key in a path must
//! never be logged or told: whoever names a path names what follows the key ([`after_key`]).

use axum::http::{HeaderMap, HeaderValue, Uri, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::ApiError;
use super::keys::bearer;

const PREFIX: &str = "/compat/";
const KEY_PREFIX: &str = "assay_";
const XRL: &str = "xrl-authorization";

/// The part of such a path after its key, if it has one; `None` for another path.
pub(crate) fn after_key(path: &str) -> Option<&str> {
    let path = path.strip_prefix(PREFIX)?;
    Some(match path.split_once('/') {
        Some((key, rest)) if key.starts_with(KEY_PREFIX) => rest,
        _ => path,
    })
}

/// The key that a call below `/compat/` brings; `None` for other calls and where there is none.
pub(crate) fn key(uri: &Uri, headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(path) = uri.path().strip_prefix(PREFIX) else { return Ok(None) };
    let in_path = path.split('/').next().filter(|part| part.starts_with(KEY_PREFIX));
    let in_header = headers
        .get(header::AUTHORIZATION)
        .map(|given| bearer(given).map(str::to_owned).or_else(|| basic(given)));
    let xrl = headers.get(XRL).map(|given| bearer(given).map(str::to_owned));
    let mut keys =
        [in_path.map(|key| Some(key.to_owned())), in_header, xrl].into_iter().flatten().map(
            |key| key.ok_or_else(|| super::unauthenticated("the credential is not a key of Assay")),
        );
    let Some(first) = keys.next().transpose()? else { return Ok(None) };
    for other in keys {
        if other? != first {
            return Err(super::mixed("the call has two different keys"));
        }
    }
    Ok(Some(first))
}

/// Whether a call below `/compat/` brings a key, or what should be one.
pub(crate) fn names_key(uri: &Uri, headers: &HeaderMap) -> bool {
    !matches!(key(uri, headers), Ok(None))
}

/// The password.
fn basic(given: &HeaderValue) -> Option<String> {
    let (scheme, pair) = given.to_str().ok()?.split_once(' ')?;
    let pair =
        STANDARD.decode(pair.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let (_, password) = std::str::from_utf8(&pair).ok()?.split_once(':')?;
    Some(password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, pairs: &[(&'static str, &str)]) -> Result<Option<String>, u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().expect("plain"));
        }
        let uri = path.parse().expect("a path");
        key(&uri, &headers).map_err(|error| error.status.as_u16())
    }

    #[test]
    fn a_key_comes_in_one_of_four_ways() {
        let basic = format!("Basic {}", STANDARD.encode("any:assay_a_b_c"));
        let ours = Ok(Some("assay_a_b_c".to_owned()));
        let path = "/compat/slime/m@p/r";
        assert_eq!(found(path, &[("authorization", "Bearer assay_a_b_c")]), ours);
        assert_eq!(found(path, &[("authorization", &basic)]), ours);
        assert_eq!(found(path, &[(XRL, "Bearer assay_a_b_c")]), ours);
        assert_eq!(found("/compat/assay_a_b_c/slime/m@p/r", &[]), ours);
        let same = found("/compat/assay_a_b_c/slime/m@p/r", &[("authorization", &basic)]);
        assert_eq!(same, ours);
        assert_eq!(found(path, &[]), Ok(None));
        let named =
            |path: &str| names_key(&path.parse::<Uri>().expect("a path"), &HeaderMap::new());
        assert!(!named(path) && named("/compat/assay_a_b_c/slime/m@p/r"));
        let mixed = found("/compat/assay_a_b_c/slime/m@p/r", &[(XRL, "Bearer assay_a_b_d")]);
        assert_eq!(mixed, Err(400));
        for odd in ["Basic", "Basic !", "Basic YWJj", "Digest x", "x"] {
            assert_eq!(found(path, &[("authorization", odd)]), Err(401), "{odd}");
        }
        // Browsers send it by themselves.
        assert_eq!(found("/v1/plugins", &[("authorization", &basic)]), Ok(None));
    }

    #[test]
    fn what_is_told_of_a_path_has_no_key() {
        assert_eq!(after_key("/compat/assay_a_b_c/slime/m@p/r"), Some("slime/m@p/r"));
        assert_eq!(after_key("/compat/slime/m@p/r"), Some("slime/m@p/r"));
        assert_eq!(after_key("/v1/plugins"), None);
    }
}

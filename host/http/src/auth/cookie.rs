//! The cookie of a session, and what keeps other sites from using it: `SameSite=Lax`, a token that
//! only the site itself can read (`X-Assay-Csrf`), and the header `Origin`. A host beside this one may set cookies for
//! both: by TLS its prefix (`__Host-`) keeps the session's own, and two of one name are none.

use std::fmt;

use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_store::{Store, StoreError};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use reqwest::Url;
use subtle::ConstantTimeEq as _;

use crate::problem::ApiError;
use crate::random::random;

pub(crate) const SESSION: &str = "assay_session";
/// Browsers take a cookie of such a name from this host alone, and by TLS.
const HOST_SESSION: &str = "__Host-assay_session";
/// Has the session's token against forged calls.
const CSRF_HEADER: &str = "x-assay-csrf";
const TOKEN_BYTES: usize = 32;
/// The time between two writes of a session's last use.
const TOUCH_PERIOD: Micros = Micros::from_secs(60);

/// 256 random bits as text.
#[derive(Clone)]
pub(crate) struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    pub(crate) fn generate() -> Self {
        Self(hex::encode(random::<TOKEN_BYTES>()))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let hex = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        (text.len() == 2 * TOKEN_BYTES && hex).then(|| Self(text.to_owned()))
    }

    /// The hash of the token; the server keeps nothing else of it.
    pub(crate) fn hash(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The session's token against forged calls: who has one of the two learns nothing of the other, nor
/// of what is kept of the session. It depends on the tenant: a page that was read before the session switched to
/// another one changes nothing there.
pub(crate) fn csrf_token(session: &Token, tenant: TenantId) -> String {
    Digest::of(format!("csrf:{}:{}", session.0, tenant.0).as_bytes()).to_string()
}

pub(crate) fn check_csrf(
    session: &Token,
    tenant: TenantId,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let given = headers.get(CSRF_HEADER).map(HeaderValue::as_bytes);
    let expected = csrf_token(session, tenant);
    let same = given.is_some_and(|given| given.ct_eq(expected.as_bytes()).into());
    if same {
        return Ok(());
    }
    let what =
        if given.is_some() { "is not that of the session and its tenant" } else { "is missing" };
    let detail = format!("the header X-Assay-Csrf {what}");
    Err(ApiError::new(StatusCode::FORBIDDEN, "csrf", detail)
        .hint("send `csrf` of GET /v1/session in it"))
}

/// Notes that a session is used, once a minute at most.
pub(crate) async fn touch(
    store: &Store,
    token: &Token,
    used_at: Micros,
    now: Micros,
) -> Result<(), StoreError> {
    if now.since(used_at) < TOUCH_PERIOD {
        return Ok(());
    }
    store.touch_session(token.hash(), now).await
}

/// The one cookie of that name.
pub(crate) fn find_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|it| it.to_str().ok());
    let pairs = cookies.flat_map(|cookies| cookies.split(';'));
    let mut found = pairs.filter_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='));
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

/// The name of the session's cookie.
pub(crate) fn session_name(secure: bool) -> &'static str {
    if secure { HOST_SESSION } else { SESSION }
}

pub(crate) fn session_cookie(token: &Token, secure: bool) -> HeaderValue {
    set_cookie(session_name(secure), token.as_str(), "/", limits::SESSION_SECONDS_MAX, secure)
}

/// Takes the session's cookie out of the browser.
pub(crate) fn removed_cookie(secure: bool) -> HeaderValue {
    set_cookie(session_name(secure), "", "/", 0, secure)
}

/// Makes a Set-Cookie header; the cookie expires after so many seconds, with 0 at once.
pub(crate) fn set_cookie(
    name: &str,
    value: &str,
    path: &str,
    seconds: u64,
    secure: bool,
) -> HeaderValue {
    let secure = if secure { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; HttpOnly; SameSite=Lax; Path={path}; Max-Age={seconds}{secure}");
    HeaderValue::try_from(text).expect("names and tokens are ASCII")
}

/// The addresses under which browsers reach the server.
#[derive(Debug, Clone)]
pub(crate) struct Origins {
    /// The operator's public address, such as `https://assay.example.com`. Without one, the host that the
    /// browser's call names is taken.
    public: Option<String>,
}

impl Origins {
    pub(crate) fn new(public_url: Option<&Url>) -> Self {
        Self { public: public_url.map(|url| url.origin().ascii_serialization()) }
    }

    /// Whether browsers reach the server by TLS alone.
    pub(crate) fn secure(&self) -> bool {
        self.public.as_deref().is_some_and(|origin| origin.starts_with("https:"))
    }

    /// Refuses a call that a page of another site makes.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        if origin.to_str().is_ok_and(|origin| self.is_own(origin, uri, headers)) {
            return Ok(());
        }
        let detail = "the call comes from a page of another site";
        let error = ApiError::new(StatusCode::FORBIDDEN, "origin_foreign", detail);
        Err(error.hint("behind a proxy start the server with --public-url"))
    }

    fn is_own(&self, origin: &str, uri: &Uri, headers: &HeaderMap) -> bool {
        if let Some(public) = &self.public {
            return origin == public;
        }
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| uri.authority().map(|authority| authority.as_str()));
        let named = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.zip(named).is_some_and(|(host, named)| host.eq_ignore_ascii_case(named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let all =
            headers(&[("cookie", "a=1; xassay_session=2"), ("cookie", "assay_session=3;b=4")]);
        assert_eq!(find_cookie(&all, SESSION), Some("3"));
        assert_eq!(find_cookie(&all, "b"), Some("4"));
        assert_eq!(find_cookie(&headers(&[("cookie", "assay_sessions=3")]), SESSION), None);
    }

    #[test]
    fn two_cookies_of_a_name_are_none() {
        let one = headers(&[("cookie", "assay_session=a; assay_session=b")]);
        assert_eq!(find_cookie(&one, SESSION), None);
        let two = headers(&[("cookie", "assay_session=a"), ("cookie", "assay_session=a")]);
        assert_eq!(find_cookie(&two, SESSION), None);
    }

    #[test]
    fn a_csrf_token_is_that_of_a_session_and_tenant_and_not_its_hash() {
        let (one, other) = (Token::generate(), Token::generate());
        let (tenant, elsewhere) = (TenantId::generate(), TenantId::generate());
        let csrf = csrf_token(&one, tenant);
        assert_eq!(csrf, csrf_token(&one, tenant));
        assert_ne!(csrf, csrf_token(&other, tenant));
        assert_ne!(csrf, csrf_token(&one, elsewhere));
        assert_ne!(csrf, one.hash().to_string());
        assert!(Token::parse(one.as_str()).is_some());
        for odd in ["", "00", &"g".repeat(64), &"A".repeat(64), &"0".repeat(65)] {
            assert!(Token::parse(odd).is_none(), "{odd}");
        }
        let mut given = HeaderMap::new();
        assert_eq!(check_csrf(&one, tenant, &given).expect_err("missing").code, "csrf");
        given.insert(CSRF_HEADER, csrf.parse().expect("plain"));
        assert!(check_csrf(&one, tenant, &given).is_ok());
        assert!(check_csrf(&other, tenant, &given).is_err());
        assert!(check_csrf(&one, elsewhere, &given).is_err());
    }

    #[test]
    fn only_its_own_pages_are_believed() {
        let uri = Uri::from_static("/v1/session");
        let check = |origins: &Origins, pairs: &[(&'static str, &'static str)]| {
            origins.check(&uri, &headers(pairs)).is_ok()
        };
        let any = Origins::new(None);
        assert!(check(&any, &[("host", "a:1")]));
        assert!(check(&any, &[("host", "a:1"), ("origin", "http://a:1")]));
        assert!(check(&any, &[("host", "a"), ("origin", "https://A")]));
        for foreign in ["http://b:1", "null", "", "ftp://a:1", "http://a:1.evil", "http://a"] {
            assert!(!check(&any, &[("host", "a:1"), ("origin", foreign)]), "{foreign}");
        }
        assert!(!any.secure());
        let public = Url::parse("https://Assay.example.com:443/").expect("a URL");
        let public = Origins::new(Some(&public));
        assert!(public.secure());
        assert!(check(&public, &[("host", "a"), ("origin", "https://assay.example.com")]));
        assert!(!check(&public, &[("host", "a"), ("origin", "https://a")]));
    }

    #[test]
    fn cookies_are_out_of_reach_of_scripts_and_other_sites() {
        let token = Token::parse(&"0".repeat(64)).expect("a token");
        let cookie = session_cookie(&token, true);
        let zeros = "0".repeat(64);
        let expected = format!(
            "__Host-assay_session={zeros}; HttpOnly; SameSite=Lax; Path=/; Max-Age=604800; Secure"
        );
        assert_eq!(cookie, expected.as_str());
        assert_eq!(
            removed_cookie(false),
            "assay_session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0"
        );
    }
}

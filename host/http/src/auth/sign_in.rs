//! The state that sign-ins need: the server's address in browsers, passwords, counts of tries, the token of
//! the first administrator, and the OpenID provider if there is one.

mod attempts;
mod password;

use std::net::IpAddr;

use assay_api::people::Membership;
use assay_core::id::{Digest, PersonId};
use assay_core::limits;
use assay_dispatch::now;
use assay_store::Store;
use assay_store::sessions::NewSession;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::AppendHeaders;
use reqwest::Url;
use tokio::sync::Mutex;

use crate::auth::bootstrap::FirstAdmin;
use crate::auth::oidc::{Oidc, OidcConfig};
use crate::auth::{Origins, Token, session_cookie};
use crate::problem::ApiError;

pub(crate) use attempts::Attempts;
pub(crate) use password::{Passwords, check_password};

/// The address that a call comes from; the listener adds it to every call.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// The operator's settings of sign-ins.
#[derive(Debug, Clone, Default)]
pub struct SignInConfig {
    /// The address under which browsers reach the server.
    pub public_url: Option<Url>,
    /// The proxies whose headers about a caller's address are trusted.
    pub proxies: Vec<IpAddr>,
    pub oidc: Option<OidcConfig>,
}

/// A person who proved who they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proved<'a> {
    pub person: PersonId,
    /// The hash of the password that the person proved to know; `None` if somebody else vouches for the person.
    pub password_hash: Option<&'a str>,
    /// The tenant in which the session begins, if the person is a member of it.
    pub tenant: Option<&'a str>,
}

pub(crate) struct SignIn {
    pub origins: Origins,
    pub passwords: Passwords,
    pub attempts: Attempts,
    pub oidc: Option<Oidc>,
    proxies: Vec<IpAddr>,
    first_admin: Mutex<Option<FirstAdmin>>,
}

impl SignIn {
    /// `url` is the server's address, for where no other is configured.
    pub(crate) fn new(
        config: SignInConfig,
        url: &Url,
        first_admin: Option<FirstAdmin>,
    ) -> anyhow::Result<Self> {
        let public = config.public_url.as_ref();
        let oidc = config.oidc.map(|oidc| Oidc::new(oidc, public.unwrap_or(url))).transpose()?;
        Ok(Self {
            origins: Origins::new(public),
            passwords: Passwords::default(),
            attempts: Attempts::default(),
            oidc,
            proxies: config.proxies.iter().map(IpAddr::to_canonical).collect(),
            first_admin: Mutex::new(first_admin),
        })
    }

    /// Whether the first administrator is still to be made.
    pub(crate) async fn wants_first_admin(&self) -> bool {
        self.first_admin.lock().await.is_some()
    }

    /// Calls `make` if this is the token, and takes the token away if that went well.
    pub(crate) async fn first_admin<T>(
        &self,
        token_hash: Digest,
        make: impl AsyncFnOnce(&[String]) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut first_admin = self.first_admin.lock().await;
        let Some(wanted) = &*first_admin else {
            return Err(ApiError::conflict(
                "bootstrap_done",
                "the platform already has an administrator",
            ));
        };
        if !wanted.is(token_hash) {
            let status = StatusCode::FORBIDDEN;
            return Err(ApiError::new(
                status,
                "bootstrap_token_wrong",
                "the bootstrap token is wrong",
            )
            .hint("read it from the file bootstrap.token in the server's data folder"));
        }
        let made = make(&wanted.tenants).await?;
        if let Some(done) = first_admin.take() {
            done.remove_file();
        }
        Ok(made)
    }

    /// Counts a try to sign in, and refuses one too many.
    pub(crate) fn attempt(
        &self,
        peer: Peer,
        headers: &HeaderMap,
        email: Option<&str>,
    ) -> Result<(), ApiError> {
        self.attempts.take(self.origin_of(peer, headers), email).map_err(|seconds| {
            metrics::counter!("assay_sign_ins_total", "result" => "limited").increment(1);
            let status = StatusCode::TOO_MANY_REQUESTS;
            let mut error =
                ApiError::new(status, "too_many_attempts", "too many attempts to sign in");
            error.retry_after_s = Some(seconds);
            error.hint(format!("try again in {seconds} s"))
        })
    }

    /// The peer, or whom a proxy of ours says that it speaks for. A listener for both versions of IP names peers of
    /// version 4 in the form of version 6.
    pub(crate) fn origin_of(&self, peer: Peer, headers: &HeaderMap) -> IpAddr {
        let peer = peer.0.to_canonical();
        if !self.proxies.contains(&peer) {
            return peer;
        }
        // The last one is the proxy's own word; those before it are the client's.
        let forwarded = headers.get_all("x-forwarded-for").into_iter().next_back();
        let last =
            forwarded.and_then(|it| it.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
        last.map_or(peer, |last: IpAddr| last.to_canonical())
    }

    /// Begins a session in the wanted tenant or the one that the person has belonged to for longest, and says so in the
    /// answer's headers. Whoever adds the person to a tenant later does not decide where sessions begin.
    /// A session does not begin if the password has changed since it was proved, or if the person may not sign in any
    /// longer.
    pub(crate) async fn begin(
        &self,
        store: &Store,
        proved: Proved<'_>,
    ) -> Result<(Token, AppendHeaders<[(HeaderName, HeaderValue); 1]>), ApiError> {
        let Proved { person, password_hash, tenant } = proved;
        let memberships = store.memberships(person).await?;
        let wanted = memberships.iter().find(|one| Some(one.tenant.as_str()) == tenant);
        let Some(Membership { tenant, .. }) = wanted.or(memberships.first()) else {
            let status = StatusCode::FORBIDDEN;
            return Err(ApiError::new(status, "no_membership", "you belong to no tenant")
                .hint("ask an administrator of a tenant to add you"));
        };
        let token = Token::generate();
        let session = NewSession { token_hash: token.hash(), person, tenant, password_hash };
        if !store.create_session(&session, now()).await? {
            return Err(failed());
        }
        metrics::counter!("assay_sign_ins_total", "result" => "ok").increment(1);
        let cookie = session_cookie(&token, self.origins.secure());
        Ok((token, AppendHeaders([(SET_COOKIE, cookie)])))
    }

    /// Refuses what a page of another site sends.
    pub(crate) fn check_origin(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        self.origins.check(uri, headers)
    }
}

/// The answer to a failed sign-in; it does not reveal which part was wrong.
pub(crate) fn failed() -> ApiError {
    metrics::counter!("assay_sign_ins_total", "result" => "failed").increment(1);
    let status = StatusCode::UNAUTHORIZED;
    ApiError::new(status, "sign_in_failed", "the address or the password is wrong")
}

pub(crate) fn check_name(name: &str) -> Result<(), ApiError> {
    let max = limits::PERSON_NAME_BYTES_MAX;
    if name.len() > max || name.chars().any(char::is_control) {
        let detail = format!("name must be at most {max} plain characters");
        return Err(ApiError::bad_request(detail).field("name"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_known_in_both_forms_of_its_address() {
        let parse = |address: &str| -> IpAddr { address.parse().expect("an address") };
        let url = Url::parse("http://localhost/").expect("a URL");
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", HeaderValue::from_static("6.6.6.6, 203.0.113.5"));
        for proxy in ["10.0.0.1", "::ffff:10.0.0.1"] {
            let config = SignInConfig { proxies: vec![parse(proxy)], ..SignInConfig::default() };
            let sign_in = SignIn::new(config, &url, None).expect("it can be made");
            let origin = |peer: &str| sign_in.origin_of(Peer(parse(peer)), &headers);
            for peer in ["10.0.0.1", "::ffff:10.0.0.1"] {
                assert_eq!(origin(peer), parse("203.0.113.5"), "{peer} with {proxy}");
            }
            // Others are not believed.
            assert_eq!(origin("::ffff:10.0.0.2"), parse("10.0.0.2"));
        }
    }
}

//! `GET /v1/session/oidc/callback`: the provider sends the browser back.

use assay_core::id::PersonId;
use assay_dispatch::now;
use assay_store::StoreError;
use assay_store::identities::{Identity, Welcome};
use axum::Extension;
use axum::extract::State;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use serde::Deserialize;
use subtle::ConstantTimeEq as _;

use super::{COOKIE, configured, location, shown};
use crate::app::{App, AppState};
use crate::auth::oidc::{Answer, AskingPage, Flow, PATH, refused};
use crate::auth::sign_in::{Peer, Proved};
use crate::auth::{Token, find_cookie, set_cookie};
use crate::extract::query::Query;
use crate::problem::ApiError;

/// The query with which the provider redirects the browser back.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Callback {
    #[serde(default)]
    state: String,
    code: Option<String>,
    error: Option<String>,
    /// Issuer of the answer (RFC 9207).
    iss: Option<String>,
}

/// End a sign-in by the OpenID provider, which redirects the browser here. The answer redirects it to the page that
/// asked for the sign-in.
#[utoipa::path(
    get, path = "/v1/session/oidc/callback", tag = "session", params(Callback), security(()),
    responses(
        (status = 303, description = "Signed in: redirect to the page that asked; sets the cookie `assay_session`. A \
            refused browser is redirected to `/sign-in?problem=CODE`"),
    )
)]
pub(crate) async fn callback(
    State(app): AppState,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    callback: Result<Query<Callback>, ApiError>,
) -> Result<Response, ApiError> {
    let (flow, callback) = match begun(&app, peer, &headers, callback) {
        Ok(begun) => begun,
        Err(error) => return shown(error, &headers, &AskingPage::default()),
    };
    let ended = end(&app, &flow, callback).await;
    ended.or_else(|error| shown(error, &headers, &flow.asking))
}

/// The sign-in that this browser began.
fn begun(
    app: &App,
    peer: Peer,
    headers: &HeaderMap,
    callback: Result<Query<Callback>, ApiError>,
) -> Result<(Flow, Callback), ApiError> {
    let oidc = configured(app)?;
    app.sign_in.attempt(peer, headers, None)?;
    let Query(callback) = callback?;
    let flow = oidc.pending.take(&callback.state).filter(|flow| {
        let browser = find_cookie(headers, COOKIE).and_then(Token::parse);
        browser.is_some_and(|browser| browser.hash().0.ct_eq(&flow.browser.0).into())
    });
    let flow = flow.ok_or_else(|| {
        let detail = "this sign-in was not begun in this browser, or it is already over";
        ApiError::new(StatusCode::BAD_REQUEST, "oidc_state_unknown", detail).hint("sign in again")
    });
    Ok((flow.inspect_err(count_failure)?, callback))
}

async fn end(app: &App, flow: &Flow, callback: Callback) -> Result<Response, ApiError> {
    let person = identify(app, flow, callback).await.inspect_err(count_failure)?;
    let proved = Proved { person, password_hash: None, tenant: flow.asking.tenant.as_deref() };
    let (_, signed_in) = app.sign_in.begin(&app.store, proved).await?;
    let gone = set_cookie(COOKIE, "", PATH, 0, app.sign_in.origins.secure());
    let headers = AppendHeaders([(LOCATION, location(flow.asking.path())?), (SET_COOKIE, gone)]);
    Ok((StatusCode::SEE_OTHER, headers, signed_in).into_response())
}

fn count_failure(error: &ApiError) {
    metrics::counter!("assay_sign_ins_total", "result" => "failed").increment(1);
    tracing::warn!("a sign-in by the OpenID provider failed: {}", error.detail);
}

async fn identify(app: &App, flow: &Flow, callback: Callback) -> Result<PersonId, ApiError> {
    let oidc = configured(app)?;
    if callback.iss.as_deref().is_some_and(|issuer| issuer != oidc.config.issuer) {
        return Err(refused("the answer comes from another provider"));
    }
    if let Some(error) = &callback.error {
        let shown: String = error.chars().filter(char::is_ascii_graphic).take(64).collect();
        return Err(refused(&format!("the provider refused with `{shown}`")));
    }
    let code = callback.code.ok_or_else(|| refused("the provider's answer has no code"))?;
    let Answer { subject, email, name } = oidc.provider.redeem(flow, &code).await?;
    let domain = email.rsplit('@').next().unwrap_or_default();
    if !oidc.config.email_domains.iter().any(|allowed| allowed == domain) {
        return Err(refused(&format!("addresses of {domain} may not sign in here")));
    }
    let welcome = match &oidc.config.welcome {
        None => None,
        Some((tenant, role)) => {
            let tenant = app.store.tenant_by_name(tenant).await?.id;
            Some(Welcome { tenant, role: *role })
        }
    };
    let identity =
        Identity { issuer: &oidc.config.issuer, subject: &subject, email: &email, name: &name };
    match app.store.person_by_identity(&identity, welcome, now()).await {
        Ok(person) => {
            // Personal keys were revoked if somebody else may have made them.
            app.keys.forget_person(person);
            Ok(person)
        }
        Err(StoreError::NotFound(_)) => {
            Err(refused("nobody with this address was invited, or they may not sign in"))
        }
        Err(error) => Err(error.into()),
    }
}

//! Authentication of the caller: by a key in the header `Authorization`, or by a session's cookie, never by
//! both. This layer is in front of every route except the open ones.

use std::sync::Arc;
use std::time::Duration;

use assay_core::limits;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use crate::app::App;
use crate::auth::cookie::{self, check_csrf};
use crate::auth::{
    Caller, Token, by_session, find_cookie, mixed, session_ended, trainer, unauthenticated,
};
use crate::connections::Connection;
use crate::extract::body;
use crate::problem::ApiError;

const STREAM_CHECK: Duration = Duration::from_secs(limits::STREAM_CHECK_SECONDS);

/// The layer in front of every route except the open ones.
pub(crate) async fn authenticate(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    match caller(&app, &request).await {
        Ok(caller) => {
            if let Some(connection) = request.extensions().get::<Connection>() {
                connection.prove(caller.tenant);
            }
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => {
            let mut response = error.into_response();
            if response.status() == StatusCode::UNAUTHORIZED {
                let challenge = header::HeaderValue::from_static("Bearer");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            response
        }
    }
}

/// The future holds nothing of the body, which may not be shared.
fn caller<'a>(
    app: &'a App,
    request: &'a Request,
) -> impl Future<Output = Result<Caller, ApiError>> + Send + use<'a> {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    async move {
        if let Some(key) = trainer::key(uri, headers)? {
            return app.keys.caller_of(&key).await;
        }
        let cookie = session_cookie(app, headers);
        match (headers.get(header::AUTHORIZATION), cookie) {
            (Some(_), Some(_)) => Err(mixed("the call has both a key and a session cookie")),
            (Some(key), None) => app.keys.caller(key).await,
            (None, Some(cookie)) => by_cookie(app, method, uri, headers, cookie).await,
            (None, None) => Err(unauthenticated("no key was given")),
        }
    }
}

fn session_cookie<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    find_cookie(headers, cookie::session_name(app.sign_in.origins.secure()))
}

async fn by_cookie(
    app: &App,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    cookie: &str,
) -> Result<Caller, ApiError> {
    let token = Token::parse(cookie).ok_or_else(session_ended)?;
    if !method.is_safe() {
        app.sign_in.origins.check(uri, headers)?;
    }
    let at = assay_dispatch::now();
    let row = app.store.session(token.hash(), at).await?.ok_or_else(session_ended)?;
    if !method.is_safe() {
        check_csrf(&token, row.tenant, headers)?;
    }
    app.somebody_looks();
    cookie::touch(&app.store, &token, row.used_at, at).await?;
    Ok(by_session(token, row))
}

/// A stream that ends when the caller's rights change or the server stops.
pub(crate) fn while_valid<S: Stream + Send + 'static>(
    app: &Arc<App>,
    headers: HeaderMap,
    caller: Caller,
    stream: S,
) -> impl Stream<Item = S::Item> + use<S> {
    let valid = until_rights_change(Arc::clone(app), headers, caller);
    stream.boxed().take_until(Box::pin(app.stopped())).take_until(Box::pin(valid))
}

/// Resolves when the caller's key or session no longer gives the same permissions. For calls that may outlive them.
/// The check does not extend a session.
pub(crate) async fn until_rights_change(app: Arc<App>, headers: HeaderMap, caller: Caller) {
    loop {
        tokio::time::sleep(STREAM_CHECK).await;
        match again(&app, &headers).await {
            Ok(now) if now.tenant == caller.tenant && now.scopes() == caller.scopes() => {}
            // A database that is away says nothing of anybody.
            Err(error) if error.status.is_server_error() => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// The small body of a call that grants rights or makes a secret. Its bytes may take minutes to come, and a key may be
/// revoked or a session ended meanwhile, so the caller is checked again once the body is whole.
pub(crate) struct ConfirmedBody(pub Bytes);

impl FromRequest<Arc<App>> for ConfirmedBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let before = parts.extensions.get::<Caller>().cloned();
        let before = before.ok_or_else(|| unauthenticated("no key was given"))?;
        let bytes = body::small(body).await?;
        let now = again(app, &parts.headers).await?;
        if now.tenant != before.tenant || now.scopes() != before.scopes() {
            return Err(unauthenticated(
                "the rights of the key or session changed during the call",
            ));
        }
        Ok(Self(bytes))
    }
}

async fn again(app: &App, headers: &HeaderMap) -> Result<Caller, ApiError> {
    if let Some(key) = headers.get(header::AUTHORIZATION) {
        return app.keys.caller(key).await;
    }
    let cookie = session_cookie(app, headers);
    let token = cookie.and_then(Token::parse).ok_or_else(session_ended)?;
    let row = app.store.session(token.hash(), assay_dispatch::now()).await?;
    Ok(by_session(token, row.ok_or_else(session_ended)?))
}

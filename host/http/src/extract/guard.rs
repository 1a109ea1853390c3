//! Who may call a route. A handler takes a guard right after the state, so that 401 and 403 precede 400
//! and 404. [`guarded!`] reads the guard from the handler's type and writes it into the OpenAPI document: a
//! route without a guard does not compile, and its documented security is the one that is enforced.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use assay_api::key::Scope;
use axum::extract::FromRequestParts;
use axum::handler::Handler;
use axum::http::StatusCode;
use axum::http::request::Parts;
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::app::{App, AppState};
use crate::auth::{Caller, CallerSession};
use crate::problem::ApiError;

const KEY: &str = "key";
const SESSION: &str = "session";

/// An extractor that refuses callers.
pub(crate) trait Guard {
    /// The ways to pass, of which a call needs one.
    fn security() -> Vec<SecurityRequirement>;
}

/// Everyone with a key or a session.
impl Guard for Caller {
    fn security() -> Vec<SecurityRequirement> {
        [KEY, SESSION].map(|scheme| SecurityRequirement::new(scheme, [""; 0])).into()
    }
}

/// A query parameter that the route does not have. The guard refuses the call, once it knows that the caller may make it.
#[derive(Clone)]
pub(crate) struct UnknownParameter(pub ApiError);

/// The caller, who has one of the scopes of `S`.
pub(crate) struct Scoped<S> {
    caller: Caller,
    scopes: PhantomData<S>,
}

impl<S> Scoped<S> {
    pub(crate) fn into_caller(self) -> Caller {
        self.caller
    }
}

impl<S> Deref for Scoped<S> {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl<S: ScopeSet, T: Sync> FromRequestParts<T> for Scoped<S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &T) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        caller.need_one(S::ANY_OF)?;
        if let Some(UnknownParameter(error)) = parts.extensions.get() {
            return Err(error.clone());
        }
        Ok(Self { caller, scopes: PhantomData })
    }
}

impl<S: ScopeSet> Guard for Scoped<S> {
    fn security() -> Vec<SecurityRequirement> {
        let of = |scope: &Scope| {
            [KEY, SESSION].map(|scheme| SecurityRequirement::new(scheme, [scope.as_str()]))
        };
        S::ANY_OF.iter().flat_map(of).collect()
    }
}

/// Scopes of which a caller needs one.
pub(crate) trait ScopeSet {
    const ANY_OF: &'static [Scope];
}

macro_rules! scope_sets {
    ($($(#[$doc:meta])* $name:ident: $($scope:ident),+;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl ScopeSet for $name {
            const ANY_OF: &'static [Scope] = &[$(Scope::$scope),+];
        }
    )+};
}

scope_sets! {
    BatchesRead: BatchesRead;
    BatchesWrite: BatchesWrite;
    PluginsPublish: PluginsPublish;
    PluginsPromote: PluginsPromote;
    /// An administrator of the caller's tenant, or of the platform.
    Admin: Admin, Platform;
    Platform: Platform;
}

/// A person who signed in; a key has no session.
pub(crate) struct SessionCaller {
    pub caller: Caller,
    pub session: Arc<CallerSession>,
}

impl<T: Sync> FromRequestParts<T> for SessionCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &T) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        let session = caller.session().cloned().ok_or_else(|| {
            let detail = "this call needs a session of a person; it does not work with a key";
            ApiError::new(StatusCode::FORBIDDEN, "session_missing", detail)
        })?;
        Ok(Self { caller, session })
    }
}

impl Guard for SessionCaller {
    fn security() -> Vec<SecurityRequirement> {
        vec![SecurityRequirement::new(SESSION, [""; 0])]
    }
}

/// The arguments of a handler that takes a guard right after the state.
pub(crate) trait Guarded {
    type Guard: Guard;
}

macro_rules! guarded_arguments {
    ($($argument:ident)*) => {
        impl<M, G: Guard, $($argument),*> Guarded for (M, AppState, G, $($argument,)*) {
            type Guard = G;
        }
    };
}

guarded_arguments!();
guarded_arguments!(A);
guarded_arguments!(A B);
guarded_arguments!(A B C);
guarded_arguments!(A B C D);

/// Writes the security of a handler into its documented operations.
pub(crate) fn document<H, A>(
    _: H,
    (schemas, mut paths, methods): UtoipaMethodRouter<Arc<App>>,
) -> UtoipaMethodRouter<Arc<App>>
where
    H: Handler<A, Arc<App>>,
    A: Guarded,
{
    for item in paths.paths.values_mut() {
        let operations =
            [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            operation.security = Some(A::Guard::security());
        }
    }
    (schemas, paths, methods)
}

/// The route of a handler, with the security that its guard needs.
macro_rules! guarded {
    ($($handler:tt)+) => {
        $crate::extract::guard::document($($handler)+, utoipa_axum::routes!($($handler)+))
    };
}
pub(crate) use guarded;

//! All routes, sorted by noun. The route of `GET /v1/batches/{id}/results` is found in
//! `routes/batches/results.rs`: the first word of the path is the folder, and the handler's own
//! declaration has the method and the whole path.
//!
//! Only the probes and the routes for signing in are reachable without a key or a session: the
//! authentication layer stands in front of every other route, whichever handler it has.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Router, routing};
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::extract::guard::guarded;
use crate::middleware::authenticate::authenticate;
use crate::middleware::query_names::{QueryNames, find_unknown};
use crate::middleware::{finish, headers};
use crate::openapi::{Document, Rendered, complete_operations};
use crate::problem::ApiError;
use crate::protocols::RefusingCalls;
use crate::routes::{
    audit, batches, bootstrap, capacity, incidents, invitations, keys, live, members, metrics,
    overview, people, plugins, probes, queue, requests, rewards, runs, samples, session,
    simulations, tenants, webhooks, workers,
};
use crate::{dashboard, protocols};

/// The routes that need a key or a session, with their document.
pub(crate) fn guarded() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(guarded!(audit::list::list))
        .routes(guarded!(batches::announce::announce))
        .routes(guarded!(batches::get::get))
        .routes(guarded!(batches::update::update))
        .routes(guarded!(batches::submit::submit))
        .routes(guarded!(batches::seal::seal))
        .routes(guarded!(batches::cancel::cancel))
        .routes(guarded!(batches::results::results))
        .routes(guarded!(batches::events::events))
        .routes(guarded!(batches::profile::profile))
        .routes(guarded!(batches::list::list))
        .routes(guarded!(batches::logs::list))
        .routes(guarded!(batches::requests::list))
        .routes(guarded!(batches::timeline::get))
        .routes(guarded!(capacity::list::list))
        .routes(guarded!(capacity::set::set))
        .routes(guarded!(capacity::history::history))
        .routes(guarded!(incidents::list::list))
        .routes(guarded!(incidents::acknowledge::acknowledge))
        .routes(guarded!(incidents::reopen::reopen))
        .routes(guarded!(keys::list::list))
        .routes(guarded!(keys::create::create))
        .routes(guarded!(keys::revoke::revoke))
        .routes(guarded!(keys::rotate::rotate))
        .routes(guarded!(live::follow))
        .routes(guarded!(members::list::list))
        .routes(guarded!(members::add::add))
        .routes(guarded!(members::set_role::set_role))
        .routes(guarded!(members::remove::remove))
        .routes(guarded!(metrics::metrics))
        .routes(guarded!(overview::get))
        .routes(guarded!(people::list::list))
        .routes(guarded!(people::change::change))
        .routes(guarded!(people::invite::invite))
        .routes(guarded!(plugins::list::list))
        .routes(guarded!(plugins::publish::publish))
        .routes(guarded!(plugins::get::versions))
        .routes(guarded!(plugins::channels::channels))
        .routes(guarded!(plugins::promote::promote))
        .routes(guarded!(plugins::roll_back::roll_back))
        .routes(guarded!(plugins::component::component))
        .routes(guarded!(plugins::cases::list))
        .routes(guarded!(plugins::yank::yank))
        .routes(guarded!(plugins::stats::get))
        .routes(guarded!(queue::get))
        .routes(guarded!(requests::get::get))
        .routes(guarded!(requests::logs::logs))
        .routes(guarded!(requests::artifact::artifact))
        .routes(guarded!(requests::replay::replay))
        .routes(guarded!(rewards::score::reward))
        .routes(guarded!(runs::history::history))
        .routes(guarded!(runs::list::list))
        .routes(guarded!(runs::get::get))
        .routes(guarded!(runs::logs::list))
        .routes(guarded!(runs::samples::export))
        .routes(guarded!(runs::solve_rates::get))
        .routes(guarded!(samples::list))
        .routes(guarded!(session::get::get))
        .routes(guarded!(session::end::end))
        .routes(guarded!(session::keys::list::list))
        .routes(guarded!(session::keys::create::create))
        .routes(guarded!(session::keys::revoke::revoke))
        .routes(guarded!(session::switch::switch))
        .routes(guarded!(session::change_password::change_password))
        .routes(guarded!(simulations::simulate::simulate))
        .routes(guarded!(tenants::list::list))
        .routes(guarded!(tenants::create::create))
        .routes(guarded!(tenants::get::get))
        .routes(guarded!(tenants::change::change))
        .routes(guarded!(tenants::usage::get))
        .routes(guarded!(webhooks::list::list))
        .routes(guarded!(webhooks::create::create))
        .routes(guarded!(webhooks::remove::remove))
        .routes(guarded!(webhooks::test::test))
        .routes(guarded!(webhooks::deliveries::deliveries))
        .routes(guarded!(workers::list::list))
        .routes(guarded!(workers::create_token::create_token))
        .routes(guarded!(workers::list_remote::list_remote))
        .routes(guarded!(workers::remove_remote::remove_remote))
        .routes(guarded!(workers::drain::drain))
        .split_for_parts()
}

/// The routes for signing in, which need no key, with their document.
pub(crate) fn open() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::new()
        .routes(routes!(session::methods::methods))
        .routes(routes!(session::sign_in::sign_in))
        .routes(routes!(bootstrap::bootstrap))
        .routes(routes!(invitations::accept::accept))
        .routes(routes!(session::oidc::start::start))
        .routes(routes!(session::oidc::callback::callback))
        .split_for_parts()
}

/// The OpenAPI document of everything that is served.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = guarded().1;
    document.merge(open().1);
    document.merge(protocols::document());
    complete_operations(&mut document);
    document
}

/// The protocols of trainers, whose refused calls are watched too.
fn compat(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/compat/{*call}", routing::any(protocols::answer))
        // Within the watch, so that it sees an answer.
        .route_layer(CatchPanicLayer::custom(finish::panicked))
        .route_layer(from_fn_with_state(app.clone(), authenticate))
        .route_layer(from_fn_with_state(app.clone(), protocols::watch))
}

/// Everything that is served: routes, protocols of trainers, probes, the document and the dashboard.
pub fn router(app: Arc<App>) -> Router {
    let document = Rendered::new(&document());
    let reached = headers::Reached::of(&app.sign_in.origins);
    let (guarded, routes) = guarded();
    guarded
        .route("/openapi.json", routing::get(move || document.clone().serve()))
        .route_layer(from_fn_with_state(QueryNames::of(&routes), find_unknown))
        .route_layer(from_fn_with_state(app.clone(), authenticate))
        .merge(open().0)
        .merge(compat(&app))
        .route("/livez", routing::get(probes::livez))
        .route("/readyz", routing::get(probes::readyz))
        .fallback(dashboard::serve)
        .with_state(app)
        .layer(CatchPanicLayer::custom(finish::panicked))
        .layer(from_fn(finish::finish))
        .layer(from_fn_with_state(reached, headers::secure))
}

/// The routes of a server that cannot work yet: `/livez` answers that it runs, all other calls get the reason. Calls of
/// trainers are held for a while first, and kept for incidents.
pub fn waiting_router(reason: watch::Receiver<String>, refusing: RefusingCalls) -> Router {
    let told = reason.clone();
    let not_ready = async move || ApiError::unavailable("not_ready", told.borrow().clone());
    let held =
        async move |call: Request| protocols::hold(call, reason.clone(), refusing.clone()).await;
    Router::new()
        .route("/livez", routing::get(probes::livez))
        .route("/compat/{*call}", routing::any(held))
        .fallback(not_ready)
        .layer(from_fn(finish::finish))
}

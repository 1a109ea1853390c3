//! All routes, sorted by noun. The route of `GET /v1/batches/{id}/results` is found in
//! `routes/batches/results.rs`: the first word of the path is the folder, and the handler's own
//! declaration has the method and the whole path.
//!
//! Only the probes and the routes for signing in are reachable without a key or a session: the
//! authentication layer stands in front of every other route, whichever handler it has.

use std::sync::Arc;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Router, routing};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::middleware::{finish, headers};
use crate::openapi::{Document, Rendered, document};
use crate::routes::{
    audit, batches, bootstrap, capacity, incidents, invitations, keys, live, members, metrics,
    overview, people, plugins, probes, queue, requests, rewards, runs, session, simulations,
    tenants, workers,
};
use crate::{auth, dashboard, protocols};

/// The routes that need a key or a session, with their document.
pub(crate) fn guarded() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(audit::list))
        .routes(routes!(batches::announce::announce))
        .routes(routes!(batches::get::get))
        .routes(routes!(batches::submit::submit))
        .routes(routes!(batches::seal::seal))
        .routes(routes!(batches::cancel::cancel))
        .routes(routes!(batches::results::results))
        .routes(routes!(batches::events::events))
        .routes(routes!(batches::profile::profile))
        .routes(routes!(batches::list::list))
        .routes(routes!(batches::requests::list))
        .routes(routes!(batches::timeline::get))
        .routes(routes!(capacity::list::list))
        .routes(routes!(capacity::set::set))
        .routes(routes!(capacity::history::history))
        .routes(routes!(incidents::list))
        .routes(routes!(keys::list::list, keys::create::create))
        .routes(routes!(keys::revoke::revoke))
        .routes(routes!(keys::rotate::rotate))
        .routes(routes!(live::follow))
        .routes(routes!(members::list::list, members::add::add))
        .routes(routes!(members::set_role::set_role, members::remove::remove))
        .routes(routes!(metrics::metrics))
        .routes(routes!(overview::get))
        .routes(routes!(people::list::list))
        .routes(routes!(people::change::change))
        .routes(routes!(people::invite::invite))
        .routes(routes!(plugins::list::list, plugins::publish::publish))
        .routes(routes!(plugins::versions::versions))
        .routes(routes!(plugins::promote::promote))
        .routes(routes!(plugins::roll_back::roll_back))
        .routes(routes!(plugins::component::component))
        .routes(routes!(plugins::cases::list))
        .routes(routes!(plugins::yank::yank))
        .routes(routes!(plugins::stats::get))
        .routes(routes!(queue::get))
        .routes(routes!(requests::get::get))
        .routes(routes!(requests::logs::logs))
        .routes(routes!(requests::artifact::artifact))
        .routes(routes!(requests::replay::replay))
        .routes(routes!(rewards::score::reward))
        .routes(routes!(runs::history::history))
        .routes(routes!(runs::list::list))
        .routes(routes!(runs::get::get))
        .routes(routes!(runs::logs::list))
        .routes(routes!(session::get::get, session::end::end))
        .routes(routes!(session::switch::switch))
        .routes(routes!(session::change_password::change_password))
        .routes(routes!(simulations::simulate))
        .routes(routes!(tenants::list::list, tenants::create::create))
        .routes(routes!(tenants::get::get, tenants::change::change))
        .routes(routes!(tenants::usage::get))
        .routes(routes!(workers::list::list))
        .routes(routes!(workers::drain::drain))
        .split_for_parts()
}

/// The routes for signing in, which need no key, with their document.
pub(crate) fn open() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::new()
        .routes(routes!(session::methods::methods))
        .routes(routes!(session::sign_in::sign_in))
        .routes(routes!(bootstrap::bootstrap))
        .routes(routes!(invitations::accept))
        .routes(routes!(session::oidc::start))
        .routes(routes!(session::oidc::callback))
        .split_for_parts()
}

/// Everything that is served: routes, protocols of trainers, probes, the document and the dashboard.
pub fn router(app: Arc<App>) -> Router {
    let document = Rendered::new(&document());
    let reached = headers::Reached::of(&app.sign_in.origins);
    guarded()
        .0
        .route("/openapi.json", routing::get(move || document.clone().serve()))
        .route("/compat/{*call}", routing::any(protocols::answer))
        .route_layer(from_fn_with_state(app.clone(), auth::authenticate))
        .merge(open().0)
        .route("/livez", routing::get(probes::livez))
        .route("/readyz", routing::get(probes::readyz))
        .fallback(dashboard::serve)
        .with_state(app)
        .layer(CatchPanicLayer::custom(finish::panicked))
        .layer(from_fn(finish::finish))
        .layer(from_fn_with_state(reached, headers::secure))
}

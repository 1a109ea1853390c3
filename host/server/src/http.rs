//! The REST interface: one router, one file a noun. A handler extracts, calls, responds.
//!
//! Nothing but the probes is reachable without a key: the authentication layer stands in front of
//! every other route, whichever handler it has.

mod auth;
mod batches;
mod body;
mod capacity;
mod events;
mod history;
mod keys;
mod listen;
mod plugins;
mod probes;
mod problem;
mod requests;
mod rest;
mod results;
mod rewards;
mod submit;
mod tenants;

use std::sync::Arc;

use assay_model::limits;
use axum::Router;
use axum::middleware;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::{Semaphore, watch};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::dispatch::Dispatch;
use crate::registry::Registry;
use crate::store::Store;

use auth::BearerKey;
pub use auth::{KeyCache, NewSecret};
pub use listen::serve;

/// What handlers work with.
pub struct App {
    pub store: Store,
    pub dispatch: Dispatch,
    pub registry: Arc<Registry>,
    pub keys: KeyCache,
    pub metrics: PrometheusHandle,
    /// Part of the keys made here, to tell one deployment's from another's.
    pub environment: String,
    /// True once the server stops.
    stopping: watch::Receiver<bool>,
    buffered: Semaphore,
    uploads: Semaphore,
}

impl App {
    #[must_use]
    pub fn new(
        store: Store,
        dispatch: Dispatch,
        registry: Arc<Registry>,
        metrics: PrometheusHandle,
        environment: String,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self {
            keys: KeyCache::new(store.clone()),
            store,
            dispatch,
            registry,
            metrics,
            environment,
            stopping,
            buffered: Semaphore::new(limits::BUFFERED_CALLS_MAX),
            uploads: Semaphore::new(limits::UPLOADS_MAX),
        }
    }

    /// Resolves when the server stops: what follows a batch ends then, and is resumed elsewhere.
    fn stopped(&self) -> impl Future<Output = ()> + use<> {
        let mut stopping = self.stopping.clone();
        async move {
            // A sender that is gone has stopped everything too.
            let _ = stopping.wait_for(|stopped| *stopped).await;
        }
    }
}

type AppState = axum::extract::State<Arc<App>>;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Assay",
        description = "Rewards for reinforcement learning with verifiable rewards.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(assay_model::api::Problem)),
    modifiers(&BearerKey),
    security(("key" = []))
)]
struct Document;

/// Every route, with its document.
fn documented() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(batches::announce))
        .routes(routes!(batches::get))
        .routes(routes!(submit::submit))
        .routes(routes!(batches::seal))
        .routes(routes!(batches::cancel))
        .routes(routes!(results::results))
        .routes(routes!(events::events))
        .routes(routes!(history::profile))
        .routes(routes!(history::run))
        .routes(routes!(rewards::reward))
        .routes(routes!(requests::get))
        .routes(routes!(requests::logs))
        .routes(routes!(requests::artifact))
        .routes(routes!(plugins::list, plugins::publish))
        .routes(routes!(plugins::versions))
        .routes(routes!(plugins::promote))
        .routes(routes!(plugins::yank))
        .routes(routes!(tenants::list, tenants::create))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(capacity::list))
        .routes(routes!(capacity::set))
        .routes(routes!(probes::metrics))
        .split_for_parts()
}

/// The OpenAPI document of everything served.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    documented().1
}

pub fn router(app: Arc<App>) -> Router {
    let (routes, document) = documented();
    let document = probes::Document::new(&document);
    routes
        .route("/openapi.json", axum::routing::get(move || document.clone().serve()))
        .route_layer(middleware::from_fn_with_state(app.clone(), auth::authenticate))
        .route("/livez", axum::routing::get(probes::livez))
        .route("/readyz", axum::routing::get(probes::readyz))
        .with_state(app)
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(middleware::from_fn(problem::finish))
}

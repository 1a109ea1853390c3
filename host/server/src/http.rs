//! The REST interface: one router, one file a noun. A handler extracts, calls, responds.
//!
//! Nothing but the probes and what signing in needs is reachable without a key or a session: the
//! authentication layer stands in front of every other route, whichever handler it has.

mod audit;
mod auth;
mod batch_list;
mod batches;
mod body;
mod capacity;
mod compat;
mod context;
mod dashboard;
mod events;
mod headers;
mod history;
mod incidents;
mod inputs;
mod keys;
mod listen;
mod live;
mod logs;
mod oidc;
mod overview;
mod people;
mod plugin_stats;
mod plugins;
mod probes;
mod problem;
mod quotas;
mod replay;
mod requests;
mod rest;
mod results;
mod rewards;
mod runs;
mod session;
mod sign_in;
mod simulations;
mod submit;
mod tenants;
mod timeline;
mod usage;
mod workers;

use std::sync::Arc;

use assay_model::limits;
use axum::Router;
use axum::middleware;
use metrics_exporter_prometheus::PrometheusHandle;
use reqwest::Url;
use tokio::sync::{Notify, Semaphore, watch};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::bootstrap::FirstAdmin;
use crate::dispatch::Dispatch;
use crate::registry::Registry;
use crate::storage::Roots;
use crate::store::{Store, StoreError};

use auth::Credentials;
pub use auth::{KeyCache, NewSecret};
pub use dashboard::has_dashboard;
pub use listen::serve;
pub use oidc::OidcConfig;
pub use sign_in::SignInConfig;

/// What handlers work with.
pub struct App {
    pub store: Store,
    pub dispatch: Dispatch,
    pub registry: Arc<Registry>,
    pub keys: KeyCache,
    pub roots: Roots,
    pub metrics: PrometheusHandle,
    /// Told when a tenant's retention was changed.
    pub retention_changed: Arc<Notify>,
    sign_in: sign_in::SignIn,
    feeds: live::Feeds,
    streams: live::Streams,
    bursts: Arc<compat::Bursts>,
    simulations: Arc<Semaphore>,
    /// Part of the keys made here, to tell one deployment's from another's.
    pub environment: String,
    /// True once the server stops.
    stopping: watch::Receiver<bool>,
    buffered: Semaphore,
    uploads: Semaphore,
}

/// The parts of the server that handlers talk to.
pub struct Inside {
    pub store: Store,
    pub dispatch: Dispatch,
    pub registry: Arc<Registry>,
    pub roots: Roots,
    pub metrics: PrometheusHandle,
    pub retention_changed: Arc<Notify>,
    pub first_admin: Option<FirstAdmin>,
}

/// How callers come here.
pub struct Front {
    /// The server's own address.
    pub url: Url,
    /// Part of the keys made here, to tell one deployment's from another's.
    pub environment: String,
    pub sign_in: SignInConfig,
}

impl App {
    pub fn new(
        inside: Inside,
        front: Front,
        stopping: watch::Receiver<bool>,
    ) -> anyhow::Result<Self> {
        let Inside { store, dispatch, registry, roots, metrics, retention_changed, first_admin } =
            inside;
        let Front { url, environment, sign_in } = front;
        Ok(Self {
            keys: KeyCache::new(store.clone()),
            bursts: compat::Bursts::new(dispatch.clone(), stopping.clone()),
            store,
            dispatch,
            registry,
            roots,
            metrics,
            retention_changed,
            sign_in: sign_in::SignIn::new(sign_in, &url, first_admin)?,
            feeds: live::Feeds::default(),
            streams: live::Streams::default(),
            simulations: Arc::new(Semaphore::new(limits::SIMULATIONS_MAX)),
            environment,
            stopping,
            buffered: Semaphore::new(limits::BUFFERED_CALLS_MAX),
            uploads: Semaphore::new(limits::UPLOADS_MAX),
        })
    }

    /// Goes on with what trainers had left open when the server ended. To be called before any call.
    pub async fn restore(&self) -> Result<(), StoreError> {
        self.bursts.restore(&self.store).await
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
    components(schemas(
        assay_model::api::Problem,
        assay_model::operations::LiveSnapshot,
        assay_model::operations::LiveDelta,
        assay_model::view::BatchStateFilter,
        assay_model::view::RequestKindFilter,
    )),
    modifiers(&Credentials),
    security(("key" = []), ("session" = []))
)]
struct Document;

/// The routes that ask for a key or a session, with their document.
fn guarded() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
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
        .routes(routes!(plugins::roll_back))
        .routes(routes!(plugins::component))
        .routes(routes!(plugins::yank))
        .routes(routes!(plugin_stats::get))
        .routes(routes!(runs::list))
        .routes(routes!(runs::get))
        .routes(routes!(logs::list))
        .routes(routes!(batch_list::list))
        .routes(routes!(inputs::list))
        .routes(routes!(timeline::get))
        .routes(routes!(tenants::list, tenants::create))
        .routes(routes!(tenants::get, tenants::change))
        .routes(routes!(usage::get))
        .routes(routes!(audit::list))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(keys::rotate))
        .routes(routes!(people::list))
        .routes(routes!(people::change))
        .routes(routes!(people::invite))
        .routes(routes!(people::members, people::add))
        .routes(routes!(people::set_role, people::remove))
        .routes(routes!(session::get, session::end))
        .routes(routes!(session::switch))
        .routes(routes!(session::change_password))
        .routes(routes!(capacity::list))
        .routes(routes!(capacity::set))
        .routes(routes!(capacity::history))
        .routes(routes!(overview::get))
        .routes(routes!(overview::queue))
        .routes(routes!(incidents::list))
        .routes(routes!(live::follow))
        .routes(routes!(workers::list))
        .routes(routes!(workers::drain))
        .routes(routes!(replay::replay))
        .routes(routes!(simulations::simulate))
        .routes(routes!(probes::metrics))
        .split_for_parts()
}

/// The routes by which one signs in, open to all, with their document.
fn open() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::new()
        .routes(routes!(session::methods))
        .routes(routes!(session::sign_in))
        .routes(routes!(session::bootstrap))
        .routes(routes!(session::accept))
        .routes(routes!(oidc::start))
        .routes(routes!(oidc::callback))
        .split_for_parts()
}

/// The OpenAPI document of everything served.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = guarded().1;
    document.merge(open().1);
    name_operations(&mut document);
    document
}

/// Clients are generated from the document and need a name for each operation that no other has:
/// `get_batches_id_timeline` for `GET /v1/batches/{id}/timeline`.
fn name_operations(document: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        let words = path.split('/').map(|word| word.trim_matches(['{', '}']));
        let noun = words.filter(|word| !word.is_empty() && *word != "v1").collect::<Vec<_>>();
        let noun = noun.join("_");
        let operations = [
            ("get", &mut item.get),
            ("put", &mut item.put),
            ("post", &mut item.post),
            ("patch", &mut item.patch),
            ("delete", &mut item.delete),
        ];
        for (verb, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(format!("{verb}_{noun}"));
            }
        }
    }
}

pub fn router(app: Arc<App>) -> Router {
    let document = probes::Document::new(&document());
    let reached = headers::Reached::of(&app.sign_in.origins);
    guarded()
        .0
        .route("/openapi.json", axum::routing::get(move || document.clone().serve()))
        .route("/compat/{*call}", axum::routing::any(compat::answer))
        .route_layer(middleware::from_fn_with_state(app.clone(), auth::authenticate))
        .merge(open().0)
        .route("/livez", axum::routing::get(probes::livez))
        .route("/readyz", axum::routing::get(probes::readyz))
        .fallback(dashboard::serve)
        .with_state(app)
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(middleware::from_fn(problem::finish))
        .layer(middleware::from_fn_with_state(reached, headers::secure))
}

//! The REST interface: one router, and a file for each route. A handler extracts, calls, responds.

mod announcements;
mod app;
mod auth;
mod auto_batches;
mod connections;
mod dashboard;
mod downloads;
mod extract;
mod finishing;
mod listen;
mod live;
mod middleware;
mod openapi;
mod problem;
mod protocols;
mod quotas;
mod random;
mod router;
mod routes;
mod told;

pub use app::{App, Front, Inside};
pub use auth::oidc::OidcConfig;
pub use auth::sign_in::{Peer, SignInConfig};
pub use auth::{KeyCache, NewSecret, bootstrap};
pub use dashboard::has_dashboard;
pub use listen::serve;
pub use protocols::{RefusedCalls, RefusingCalls, refused_calls};
pub use router::{document, router, waiting_router};
pub use routes::metrics::metrics_page;

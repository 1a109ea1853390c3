//! `/v1/workers`: workers one by one, for the platform's administrators.

use assay_link::RemoteWorkers;

use crate::app::App;
use crate::problem::ApiError;

pub(crate) mod create_token;
pub(crate) mod drain;
pub(crate) mod list;
pub(crate) mod list_remote;
pub(crate) mod remove_remote;

/// The workers of other machines, if there may be any.
fn remote(app: &App) -> Result<&RemoteWorkers, ApiError> {
    app.remote_workers.as_ref().ok_or_else(|| {
        ApiError::conflict("no_remote_workers", "this server takes no workers of other machines")
            .hint("start it with --worker-listen ADDRESS:PORT")
    })
}

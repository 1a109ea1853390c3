//! `/v1/plugins`: the plugins of a tenant, their versions and channels.

pub(crate) mod cases;
pub(crate) mod channels;
pub(crate) mod component;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod promote;
pub(crate) mod publish;
pub(crate) mod roll_back;
pub(crate) mod stats;
pub(crate) mod yank;

use assay_api::plugin::Plugin;

use crate::app::App;
use crate::auth::Caller;
use crate::problem::ApiError;

async fn version(
    app: &App,
    caller: &Caller,
    name: &str,
    version: &str,
) -> Result<Plugin, ApiError> {
    let versions = app.store.versions(caller.tenant, name).await?;
    let found = versions.into_iter().find(|plugin| plugin.version == version);
    found.ok_or_else(|| ApiError::not_found("plugin version"))
}

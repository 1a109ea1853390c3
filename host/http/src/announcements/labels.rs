//! Labels of a trainer's call against the schema of its plugin.

use assay_core::id::TenantId;
use assay_dispatch::ReadyPlugin;
use assay_wire::proto;
use bytes::Bytes;
use prost::Message as _;

use crate::app::App;
use crate::extract::thread_use::ThreadUse;
use crate::problem::ApiError;

/// A request's group, and its encoded body.
pub(crate) type EncodedSample = (Option<String>, Bytes);

/// Fails if a label does not match the plugin's schema: no repeat would fare better.
pub(crate) async fn validate_labels(
    app: &App,
    tenant: TenantId,
    plugin: &ReadyPlugin,
    samples: &[EncodedSample],
) -> Result<(), ApiError> {
    let validation = app.registry.validation(tenant, plugin).await;
    if !validation.has_label() {
        return Ok(());
    }
    let mut thread = ThreadUse::begin();
    for (_, body) in samples {
        thread.share().await;
        let body = proto::Body::decode(&body[..]).map_err(|_| ApiError::internal())?;
        let label = Some(body.label.as_str()).filter(|label| !label.is_empty());
        validation.label(tenant, label).await.map_err(ApiError::invalid_label)?;
    }
    Ok(())
}

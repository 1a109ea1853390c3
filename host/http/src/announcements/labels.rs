//! Labels of a trainer's call against the schema of its plugin.

use assay_dispatch::ReadyPlugin;
use assay_wire::proto;
use bytes::Bytes;
use prost::Message as _;

use crate::app::App;
use crate::problem::ApiError;

/// A request's group, and its encoded body.
pub(crate) type EncodedSample = (Option<String>, Bytes);

/// Fails if a label does not match the plugin's schema: no repeat would fare better.
pub(crate) async fn validate_labels(
    app: &App,
    plugin: &ReadyPlugin,
    samples: &[EncodedSample],
) -> Result<(), ApiError> {
    let validation = app.registry.validation(plugin).await;
    if !validation.has_label() {
        return Ok(());
    }
    for (_, body) in samples {
        let body = proto::Body::decode(&body[..]).map_err(|_| ApiError::internal())?;
        let label = Some(body.label.as_str()).filter(|label| !label.is_empty());
        validation.label(label).await.map_err(ApiError::invalid_label)?;
    }
    Ok(())
}

//! Traces and metrics for OpenTelemetry, if an endpoint for them is configured.

use std::sync::Arc;

use assay_core::limits;
use assay_core::trace::RequestTrace;
use assay_http::{App, metrics_page};
use assay_telemetry::{Exporter, OtlpSettings};
use tokio::sync::{mpsc, watch};

/// The attributes of OpenTelemetry that say which program sends, and which of several.
const SERVICE: &str = "service.name";
const INSTANCE: &str = "service.instance.id";
const VERSION: &str = "service.version";

/// An exporter, and the traces that it takes.
pub(crate) struct Telemetry {
    exporter: Exporter,
    traces: mpsc::Receiver<RequestTrace>,
}

/// Traces go to the sender. `url` is the address of this server.
pub(crate) fn start(
    settings: Option<OtlpSettings>,
    url: &str,
) -> anyhow::Result<(Option<Telemetry>, Option<mpsc::Sender<RequestTrace>>)> {
    let Some(mut settings) = settings else { return Ok((None, None)) };
    let own = [(SERVICE, "assay"), (INSTANCE, url), (VERSION, env!("CARGO_PKG_VERSION"))];
    for (key, value) in own {
        settings.resource.entry(key.into()).or_insert_with(|| value.into());
    }
    tracing::info!("traces and metrics go to {}", settings.endpoint);
    let (sender, traces) = mpsc::channel(limits::TRACES_WAITING_MAX);
    Ok((Some(Telemetry { exporter: Exporter::new(settings)?, traces }), Some(sender)))
}

impl Telemetry {
    /// Works until the server stops.
    pub(crate) async fn run(self, app: Arc<App>, stop: watch::Receiver<bool>) {
        // The dispatcher cannot be asked any more once it stops.
        let page = || async { metrics_page(&app).await.ok() };
        self.exporter.run(self.traces, page, stop).await;
    }
}

//! The options for OpenTelemetry, under the names of its own environment variables.

use std::time::Duration;

use anyhow::Context as _;
use assay_telemetry::{OtlpSettings, attributes, headers};
use reqwest::Url;

#[derive(clap::Args)]
pub(super) struct TelemetryOptions {
    /// Send traces and metrics to this OpenTelemetry receiver, by OTLP over HTTP in protobuf, such as
    /// http://127.0.0.1:4318; nothing is sent without it
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
    /// Headers for that receiver, as NAME=VALUE,...; values are percent-encoded
    #[arg(long, env = "OTEL_EXPORTER_OTLP_HEADERS", value_name = "LIST", hide_env_values = true)]
    otlp_headers: Option<String>,
    /// Attributes of this server in traces and metrics, as NAME=VALUE,...
    #[arg(long, env = "OTEL_RESOURCE_ATTRIBUTES", value_name = "LIST")]
    otlp_attributes: Option<String>,
    /// Name of this service in traces and metrics [default: assay]
    #[arg(long, env = "OTEL_SERVICE_NAME", value_name = "NAME")]
    otlp_service: Option<String>,
    /// Milliseconds between two reports of the metrics
    #[arg(
        long,
        env = "OTEL_METRIC_EXPORT_INTERVAL",
        value_name = "MS",
        default_value_t = 60_000,
        value_parser = clap::value_parser!(u32).range(100..)
    )]
    otlp_metrics_ms: u32,
    /// Part of the requests that is traced where the trainer sends no trace of its own, from 0 to 1
    #[arg(long, env = "ASSAY_TRACED_PART", value_name = "PART", default_value_t = 0.0, value_parser = part)]
    traced_part: f64,
}

fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "it must be a number from 0 to 1".to_owned())
}

impl TelemetryOptions {
    /// The receiver, if one is configured.
    pub(super) fn settings(self) -> anyhow::Result<Option<OtlpSettings>> {
        let Some(endpoint) = self.otlp_endpoint.filter(|url| !url.trim().is_empty()) else {
            return Ok(None);
        };
        let url: Option<Url> = endpoint.trim().parse().ok();
        let endpoint = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let endpoint = endpoint.context(
            "--otlp-endpoint (OTEL_EXPORTER_OTLP_ENDPOINT) must look like http://127.0.0.1:4318",
        )?;
        let list = self.otlp_attributes.unwrap_or_default();
        let mut resource = attributes(&list)
            .map_err(anyhow::Error::msg)
            .context("reading --otlp-attributes (OTEL_RESOURCE_ATTRIBUTES)")?;
        resource.extend(self.otlp_service.map(|name| ("service.name".to_owned(), name)));
        Ok(Some(OtlpSettings {
            endpoint,
            headers: headers(&self.otlp_headers.unwrap_or_default())
                .map_err(anyhow::Error::msg)
                .context("reading --otlp-headers (OTEL_EXPORTER_OTLP_HEADERS)")?,
            resource,
            metrics_period: Duration::from_millis(self.otlp_metrics_ms.into()),
            traced_part: self.traced_part,
        }))
    }
}

//! Traces and metrics for OpenTelemetry: OTLP over HTTP, in protobuf.
//!
//! Nothing here is in a request's way. A traced request comes when its outcome is committed; its spans are made then, sent
//! in batches, and dropped if the receiver does not take them in time. Metrics are those of `GET /metrics`.

mod exporter;
mod metrics;
mod settings;
mod spans;

pub use exporter::Exporter;
pub use settings::{OtlpSettings, attributes, headers};

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;

fn attribute(key: impl Into<String>, value: Value) -> KeyValue {
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.into(), value, ..KeyValue::default() }
}

fn text(key: impl Into<String>, value: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(value.into()))
}

/// The source of spans and metrics: this program.
fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "assay".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..InstrumentationScope::default()
    }
}

fn resource(settings: &OtlpSettings) -> Resource {
    let attributes = settings.resource.iter().map(|(key, value)| text(key, value)).collect();
    Resource { attributes, ..Resource::default() }
}

//! A receiver of OpenTelemetry's signals, as good or bad as a test says.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

#[derive(Default)]
struct Taken {
    calls: usize,
    headers: Vec<HeaderMap>,
    resource: Vec<KeyValue>,
    spans: Vec<Span>,
    /// The last report.
    metrics: Vec<Metric>,
}

impl Taken {
    fn take_traces(
        &mut self,
        headers: HeaderMap,
        body: Bytes,
        status: &dyn Fn(usize) -> u16,
    ) -> StatusCode {
        let status = StatusCode::from_u16(status(self.calls)).expect("a status");
        self.calls += 1;
        self.headers.push(headers);
        if status.is_success() {
            let message = ExportTraceServiceRequest::decode(body).expect("OTLP");
            for resource in message.resource_spans {
                self.resource = resource.resource.expect("a resource").attributes;
                self.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
        }
        status
    }

    fn take_metrics(&mut self, body: Bytes) {
        let message = ExportMetricsServiceRequest::decode(body).expect("OTLP");
        let scopes = message.resource_metrics.into_iter().flat_map(|it| it.scope_metrics);
        self.metrics = scopes.flat_map(|it| it.metrics).collect();
    }
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    taken: Arc<Mutex<Taken>>,
}

impl Receiver {
    /// `status` is given how many calls with traces came before.
    pub(crate) async fn start(status: impl Fn(usize) -> u16 + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let taken: Arc<Mutex<Taken>> = Arc::default();
        let (of_traces, of_metrics) = (Arc::clone(&taken), Arc::clone(&taken));
        let status = Arc::new(status);
        let traces = move |headers: HeaderMap, body: Bytes| {
            let status = of_traces.lock().expect("whole").take_traces(headers, body, &*status);
            async move { status }
        };
        let metrics = move |body: Bytes| {
            of_metrics.lock().expect("whole").take_metrics(body);
            async {}
        };
        let router =
            Router::new().route("/v1/traces", post(traces)).route("/v1/metrics", post(metrics));
        tokio::spawn(async { axum::serve(listener, router).await });
        Self { url, taken }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().expect("whole")
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.taken().spans.clone()
    }

    pub(crate) fn resource(&self) -> Vec<KeyValue> {
        self.taken().resource.clone()
    }

    pub(crate) fn headers(&self) -> Vec<HeaderMap> {
        self.taken().headers.clone()
    }

    pub(crate) fn metric_names(&self) -> BTreeSet<String> {
        self.taken().metrics.iter().map(|metric| metric.name.clone()).collect()
    }

    /// The value of a counter with this label.
    pub(crate) fn counter(&self, name: &str, label: &str, value: &str) -> Option<f64> {
        let taken = self.taken();
        let metric = taken.metrics.iter().find(|metric| metric.name == name)?;
        let Some(Data::Sum(sum)) = &metric.data else { panic!("{name} is no counter") };
        let point = sum.data_points.iter().find(|it| attribute(&it.attributes, label) == value)?;
        match point.value {
            Some(number_data_point::Value::AsDouble(value)) => Some(value),
            _ => None,
        }
    }
}

/// A host that plugins ask: its port, and the headers of what came.
pub(crate) async fn asked_host() -> (u16, Arc<Mutex<Vec<HeaderMap>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let asked: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let asks = Arc::clone(&asked);
    let router = Router::new().fallback(move |headers: HeaderMap| {
        asks.lock().expect("whole").push(headers);
        async {}
    });
    tokio::spawn(async { axum::serve(listener, router).await });
    (port, asked)
}

/// An attribute that is a text.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    let value = found.and_then(|found| found.value.as_ref()?.value.clone());
    match value {
        Some(Value::StringValue(text)) => text,
        other => panic!("{key} is {other:?}"),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

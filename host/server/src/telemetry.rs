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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use assay_core::id::{BatchId, RequestId, TenantId};
    use assay_core::time::Micros;
    use assay_core::trace::{RequestEnd, StageAttempt, TraceContext};
    use reqwest::header::HeaderMap;
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// Less than the time that one call may take.
    const SOON: Duration = Duration::from_secs(5);

    /// A trace with as many spans as are sent at once.
    fn long_trace() -> RequestTrace {
        let attempt = StageAttempt {
            stage: "run".into(),
            attempt: 1,
            worker: 7,
            granted: Micros(2),
            answer: None,
        };
        let end = RequestEnd {
            at: Micros(3),
            kind: "scored",
            reward: None,
            verdict: "right".into(),
            shared_from: None,
        };
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        RequestTrace {
            context: TraceContext::of_header(header).expect("it is well-formed"),
            request: RequestId { batch: BatchId::generate(), seq: 3 },
            tenant: TenantId::generate(),
            run: "r".into(),
            plugin: "code@1.0.0".into(),
            arrived: Micros(1),
            attempts: vec![attempt; limits::SPANS_SENT_MAX],
            end: Some(end),
            committed: Micros(3),
        }
    }

    /// The first line of the next call, and its connection, on which nobody answers.
    async fn next_call(receiver: &TcpListener) -> (String, BufReader<TcpStream>) {
        let (stream, _) = receiver.accept().await.expect("a connection");
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).await.expect("a call");
        (line, stream)
    }

    #[tokio::test]
    async fn a_stop_is_heard_while_the_receiver_does_not_answer_and_no_span_is_lost() {
        // A second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let receiver = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let endpoint = format!("http://{}", receiver.local_addr().expect("an address"));
        let settings = OtlpSettings {
            endpoint: endpoint.parse().expect("a URL"),
            headers: HeaderMap::new(),
            resource: BTreeMap::new(),
            metrics_period: Duration::from_hours(1),
            traced_part: 1.0,
        };
        let exporter = Exporter::new(settings).expect("it can send");
        let (sender, traces) = mpsc::channel(1);
        let stop = watch::Sender::new(false);
        let page = || std::future::ready(None);
        let running = tokio::spawn(exporter.run(traces, page, stop.subscribe()));
        sender.send(long_trace()).await.expect("it is taken");
        let (first, _silent) = next_call(&receiver).await;
        assert!(first.starts_with("POST /v1/traces"), "{first}");
        stop.send_replace(true);
        let last = tokio::time::timeout(SOON, next_call(&receiver)).await;
        let (last, _silent) = last.expect("the last try begins at once");
        assert!(last.starts_with("POST /v1/traces"), "{last}");
        running.abort();
    }
}

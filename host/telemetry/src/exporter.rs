//! Sends traces and metrics to a receiver, for as long as the server runs.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use assay_core::cause::deepest;
use assay_core::limits;
use assay_core::trace::RequestTrace;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::{ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::metrics::{CountedTime, metrics};
use crate::settings::OtlpSettings;
use crate::spans::spans;
use crate::{resource, scope};

/// The metrics that count what was sent.
const SPANS: &str = "assay_otlp_spans_total";
const CALLS: &str = "assay_otlp_calls_total";
/// The time for which spans are gathered before they are sent.
const GATHER: Duration = Duration::from_secs(1);
/// The time for one call.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pauses between the tries of a call with spans.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(10)];
/// The time for what is left when the server stops.
const LAST_PATIENCE: Duration = Duration::from_secs(3);

/// Why the receiver did not take a call.
struct NotTaken {
    again: bool,
    words: String,
}

/// Sends to one receiver.
pub struct Exporter {
    settings: OtlpSettings,
    client: Client,
    started: u64,
    /// Whether the last call failed, so that a receiver that is away is a line in the log and not one for each call.
    is_failing: bool,
}

impl Exporter {
    pub fn new(settings: OtlpSettings) -> anyhow::Result<Self> {
        let client = Client::builder()
            .user_agent(concat!("assay/", env!("CARGO_PKG_VERSION")))
            .default_headers(settings.headers.clone())
            .timeout(PATIENCE)
            // Headers with keys go to the endpoint alone.
            .redirect(Policy::none())
            .build()
            .context("preparing to send to the OpenTelemetry endpoint")?;
        for result in ["sent", "failed"] {
            ::metrics::counter!(SPANS, "result" => result).increment(0);
            ::metrics::counter!(CALLS, "result" => result).increment(0);
        }
        Ok(Self { settings, client, started: unix_nanos(), is_failing: false })
    }

    /// Works until the server stops, then sends what is left. `page` returns the text of `GET /metrics`, unless it
    /// cannot be had.
    pub async fn run<Page: Future<Output = Option<String>>>(
        mut self,
        mut traces: mpsc::Receiver<RequestTrace>,
        page: impl Fn() -> Page,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut waiting = Vec::new();
        tokio::select! {
            // At once, also during a call that the receiver does not answer. A dropped sender means that everything is
            // stopping as well.
            _ = stop.wait_for(|stopped| *stopped) => {}
            () = self.keep_sending(&mut traces, &page, &mut waiting) => {}
        }
        let last = async {
            traces.close();
            while let Some(trace) = traces.recv().await {
                waiting.extend(spans(&trace));
            }
            self.send_spans(&mut waiting).await;
            self.send_metrics(page().await).await;
        };
        // The receiver may be away; the server does not wait for it.
        let _ = tokio::time::timeout(LAST_PATIENCE, last).await;
    }

    /// Works until no more traces come. It may be dropped at any time: `waiting` has the spans that are not sent.
    async fn keep_sending<Page: Future<Output = Option<String>>>(
        &mut self,
        traces: &mut mpsc::Receiver<RequestTrace>,
        page: &impl Fn() -> Page,
        waiting: &mut Vec<Span>,
    ) {
        let mut next_metrics = Instant::now() + self.settings.metrics_period;
        let mut send_at = None;
        loop {
            let gathered = async {
                match send_at {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                trace = traces.recv() => match trace {
                    Some(trace) => {
                        waiting.extend(spans(&trace));
                        send_at.get_or_insert(Instant::now() + GATHER);
                    }
                    None => return,
                },
                () = gathered => self.send_spans(waiting).await,
                () = tokio::time::sleep_until(next_metrics) => {
                    next_metrics = Instant::now() + self.settings.metrics_period;
                    self.send_metrics(page().await).await;
                }
            }
            if waiting.len() >= limits::SPANS_SENT_MAX {
                self.send_spans(waiting).await;
            }
            if waiting.is_empty() {
                send_at = None;
            }
        }
    }

    /// Sends all spans. Each stays in `waiting` until its call has ended, so that none is lost if this is dropped.
    async fn send_spans(&mut self, waiting: &mut Vec<Span>) {
        while !waiting.is_empty() {
            let count = waiting.len().min(limits::SPANS_SENT_MAX);
            let spans = waiting[..count].to_vec();
            let scope_spans = ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() };
            let resource_spans = ResourceSpans {
                resource: Some(resource(&self.settings)),
                scope_spans: vec![scope_spans],
                ..ResourceSpans::default()
            };
            let message = ExportTraceServiceRequest { resource_spans: vec![resource_spans] };
            let result =
                if self.send("traces", &message, &PAUSES).await { "sent" } else { "failed" };
            waiting.drain(..count);
            ::metrics::counter!(SPANS, "result" => result).increment(count as u64);
        }
    }

    /// A report that is lost costs nothing: the next one has everything again.
    async fn send_metrics(&mut self, page: Option<String>) {
        let Some(page) = page else { return };
        let period = CountedTime { start: self.started, now: unix_nanos() };
        let scope_metrics = ScopeMetrics {
            scope: Some(scope()),
            metrics: metrics(&page, period),
            ..ScopeMetrics::default()
        };
        let resource_metrics = ResourceMetrics {
            resource: Some(resource(&self.settings)),
            scope_metrics: vec![scope_metrics],
            ..ResourceMetrics::default()
        };
        let message = ExportMetricsServiceRequest { resource_metrics: vec![resource_metrics] };
        self.send("metrics", &message, &[]).await;
    }

    /// Returns whether the receiver took it.
    async fn send(&mut self, signal: &str, message: &impl Message, pauses: &[Duration]) -> bool {
        let body = message.encode_to_vec();
        let mut pauses = pauses.iter();
        let refusal = loop {
            match self.call(signal, body.clone()).await {
                Ok(()) => break None,
                Err(refusal) => match pauses.next().filter(|_| refusal.again) {
                    Some(pause) => tokio::time::sleep(*pause).await,
                    None => break Some(refusal),
                },
            }
        };
        let result = if refusal.is_none() { "sent" } else { "failed" };
        ::metrics::counter!(CALLS, "result" => result).increment(1);
        match &refusal {
            Some(NotTaken { words, .. }) if !self.is_failing => tracing::warn!(
                "traces and metrics are lost until {} takes them again: {words}",
                self.settings.url(signal)
            ),
            None if self.is_failing => {
                tracing::info!("{} takes traces and metrics again", self.settings.endpoint);
            }
            _ => {}
        }
        self.is_failing = refusal.is_some();
        refusal.is_none()
    }

    async fn call(&self, signal: &str, body: Vec<u8>) -> Result<(), NotTaken> {
        let kind = HeaderValue::from_static("application/x-protobuf");
        let call =
            self.client.post(self.settings.url(signal)).header(CONTENT_TYPE, kind).body(body);
        let answer =
            call.send().await.map_err(|error| NotTaken { again: true, words: words(&error) })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        // Those that the specification of OTLP lists.
        let again = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        Err(NotTaken { again, words: format!("it answers {status}") })
    }
}

fn unix_nanos() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// The deepest cause, without the URL.
fn words(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", PATIENCE.as_secs());
    }
    match error.source() {
        Some(cause) => deepest(cause).to_string(),
        None => "the message could not be sent".into(),
    }
}

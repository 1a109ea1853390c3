//! The spans of a traced request.
//!
//! ```text
//! request ────────────────────────────────────────────────
//!   queue run ────┐
//!   stage run     └──────────┐
//!     exec.run       └─────┘ │
//!   queue score              └──┐
//!   stage score                 └───────┐
//!   commit                              └─────────────────
//! ```

use assay_core::time::Micros;
use assay_core::trace::{CapabilityCall, RequestTrace, SpanId, StageAttempt};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};

use crate::{attribute, text};

/// Spans beside those of the request and its attempts have numbers from here on.
const OTHERS: usize = 1 << 16;

/// The spans of a request whose outcome is committed.
pub(crate) fn spans(trace: &RequestTrace) -> Vec<Span> {
    let mut spans = Spans { trace, others: 0, made: Vec::new() };
    let Some(end) = &trace.end else { return Vec::new() };
    let mut attributes = vec![
        text("assay.request.id", trace.request.to_string()),
        text("assay.tenant.id", trace.tenant.to_string()),
        text("assay.run", &trace.run),
        text("assay.plugin", &trace.plugin),
        text("assay.outcome", end.kind),
        text("assay.verdict", &end.verdict),
    ];
    attributes.extend(end.reward.map(|it| attribute("assay.reward", Value::DoubleValue(it))));
    attributes.extend(end.shared_from.map(|it| text("assay.shared_from", it.to_string())));
    let failure = (end.kind == "error").then_some(&*end.verdict);
    spans.made.push(Span {
        span_id: trace.span().0.to_vec(),
        parent_span_id: trace.context.parent.map(|parent| parent.0.to_vec()).unwrap_or_default(),
        kind: SpanKind::Server.into(),
        attributes,
        status: status(failure),
        ..span(trace, "request", trace.arrived, trace.committed)
    });
    let mut ready = trace.arrived;
    for (place, attempt) in trace.attempts.iter().enumerate() {
        spans.add(trace.span(), format!("queue {}", attempt.stage), ready, attempt.granted);
        ready = spans.add_attempt(place, attempt, end.at);
    }
    spans.add(trace.span(), "commit".into(), end.at, trace.committed);
    spans.made
}

struct Spans<'a> {
    trace: &'a RequestTrace,
    others: usize,
    made: Vec<Span>,
}

impl Spans<'_> {
    fn add(&mut self, parent: SpanId, name: String, start: Micros, end: Micros) {
        let id = self.trace.attempt_span(OTHERS + self.others);
        self.others += 1;
        self.made.push(Span {
            span_id: id.0.to_vec(),
            parent_span_id: parent.0.to_vec(),
            kind: SpanKind::Internal.into(),
            ..span(self.trace, name, start, end)
        });
    }

    /// Returns the time at which it ended: without an answer it is the next grant's, or the request's end.
    fn add_attempt(&mut self, place: usize, attempt: &StageAttempt, request_end: Micros) -> Micros {
        let next = self.trace.attempts.get(place + 1).map(|next| next.granted);
        let (end, failure) = match &attempt.answer {
            Some(answer) => (answer.at, answer.failed.then_some(&*answer.end)),
            None => (next.unwrap_or(request_end), Some("no_answer")),
        };
        let mut attributes: Vec<KeyValue> = vec![
            attribute("assay.attempt", Value::IntValue(attempt.attempt.into())),
            attribute("assay.worker", Value::IntValue(attempt.worker.cast_signed())),
        ];
        attributes.extend(attempt.answer.iter().map(|it| text("assay.end", &it.end)));
        let id = self.trace.attempt_span(place);
        self.made.push(Span {
            span_id: id.0.to_vec(),
            parent_span_id: self.trace.span().0.to_vec(),
            kind: SpanKind::Internal.into(),
            attributes,
            status: status(failure),
            ..span(self.trace, format!("stage {}", attempt.stage), attempt.granted, end)
        });
        if let Some(answer) = &attempt.answer {
            // The answer's way back is not known, and short beside the time in the worker's queue.
            let began = Micros(answer.at.0.saturating_sub(answer.ran.0)).max(attempt.granted);
            for CapabilityCall { name, after, took } in &answer.calls {
                let start = began + *after;
                self.add(id, name.clone(), start, start + *took);
            }
        }
        end
    }
}

fn span(trace: &RequestTrace, name: impl Into<String>, start: Micros, end: Micros) -> Span {
    Span {
        trace_id: trace.context.trace.0.to_vec(),
        name: name.into(),
        start_time_unix_nano: nanos(start),
        end_time_unix_nano: nanos(end.max(start)),
        ..Span::default()
    }
}

fn status(failure: Option<&str>) -> Option<Status> {
    failure.map(|code| Status { code: StatusCode::Error.into(), message: code.into() })
}

pub(crate) fn nanos(at: Micros) -> u64 {
    at.0.saturating_mul(1_000)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use assay_core::id::{BatchId, RequestId, TenantId};
    use assay_core::trace::{RequestEnd, StageAnswer, TraceContext};
    use uuid::Uuid;

    use super::*;

    const START: u64 = 1_000_000;

    fn at(us: u64) -> Micros {
        Micros(START + us)
    }

    fn answer(us: u64, ran: u64, failed: bool, calls: Vec<CapabilityCall>) -> Option<StageAnswer> {
        let end = if failed { "worker_lost" } else { "scored" }.to_owned();
        Some(StageAnswer { at: at(us), ran: Micros(ran), end, failed, calls })
    }

    /// A first attempt that is lost, and a second one that calls a program and scores.
    fn trace() -> RequestTrace {
        let attempt = |attempt, granted, answer| StageAttempt {
            stage: "run".into(),
            attempt,
            worker: 7,
            granted: at(granted),
            answer,
        };
        let call = CapabilityCall { name: "exec.run".into(), after: Micros(20), took: Micros(50) };
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        RequestTrace {
            context: TraceContext::of_header(header).expect("it is well-formed"),
            request: RequestId { batch: BatchId(Uuid::from_u128(9)), seq: 3 },
            tenant: TenantId(Uuid::from_u128(1)),
            run: "r".into(),
            plugin: "code@1.0.0".into(),
            arrived: at(0),
            attempts: vec![
                attempt(1, 10, None),
                attempt(2, 300, answer(500, 100, false, vec![call])),
            ],
            end: Some(RequestEnd {
                at: at(500),
                kind: "scored",
                reward: Some(0.5),
                verdict: "right".into(),
                shared_from: None,
            }),
            committed: at(900),
        }
    }

    fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
        spans.iter().filter(|span| span.name == name).collect()
    }

    #[test]
    fn a_request_is_a_tree_below_its_callers_span() {
        let trace = trace();
        let spans = spans(&trace);
        let ids: BTreeSet<_> = spans.iter().map(|span| span.span_id.clone()).collect();
        assert_eq!(ids.len(), spans.len());
        let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
        let wanted =
            ["request", "queue run", "stage run", "queue run", "stage run", "exec.run", "commit"];
        assert_eq!(names, wanted);
        assert_eq!(spans[0].parent_span_id, [0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        assert!(spans[1..].iter().all(|span| ids.contains(&span.parent_span_id)));
        assert!(spans.iter().all(|span| span.end_time_unix_nano >= span.start_time_unix_nano));
        // The id that the worker was told.
        assert_eq!(named(&spans, "exec.run")[0].parent_span_id, trace.attempt_span(1).0);
    }

    #[test]
    fn times_follow_one_another() {
        let spans = spans(&trace());
        let times = |span: &Span| {
            let us = |nanos: u64| nanos / 1_000 - START;
            (us(span.start_time_unix_nano), us(span.end_time_unix_nano))
        };
        assert_eq!(times(named(&spans, "request")[0]), (0, 900));
        let all = |name| named(&spans, name).into_iter().map(times).collect::<Vec<_>>();
        assert_eq!(all("queue run"), [(0, 10), (300, 300)]);
        assert_eq!(all("stage run"), [(10, 300), (300, 500)]);
        assert_eq!(all("exec.run"), [(420, 470)]);
        assert_eq!(all("commit"), [(500, 900)]);
    }

    #[test]
    fn a_failure_is_the_status_of_its_span_alone() {
        let mut trace = trace();
        let code = |span: &Span| span.status.as_ref().map(|status| status.message.clone());
        let made = spans(&trace);
        assert_eq!(code(named(&made, "request")[0]), None);
        assert_eq!(code(named(&made, "stage run")[0]).as_deref(), Some("no_answer"));
        assert_eq!(code(named(&made, "stage run")[1]), None);
        trace.attempts[1].answer = answer(500, 100, true, Vec::new());
        if let Some(end) = &mut trace.end {
            (end.kind, end.reward, end.verdict) = ("error", None, "worker_lost".into());
        }
        let made = spans(&trace);
        assert_eq!(code(named(&made, "request")[0]).as_deref(), Some("worker_lost"));
        assert_eq!(code(named(&made, "stage run")[1]).as_deref(), Some("worker_lost"));
        let attributes = &named(&made, "request")[0].attributes;
        assert!(attributes.iter().all(|attribute| attribute.key != "assay.reward"));
    }
}

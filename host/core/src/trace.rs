//! Traces in the sense of OpenTelemetry: the trace of a caller that a request belongs to (W3C Trace Context), and the
//! moments of the request that become its spans.

use std::fmt;

use crate::id::{RequestId, TenantId};
use crate::time::Micros;

/// Id of a trace; never zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

/// Id of a span; never zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId(pub [u8; 8]);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceId({self})")
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpanId({self})")
    }
}

/// The place of a request in a trace that is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The caller's span; `None` if the trace begins with the request.
    pub parent: Option<SpanId>,
}

impl TraceContext {
    /// Reads a header `traceparent`, as `00-<trace>-<span>-01`. `None` if it is malformed, which the standard has
    /// receivers ignore, or if its trace is not recorded.
    #[must_use]
    pub fn of_header(header: &str) -> Option<Self> {
        let mut fields = header.trim().split('-');
        let version: [u8; 1] = lower_hex(fields.next()?)?;
        let (trace, parent) = (lower_hex(fields.next()?)?, lower_hex(fields.next()?)?);
        let flags: [u8; 1] = lower_hex(fields.next()?)?;
        // Later versions may add fields.
        let well_formed = match version[0] {
            0 => fields.next().is_none(),
            0xff => false,
            _ => true,
        };
        let is_recorded = flags[0] & 1 == 1;
        (well_formed && is_recorded && trace != [0; 16] && parent != [0; 8])
            .then_some(Self { trace: TraceId(trace), parent: Some(SpanId(parent)) })
    }
}

/// The header `traceparent` for what a span calls.
#[must_use]
pub fn header(trace: TraceId, span: SpanId) -> String {
    format!("00-{trace}-{span}-01")
}

/// The bytes of lower-case hexadecimal digits; `None` for anything else.
fn lower_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    (is_lower && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}

/// A traced request, from its arrival to the commit of its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestTrace {
    /// Its place in the trace.
    pub context: TraceContext,
    /// The request.
    pub request: RequestId,
    /// Its tenant.
    pub tenant: TenantId,
    /// Its run.
    pub run: String,
    /// The plugin with its version, as `math@1.0.0`.
    pub plugin: String,
    /// The time at which it came.
    pub arrived: Micros,
    /// Every lease that it had, in order.
    pub attempts: Vec<StageAttempt>,
    /// Its end; `None` while it has none.
    pub end: Option<RequestEnd>,
    /// The time at which its outcome was committed.
    pub committed: Micros,
}

/// The end of a traced request.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestEnd {
    /// The time at which its outcome was known.
    pub at: Micros,
    /// `scored`, `timed_out` or `error`.
    pub kind: &'static str,
    /// The reward, unless it ended as an error.
    pub reward: Option<f64>,
    /// The verdict, or the code of the error.
    pub verdict: String,
    /// The equal request whose outcome it shares.
    pub shared_from: Option<RequestId>,
}

/// One lease of a traced request: an attempt at a stage on a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct StageAttempt {
    /// The stage.
    pub stage: String,
    /// The number of this attempt at the stage, from 1.
    pub attempt: u32,
    /// The worker.
    pub worker: u64,
    /// The time of the grant.
    pub granted: Micros,
    /// The worker's answer; `None` if none came.
    pub answer: Option<StageAnswer>,
}

/// A worker's answer about a stage of a traced request.
#[derive(Debug, Clone, PartialEq)]
pub struct StageAnswer {
    /// The time at which it came.
    pub at: Micros,
    /// The time that the stage ran.
    pub ran: Micros,
    /// `next`, `scored`, `timed_out`, or the code of an error.
    pub end: String,
    /// Whether the attempt failed.
    pub failed: bool,
    /// The calls of capabilities for which the plugin waited, in order.
    pub calls: Vec<CapabilityCall>,
}

/// A call of a capability that a plugin waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityCall {
    /// The function, as `exec.run`.
    pub name: String,
    /// The time from the stage's start to the call.
    pub after: Micros,
    /// The time that the call took.
    pub took: Micros,
}

impl RequestTrace {
    /// The span of the request.
    #[must_use]
    pub fn span(&self) -> SpanId {
        self.span_number(0)
    }

    /// The span of an attempt, by its place in `attempts`.
    #[must_use]
    pub fn attempt_span(&self, place: usize) -> SpanId {
        self.span_number(1 + place as u64)
    }

    /// Spans have numbers, so that their ids are known before they end.
    fn span_number(&self, number: u64) -> SpanId {
        // SplitMix64: different for every number.
        let mut bits = self
            .request
            .seed()
            .wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        SpanId((bits ^ (bits >> 31)).max(1).to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn a_recorded_trace_is_read_and_written() {
        let text = format!("00-{TRACE}-{SPAN}-01");
        let context = TraceContext::of_header(&text).expect("it is well-formed");
        assert_eq!(context.trace.to_string(), TRACE);
        assert_eq!(header(context.trace, context.parent.expect("a parent")), text);
        assert_eq!(TraceContext::of_header(&format!("cc-{TRACE}-{SPAN}-03-later")), Some(context));
    }

    #[test]
    fn what_is_malformed_or_not_recorded_is_ignored() {
        let (no_trace, no_span) = ("0".repeat(32), "0".repeat(16));
        for text in [
            String::new(),
            format!("00-{TRACE}-{SPAN}-00"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{no_trace}-{SPAN}-01"),
            format!("00-{TRACE}-{no_span}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{}é-{SPAN}-01", &TRACE[2..]),
        ] {
            assert_eq!(TraceContext::of_header(&text), None, "{text}");
        }
    }
}

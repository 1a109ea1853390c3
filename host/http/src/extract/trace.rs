//! The trace that the requests of a call belong to (`traceparent`, W3C Trace Context).

use assay_core::trace::{TraceContext, TraceId};
use axum::http::HeaderMap;

use crate::app::App;
use crate::random::random;

/// The traces of the requests of one call.
#[derive(Clone, Copy)]
pub(crate) enum CallTrace {
    /// None is traced.
    Nothing,
    /// All of them, in the caller's trace.
    Caller(TraceContext),
    /// This part of them, each in a trace of its own.
    Part(f64),
}

impl CallTrace {
    /// A caller with a trace decides itself whether it is recorded.
    pub(crate) fn of(app: &App, headers: &HeaderMap) -> Self {
        let Some(part) = app.traced_part else { return Self::Nothing };
        match headers.get("traceparent").map(|header| header.to_str().unwrap_or_default()) {
            Some(header) => TraceContext::of_header(header).map_or(Self::Nothing, Self::Caller),
            None if part > 0.0 => Self::Part(part),
            None => Self::Nothing,
        }
    }

    /// The place of the next request.
    pub(crate) fn next(&self) -> Option<TraceContext> {
        match self {
            Self::Nothing => None,
            Self::Caller(context) => Some(*context),
            Self::Part(part) => {
                let mut random = random::<16>();
                let chosen = u128::from_be_bytes(random) as f64 / 2_f64.powi(128) < *part;
                // Never all zeros.
                random[15] |= 1;
                chosen.then_some(TraceContext { trace: TraceId(random), parent: None })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_requests_is_traced() {
        let traced = |part| (0..1_000).filter_map(|_| CallTrace::Part(part).next()).count();
        assert_eq!((traced(0.0), traced(1.0)), (0, 1_000));
        // A fair coin misses this by more than ten standard deviations.
        assert!((300..700).contains(&traced(0.5)));
        let (first, second) = (CallTrace::Part(1.0).next(), CallTrace::Part(1.0).next());
        assert_ne!(first.map(|it| it.trace), second.map(|it| it.trace));
    }
}

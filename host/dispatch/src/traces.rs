//! Traced requests: the moments of each, gathered while it lives, and sent on once its outcome is committed.
//!
//! They are in memory alone: a request that is restored after a restart is not traced any more.

use std::collections::HashMap;

use assay_core::id::RequestId;
use assay_core::limits;
use assay_core::outcome::StageEnd;
use assay_core::time::Micros;
use assay_core::trace::{
    CapabilityCall, RequestEnd, RequestTrace, StageAnswer, StageAttempt, TraceContext, header,
};
use assay_store::admissions::BatchRow;
use assay_wire::proto;
use tokio::sync::mpsc;

use crate::budget::BudgetPermit;

/// The metric that counts ended traced requests.
const TRACES: &str = "assay_traces_total";

/// The things that a request holds until its outcome is durable.
#[derive(Default)]
pub(super) struct UntilCommit {
    #[expect(dead_code, reason = "held until it is dropped")]
    pub permit: BudgetPermit,
    pub trace: Option<Box<RequestTrace>>,
}

/// Takes the traces of requests whose outcomes are committed; drops them if nobody wants them or if too many wait.
#[derive(Clone)]
pub(super) struct TraceSender(pub Option<mpsc::Sender<RequestTrace>>);

impl TraceSender {
    pub(super) fn send(&self, mut trace: Box<RequestTrace>, committed: Micros) {
        let Some(sender) = &self.0 else { return };
        trace.committed = committed;
        let result = if sender.try_send(*trace).is_ok() { "taken" } else { "dropped" };
        metrics::counter!(TRACES, "result" => result).increment(1);
    }
}

/// The traced requests of a batch, by sequence number.
#[derive(Default)]
pub(super) struct RequestTraces(HashMap<u32, Box<RequestTrace>>);

impl RequestTraces {
    /// Begins to trace a request that has just come.
    pub(super) fn begin(&mut self, seq: u32, context: TraceContext, batch: &BatchRow) {
        let trace = RequestTrace {
            context,
            request: RequestId { batch: batch.id, seq },
            tenant: batch.tenant,
            run: batch.run.clone(),
            plugin: batch.version_name().to_string(),
            arrived: assay_clock::now(),
            attempts: Vec::new(),
            end: None,
            committed: Micros::ZERO,
        };
        self.0.insert(seq, Box::new(trace));
    }

    /// Notes a grant; returns the header by which the worker continues the trace, if the request is traced.
    pub(super) fn granted(
        &mut self,
        seq: u32,
        attempt: impl FnOnce() -> StageAttempt,
    ) -> Option<String> {
        let trace = self.0.get_mut(&seq)?;
        let place = trace.attempts.len();
        if place < limits::TRACED_ATTEMPTS_MAX {
            trace.attempts.push(attempt());
        }
        Some(header(trace.context.trace, trace.attempt_span(place)))
    }

    /// Forgets the grant at `granted`, which was taken back before its worker began.
    pub(super) fn revoked(&mut self, seq: u32, granted: Micros) {
        if let Some(trace) = self.0.get_mut(&seq) {
            let is_it =
                |attempt: &StageAttempt| attempt.granted == granted && attempt.answer.is_none();
            trace.attempts.pop_if(|last| is_it(last));
        }
    }

    /// Notes a worker's answer to the grant at `granted`.
    pub(super) fn answered(
        &mut self,
        seq: u32,
        granted: Micros,
        answer: impl FnOnce() -> StageAnswer,
    ) {
        let Some(trace) = self.0.get_mut(&seq) else { return };
        let attempt = trace.attempts.iter_mut().rev().find(|attempt| attempt.granted == granted);
        if let Some(attempt) = attempt {
            attempt.answer = Some(answer());
        }
    }

    /// Takes the trace of a request that ends.
    pub(super) fn end(
        &mut self,
        seq: u32,
        end: impl FnOnce() -> RequestEnd,
    ) -> Option<Box<RequestTrace>> {
        let mut trace = self.0.remove(&seq)?;
        trace.end = Some(end());
        Some(trace)
    }
}

/// A worker's answer as it is traced; a worker of another machine is not trusted with the names of its calls.
pub(super) fn stage_answer(
    at: Micros,
    ran: Micros,
    end: &StageEnd,
    calls: Vec<proto::CapabilityCall>,
) -> StageAnswer {
    let is_name = |name: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        name.len() <= limits::CALL_NAME_BYTES_MAX && name.chars().all(known)
    };
    let calls = calls.into_iter().filter(|call| is_name(&call.name)).take(limits::TRACED_CALLS_MAX);
    let (end, failed) = match end {
        StageEnd::Next(_) => ("next", false),
        StageEnd::Scored(_) => ("scored", false),
        StageEnd::TimedOut => ("timed_out", false),
        StageEnd::Failed(error) => (error.code.as_str(), true),
    };
    StageAnswer {
        at,
        ran,
        end: end.into(),
        failed,
        // No call lasts longer than its stage.
        calls: calls
            .map(|call| {
                let after = Micros(call.after_us).min(ran);
                let took = Micros(call.took_us).min(ran.since(after));
                CapabilityCall { name: call.name, after, took }
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use assay_core::trace::TraceContext;

    use super::*;
    use crate::batch::tests::row;

    fn traced() -> RequestTraces {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let mut traces = RequestTraces::default();
        traces.begin(3, TraceContext::of_header(header).expect("it is well-formed"), &row());
        traces
    }

    fn attempt(granted: u64) -> StageAttempt {
        let granted = Micros(granted);
        StageAttempt { stage: "score".into(), attempt: 1, worker: 1, granted, answer: None }
    }

    fn end() -> RequestEnd {
        let (at, verdict) = (Micros(50), "right".into());
        RequestEnd { at, kind: "scored", reward: Some(1.0), verdict, shared_from: None }
    }

    #[test]
    fn a_lease_that_was_taken_back_is_no_attempt() {
        let mut traces = traced();
        let first = traces.granted(3, || attempt(10)).expect("it is traced");
        traces.revoked(3, Micros(10));
        let second = traces.granted(3, || attempt(20)).expect("it is traced");
        assert_eq!(first, second, "the worker of the first one never began");
        let scored = StageEnd::TimedOut;
        traces
            .answered(3, Micros(20), || stage_answer(Micros(40), Micros(15), &scored, Vec::new()));
        // It has an answer, so that it was not taken back.
        traces.revoked(3, Micros(20));
        let trace = traces.end(3, end).expect("it is traced");
        assert_eq!(trace.attempts.len(), 1);
        assert_eq!(trace.attempts[0].granted, Micros(20));
    }

    #[test]
    fn other_requests_have_no_trace() {
        let mut traces = traced();
        assert_eq!(traces.granted(4, || attempt(10)), None);
        assert!(traces.end(4, end).is_none());
        assert!(traces.end(3, end).is_some() && traces.end(3, end).is_none());
    }

    #[test]
    fn what_a_worker_tells_is_bounded() {
        let call = |name: &str, after_us, took_us| proto::CapabilityCall {
            name: name.into(),
            after_us,
            took_us,
        };
        let calls = vec![
            call("exec.run", 10, 20),
            call("exec.run", 90, 50),
            call("a\nb", 1, 1),
            call(&"n".repeat(limits::CALL_NAME_BYTES_MAX + 1), 1, 1),
        ];
        let answer = stage_answer(Micros(200), Micros(100), &StageEnd::TimedOut, calls);
        let times: Vec<_> = answer.calls.iter().map(|it| (it.after.0, it.took.0)).collect();
        assert_eq!(times, [(10, 20), (90, 10)], "no call lasts longer than its stage");
        let many = (0..limits::TRACED_CALLS_MAX + 1).map(|_| call("exec.run", 1, 1)).collect();
        let answer = stage_answer(Micros(200), Micros(100), &StageEnd::TimedOut, many);
        assert_eq!(answer.calls.len(), limits::TRACED_CALLS_MAX);
    }
}

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
            plugin: format!("{}@{}", batch.plugin, batch.version),
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

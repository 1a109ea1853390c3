//! The reason why a batch ended after its ideal end: the waits of its last request.
//!
//! The ideal end is the paper's T. The batch ends with its last request, so the extra delay d is the sum
//! of that request's waits, plus its time between and after stages, minus the time from its own earliest
//! end to T.

use assay_api::history::ProfileStage;
use assay_api::view::{Lateness, RequestDelay, StageWait};
use assay_core::time::Micros;
use assay_store::views::timeline::KnownRequest;

/// Smaller waits are not reported.
const NOTABLE_MS: f64 = 1.0;

/// `last` is the request that ended last, `critical` the one that determines the ideal end.
pub(super) fn lateness(
    stages: &[ProfileStage],
    done: Micros,
    earliest_end: Micros,
    tolerance_ms: f64,
    (last, critical): (&KnownRequest, &KnownRequest),
) -> Lateness {
    let extra = done.since(earliest_end);
    let late = extra > Micros::from_ms_f64(tolerance_ms);
    let last = delay(stages, earliest_end, last);
    let critical = delay(stages, earliest_end, critical);
    let extra_delay_ms = extra.as_ms_f64();
    let reason = reason(extra_delay_ms, tolerance_ms, &last, &critical);
    Lateness { late, extra_delay_ms, reason, last, critical }
}

fn delay(stages: &[ProfileStage], earliest_end: Micros, request: &KnownRequest) -> RequestDelay {
    let waits: Vec<StageWait> = request
        .stages
        .iter()
        .map(|time| StageWait {
            stage: time.stage.clone(),
            pool: stages
                .iter()
                .find(|stage| stage.name == time.stage)
                .map(|stage| stage.pool.clone())
                .unwrap_or_default(),
            queued_ms: time.queued_ms,
            retries: time.attempts.saturating_sub(1),
        })
        .collect();
    let spent: f64 = request.stages.iter().map(|time| time.queued_ms + time.ran_ms).sum();
    let (took, slack) = request.ended.as_ref().map_or((spent, 0.0), |ended| {
        let took = ended.finished_at.since(request.arrived_at).as_ms_f64();
        (took, earliest_end.since(ended.earliest_end_at).as_ms_f64())
    });
    RequestDelay { seq: request.seq, slack_ms: slack, waits, rest_ms: (took - spent).max(0.0) }
}

fn reason(
    extra_ms: f64,
    tolerance_ms: f64,
    last: &RequestDelay,
    critical: &RequestDelay,
) -> String {
    let over_ms = extra_ms - tolerance_ms;
    let against = if over_ms > 0.0 {
        format!("{} more than the tolerance of {}", span(over_ms), span(tolerance_ms))
    } else {
        format!("within the tolerance of {}", span(tolerance_ms))
    };
    let end = format!("The batch ended {} after its ideal end, {against}.", span(extra_ms));
    if extra_ms < NOTABLE_MS {
        return end;
    }
    let which = if last.seq == critical.seq {
        format!("Request {}, which determines the ideal end, ended last", last.seq)
    } else {
        format!(
            "Request {} ended last, and could have ended {} before the ideal end",
            last.seq,
            span(last.slack_ms)
        )
    };
    let mut parts: Vec<String> = last.waits.iter().filter_map(waited).collect();
    if last.rest_ms >= NOTABLE_MS {
        parts.push(format!("{} passed between and after its stages", span(last.rest_ms)));
    }
    if parts.is_empty() {
        return format!("{end} {which}; it had no notable wait.");
    }
    format!("{end} {which}: {}.", parts.join(", "))
}

fn waited(wait: &StageWait) -> Option<String> {
    if wait.queued_ms < NOTABLE_MS {
        return None;
    }
    let tries = match wait.retries {
        0 => String::new(),
        1 => " over 2 tries".to_owned(),
        more => format!(" over {} tries", more + 1),
    };
    let StageWait { stage, pool, queued_ms, .. } = wait;
    Some(format!("it waited {} for a {pool} worker at `{stage}`{tries}", span(*queued_ms)))
}

fn span(ms: f64) -> String {
    if ms >= 1_000.0 { format!("{:.1} s", ms / 1e3) } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{request, stages};
    use super::*;

    #[test]
    fn the_last_requests_waits_are_the_reason() {
        // It could have ended at 140 ms, 60 ms before T, and ended at 3,250 ms.
        let last = request(7, 100, &[(10.0, 20.0), (3_090.0, 20.0)], Some(3_250));
        let critical = request(2, 0, &[(0.0, 50.0), (0.0, 150.0)], Some(200));
        let (done, t) = (Micros::from_ms(4_250), Micros::from_ms(1_200));
        let why = lateness(&stages(), done, t, 1_000.0, (&last, &critical));
        assert!(why.late);
        assert_eq!(why.extra_delay_ms, 3_050.0);
        let waits: f64 = why.last.waits.iter().map(|wait| wait.queued_ms).sum();
        assert_eq!(waits + why.last.rest_ms - why.last.slack_ms, why.extra_delay_ms);
        assert_eq!(
            why.reason,
            "The batch ended 3.0 s after its ideal end, 2.0 s more than the tolerance of 1.0 s. \
             Request 7 ended last, and could have ended 60 ms before the ideal end: it waited 10 ms \
             for a cpu worker at `compile`, it waited 3.1 s for a gpu worker at `execute`, 10 ms \
             passed between and after its stages."
        );
    }

    #[test]
    fn a_batch_in_time_has_little_to_say() {
        let only = request(0, 0, &[(0.0, 50.0), (0.5, 49.5)], Some(100));
        let (done, t) = (Micros::from_ms(1_100), Micros(1_099_500));
        let why = lateness(&stages(), done, t, 2_000.0, (&only, &only));
        assert!(!why.late);
        assert_eq!(
            why.reason,
            "The batch ended 0 ms after its ideal end, within the tolerance of 2.0 s."
        );
        let done = Micros::from_ms(1_150);
        let why = lateness(&stages(), done, t, 100.0, (&only, &only));
        assert_eq!(
            why.reason,
            "The batch ended 50 ms after its ideal end, within the tolerance of 100 ms. Request 0, \
             which determines the ideal end, ended last; it had no notable wait."
        );
    }
}

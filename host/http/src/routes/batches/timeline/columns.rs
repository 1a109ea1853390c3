//! A batch's requests as the columns of its timeline.

use std::collections::HashMap;

use assay_api::batch::Batch;
use assay_api::history::ProfileStage;
use assay_api::result::StageTime;
use assay_api::view::{GroupColumns, RequestColumns, StageColumns, Timeline};
use assay_core::time::Micros;
use assay_store::views::timeline::{KnownRequest, KnownRequests, RequestEnd};

use super::lateness::lateness;

/// `default_ms` is the platform's tolerance; `now` is used for live batches.
pub(super) fn timeline(
    batch: Batch,
    known: KnownRequests,
    default_ms: f64,
    now: Micros,
) -> Timeline {
    let KnownRequests { stages, requests, thinned, extremes, tolerance_ms, rollup } = known;
    let tolerance_ms = tolerance_ms.map_or(default_ms, f64::from);
    let first = batch.first_request_at.unwrap_or(batch.announced_at);
    let since = |at: Option<Micros>| at.map(|at| ms(first, at));
    let ended = requests.iter().find(|request| Some(request.seq) == extremes.last_seq);
    let critical = requests.iter().find(|request| Some(request.seq) == extremes.critical_seq);
    let earliest_end_ms = since(extremes.earliest_end_at);
    let lateness = match (&batch.done_at, extremes.earliest_end_at, ended, critical) {
        (Some(done), Some(earliest_end), Some(last), Some(critical)) => {
            Some(lateness(&stages, *done, earliest_end, tolerance_ms, (last, critical)))
        }
        _ => None,
    };
    let mut groups = Groups::default();
    let mut columns = RequestColumns {
        stages: vec![StageColumns::default(); stages.len()],
        ..RequestColumns::default()
    };
    for request in &requests {
        let group = request.group.as_deref().map(|name| groups.add(name, first, request));
        push(&mut columns, &stages, first, request, group);
    }
    Timeline {
        total: batch.counts.submitted,
        thinned,
        first_arrival_at: batch.first_request_at,
        as_of_ms: ms(first, batch.done_at.unwrap_or(now)),
        stages,
        earliest_end_ms,
        max_extra_delay_ms: batch.max_extra_delay_ms,
        tolerance_ms,
        tolerated_end_ms: earliest_end_ms.map(|t| t + tolerance_ms),
        estimated_end_ms: since(batch.estimated_done_at),
        ended_ms: since(batch.done_at),
        critical_seq: extremes.critical_seq,
        last_seq: extremes.last_seq,
        requests: columns,
        groups: groups.columns,
        lateness,
        rollup,
        batch,
    }
}

/// Milliseconds since the first request; earlier times become zero.
fn ms(first: Micros, at: Micros) -> f64 {
    at.since(first).as_ms_f64()
}

fn push(
    columns: &mut RequestColumns,
    stages: &[ProfileStage],
    first: Micros,
    request: &KnownRequest,
    group: Option<u32>,
) {
    let ended: Option<&RequestEnd> = request.ended.as_ref();
    columns.seq.push(request.seq);
    columns.key.push(request.key.clone());
    columns.group.push(group);
    columns.kind.push(ended.map(|ended| ended.kind.clone()));
    columns.verdict.push(ended.map(|ended| ended.verdict.clone()));
    columns.reward.push(ended.and_then(|ended| ended.reward));
    let arrived_ms = ms(first, request.arrived_at);
    columns.arrived_ms.push(arrived_ms);
    columns.finished_ms.push(ended.map(|ended| ms(first, ended.finished_at)));
    let mut ready_ms = arrived_ms;
    for (place, (stage, column)) in stages.iter().zip(&mut columns.stages).enumerate() {
        let time = time_of(&request.stages, stage, place);
        let waits = ended.is_none() && place == request.stages.len();
        let started_ms = time.map(|time| ready_ms + time.queued_ms);
        let ended_ms = started_ms.zip(time).map(|(started, time)| started + time.ran_ms);
        column.queued_ms.push((time.is_some() || waits).then_some(ready_ms));
        column.started_ms.push(started_ms);
        column.ended_ms.push(ended_ms);
        column.attempts.push(time.map(|time| time.attempts));
        ready_ms = ended_ms.unwrap_or(ready_ms);
    }
}

/// Stages run in order; a stage that is not at its index is searched by name.
fn time_of<'a>(
    times: &'a [StageTime],
    stage: &ProfileStage,
    place: usize,
) -> Option<&'a StageTime> {
    let at_place = times.get(place).filter(|time| time.stage == stage.name);
    at_place.or_else(|| times.iter().find(|time| time.stage == stage.name))
}

/// Groups in the order of arrival.
#[derive(Default)]
struct Groups {
    places: HashMap<String, u32>,
    columns: GroupColumns,
}

impl Groups {
    fn add(&mut self, name: &str, first: Micros, request: &KnownRequest) -> u32 {
        let columns = &mut self.columns;
        let place = *self.places.entry(name.to_owned()).or_insert_with(|| {
            columns.name.push(name.to_owned());
            columns.requests.push(0);
            columns.finished.push(0);
            columns.completed_ms.push(None);
            u32::try_from(columns.name.len() - 1).expect("fewer than requests")
        });
        let at = place as usize;
        // A group is complete when each of its requests has ended.
        let complete = columns.requests[at] == columns.finished[at];
        columns.requests[at] += 1;
        match &request.ended {
            Some(ended) => {
                columns.finished[at] += 1;
                let before = columns.completed_ms[at].unwrap_or(0.0);
                columns.completed_ms[at] =
                    complete.then(|| before.max(ms(first, ended.finished_at)));
            }
            None => columns.completed_ms[at] = None,
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use assay_api::batch::{BatchState, Consumes};
    use assay_api::result::Counts;
    use assay_core::id::{BatchId, Digest};

    use super::super::tests::{request, stages};
    use super::*;
    use assay_store::views::timeline::Extremes;

    fn batch(state: BatchState, done_at: Option<Micros>) -> Batch {
        Batch {
            id: BatchId::generate(),
            state,
            plugin: "cuda@1.0.0".into(),
            plugin_digest: Digest([0; 32]),
            run: "run".into(),
            iteration: 1,
            expected_size: None,
            group_size: None,
            max_extra_delay_ms: Some(2),
            consumes: Consumes::Batch,
            outstanding: None,
            counts: Counts { submitted: 3, scored: 2, timed_out: 0, error: 0, shared: 0 },
            mean_reward: None,
            announced_at: Micros::ZERO,
            first_request_at: Some(Micros::from_ms(1_000)),
            sealed_at: None,
            done_at,
            estimated_done_at: None,
            extra_delay_ms: None,
            expired_at: None,
        }
    }

    #[test]
    fn a_live_batch_is_drawn_as_far_as_it_is_known() {
        let requests = vec![
            request(0, 0, &[(5.0, 10.0), (20.0, 30.0)], Some(66)),
            request(1, 4, &[(1.0, 2.0)], None),
            request(2, 8, &[], None),
        ];
        let extremes = Extremes {
            critical_seq: Some(0),
            earliest_end_at: Some(Micros::from_ms(1_040)),
            last_seq: Some(0),
        };
        let known = KnownRequests {
            stages: stages(),
            requests,
            thinned: false,
            extremes,
            tolerance_ms: Some(2),
            rollup: None,
        };
        let batch = batch(BatchState::Open, None);
        let drawn = timeline(batch, known, 9_000.0, Micros::from_ms(1_100));
        assert_eq!((drawn.total, drawn.thinned, drawn.as_of_ms), (3, false, 100.0));
        assert_eq!((drawn.earliest_end_ms, drawn.tolerated_end_ms), (Some(40.0), Some(42.0)));
        assert_eq!((drawn.ended_ms, drawn.lateness.is_some()), (None, false));
        let columns = &drawn.requests;
        assert_eq!(columns.arrived_ms, [0.0, 4.0, 8.0]);
        assert_eq!(columns.finished_ms, [Some(66.0), None, None]);
        let [one, two] = &columns.stages[..] else { panic!("two stages") };
        assert_eq!(one.queued_ms, [Some(0.0), Some(4.0), Some(8.0)]);
        assert_eq!(one.started_ms, [Some(5.0), Some(5.0), None]);
        assert_eq!(one.ended_ms, [Some(15.0), Some(7.0), None]);
        assert_eq!(two.queued_ms, [Some(15.0), Some(7.0), None]);
        assert_eq!(two.started_ms, [Some(35.0), None, None]);
        assert_eq!(two.ended_ms, [Some(65.0), None, None]);
        // All three are of one group, of which one has ended.
        assert_eq!((drawn.groups.requests[0], drawn.groups.finished[0]), (3, 1));
        assert_eq!(drawn.groups.completed_ms, [None]);
    }

    #[test]
    fn a_batch_that_names_no_tolerance_has_the_platforms() {
        let extremes =
            Extremes { earliest_end_at: Some(Micros::from_ms(1_040)), ..Extremes::default() };
        let known = KnownRequests {
            stages: stages(),
            requests: Vec::new(),
            thinned: false,
            extremes,
            tolerance_ms: None,
            rollup: None,
        };
        let drawn = timeline(batch(BatchState::Open, None), known, 500.0, Micros::from_ms(1_100));
        assert_eq!((drawn.tolerance_ms, drawn.tolerated_end_ms), (500.0, Some(540.0)));
    }

    #[test]
    fn a_group_is_complete_with_its_last_request() {
        let requests =
            vec![request(0, 0, &[(0.0, 1.0)], Some(9)), request(1, 0, &[(0.0, 1.0)], Some(7))];
        let extremes = Extremes {
            critical_seq: Some(1),
            earliest_end_at: Some(Micros::from_ms(1_001)),
            last_seq: Some(0),
        };
        let known = KnownRequests {
            stages: stages(),
            requests,
            thinned: false,
            extremes,
            tolerance_ms: Some(2),
            rollup: None,
        };
        let batch = batch(BatchState::Done, Some(Micros::from_ms(1_009)));
        let drawn = timeline(batch, known, 9_000.0, Micros::from_ms(5_000));
        assert_eq!(drawn.as_of_ms, 9.0);
        assert_eq!(drawn.groups.completed_ms, [Some(9.0)]);
        assert_eq!(drawn.requests.stages[1].queued_ms, [None, None]);
        let lateness = drawn.lateness.expect("it has ended");
        assert_eq!((lateness.late, lateness.extra_delay_ms), (true, 8.0));
        assert_eq!((lateness.last.seq, lateness.critical.seq), (0, 1));
    }
}

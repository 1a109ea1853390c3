//! What must hold once everything has ended.

use assay_api::batch::BatchState;
use assay_api::result::ResultItem;
use assay_core::id::TenantId;
use assay_core::limits;
use uuid::Uuid;

use crate::database::Rows;
use crate::truth::Truth;
use crate::world::{World, pause};

/// Waits until every batch has ended and nothing is held any more.
pub async fn nothing_is_left(world: &World) {
    loop {
        let live = world.server().await;
        let ended = world.rows().batches.values().all(|batch| batch.end.is_some());
        let free = live.dispatch.budget.free_bytes() == limits::LIVE_BYTES_MAX;
        if ended && free {
            for tenant in [1, 2] {
                let tenant = TenantId(Uuid::from_u128(tenant));
                let Ok(used) = live.dispatch.tenant_use(tenant).await else { continue };
                let open = used.open_batches;
                world.check(open == 0, || format!("{open} batches are still counted as open"));
            }
            return;
        }
        world.say(|| format!("ended: {ended}, free: {free}"));
        pause(10_000_000).await;
    }
}

/// Every request that is durable has one answer, and it is the right one.
pub fn rows_hold_together(world: &World) {
    let rows = world.rows();
    for (id, batch) in &rows.batches {
        let end = batch.end.as_ref().expect("it was waited for");
        let is_cancelled = end.state == BatchState::Cancelled;
        world.check(end.state != BatchState::Expired, || format!("{id} expired"));
        let requests = rows.requests.range((*id, 0)..=(*id, u32::MAX));
        let mut counts = (0, 0, 0, 0);
        let mut reward_sum = 0.0;
        for ((_, seq), request) in requests {
            let Some(outcome) = rows.outcomes.get(&(*id, *seq)) else {
                // It was committed after the batch was cancelled, and its trainer was told.
                let may = is_cancelled && !rows.acknowledged.contains(&(*id, *seq));
                world.check(may, || format!("{id}.{seq} has no answer, {:?}", end.state));
                continue;
            };
            counts.0 += 1;
            match outcome.kind {
                "scored" => counts.1 += 1,
                "timed_out" => counts.2 += 1,
                _ => counts.3 += 1,
            }
            reward_sum += outcome.reward.unwrap_or(0.0);
            let item: ResultItem = serde_json::from_slice(&outcome.result).expect("a result");
            let says = (item.key.as_str(), item.id.seq, item.cursor, item.outcome.kind());
            let is = (request.row.key.as_str(), *seq, outcome.position, outcome.kind);
            world.check(says == is, || format!("{id}.{seq}: its result is {says:?}, not {is:?}"));
            let rewards = (item.outcome.reward(), outcome.reward);
            world.check(rewards.0 == rewards.1, || format!("{id}.{seq}: {rewards:?}"));
            if let Err(wrong) = Truth::of(&request.row.body).check(&item.outcome, is_cancelled) {
                world.fail(format!("{id}.{seq} of a batch that is {:?}: {wrong}", end.state));
            }
            if let Some(from) = item.shared_from {
                check_shared(world, &rows, &item, from.batch, from.seq);
            }
        }
        let said =
            (end.counts.submitted, end.counts.scored, end.counts.timed_out, end.counts.error);
        world.check(said == counts, || format!("{id} says {said:?} and has {counts:?}"));
        let differs = (end.reward_sum - reward_sum).abs() > 1e-6;
        world.check(!differs, || format!("{id} says {} and has {reward_sum}", end.reward_sum));
        let positions = rows.results(*id).into_iter().map(|it| it.position);
        let are_all = positions.eq(1..=counts.0);
        world.check(are_all, || format!("the positions of {id} have gaps"));
        let is_open = counts.0 == 0 || batch.first_request_at.is_some();
        world.check(is_open, || format!("{id} has requests and no time of the first one"));
    }
}

/// A shared outcome is that of an equal request.
fn check_shared(
    world: &World,
    rows: &Rows,
    item: &ResultItem,
    batch: assay_core::id::BatchId,
    seq: u32,
) {
    let body = |batch, seq| rows.requests.get(&(batch, seq)).map(|request| &request.row.body);
    let is_equal =
        body(batch, seq).is_some() && body(batch, seq) == body(item.id.batch, item.id.seq);
    world.check(is_equal, || format!("{} shares what is not equal: {batch}.{seq}", item.id));
}

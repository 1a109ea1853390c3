//! Tenants beside each other: weights, bounds, and what they leave alone.

use super::script::{Player, check};

#[test]
fn workers_are_divided_by_weight() {
    check(
        "
        0ms entitlement 2 weight=3
        0ms announce A tenant=1 stages=cpu:100s
        0ms announce B tenant=2 stages=cpu:100s
        0ms submit A 0 1 2 3 4 5
          -> estimate A 1000ms
        1ms submit B 0 1 2 3 4 5
          -> estimate B 1001ms
        2ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        2ms join w2 cpu
          -> grant w2 L2 B.0 stage 0 try 1
        2ms join w3 cpu
          -> grant w3 L3 B.1 stage 0 try 1
        2ms join w4 cpu
          -> grant w4 L4 B.2 stage 0 try 1
        2ms join w5 cpu
          -> grant w5 L5 A.1 stage 0 try 1
        3ms finish w2 scored 1ms
          -> finish B.0 scored t=2ms [0: queued 1ms ran 1ms tries 1]
          -> estimate B 2ms
          -> estimate A 1ms
          -> grant w2 L6 B.3 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> grant w1 L7 A.2 stage 0 try 1
        ",
    );
}

#[test]
fn a_flood_holds_up_no_other_tenant() {
    check(
        "
        0ms announce A tenant=1 stages=cpu:100s
        0ms submit A 0 1 2 3 4 5 6 7
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
          -> grant w2 L2 A.1 stage 0 try 1
        10s announce B tenant=2 stages=cpu:100s
        10s submit B 0 1
          -> estimate B 11000ms
        11s finish w1 scored 11s
          -> finish A.0 scored t=11000ms [0: queued 0ms ran 11000ms tries 1]
          -> estimate A 11000ms
          -> estimate B 21000ms
          -> grant w1 L3 B.0 stage 0 try 1
        12s finish w2 scored 12s
          -> finish A.1 scored t=12000ms [0: queued 0ms ran 12000ms tries 1]
          -> estimate A 12000ms
          -> grant w2 L4 A.2 stage 0 try 1
        13s finish w1 scored 2s
          -> finish B.0 scored t=12000ms [0: queued 1000ms ran 2000ms tries 1]
          -> estimate B 19984.375ms
          -> grant w1 L5 B.1 stage 0 try 1
        14s finish w1 scored 1s
          -> finish B.1 scored t=11000ms [0: queued 3000ms ran 1000ms tries 1]
          -> estimate B 12000ms
          -> grant w1 L6 A.3 stage 0 try 1
        ",
    );
}

#[test]
fn more_tenants_than_workers_take_turns() {
    check(
        "
        0ms announce A tenant=1 stages=cpu:100s
        0ms submit A 0 1 2 3
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        1s announce B tenant=2 stages=cpu:100s
        1s submit B 0 1
          -> estimate B 2000ms
        2s announce C tenant=3 stages=cpu:100s
        2s submit C 0 1
          -> estimate C 3000ms
        5s finish w1 scored 5s
          -> finish A.0 scored t=5000ms [0: queued 0ms ran 5000ms tries 1]
          -> estimate A 5000ms
          -> estimate B 6000ms
          -> grant w1 L2 B.0 stage 0 try 1
        10s finish w1 scored 5s
          -> finish B.0 scored t=6000ms [0: queued 4000ms ran 5000ms tries 1]
          -> estimate C 7000ms
          -> grant w1 L3 C.0 stage 0 try 1
        15s finish w1 scored 5s
          -> finish C.0 scored t=7000ms [0: queued 8000ms ran 5000ms tries 1]
          -> grant w1 L4 A.1 stage 0 try 1
        20s finish w1 scored 5s
          -> finish A.1 scored t=5000ms [0: queued 15000ms ran 5000ms tries 1]
          -> grant w1 L5 B.1 stage 0 try 1
        ",
    );
}

#[test]
fn a_tenant_at_its_bound_gets_no_more_until_one_ends() {
    check(
        "
        0ms entitlement 1 cpu=2
        0ms announce A tenant=1 stages=cpu:100s
        0ms submit A 0 1 2 3 4
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
          -> grant w2 L2 A.1 stage 0 try 1
        0ms join w3 cpu
        1s finish w2 scored 1s
          -> finish A.1 scored t=1000ms [0: queued 0ms ran 1000ms tries 1]
          -> grant w2 L3 A.2 stage 0 try 1
        2s entitlement 1 cpu=1
        3s finish w1 scored 3s
          -> finish A.0 scored t=3000ms [0: queued 0ms ran 3000ms tries 1]
          -> estimate A 3000ms
        4s entitlement 1
          -> grant w1 L4 A.3 stage 0 try 1
          -> grant w3 L5 A.4 stage 0 try 1
        ",
    );
}

#[test]
fn a_lower_bound_takes_nothing_away() {
    check(
        "
        0ms announce A tenant=1 stages=cpu:100s
        0ms submit A 0 1 2 3
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
          -> grant w2 L2 A.1 stage 0 try 1
        1s entitlement 1 cpu=0
        2s finish w1 scored 2s
          -> finish A.0 scored t=2000ms [0: queued 0ms ran 2000ms tries 1]
          -> estimate A 2000ms
        3s finish w2 scored 3s
          -> finish A.1 scored t=3000ms [0: queued 0ms ran 3000ms tries 1]
          -> estimate A 3000ms
        4s tick
        5s entitlement 1 weight=2 cpu=1
          -> grant w1 L3 A.2 stage 0 try 1
        ",
    );
}

/// A worker that prefetches would come free only with the end of the queue.
#[test]
fn a_lower_bound_ends_prefetching() {
    check(
        "
        0ms announce A tenant=1 stages=cpu:1s
        0ms join w1 cpu leases=2
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 100us
          -> finish A.0 scored t=0.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> estimate A 0.1ms
        2ms submit A 1 2 3 4 5
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
        3ms entitlement 1 cpu=0
        4ms finish w1 scored 100us
          -> finish A.1 scored t=2.1ms [0: queued 0ms ran 0.1ms tries 1]
        5ms finish w1 scored 100us
          -> finish A.2 scored t=2.1ms [0: queued 0ms ran 0.1ms tries 1]
        6ms entitlement 1 cpu=1
          -> grant w1 L4 A.3 stage 0 try 1
          -> grant w1 L5 A.4 stage 0 try 1
        ",
    );
}

#[test]
fn what_a_cancelled_batch_runs_counts_until_it_ends() {
    check(
        "
        0ms entitlement 1 cpu=1
        0ms announce A tenant=1 stages=cpu:100s
        0ms announce B tenant=1 stages=cpu:100s
        0ms submit A 0
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
        1ms submit B 0
          -> estimate B 1001ms
        2ms cancel A
          -> finish A.0 cancelled tries 0 t=0ms
          -> batch A cancelled T=none ended=2ms
        3ms answer w1 L1 scored 3ms
          -> grant w1 L2 B.0 stage 0 try 1
        ",
    );
}

/// A worker prefetches leases of the tenant that it serves alone, and only where it would come back to that tenant.
#[test]
fn a_hand_is_filled_up_for_one_tenant() {
    check(
        "
        0ms announce A tenant=1 stages=cpu:1s plugin=1
        0ms announce B tenant=2 stages=cpu:1s plugin=2
        0ms submit A 0
          -> estimate A 1000ms
        0ms submit B 0
          -> estimate B 1000ms
        0ms join w1 cpu leases=3
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 100us
          -> finish A.0 scored t=0.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> estimate A 0.1ms
          -> grant w1 L2 B.0 stage 0 try 1
        2ms finish w1 scored 100us
          -> finish B.0 scored t=0.1ms [0: queued 1ms ran 0.1ms tries 1]
          -> estimate B 0.1ms
        3ms submit A 1 2 3 4 5 6 7
          -> grant w1 L3 A.1 stage 0 try 1
          -> grant w1 L4 A.2 stage 0 try 1
          -> grant w1 L5 A.3 stage 0 try 1
        4ms submit B 1 2 3 4 5
        4ms join w2 cpu leases=3
          -> grant w2 L6 B.1 stage 0 try 1
          -> grant w2 L7 B.2 stage 0 try 1
          -> grant w2 L8 B.3 stage 0 try 1
        5ms finish w1 scored 100us
          -> finish A.1 scored t=3.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> grant w1 L9 A.4 stage 0 try 1
        5ms finish w1 scored 100us
          -> finish A.2 scored t=3.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> grant w1 L10 A.5 stage 0 try 1
        5ms finish w2 scored 100us
          -> finish B.1 scored t=4.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> grant w2 L11 B.4 stage 0 try 1
        6ms finish w1 scored 100us
          -> finish A.3 scored t=3.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> grant w1 L12 A.6 stage 0 try 1
        ",
    );
}

/// With one worker for two tenants the one whose batch ends first is served: the worker
/// runs its leases to the end, then it changes over.
#[test]
fn a_worker_that_prefetches_changes_over_after_a_turn() {
    check(
        "
        0ms announce A tenant=1 stages=cpu:1s plugin=1
        0ms join w1 cpu leases=2
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 100us
          -> finish A.0 scored t=0.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> estimate A 0.1ms
        2ms submit A 1 2 3 4
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
        3ms announce B tenant=2 stages=cpu:1s plugin=1
        3ms submit B 0 arrived=0ms
          -> estimate B 0.1ms
        4ms finish w1 scored 100us
          -> finish A.1 scored t=2.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> grant w1 L4 A.3 stage 0 try 1
        60ms finish w1 scored 100us
          -> finish A.2 scored t=2.1ms [0: queued 0ms ran 0.1ms tries 1]
        61ms finish w1 scored 100us
          -> finish A.3 scored t=2.1ms [0: queued 2ms ran 0.1ms tries 1]
          -> grant w1 L5 B.0 stage 0 try 1
        62ms finish w1 scored 100us
          -> finish B.0 scored t=0.1ms [0: queued 61ms ran 0.1ms tries 1]
          -> grant w1 L6 A.4 stage 0 try 1
        ",
    );
}

#[test]
fn what_nobody_may_run_starts_no_workers() {
    check(
        "
        0ms entitlement 1 cpu=2
        0ms announce A tenant=1 stages=cpu:100s
        0ms plan cpu hold=0 ceiling=10
        0ms submit A 0 1 2 3 4
          -> estimate A 1000ms
          -> start cpu 2
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
          -> grant w2 L2 A.1 stage 0 try 1
        1ms entitlement 1 cpu=4
          -> start cpu 2
        2ms entitlement 1 cpu=1
          -> cancel starts cpu 2
        1s finish w1 scored 1s
          -> finish A.0 scored t=1000ms [0: queued 0ms ran 1000ms tries 1]
          -> stop w1
        2s finish w2 scored 2s
          -> finish A.1 scored t=2000ms [0: queued 0ms ran 2000ms tries 1]
          -> estimate A 2000ms
          -> grant w2 L3 A.2 stage 0 try 1
        ",
    );
}

#[test]
fn a_bound_calls_for_a_plan_of_what_is_live_and_a_weight_does_not() {
    check(
        "
        config plans=shown
        0ms entitlement 1 cpu=1
        0ms announce A tenant=1
          -> plan anew
        0ms entitlement 1 weight=2 cpu=1
        1ms entitlement 1 weight=2 cpu=2
          -> plan anew
        2ms entitlement 1 weight=3 cpu=2
        3ms entitlement 1
          -> plan anew
        ",
    );
}

#[test]
fn a_share_outlives_its_pool() {
    check(
        "
        0ms entitlement 1 cpu=1
        0ms join w1 cpu
        1ms lose w1
        2ms announce A tenant=1 stages=cpu:100s
        2ms submit A 0 1
          -> estimate A 1002ms
        3ms join w2 cpu
          -> grant w2 L1 A.0 stage 0 try 1
        3ms join w3 cpu
        ",
    );
}

/// What the planner is told of each pool's bound.
#[test]
fn the_planner_sees_a_bound_where_all_who_need_a_pool_have_one() {
    let mut player = Player::default();
    let seen = |player: &mut Player, lines: &[&str]| {
        lines.iter().for_each(|line| drop(player.play(line)));
        let pools = player.sched().view().pools;
        let max = |pool: &str| pools.get(pool).and_then(|pool| pool.workers_max);
        (max("cpu"), max("gpu"))
    };
    let mut then = |lines: &[&str]| seen(&mut player, lines);
    let two_stages = "0ms announce A tenant=1 stages=cpu:9s,gpu:9s";
    assert_eq!(then(&["0ms entitlement 1 cpu=3 gpu=1", "0ms entitlement 2 cpu=2"]), (None, None));
    assert_eq!(then(&[two_stages]), (Some(3), Some(1)));
    assert_eq!(then(&["0ms announce B tenant=2 stages=cpu:9s"]), (Some(5), Some(1)));
    assert_eq!(then(&["0ms announce C tenant=3 stages=gpu:9s"]), (Some(5), None));
    assert_eq!(then(&["0ms cancel C", "0ms join w1 cpu", "0ms join w2 cpu"]), (Some(5), Some(1)));
    // Who has more than it may now keeps it until it is done, even of a batch that is gone.
    assert_eq!(then(&["1ms submit B 0 1", "1ms entitlement 2 cpu=1"]), (Some(5), Some(1)));
    assert_eq!(then(&["2ms cancel B"]), (Some(5), Some(1)));
    assert_eq!(then(&["3ms answer w1 L1 scored 1ms"]), (Some(4), Some(1)));
    assert_eq!(then(&["3ms answer w2 L2 scored 1ms"]), (Some(3), Some(1)));
    assert_eq!(then(&["4ms entitlement 1"]), (None, None));
}

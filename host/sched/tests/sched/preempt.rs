//! Preemption: a tenant that waits for its first worker takes one from a tenant with several.

use super::script::check;

#[test]
fn long_work_of_one_tenant_gives_way_to_another() {
    check(
        "
        config preempt_after=500ms wakes=shown
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A tenant=1 stages=cpu:100s
          -> wake 3600000ms
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> wake 101000ms
        1s submit A 1 2
          -> estimate A 2000ms
          -> grant w2 L2 A.1 stage 0 try 1
        2s announce B tenant=2 stages=cpu:1s plugin=2
        2s submit B 0
          -> estimate B 3000ms
          -> wake 2500ms
        2500ms tick
          -> preempt w2
          -> start cpu 1
          -> wake 3000ms
        2700ms join w3 cpu
          -> grant w3 L3 B.0 stage 0 try 1
        2710ms finish w3 scored 10ms
          -> finish B.0 scored t=2010ms [0: queued 700ms ran 10ms tries 1]
          -> estimate B 2010ms
          -> grant w3 L4 A.1 stage 0 try 1
        60s finish w3 scored 57s
          -> finish A.1 scored t=58000ms [0: queued 1710ms ran 57000ms tries 1]
          -> estimate A 58000ms
          -> grant w3 L5 A.2 stage 0 try 1
        ",
    );
}

/// Its request is prefetched in the same step, not at whatever happens next.
#[test]
fn a_worker_that_stays_prefetches_what_a_preempted_one_held() {
    check(
        "
        config preempt_after=3ms
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        0ms join w1 cpu leases=2
        0ms announce A tenant=1 stages=cpu:2s
        0ms submit A 0 1 2 3
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
        1ms join w2 cpu leases=2
          -> grant w2 L4 A.3 stage 0 try 1
        2ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [0: queued 1ms ran 1ms tries 1]
        2ms announce B tenant=2 stages=cpu:1s plugin=2
        2ms submit B 0
          -> estimate B 1002ms
        5ms tick
          -> preempt w1
          -> grant w2 L5 A.2 stage 0 try 1
          -> start cpu 1
        ",
    );
}

/// A worker that comes free in time is what the tenant gets.
#[test]
fn nothing_is_taken_where_a_worker_comes_free() {
    check(
        "
        config preempt_after=500ms
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A tenant=1 stages=cpu:100s
        0ms submit A 0 1 2 3
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
        100ms announce B tenant=2 stages=cpu:1s plugin=2
        100ms submit B 0 1
          -> estimate B 1100ms
        500ms finish w1 scored 500ms
          -> finish A.0 scored t=500ms [0: queued 0ms ran 500ms tries 1]
          -> estimate A 500ms
          -> grant w1 L3 B.0 stage 0 try 1
        600ms tick
        1100ms tick
        ",
    );
}

/// With as many tenants as workers nobody has two, so everybody waits.
#[test]
fn the_last_worker_of_a_tenant_is_not_taken() {
    check(
        "
        config preempt_after=500ms
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A tenant=1 stages=cpu:100s
        0ms announce B tenant=2 stages=cpu:100s
        0ms announce C tenant=3 stages=cpu:100s
        0ms submit A 0 1
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
        0ms submit B 0 1
          -> estimate B 1000ms
        0ms submit C 0
          -> estimate C 1000ms
        500ms tick
          -> preempt w2
          -> start cpu 1
        600ms join w3 cpu
          -> grant w3 L3 B.0 stage 0 try 1
        1100ms tick
        2s tick
        ",
    );
}

/// A pool below its ceiling starts a worker instead, and nobody would replace a worker of a pool without a plan.
#[test]
fn only_a_pool_at_its_ceiling_preempts() {
    check(
        "
        config preempt_after=500ms
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A tenant=1 stages=cpu:100s
        0ms submit A 0 1
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
        0ms announce B tenant=2 stages=cpu:1s plugin=2
        0ms submit B 0
          -> estimate B 1000ms
        1s tick
        1s plan cpu hold=2 ceiling=3
          -> start cpu 1
        5s tick
        5s start-failed cpu
          -> start cpu 1
        6s tick
        6s plan cpu hold=2 ceiling=2
          -> preempt w2
        ",
    );
}

/// Nobody starts another one in its place: it comes again, or a different one does.
#[test]
fn one_worker_that_came_is_taken_until_another_comes() {
    check(
        "
        config preempt_after=500ms
        0ms plan cpu hold=0 ceiling=0
        0ms come w1 cpu
        0ms come w2 cpu
        0ms come w3 cpu
        0ms come w4 cpu
        0ms announce A tenant=1 stages=cpu:100s
        0ms submit A 0 1 2 3
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
          -> grant w3 L3 A.2 stage 0 try 1
          -> grant w4 L4 A.3 stage 0 try 1
        0ms announce B tenant=2 stages=cpu:100s plugin=2
        0ms submit B 0
          -> estimate B 1000ms
        500ms tick
          -> preempt w4
        1s tick
        30s tick
        30500ms tick
          -> preempt w3
        31s come w5 cpu
          -> grant w5 L5 B.0 stage 0 try 1
        32s announce C tenant=3 stages=cpu:100s plugin=3
        32s submit C 0
          -> estimate C 33000ms
        32500ms tick
          -> preempt w2
        ",
    );
}

/// Where nothing has room for another worker, those that are to be started may wait for hours.
#[test]
fn a_pool_whose_starts_have_no_place_preempts() {
    check(
        "
        config preempt_after=500ms
        0ms plan cpu hold=0 ceiling=4
        0ms announce A tenant=1 stages=cpu:100s
        0ms submit A 0 1 2 3
          -> estimate A 1000ms
          -> start cpu 4
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
          -> grant w2 L2 A.1 stage 0 try 1
        1ms join w3 cpu
          -> grant w3 L3 A.2 stage 0 try 1
        1ms announce B tenant=2 stages=cpu:100s plugin=2
        1ms submit B 0
          -> estimate B 1001ms
        600ms tick
        600ms unplaced cpu 1
          -> preempt w3
          -> start cpu 1
        1200ms tick
        5s unplaced cpu 1
        6s join w4 cpu
          -> grant w4 L4 B.0 stage 0 try 1
        7s announce C tenant=3 stages=cpu:100s plugin=3
        7s submit C 0
          -> estimate C 8000ms
        7500ms tick
          -> preempt w2
          -> start cpu 1
        8s tick
        60s tick
        ",
    );
}

/// A worker that still runs a cancelled request is taken first, even if another began its stage later.
#[test]
fn what_nobody_waits_for_goes_first() {
    check(
        "
        config preempt_after=500ms
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A tenant=1 stages=cpu:100s
        0ms announce B tenant=1 stages=cpu:100s
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1s submit B 0
          -> estimate B 2000ms
          -> grant w2 L2 B.0 stage 0 try 1
        2s cancel A
          -> finish A.0 cancelled tries 0 t=0ms
          -> batch A cancelled T=none ended=2000ms
        2s announce C tenant=2 stages=cpu:1s plugin=2
        2s submit C 0
          -> estimate C 3000ms
        2500ms tick
          -> preempt w1
          -> start cpu 1
        ",
    );
}

/// A stage that lost its worker three times keeps the next one.
#[test]
fn a_stage_is_preempted_three_times_at_most() {
    check(
        "
        config preempt_after=500ms
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A tenant=1 stages=cpu:100s
        0ms announce B tenant=2 stages=cpu:1s plugin=2
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms submit A 1
          -> grant w2 L2 A.1 stage 0 try 1
        2ms submit B 0
          -> estimate B 1002ms
        600ms tick
          -> preempt w2
          -> start cpu 1
        600ms join w3 cpu
          -> grant w3 L3 B.0 stage 0 try 1
        610ms finish w3 scored 10ms
          -> finish B.0 scored t=12ms [0: queued 598ms ran 10ms tries 1]
          -> estimate B 12ms
          -> grant w3 L4 A.1 stage 0 try 1
        700ms submit B 1
          -> estimate B 710ms
        1200ms tick
          -> preempt w3
          -> start cpu 1
        1200ms join w4 cpu
          -> grant w4 L5 B.1 stage 0 try 1
        1210ms finish w4 scored 10ms
          -> finish B.1 scored t=710ms [0: queued 500ms ran 10ms tries 1]
          -> grant w4 L6 A.1 stage 0 try 1
        1300ms submit B 2
          -> estimate B 1310ms
        1800ms tick
          -> preempt w4
          -> start cpu 1
        1800ms join w5 cpu
          -> grant w5 L7 B.2 stage 0 try 1
        1810ms finish w5 scored 10ms
          -> finish B.2 scored t=1310ms [0: queued 500ms ran 10ms tries 1]
          -> grant w5 L8 A.1 stage 0 try 1
        1900ms submit B 3
          -> estimate B 1910ms
        2400ms tick
          -> preempt w1
          -> start cpu 1
        2400ms join w6 cpu
          -> grant w6 L9 B.3 stage 0 try 1
        ",
    );
}

#[test]
fn an_operator_can_do_without() {
    check(
        "
        config preempt_after=never wakes=shown
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A tenant=1 stages=cpu:100s
          -> wake 3600000ms
        0ms submit A 0 1
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
          -> wake 101000ms
        0ms announce B tenant=2 stages=cpu:100s plugin=2
        0ms submit B 0
          -> estimate B 1000ms
        1s tick
          -> wake 101000ms
        ",
    );
}

//! Elastic pools, as scripts: what is started, stopped and planned when.

use super::script::check;

#[test]
fn what_a_plan_holds_is_started_at_once() {
    check(
        "
        0ms plan cpu gpu hold=2 ceiling=5
          -> start cpu 2
          -> start gpu 2
        1ms plan cpu hold=3 ceiling=5
          -> start cpu 1
        2ms join w1 cpu
        3ms tick
        ",
    );
}

#[test]
fn demand_grows_to_the_ceiling_and_no_further() {
    check(
        "
        0ms plan cpu hold=1 ceiling=3
          -> start cpu 1
        0ms announce A
        1ms join w1 cpu
        2ms submit A 0
          -> estimate A 1002ms
          -> grant w1 L1 A.0 stage 0 try 1
        3ms submit A 1
          -> start cpu 1
        4ms submit A 2 3 4 5
          -> start cpu 1
        5ms join w2 cpu
          -> grant w2 L2 A.1 stage 0 try 1
        6ms join w3 cpu
          -> grant w3 L3 A.2 stage 0 try 1
        7ms submit A 6
        ",
    );
}

#[test]
fn a_failed_start_leads_to_another() {
    check(
        "
        0ms start-failed cpu
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        1ms start-failed cpu
          -> start cpu 1
        2ms join w1 cpu
        3ms join w2 cpu
        4ms start-failed cpu
        5ms start-failed gpu
        ",
    );
}

#[test]
fn a_cancelled_start_that_fails_all_the_same_leads_to_nothing() {
    check(
        "
        0ms plan cpu hold=0 ceiling=2
        0ms announce A
        0ms submit A 0
          -> estimate A 1000ms
          -> start cpu 1
        1ms cancel A
          -> finish A.0 cancelled tries 0 t=0ms
          -> batch A cancelled T=none ended=1ms
          -> cancel starts cpu 1
        1ms start-failed cpu
        ",
    );
}

/// Demand comes and goes faster than many a worker starts.
#[test]
fn starts_linger_as_idle_workers_do() {
    check(
        "
        0ms plan cpu hold=1 ceiling=3 linger=10ms
          -> start cpu 1
        1ms join w1 cpu
        2ms announce A
        2ms submit A 0 1
          -> estimate A 1002ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> start cpu 1
        3ms finish w1 scored 1ms
          -> finish A.0 scored t=3ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 3ms
          -> grant w1 L2 A.1 stage 0 try 1
        4ms submit A 2
        5ms finish w1 scored 1ms
          -> finish A.1 scored t=3ms [0: queued 1ms ran 1ms tries 1]
          -> grant w1 L3 A.2 stage 0 try 1
        6ms finish w1 scored 1ms
          -> finish A.2 scored t=5ms [0: queued 1ms ran 1ms tries 1]
        14ms tick
        15ms tick
          -> cancel starts cpu 1
        ",
    );
}

#[test]
fn a_lower_plan_cancels_starts_then_stops_the_idle_then_the_busy_when_they_are_done() {
    check(
        "
        0ms plan cpu hold=5 ceiling=5
          -> start cpu 5
        0ms announce A
        1ms join w1 cpu
        1ms join w2 cpu
        1ms join w3 cpu
        2ms submit A 0 1
          -> estimate A 1002ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
        3ms plan cpu hold=4 ceiling=4
          -> cancel starts cpu 1
        4ms plan cpu hold=2 ceiling=2
          -> stop w3
          -> cancel starts cpu 1
        5ms submit A 2 3
        6ms plan cpu hold=0 ceiling=1
        7ms finish w2 scored 5ms
          -> finish A.1 scored t=7ms [0: queued 0ms ran 5ms tries 1]
          -> estimate A 10ms
          -> stop w2
        8ms lose w2
        9ms lose w3
        10ms finish w1 scored 5ms
          -> finish A.0 scored t=7ms [0: queued 0ms ran 5ms tries 1]
          -> grant w1 L3 A.2 stage 0 try 1
        11ms finish w1 scored 1ms
          -> finish A.2 scored t=6ms [0: queued 5ms ran 1ms tries 1]
          -> grant w1 L4 A.3 stage 0 try 1
        12ms finish w1 scored 1ms
          -> finish A.3 scored t=6ms [0: queued 6ms ran 1ms tries 1]
          -> stop w1
        ",
    );
}

#[test]
fn above_the_ceiling_no_hand_is_filled_up() {
    check(
        "
        0ms announce A
        0ms join w1 cpu leases=2
        0ms join w2 cpu leases=2
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
        2ms submit A 1 2 3 4 5 6 7
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w2 L3 A.2 stage 0 try 1
          -> grant w1 L4 A.3 stage 0 try 1
          -> grant w2 L5 A.4 stage 0 try 1
        3ms plan cpu hold=0 ceiling=1
        4ms finish w1 scored 1ms
          -> finish A.1 scored t=3ms [0: queued 0ms ran 1ms tries 1]
        5ms finish w2 scored 1ms
          -> finish A.2 scored t=3ms [0: queued 0ms ran 1ms tries 1]
        6ms finish w2 scored 1ms
          -> finish A.4 scored t=3ms [0: queued 0ms ran 1ms tries 1]
          -> stop w2
          -> grant w1 L6 A.5 stage 0 try 1
        ",
    );
}

#[test]
fn a_ceiling_of_none_lets_requests_wait() {
    check(
        "
        0ms plan cpu hold=0 ceiling=0
        0ms announce A
        1ms submit A 0
          -> estimate A 1001ms
        2ms join w1 cpu
          -> stop w1
        3ms lose w1
        4ms plan cpu hold=0 ceiling=1
          -> start cpu 1
        5ms join w2 cpu
          -> grant w2 L1 A.0 stage 0 try 1
        ",
    );
}

#[test]
fn without_work_a_worker_lingers() {
    check(
        "
        config wakes=shown
        0ms join w1 cpu
        0ms join w2 cpu
        1ms plan cpu hold=0 ceiling=3 linger=10s
          -> wake 10000ms
        2ms announce A
        4s submit A 0
          -> estimate A 5000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> wake 6000ms
        5s finish w1 scored 1s
          -> finish A.0 scored t=5000ms [0: queued 0ms ran 1000ms tries 1]
        10s tick
          -> stop w2
          -> wake 15000ms
        11s lose w2
        12s seal A
          -> batch A done T=5000ms ended=5000ms
        14999ms tick
          -> wake 15000ms
        15s tick
          -> stop w1
        ",
    );
}

#[test]
fn work_ends_lingering() {
    check(
        "
        config wakes=shown
        0ms announce A stages=cpu:100s
          -> wake 3600000ms
        0ms plan cpu hold=0 ceiling=1 linger=10s
        0ms submit A 0
          -> estimate A 1000ms
          -> start cpu 1
        1s join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
          -> wake 102000ms
        2s finish w1 scored 1s
          -> finish A.0 scored t=1000ms [0: queued 1000ms ran 1000ms tries 1]
          -> wake 12000ms
        3s submit A 1
          -> estimate A 4000ms
          -> grant w1 L2 A.1 stage 0 try 1
        12s tick
          -> wake 104000ms
        13s finish w1 scored 10s
          -> finish A.1 scored t=13000ms [0: queued 0ms ran 10000ms tries 1]
          -> estimate A 13000ms
          -> wake 23000ms
        23s tick
          -> stop w1
          -> wake 3600000ms
        ",
    );
}

/// What a tick was asked for is done by an event before it: the tick is not the last one.
#[test]
fn a_tick_that_comes_after_its_cause_is_followed_by_the_next() {
    check(
        "
        config plans=shown wakes=shown
        0s join w1 cpu
        0s plan cpu hold=0 ceiling=1 linger=10s again=12s
          -> wake 10000ms
        10001ms lose w7
          -> stop w1
        10002ms tick
          -> wake 12000ms
        12s tick
          -> plan anew
        ",
    );
}

#[test]
fn a_plan_that_holds_more_keeps_who_lingers() {
    check(
        "
        config wakes=shown
        0ms join w1 cpu
        0ms plan cpu hold=0 ceiling=1 linger=10s
          -> wake 10000ms
        5s plan cpu hold=1 ceiling=1 linger=10s
        10s tick
        20s plan cpu hold=0 ceiling=1 linger=30s
          -> wake 30000ms
        29s plan cpu hold=0 ceiling=1 linger=1s
          -> stop w1
        ",
    );
}

#[test]
fn a_worker_stays_as_long_as_it_lingers_however_old_its_neighbours_are() {
    check(
        "
        config wakes=shown
        0s join w1 cpu
        0s join w2 cpu
        0s join w3 cpu
        0s plan cpu hold=1 ceiling=3 linger=10s
          -> wake 10000ms
        0s announce A stages=cpu:10s
        1s submit A 0 1 2
          -> estimate A 2000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
          -> grant w3 L3 A.2 stage 0 try 1
        4s finish w2 scored 3s
          -> finish A.1 scored t=4000ms [0: queued 0ms ran 3000ms tries 1]
          -> estimate A 4000ms
        6s finish w1 scored 5s
          -> finish A.0 scored t=6000ms [0: queued 0ms ran 5000ms tries 1]
          -> estimate A 6000ms
        9s finish w3 scored 8s
          -> finish A.2 scored t=9000ms [0: queued 0ms ran 8000ms tries 1]
          -> estimate A 9000ms
        14s tick
          -> stop w2
          -> wake 16000ms
        16s tick
          -> stop w1
          -> wake 3600000ms
        19s tick
          -> wake 3600000ms
        ",
    );
}

#[test]
fn a_pool_that_nobody_planned_is_left_alone() {
    check(
        "
        0ms plan gpu hold=0 ceiling=2
        0ms announce A stages=cpu:1s,gpu:1s
        1ms submit A 0 1 2
          -> estimate A 2001ms
        2ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        3ms lose w1
        4ms start-failed cpu
        ",
    );
}

#[test]
fn a_lost_worker_is_replaced() {
    check(
        "
        0ms plan cpu hold=1 ceiling=2
          -> start cpu 1
        0ms announce A stages=cpu:100ms
        1ms join w1 cpu
        2ms submit A 0
          -> estimate A 102ms
          -> grant w1 L1 A.0 stage 0 try 1
        3ms lose w1
          -> start cpu 1
        4ms join w2 cpu
          -> grant w2 L2 A.0 stage 0 try 2
        1104ms tick
          -> kill w2
          -> start cpu 1
        1105ms lose w2
        ",
    );
}

#[test]
fn a_worker_that_nobody_started_takes_the_place_of_one_that_starts() {
    check(
        "
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        1ms join w1 cpu
        2ms join w7 cpu
        3ms join w2 cpu
          -> stop w1
        4ms join w2 cpu
        ",
    );
}

#[test]
fn draining_workers_do_not_count() {
    check(
        "
        0ms plan cpu hold=2 ceiling=2
          -> start cpu 2
        0ms announce A
        1ms join w1 cpu
        1ms join w2 cpu
        2ms submit A 0
          -> estimate A 1002ms
          -> grant w1 L1 A.0 stage 0 try 1
        3ms drain w1
          -> start cpu 1
        4ms drain w2
          -> start cpu 1
        4ms drain w2
        5ms finish w1 scored 1ms
          -> finish A.0 scored t=3ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 3ms
        6ms join w3 cpu
        7ms lose w1
        8ms lose w2
        9ms join w4 cpu
        ",
    );
}

#[test]
fn stages_move_demand_from_pool_to_pool() {
    check(
        "
        0ms plan cpu gpu hold=0 ceiling=1
        0ms announce A stages=cpu:1s,gpu:1s size=1
        1ms submit A 0
          -> estimate A 2001ms
          -> start cpu 1
        2ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        3ms finish w1 next 1ms
          -> advance A.0 [0: queued 1ms ran 1ms tries 1]
          -> estimate A 1002ms
          -> stop w1
          -> start gpu 1
        4ms join w2 gpu
          -> grant w2 L2 A.0 stage 1 try 1
        5ms finish w2 scored 1ms
          -> finish A.0 scored t=3ms [0: queued 1ms ran 1ms tries 1] [1: queued 1ms ran 1ms tries 1]
          -> batch A done T=3ms ended=5ms
          -> stop w2
        ",
    );
}

#[test]
fn announcements_first_requests_and_ends_call_for_a_plan() {
    check(
        "
        config plans=shown
        0ms announce A
          -> plan anew
        1ms submit A
        2ms submit A 0
          -> estimate A 1002ms
          -> plan anew
        3ms submit A 1
        4ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        5ms finish w1 scored 1ms
          -> finish A.0 scored t=3ms [0: queued 2ms ran 1ms tries 1]
          -> estimate A 4ms
          -> grant w1 L2 A.1 stage 0 try 1
        6ms seal A
        7ms finish w1 scored 1ms
          -> finish A.1 scored t=4ms [0: queued 2ms ran 1ms tries 1]
          -> batch A done T=4ms ended=7ms
          -> plan anew
        8ms outdated
          -> plan anew
        9ms announce B
          -> plan anew
        10ms cancel B
          -> batch B cancelled T=none ended=10ms
          -> plan anew
        ",
    );
}

#[test]
fn plans_are_asked_for_again_when_the_last_one_said() {
    check(
        "
        config plans=shown wakes=shown
        0s plan cpu hold=0 ceiling=0 again=10s
          -> wake 10000ms
        10s tick
          -> plan anew
        10s plan cpu hold=0 ceiling=0 again=10s
          -> wake 20000ms
        15s outdated
          -> plan anew
        15s plan cpu hold=0 ceiling=0 again=20s
        20s tick
          -> wake 35000ms
        35s tick
          -> plan anew
        36s tick
        ",
    );
}

#[test]
fn between_two_plans_there_is_a_pause() {
    check(
        "
        config plans=shown wakes=shown plan_pause=1s
        0ms outdated
          -> plan anew
        100ms plan cpu hold=0 ceiling=0 again=10s
          -> wake 10100ms
        200ms outdated
          -> wake 1000ms
        300ms outdated
        999ms tick
          -> wake 1000ms
        1s tick
          -> plan anew
        1s plan cpu hold=0 ceiling=0 again=0s
          -> wake 1000ms
        1100ms tick
          -> wake 2000ms
        2s tick
          -> plan anew
        ",
    );
}

#[test]
fn a_worker_that_came_is_supply_and_is_never_stopped() {
    check(
        "
        config plans=shown
        0ms plan cpu hold=0 ceiling=0 linger=0ms
        1ms come w1 cpu
          -> plan anew
        2ms announce A
          -> plan anew
        3ms submit A 0
          -> estimate A 1003ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> plan anew
        4ms finish w1 scored 1ms
          -> finish A.0 scored t=4ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 4ms
        9s tick
        ",
    );
}

#[test]
fn demand_starts_those_that_did_not_come() {
    check(
        "
        0ms plan cpu hold=0 ceiling=3 linger=0ms
        1ms come w1 cpu
        2ms announce A
        3ms submit A 0 1
          -> estimate A 1003ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> start cpu 1
        4ms lose w1
          -> start cpu 1
        ",
    );
}

#[test]
fn above_the_ceiling_those_that_came_still_work() {
    check(
        "
        0ms plan cpu hold=1 ceiling=1
          -> start cpu 1
        1ms join w1 cpu
        2ms announce A
        3ms submit A 0
          -> estimate A 1003ms
          -> grant w1 L1 A.0 stage 0 try 1
        4ms plan cpu hold=0 ceiling=0
        5ms come w2 cpu
        6ms submit A 1 2
          -> grant w2 L2 A.1 stage 0 try 1
        7ms finish w1 scored 1ms
          -> finish A.0 scored t=4ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 7ms
          -> stop w1
        ",
    );
}

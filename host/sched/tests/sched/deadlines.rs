//! Deadlines of clients, and waiters with their primaries, as scripts.

use super::script::check;

#[test]
fn a_request_with_a_deadline_is_served_before_its_batch() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:500ms plugin=2
        0ms submit A 0
          -> estimate A 1000ms
        0ms submit A 1 deadline=300ms
        0ms submit B 0
          -> estimate B 500ms
        0ms submit A 2 deadline=200ms
        0ms join w1 cpu
          -> grant w1 L1 A.2 stage 0 try 1
        1ms finish w1 scored 600ms
          -> finish A.2 scored t=600ms [0: queued 0ms ran 600ms tries 1]
          -> estimate A 600ms
          -> grant w1 L2 A.1 stage 0 try 1
        2ms finish w1 scored 600ms
          -> finish A.1 scored t=600ms [0: queued 1ms ran 600ms tries 1]
          -> grant w1 L3 B.0 stage 0 try 1
        ",
    );
}

#[test]
fn a_deadline_that_has_passed_delays_nothing() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:500ms
        0ms submit A 0 deadline=200ms
          -> estimate A 1000ms
        0ms submit A 1 deadline=100ms
        0ms submit B 0
          -> estimate B 500ms
        200ms join w1 cpu
          -> grant w1 L1 B.0 stage 0 try 1
        ",
    );
}

#[test]
fn a_repeat_sets_a_new_deadline() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:500ms
        0ms submit A 0 1
          -> estimate A 1000ms
        0ms deadline A.1 200ms
        0ms submit B 0
          -> estimate B 500ms
        300ms deadline A.1 450ms
        300ms deadline A.7 310ms
        300ms join w1 cpu
          -> grant w1 L1 A.1 stage 0 try 1
        ",
    );
}

#[test]
fn a_deadline_holds_for_the_next_stage_and_the_next_try() {
    check(
        "
        0ms announce A stages=cpu:1s,cpu:1s:1
        0ms submit A 0 1 2
          -> estimate A 2000ms
        0ms deadline A.2 900ms
        0ms join w1 cpu
          -> grant w1 L1 A.2 stage 0 try 1
        5ms finish w1 next 5ms
          -> advance A.2 [0: queued 0ms ran 5ms tries 1]
          -> estimate A 1005ms
          -> grant w1 L2 A.2 stage 1 try 1
        6ms finish w1 unavailable 1ms
          -> grant w1 L3 A.2 stage 1 try 2
        7ms finish w1 scored 1ms
          -> finish A.2 scored t=6ms [0: queued 0ms ran 5ms tries 1] [1: queued 1ms ran 1ms tries 2]
          -> estimate A 6ms
          -> grant w1 L4 A.0 stage 0 try 1
        ",
    );
}

#[test]
fn first_come_first_served_ignores_deadlines() {
    check(
        "
        config discipline=fcfs
        0ms announce A stages=cpu:1s
        0ms submit A 0
          -> estimate A 1000ms
        1ms submit A 1 deadline=2ms
        1ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        ",
    );
}

#[test]
fn a_waiter_ends_with_its_primary_at_no_cost() {
    check(
        "
        0ms announce A stages=cpu:1s group=2
        0ms announce B stages=cpu:1s size=1
        0ms submit A 0 group=1
          -> estimate A 1000ms
        1ms submit A 1 group=1 primary=A.0
        4ms submit B 0 primary=A.0
          -> estimate B 1004ms
        4ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        4ms join w2 cpu
        6ms finish w1 scored 2ms
          -> finish A.0 scored t=2ms [0: queued 4ms ran 2ms tries 1]
          -> estimate A 3ms
          -> estimate B 6ms
        6ms waiter A.1 scored 2ms
          -> finish A.1 scored t=2ms
          -> group A 1 done
        6ms waiter B.0 scored 2ms
          -> finish B.0 scored t=4ms
          -> batch B done T=4ms ended=6ms
        ",
    );
}

#[test]
fn a_primary_inherits_the_deadlines_of_its_waiters() {
    check(
        "
        0ms announce A stages=cpu:9s
        0ms announce B stages=cpu:500ms
        0ms announce C stages=cpu:300ms
        0ms submit A 0 1
          -> estimate A 1000ms
        0ms submit B 0
          -> estimate B 500ms
        0ms submit C 0 primary=A.1
          -> estimate C 300ms
        0ms join w1 cpu
          -> grant w1 L1 A.1 stage 0 try 1
        0ms submit B 1 primary=A.0 deadline=100ms
        0ms join w2 cpu
          -> grant w2 L2 A.0 stage 0 try 1
        ",
    );
}

#[test]
fn a_released_waiter_runs_as_the_primary() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:2s
        0ms submit A 0
          -> estimate A 1000ms
        0ms submit B 0 1 2 primary=A.0
          -> estimate B 1000ms
        0ms seal B
        1ms cancel A
          -> finish A.0 cancelled tries 0 t=0ms
          -> batch A cancelled T=none ended=1ms
        1ms release B.0 B.1 B.2
        2ms join w1 cpu
          -> grant w1 L1 B.0 stage 0 try 1
        2ms join w2 cpu
        2ms release B.2
          -> grant w2 L2 B.2 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish B.0 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> estimate B 1ms
        3ms waiter B.1 timed_out 1ms
          -> finish B.1 timed_out at 0 t=1ms
        3ms finish w2 scored 1ms
          -> finish B.2 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> batch B done T=1ms ended=3ms
        ",
    );
}

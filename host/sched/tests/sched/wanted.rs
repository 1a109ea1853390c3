//! Requests that somebody waits for in person, and followers, as scripts.

use crate::script::check;

#[test]
fn who_gives_up_first_is_served_before_its_batch() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:500ms plugin=2
        0ms submit A 0
          -> estimate A 1000ms
        0ms submit A 1 due=300ms
        0ms submit B 0
          -> estimate B 500ms
        0ms submit A 2 due=200ms
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
fn a_due_that_has_passed_holds_up_nothing() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:500ms
        0ms submit A 0 due=200ms
          -> estimate A 1000ms
        0ms submit A 1 due=100ms
        0ms submit B 0
          -> estimate B 500ms
        200ms join w1 cpu
          -> grant w1 L1 B.0 stage 0 try 1
        ",
    );
}

#[test]
fn a_repeat_brings_a_new_due() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:500ms
        0ms submit A 0 1
          -> estimate A 1000ms
        0ms due A.1 200ms
        0ms submit B 0
          -> estimate B 500ms
        300ms due A.1 450ms
        300ms due A.7 310ms
        300ms join w1 cpu
          -> grant w1 L1 A.1 stage 0 try 1
        ",
    );
}

#[test]
fn a_due_comes_along_to_the_next_stage_and_the_next_try() {
    check(
        "
        0ms announce A stages=cpu:1s,cpu:1s:1
        0ms submit A 0 1 2
          -> estimate A 2000ms
        0ms due A.2 900ms
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
fn first_come_first_served_knows_no_dues() {
    check(
        "
        config order=fcfs
        0ms announce A stages=cpu:1s
        0ms submit A 0
          -> estimate A 1000ms
        1ms submit A 1 due=2ms
        1ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        ",
    );
}

#[test]
fn a_follower_ends_with_its_leader_at_no_cost() {
    check(
        "
        0ms announce A stages=cpu:1s group=2
        0ms announce B stages=cpu:1s size=1
        0ms submit A 0 group=1
          -> estimate A 1000ms
        1ms submit A 1 group=1 follows=A.0
        4ms submit B 0 follows=A.0
          -> estimate B 1004ms
        4ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        4ms join w2 cpu
        6ms finish w1 scored 2ms
          -> finish A.0 scored t=2ms [0: queued 4ms ran 2ms tries 1]
          -> estimate A 3ms
          -> estimate B 6ms
        6ms follower A.1 scored 2ms
          -> finish A.1 scored t=2ms
          -> group A 1 done
        6ms follower B.0 scored 2ms
          -> finish B.0 scored t=4ms
          -> batch B done T=4ms ended=6ms
        ",
    );
}

#[test]
fn a_leader_is_wanted_as_early_as_what_follows_it() {
    check(
        "
        0ms announce A stages=cpu:9s
        0ms announce B stages=cpu:500ms
        0ms announce C stages=cpu:300ms
        0ms submit A 0 1
          -> estimate A 1000ms
        0ms submit B 0
          -> estimate B 500ms
        0ms submit C 0 follows=A.1
          -> estimate C 300ms
        0ms join w1 cpu
          -> grant w1 L1 A.1 stage 0 try 1
        0ms submit B 1 follows=A.0 due=100ms
        0ms join w2 cpu
          -> grant w2 L2 A.0 stage 0 try 1
        ",
    );
}

#[test]
fn a_released_follower_runs_and_leads() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:2s
        0ms submit A 0
          -> estimate A 1000ms
        0ms submit B 0 1 2 follows=A.0
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
        3ms follower B.1 timed_out 1ms
          -> finish B.1 timed_out at 0 t=1ms
        3ms finish w2 scored 1ms
          -> finish B.2 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> batch B done T=1ms ended=3ms
        ",
    );
}

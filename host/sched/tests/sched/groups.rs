//! Group first inside a batch, as scripts.

use super::script::check;

#[test]
fn a_group_that_was_begun_is_completed_before_the_next() {
    check(
        "
        config discipline=ebf-groups
        0ms announce A stages=cpu:1s group=2
        0ms join w1 cpu
        0ms submit A 0 group=7
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        0ms submit A 1 2 group=8
        0ms submit A 3 group=7
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L2 A.3 stage 0 try 1
        2ms finish w1 scored 1ms
          -> finish A.3 scored t=1ms [0: queued 1ms ran 1ms tries 1]
          -> group A 7 done
          -> grant w1 L3 A.1 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> grant w1 L4 A.2 stage 0 try 1
        4ms finish w1 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 3ms ran 1ms tries 1]
          -> group A 8 done
        ",
    );
}

/// Batch A is served group by group, as its trainer consumes groups; batch B is not.
#[test]
fn what_the_trainer_consumes_decides_the_order() {
    check(
        "
        0ms announce A stages=cpu:1s group=2 consumes=groups
        0ms join w1 cpu
        0ms submit A 0 group=7
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        0ms submit A 1 2 group=8
        0ms submit A 3 group=7
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L2 A.3 stage 0 try 1
        2ms finish w1 scored 1ms
          -> finish A.3 scored t=1ms [0: queued 1ms ran 1ms tries 1]
          -> group A 7 done
          -> grant w1 L3 A.1 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> grant w1 L4 A.2 stage 0 try 1
        4ms finish w1 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 3ms ran 1ms tries 1]
          -> group A 8 done
        5ms announce B stages=cpu:1s group=2
        5ms submit B 0 group=7
          -> estimate B 6ms
          -> grant w1 L5 B.0 stage 0 try 1
        5ms submit B 1 2 group=8
        5ms submit B 3 group=7
        6ms finish w1 scored 1ms
          -> finish B.0 scored t=6ms [0: queued 0ms ran 1ms tries 1]
          -> grant w1 L6 B.1 stage 0 try 1
        ",
    );
}

#[test]
fn arrival_decides_where_groups_do_not() {
    check(
        "
        0ms announce A stages=cpu:1s group=2
        0ms join w1 cpu
        0ms submit A 0 group=7
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        0ms submit A 1 2 group=8
        0ms submit A 3 group=7
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L2 A.1 stage 0 try 1
        2ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [0: queued 1ms ran 1ms tries 1]
          -> grant w1 L3 A.2 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> group A 8 done
          -> grant w1 L4 A.3 stage 0 try 1
        4ms finish w1 scored 1ms
          -> finish A.3 scored t=1ms [0: queued 3ms ran 1ms tries 1]
          -> group A 7 done
        ",
    );
}

#[test]
fn a_request_that_ends_moves_its_group_in_every_pool() {
    check(
        "
        config discipline=ebf-groups
        0ms announce A stages=cpu:1s,gpu:1s group=3
        0ms submit A 0 1 2 group=7 stage=1
          -> estimate A 1000ms
        0ms submit A 3 4 5 group=8 stage=1
        0ms submit A 6 group=9
          -> estimate A 2000ms
        0ms submit A 7 group=8
        1ms join w1 gpu
          -> grant w1 L1 A.0 stage 1 try 1
        2ms join w2 cpu
          -> grant w2 L2 A.6 stage 0 try 1
        3ms answer w2 L2 plugin_trap 1ms
          -> finish A.6 plugin_trap tries 1 t=1ms [0: queued 2ms ran 1ms tries 1]
          -> grant w2 L3 A.7 stage 0 try 1
        4ms finish w2 plugin_trap 1ms
          -> finish A.7 plugin_trap tries 1 t=1ms [0: queued 3ms ran 1ms tries 1]
          -> estimate A 1000ms
        5ms join w3 gpu
          -> grant w3 L4 A.3 stage 1 try 1
        6ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [1: queued 1ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L5 A.1 stage 1 try 1
        7ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [1: queued 6ms ran 1ms tries 1]
          -> grant w1 L6 A.2 stage 1 try 1
        ",
    );
}

#[test]
fn the_earliest_batch_still_goes_first() {
    check(
        "
        config discipline=ebf-groups
        0ms announce A stages=cpu:10s plugin=1 group=1
        0ms announce B stages=cpu:200ms plugin=2 group=9
        0ms submit A 0 group=0
          -> estimate A 1000ms
        1ms submit B 0 group=0
          -> estimate B 201ms
        1ms submit B 1 group=1
        2ms join w1 cpu
          -> grant w1 L1 B.0 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish B.0 scored t=2ms [0: queued 1ms ran 1ms tries 1]
          -> estimate B 2ms
          -> grant w1 L2 B.1 stage 0 try 1
        4ms finish w1 scored 1ms
          -> finish B.1 scored t=2ms [0: queued 2ms ran 1ms tries 1]
          -> grant w1 L3 A.0 stage 0 try 1
        ",
    );
}

#[test]
fn without_a_size_what_was_submitted_counts() {
    check(
        "
        config discipline=ebf-groups
        0ms announce A stages=cpu:1s
        0ms submit A 0 1 2 group=1
          -> estimate A 1000ms
        0ms submit A 3 4 group=2
        0ms submit A 5 group=1 ended=0ms
        0ms submit A 6 group=2
        0ms submit A 7
        0ms join w1 cpu
          -> grant w1 L1 A.7 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.7 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L2 A.0 stage 0 try 1
        2ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 1ms ran 1ms tries 1]
          -> grant w1 L3 A.1 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> grant w1 L4 A.2 stage 0 try 1
        3ms submit A 8 9 group=1
        4ms finish w1 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 3ms ran 1ms tries 1]
          -> grant w1 L5 A.8 stage 0 try 1
        5ms finish w1 scored 1ms
          -> finish A.8 scored t=4ms [0: queued 1ms ran 1ms tries 1]
          -> grant w1 L6 A.9 stage 0 try 1
        ",
    );
}

#[test]
fn what_comes_on_top_of_a_complete_group_goes_last() {
    check(
        "
        config discipline=ebf-groups
        0ms announce A stages=cpu:1s group=1
        0ms submit A 0 1 group=1
          -> estimate A 1000ms
        0ms submit A 2 group=2
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> group A 1 done
          -> estimate A 1ms
          -> grant w1 L2 A.2 stage 0 try 1
        2ms finish w1 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 1ms ran 1ms tries 1]
          -> group A 2 done
          -> grant w1 L3 A.1 stage 0 try 1
        ",
    );
}

#[test]
fn a_retried_request_keeps_its_place() {
    check(
        "
        config discipline=ebf-groups
        0ms announce A stages=cpu:1s:1 group=2
        0ms submit A 0 1 group=1
          -> estimate A 1000ms
        0ms submit A 2 3 group=2
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 unavailable 1ms
          -> grant w1 L2 A.0 stage 0 try 2
        2ms lose w1
        3ms join w2 cpu
          -> grant w2 L3 A.0 stage 0 try 3
        4ms cancel A
          -> finish A.0 cancelled tries 2 t=0ms
          -> finish A.1 cancelled tries 0 t=0ms
          -> finish A.2 cancelled tries 0 t=0ms
          -> finish A.3 cancelled tries 0 t=0ms
          -> batch A cancelled T=none ended=4ms
        ",
    );
}

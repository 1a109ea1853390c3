//! What a trainer tells of its requests and rollouts beforehand, as scripts.

use super::script::check;

/// The request that is expected to take longest is served first, whenever it came. A request of which nothing was told is
/// expected to take the plugin's usual time: a second, as long as nothing is known of the plugin.
#[test]
fn the_longest_expected_comes_first() {
    check(
        "
        0ms announce A stages=cpu:60s
        0ms submit A 0 expected=900ms
          -> estimate A 1000ms
        0ms submit A 1
        0ms submit A 2 expected=1100ms
        1s submit A 3
          -> estimate A 2000ms
        1s submit A 4 expected=5s
        1s join w1 cpu
          -> grant w1 L1 A.4 stage 0 try 1
        2s finish w1 scored 1s
          -> finish A.4 scored t=2000ms [0: queued 0ms ran 1000ms tries 1]
          -> grant w1 L2 A.2 stage 0 try 1
        3s finish w1 scored 1s
          -> finish A.2 scored t=1000ms [0: queued 2000ms ran 1000ms tries 1]
          -> grant w1 L3 A.1 stage 0 try 1
        4s finish w1 scored 1s
          -> finish A.1 scored t=1000ms [0: queued 3000ms ran 1000ms tries 1]
          -> grant w1 L4 A.3 stage 0 try 1
        5s finish w1 scored 1s
          -> finish A.3 scored t=2000ms [0: queued 3000ms ran 1000ms tries 1]
          -> grant w1 L5 A.0 stage 0 try 1
        ",
    );
}

/// Requests of the run's last batch took 4 s on average: longer than the one that is told to take 3 s.
#[test]
fn what_nobody_told_counts_as_the_last_batch_did() {
    check(
        "
        0ms announce A stages=cpu:60s run=r size=2
        0ms join w1 cpu
        0ms submit A 0 1
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        2s finish w1 scored 2s
          -> finish A.0 scored t=2000ms [0: queued 0ms ran 2000ms tries 1]
          -> estimate A 2000ms
          -> grant w1 L2 A.1 stage 0 try 1
        8s finish w1 scored 6s
          -> finish A.1 scored t=6000ms [0: queued 2000ms ran 6000ms tries 1]
          -> batch A done T=6000ms ended=8000ms
        9s announce B stages=cpu:60s run=r
        9s submit B 0 expected=3s
          -> estimate B 15000ms
          -> grant w1 L3 B.0 stage 0 try 1
        9s submit B 1 expected=3s
        9s submit B 2
        9s submit B 3 expected=5s
        12s finish w1 scored 3s
          -> finish B.0 scored t=12000ms [0: queued 0ms ran 3000ms tries 1]
          -> grant w1 L4 B.3 stage 0 try 1
        17s finish w1 scored 5s
          -> finish B.3 scored t=14000ms [0: queued 3000ms ran 5000ms tries 1]
          -> grant w1 L5 B.2 stage 0 try 1
        ",
    );
}

/// The end of a group matters there, and by it the requests of a batch are ordered.
#[test]
fn an_expected_time_says_nothing_where_groups_are_waited_for() {
    check(
        "
        0ms announce A stages=cpu:60s consumes=groups group=2
        0ms submit A 0 1 group=1
          -> estimate A 1000ms
        0ms submit A 2 3 group=2 expected=10s
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        ",
    );
}

/// Of 3 s that both were expected to take, one has spent 2 s on its first stage.
#[test]
fn time_that_was_spent_is_no_longer_expected() {
    check(
        "
        0ms announce A stages=cpu:60s,gpu:60s
        0ms submit A 0 1 stage=1 ran=2s expected=3s
          -> estimate A 3000ms
        0ms submit A 2 stage=1 ran=1s expected=3s
        0ms join w1 gpu
          -> grant w1 L1 A.2 stage 1 try 1
        ",
    );
}

#[test]
fn an_expected_time_says_nothing_where_requests_are_served_as_they_come() {
    check(
        "
        config discipline=fcfs
        0ms announce A stages=cpu:60s
        0ms submit A 0
          -> estimate A 1000ms
        1ms submit A 1 expected=2s
        1ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        ",
    );
}

/// A plan is asked for when the number of requests to come changes; the batch is complete with the announced number
/// all the same.
#[test]
fn progress_asks_for_a_plan_where_it_changes_what_is_to_come() {
    check(
        "
        config plans=shown
        0ms announce A stages=cpu:60s size=3
          -> plan anew
        1s progress A outstanding=3
        2s progress A outstanding=2
          -> plan anew
        3s submit A 0
          -> estimate A 4000ms
          -> plan anew
        4s progress A outstanding=1
        5s progress A outstanding=2
          -> plan anew
        ",
    );
}

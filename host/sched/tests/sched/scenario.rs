//! Scripted scenarios: what must happen, to be read from top to bottom.

use super::script::check;

#[test]
fn ebf_serves_the_batch_that_ends_first() {
    check(
        "
        0ms join w1 cpu
        0ms announce A stages=cpu:10s plugin=1
        0ms announce B stages=cpu:200ms plugin=2
        0ms submit A 0 1
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms submit B 0 1
          -> estimate B 201ms
        5s finish w1 scored 5s
          -> finish A.0 scored t=5000ms [0: queued 0ms ran 5000ms tries 1]
          -> estimate A 5000ms
          -> grant w1 L2 B.0 stage 0 try 1
        6s finish w1 scored 300ms
          -> finish B.0 scored t=301ms [0: queued 4999ms ran 300ms tries 1]
          -> grant w1 L3 B.1 stage 0 try 1
        7s finish w1 scored 300ms
          -> finish B.1 scored t=301ms [0: queued 5999ms ran 300ms tries 1]
          -> grant w1 L4 A.1 stage 0 try 1
        12s finish w1 scored 5s
          -> finish A.1 scored t=5000ms [0: queued 7000ms ran 5000ms tries 1]
        12s seal A
          -> batch A done T=5000ms ended=12000ms
        12s seal B
          -> batch B done T=301ms ended=7000ms
        ",
    );
}

#[test]
fn a_run_is_expected_to_take_as_long_as_its_last_batch() {
    check(
        "
        0ms announce A run=long plugin=1
        0ms submit A 0
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        500ms finish w1 scored 500ms
          -> finish A.0 scored t=500ms [0: queued 0ms ran 500ms tries 1]
          -> estimate A 500ms
        900ms submit A 1
          -> estimate A 1400ms
          -> grant w1 L2 A.1 stage 0 try 1
        1400ms finish w1 scored 500ms
          -> finish A.1 scored t=1400ms [0: queued 0ms ran 500ms tries 1]
        1400ms seal A
          -> batch A done T=1400ms ended=1400ms
        1500ms announce B run=long plugin=1
        1500ms announce C run=new plugin=1
        1500ms lose w1
        1500ms submit B 0
          -> estimate B 2900ms
        1600ms submit C 0
          -> estimate C 2100ms
        1600ms join w2 cpu
          -> grant w2 L3 C.0 stage 0 try 1
        ",
    );
}

/// Otherwise nobody had an answer until the first stage of all of them is over.
#[test]
fn a_pool_ends_what_it_began_before_it_begins_another_request() {
    check(
        "
        0ms announce A stages=cpu:1s,cpu:1s size=3
        0ms join w1 cpu
        0ms submit A 0 1 2
          -> estimate A 2000ms
          -> grant w1 L1 A.0 stage 0 try 1
        100ms finish w1 next 100ms
          -> advance A.0 [0: queued 0ms ran 100ms tries 1]
          -> estimate A 1100ms
          -> grant w1 L2 A.0 stage 1 try 1
        ",
    );
}

#[test]
fn fcfs_serves_by_arrival_over_all_batches() {
    check(
        "
        config discipline=fcfs
        0ms announce A stages=cpu:10s plugin=1
        0ms announce B stages=cpu:200ms plugin=2
        0ms submit A 0 1
          -> estimate A 1000ms
        1ms submit B 0
          -> estimate B 201ms
        2ms submit A 2
        2ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> estimate A 3ms
          -> grant w1 L2 A.1 stage 0 try 1
        4ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [0: queued 3ms ran 1ms tries 1]
          -> grant w1 L3 B.0 stage 0 try 1
        5ms finish w1 scored 1ms
          -> finish B.0 scored t=2ms [0: queued 3ms ran 1ms tries 1]
          -> estimate B 2ms
          -> grant w1 L4 A.2 stage 0 try 1
        6ms finish w1 scored 1ms
          -> finish A.2 scored t=3ms [0: queued 3ms ran 1ms tries 1]
        ",
    );
}

#[test]
fn stages_lead_from_pool_to_pool() {
    check(
        "
        0ms announce A stages=cpu:1s,gpu:2s size=2
        0ms join w1 cpu
        0ms join w2 gpu
        0ms submit A 0 1
          -> estimate A 2000ms
          -> grant w1 L1 A.0 stage 0 try 1
        10ms finish w1 next 10ms
          -> advance A.0 [0: queued 0ms ran 10ms tries 1]
          -> estimate A 1010ms
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w2 L3 A.0 stage 1 try 1
        30ms finish w1 next 20ms
          -> advance A.1 [0: queued 10ms ran 20ms tries 1]
        80ms finish w2 scored 70ms
          -> finish A.0 scored t=80ms [0: queued 0ms ran 10ms tries 1] [1: queued 0ms ran 70ms tries 1]
          -> estimate A 90ms
          -> grant w2 L4 A.1 stage 1 try 1
        90ms finish w2 timed_out 10ms
          -> finish A.1 timed_out at 1 t=30ms [0: queued 10ms ran 20ms tries 1] [1: queued 50ms ran 10ms tries 1]
          -> batch A done T=80ms ended=90ms
        ",
    );
}

#[test]
fn a_failure_in_passing_is_retried_as_often_as_the_stage_allows() {
    check(
        "
        0ms announce A stages=cpu:1s:2 size=3
        0ms join w1 cpu
        0ms submit A 0 1 2
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 unavailable 1ms
          -> grant w1 L2 A.0 stage 0 try 2
        2ms finish w1 plugin_unloadable 1ms
          -> grant w1 L3 A.0 stage 0 try 3
        3ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 2ms ran 1ms tries 3]
          -> estimate A 1ms
          -> grant w1 L4 A.1 stage 0 try 1
        4ms finish w1 plugin_error 1ms
          -> grant w1 L5 A.1 stage 0 try 2
        5ms finish w1 plugin_error 1ms
          -> grant w1 L6 A.1 stage 0 try 3
        6ms finish w1 plugin_error 1ms
          -> finish A.1 plugin_error tries 3 t=1ms [0: queued 5ms ran 1ms tries 3]
          -> grant w1 L7 A.2 stage 0 try 1
        7ms finish w1 plugin_trap 1ms
          -> finish A.2 plugin_trap tries 1 t=1ms [0: queued 6ms ran 1ms tries 1]
          -> batch A done T=1ms ended=7ms
        ",
    );
}

/// A worker that was starved of its processor reports `lease_expired`. The retries of the stage are not spent on that, and
/// nobody learns from the time that it took.
#[test]
fn a_starved_worker_counts_as_lost_and_not_as_a_failure_of_the_stage() {
    check(
        "
        config lost_retries=2
        0ms announce A stages=cpu:1s:0 size=1
        0ms join w1 cpu
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 lease_expired 1ms
          -> grant w1 L2 A.0 stage 0 try 2
        2ms finish w1 lease_expired 1ms
          -> grant w1 L3 A.0 stage 0 try 3
        3ms finish w1 lease_expired 1ms
          -> finish A.0 lease_expired tries 3 t=0ms
          -> batch A done T=0ms ended=3ms
        ",
    );
}

#[test]
fn next_from_the_last_stage_is_a_bad_outcome() {
    check(
        "
        0ms announce A stages=cpu:1s:5 size=1
        0ms join w1 cpu
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 next 1ms
          -> finish A.0 bad_outcome tries 1 t=1ms [0: queued 0ms ran 1ms tries 1]
          -> batch A done T=1ms ended=1ms
        ",
    );
}

#[test]
fn a_worker_that_was_leaving_costs_its_request_no_try() {
    check(
        "
        config lost_retries=0
        0ms announce A stages=cpu:1s:9 size=1
        0ms submit A 0
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        1ms drain w1
        2ms lose w1
        3ms join w2 cpu
          -> grant w2 L2 A.0 stage 0 try 1
        4ms lose w2
          -> finish A.0 worker_lost tries 1 t=0ms
          -> batch A done T=0ms ended=4ms
        ",
    );
}

#[test]
fn a_request_that_loses_every_worker_ends_as_worker_lost() {
    check(
        "
        config lost_retries=2
        0ms announce A stages=cpu:1s:9 size=1
        0ms submit A 0
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        1ms lose w1
        2ms join w2 cpu
          -> grant w2 L2 A.0 stage 0 try 2
        3ms finish w2 unavailable 1ms
          -> grant w2 L3 A.0 stage 0 try 3
        4ms lose w2
        5ms join w3 cpu
          -> grant w3 L4 A.0 stage 0 try 4
        6ms lose w3
          -> finish A.0 worker_lost tries 4 t=0ms
          -> batch A done T=0ms ended=6ms
        7ms lose w3
        ",
    );
}

#[test]
fn idle_workers_come_before_prefetching() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms join w1 cpu leases=3
        0ms join w2 cpu leases=3
        0ms submit A 0 1 2 3 4 5 6 7 8 9
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L3 A.2 stage 0 try 1
          -> grant w1 L4 A.3 stage 0 try 1
        2ms finish w2 scored 900us
          -> finish A.1 scored t=0.9ms [0: queued 0ms ran 0.9ms tries 1]
          -> grant w2 L5 A.4 stage 0 try 1
          -> grant w2 L6 A.5 stage 0 try 1
          -> grant w2 L7 A.6 stage 0 try 1
        ",
    );
}

#[test]
fn prefetched_leases_of_a_blocked_worker_go_to_others() {
    check(
        "
        config wakes=shown
        0ms announce A stages=cpu:1s
          -> wake 3600000ms
        0ms join w1 cpu leases=3
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> wake 2000ms
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
        1ms submit A 1 2 3 4
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
          -> wake 21ms
        2ms join w2 cpu leases=1
          -> grant w2 L4 A.3 stage 0 try 1
        21ms tick
          -> revoke w1 L3
          -> wake 2001ms
        22ms finish w2 scored 20ms
          -> finish A.3 scored t=21ms [0: queued 1ms ran 20ms tries 1]
          -> grant w2 L5 A.2 stage 0 try 1
        23ms answer w1 L3 scored 1ms
        24ms finish w1 scored 23ms
          -> finish A.1 scored t=24ms [0: queued 0ms ran 23ms tries 1]
          -> grant w1 L6 A.4 stage 0 try 1
        ",
    );
}

#[test]
fn a_revoked_lease_that_was_started_holds_up_no_other() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:1s
        0ms join w1 cpu leases=3
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
        1ms submit A 1 2
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
        21ms tick
          -> revoke w1 L3
        22ms finish w1 scored 21ms
          -> finish A.1 scored t=22ms [0: queued 0ms ran 21ms tries 1]
          -> grant w1 L4 A.2 stage 0 try 1
        22ms started w1 L3
          -> revoke w1 L4
        22ms join w2 cpu
          -> grant w2 L5 A.2 stage 0 try 1
        23ms submit B 0
          -> estimate B 26.5ms
        24ms answer w1 L3 scored 2ms
          -> grant w1 L6 B.0 stage 0 try 1
        24ms started w1 L3
        ",
    );
}

#[test]
fn a_worker_past_its_deadline_is_killed() {
    check(
        "
        config lost_retries=1 wakes=shown
        0ms announce A stages=cpu:100ms
          -> wake 3600000ms
        0ms join w1 cpu leases=2
        0ms submit A 0
          -> estimate A 100ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> wake 1100ms
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
        1ms submit A 1 2
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
          -> wake 21ms
        2ms tick
          -> wake 21ms
        1100ms tick
          -> revoke w1 L3
          -> wake 1101ms
        1101ms tick
          -> kill w1
          -> wake 3600000ms
        1102ms answer w1 L2 scored 1100ms
        1103ms lose w1
        1104ms join w2 cpu
          -> grant w2 L4 A.1 stage 0 try 2
          -> wake 2204ms
        2204ms tick
          -> kill w2
          -> finish A.1 lease_expired tries 2 t=1ms
          -> wake 3600000ms
        2205ms join w3 cpu
          -> grant w3 L5 A.2 stage 0 try 1
          -> wake 3305ms
        2206ms finish w3 scored 1ms
          -> finish A.2 scored t=2ms [0: queued 2204ms ran 1ms tries 1]
        2206ms seal A
          -> batch A done T=2ms ended=2206ms
        ",
    );
}

#[test]
fn the_deadline_counts_from_when_a_lease_became_head() {
    check(
        "
        0ms announce A stages=cpu:100ms
        0ms join w1 cpu leases=2
        0ms submit A 0
          -> estimate A 100ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
        1ms submit A 1 2
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
        1000ms finish w1 scored 1ms
          -> finish A.1 scored t=2ms [0: queued 0ms ran 1ms tries 1]
        1150ms tick
        2099ms tick
        2100ms tick
          -> kill w1
        ",
    );
}

#[test]
fn a_load_has_a_deadline_of_its_own_and_the_stages_time_starts_after_it() {
    check(
        "
        config lost_retries=0 wakes=shown
        0ms announce A stages=cpu:1ms
          -> wake 3600000ms
        0ms join w1 cpu leases=2
        0ms submit A 0
          -> estimate A 1ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> wake 1001ms
        5ms loading w1 L1
        400s tick
          -> wake 600005ms
        500s loaded w1 L1
          -> wake 501001ms
        500s loading w1 L1
        501s finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
        ",
    );
}

#[test]
fn a_worker_that_loads_for_too_long_is_killed() {
    check(
        "
        config lost_retries=0
        0ms announce A stages=cpu:1ms
        0ms join w1 cpu
        0ms submit A 0
          -> estimate A 1ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms loading w1 L7
        1ms loading w2 L1
        2ms loading w1 L1
        600002ms loading w1 L1
        600002ms tick
          -> kill w1, which loads
          -> finish A.0 plugin_unloadable tries 1 t=0ms
        600003ms loaded w1 L1
        ",
    );
}

#[test]
fn time_never_goes_back() {
    check(
        "
        10ms announce A
        5ms seal A
          -> batch A done T=none ended=10ms
        ",
    );
}

#[test]
fn groups_complete_by_size_or_by_the_seal() {
    check(
        "
        0ms announce A stages=cpu:1s group=2
        0ms join w1 cpu
        0ms submit A 0 2 group=7
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        0ms submit A 1 3 4 group=8
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L2 A.1 stage 0 try 1
        2ms finish w1 plugin_trap 1ms
          -> finish A.1 plugin_trap tries 1 t=1ms [0: queued 1ms ran 1ms tries 1]
          -> grant w1 L3 A.2 stage 0 try 1
        3ms finish w1 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 2ms ran 1ms tries 1]
          -> group A 7 done
          -> grant w1 L4 A.3 stage 0 try 1
        4ms finish w1 scored 1ms
          -> finish A.3 scored t=1ms [0: queued 3ms ran 1ms tries 1]
          -> group A 8 done
          -> grant w1 L5 A.4 stage 0 try 1
        5ms submit A 5 group=9
        6ms finish w1 scored 1ms
          -> finish A.4 scored t=1ms [0: queued 4ms ran 1ms tries 1]
          -> grant w1 L6 A.5 stage 0 try 1
        7ms seal A
        8ms finish w1 scored 1ms
          -> finish A.5 scored t=6ms [0: queued 1ms ran 1ms tries 1]
          -> group A 9 done
          -> batch A done T=6ms ended=8ms
        ",
    );
}

#[test]
fn groups_without_a_size_complete_once_sealed() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms join w1 cpu
        0ms submit A 0 group=0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        0ms submit A 1 2 group=1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L2 A.1 stage 0 try 1
        2ms seal A
          -> group A 0 done
        3ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [0: queued 1ms ran 1ms tries 1]
          -> grant w1 L3 A.2 stage 0 try 1
        4ms finish w1 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 3ms ran 1ms tries 1]
          -> group A 1 done
          -> batch A done T=1ms ended=4ms
        ",
    );
}

#[test]
fn as_many_as_expected_need_no_seal() {
    check(
        "
        0ms announce A stages=cpu:1s size=2
        0ms join w1 cpu
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
        1ms submit A 0
        2ms submit A 1
          -> grant w1 L2 A.1 stage 0 try 1
        3ms submit A 2
        4ms finish w1 scored 2ms
          -> finish A.1 scored t=4ms [0: queued 0ms ran 2ms tries 1]
          -> grant w1 L3 A.2 stage 0 try 1
        5ms finish w1 scored 1ms
          -> finish A.2 scored t=4ms [0: queued 1ms ran 1ms tries 1]
          -> batch A done T=4ms ended=5ms
        6ms submit A 3
        6ms announce B size=0
          -> batch B done T=none ended=6ms
        7ms announce C
        8ms seal C
          -> batch C done T=none ended=8ms
        ",
    );
}

#[test]
fn a_cancelled_batch_takes_its_leases_along() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms announce B stages=cpu:1s
        0ms join w1 cpu leases=3
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
        1ms submit A 1 2 3 4
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
        2ms submit B 0
          -> estimate B 3ms
        3ms cancel A
          -> finish A.1 cancelled tries 0 t=1ms
          -> revoke w1 L3
          -> finish A.2 cancelled tries 0 t=1ms
          -> finish A.3 cancelled tries 0 t=1ms
          -> finish A.4 cancelled tries 0 t=1ms
          -> batch A cancelled T=1ms ended=3ms
          -> grant w1 L4 B.0 stage 0 try 1
        4ms finish w1 scored 3ms
        5ms finish w1 scored 1ms
          -> finish B.0 scored t=3ms [0: queued 1ms ran 1ms tries 1]
        6ms cancel A
        ",
    );
}

#[test]
fn a_worker_that_never_ends_a_cancelled_stage_is_killed() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms join w1 cpu
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms cancel A
          -> finish A.0 cancelled tries 0 t=0ms
          -> batch A cancelled T=none ended=1ms
        2ms announce B stages=cpu:1s
        2ms submit B 0
          -> estimate B 1002ms
        2000ms tick
          -> kill w1
        2001ms join w2 cpu
          -> grant w2 L2 B.0 stage 0 try 1
        ",
    );
}

#[test]
fn batches_that_nobody_uses_expire() {
    check(
        "
        config announced_max=10s open_idle_max=20s wakes=shown
        0ms announce A
          -> wake 10000ms
        1s announce B
        1s announce C size=2
        2s join w1 cpu
        2s submit B 0
          -> estimate B 3000ms
          -> grant w1 L1 B.0 stage 0 try 1
          -> wake 4000ms
        2s submit C 0 1
          -> estimate C 3000ms
        3s finish w1 scored 1s
          -> finish B.0 scored t=3000ms [0: queued 0ms ran 1000ms tries 1]
          -> grant w1 L2 C.0 stage 0 try 1
        4s finish w1 scored 1s
          -> finish C.0 scored t=3000ms [0: queued 1000ms ran 1000ms tries 1]
          -> grant w1 L3 C.1 stage 0 try 1
        4s tick
          -> wake 6000ms
        5s lose w1
        9s tick
          -> wake 10000ms
        10s tick
          -> batch A expired T=none ended=10000ms
          -> wake 11000ms
        11s tick
          -> wake 23000ms
        22s tick
          -> wake 23000ms
        23s tick
          -> batch B expired T=3000ms ended=3000ms
        30h tick
        30h join w2 cpu
          -> grant w2 L4 C.1 stage 0 try 2
          -> wake 108002000ms
        30h finish w2 scored 1s
          -> finish C.1 scored t=3000ms [0: queued 107998000ms ran 1000ms tries 2]
          -> batch C done T=3000ms ended=108000000ms
        ",
    );
}

#[test]
fn an_open_batch_with_unfinished_requests_does_not_expire() {
    check(
        "
        config open_idle_max=20s
        0s announce A
        1s submit A 0
          -> estimate A 2000ms
        30s tick
        90s tick
        91s join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        92s finish w1 scored 1s
          -> finish A.0 scored t=2000ms [0: queued 90000ms ran 1000ms tries 1]
        111s tick
        112s tick
          -> batch A expired T=2000ms ended=92000ms
        ",
    );
}

#[test]
fn a_draining_worker_finishes_its_hand_and_gets_nothing_more() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms join w1 cpu leases=2
        0ms submit A 0 1 2 3
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 1ms
          -> finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]
          -> estimate A 1ms
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
        2ms drain w1
        3ms finish w1 scored 1ms
          -> finish A.1 scored t=1ms [0: queued 1ms ran 1ms tries 1]
        4ms finish w1 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 1ms ran 1ms tries 1]
        5ms lose w1
        6ms join w2 cpu
          -> grant w2 L4 A.3 stage 0 try 1
        ",
    );
}

#[test]
fn a_restart_brings_everything_back() {
    check(
        "
        config leases_after=1000
        10s announce A stages=cpu:1s,gpu:1s group=2 announced=1s
        10s submit A 0 arrived=2s group=0 ended=3s
          -> estimate A 3000ms
        10s submit A 1 arrived=2s group=0 ended=5s
          -> group A 0 done
          -> estimate A 5000ms
        10s submit A 2 arrived=3s group=1 stage=1 ran=500ms
        10s submit A 3 arrived=4s group=1
          -> estimate A 6000ms
        10s seal A
        10s announce B announced=1s
        10s submit B 0 1 arrived=2s ended=4s
          -> estimate B 4000ms
        10s seal B
          -> batch B done T=4000ms ended=4000ms
        11s join w1 cpu
          -> grant w1 L1001 A.3 stage 0 try 1
        11s join w2 gpu
          -> grant w2 L1002 A.2 stage 1 try 1
        11s answer w2 L17 scored 1s
        12s finish w1 next 1s
          -> advance A.3 [0: queued 7000ms ran 1000ms tries 1]
        13s finish w2 scored 2s
          -> finish A.2 scored t=5500ms [1: queued 1000ms ran 2000ms tries 1]
          -> grant w2 L1003 A.3 stage 1 try 1
        14s finish w2 scored 1s
          -> finish A.3 scored t=6000ms [0: queued 7000ms ran 1000ms tries 1] [1: queued 1000ms ran 1000ms tries 1]
          -> group A 1 done
          -> batch A done T=6000ms ended=14000ms
        ",
    );
}

/// Its answers are under way for as long, and it may have run all that it holds.
#[test]
fn a_worker_far_away_keeps_what_it_prefetched_for_a_round_trip_longer() {
    check(
        "
        0ms announce A stages=cpu:1s
        0ms join w1 cpu leases=20
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        30ms finish w1 scored 100us
          -> finish A.0 scored t=0.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> estimate A 0.1ms
        31ms submit A 1 2
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
        51ms tick
        61ms finish w1 scored 100us
          -> finish A.1 scored t=31.1ms [0: queued 0ms ran 0.1ms tries 1]
        61ms finish w1 scored 100us
          -> finish A.2 scored t=31.1ms [0: queued 0ms ran 0.1ms tries 1]
        62ms submit A 3 4
          -> grant w1 L4 A.3 stage 0 try 1
          -> grant w1 L5 A.4 stage 0 try 1
        111ms tick
        112ms tick
          -> revoke w1 L5
        ",
    );
}

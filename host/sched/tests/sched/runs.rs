//! Runs of one tenant beside each other: earliest batch first, or workers shared between them.

use super::script::check;

/// The batch of run `long` came first and ends first, so it has every worker as long as it wants them.
#[test]
fn earliest_batch_first_decides_between_runs() {
    check(
        "
        0ms announce A run=long stages=cpu:100s
        0ms submit A 0 1 2 3 4
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
          -> grant w2 L2 A.1 stage 0 try 1
        1ms announce B run=short stages=cpu:100s
        1ms submit B 0 1
          -> estimate B 1001ms
        2ms finish w1 scored 2ms
          -> finish A.0 scored t=2ms [0: queued 0ms ran 2ms tries 1]
          -> estimate A 2ms
          -> estimate B 3ms
          -> grant w1 L3 A.2 stage 0 try 1
        3ms finish w2 scored 3ms
          -> finish A.1 scored t=3ms [0: queued 0ms ran 3ms tries 1]
          -> grant w2 L4 A.3 stage 0 try 1
        ",
    );
}

#[test]
fn runs_that_share_get_as_many_workers() {
    check(
        "
        0ms entitlement 1 runs=shared
        0ms announce A run=long stages=cpu:100s
        0ms submit A 0 1 2 3 4
          -> estimate A 1000ms
        0ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        0ms join w2 cpu
          -> grant w2 L2 A.1 stage 0 try 1
        1ms announce B run=short stages=cpu:100s
        1ms submit B 0 1
          -> estimate B 1001ms
        2ms finish w1 scored 2ms
          -> finish A.0 scored t=2ms [0: queued 0ms ran 2ms tries 1]
          -> estimate A 2ms
          -> estimate B 3ms
          -> grant w1 L3 B.0 stage 0 try 1
        3ms finish w2 scored 3ms
          -> finish A.1 scored t=3ms [0: queued 0ms ran 3ms tries 1]
          -> grant w2 L4 A.2 stage 0 try 1
        4ms finish w2 scored 1ms
          -> finish A.2 scored t=1ms [0: queued 3ms ran 1ms tries 1]
          -> grant w2 L5 A.3 stage 0 try 1
        ",
    );
}

/// Tenants come first: a tenant with many runs gets no more than one with a single run.
#[test]
fn runs_share_what_their_tenant_has() {
    check(
        "
        0ms entitlement 1 runs=shared
        0ms announce A tenant=1 run=one stages=cpu:100s
        0ms announce B tenant=1 run=two stages=cpu:100s
        0ms announce C tenant=2 stages=cpu:100s
        0ms submit A 0 1
          -> estimate A 1000ms
        0ms submit B 0 1
          -> estimate B 1000ms
        1ms submit C 0 1
          -> estimate C 1001ms
        1ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        1ms join w2 cpu
          -> grant w2 L2 C.0 stage 0 try 1
        1ms join w3 cpu
          -> grant w3 L3 B.0 stage 0 try 1
        1ms join w4 cpu
          -> grant w4 L4 C.1 stage 0 try 1
        ",
    );
}

/// A prefetched lease is of the run whose turn it is, and counts for it when it runs.
#[test]
fn a_worker_counts_for_the_run_that_it_runs() {
    check(
        "
        0ms entitlement 1 runs=shared
        0ms announce A run=one stages=cpu:1s
        0ms join w1 cpu leases=3
        0ms submit A 0
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
        1ms finish w1 scored 100us
          -> finish A.0 scored t=0.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> estimate A 0.1ms
        2ms submit A 1 2 3
          -> grant w1 L2 A.1 stage 0 try 1
          -> grant w1 L3 A.2 stage 0 try 1
          -> grant w1 L4 A.3 stage 0 try 1
        3ms announce B run=two stages=cpu:1s
        3ms submit B 0
          -> estimate B 3.1ms
        4ms finish w1 scored 100us
          -> finish A.1 scored t=2.1ms [0: queued 0ms ran 0.1ms tries 1]
          -> grant w1 L5 B.0 stage 0 try 1
        5ms finish w1 scored 100us
          -> finish A.2 scored t=2.1ms [0: queued 0ms ran 0.1ms tries 1]
        6ms finish w1 scored 100us
          -> finish A.3 scored t=2.1ms [0: queued 0ms ran 0.1ms tries 1]
        7ms cancel B
          -> finish B.0 cancelled tries 0 t=3ms
          -> batch B cancelled T=none ended=7ms
        8ms finish w1 scored 100us
        ",
    );
}

#[test]
fn the_setting_counts_from_its_change_on() {
    check(
        "
        0ms announce A run=long stages=cpu:100s
        0ms announce B run=short stages=cpu:100s
        0ms submit A 0 1 2 3 4
          -> estimate A 1000ms
        1ms submit B 0 1 2
          -> estimate B 1001ms
        1ms join w1 cpu
          -> grant w1 L1 A.0 stage 0 try 1
        2ms entitlement 1 runs=shared
        2ms join w2 cpu
          -> grant w2 L2 B.0 stage 0 try 1
        3ms entitlement 1
        3ms join w3 cpu
          -> grant w3 L3 A.1 stage 0 try 1
        ",
    );
}

/// The run's last batch took 100 s, as more requests may come until then. Once none can, its own ones say when it ends.
#[test]
fn a_sealed_batch_is_not_ordered_by_the_one_before() {
    check(
        "
        0ms join w1 cpu
        0ms join w2 cpu
        0ms announce A run=r stages=cpu:1000s size=2
        0ms submit A 0 1
          -> estimate A 1000ms
          -> grant w1 L1 A.0 stage 0 try 1
          -> grant w2 L2 A.1 stage 0 try 1
        1s finish w1 scored 1s
          -> finish A.0 scored t=1000ms [0: queued 0ms ran 1000ms tries 1]
        100s finish w2 scored 100s
          -> finish A.1 scored t=100000ms [0: queued 0ms ran 100000ms tries 1]
          -> batch A done T=100000ms ended=100000ms
        100s announce B run=r stages=cpu:1000s
        100s submit B 0
          -> estimate B 200000ms
          -> grant w1 L3 B.0 stage 0 try 1
        101s seal B
          -> estimate B 113375ms
        ",
    );
}

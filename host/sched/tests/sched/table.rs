//! Every (state, event) pair, with what comes of it: the batch's states, then the request's.
//!
//! A row is `event: actions | queued + leased, batches`; where nothing is done, `-`. After a change that is
//! meant, `UPDATE_EXPECT=1 cargo test -p assay-sched` writes the tables anew.

use expect_test::expect;

use super::script::Player;

/// How to bring batch `A` into each of its states. Worker `w1` serves it.
const BATCH_STATES: [(&str, &[&str]); 9] = [
    ("unknown", &[]),
    ("announced", &["0ms announce A group=1"]),
    ("open, waiting", &["0ms announce A group=1", "0ms submit A 0 1 group=0"]),
    ("open, leased", &["0ms announce A group=1", "0ms submit A 0 group=0", "0ms join w1 cpu"]),
    ("open, all ended", &["0ms announce A group=1", "9ms submit A 0 group=0 ended=9ms"]),
    (
        "sealed, leased",
        &["0ms announce A group=1", "0ms submit A 0 group=0", "0ms join w1 cpu", "0ms seal A"],
    ),
    ("done", &["0ms announce A", "9ms submit A 0 ended=9ms", "9ms seal A"]),
    ("cancelled", &["0ms announce A", "0ms submit A 0", "0ms join w1 cpu", "0ms cancel A"]),
    ("expired", &["0ms announce A", "9h tick"]),
];

const BATCH_EVENTS: [&str; 10] = [
    "9h announce A",
    "9h submit A 5 group=1",
    "9h submit A 0 group=0",
    "9h seal A",
    "9h cancel A",
    "9h answer w1 L1 scored 1ms",
    "9h lose w1",
    "9h drain w1",
    "9h join w2 cpu",
    "9h tick",
];

/// How to bring request `A.0` into each of its states; `A.1` is its neighbour. After `A.9` a
/// worker holds two leases at once.
const REQUEST_STATES: [(&str, &[&str]); 8] = [
    ("waiting", &["0ms submit A 0"]),
    ("leased, running", &["0ms submit A 0 1", "0ms join w1 cpu leases=2"]),
    (
        "leased, prefetched",
        &[
            "0ms submit A 9",
            "0ms join w1 cpu leases=2",
            "1ms answer w1 L1 next 1ms",
            "1ms submit A 1",
            "1ms submit A 0",
        ],
    ),
    ("waiting, retried", &["0ms submit A 0", "0ms join w1 cpu", "1ms lose w1"]),
    (
        "waiting, next stage",
        &["0ms submit A 0", "0ms join w1 cpu", "1ms answer w1 L1 next 1ms", "1ms lose w1"],
    ),
    (
        "leased, last stage",
        &["0ms submit A 0", "0ms join w9 cpu", "1ms answer w9 L1 next 1ms", "1ms join w1 gpu"],
    ),
    ("waits for a primary", &["0ms submit A 1", "0ms submit A 0 primary=A.1"]),
    ("ended", &["0ms submit A 0", "0ms join w1 cpu", "1ms answer w1 L1 plugin_trap 1ms"]),
];

const REQUEST_EVENTS: [&str; 22] = [
    "5ms submit A 0",
    "5ms answer w1 L1 next 1ms",
    "5ms answer w1 L1 scored 1ms",
    "5ms answer w1 L1 timed_out 1ms",
    "5ms answer w1 L1 unavailable 1ms",
    "5ms answer w1 L1 out_of_memory 1ms",
    "5ms answer w1 L2 scored 1ms",
    "5ms answer w1 L3 scored 1ms",
    "5ms answer w2 L1 scored 1ms",
    "5ms answer w2 L2 scored 1ms",
    "5ms lose w1",
    "5ms lose w2",
    "5ms drain w1",
    "5ms join w2 cpu",
    "5ms deadline A.0 9ms",
    "5ms waiter A.0 scored 4ms",
    "5ms release A.0 A.1",
    "5ms seal A",
    "5ms cancel A",
    "5ms tick",
    "21ms tick",
    "3s tick",
];

fn play(prelude: &[&str], event: &str) -> String {
    let mut player = Player::default();
    player.play("config leases_after=0");
    for line in prelude {
        player.play(line);
    }
    let actions = player.play(event).join("; ");
    let actions = if actions.is_empty() { "-".into() } else { actions };
    let after = player.sched().view();
    let queued: usize = after.pools.values().map(|pool| pool.waiting).sum();
    let leased: usize = after.pools.values().map(|pool| pool.leased).sum();
    format!("{event}: {actions} | {queued} + {leased}, {}", after.batches.len())
}

fn table(announce: &[&str], states: &[(&str, &[&str])], events: &[&str]) -> String {
    let mut rows = Vec::new();
    for (state, prelude) in states {
        rows.push(format!("{state}:"));
        let prelude = [announce, prelude].concat();
        rows.extend(events.iter().map(|event| format!("  {}", play(&prelude, event))));
    }
    rows.join("\n") + "\n"
}

#[test]
fn batch_states_and_events() {
    let played = table(&[], &BATCH_STATES, &BATCH_EVENTS);
    expect![[r#"
        unknown:
          9h announce A: - | 0 + 0, 1
          9h submit A 5 group=1: - | 0 + 0, 0
          9h submit A 0 group=0: - | 0 + 0, 0
          9h seal A: - | 0 + 0, 0
          9h cancel A: - | 0 + 0, 0
          9h answer w1 L1 scored 1ms: - | 0 + 0, 0
          9h lose w1: - | 0 + 0, 0
          9h drain w1: - | 0 + 0, 0
          9h join w2 cpu: - | 0 + 0, 0
          9h tick: - | 0 + 0, 0
        announced:
          9h announce A: - | 0 + 0, 1
          9h submit A 5 group=1: estimate A 32401000ms | 1 + 0, 1
          9h submit A 0 group=0: estimate A 32401000ms | 1 + 0, 1
          9h seal A: batch A done T=none ended=32400000ms | 0 + 0, 0
          9h cancel A: batch A cancelled T=none ended=32400000ms | 0 + 0, 0
          9h answer w1 L1 scored 1ms: - | 0 + 0, 1
          9h lose w1: - | 0 + 0, 1
          9h drain w1: - | 0 + 0, 1
          9h join w2 cpu: - | 0 + 0, 1
          9h tick: batch A expired T=none ended=32400000ms | 0 + 0, 0
        open, waiting:
          9h announce A: - | 2 + 0, 1
          9h submit A 5 group=1: estimate A 32401000ms | 3 + 0, 1
          9h submit A 0 group=0: - | 2 + 0, 1
          9h seal A: - | 2 + 0, 1
          9h cancel A: finish A.0 cancelled tries 0 t=0ms; finish A.1 cancelled tries 0 t=0ms; batch A cancelled T=none ended=32400000ms | 0 + 0, 0
          9h answer w1 L1 scored 1ms: - | 2 + 0, 1
          9h lose w1: - | 2 + 0, 1
          9h drain w1: - | 2 + 0, 1
          9h join w2 cpu: grant w2 L1 A.0 stage 0 try 1 | 1 + 1, 1
          9h tick: - | 2 + 0, 1
        open, leased:
          9h announce A: - | 0 + 1, 1
          9h submit A 5 group=1: estimate A 32401000ms | 1 + 1, 1
          9h submit A 0 group=0: - | 0 + 1, 1
          9h seal A: - | 0 + 1, 1
          9h cancel A: finish A.0 cancelled tries 0 t=0ms; batch A cancelled T=none ended=32400000ms | 0 + 1, 0
          9h answer w1 L1 scored 1ms: finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]; group A 0 done; estimate A 1ms | 0 + 0, 1
          9h lose w1: - | 1 + 0, 1
          9h drain w1: - | 0 + 1, 1
          9h join w2 cpu: - | 0 + 1, 1
          9h tick: kill w1 | 1 + 0, 1
        open, all ended:
          9h announce A: - | 0 + 0, 1
          9h submit A 5 group=1: estimate A 32401000ms | 1 + 0, 1
          9h submit A 0 group=0: - | 0 + 0, 1
          9h seal A: batch A done T=9ms ended=9ms | 0 + 0, 0
          9h cancel A: batch A cancelled T=9ms ended=9ms | 0 + 0, 0
          9h answer w1 L1 scored 1ms: - | 0 + 0, 1
          9h lose w1: - | 0 + 0, 1
          9h drain w1: - | 0 + 0, 1
          9h join w2 cpu: - | 0 + 0, 1
          9h tick: - | 0 + 0, 1
        sealed, leased:
          9h announce A: - | 0 + 1, 1
          9h submit A 5 group=1: estimate A 32401000ms | 1 + 1, 1
          9h submit A 0 group=0: - | 0 + 1, 1
          9h seal A: - | 0 + 1, 1
          9h cancel A: finish A.0 cancelled tries 0 t=0ms; batch A cancelled T=none ended=32400000ms | 0 + 1, 0
          9h answer w1 L1 scored 1ms: finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]; group A 0 done; batch A done T=1ms ended=32400000ms | 0 + 0, 0
          9h lose w1: - | 1 + 0, 1
          9h drain w1: - | 0 + 1, 1
          9h join w2 cpu: - | 0 + 1, 1
          9h tick: kill w1 | 1 + 0, 1
        done:
          9h announce A: - | 0 + 0, 1
          9h submit A 5 group=1: - | 0 + 0, 0
          9h submit A 0 group=0: - | 0 + 0, 0
          9h seal A: - | 0 + 0, 0
          9h cancel A: - | 0 + 0, 0
          9h answer w1 L1 scored 1ms: - | 0 + 0, 0
          9h lose w1: - | 0 + 0, 0
          9h drain w1: - | 0 + 0, 0
          9h join w2 cpu: - | 0 + 0, 0
          9h tick: - | 0 + 0, 0
        cancelled:
          9h announce A: - | 0 + 1, 1
          9h submit A 5 group=1: - | 0 + 1, 0
          9h submit A 0 group=0: - | 0 + 1, 0
          9h seal A: - | 0 + 1, 0
          9h cancel A: - | 0 + 1, 0
          9h answer w1 L1 scored 1ms: - | 0 + 0, 0
          9h lose w1: - | 0 + 0, 0
          9h drain w1: - | 0 + 1, 0
          9h join w2 cpu: - | 0 + 1, 0
          9h tick: kill w1 | 0 + 0, 0
        expired:
          9h announce A: - | 0 + 0, 1
          9h submit A 5 group=1: - | 0 + 0, 0
          9h submit A 0 group=0: - | 0 + 0, 0
          9h seal A: - | 0 + 0, 0
          9h cancel A: - | 0 + 0, 0
          9h answer w1 L1 scored 1ms: - | 0 + 0, 0
          9h lose w1: - | 0 + 0, 0
          9h drain w1: - | 0 + 0, 0
          9h join w2 cpu: - | 0 + 0, 0
          9h tick: - | 0 + 0, 0
    "#]]
    .assert_eq(&played);
}

#[test]
fn request_states_and_events() {
    let announce = ["0ms announce A stages=cpu:1s:1,gpu:1s"];
    let played = table(&announce, &REQUEST_STATES, &REQUEST_EVENTS);
    expect![[r#"
        waiting:
          5ms submit A 0: - | 1 + 0, 1
          5ms answer w1 L1 next 1ms: - | 1 + 0, 1
          5ms answer w1 L1 scored 1ms: - | 1 + 0, 1
          5ms answer w1 L1 timed_out 1ms: - | 1 + 0, 1
          5ms answer w1 L1 unavailable 1ms: - | 1 + 0, 1
          5ms answer w1 L1 out_of_memory 1ms: - | 1 + 0, 1
          5ms answer w1 L2 scored 1ms: - | 1 + 0, 1
          5ms answer w1 L3 scored 1ms: - | 1 + 0, 1
          5ms answer w2 L1 scored 1ms: - | 1 + 0, 1
          5ms answer w2 L2 scored 1ms: - | 1 + 0, 1
          5ms lose w1: - | 1 + 0, 1
          5ms lose w2: - | 1 + 0, 1
          5ms drain w1: - | 1 + 0, 1
          5ms join w2 cpu: grant w2 L1 A.0 stage 0 try 1 | 0 + 1, 1
          5ms deadline A.0 9ms: - | 1 + 0, 1
          5ms waiter A.0 scored 4ms: - | 1 + 0, 1
          5ms release A.0 A.1: - | 1 + 0, 1
          5ms seal A: - | 1 + 0, 1
          5ms cancel A: finish A.0 cancelled tries 0 t=0ms; batch A cancelled T=none ended=5ms | 0 + 0, 0
          5ms tick: - | 1 + 0, 1
          21ms tick: - | 1 + 0, 1
          3s tick: - | 1 + 0, 1
        leased, running:
          5ms submit A 0: - | 1 + 1, 1
          5ms answer w1 L1 next 1ms: advance A.0 [0: queued 0ms ran 1ms tries 1]; estimate A 1001ms; grant w1 L2 A.1 stage 0 try 1 | 1 + 1, 1
          5ms answer w1 L1 scored 1ms: finish A.0 scored t=1ms [0: queued 0ms ran 1ms tries 1]; estimate A 1001ms; grant w1 L2 A.1 stage 0 try 1 | 0 + 1, 1
          5ms answer w1 L1 timed_out 1ms: finish A.0 timed_out at 0 t=1ms [0: queued 0ms ran 1ms tries 1]; estimate A 1001ms; grant w1 L2 A.1 stage 0 try 1 | 0 + 1, 1
          5ms answer w1 L1 unavailable 1ms: grant w1 L2 A.0 stage 0 try 2 | 1 + 1, 1
          5ms answer w1 L1 out_of_memory 1ms: finish A.0 out_of_memory tries 1 t=1ms [0: queued 0ms ran 1ms tries 1]; grant w1 L2 A.1 stage 0 try 1 | 0 + 1, 1
          5ms answer w1 L2 scored 1ms: - | 1 + 1, 1
          5ms answer w1 L3 scored 1ms: - | 1 + 1, 1
          5ms answer w2 L1 scored 1ms: - | 1 + 1, 1
          5ms answer w2 L2 scored 1ms: - | 1 + 1, 1
          5ms lose w1: - | 2 + 0, 1
          5ms lose w2: - | 1 + 1, 1
          5ms drain w1: - | 1 + 1, 1
          5ms join w2 cpu: grant w2 L2 A.1 stage 0 try 1 | 0 + 2, 1
          5ms deadline A.0 9ms: - | 1 + 1, 1
          5ms waiter A.0 scored 4ms: - | 1 + 1, 1
          5ms release A.0 A.1: - | 1 + 1, 1
          5ms seal A: - | 1 + 1, 1
          5ms cancel A: finish A.0 cancelled tries 0 t=0ms; finish A.1 cancelled tries 0 t=0ms; batch A cancelled T=none ended=5ms | 0 + 1, 0
          5ms tick: - | 1 + 1, 1
          21ms tick: - | 1 + 1, 1
          3s tick: kill w1 | 2 + 0, 1
        leased, prefetched:
          5ms submit A 0: - | 1 + 2, 1
          5ms answer w1 L1 next 1ms: - | 1 + 2, 1
          5ms answer w1 L1 scored 1ms: - | 1 + 2, 1
          5ms answer w1 L1 timed_out 1ms: - | 1 + 2, 1
          5ms answer w1 L1 unavailable 1ms: - | 1 + 2, 1
          5ms answer w1 L1 out_of_memory 1ms: - | 1 + 2, 1
          5ms answer w1 L2 scored 1ms: finish A.1 scored t=2ms [0: queued 0ms ran 1ms tries 1] | 1 + 1, 1
          5ms answer w1 L3 scored 1ms: finish A.0 scored t=2ms [0: queued 0ms ran 1ms tries 1] | 1 + 1, 1
          5ms answer w2 L1 scored 1ms: - | 1 + 2, 1
          5ms answer w2 L2 scored 1ms: - | 1 + 2, 1
          5ms lose w1: - | 3 + 0, 1
          5ms lose w2: - | 1 + 2, 1
          5ms drain w1: - | 1 + 2, 1
          5ms join w2 cpu: - | 1 + 2, 1
          5ms deadline A.0 9ms: - | 1 + 2, 1
          5ms waiter A.0 scored 4ms: - | 1 + 2, 1
          5ms release A.0 A.1: - | 1 + 2, 1
          5ms seal A: - | 1 + 2, 1
          5ms cancel A: revoke w1 L3; finish A.0 cancelled tries 0 t=1ms; finish A.1 cancelled tries 0 t=1ms; finish A.9 cancelled tries 0 t=1ms [0: queued 0ms ran 1ms tries 1]; batch A cancelled T=none ended=5ms | 0 + 1, 0
          5ms tick: - | 1 + 2, 1
          21ms tick: revoke w1 L3 | 2 + 1, 1
          3s tick: kill w1 | 3 + 0, 1
        waiting, retried:
          5ms submit A 0: - | 1 + 0, 1
          5ms answer w1 L1 next 1ms: - | 1 + 0, 1
          5ms answer w1 L1 scored 1ms: - | 1 + 0, 1
          5ms answer w1 L1 timed_out 1ms: - | 1 + 0, 1
          5ms answer w1 L1 unavailable 1ms: - | 1 + 0, 1
          5ms answer w1 L1 out_of_memory 1ms: - | 1 + 0, 1
          5ms answer w1 L2 scored 1ms: - | 1 + 0, 1
          5ms answer w1 L3 scored 1ms: - | 1 + 0, 1
          5ms answer w2 L1 scored 1ms: - | 1 + 0, 1
          5ms answer w2 L2 scored 1ms: - | 1 + 0, 1
          5ms lose w1: - | 1 + 0, 1
          5ms lose w2: - | 1 + 0, 1
          5ms drain w1: - | 1 + 0, 1
          5ms join w2 cpu: grant w2 L2 A.0 stage 0 try 2 | 0 + 1, 1
          5ms deadline A.0 9ms: - | 1 + 0, 1
          5ms waiter A.0 scored 4ms: - | 1 + 0, 1
          5ms release A.0 A.1: - | 1 + 0, 1
          5ms seal A: - | 1 + 0, 1
          5ms cancel A: finish A.0 cancelled tries 1 t=0ms; batch A cancelled T=none ended=5ms | 0 + 0, 0
          5ms tick: - | 1 + 0, 1
          21ms tick: - | 1 + 0, 1
          3s tick: - | 1 + 0, 1
        waiting, next stage:
          5ms submit A 0: - | 1 + 0, 1
          5ms answer w1 L1 next 1ms: - | 1 + 0, 1
          5ms answer w1 L1 scored 1ms: - | 1 + 0, 1
          5ms answer w1 L1 timed_out 1ms: - | 1 + 0, 1
          5ms answer w1 L1 unavailable 1ms: - | 1 + 0, 1
          5ms answer w1 L1 out_of_memory 1ms: - | 1 + 0, 1
          5ms answer w1 L2 scored 1ms: - | 1 + 0, 1
          5ms answer w1 L3 scored 1ms: - | 1 + 0, 1
          5ms answer w2 L1 scored 1ms: - | 1 + 0, 1
          5ms answer w2 L2 scored 1ms: - | 1 + 0, 1
          5ms lose w1: - | 1 + 0, 1
          5ms lose w2: - | 1 + 0, 1
          5ms drain w1: - | 1 + 0, 1
          5ms join w2 cpu: - | 1 + 0, 1
          5ms deadline A.0 9ms: - | 1 + 0, 1
          5ms waiter A.0 scored 4ms: - | 1 + 0, 1
          5ms release A.0 A.1: - | 1 + 0, 1
          5ms seal A: - | 1 + 0, 1
          5ms cancel A: finish A.0 cancelled tries 0 t=1ms [0: queued 0ms ran 1ms tries 1]; batch A cancelled T=none ended=5ms | 0 + 0, 0
          5ms tick: - | 1 + 0, 1
          21ms tick: - | 1 + 0, 1
          3s tick: - | 1 + 0, 1
        leased, last stage:
          5ms submit A 0: - | 0 + 1, 1
          5ms answer w1 L1 next 1ms: - | 0 + 1, 1
          5ms answer w1 L1 scored 1ms: - | 0 + 1, 1
          5ms answer w1 L1 timed_out 1ms: - | 0 + 1, 1
          5ms answer w1 L1 unavailable 1ms: - | 0 + 1, 1
          5ms answer w1 L1 out_of_memory 1ms: - | 0 + 1, 1
          5ms answer w1 L2 scored 1ms: finish A.0 scored t=2ms [0: queued 0ms ran 1ms tries 1] [1: queued 0ms ran 1ms tries 1]; estimate A 2ms | 0 + 0, 1
          5ms answer w1 L3 scored 1ms: - | 0 + 1, 1
          5ms answer w2 L1 scored 1ms: - | 0 + 1, 1
          5ms answer w2 L2 scored 1ms: - | 0 + 1, 1
          5ms lose w1: - | 1 + 0, 1
          5ms lose w2: - | 0 + 1, 1
          5ms drain w1: - | 0 + 1, 1
          5ms join w2 cpu: - | 0 + 1, 1
          5ms deadline A.0 9ms: - | 0 + 1, 1
          5ms waiter A.0 scored 4ms: - | 0 + 1, 1
          5ms release A.0 A.1: - | 0 + 1, 1
          5ms seal A: - | 0 + 1, 1
          5ms cancel A: finish A.0 cancelled tries 0 t=1ms [0: queued 0ms ran 1ms tries 1]; batch A cancelled T=none ended=5ms | 0 + 1, 0
          5ms tick: - | 0 + 1, 1
          21ms tick: - | 0 + 1, 1
          3s tick: kill w1 | 1 + 0, 1
        waits for a primary:
          5ms submit A 0: - | 1 + 0, 1
          5ms answer w1 L1 next 1ms: - | 1 + 0, 1
          5ms answer w1 L1 scored 1ms: - | 1 + 0, 1
          5ms answer w1 L1 timed_out 1ms: - | 1 + 0, 1
          5ms answer w1 L1 unavailable 1ms: - | 1 + 0, 1
          5ms answer w1 L1 out_of_memory 1ms: - | 1 + 0, 1
          5ms answer w1 L2 scored 1ms: - | 1 + 0, 1
          5ms answer w1 L3 scored 1ms: - | 1 + 0, 1
          5ms answer w2 L1 scored 1ms: - | 1 + 0, 1
          5ms answer w2 L2 scored 1ms: - | 1 + 0, 1
          5ms lose w1: - | 1 + 0, 1
          5ms lose w2: - | 1 + 0, 1
          5ms drain w1: - | 1 + 0, 1
          5ms join w2 cpu: grant w2 L1 A.1 stage 0 try 1 | 0 + 1, 1
          5ms deadline A.0 9ms: - | 1 + 0, 1
          5ms waiter A.0 scored 4ms: finish A.0 scored t=4ms | 1 + 0, 1
          5ms release A.0 A.1: - | 2 + 0, 1
          5ms seal A: - | 1 + 0, 1
          5ms cancel A: finish A.0 cancelled tries 0 t=0ms; finish A.1 cancelled tries 0 t=0ms; batch A cancelled T=none ended=5ms | 0 + 0, 0
          5ms tick: - | 1 + 0, 1
          21ms tick: - | 1 + 0, 1
          3s tick: - | 1 + 0, 1
        ended:
          5ms submit A 0: - | 0 + 0, 1
          5ms answer w1 L1 next 1ms: - | 0 + 0, 1
          5ms answer w1 L1 scored 1ms: - | 0 + 0, 1
          5ms answer w1 L1 timed_out 1ms: - | 0 + 0, 1
          5ms answer w1 L1 unavailable 1ms: - | 0 + 0, 1
          5ms answer w1 L1 out_of_memory 1ms: - | 0 + 0, 1
          5ms answer w1 L2 scored 1ms: - | 0 + 0, 1
          5ms answer w1 L3 scored 1ms: - | 0 + 0, 1
          5ms answer w2 L1 scored 1ms: - | 0 + 0, 1
          5ms answer w2 L2 scored 1ms: - | 0 + 0, 1
          5ms lose w1: - | 0 + 0, 1
          5ms lose w2: - | 0 + 0, 1
          5ms drain w1: - | 0 + 0, 1
          5ms join w2 cpu: - | 0 + 0, 1
          5ms deadline A.0 9ms: - | 0 + 0, 1
          5ms waiter A.0 scored 4ms: - | 0 + 0, 1
          5ms release A.0 A.1: - | 0 + 0, 1
          5ms seal A: batch A done T=1ms ended=1ms | 0 + 0, 0
          5ms cancel A: batch A cancelled T=1ms ended=1ms | 0 + 0, 0
          5ms tick: - | 0 + 0, 1
          21ms tick: - | 0 + 0, 1
          3s tick: - | 0 + 0, 1
    "#]]
    .assert_eq(&played);
}

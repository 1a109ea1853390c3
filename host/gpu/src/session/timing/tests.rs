use super::*;

fn properties() -> Properties {
    Properties {
        name: "a GPU".into(),
        uuid: String::new(),
        arch: "sm_90".into(),
        driver: String::new(),
        multiprocessors: 132,
        clock_khz: 1_980_000,
        memory_bytes: 80 << 30,
        l2_bytes: 50 << 20,
        shared_bytes_max: 227 << 10,
        peak_bytes_per_s: 4_800_000_000_000,
        reaches_host_memory: false,
        simulated: false,
    }
}

fn timing(median_ns: u64, wall_median_ns: u64) -> Timing {
    Timing {
        samples_ns: vec![median_ns; 20],
        median_ns,
        overhead_ns: 2_000,
        wall_median_ns,
        clock_khz: 1_980_000,
    }
}

fn found(candidate: &Timing, reference: &Timing, touched_bytes: u64) -> Doubts {
    doubts(candidate, reference, touched_bytes, &properties())
}

#[test]
fn honest_timings_raise_no_doubt() {
    let reference = timing(100_000, 120_000);
    let check = |candidate: Timing, bytes| {
        assert_eq!(found(&candidate, &reference, bytes), Doubts::default());
    };
    check(timing(50_000, 70_000), 1 << 20);
    // A tiny kernel: what the host sees is mostly its own doing.
    check(timing(3_000, 90_000), 1 << 20);
    // The host waited as long for an empty plan.
    check(timing(3_000, 0), 1 << 20);
    // Within the cache no memory need be moved.
    check(timing(5_000, 20_000), 50 << 20);
    // A gather reads a part of its table, and so does the reference: 950 MiB take 208 µs.
    check(timing(20_000, 40_000), 1_000 << 20);
}

#[test]
fn impossible_timings_are_named() {
    let one = |candidate: Timing, reference: Timing, bytes, words: &str| {
        let Doubts { suspicious, unsteady } = found(&candidate, &reference, bytes);
        assert!(suspicious.len() == 1 && suspicious[0].contains(words), "{suspicious:?}");
        assert_eq!(unsteady, [""; 0]);
    };
    one(timing(10_000, 400_000), timing(100_000, 120_000), 0, "by the host's");
    // The reference reads what the candidate left out.
    one(timing(20_000, 40_000), timing(300_000, 320_000), 1_000 << 20, "cannot be moved");
}

#[test]
fn noise_of_the_machine_is_not_the_candidates() {
    let one = |candidate: Timing, reference: Timing, words: &str| {
        let Doubts { suspicious, unsteady } = found(&candidate, &reference, 0);
        assert_eq!(suspicious, [""; 0]);
        assert!(unsteady.len() == 1 && unsteady[0].contains(words), "{unsteady:?}");
    };
    // Each run waits 390 µs for the host, also the reference's.
    one(timing(10_000, 400_000), timing(100_000, 490_000), "by the host's");
    // A host that was busy while the empty plans ran.
    one(timing(90_000, 50_000), timing(100_000, 120_000), "fit into");
    let mut drifting = timing(100_000, 120_000);
    drifting.samples_ns[10..].fill(150_000);
    one(timing(50_000, 70_000), drifting, "clock moved");
}

#[test]
fn samples_add_up() {
    let mut clocked = Clocked::default();
    assert!(!clocked.has_samples() && clocked.timing(1).is_none());
    for (event_ns, wall_ns) in [(30, 50), (10, 90), (20, 70), (40, 60)] {
        clocked.sample(&RunTimes { event_ns: Some(event_ns), wall_ns, steps_left: 0 });
        clocked.empty(&RunTimes { event_ns: Some(2), wall_ns: 45, steps_left: 0 });
    }
    let timing = clocked.timing(7).unwrap();
    assert_eq!(timing.samples_ns, [30, 10, 20, 40]);
    assert_eq!((timing.median_ns, timing.wall_median_ns, timing.overhead_ns), (20, 15, 2));
    // Standard error 6.45 of a mean of 25.
    assert!(clocked.is_within(0.26) && !clocked.is_within(0.25) && clocked.is_within(0.0));
    // One sample says nothing of the others.
    let mut once = Clocked::default();
    once.sample(&RunTimes { event_ns: Some(5), wall_ns: 5, steps_left: 0 });
    assert!(!once.is_within(0.5));
}

#[test]
fn without_a_clock_there_is_no_timing() {
    let mut clocked = Clocked::default();
    clocked.sample(&RunTimes { event_ns: None, wall_ns: 5, steps_left: 0 });
    assert!(clocked.timing(1).is_none());
}

use super::*;
use crate::device::BufferComparison;

#[test]
fn trials_are_chosen_by_the_seed() {
    let one = chosen(1, 0, 20, 3);
    assert_eq!(one.len(), 3);
    assert!(one.iter().all(|trial| *trial < 20));
    assert_eq!(one, chosen(1, 0, 20, 3));
    assert_eq!(chosen(1, 0, 5, 5), (0..5).collect());
    assert_eq!(chosen(1, 0, 5, 0), BTreeSet::new());
    // Each is chosen by some seed, and rounds differ.
    let all: BTreeSet<u32> = (0..200).flat_map(|seed| chosen(seed, 0, 20, 1)).collect();
    assert_eq!(all, (0..20).collect());
    assert!((0..50).any(|seed| chosen(seed, 0, 20, 1) != chosen(seed, 1, 20, 1)));
}

#[test]
fn trials_have_seeds_of_their_own() {
    let seeds: BTreeSet<u64> = (0..1_000)
        .flat_map(|trial| [derived(5, TRIAL_SEEDS, trial), derived(5, WARM_UP_SEEDS, trial)])
        .collect();
    assert_eq!(seeds.len(), 2_000);
}

fn checked(is_right: bool) -> CheckReport {
    let output = BufferComparison {
        ok: is_right,
        mismatched: u64::from(!is_right),
        absolute_max: 0.0,
        relative_max: 0.0,
        got_nonfinite: 0,
        never_written: 0,
        first_wrong: None,
        got_there: 0.0,
        want_there: 0.0,
    };
    let (inputs_changed, overrun) = (Vec::new(), Vec::new());
    CheckReport { seed: 1, outputs: vec![output], inputs_changed, overrun, elapsed_ns: 1 }
}

#[test]
fn an_unsteady_device_gives_no_verdict() {
    let check = |is_right: bool, suspicious: &[&str], unsteady: &[&str]| {
        let (candidate, reference, spot) = (None, None, vec![checked(is_right)]);
        let measurement = Measurement { candidate, reference, spot, suspicious: Vec::new() };
        let texts = |words: &[&str]| words.iter().map(|one| (*one).to_owned()).collect();
        settled(measurement, Doubts { suspicious: texts(suspicious), unsteady: texts(unsteady) })
            .map(|measurement| measurement.suspicious)
    };
    assert_eq!(check(true, &[], &[]), Ok(vec![]));
    let words = "its times are not steady: the clock moved; it waited";
    let unavailable = Err(SessionError::Unavailable(words.into()));
    assert_eq!(check(true, &[], &["the clock moved", "it waited"]), unavailable);
    // Noise excuses nobody.
    assert_eq!(check(true, &["too fast"], &["the clock moved"]), Ok(vec!["too fast".into()]));
    assert_eq!(check(false, &[], &["the clock moved"]), Ok(vec![]));
}

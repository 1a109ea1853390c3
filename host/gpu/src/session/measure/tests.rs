use super::*;

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

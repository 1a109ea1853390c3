use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn made(dtype: Dtype, count: u64, rule: Rule, seed: u64, stream: u32) -> Vec<u64> {
    let filler = Filler::new(&Fill { dtype, count, rule, seed, stream });
    (0..count).map(|element| filler.bits(element)).collect()
}

fn values(dtype: Dtype, count: u64, rule: Rule, seed: u64) -> Vec<f64> {
    let bits = made(dtype, count, rule, seed, 0);
    bits.into_iter().map(|bits| crate::compare::value(dtype, bits)).collect()
}

/// The vectors that Random123 publishes for `philox4x32 10`.
#[test]
fn philox_gives_the_published_numbers() {
    let all = u32::MAX;
    assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    assert_eq!(philox([all; 4], [all; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    let counter = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
    let key = [0xa409_3822, 0x299f_31d0];
    assert_eq!(philox(counter, key), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
}

#[test]
fn the_scale_makes_a_deviation_of_one() {
    assert_eq!(NORMAL_SCALE.to_bits(), 0x3ef3_988e_1412_ed76);
    assert_eq!(NORMAL_SCALE, 1.0 / (8.0 * (65_536f64.powi(2) - 1.0) / 12.0).sqrt());
}

const UNIFORM: Rule = Rule::Uniform { low: -2.0, high: 3.0 };
const NORMAL: Rule = Rule::Normal { mean: 1.5, deviation: 0.5 };

/// What these fills have always been, made once by another program from the definition alone; a change
/// here breaks every device's kernel and every replay.
#[test]
fn frozen() {
    let hundred = Rule::Integers { low: -100, high: 100 };
    let all = Rule::Integers { low: i64::MIN, high: i64::MAX };
    let cases = [
        (Dtype::Fp64, UNIFORM),
        (Dtype::Fp32, UNIFORM),
        (Dtype::Fp16, UNIFORM),
        (Dtype::Bf16, NORMAL),
        (Dtype::Fp32, NORMAL),
        (Dtype::I8, hundred),
        (Dtype::Fp16, hundred),
        (Dtype::I64, all),
        (Dtype::I32, Rule::Permutation),
        (Dtype::Fp32, Rule::Permutation),
        (Dtype::Fp64, Rule::Poison),
        (Dtype::Fp32, Rule::Poison),
        (Dtype::Fp16, Rule::Poison),
        (Dtype::Bf16, Rule::Poison),
        (Dtype::Ui8, Rule::Poison),
        (Dtype::Ui32, Rule::Guard),
        (Dtype::Ui16, Rule::Zeros),
    ];
    let seed = 0x0123_4567_89ab_cdef;
    let lines = cases.map(|(dtype, rule)| {
        let bits = made(dtype, 5, rule, seed, 7);
        let words: Vec<String> = bits.iter().map(|bits| format!("{bits:x}")).collect();
        format!("{dtype:?} {rule:?}: {}\n", words.join(" "))
    });
    assert_eq!(lines.concat(), include_str!("frozen.txt"));
}

#[test]
fn elements_depend_on_all_that_names_them() {
    let one = made(Dtype::Ui64, 64, Rule::Poison, 1, 0);
    assert_ne!(one, made(Dtype::Ui64, 64, Rule::Poison, 1 << 32, 0));
    assert_ne!(one, made(Dtype::Ui64, 64, Rule::Poison, 1, 1));
    assert_eq!(one[..32], made(Dtype::Ui64, 32, Rule::Poison, 1, 0));
    let (dtype, rule) = (Dtype::Ui64, Rule::Poison);
    let filler = Filler::new(&Fill { dtype, count: u64::MAX, rule, seed: 1, stream: 0 });
    assert_ne!(filler.bits(3), filler.bits(3 | 1 << 32));
}

#[test]
fn distributions_are_what_they_are_called() {
    let count = 100_000;
    let moments = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (mean, (squares / values.len() as f64).sqrt())
    };
    let uniform = values(Dtype::Fp32, count, UNIFORM, 9);
    assert!(uniform.iter().all(|value| (-2.0..=3.0).contains(value)));
    let (mean, deviation) = moments(&uniform);
    assert!((mean - 0.5).abs() < 0.02 && (deviation - 5.0 / 12f64.sqrt()).abs() < 0.02);
    let normal = values(Dtype::Fp32, count, NORMAL, 9);
    assert!(normal.iter().all(|value| (value - 1.5).abs() <= 4.9 * 0.5));
    let (mean, deviation) = moments(&normal);
    assert!((mean - 1.5).abs() < 0.01 && (deviation - 0.5).abs() < 0.01);
    let within = normal.iter().filter(|value| (**value - 1.5).abs() < 0.5).count();
    assert!((0.66..0.70).contains(&(within as f64 / count as f64)));
    let mut seen = [0u32; 7];
    for value in values(Dtype::I32, count, Rule::Integers { low: -3, high: 3 }, 9) {
        seen[(value + 3.0) as usize] += 1;
    }
    assert!(seen.iter().all(|seen| (13_500..15_100).contains(seen)), "{seen:?}");
}

#[test]
fn poison_is_a_quiet_nan_and_differs() {
    for dtype in [Dtype::Fp64, Dtype::Fp32, Dtype::Fp16, Dtype::Bf16] {
        let bits = made(dtype, 1_000, Rule::Poison, 3, 0);
        assert!(bits.iter().all(|bits| crate::compare::value(dtype, *bits).is_nan()));
        assert!(bits.iter().collect::<BTreeSet<_>>().len() > 100, "{dtype:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let uniform = |low, high| Rule::Uniform { low, high };
    let normal = |mean, deviation| Rule::Normal { mean, deviation };
    let integers = |low, high| Rule::Integers { low, high };
    for (dtype, count, rule) in [
        (Dtype::I32, 1, UNIFORM),
        (Dtype::Ui8, 1, NORMAL),
        (Dtype::Fp32, 1, uniform(1.0, 0.0)),
        (Dtype::Fp32, 1, uniform(f64::NAN, 0.0)),
        (Dtype::Fp64, 1, uniform(-f64::MAX, f64::MAX)),
        (Dtype::Fp32, 1, normal(0.0, -1.0)),
        (Dtype::Fp32, 1, normal(f64::INFINITY, 1.0)),
        (Dtype::I32, 1, integers(1, 0)),
        (Dtype::Ui8, 1, integers(0, 256)),
        (Dtype::Ui64, 1, integers(-1, 1)),
        (Dtype::I8, 129, Rule::Permutation),
        (Dtype::Ui8, 257, Rule::Permutation),
        (Dtype::Fp16, 2_050, Rule::Permutation),
        (Dtype::Fp32, (1 << 24) + 2, Rule::Permutation),
        (Dtype::I32, 1, Rule::Guard),
    ] {
        assert!(check(dtype, count, rule).is_err(), "{dtype:?} {count} {rule:?}");
    }
    for (dtype, count, rule) in [
        (Dtype::Fp16, 1, uniform(2.0, 2.0)),
        (Dtype::Fp32, 1, normal(0.0, 0.0)),
        (Dtype::Ui8, 1, integers(0, 255)),
        (Dtype::I64, 1, integers(i64::MIN, i64::MAX)),
        (Dtype::Fp16, 1, integers(i64::MIN, i64::MAX)),
        (Dtype::I8, 128, Rule::Permutation),
        (Dtype::Fp16, 2_049, Rule::Permutation),
        (Dtype::Ui32, 1, Rule::Guard),
        (Dtype::I16, 1, Rule::Poison),
    ] {
        check(dtype, count, rule).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_permutation_has_every_number_once(count in 1u64..1_500, seed: u64, stream: u32) {
        let numbers = made(Dtype::Ui32, count, Rule::Permutation, seed, stream);
        prop_assert_eq!(numbers.into_iter().collect::<BTreeSet<_>>(), (0..count).collect());
    }

    #[test]
    fn integers_stay_in_their_range(low: i64, high: i64, seed: u64) {
        let (low, high) = (low.min(high), low.max(high));
        for bits in made(Dtype::I64, 50, Rule::Integers { low, high }, seed, 0) {
            prop_assert!((low..=high).contains(&(bits as i64)));
        }
    }

    #[test]
    fn the_whole_buffer_is_filled_element_by_element(seed: u64, stream: u32, count in 1u64..200, size in 0..4usize) {
        let dtype = [Dtype::Ui8, Dtype::Fp16, Dtype::Fp32, Dtype::Fp64][size];
        let what = Fill { dtype, count, rule: Rule::Poison, seed, stream };
        let mut bytes = vec![0; (count * dtype.bytes()) as usize];
        fill(&what, &mut bytes);
        let naive: Vec<u8> = made(dtype, count, Rule::Poison, seed, stream)
            .iter()
            .flat_map(|bits| bits.to_le_bytes()[..dtype.bytes() as usize].to_vec())
            .collect();
        prop_assert_eq!(bytes, naive);
    }
}

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn made(dtype: ElementType, count: u64, rule: FillRule, seed: u64, stream: u32) -> Vec<u64> {
    let filler = Filler::new(&Fill { dtype, count, rule, seed, stream });
    (0..count).map(|element| filler.bits(element)).collect()
}

fn values(dtype: ElementType, count: u64, rule: FillRule, seed: u64) -> Vec<f64> {
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

const UNIFORM: FillRule = FillRule::Uniform { low: -2.0, high: 3.0 };
const NORMAL: FillRule = FillRule::Normal { mean: 1.5, deviation: 0.5 };

/// Known results of these fills, computed once by another program from the definition alone. A change here
/// breaks every device's kernel and every replay.
#[test]
fn frozen() {
    let hundred = FillRule::Integers { low: -100, high: 100 };
    let all = FillRule::Integers { low: i64::MIN, high: i64::MAX };
    let cases = [
        (ElementType::Fp64, UNIFORM),
        (ElementType::Fp32, UNIFORM),
        (ElementType::Fp16, UNIFORM),
        (ElementType::Bf16, NORMAL),
        (ElementType::Fp32, NORMAL),
        (ElementType::I8, hundred),
        (ElementType::Fp16, hundred),
        (ElementType::I64, all),
        (ElementType::I32, FillRule::Permutation),
        (ElementType::Fp32, FillRule::Permutation),
        (ElementType::Fp64, FillRule::Poison),
        (ElementType::Fp32, FillRule::Poison),
        (ElementType::Fp16, FillRule::Poison),
        (ElementType::Bf16, FillRule::Poison),
        (ElementType::Ui8, FillRule::Poison),
        (ElementType::Ui32, FillRule::Guard),
        (ElementType::Ui16, FillRule::Zeros),
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
    let one = made(ElementType::Ui64, 64, FillRule::Poison, 1, 0);
    assert_ne!(one, made(ElementType::Ui64, 64, FillRule::Poison, 1 << 32, 0));
    assert_ne!(one, made(ElementType::Ui64, 64, FillRule::Poison, 1, 1));
    assert_eq!(one[..32], made(ElementType::Ui64, 32, FillRule::Poison, 1, 0));
    let (dtype, rule) = (ElementType::Ui64, FillRule::Poison);
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
    let uniform = values(ElementType::Fp32, count, UNIFORM, 9);
    assert!(uniform.iter().all(|value| (-2.0..=3.0).contains(value)));
    let (mean, deviation) = moments(&uniform);
    assert!((mean - 0.5).abs() < 0.02 && (deviation - 5.0 / 12f64.sqrt()).abs() < 0.02);
    let normal = values(ElementType::Fp32, count, NORMAL, 9);
    assert!(normal.iter().all(|value| (value - 1.5).abs() <= 4.9 * 0.5));
    let (mean, deviation) = moments(&normal);
    assert!((mean - 1.5).abs() < 0.01 && (deviation - 0.5).abs() < 0.01);
    let within = normal.iter().filter(|value| (**value - 1.5).abs() < 0.5).count();
    assert!((0.66..0.70).contains(&(within as f64 / count as f64)));
    let mut seen = [0u32; 7];
    for value in values(ElementType::I32, count, FillRule::Integers { low: -3, high: 3 }, 9) {
        seen[(value + 3.0) as usize] += 1;
    }
    assert!(seen.iter().all(|seen| (13_500..15_100).contains(seen)), "{seen:?}");
}

#[test]
fn poison_is_a_quiet_nan_and_differs() {
    for dtype in [ElementType::Fp64, ElementType::Fp32, ElementType::Fp16, ElementType::Bf16] {
        let bits = made(dtype, 1_000, FillRule::Poison, 3, 0);
        assert!(bits.iter().all(|bits| crate::compare::value(dtype, *bits).is_nan()));
        assert!(bits.iter().collect::<BTreeSet<_>>().len() > 100, "{dtype:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let uniform = |low, high| FillRule::Uniform { low, high };
    let normal = |mean, deviation| FillRule::Normal { mean, deviation };
    let integers = |low, high| FillRule::Integers { low, high };
    for (dtype, count, rule) in [
        (ElementType::I32, 1, UNIFORM),
        (ElementType::Ui8, 1, NORMAL),
        (ElementType::Fp32, 1, uniform(1.0, 0.0)),
        (ElementType::Fp32, 1, uniform(f64::NAN, 0.0)),
        (ElementType::Fp64, 1, uniform(-f64::MAX, f64::MAX)),
        (ElementType::Fp32, 1, normal(0.0, -1.0)),
        (ElementType::Fp32, 1, normal(f64::INFINITY, 1.0)),
        (ElementType::I32, 1, integers(1, 0)),
        (ElementType::Ui8, 1, integers(0, 256)),
        (ElementType::Ui64, 1, integers(-1, 1)),
        (ElementType::I8, 129, FillRule::Permutation),
        (ElementType::Ui8, 257, FillRule::Permutation),
        (ElementType::Fp16, 2_050, FillRule::Permutation),
        (ElementType::Fp32, (1 << 24) + 2, FillRule::Permutation),
        (ElementType::I32, 1, FillRule::Guard),
    ] {
        assert!(check(dtype, count, rule).is_err(), "{dtype:?} {count} {rule:?}");
    }
    for (dtype, count, rule) in [
        (ElementType::Fp16, 1, uniform(2.0, 2.0)),
        (ElementType::Fp32, 1, normal(0.0, 0.0)),
        (ElementType::Ui8, 1, integers(0, 255)),
        (ElementType::I64, 1, integers(i64::MIN, i64::MAX)),
        (ElementType::Fp16, 1, integers(i64::MIN, i64::MAX)),
        (ElementType::I8, 128, FillRule::Permutation),
        (ElementType::Fp16, 2_049, FillRule::Permutation),
        (ElementType::Ui32, 1, FillRule::Guard),
        (ElementType::I16, 1, FillRule::Poison),
    ] {
        check(dtype, count, rule).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_permutation_has_every_number_once(count in 1u64..1_500, seed: u64, stream: u32) {
        let numbers = made(ElementType::Ui32, count, FillRule::Permutation, seed, stream);
        prop_assert_eq!(numbers.into_iter().collect::<BTreeSet<_>>(), (0..count).collect());
    }

    #[test]
    fn integers_stay_in_their_range(low: i64, high: i64, seed: u64) {
        let (low, high) = (low.min(high), low.max(high));
        for bits in made(ElementType::I64, 50, FillRule::Integers { low, high }, seed, 0) {
            prop_assert!((low..=high).contains(&(bits as i64)));
        }
    }

    #[test]
    fn the_whole_buffer_is_filled_element_by_element(seed: u64, stream: u32, count in 1u64..200, size in 0..4usize) {
        let dtype = [ElementType::Ui8, ElementType::Fp16, ElementType::Fp32, ElementType::Fp64][size];
        let what = Fill { dtype, count, rule: FillRule::Poison, seed, stream };
        let mut bytes = vec![0; (count * dtype.bytes()) as usize];
        fill(&what, &mut bytes);
        let naive: Vec<u8> = made(dtype, count, FillRule::Poison, seed, stream)
            .iter()
            .flat_map(|bits| bits.to_le_bytes()[..dtype.bytes() as usize].to_vec())
            .collect();
        prop_assert_eq!(bytes, naive);
    }
}

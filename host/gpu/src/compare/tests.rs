use proptest::prelude::*;

use super::*;
use crate::device::FillRule;

fn tolerance(absolute: f64, relative: f64, matched_ratio: f64) -> BufferTolerance {
    BufferTolerance { absolute, relative, matched_ratio, allow_nonfinite: false }
}

fn poison(dtype: ElementType, count: usize) -> Fill {
    Fill { dtype, count: count as u64, rule: FillRule::Poison, seed: 5, stream: 1 }
}

fn singles(got: &[f32], want: &[f32], tolerance: &BufferTolerance) -> BufferComparison {
    let bytes =
        |values: &[f32]| values.iter().flat_map(|one| one.to_le_bytes()).collect::<Vec<_>>();
    compare(&bytes(got), &bytes(want), &poison(ElementType::Fp32, got.len()), tolerance)
}

#[test]
fn counts_maxima_and_the_first_wrong_one() {
    let report = singles(&[1.0, 2.5, -4.0, 8.0], &[1.0, 2.0, 4.0, 8.0], &tolerance(0.5, 0.0, 1.0));
    assert_eq!(
        report,
        BufferComparison {
            ok: false,
            mismatched: 1,
            absolute_max: 8.0,
            relative_max: 2.0,
            got_nonfinite: 0,
            never_written: 0,
            first_wrong: Some(2),
            got_there: -4.0,
            want_there: 4.0,
        }
    );
    let alike = singles(&[0.5], &[0.5], &tolerance(0.0, 0.0, 1.0));
    assert!(alike.ok && alike.first_wrong.is_none() && alike.absolute_max == 0.0);
}

#[test]
fn tolerance_is_absolute_and_relative() {
    let ok = |got, want, absolute, relative| {
        singles(&[got], &[want], &tolerance(absolute, relative, 1.0)).ok
    };
    assert!(ok(1.5, 1.0, 0.5, 0.0) && !ok(1.5, 1.0, 0.499, 0.0));
    assert!(ok(-11.0, -10.0, 0.0, 0.1) && !ok(-11.0, -10.0, 0.0, 0.099));
    assert!(ok(12.0, 10.0, 1.0, 0.1) && !ok(12.5, 10.0, 1.0, 0.1));
    // A difference from zero is not relative, and counts for no maximum of these either.
    let report = singles(&[1e-3], &[0.0], &tolerance(0.0, 0.5, 1.0));
    assert!(!report.ok && report.relative_max == 0.0 && report.absolute_max > 0.0);
}

#[test]
fn what_is_not_finite_is_no_wildcard() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let strict = tolerance(1e9, 1e9, 1.0);
    let loose = BufferTolerance { allow_nonfinite: true, ..strict };
    for (got, want, strictly, loosely) in [
        (nan, 1.0, false, false),
        (inf, 1.0, false, false),
        (1.0, nan, false, false),
        (1.0, inf, false, false),
        (nan, nan, true, true),
        (inf, inf, true, true),
        (-inf, inf, false, true),
        (nan, inf, false, true),
        (inf, nan, false, true),
    ] {
        let [strict, loose] = [strict, loose].map(|tolerance| singles(&[got], &[want], &tolerance));
        assert_eq!((strict.ok, loose.ok), (strictly, loosely), "{got} for {want}");
        assert_eq!(strict.got_nonfinite, u64::from(!got.is_finite()));
        assert_eq!(strict.absolute_max, 0.0);
    }
}

#[test]
fn a_share_may_be_wrong_but_none_left_out() {
    let want = vec![1.0; 100];
    let mut got = want.clone();
    got[7] = 2.0;
    got[9] = 2.0;
    assert!(singles(&got, &want, &tolerance(0.0, 0.0, 0.98)).ok);
    assert!(!singles(&got, &want, &tolerance(0.0, 0.0, 0.99)).ok);
    let filler = Filler::new(&poison(ElementType::Fp32, 100));
    got[9] = f32::from_bits(filler.bits(9) as u32);
    let report = singles(&got, &want, &tolerance(0.0, 0.0, 0.5));
    assert_eq!((report.ok, report.mismatched, report.never_written), (false, 2, 1));
    // Another element's poison is just a wrong number.
    got[9] = f32::from_bits(filler.bits(8) as u32);
    assert_eq!(singles(&got, &want, &tolerance(0.0, 0.0, 0.5)).never_written, 0);
}

#[test]
fn a_small_integer_may_be_the_poison_by_chance() {
    let loose = tolerance(0.0, 0.0, 0.5);
    let filler = Filler::new(&poison(ElementType::Ui8, 10_000));
    let want = [7; 10_000];
    // A wrong one each third time, with a value of its own each time.
    let written: Vec<u8> = (0..10_000_u32)
        .map(|at| if at % 3 == 0 { (at.wrapping_mul(2_654_435_761) >> 24) as u8 } else { 7 })
        .collect();
    let compared = |got: &[u8]| compare(got, &want, &poison(ElementType::Ui8, 10_000), &loose);
    let report = compared(&written);
    assert!(report.ok && report.never_written > 0, "{report:?}");
    let mut left_out = written;
    for at in (0..10_000).step_by(100) {
        left_out[at] = filler.bits(at as u64) as u8;
    }
    let report = compared(&left_out);
    assert!(!report.ok, "{report:?}");
    let most = |dtype, mismatched| chance_max(dtype, mismatched).floor();
    assert_eq!([0, 1, 2_560].map(|wrong| most(ElementType::I8, wrong)), [0.0, 2.0, 30.0]);
    assert_eq!(most(ElementType::Ui16, 65_536), 9.0);
    assert_eq!(most(ElementType::I32, u64::MAX), 0.0);
}

#[test]
fn integers_are_equal_or_not() {
    let compared = |dtype: ElementType, got: &[u8], want: &[u8]| {
        let count = got.len() / dtype.bytes() as usize;
        compare(got, want, &poison(dtype, count), &tolerance(1e9, 1e9, 1.0))
    };
    let report = compared(ElementType::I8, &[0xff, 3], &[1, 3]);
    assert_eq!((report.mismatched, report.absolute_max, report.got_there), (1, 2.0, -1.0));
    let report = compared(ElementType::Ui8, &[0xff, 3], &[1, 3]);
    assert_eq!((report.absolute_max, report.relative_max), (254.0, 254.0));
    let near = (1u64 << 60).to_le_bytes();
    let nearer = ((1u64 << 60) + 1).to_le_bytes();
    let report = compared(ElementType::Ui64, &near, &nearer);
    assert_eq!((report.mismatched, report.absolute_max), (1, 0.0));
}

#[test]
fn every_type_has_its_values() {
    for (dtype, bits, want) in [
        (ElementType::Fp64, 0x4004_0000_0000_0000, 2.5),
        (ElementType::Fp32, 0x4020_0000, 2.5),
        (ElementType::Fp16, 0x4100, 2.5),
        (ElementType::Bf16, 0x4020, 2.5),
        (ElementType::Fp16, 0x0001, 2f64.powi(-24)),
        (ElementType::I64, u64::MAX, -1.0),
        (ElementType::I32, 0xffff_fffe, -2.0),
        (ElementType::I16, 0x8000, -32_768.0),
        (ElementType::I8, 0x80, -128.0),
        (ElementType::Ui64, u64::MAX, 18_446_744_073_709_551_615.0),
        (ElementType::Ui32, 0xffff_ffff, 4_294_967_295.0),
        (ElementType::Ui16, 0xffff, 65_535.0),
        (ElementType::Ui8, 0xff, 255.0),
    ] {
        assert_eq!(value(dtype, bits), want, "{dtype:?}");
    }
}

fn any_single() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -4.0..4.0f32,
        1 => any::<f32>(),
        1 => prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The definition again, one number after the other.
    #[test]
    fn as_defined(
        pairs in prop::collection::vec((any_single(), any_single(), any::<bool>(), any::<bool>()), 1..60),
        absolute in 0.0..1.0f64,
        relative in 0.0..1.0f64,
        matched_ratio in 0.0..=1.0f64,
        allow_nonfinite: bool,
    ) {
        let filler = Filler::new(&poison(ElementType::Fp32, pairs.len()));
        let left_out = |at: usize| f32::from_bits(filler.bits(at as u64) as u32);
        let (got, want): (Vec<f32>, Vec<f32>) = pairs
            .iter()
            .enumerate()
            .map(|(at, (got, want, same, left))| {
                (if *left { left_out(at) } else if *same { *want } else { *got }, *want)
            })
            .unzip();
        let tolerance = BufferTolerance { absolute, relative, matched_ratio, allow_nonfinite };
        let report = singles(&got, &want, &tolerance);
        let is_wrong = |at: &usize| {
            let (got, want) = (f64::from(got[*at]), f64::from(want[*at]));
            match (got.is_finite(), want.is_finite()) {
                (true, true) => (got - want).abs() > absolute + relative * want.abs(),
                (false, false) => {
                    let alike = got.is_nan() == want.is_nan() && (got.is_nan() || got == want);
                    !alike && !allow_nonfinite
                }
                _ => true,
            }
        };
        let wrong: Vec<usize> = (0..got.len()).filter(is_wrong).collect();
        let never = wrong.iter().filter(|at| got[**at].to_bits() == left_out(**at).to_bits()).count();
        prop_assert_eq!(report.mismatched, wrong.len() as u64);
        prop_assert_eq!(report.never_written, never as u64);
        prop_assert_eq!(report.first_wrong, wrong.first().map(|at| *at as u64));
        prop_assert_eq!(report.got_nonfinite, got.iter().filter(|got| !got.is_finite()).count() as u64);
        prop_assert_eq!(
            report.ok,
            never == 0 && wrong.len() as f64 <= (1.0 - matched_ratio) * got.len() as f64
        );
    }
}

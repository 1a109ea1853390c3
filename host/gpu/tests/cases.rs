//! The judge's kernels beside what they define, bit for bit: `assay_gpu::fill` and `assay_gpu::compare`.
//! A GPU runs the same cases (`tests/gpu`).

#![expect(clippy::unwrap_used, reason = "tests")]

use assay_gpu::compare::compare;
use assay_gpu::cuda::CudaDevice;
use assay_gpu::device::{BufferTolerance, Compared, Device, DeviceProblem, Fill, FillRule};
use assay_gpu::fill::{check, fill};
use assay_gpu::types::ElementType;

const DTYPES: [ElementType; 12] = [
    ElementType::Fp64,
    ElementType::Fp32,
    ElementType::Fp16,
    ElementType::Bf16,
    ElementType::I64,
    ElementType::I32,
    ElementType::I16,
    ElementType::I8,
    ElementType::Ui64,
    ElementType::Ui32,
    ElementType::Ui16,
    ElementType::Ui8,
];

const RULES: [FillRule; 13] = [
    FillRule::Zeros,
    FillRule::Uniform { low: -1.0, high: 1.0 },
    FillRule::Uniform { low: 1e300, high: 1.5e300 },
    FillRule::Uniform { low: -1e-310, high: 3e-7 },
    FillRule::Normal { mean: 0.0, deviation: 1.0 },
    FillRule::Normal { mean: -1e5, deviation: 3e4 },
    FillRule::Normal { mean: 3e38, deviation: 1e38 },
    FillRule::Integers { low: 0, high: 99 },
    FillRule::Integers { low: -100, high: 100 },
    FillRule::Integers { low: i64::MIN, high: i64::MAX },
    FillRule::Permutation,
    FillRule::Poison,
    FillRule::Guard,
];

const BEHIND: u8 = 0xa5;

fn buffer(device: &mut CudaDevice, bytes: &[u8]) -> u64 {
    let at = device.alloc(bytes.len() as u64).unwrap();
    device.write(at, bytes).unwrap();
    at
}

fn native(wanted: &Fill) -> Vec<u8> {
    let mut bytes = vec![0; (wanted.count * wanted.dtype.bytes()) as usize];
    fill(wanted, &mut bytes);
    bytes
}

/// Beside what the definition gives, with what lies behind.
fn check_fill(device: &mut CudaDevice, wanted: &Fill) {
    let bytes = (wanted.count * wanted.dtype.bytes()) as usize;
    let at = buffer(device, &vec![BEHIND; bytes + 16]);
    device.fill(at, wanted).unwrap();
    device.finish().unwrap();
    let mut expected = native(wanted);
    expected.extend([BEHIND; 16]);
    let mut found = vec![0; bytes + 16];
    device.read(at, &mut found).unwrap();
    let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!(wrong, None, "the first byte that differs of {wanted:?}");
}

pub fn fills_are_those_that_are_defined(device: &mut CudaDevice) {
    let mut filled = 0;
    for (stream, dtype) in DTYPES.into_iter().enumerate() {
        for (number, rule) in RULES.into_iter().enumerate() {
            let count = [0, 1, 2, 5, 31, 64, 77, 255, 256][(number + stream) % 9];
            if check(dtype, count, rule).is_err() {
                continue;
            }
            let seed = 0x0123_4567_89ab_cdef ^ ((number as u64) << 40);
            let stream = stream as u32 * 7;
            check_fill(device, &Fill { dtype, count, rule, seed, stream });
            filled += 1;
        }
    }
    assert!(filled > 60, "{filled} rules fit a type");
}

pub fn permutations_of_every_size_are_those_that_are_defined(device: &mut CudaDevice) {
    let rule = FillRule::Permutation;
    for count in [1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 100, 257, 1000] {
        check_fill(device, &Fill { dtype: ElementType::I32, count, rule, seed: count, stream: 3 });
    }
    for dtype in [ElementType::Fp64, ElementType::Fp16, ElementType::Ui64, ElementType::Ui8] {
        check_fill(device, &Fill { dtype, count: 200, rule, seed: 1, stream: 0 });
    }
}

pub fn a_fill_has_more_elements_than_threads(device: &mut CudaDevice) {
    // 2048 blocks of 256 threads, and some.
    let count = 2048 * 256 + 3;
    let rule = FillRule::Integers { low: 0, high: 255 };
    check_fill(device, &Fill { dtype: ElementType::Ui8, count, rule, seed: 9, stream: 1 });
}

pub fn what_does_not_fit_is_refused(device: &mut CudaDevice) {
    let at = buffer(device, &[0; 64]);
    let rule = FillRule::Uniform { low: 0.0, high: 1.0 };
    let wrong = Fill { dtype: ElementType::I32, count: 4, rule, seed: 0, stream: 0 };
    assert!(matches!(device.fill(at, &wrong), Err(DeviceProblem::Failed(_))));
}

fn elements(dtype: ElementType, count: u64, seed: u64) -> Vec<u8> {
    let rule = if dtype.is_float() {
        FillRule::Normal { mean: 0.0, deviation: 2.0 }
    } else {
        FillRule::Integers { low: 0, high: 100 }
    };
    native(&Fill { dtype, count, rule, seed, stream: 4 })
}

fn infinity(dtype: ElementType) -> u64 {
    match dtype {
        ElementType::Fp64 => 0x7ff0 << 48,
        ElementType::Fp32 => 0x7f80_0000,
        ElementType::Fp16 => 0x7c00,
        ElementType::Bf16 => 0x7f80,
        _ => 0x7f,
    }
}

/// `want`, changed here and there, each time in another way.
fn changed(dtype: ElementType, want: &[u8], poison: &[u8]) -> Vec<u8> {
    let size = dtype.bytes() as usize;
    let mut got = want.to_vec();
    let sign = 1 << (8 * size - 1);
    for (number, element) in got.chunks_exact_mut(size).enumerate() {
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(element);
        let bits = u64::from_le_bytes(bits);
        let bits = match number % 40 {
            3 => bits ^ 1,
            9 => bits ^ sign,
            14 => infinity(dtype),
            15 => infinity(dtype) | sign,
            22 => infinity(dtype) | 1,
            27 => bits.wrapping_add(1 << (4 * size)),
            31 => 0,
            35 => {
                element.copy_from_slice(&poison[number * size..][..size]);
                continue;
            }
            _ => bits,
        };
        element.copy_from_slice(&bits.to_le_bytes()[..size]);
    }
    got
}

fn check_compare(
    device: &mut CudaDevice,
    got: &[u8],
    want: &[u8],
    poison: &Fill,
    tolerance: BufferTolerance,
) {
    let compared = Compared {
        got: buffer(device, got),
        want: buffer(device, want),
        poison: *poison,
        tolerance,
    };
    let found = device.compare(&compared).unwrap();
    let expected = compare(got, want, poison, &tolerance);
    // Not by `==`: what is there may be no number.
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{poison:?}, {tolerance:?}");
}

pub fn comparisons_are_those_that_are_defined(device: &mut CudaDevice) {
    for dtype in DTYPES {
        for (count, allow_nonfinite) in [(1, false), (37, true), (300, false), (301, true)] {
            let poison = Fill { dtype, count, rule: FillRule::Poison, seed: 5, stream: 2 };
            let (absolute, relative) = if count == 300 { (0.5, 0.25) } else { (1e-3, 1e-3) };
            let tolerance =
                BufferTolerance { absolute, relative, matched_ratio: 0.5, allow_nonfinite };
            let want = elements(dtype, count, count);
            let unwritten = native(&poison);
            let got = changed(dtype, &want, &unwritten);
            check_compare(device, &want, &want, &poison, tolerance);
            check_compare(device, &got, &want, &poison, tolerance);
            // Where the reference is the strange one.
            check_compare(device, &want, &got, &poison, tolerance);
            check_compare(device, &got, &got, &poison, tolerance);
            check_compare(device, &unwritten, &want, &poison, tolerance);
        }
    }
}

pub fn extremes_of_doubles(device: &mut CudaDevice) {
    let bytes = |numbers: &[f64]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    let want = bytes(&[f64::MAX, 5e-324, -0.0, 1.0, 0.0, f64::MIN_POSITIVE]);
    let got = bytes(&[-f64::MAX, 0.0, 0.0, 1.0 + f64::EPSILON, 5e-324, f64::MAX]);
    let poison =
        Fill { dtype: ElementType::Fp64, count: 6, rule: FillRule::Poison, seed: 0, stream: 0 };
    for (absolute, relative) in [(0.0, 0.0), (0.0, f64::EPSILON), (1e-323, 0.0), (1.0, 2.0)] {
        let tolerance =
            BufferTolerance { absolute, relative, matched_ratio: 1.0, allow_nonfinite: false };
        check_compare(device, &got, &want, &poison, tolerance);
    }
}

pub fn one_byte_makes_a_difference(device: &mut CudaDevice) {
    for count in [1, 7, 8, 9, 255, 2048, 2055] {
        let one: Vec<u8> = (0..count).map(|byte| byte as u8).collect();
        let at = buffer(device, &one);
        let other = buffer(device, &one);
        assert!(device.equal(at, other, count as u64).unwrap());
        for place in [0, count / 2, count - 1] {
            device.write(other + place as u64, &[!one[place]]).unwrap();
            assert!(!device.equal(at, other, count as u64).unwrap(), "{place} of {count}");
            device.write(other + place as u64, &one[place..=place]).unwrap();
        }
    }
    let at = buffer(device, &[0; 16]);
    assert!(device.equal(at, at, 0).unwrap());
    assert!(matches!(device.equal(at + 1, at, 4), Err(DeviceProblem::Failed(_))));
}

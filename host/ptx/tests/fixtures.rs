//! Kernels as NVRTC compiles them (`fixtures/`), each against plain Rust.

use crate::device::Device;

macro_rules! device {
    ($name:literal) => {
        Device::new(include_str!(concat!("../fixtures/", $name, ".ptx")))
    };
}

/// Reproducible values in [-1, 1).
pub fn floats(count: usize, seed: u32) -> Vec<f32> {
    integers(count, seed).iter().map(|value| *value as f32 / (1 << 30) as f32 / 2.0).collect()
}

pub fn integers(count: usize, seed: u32) -> Vec<i32> {
    let next = |state: &mut u32| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some((*state ^ (*state >> 15)).wrapping_mul(0x2c1b_3c6d) as i32)
    };
    std::iter::repeat_n((), count).scan(seed, |state, ()| next(state)).collect()
}

#[track_caller]
pub fn assert_close(got: &[f32], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    for (at, (got, want)) in got.iter().zip(want).enumerate() {
        let error = (f64::from(*got) - want).abs();
        assert!(error <= tolerance * want.abs().max(1.0), "element {at}: {got} and not {want}");
    }
}

#[test]
fn vadd_is_exact_and_stops_at_n() {
    let mut device = device!("vadd");
    let (a, b) = (floats(1000, 1), floats(1000, 2));
    let (at_a, at_b, at_c) = (device.buffer(&a), device.buffer(&b), device.buffer(&[7f32; 1010]));
    let stats = device.run(
        "vadd",
        [4, 1, 1],
        [256, 1, 1],
        0,
        vec![at_a.into(), at_b.into(), at_c.into(), 1000i32.into()],
    );
    let want: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).chain([7.0; 10]).collect();
    assert_eq!(device.elements::<f32>(at_c, 1010), want);
    assert_eq!(stats.blocks, 4);
    assert!(stats.steps > 10_000);
}

#[test]
fn saxpy_by_one_and_by_four() {
    for (kernel, count) in [("saxpy", 777), ("saxpy4", 128)] {
        let mut device = device!("saxpy");
        let length = if kernel == "saxpy" { count } else { 4 * count };
        let (x, y) = (floats(length, 3), floats(length, 4));
        let (at_x, at_y) = (device.buffer(&x), device.buffer(&y));
        device.run(
            kernel,
            [2, 1, 1],
            [96, 1, 1],
            0,
            vec![1.5f32.into(), at_x.into(), at_y.into(), (count as i32).into()],
        );
        let want: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 1.5f32.mul_add(*x, *y)).collect();
        assert_eq!(device.elements::<f32>(at_y, length), want);
    }
}

#[test]
fn matmul_with_ragged_edges() {
    let mut device = device!("matmul");
    let (m, n, k) = (37, 29, 43);
    let (a, b) = (floats(m * k, 5), floats(k * n, 6));
    let (at_a, at_b, at_c) =
        (device.buffer(&a), device.buffer(&b), device.buffer(&vec![0f32; m * n]));
    let sizes = [m, n, k].map(|size| assay_ptx::LaunchArg::from(size as i32));
    let args = [at_a.into(), at_b.into(), at_c.into()].into_iter().chain(sizes).collect();
    device.run("matmul", [2, 3, 1], [16, 16, 1], 0, args);
    let mut want = vec![0f32; m * n];
    for row in 0..m {
        for column in 0..n {
            let products = (0..k).map(|i| (a[row * k + i], b[i * n + column]));
            want[row * n + column] = products.fold(0.0, |sum, (a, b)| a.mul_add(b, sum));
        }
    }
    assert_eq!(
        device.elements::<f32>(at_c, m * n),
        want,
        "the order of the sums is that of the kernel"
    );
}

#[test]
fn reduce_in_dynamic_shared_memory() {
    let mut device = device!("reduce");
    let x: Vec<f32> = integers(1000, 7).iter().map(|value| (value % 100) as f32).collect();
    let (at_x, at_total) = (device.buffer(&x), device.buffer(&[0f32]));
    device.run(
        "reduce",
        [4, 1, 1],
        [256, 1, 1],
        1024,
        vec![at_x.into(), at_total.into(), 1000i32.into()],
    );
    assert_eq!(
        device.elements::<f32>(at_total, 1),
        [x.iter().sum::<f32>()],
        "small whole numbers add exactly"
    );
}

#[test]
fn softmax_by_shuffles() {
    let mut device = device!("softmax");
    let (rows, columns) = (5, 77);
    let x: Vec<f32> = floats(rows * columns, 8).iter().map(|value| value * 20.0).collect();
    let (at_x, at_y) = (device.buffer(&x), device.buffer(&vec![0f32; x.len()]));
    device.run("softmax", [5, 1, 1], [32, 1, 1], 0, vec![at_x.into(), at_y.into(), 77i32.into()]);
    let want: Vec<f64> = x
        .chunks(columns)
        .flat_map(|row| {
            let powers: Vec<f64> = row.iter().map(|value| f64::from(*value).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(move |power| power / sum)
        })
        .collect();
    assert_close(&device.elements(at_y, x.len()), &want, 1e-6);
}

#[test]
fn transpose_by_tiles() {
    let mut device = device!("transpose");
    let (rows, columns) = (50, 71);
    let x = floats(rows * columns, 9);
    let (at_x, at_y) = (device.buffer(&x), device.buffer(&vec![0f32; x.len()]));
    device.run(
        "transpose",
        [3, 2, 1],
        [32, 8, 1],
        0,
        vec![at_x.into(), at_y.into(), 50i32.into(), 71i32.into()],
    );
    let want: Vec<f32> = (0..columns)
        .flat_map(|c| (0..rows).map(move |r| (r, c)))
        .map(|(r, c)| x[r * columns + c])
        .collect();
    assert_eq!(device.elements::<f32>(at_y, x.len()), want);
}

#[test]
fn scan_of_a_block() {
    let mut device = device!("scan");
    let x: Vec<i32> = integers(500, 10).iter().map(|value| value % 1000).collect();
    let (at_x, at_y) = (device.buffer(&x), device.buffer(&[0i32; 500]));
    device.run("scan", [1, 1, 1], [512, 1, 1], 0, vec![at_x.into(), at_y.into(), 500i32.into()]);
    let want: Vec<i32> = x
        .iter()
        .scan(0, |sum, value| {
            *sum += value;
            Some(*sum)
        })
        .collect();
    assert_eq!(device.elements::<i32>(at_y, 500), want);
}

#[test]
fn histogram_by_atomics() {
    let mut device = device!("histogram");
    let x: Vec<u8> = integers(5000, 11).iter().map(|value| (value >> 7) as u8).collect();
    let (at_x, at_counts) = (device.buffer(&x), device.buffer(&[0u32; 256]));
    device.run(
        "histogram",
        [3, 1, 1],
        [128, 1, 1],
        0,
        vec![at_x.into(), at_counts.into(), 5000i32.into()],
    );
    let mut want = [0u32; 256];
    x.iter().for_each(|value| want[usize::from(*value)] += 1);
    assert_eq!(device.elements::<u32>(at_counts, 256), want);
}

#[test]
fn gelu_in_three_ways() {
    let mut device = device!("gelu");
    let x: Vec<f32> = (0..200).map(|i| (i - 100) as f32 * 0.06).collect();
    let zeros = [0f32; 200];
    let (at_x, exact, by_tanh, fast) =
        (device.buffer(&x), device.buffer(&zeros), device.buffer(&zeros), device.buffer(&zeros));
    let args = vec![at_x.into(), exact.into(), by_tanh.into(), fast.into(), 200i32.into()];
    device.run("gelu", [2, 1, 1], [128, 1, 1], 0, args);
    let tanh = |v: f64| 0.5 * v * (1.0 + (0.797_884_56 * (v + 0.044_715 * v * v * v)).tanh());
    let want = |of: &dyn Fn(f64) -> f64| x.iter().map(|v| of(f64::from(*v))).collect::<Vec<f64>>();
    assert_close(&device.elements(by_tanh, 200), &want(&tanh), 1e-6);
    assert_close(&device.elements(fast, 200), &want(&|v| v / (1.0 + (-1.702 * v).exp())), 1e-6);
    // The forms by tanh and by erf differ by less than this.
    assert_close(&device.elements(exact, 200), &want(&tanh), 6e-4);
    // At 3, where erf(3 / sqrt 2) = 0.9973002039367398; in the middle; and at the far ends.
    let exact: Vec<f32> = device.elements(exact, 200);
    assert!((f64::from(exact[150]) - 1.5 * 1.997_300_203_936_739_8).abs() < 1e-6);
    assert_eq!(exact[100], 0.0);
    assert!(exact[0].abs() < 1e-6 && (exact[199] - x[199]).abs() < 1e-6);
}

#[test]
fn layernorm_of_rows() {
    let mut device = device!("layernorm");
    let (rows, columns) = (3, 200);
    let (x, weight, bias) = (floats(rows * columns, 12), floats(columns, 13), floats(columns, 14));
    let args =
        vec![device.buffer(&x).into(), device.buffer(&weight).into(), device.buffer(&bias).into()];
    let at_y = device.buffer(&vec![0f32; x.len()]);
    let args = args.into_iter().chain([at_y.into(), 200i32.into(), 1e-5f32.into()]).collect();
    device.run("layernorm", [3, 1, 1], [128, 1, 1], 0, args);
    let mut want = Vec::new();
    for row in x.chunks(columns) {
        let mean = row.iter().map(|v| f64::from(*v)).sum::<f64>() / columns as f64;
        let variance =
            row.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / columns as f64;
        let normal = |v: &f32| (f64::from(*v) - mean) / (variance + 1e-5).sqrt();
        want.extend(
            row.iter()
                .zip(&weight)
                .zip(&bias)
                .map(|((v, w), b)| normal(v) * f64::from(*w) + f64::from(*b)),
        );
    }
    assert_close(&device.elements(at_y, x.len()), &want, 2e-6);
}

#[test]
fn stencil_in_double_precision() {
    let mut device = device!("stencil");
    let (rows, columns) = (20i32, 33i32);
    let x: Vec<f64> = floats(660, 15).iter().map(|value| f64::from(*value)).collect();
    let (at_x, at_y) = (device.buffer(&x), device.buffer(&[0f64; 660]));
    device.run(
        "stencil",
        [3, 3, 1],
        [16, 8, 1],
        0,
        vec![at_x.into(), at_y.into(), rows.into(), columns.into()],
    );
    let at = |r: i32, c: i32| {
        let inside = (0..rows).contains(&r) && (0..columns).contains(&c);
        if inside { x[(r * columns + c) as usize] } else { 0.0 }
    };
    let got = device.elements::<f64>(at_y, 660);
    for (index, got) in got.iter().enumerate() {
        let (r, c) = (index as i32 / columns, index as i32 % columns);
        let sum = -4.0 * at(r, c) + at(r - 1, c) + at(r + 1, c) + at(r, c - 1) + at(r, c + 1);
        let want = sum / 3.0 + sum.abs().sqrt();
        assert!((got - want).abs() <= 1e-7 * want.abs().max(1e-6), "{r},{c}: {got} and not {want}");
    }
}

#[test]
fn divergence_early_return_and_a_switch() {
    let mut device = device!("diverge");
    let x: Vec<u32> = (1..=100).collect();
    let (at_x, steps, odd) =
        (device.buffer(&x), device.buffer(&[0u32; 100]), device.buffer(&[0u32; 100]));
    device.run(
        "collatz",
        [1, 1, 1],
        [128, 1, 1],
        0,
        vec![at_x.into(), steps.into(), odd.into(), 100i32.into()],
    );
    let count = |v: &u32| {
        std::iter::successors(Some(*v), |v| {
            (*v > 1).then(|| if v % 2 == 1 { 3 * v + 1 } else { v / 2 })
        })
        .count() as u32
            - 1
    };
    assert_eq!(device.elements::<u32>(steps, 100), x.iter().map(count).collect::<Vec<_>>());
    let lanes = |i: usize| if i < 96 { 16 } else { 2 };
    assert_eq!(device.elements::<u32>(odd, 100), (0..100).map(lanes).collect::<Vec<_>>());

    let x: Vec<i32> = integers(100, 16).iter().map(|value| value >> 20).collect();
    let (at_x, at_y) = (device.buffer(&x), device.buffer(&[0i32; 100]));
    device.run("choose", [2, 1, 1], [64, 1, 1], 0, vec![at_x.into(), at_y.into(), 100i32.into()]);
    let choose = |v: &i32| {
        let v = *v;
        let y = match v & 3 {
            0 => v / 7,
            1 => return v % 5,
            2 => (v.leading_zeros() as i32).wrapping_add(v.reverse_bits()),
            _ => v.min(100).wrapping_mul(v.max(-3)),
        };
        if v > 50 { y ^ 0x5555 } else { y }
    };
    assert_eq!(device.elements::<i32>(at_y, 100), x.iter().map(choose).collect::<Vec<_>>());
}

#[test]
fn local_arrays_and_a_called_function() {
    let mut device = device!("locals");
    let x: Vec<i32> = integers(50, 17).iter().map(|value| value >> 16).collect();
    let (at_x, at_y) = (device.buffer(&x), device.buffer(&[0i64; 50]));
    device.run("locals", [1, 1, 1], [64, 1, 1], 0, vec![at_x.into(), at_y.into(), 50i32.into()]);
    let primes = [2, 3, 5, 7, 11, 13, 17, 19];
    let one = |i: usize| {
        let mut slots: Vec<i32> =
            (0..16).map(|j| x[(i + j) % 50].wrapping_mul(primes[j & 7])).collect();
        (0..64).fold(0i64, |sum, j| {
            let at = (x[i].wrapping_add(j * 5) & 15) as usize;
            slots[at] = slots[at].wrapping_add(j);
            let b = slots[(at * 7) & 15];
            sum.wrapping_mul(31).wrapping_add(i64::from(b ^ (b >> 3)))
        })
    };
    assert_eq!(device.elements::<i64>(at_y, 50), (0..50).map(one).collect::<Vec<_>>());
}

#[test]
fn integers_of_all_widths_and_compare_and_swap() {
    let mut device = device!("integers");
    let (high, low) = (integers(64, 18), integers(64, 19));
    let x: Vec<i64> = high
        .iter()
        .zip(&low)
        .map(|(high, low)| (i64::from(*high) << 32) | i64::from(*low as u32))
        .collect();
    let (at_x, at_y, bytes, best) = (
        device.buffer(&x),
        device.buffer(&[0i64; 64]),
        device.buffer(&[0u8; 64]),
        device.buffer(&[5u64]),
    );
    device.run(
        "integers",
        [1, 1, 1],
        [64, 1, 1],
        0,
        vec![at_x.into(), at_y.into(), bytes.into(), best.into(), 64i32.into()],
    );
    let one = |i: usize| {
        let v = x[i];
        let high = ((i128::from(v) * i128::from(0x0123_4567_89ab_cdef_i64)) >> 64) as i64;
        let counts = i64::from(v.count_ones()) + i64::from(v.leading_zeros());
        let mut r = (v / 1_000_003 + v % 97).wrapping_add(high).wrapping_add(counts);
        r ^= v.wrapping_shl(i as u32) | (v as u64 >> (i & 31)) as i64;
        let b = v.to_le_bytes();
        let permuted = u32::from_le_bytes([b[4], b[1], b[6], b[3]]);
        let funnel = ((v as u64) << (i & 31) >> 32) as u32;
        r.wrapping_add(i64::from(permuted.wrapping_add(funnel)))
    };
    let want: Vec<i64> = (0..64).map(one).collect();
    assert_eq!(device.elements::<i64>(at_y, 64), want);
    let byte = |v: &i64| v.wrapping_mul(7).wrapping_add(i64::from(*v as i8)) as u8;
    assert_eq!(device.elements::<u8>(bytes, 64), x.iter().map(byte).collect::<Vec<_>>());
    assert_eq!(
        device.elements::<u64>(best, 1),
        [want.iter().map(|r| *r as u64).max().unwrap().max(5)]
    );
}

/// The value of sixteen bits with so many of exponent, by definition.
fn narrow_value(bits: u16, exponent_bits: u32) -> f64 {
    let fraction_bits = 15 - exponent_bits;
    let fraction = f64::from(bits & ((1 << fraction_bits) - 1)) / f64::from(1 << fraction_bits);
    let exponent = i32::from((bits & 0x7fff) >> fraction_bits);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let size = if exponent == 0 {
        fraction * 2f64.powi(1 - bias)
    } else {
        (1.0 + fraction) * 2f64.powi(exponent - bias)
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The nearest by search over all finite values; ties to even.
fn narrow(value: f64, exponent_bits: u32) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let infinity = ((1u16 << exponent_bits) - 1) << (15 - exponent_bits);
    let distance = |bits: u16| (narrow_value(bits, exponent_bits) - value.abs()).abs();
    let all: Vec<u16> = (0..infinity).collect();
    let above = all.partition_point(|bits| narrow_value(*bits, exponent_bits) < value.abs()) as u16;
    let candidates = [above.saturating_sub(1), above.min(infinity - 1)];
    let best = candidates
        .into_iter()
        .min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1))));
    sign | best.unwrap()
}

#[test]
fn halves_and_brains() {
    let mut device = device!("halves");
    // Finite, and small enough that nothing overflows.
    let bits = |seed| {
        integers(64, seed).iter().map(|value| (*value as u16) & 0xbfff).collect::<Vec<u16>>()
    };
    let (a, b) = (bits(20), bits(21));
    let zeros = [0u16; 64];
    let (at_a, at_b) = (device.buffer(&a), device.buffer(&b));
    let (sum, product, brain) =
        (device.buffer(&zeros), device.buffer(&zeros), device.buffer(&zeros));
    let args =
        vec![at_a.into(), at_b.into(), sum.into(), product.into(), brain.into(), 64i32.into()];
    device.run("halves", [1, 1, 1], [64, 1, 1], 0, args);
    let value = |bits: u16| narrow_value(bits, 5);
    let sums: Vec<u16> = a.iter().zip(&b).map(|(a, b)| narrow(value(*a) + value(*b), 5)).collect();
    assert_eq!(device.elements::<u16>(sum, 64), sums);
    let fused = |i: usize| narrow(value(a[i]) * value(b[i]) + value(sums[i]), 5);
    assert_eq!(device.elements::<u16>(product, 64), (0..64).map(fused).collect::<Vec<_>>());
    let brained = |i: usize| {
        let scaled = value(narrow(f64::from(value(b[i]) as f32 * 0.1f32), 5)) as f32;
        narrow(f64::from(value(a[i]) as f32 * scaled), 8)
    };
    assert_eq!(device.elements::<u16>(brain, 64), (0..64).map(brained).collect::<Vec<_>>());

    let pack = |values: &[u16]| {
        values
            .chunks(2)
            .map(|pair| u32::from(pair[0]) | (u32::from(pair[1]) << 16))
            .collect::<Vec<u32>>()
    };
    let (pairs_a, pairs_b) = (pack(&a), pack(&b));
    let (at_a, at_b, at_y) =
        (device.buffer(&pairs_a), device.buffer(&pairs_b), device.buffer(&[0u32; 32]));
    device.run(
        "pairs",
        [1, 1, 1],
        [32, 1, 1],
        0,
        vec![at_a.into(), at_b.into(), at_y.into(), 32i32.into()],
    );
    let twice = |i: usize| narrow(value(sums[i]) * value(a[i]) + value(b[i]), 5);
    assert_eq!(device.elements::<u32>(at_y, 32), pack(&(0..64).map(twice).collect::<Vec<_>>()));
}

//! Kernels as they are written for real devices: tensor cores, copies that are not waited for, groups of threads. Each
//! against plain Rust.

use assay_ptx::LaunchArg;

use crate::device::Device;
use crate::fixtures::{assert_close, floats, integers};

macro_rules! device {
    ($name:literal) => {
        Device::new(include_str!(concat!("../fixtures/", $name, ".ptx")))
    };
}

/// The bits of a half, rounded to nearest; for numbers of a usual size.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let size = value.abs();
    if size < 2f32.powi(-14) {
        return sign | (size * 2f32.powi(24)).round_ties_even() as u16;
    }
    let exponent = (bits >> 23 & 0xff) as i32 - 127;
    let fraction = (size / 2f32.powi(exponent - 10)).round_ties_even() as u16;
    sign | ((exponent + 14) as u16 * 1024 + fraction)
}

fn from_half(bits: u16) -> f32 {
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f32::from(bits & 0x3ff);
    let size = if exponent == 0 {
        fraction * 2f32.powi(-24)
    } else {
        (fraction + 1024.0) * 2f32.powi(exponent - 25)
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

fn brain(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

fn from_brain(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

fn product(a: &[f32], b: &[f32], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let cell = |at: usize| {
        let (row, column) = (at / n, at % n);
        (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + column])).sum()
    };
    (0..m * n).map(cell).collect()
}

fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let rows = matrix.len() / columns;
    (0..matrix.len()).map(|at| matrix[at % rows * columns + at / rows]).collect()
}

fn sizes(sizes: &[usize]) -> Vec<LaunchArg> {
    sizes.iter().map(|size| LaunchArg::from(*size as i32)).collect()
}

#[test]
fn matmul_by_tensor_cores() {
    let mut device = device!("tensor_matmul");
    let [m, n, k] = [128, 64, 96];
    let halves = |count, seed| -> Vec<u16> { floats(count, seed).into_iter().map(half).collect() };
    let (a, b) = (halves(m * k, 1), halves(k * n, 2));
    let (at_a, at_b) = (device.buffer(&a), device.buffer(&b));
    let at_c = device.buffer(&vec![0f32; m * n]);
    let args = [at_a.into(), at_b.into(), at_c.into()].into_iter().chain(sizes(&[m, n, k]));
    device.run("tensor_matmul", [1, 2, 1], [128, 1, 1], 0, args.collect());
    let wide = |halves: &[u16]| halves.iter().map(|bits| from_half(*bits)).collect::<Vec<f32>>();
    let want = product(&wide(&a), &wide(&b), [m, n, k]);
    assert_close(&device.elements::<f32>(at_c, m * n), &want, 1e-5);
}

#[test]
fn matmuls_by_wmma() {
    let [m, n, k] = [32, 64, 48];
    let (a, b) = (floats(m * k, 3), floats(k * n, 4));
    type Narrow = fn(f32) -> u16;
    type Widen = fn(u16) -> f32;
    let halves = (half as Narrow, from_half as Widen);
    let brains = (brain as Narrow, from_brain as Widen);
    for (kernel, tile, columns_first, (narrow, wide)) in [
        ("wmma_half", [16, 16], false, halves),
        ("wmma_single", [32, 8], true, halves),
        ("wmma_brain", [8, 32], false, brains),
    ] {
        let mut device = device!("wmma_matmul");
        let round = |values: &[f32]| values.iter().map(|v| narrow(*v)).collect::<Vec<u16>>();
        let (left, right) = (round(&a), round(&b));
        let widened = |values: &[u16]| values.iter().map(|v| wide(*v)).collect::<Vec<f32>>();
        let want = product(&widened(&left), &widened(&right), [m, n, k]);
        let stored = if columns_first { round(&transposed(&b, n)) } else { right };
        let (at_a, at_b) = (device.buffer(&left), device.buffer(&stored));
        let at_c = device.buffer(&vec![0f32; m * n]);
        let args = [at_a.into(), at_b.into(), at_c.into()].into_iter().chain(sizes(&[n, k]));
        let grid = [(n / tile[1]) as u32, (m / tile[0]) as u32, 1];
        device.run(kernel, grid, [32, 1, 1], 0, args.collect());
        if kernel == "wmma_half" {
            let got = widened(&device.elements::<u16>(at_c, m * n));
            assert_close(&got, &want, 5e-3);
        } else {
            assert_close(&device.elements::<f32>(at_c, m * n), &want, 1e-5);
        }
    }
}

#[test]
fn matmul_of_bytes() {
    let mut device = device!("wmma_matmul");
    let [m, n, k] = [32, 32, 64];
    let bytes = |count, seed| integers(count, seed).iter().map(|v| *v as u8).collect::<Vec<u8>>();
    // B is stored by columns.
    let (a, b) = (bytes(m * k, 5), bytes(k * n, 6));
    let (at_a, at_b) = (device.buffer(&a), device.buffer(&b));
    let at_c = device.buffer(&vec![0i32; m * n]);
    let args = [at_a.into(), at_b.into(), at_c.into()].into_iter().chain(sizes(&[n, k]));
    device.run("wmma_bytes", [2, 2, 1], [32, 1, 1], 0, args.collect());
    let signed = |byte: u8| i32::from(byte as i8);
    let cell = |at: usize| {
        (0..k).map(|i| signed(a[at / n * k + i]) * signed(b[at % n * k + i])).sum::<i32>()
    };
    assert_eq!(device.elements::<i32>(at_c, m * n), (0..m * n).map(cell).collect::<Vec<_>>());
}

#[test]
fn convolution_by_implicit_gemm() {
    let mut device = device!("implicit_gemm");
    let [channels, height, width, filters] = [3, 9, 7, 18];
    let image = floats(channels * height * width, 7);
    let weights = floats(filters * channels * 9, 8);
    let (at_image, at_weights) = (device.buffer(&image), device.buffer(&weights));
    let count = filters * height * width;
    let out = device.buffer(&vec![f32::NAN; count]);
    let args = [at_image.into(), at_weights.into(), out.into()];
    let args = args.into_iter().chain(sizes(&[channels, height, width, filters]));
    device.run("implicit_gemm", [4, 2, 1], [32, 1, 1], 0, args.collect());
    // Ten bits of a fraction, half away from zero.
    let tf32 = |value: f32| f64::from(f32::from_bits((value.to_bits() + 0x1000) & !0x1fff));
    let pixel = |channel: usize, y: isize, x: isize| {
        let inside = (0..height as isize).contains(&y) && (0..width as isize).contains(&x);
        let at = || (channel * height + y as usize) * width + x as usize;
        if inside { tf32(image[at()]) } else { 0.0 }
    };
    let want = (0..count).map(|at| {
        let (filter, y, x) = (at / (height * width), at / width % height, at % width);
        let terms = (0..channels * 9).map(|k| {
            let (dy, dx) = (k % 9 / 3, k % 3);
            let value = pixel(k / 9, (y + dy) as isize - 1, (x + dx) as isize - 1);
            value * tf32(weights[filter * channels * 9 + k])
        });
        terms.sum::<f64>().max(0.0)
    });
    assert_close(&device.elements::<f32>(out, count), &want.collect::<Vec<_>>(), 1e-5);
}

#[test]
fn softmax_in_one_pass() {
    let mut device = device!("online_softmax");
    let (rows, columns) = (3, 520);
    let x: Vec<f32> = floats(rows * columns, 9).iter().map(|value| value * 30.0).collect();
    let (at_x, at_y) = (device.buffer(&x), device.buffer(&vec![0f32; x.len()]));
    device.run(
        "online_softmax",
        [3, 1, 1],
        [96, 1, 1],
        0,
        vec![at_x.into(), at_y.into(), (columns as i32).into()],
    );
    let want = x.chunks(columns).flat_map(|row| {
        let most = row.iter().copied().fold(f32::MIN, f32::max);
        let powers: Vec<f64> = row.iter().map(|v| f64::from(v - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(move |power| power / sum).collect::<Vec<_>>()
    });
    assert_close(&device.elements::<f32>(at_y, x.len()), &want.collect::<Vec<_>>(), 1e-5);
}

#[test]
fn norm_of_a_sum_with_a_gate() {
    let mut device = device!("fused_norm");
    let (rows, columns) = (2, 300);
    let brains = |count, seed| floats(count, seed).into_iter().map(brain).collect::<Vec<u16>>();
    let (x, residual) = (brains(rows * columns, 10), brains(rows * columns, 11));
    let weight = brains(columns, 12);
    let [at_x, at_residual, at_weight] =
        [&x, &residual, &weight].map(|values| device.buffer(values));
    let out = device.buffer(&vec![0u16; x.len()]);
    let args = vec![
        at_x.into(),
        at_residual.into(),
        at_weight.into(),
        out.into(),
        (columns as i32 / 2).into(),
    ];
    device.run("fused_norm", [2, 1, 1], [128, 1, 1], columns as u64 * 2, args);
    let sums: Vec<f64> = x
        .iter()
        .zip(&residual)
        .map(|(x, r)| f64::from(from_brain(brain(from_brain(*x) + from_brain(*r)))))
        .collect();
    let want = sums.chunks(columns).flat_map(|row| {
        let mean = row.iter().map(|v| v * v).sum::<f64>() / columns as f64;
        let scale = 1.0 / (mean + 1e-5).sqrt();
        let gated = move |(v, w): (&f64, &u16)| {
            let v = v * scale * f64::from(from_brain(*w));
            v / (1.0 + (-v).exp())
        };
        row.iter().zip(&weight).map(gated).collect::<Vec<_>>()
    });
    let got = device.elements::<u16>(out, x.len()).into_iter().map(from_brain);
    assert_close(&got.collect::<Vec<_>>(), &want.collect::<Vec<_>>(), 5e-3);
}

#[test]
fn scan_over_blocks() {
    let mut device = device!("block_scan");
    let x: Vec<i32> = integers(1000, 13).iter().map(|value| value % 100).collect();
    let (at_x, at_y) = (device.buffer(&x), device.buffer(&vec![0i32; x.len()]));
    let left = device.buffer(&[0i32; 2]);
    let args = vec![at_x.into(), at_y.into(), left.into(), 1000i32.into()];
    device.run("block_scan", [4, 1, 1], [256, 1, 1], 0, args);
    let want = x.iter().scan(0, |sum, value| {
        *sum += value;
        Some(*sum)
    });
    assert_eq!(device.elements::<i32>(at_y, x.len()), want.collect::<Vec<_>>());
}

#[test]
fn lanes_with_the_same_value() {
    let mut device = device!("together");
    let same = |count: i32| (0..32).map(|lane| 7000 + lane % count).collect::<Vec<i32>>();
    for x in [same(5), same(1), (0..32).map(|lane| lane * 500).collect()] {
        let at = device.buffer(&x);
        let [any, all, agreed] = [0; 3].map(|_| device.buffer(&[9u32; 32]));
        let args = [at, any, all, agreed].map(LaunchArg::from).to_vec();
        device.run("matches", [1, 1, 1], [32, 1, 1], 0, args);
        let want: Vec<u32> = (0..32)
            .map(|lane| (0..32).filter(|at| x[*at] == x[lane]).fold(0, |set, at| set | 1 << at))
            .collect();
        assert_eq!(device.elements::<u32>(any, 32), want);
        let alike = x.iter().all(|value| value / 1000 == x[0] / 1000);
        assert_eq!(device.elements::<u32>(all, 32), [if alike { u32::MAX } else { 0 }; 32]);
        assert_eq!(device.elements::<u32>(agreed, 32), [u32::from(alike); 32]);
    }
}

#[test]
fn reductions_of_a_warp() {
    let mut device = device!("together");
    let x = integers(32, 14);
    let (at, out) = (device.buffer(&x), device.buffer(&[0i32; 160]));
    device.run("reductions", [1, 1, 1], [32, 1, 1], 0, vec![at.into(), out.into()]);
    let got = device.elements::<i32>(out, 160);
    let unsigned = |value: &i32| *value as u32;
    assert_eq!(got[..32], [x.iter().fold(0i32, |sum, v| sum.wrapping_add(*v)); 32]);
    assert_eq!(got[32..64], [*x.iter().min().unwrap(); 32]);
    assert_eq!(got[64..96], [x.iter().map(unsigned).max().unwrap() as i32; 32]);
    assert_eq!(got[96..128], [x.iter().fold(0, |all, v| all ^ v); 32]);
    let odd = x.iter().skip(1).step_by(2).fold(0, |all, v| all | v);
    let want: Vec<i32> = (0..32).map(|lane| if lane % 2 == 1 { odd } else { 0 }).collect();
    assert_eq!(got[128..], want);
}

#[test]
fn votes_at_a_barrier() {
    for (low, present) in [(-200, false), (-50, true)] {
        let mut device = device!("together");
        let mut x: Vec<i32> = (0..96).map(|at| low + at).collect();
        if present {
            x[77] = 12345;
        }
        let (at, out) = (device.buffer(&x), device.buffer(&[0i32; 96]));
        device.run("votes", [1, 1, 1], [96, 1, 1], 0, vec![at.into(), out.into()]);
        let positive = x.iter().filter(|value| **value > 0).count() as i32;
        let all = i32::from(x.iter().all(|value| *value > -100));
        let want = positive * 4 + all * 2 + i32::from(present);
        assert_eq!(device.elements::<i32>(out, 96), [want; 96]);
    }
}

#[test]
fn a_warp_hands_over_to_another() {
    let mut device = device!("together");
    let count = 9;
    let x = integers(count * 32, 15);
    let (at, out) = (device.buffer(&x), device.buffer(&vec![0i32; x.len()]));
    device.run(
        "handed_over",
        [1, 1, 1],
        [64, 1, 1],
        0,
        vec![at.into(), out.into(), (count as i32).into()],
    );
    let want = (0..x.len()).map(|at| x[at ^ 1].wrapping_mul(3));
    assert_eq!(device.elements::<i32>(out, x.len()), want.collect::<Vec<_>>());
}

#[test]
fn groups_that_form_by_themselves() {
    let mut device = device!("together");
    let count = 200;
    let x: Vec<i32> = integers(count, 16).iter().map(|value| value.rem_euclid(1000)).collect();
    let at = device.buffer(&x);
    let (counts, kept) = (device.buffer(&[0i32; 6]), device.buffer(&vec![-1i32; count]));
    let args = vec![at.into(), counts.into(), kept.into(), (count as i32).into()];
    device.run("binned", [2, 1, 1], [128, 1, 1], 0, args);
    let bin = |value: i32| (value % 3 == 0).then_some((value / 3 % 4) as usize);
    let mut places = vec![Vec::new(); 4];
    let got = device.elements::<i32>(kept, count);
    for (value, place) in x.iter().zip(&got) {
        match bin(*value) {
            Some(bin) => places[bin].push(*place),
            None => assert_eq!(*place, -1),
        }
    }
    let found = device.elements::<i32>(counts, 6);
    for (bin, mut places) in places.into_iter().enumerate() {
        places.sort_unstable();
        assert_eq!(places, (0..found[bin]).collect::<Vec<_>>(), "bin {bin}");
    }
    assert_eq!(found[4], *x.iter().max().unwrap());
    let first =
        x.iter().filter(|v| **v != 0).fold(0, |all, v| all | (v.trailing_zeros() + 1) as i32);
    assert_eq!(found[5], first);
}

#[test]
fn printed_text() {
    let mut device = device!("prints");
    let x = device.buffer(&[1.005f32]);
    device.run("prints", [1, 1, 1], [3, 1, 1], 0, vec![x.into(), 77i32.into()]);
    let got = String::from_utf8(device.memory.take_printed()).unwrap();
    let first =
        "row 3 of 77:  1.00|text    |+7|-0042|ff|z|1099511627776|1.234568e+04|0.0001|%|   9\n";
    assert_eq!(got, format!("{first}0 1 2 "));
    assert!(device.memory.take_printed().is_empty());
}

#[test]
fn a_flood_of_text_is_cut_and_paid_for() {
    let mut device = device!("prints");
    let steps = device.run("floods", [1, 1, 1], [32, 1, 1], 0, vec![10_000i32.into()]).steps;
    let line = "{\"verdict\": \"success\"}\n";
    assert_eq!(device.memory.take_printed().len(), assay_ptx::limits::PRINTED_BYTES_MAX);
    assert!(steps > 32 * 10_000 * 2 * line.len() as u64);
}

#[test]
fn numbers_of_eight_bits() {
    let mut device = device!("narrow");
    let x: Vec<f32> = floats(64, 17).iter().map(|value| value * 100.0).collect();
    let at = device.buffer(&x);
    let [e4m3, e5m2] = [0; 2].map(|_| device.buffer(&[0u8; 64]));
    let back = device.buffer(&[0u16; 128]);
    let args = [at, e4m3, e5m2, back].map(LaunchArg::from).to_vec();
    device.run("to_fp8", [2, 1, 1], [32, 1, 1], 0, args);
    let back = device.elements::<u16>(back, 128);
    for (at, (e4m3, e5m2)) in
        device.elements::<u8>(e4m3, 64).into_iter().zip(device.elements::<u8>(e5m2, 64)).enumerate()
    {
        for (byte, bits, bias, got) in [(e4m3, 3, 7, back[2 * at]), (e5m2, 2, 15, back[2 * at + 1])]
        {
            // The value by its definition is the one that is read back, and no neighbour is nearer.
            let value = |byte: u8| {
                let exponent = i32::from(byte >> bits & (0x7f >> bits));
                let fraction = f32::from(byte & ((1 << bits) - 1)) / f32::from(1u16 << bits);
                let hidden = if exponent == 0 { 0.0 } else { 1.0 };
                let size = (fraction + hidden) * 2f32.powi(exponent.max(1) - bias);
                if byte & 0x80 == 0 { size } else { -size }
            };
            assert_eq!(from_half(got), value(byte));
            let error = (value(byte) - x[at]).abs();
            for other in [byte.wrapping_add(1), byte.wrapping_sub(1)] {
                assert!(error <= (value(other) - x[at]).abs(), "{} as {byte:#x}", x[at]);
            }
        }
    }
}

#[test]
fn products_of_bytes_in_words() {
    let mut device = device!("narrow");
    let (a, b) = (integers(32, 18), integers(32, 19));
    let (at_a, at_b, out) = (device.buffer(&a), device.buffer(&b), device.buffer(&[0i32; 64]));
    device.run("bytes", [1, 1, 1], [32, 1, 1], 0, vec![at_a.into(), at_b.into(), out.into()]);
    let dot = |signed: bool| -> Vec<i32> {
        let byte = |byte: u8| if signed { i32::from(byte as i8) } else { i32::from(byte) };
        let products = |(a, b): (&i32, &i32)| {
            let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            5 + pairs.map(|(a, b)| byte(a) * byte(b)).sum::<i32>()
        };
        a.iter().zip(&b).map(products).collect()
    };
    assert_eq!(device.elements::<i32>(out, 64), [dot(true), dot(false)].concat());
}

#[test]
fn arithmetic_in_bf16() {
    let mut device = device!("narrow");
    let brains = |seed| floats(32, seed).into_iter().map(brain).collect::<Vec<u16>>();
    let (a, b) = (brains(20), brains(21));
    let (at_a, at_b) = (device.buffer(&a), device.buffer(&b));
    let out = device.buffer(&[0u16; 160]);
    let (masks, total) = (device.buffer(&[0u32; 32]), device.buffer(&[0f32]));
    let args = [at_a, at_b, out, masks, total].map(LaunchArg::from).to_vec();
    device.run("brains", [1, 1, 1], [32, 1, 1], 0, args);
    let got = device.elements::<u16>(out, 160);
    let got_masks = device.elements::<u32>(masks, 32);
    let mut sum = 0f32;
    for lane in 0..32 {
        let (x, y) = (from_brain(a[lane]), from_brain(b[lane]));
        // Products of such numbers are exact in f32, and these sums in f64.
        let fused = f64::from(x) * f64::from(y) + f64::from(x);
        assert_eq!(from_brain(got[lane]), from_brain(brain(fused as f32)), "lane {lane}");
        assert_eq!(from_brain(got[32 + lane]), x.max(y));
        assert_eq!(got[64 + lane], brain(x * y));
        assert_eq!(got[96 + lane], brain(x / 3.0));
        assert_eq!(got[128 + lane], if x > y { 0x3f80 } else { 0 });
        let mask = |holds| if holds { 0xffff } else { 0 };
        assert_eq!(got_masks[lane], mask(x > y) | mask(y > x) << 16);
        sum += x;
    }
    assert!((device.elements::<f32>(total, 1)[0] - sum).abs() < 1e-4);
}

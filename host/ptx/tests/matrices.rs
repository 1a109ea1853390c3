//! Products of matrices by `mma.sync`, each element of each lane placed by the formulas of the PTX ISA (9.7.14), and
//! loads of matrices.

use crate::device::Device;

/// Where an element of a fragment lies: row and column, from the lane and the element's number.
type Place = fn(usize, usize) -> (usize, usize);

struct Product {
    opcode: &'static str,
    size: [usize; 3],
    /// Bits of an element of A and B.
    bits: usize,
    a: Place,
    b: Place,
    encode: fn(i64) -> u64,
    /// Bits of an element of C and D.
    sum_bits: usize,
    encode_sum: fn(i64) -> u64,
}

fn half(value: i64) -> u64 {
    if value == 0 {
        return 0;
    }
    let size = value.unsigned_abs();
    let exponent = u64::from(size.ilog2());
    u64::from(value < 0) << 15 | (exponent + 15) << 10 | (size << 10 >> exponent) & 0x3ff
}

fn single(value: i64) -> u64 {
    u64::from((value as f32).to_bits())
}

fn brain(value: i64) -> u64 {
    single(value) >> 16
}

/// With bits that tf32 does not have, which are passed over.
fn tf32(value: i64) -> u64 {
    single(value) | 0x1fff
}

fn e4m3(value: i64) -> u64 {
    [0x00, 0x38, 0x40, 0x44, 0x48][value.unsigned_abs() as usize] | u64::from(value < 0) << 7
}

fn e5m2(value: i64) -> u64 {
    [0x00, 0x3c, 0x40, 0x42, 0x44][value.unsigned_abs() as usize] | u64::from(value < 0) << 7
}

fn byte(value: i64) -> u64 {
    value as u64 & 0xff
}

fn word(value: i64) -> u64 {
    value as u64 & 0xffff_ffff
}

fn double(value: i64) -> u64 {
    (value as f64).to_bits()
}

fn accumulator(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + if i < 2 { 0 } else { 8 }, lane % 4 * 2 + i % 2)
}

const HALVES_16: [Place; 2] = [
    |lane, i| {
        let row = if i < 2 || (4..6).contains(&i) { lane / 4 } else { lane / 4 + 8 };
        (row, lane % 4 * 2 + i % 2 + if i >= 4 { 8 } else { 0 })
    },
    |lane, i| (lane % 4 * 2 + i % 2 + if i >= 2 { 8 } else { 0 }, lane / 4),
];
const HALVES_8: [Place; 2] = [
    |lane, i| (lane / 4 + if i < 2 { 0 } else { 8 }, lane % 4 * 2 + i % 2),
    |lane, i| (lane % 4 * 2 + i, lane / 4),
];
const WORDS_8: [Place; 2] = [
    |lane, i| (lane / 4 + [0, 8, 0, 8][i], lane % 4 + [0, 0, 4, 4][i]),
    |lane, i| (lane % 4 + [0, 4][i], lane / 4),
];
const WORDS_4: [Place; 2] =
    [|lane, i| (lane / 4 + [0, 8][i], lane % 4), |lane, _| (lane % 4, lane / 4)];
const BYTES_32: [Place; 2] = [
    |lane, i| {
        let row = if i < 4 || (8..12).contains(&i) { lane / 4 } else { lane / 4 + 8 };
        (row, lane % 4 * 4 + i % 4 + if i < 8 { 0 } else { 16 })
    },
    |lane, i| (lane % 4 * 4 + i % 4 + if i < 4 { 0 } else { 16 }, lane / 4),
];
const BYTES_16: [Place; 2] = [
    |lane, i| (lane / 4 + if i < 4 { 0 } else { 8 }, lane % 4 * 4 + i % 4),
    |lane, i| (lane % 4 * 4 + i, lane / 4),
];
const DOUBLES: [Place; 2] = [|lane, _| (lane / 4, lane % 4), |lane, _| (lane % 4, lane / 4)];

/// Small whole numbers, of which all sums are exact.
fn numbers(count: usize, seed: u64) -> Vec<i64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % 9 - 4
    };
    (0..count).map(|_| next()).collect()
}

/// The registers of all lanes for a matrix with `columns`.
fn fragment(
    matrix: &[i64],
    columns: usize,
    elements: usize,
    bits: usize,
    place: Place,
    encode: fn(i64) -> u64,
) -> Vec<u64> {
    let per = bits.max(32) / bits;
    let value = |lane: usize, element: usize| {
        let (row, column) = place(lane, element);
        encode(matrix[row * columns + column]) << (element % per * bits)
    };
    (0..32)
        .flat_map(|lane| {
            (0..elements / per).map(move |register| {
                (0..per).fold(0, |word, part| word | value(lane, register * per + part))
            })
        })
        .collect()
}

/// A kernel that gives each lane its registers, runs one instruction, and writes what the lane then has.
fn run(product: &Product, [a, b, c]: [&[u64]; 3]) -> Vec<u64> {
    let mut text = String::from(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry test(.param .u64 out, .param .u64 in)\n{\n\
         .reg .b32 %r<64>; .reg .b64 %d<64>, %at, %lane; .reg .b32 %l; .reg .b64 %to;\n\
         mov.u32 %l, %laneid; ld.param.u64 %at, [in]; ld.param.u64 %to, [out];\n",
    );
    let mut next = 0;
    let mut names = Vec::new();
    let mut offset = 0;
    let widths = [product.bits, product.bits, product.sum_bits];
    for (registers, bits) in [a, b, c].iter().zip(widths) {
        let count = registers.len() / 32;
        let mut list = Vec::new();
        for register in 0..count {
            text += &format!(
                "mul.wide.u32 %lane, %l, {}; add.s64 %lane, %lane, %at; ld.global.u64 %d{next}, [%lane+{}];\n",
                count * 8,
                offset + register * 8
            );
            text += &format!("cvt.u32.u64 %r{next}, %d{next};\n");
            list.push(format!("%{}{next}", if bits == 64 { "d" } else { "r" }));
            next += 1;
        }
        names.push(format!("{{{}}}", list.join(", ")));
        offset += registers.len() * 8;
    }
    let count = c.len() / 32;
    let kind = if product.sum_bits == 64 { "d" } else { "r" };
    let targets: Vec<String> = (0..count).map(|at| format!("%{kind}{}", 40 + at)).collect();
    text += &format!(
        "{} {{{}}}, {}, {}, {};\nmul.wide.u32 %lane, %l, {}; add.s64 %to, %to, %lane;\n",
        product.opcode,
        targets.join(", "),
        names[0],
        names[1],
        names[2],
        count * 8
    );
    for (at, target) in targets.iter().enumerate() {
        let wide = if kind == "d" { "mov.b64" } else { "cvt.u64.u32" };
        text += &format!("{wide} %d0, {target}; st.global.u64 [%to+{}], %d0;\n", at * 8);
    }
    text += "ret;\n}\n";
    let mut device = Device::new(&text);
    let input = device.buffer(&[a, b, c].concat());
    let out = device.buffer(&vec![0_u64; c.len()]);
    device.run("test", [1, 1, 1], [32, 1, 1], 0, vec![out.into(), input.into()]);
    device.elements(out, c.len())
}

fn check(product: &Product) {
    let [m, n, k] = product.size;
    let unsigned = product.opcode.contains(".u8");
    let positive = |numbers: Vec<i64>| -> Vec<i64> {
        numbers.into_iter().map(|value| if unsigned { value + 200 } else { value }).collect()
    };
    let (a, b, c) = (positive(numbers(m * k, 1)), numbers(k * n, 2), numbers(m * n, 3));
    let mut want = c.clone();
    for row in 0..m {
        for column in 0..n {
            want[row * n + column] +=
                (0..k).map(|at| a[row * k + at] * b[at * n + column]).sum::<i64>();
        }
    }
    let (bits, sum_bits) = (product.bits, product.sum_bits);
    let left = fragment(&a, k, m * k / 32, bits, product.a, product.encode);
    let right = fragment(&b, n, k * n / 32, bits, product.b, product.encode);
    let place: Place = accumulator;
    let sum = |matrix| fragment(matrix, n, m * n / 32, sum_bits, place, product.encode_sum);
    let got = run(product, [&left, &right, &sum(&c)]);
    assert_eq!(got, sum(&want), "{}", product.opcode);
}

#[test]
fn products_of_all_shapes() {
    let with = |opcode, size, bits, [a, b]: [Place; 2], encode, sum_bits, encode_sum| {
        check(&Product { opcode, size, bits, a, b, encode, sum_bits, encode_sum });
    };
    let (s16, s8, s4) = ([16, 8, 16], [16, 8, 8], [16, 8, 4]);
    with("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", s16, 16, HALVES_16, half, 32, single);
    with("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", s16, 16, HALVES_16, half, 16, half);
    with("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", s8, 16, HALVES_8, half, 32, single);
    with("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", s8, 16, HALVES_8, half, 16, half);
    with(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        s16,
        16,
        HALVES_16,
        brain,
        32,
        single,
    );
    with("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", s8, 16, HALVES_8, brain, 32, single);
    with("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", s8, 32, WORDS_8, tf32, 32, single);
    with("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", s4, 32, WORDS_4, tf32, 32, single);
    with(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
        [16, 8, 32],
        8,
        BYTES_32,
        byte,
        32,
        word,
    );
    with(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32",
        [16, 8, 32],
        8,
        BYTES_32,
        byte,
        32,
        word,
    );
    with(
        "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32",
        s16,
        8,
        BYTES_16,
        byte,
        32,
        word,
    );
    with("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", [8, 8, 16], 8, BYTES_16, byte, 32, word);
    with(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
        [16, 8, 32],
        8,
        BYTES_32,
        e4m3,
        32,
        single,
    );
    with(
        "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32",
        [16, 8, 32],
        8,
        BYTES_32,
        e5m2,
        32,
        single,
    );
    with(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        [8, 8, 4],
        64,
        DOUBLES,
        double,
        64,
        double,
    );
}

/// Writes 8 by 8 matrices to shared memory by rows, loads them and gives each lane's registers.
fn loaded(count: usize, transposed: bool) -> Vec<u32> {
    let words: Vec<String> = (0..count).map(|at| format!("%r{}", 10 + at)).collect();
    let stores: String =
        (0..count).map(|at| format!("st.global.u32 [%to+{}], %r{};\n", at * 4, 10 + at)).collect();
    let trans = if transposed { ".trans" } else { "" };
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry test(.param .u64 out)\n{{\n\
         .reg .b32 %r<32>; .reg .b64 %to, %d0; .shared .align 16 .b8 rows[1024];\n\
         mov.u32 %r0, %laneid; mov.u32 %r2, rows; mul.lo.u32 %r1, %r0, 16; add.u32 %r2, %r2, %r1;\n\
         mul.lo.u32 %r3, %r0, 8; mov.u32 %r4, 0;\n\
         again: add.u32 %r5, %r3, 1; shl.b32 %r5, %r5, 16; or.b32 %r5, %r5, %r3; st.shared.u32 [%r2], %r5;\n\
         add.u32 %r2, %r2, 4; add.u32 %r3, %r3, 2; add.u32 %r4, %r4, 1; .reg .pred %p; setp.lt.u32 %p, %r4, 4; @%p bra again;\n\
         bar.sync 0; mov.u32 %r2, rows; add.u32 %r2, %r2, %r1;\n\
         ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{}}}, [%r2];\n\
         ld.param.u64 %to, [out]; mul.wide.u32 %d0, %r0, {}; add.s64 %to, %to, %d0;\n{stores} ret;\n}}\n",
        words.join(", "),
        count * 4,
    );
    let mut device = Device::new(&text);
    let out = device.buffer(&vec![0_u32; 32 * count]);
    device.run("test", [1, 1, 1], [32, 1, 1], 0, vec![out.into()]);
    device.elements(out, 32 * count)
}

#[test]
fn matrices_are_loaded_by_rows() {
    for count in [1, 2, 4] {
        for transposed in [false, true] {
            let want: Vec<u32> = (0..32)
                .flat_map(|lane| {
                    (0..count).map(move |matrix| {
                        let (line, pair) = (lane / 4, lane % 4 * 2);
                        let number = |row: usize, column: usize| matrix * 64 + row * 8 + column;
                        let half = |at| {
                            if transposed { number(at, line) } else { number(line, at) }
                        };
                        (half(pair) | half(pair + 1) << 16) as u32
                    })
                })
                .collect();
            assert_eq!(loaded(count, transposed), want, "x{count}, transposed: {transposed}");
        }
    }
}

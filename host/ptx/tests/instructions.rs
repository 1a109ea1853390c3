//! Instructions one by one, against the bits that PTX and IEEE 754 give.

use crate::device::Device;

/// Runs `body` with each input as `%d1..`, `%r1..` (low bits), `%f1..`, `%h1..` and `%p1..` (low bit);
/// gives the register that is its first operand.
#[track_caller]
fn evaluate(body: &str, inputs: &[u64]) -> u64 {
    let mut text = String::from(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry test(.param .u64 out, .param .u64 in)\n{\n\
         .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %d<8>; .reg .f64 %g<8>;\n\
         .reg .b64 %a; ld.param.u64 %a, [in];\n",
    );
    for at in 1..=inputs.len() {
        let load =
            format!("ld.global.u64 %d{at}, [%a+{}]; mov.b64 %g{at}, %d{at};\n", 8 * (at - 1));
        let narrow = format!(
            "cvt.u32.u64 %r{at}, %d{at}; mov.b32 %f{at}, %r{at}; cvt.u16.u64 %h{at}, %d{at};\n"
        );
        let predicate = format!("and.b64 %d0, %d{at}, 1; setp.ne.u64 %p{at}, %d0, 0;\n");
        text += &(load + &narrow + &predicate);
    }
    text += body;
    text += match body.split_once('%').unwrap().1.as_bytes()[0] {
        b'd' => "",
        b'g' => "mov.b64 %d0, %g0;",
        b'r' => "cvt.u64.u32 %d0, %r0;",
        b'f' => "mov.b32 %r0, %f0; cvt.u64.u32 %d0, %r0;",
        b'h' => "cvt.u64.u16 %d0, %h0;",
        _ => "selp.b64 %d0, 1, 0, %p0;",
    };
    text += "\nld.param.u64 %a, [out]; st.global.u64 [%a], %d0; ret;\n}\n";
    let mut device = Device::new(&text);
    let (out, input) = (device.buffer(&[0u64]), device.buffer(inputs));
    device.run("test", [1, 1, 1], [1, 1, 1], 0, vec![out.into(), input.into()]);
    device.elements::<u64>(out, 1)[0]
}

#[track_caller]
fn check(body: &str, inputs: &[u64], expected: u64) {
    let got = evaluate(body, inputs);
    assert_eq!(got, expected, "`{body}` of {inputs:x?}: {got:#x} and not {expected:#x}");
}

fn single(value: f32) -> u64 {
    u64::from(value.to_bits())
}

const MINUS_ONE: u64 = 0xffff_ffff;
const NAN: u64 = 0x7fff_ffff;

#[test]
fn integer_arithmetic() {
    check("add.s32 %r0, %r1, %r2;", &[MINUS_ONE, 2], 1);
    check("sub.s64 %d0, %d1, %d2;", &[0, 1], u64::MAX);
    check("add.u16 %h0, %h1, %h2;", &[0xffff, 3], 2);
    check("mul.lo.s32 %r0, %r1, %r2;", &[MINUS_ONE, 7], MINUS_ONE - 6);
    check("mul.hi.s32 %r0, %r1, %r2;", &[MINUS_ONE, 7], MINUS_ONE);
    check("mul.hi.u32 %r0, %r1, %r2;", &[MINUS_ONE, 7], 6);
    check("mul.hi.u64 %d0, %d1, %d2;", &[u64::MAX, u64::MAX], u64::MAX - 1);
    check("mul.wide.s32 %d0, %r1, %r2;", &[MINUS_ONE, 7], (-7i64) as u64);
    check("mul.wide.u16 %r0, %h1, %h2;", &[0xffff, 0xffff], 0xfffe_0001);
    check("mad.wide.u32 %d0, %r1, %r2, %d3;", &[MINUS_ONE, MINUS_ONE, 5], 0xffff_fffe_0000_0006);
    check("mad.lo.s32 %r0, %r1, %r2, %r3;", &[3, 4, MINUS_ONE], 11);
    check("neg.s32 %r0, %r1;", &[0x8000_0000], 0x8000_0000);
    check("abs.s16 %h0, %h1;", &[0xfffe], 2);
    check("min.s32 %r0, %r1, %r2;", &[MINUS_ONE, 1], MINUS_ONE);
    check("min.u32 %r0, %r1, %r2;", &[MINUS_ONE, 1], 1);
    check("max.s64 %d0, %d1, %d2;", &[u64::MAX, 1], 1);
}

#[test]
fn division_at_its_edges() {
    check("div.s32 %r0, %r1, %r2;", &[0x8000_0000, MINUS_ONE], 0x8000_0000);
    check("rem.s32 %r0, %r1, %r2;", &[0x8000_0000, MINUS_ONE], 0);
    check("div.s64 %d0, %d1, %d2;", &[1 << 63, u64::MAX], 1 << 63);
    check("div.s32 %r0, %r1, %r2;", &[(-7i32) as u32 as u64, 2], (-3i32) as u32 as u64);
    check("rem.s32 %r0, %r1, %r2;", &[(-7i32) as u32 as u64, 2], MINUS_ONE);
    check("div.u32 %r0, %r1, %r2;", &[5, 0], MINUS_ONE);
    check("rem.u32 %r0, %r1, %r2;", &[5, 0], 5);
    check("div.u16 %h0, %h1, %h2;", &[5, 0], 0xffff);
}

#[test]
fn bits_and_shifts() {
    check("shl.b32 %r0, %r1, %r2;", &[1, 31], 1 << 31);
    check("shl.b32 %r0, %r1, %r2;", &[1, 32], 0);
    check("shr.u32 %r0, %r1, %r2;", &[MINUS_ONE, 40], 0);
    check("shr.s32 %r0, %r1, %r2;", &[0x8000_0000, 40], MINUS_ONE);
    check("shr.s32 %r0, %r1, %r2;", &[0x8000_0000, 0xffff_ffff], MINUS_ONE);
    check("shr.s64 %d0, %d1, %r2;", &[1 << 63, 64], u64::MAX);
    check("shl.b64 %d0, %d1, %r2;", &[3, 64], 0);
    check("not.b32 %r0, %r1;", &[5], MINUS_ONE - 5);
    check("cnot.b32 %r0, %r1;", &[0], 1);
    check("popc.b64 %r0, %d1;", &[u64::MAX], 64);
    check("clz.b32 %r0, %r1;", &[0], 32);
    check("clz.b64 %r0, %d1;", &[1], 63);
    check("brev.b32 %r0, %r1;", &[1], 1 << 31);
    check("bfe.u32 %r0, %r1, %r2, %r3;", &[0xabcd, 4, 8], 0xbc);
    check("bfe.s32 %r0, %r1, %r2, %r3;", &[0xabcd, 4, 8], 0xffff_ffbc);
    check("bfe.s32 %r0, %r1, %r2, %r3;", &[0x8000_0000, 28, 8], 0xffff_fff8);
    check("bfe.s32 %r0, %r1, %r2, %r3;", &[0x8000_0000, 40, 8], MINUS_ONE);
    check("bfe.u32 %r0, %r1, %r2, %r3;", &[MINUS_ONE, 3, 0], 0);
    check("bfi.b32 %r0, %r1, %r2, %r3, %r4;", &[0xff, 0, 4, 4], 0xf0);
    check("bfi.b32 %r0, %r1, %r2, %r3, %r4;", &[0xff, 7, 32, 4], 7);
    check("prmt.b32 %r0, %r1, %r2, 0x3614;", &[0x3322_1100, 0x7766_5544], 0x3366_1144);
    check("prmt.b32 %r0, %r1, %r2, 0x8888;", &[0x80, 0], MINUS_ONE);
    check("lop3.b32 %r0, %r1, %r2, %r3, 0x96;", &[0b1100, 0b1010, 0b1111], 0b1001);
    check("lop3.b32 %r0, %r1, %r2, %r3, 0x80;", &[0xf0f0, 0xff00, 0xffff], 0xf000);
    check("shf.l.wrap.b32 %r0, %r1, %r2, %r3;", &[0x8000_0000, 1, 33], 3);
    check("shf.l.clamp.b32 %r0, %r1, %r2, %r3;", &[0x8000_0000, 1, 33], 0x8000_0000);
    check("shf.r.wrap.b32 %r0, %r1, %r2, %r3;", &[0x10, 1, 4], 0x1000_0001);
    check("shf.r.clamp.b32 %r0, %r1, %r2, %r3;", &[0x10, 9, 40], 9);
    check("not.pred %p0, %p1;", &[1], 0);
}

#[test]
fn single_precision_rounds_once() {
    let tiny = 2f32.powi(-24);
    check("add.f32 %f0, %f1, %f2;", &[single(1.0), single(tiny)], single(1.0));
    check("add.rp.f32 %f0, %f1, %f2;", &[single(1.0), single(tiny)], single(1.0f32.next_up()));
    check("add.rp.f32 %f0, %f1, %f2;", &[single(1.0), single(1e-40)], single(1.0f32.next_up()));
    check("sub.rz.f32 %f0, %f1, %f2;", &[single(1.0), single(1e-40)], single(1.0f32.next_down()));
    check("sub.rm.f32 %f0, %f1, %f2;", &[single(1.0), single(1.0)], single(-0.0));
    check("sub.rn.f32 %f0, %f1, %f2;", &[single(1.0), single(1.0)], 0);
    check("mul.rz.f32 %f0, %f1, %f2;", &[single(f32::MAX), single(2.0)], single(f32::MAX));
    check("mul.rn.f32 %f0, %f1, %f2;", &[single(f32::MAX), single(2.0)], single(f32::INFINITY));
    // The product is 1 - 2^-46, which only a fused operation keeps.
    let (above, below) = (1.0 + 2f32.powi(-23), 1.0 - 2f32.powi(-23));
    check(
        "fma.rn.f32 %f0, %f1, %f2, %f3;",
        &[single(above), single(below), single(-1.0)],
        single(-(2f32.powi(-46))),
    );
    check("fma.rm.f32 %f0, %f1, %f2, %f3;", &[single(1.0), single(1.0), single(tiny)], single(1.0));
    // In f64 this sum would be a tie, by which rounding twice goes wrong.
    let addend = 2f32.powi(-70);
    check(
        "fma.rn.f32 %f0, %f1, %f2, %f3;",
        &[single(above), single(1.0 + tiny * 2.0), single(addend)],
        single(above.mul_add(1.0 + tiny * 2.0, addend)),
    );
    check("div.rn.f32 %f0, %f1, %f2;", &[single(1.0), single(3.0)], single(1.0 / 3.0));
    check("div.rz.f32 %f0, %f1, %f2;", &[single(1.0), single(3.0)], 0x3eaa_aaaa);
    check("div.rn.f32 %f0, %f1, %f2;", &[single(1.0), single(-0.0)], single(f32::NEG_INFINITY));
    check("rcp.rp.f32 %f0, %f1;", &[single(3.0)], 0x3eaa_aaab);
    check("sqrt.rn.f32 %f0, %f1;", &[single(2.0)], single(2f32.sqrt()));
    check("sqrt.rp.f32 %f0, %f1;", &[single(2.0)], single(2f32.sqrt().next_up()));
    check("sqrt.rn.f32 %f0, %f1;", &[single(-1.0)], NAN);
}

#[test]
fn nan_saturation_and_subnormals() {
    check("add.f32 %f0, %f1, %f2;", &[0x7f80_0001, single(1.0)], NAN);
    check("min.f32 %f0, %f1, %f2;", &[0x7fc0_0000, single(1.0)], single(1.0));
    check("min.NaN.f32 %f0, %f1, %f2;", &[0x7fc0_0000, single(1.0)], NAN);
    check("max.f32 %f0, %f1, %f2;", &[0x7fc0_0000, 0x7fc0_0001], NAN);
    check("min.f32 %f0, %f1, %f2;", &[single(0.0), single(-0.0)], single(-0.0));
    check("max.f32 %f0, %f1, %f2;", &[single(-0.0), single(0.0)], single(0.0));
    check("add.sat.f32 %f0, %f1, %f2;", &[single(0.75), single(0.5)], single(1.0));
    check("add.sat.f32 %f0, %f1, %f2;", &[single(-0.75), single(0.5)], 0);
    check("add.sat.f32 %f0, %f1, %f2;", &[NAN, single(0.5)], 0);
    check("add.ftz.f32 %f0, %f1, %f2;", &[1, single(-0.0)], 0);
    check("mul.ftz.f32 %f0, %f1, %f2;", &[0x8080_0000, single(0.5)], 0x8000_0000);
    check("mul.f32 %f0, %f1, %f2;", &[0x0080_0000, single(0.5)], 0x0040_0000);
    check("neg.f32 %f0, %f1;", &[single(1.5)], single(-1.5));
    check("abs.f64 %g0, %g1;", &[(-1.5f64).to_bits()], 1.5f64.to_bits());
    check("copysign.f32 %f0, %f1, %f2;", &[single(-0.0), single(3.0)], single(-3.0));
    check(
        "fma.rn.f64 %g0, %g1, %g2, %g3;",
        &[3f64.to_bits(), (1.0f64 / 3.0).to_bits(), (-1f64).to_bits()],
        3f64.mul_add(1.0 / 3.0, -1.0).to_bits(),
    );
}

#[test]
fn approximations_are_close() {
    let near = |body: &str, input: f32, want: f64| {
        let got = f64::from(f32::from_bits(evaluate(body, &[single(input)]) as u32));
        assert!(
            (got - want).abs() <= want.abs() * 1e-7,
            "`{body}` of {input}: {got} and not {want}"
        );
    };
    near("ex2.approx.f32 %f0, %f1;", 0.3, f64::from(0.3f32).exp2());
    near("lg2.approx.f32 %f0, %f1;", 5.0, 5f64.log2());
    near("sin.approx.f32 %f0, %f1;", 1.0, 1f64.sin());
    near("cos.approx.f32 %f0, %f1;", 1.0, 1f64.cos());
    near("tanh.approx.f32 %f0, %f1;", 0.5, 0.5f64.tanh());
    near("rsqrt.approx.f32 %f0, %f1;", 3.0, 1.0 / 3f64.sqrt());
    near("rcp.approx.ftz.f32 %f0, %f1;", 3.0, 1.0 / 3.0);
    check("ex2.approx.ftz.f32 %f0, %f1;", &[single(f32::NEG_INFINITY)], 0);
    check("lg2.approx.f32 %f0, %f1;", &[single(-1.0)], NAN);
}

#[test]
fn conversions() {
    check("cvt.s64.s32 %d0, %r1;", &[MINUS_ONE], u64::MAX);
    check("cvt.u64.u32 %d0, %r1;", &[MINUS_ONE], MINUS_ONE);
    check("cvt.s32.s8 %r0, %r1;", &[0x1280], 0xffff_ff80);
    check("cvt.u8.u32 %h0, %r1;", &[0x1280], 0x80);
    check("cvt.s8.s32 %r0, %r1;", &[0x1280], 0xffff_ff80);
    check("cvt.sat.u8.s32 %r0, %r1;", &[MINUS_ONE], 0);
    check("cvt.sat.s8.s32 %r0, %r1;", &[1000], 127);
    check("cvt.rn.f32.s32 %f0, %r1;", &[16_777_217], single(16_777_216.0));
    check("cvt.rp.f32.s32 %f0, %r1;", &[16_777_217], single(16_777_218.0));
    check("cvt.rz.f32.u64 %f0, %d1;", &[u64::MAX], 0x5f7f_ffff);
    check("cvt.rn.f32.u64 %f0, %d1;", &[u64::MAX], 0x5f80_0000);
    check("cvt.rn.f64.s64 %g0, %d1;", &[1 << 63], (-(2f64.powi(63))).to_bits());
    check("cvt.rm.f64.u64 %g0, %d1;", &[u64::MAX], 2f64.powi(64).next_down().to_bits());
    for (mode, down, up) in [("rni", 2, -2i32), ("rzi", 2, -2), ("rmi", 2, -3), ("rpi", 3, -2)] {
        check(&format!("cvt.{mode}.s32.f32 %r0, %f1;"), &[single(2.5)], down);
        check(&format!("cvt.{mode}.s32.f32 %r0, %f1;"), &[single(-2.5)], up as u32 as u64);
    }
    check("cvt.rzi.s32.f32 %r0, %f1;", &[single(1e20)], 0x7fff_ffff);
    check("cvt.rzi.u32.f32 %r0, %f1;", &[single(-5.0)], 0);
    check("cvt.rzi.s32.f32 %r0, %f1;", &[NAN], 0);
    check("cvt.rzi.s64.f32 %d0, %f1;", &[NAN], 1 << 63);
    check("cvt.rni.f32.f32 %f0, %f1;", &[single(-0.4)], single(-0.0));
    check("cvt.sat.f32.f32 %f0, %f1;", &[single(1.5)], single(1.0));
    check("cvt.f64.f32 %g0, %f1;", &[1], f64::from(f32::from_bits(1)).to_bits());
    check("cvt.rn.f32.f64 %f0, %g1;", &[0.1f64.to_bits()], single(0.1));
    check("cvt.rm.f32.f64 %f0, %g1;", &[0.1f64.to_bits()], single(0.1f32.next_down()));
    check("cvt.rn.f32.f64 %f0, %g1;", &[1e-45f64.to_bits()], 1);
    check("cvt.rn.f16.f32 %h0, %f1;", &[single(65_519.0)], 0x7bff);
    check("cvt.rn.f16.f32 %h0, %f1;", &[single(65_520.0)], 0x7c00);
    check("cvt.rz.f16.f32 %h0, %f1;", &[single(1e9)], 0x7bff);
    check("cvt.rn.f16.f32 %h0, %f1;", &[single(2f32.powi(-25))], 0);
    check("cvt.rn.f16.f32 %h0, %f1;", &[single(2f32.powi(-25).next_up())], 1);
    check("cvt.rn.f16.f32 %h0, %f1;", &[NAN], 0x7fff);
    check("cvt.f32.f16 %f0, %h1;", &[0x8001], single(-(2f32.powi(-24))));
    check("cvt.rn.bf16.f32 %h0, %f1;", &[0x3f80_8000], 0x3f80);
    check("cvt.rn.bf16.f32 %h0, %f1;", &[0x3f81_8000], 0x3f82);
    check("cvt.rn.relu.bf16.f32 %h0, %f1;", &[single(-2.0)], 0);
    check("cvt.rn.f16x2.f32 %r0, %f1, %f2;", &[single(1.0), single(2.0)], 0x3c00_4000);
}

#[test]
fn all_halves_survive_a_round_trip() {
    // Every 257th of all bit patterns; what is not a number becomes the canonical one.
    for bits in (0..0x1_0000u64).step_by(257) {
        let is_nan = bits & 0x7fff > 0x7c00;
        let want = if is_nan { 0x7fff } else { bits };
        check("mov.b16 %h0, 0; cvt.f32.f16 %f7, %h1; cvt.rn.f16.f32 %h0, %f7;", &[bits], want);
    }
}

#[test]
fn half_arithmetic() {
    check("add.f16 %h0, %h1, %h2;", &[0x3c00, 0x1000], 0x3c00);
    check("add.f16 %h0, %h1, %h2;", &[0x3c01, 0x1000], 0x3c02);
    check("mul.f16 %h0, %h1, %h2;", &[0x7bff, 0x4000], 0x7c00);
    // 1 + 3 * 2^-10 squared, less one: a product that is rounded first loses its last 9 * 2^-20.
    check("fma.rn.f16 %h0, %h1, %h2, %h3;", &[0x3c03, 0x3c03, 0xbc00], 0x1e02);
    check("add.f16x2 %r0, %r1, %r2;", &[0x3c00_4000, 0x3c00_4000], 0x4000_4400);
    check("fma.rn.bf16 %h0, %h1, %h2, %h3;", &[0x3f80, 0x4000, 0x3f80], 0x4040);
    check("setp.gt.f16 %p0, %h1, %h2;", &[0x3c00, 0xbc00], 1);
}

#[test]
fn tests_and_selections() {
    check("setp.lt.s32 %p0, %r1, %r2;", &[MINUS_ONE, 0], 1);
    check("setp.lt.u32 %p0, %r1, %r2;", &[MINUS_ONE, 0], 0);
    check("setp.hi.u32 %p0, %r1, %r2;", &[MINUS_ONE, 0], 1);
    for (comparison, want) in [
        ("eq", 0),
        ("ne", 0),
        ("lt", 0),
        ("neu", 1),
        ("ltu", 1),
        ("geu", 1),
        ("num", 0),
        ("nan", 1),
    ] {
        check(&format!("setp.{comparison}.f32 %p0, %f1, %f2;"), &[NAN, single(1.0)], want);
    }
    check("setp.num.f32 %p0, %f1, %f2;", &[0, 0], 1);
    check("setp.eq.ftz.f32 %p0, %f1, %f2;", &[1, 0], 1);
    check("setp.eq.f32 %p0, %f1, %f2;", &[single(-0.0), 0], 1);
    check("setp.eq.and.s32 %p0, %r1, %r2, %p3;", &[4, 4, 0], 0);
    check("setp.eq.or.s32 %p0, %r1, %r2, !%p3;", &[4, 5, 0], 1);
    check("setp.eq.xor.s32 %p0, %r1, %r2, %p3;", &[4, 4, 1], 0);
    check("setp.eq.s32 %p0|%p6, %r1, %r2; mov.pred %p0, %p6;", &[4, 4], 0);
    check("set.lt.u32.s32 %r0, %r1, %r2;", &[1, 2], MINUS_ONE);
    check("set.lt.f32.s32 %f0, %r1, %r2;", &[1, 2], single(1.0));
    check("selp.b32 %r0, %r1, %r2, %p3;", &[7, 8, 0], 8);
    check("mov.u32 %r0, 1; @%p1 mov.u32 %r0, 2;", &[1], 2);
    check("mov.u32 %r0, 1; @!%p1 mov.u32 %r0, 2;", &[1], 1);
    check("mov.b64 %d0, {%r1, %r2};", &[3, 4], 0x4_0000_0003);
    check("mov.u32 %r0, 0; mov.b64 {_, %r0}, %d1;", &[0x5_0000_0003], 5);
    check("mov.f32 %f0, 0fBF800000;", &[], single(-1.0));
    check("mov.f64 %g0, 0d3FF8000000000000;", &[], 1.5f64.to_bits());
    check("mov.b32 %r0, -1;", &[], MINUS_ONE);
}

#[test]
fn atomics_on_shared_memory() {
    let on = |operation: &str, start: u64, inputs: &[u64], want: u64| {
        let body = format!(
            "mov.u64 %d0, 0; .shared .b64 cell; st.shared.u64 [cell], {start}; {operation} ld.shared.u64 %d0, [cell];"
        );
        check(&body, inputs, want);
    };
    on("red.shared.add.u32 [cell], %r1;", 5, &[MINUS_ONE], 4);
    on("atom.shared.max.s32 %r0, [cell], %r1;", 5, &[MINUS_ONE], 5);
    on("atom.shared.min.s32 %r0, [cell], %r1;", 5, &[MINUS_ONE], MINUS_ONE);
    on("atom.shared.exch.b64 %d0, [cell], %d1;", 5, &[9], 9);
    on("atom.shared.cas.b32 %r0, [cell], %r1, %r2;", 5, &[5, 7], 7);
    on("atom.shared.cas.b32 %r0, [cell], %r1, %r2;", 5, &[6, 7], 5);
    on("atom.shared.inc.u32 %r0, [cell], %r1;", 5, &[5], 0);
    on("atom.shared.dec.u32 %r0, [cell], %r1;", 0, &[5], 5);
    on(
        "atom.shared.add.f64 %g0, [cell], %g1;",
        1.5f64.to_bits(),
        &[2f64.to_bits()],
        3.5f64.to_bits(),
    );
    on("red.relaxed.gpu.shared.xor.b32 [cell], %r1;", 5, &[4], 1);
}

#[test]
fn memory_that_was_never_written_is_poison() {
    check("mov.u32 %r0, 0; .shared .b32 cell; ld.shared.u32 %r0, [cell];", &[], MINUS_ONE);
    check("mov.u32 %r0, 0; .local .b32 cell; ld.local.u32 %r0, [cell];", &[], MINUS_ONE);
    check(
        "mov.u32 %r0, 0; .local .b32 cell; mov.u64 %d1, cell; cvta.local.u64 %d1, %d1; st.u32 [%d1], 7; ld.local.u32 %r0, [cell];",
        &[],
        7,
    );
    check(
        "mov.u16 %h0, 0; .shared .b64 cell; st.shared.u64 [cell], -2; ld.shared.s8 %h0, [cell];",
        &[],
        0xfffe,
    );
}

#[test]
fn narrow_numbers() {
    let pair = "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;";
    check(pair, &[single(1.0), single(-2.0)], 0x38c0);
    // 448 is the largest, ties go to even, and the smallest is 2^-9.
    check(pair, &[single(464.0), single(1e30)], 0x7e7e);
    check(pair, &[single(17.0), single(19.0)], 0x585a);
    check(pair, &[single(2f32.powi(-10)), single(2f32.powi(-10) * 1.01)], 0x0001);
    check(pair, &[NAN, single(f32::NEG_INFINITY)], 0x7ffe);
    check("cvt.rn.satfinite.relu.e4m3x2.f32 %h0, %f1, %f2;", &[single(-1.0), single(1.0)], 0x0038);
    let wide = "cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2;";
    check(wide, &[single(57_344.0), single(-1e9)], 0x7bfb);
    check(wide, &[single(2f32.powi(-16)), single(1.5)], 0x013e);
    check("cvt.rn.f16x2.e4m3x2 %r0, %h1;", &[0x7e01], 0x5f00_1800);
    check("cvt.rn.f16x2.e5m2x2 %r0, %h1;", &[0x7c3c], 0x7c00_3c00);
    check("cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1;", &[0x3c00_c000], 0x38c0);
    check("cvt.rna.tf32.f32 %r0, %f1;", &[0x3f80_1000], 0x3f80_2000);
    check("cvt.rn.tf32.f32 %r0, %f1;", &[0x3f80_1000], 0x3f80_0000);
    check("cvt.rz.tf32.f32 %r0, %f1;", &[0x3f80_1fff], 0x3f80_0000);
}

#[test]
fn all_small_floats_survive_a_round_trip() {
    // The value of each byte by its definition, in halves.
    for byte in 0..=0xff_u64 {
        for (name, largest) in [("e4m3", 0x7e), ("e5m2", 0x7b)] {
            if byte & 0x7f > largest {
                continue;
            }
            let body = format!(
                "mov.b16 %h0, 0; cvt.rn.f16x2.{name}x2 %r7, %h1; cvt.rn.satfinite.{name}x2.f16x2 %h0, %r7;"
            );
            check(&body, &[byte], byte);
        }
    }
}

#[test]
fn bytes_spaces_and_positions() {
    check("dp4a.s32.s32 %r0, %r1, %r2, %r3;", &[0xff02_0380, 0x0105_fd02, 10], MINUS_ONE - 245);
    check("dp4a.u32.s32 %r0, %r1, %r2, %r3;", &[0xff, 0xff, 0], MINUS_ONE - 254);
    check("bfind.u32 %r0, %r1;", &[0x10], 4);
    check("bfind.u32 %r0, %r1;", &[0], MINUS_ONE);
    check("bfind.s32 %r0, %r1;", &[MINUS_ONE - 4], 2);
    check("bfind.shiftamt.u32 %r0, %r1;", &[1], 31);
    check("bfind.u64 %r0, %d1;", &[1 << 40], 40);
    let body = "mov.pred %p0, 0; .shared .b32 cell; mov.u64 %d1, cell; cvta.shared.u64 %d1, %d1; isspacep.shared %p0, %d1;";
    check(body, &[], 1);
    check("isspacep.global %p0, %d1;", &[0x7_0000_0000], 1);
    check("isspacep.local %p0, %d1;", &[0x7_0000_0000], 0);
}

#[test]
fn pairs_are_set() {
    check("set.gt.u32.f16x2 %r0, %r1, %r2;", &[0x4000_3c00, 0x3c00_3c00], 0xffff_0000);
    check("set.ge.f16x2.f16x2 %r0, %r1, %r2;", &[0x4000_3c00, 0x3c00_4000], 0x3c00_0000);
    check("set.eq.bf16x2.bf16x2 %r0, %r1, %r2;", &[0x3f80_3f80, 0x3f80_0000], 0x3f80_0000);
    check("set.lt.f16.f16 %h0, %h1, %h2;", &[0x3c00, 0x4000], 0x3c00);
}

#[test]
fn copies_are_done_when_they_are_waited_for() {
    let copy = "mov.u32 %r0, 0; .shared .align 16 .b8 place[64]; ld.param.u64 %d1, [in];
        cp.async.ca.shared.global [place], [%d1], 4; cp.async.commit_group;
        cp.async.ca.shared.global [place+16], [%d1+8], 8, %r3; cp.async.commit_group;";
    let inputs = &[0x1122_3344, 0x5566_7788_99aa_bbcc, 4];
    let read = |at: u32, wait: &str| format!("{copy} {wait} ld.shared.u32 %r0, [place+{at}];");
    check(&read(0, ""), inputs, MINUS_ONE);
    check(&read(0, "cp.async.wait_group 1;"), inputs, 0x1122_3344);
    check(&read(16, "cp.async.wait_group 1;"), inputs, MINUS_ONE);
    check(&read(16, "cp.async.wait_group 0;"), inputs, 0x99aa_bbcc);
    check(&read(20, "cp.async.wait_all;"), inputs, 0);
    check(&read(20, "cp.async.wait_group 2;"), inputs, MINUS_ONE);
}

#[test]
fn halves_are_added_in_place() {
    let body = "mov.u32 %r0, 0; .shared .b32 cell; st.shared.u32 [cell], 0x3c003c00;
        red.shared.add.noftz.f16x2 [cell], %r1; ld.shared.u32 %r0, [cell];";
    check(body, &[0x3c00_4000], 0x4000_4200);
    let body = "mov.u16 %h0, 0; .shared .b16 cell; st.shared.u16 [cell], 5;
        atom.shared.cas.b16 %h7, [cell], %h1, %h2; ld.shared.u16 %h0, [cell];";
    check(body, &[5, 9], 9);
}

#[test]
fn vectors_are_read_and_written_whole() {
    let inputs = &[0x1111_2222_3333_4444, 0x5555_6666_7777_8888];
    let load = |zero: &str, load: &str| format!("{zero}; ld.param.u64 %d1, [in]; {load}");
    let pair = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1]; mov.b64 %d0, {%r2, %r4};";
    check(&load("mov.b64 %d0, 0", pair), inputs, 0x5555_6666_1111_2222);
    let words = "ld.global.nc.v2.u64 {%d2, %d0}, [%d1];";
    check(&load("mov.b64 %d0, 0", words), inputs, inputs[1]);
    let reals = "ld.global.v2.f64 {%g1, %g0}, [%d1];";
    check(&load("mov.f64 %g0, 0d0000000000000000", reals), inputs, inputs[1]);
    let singles = "ld.global.v4.f32 {%f1, %f2, %f0, %f3}, [%d1];";
    check(&load("mov.f32 %f0, 0f00000000", singles), inputs, 0x7777_8888);
    let shorts = "ld.global.v4.u16 {%h1, %h2, %h0, %h3}, [%d1];";
    check(&load("mov.b16 %h0, 0", shorts), inputs, 0x2222);
    let bytes = "ld.global.v2.u8 {%h1, %h0}, [%d1+2];";
    check(&load("mov.b16 %h0, 0", bytes), inputs, 0x33);
    let shared = "mov.b64 %d0, 0; .shared .align 16 .b8 place[32];
        st.shared.v4.u32 [place+16], {%r1, %r2, %r1, %r2};
        st.shared.v2.u16 [place+28], {%h1, %h1};
        ld.shared.v2.u64 {%d1, %d0}, [place+16];";
    check(shared, &[0xaabb_ccdd, 0x1234_5678], 0xccdd_ccdd_aabb_ccdd);
}

#[test]
fn all_brain_floats_survive_a_round_trip() {
    // A bf16 is the upper half of a number of 32 bits; ties between two of them go to the even one.
    for bits in (0..=0xffff_u64).step_by(7).chain([0, 1, 0x7f7f, 0x7f80, 0x8000, 0xff80]) {
        if bits & 0x7f80 == 0x7f80 && bits & 0x7f != 0 {
            continue;
        }
        let back = "mov.b16 %h0, 0; cvt.f32.bf16 %f7, %h1; cvt.rn.bf16.f32 %h0, %f7;";
        check(back, &[bits], bits);
        check("mov.f32 %f0, 0f00000000; cvt.f32.bf16 %f0, %h1;", &[bits], bits << 16);
        if bits & 0x7f80 != 0x7f80 {
            let tie = (bits << 16) | 0x8000;
            check("cvt.rn.bf16.f32 %h0, %f1;", &[tie], bits + (bits & 1));
            check("cvt.rn.bf16.f32 %h0, %f1;", &[tie + 1], bits + 1);
            check("cvt.rz.bf16.f32 %h0, %f1;", &[tie + 1], bits);
        }
    }
}

//! Kernels: loaded, described, launched, and what they can do wrong.

use assay_gpu::device::{Device, DeviceProblem};
use assay_gpu::types::KernelParam;

use super::fake::{address, buffer, fixture, held, launch, on_fake, open};

const SMALL: &str = "
.version 8.0
.target sm_70
.address_size 64
.global .align 4 .u32 calls;
.visible .entry count(.param .u64 to) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.global.u32 %r1, [calls];
    add.u32 %r2, %r1, 1;
    st.global.u32 [calls], %r2;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry trap(.param .u64 to) { trap; }
.visible .entry two(.param .u64 to, .param .align 4 .b8 by_value[12]) { ret; }
";

fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

on_fake! {
    fn a_kernel_adds() {
        let mut device = open();
        let module = device.load(&fixture("vadd")).unwrap();
        let a = buffer(&mut device, &bytes(&[1.0, 2.0, 3.0]));
        let b = buffer(&mut device, &bytes(&[10.0, 20.0, 30.0]));
        let sum = buffer(&mut device, &[0xff; 16]);
        let args = vec![address(a), address(b), address(sum), 3i32.to_le_bytes().to_vec()];
        device.launch(module, &launch("vadd", 1, 32, args)).unwrap();
        device.finish().unwrap();
        let held = held(&mut device, sum, 16);
        assert_eq!(numbers(&held[..12]), [11.0, 22.0, 33.0]);
        assert_eq!(held[12..], [0xff; 4], "a fourth element was not to be written");
    }
}

on_fake! {
    fn kernels_are_described() {
        let mut device = open();
        let module = device.load(SMALL.as_bytes()).unwrap();
        let mut kernels = device.kernels(module).unwrap();
        kernels.sort_by(|one, other| one.name.cmp(&other.name));
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["count", "trap", "two"]);
        let params = [KernelParam { offset: 0, bytes: 8 }, KernelParam { offset: 8, bytes: 12 }];
        assert_eq!(kernels[2].params, params);
        assert_eq!(kernels[2].threads_max, 1024);
        let shared = device.load(&fixture("transpose")).unwrap();
        assert!(device.kernels(shared).unwrap()[0].static_shared_bytes > 0);
        assert!(matches!(device.kernels(7), Err(DeviceProblem::Failed(_))));
    }
}

on_fake! {
    fn wrong_arguments_never_reach_the_driver() {
        let mut device = open();
        let module = device.load(SMALL.as_bytes()).unwrap();
        let at = buffer(&mut device, &[0; 64]);
        let mut refused = |kernel: &str, args: Vec<Vec<u8>>| {
            device.launch(module, &launch(kernel, 1, 1, args)).unwrap_err()
        };
        assert!(matches!(refused("count", vec![]), DeviceProblem::BadArguments(_)));
        assert!(matches!(refused("count", vec![address(at); 2]), DeviceProblem::BadArguments(_)));
        assert!(matches!(refused("count", vec![vec![0; 4]]), DeviceProblem::BadArguments(_)));
        assert!(matches!(refused("count", vec![vec![0; 16]]), DeviceProblem::BadArguments(_)));
        let short = refused("two", vec![address(at), vec![0; 11]]);
        assert!(matches!(short, DeviceProblem::BadArguments(_)));
        assert_eq!(refused("many", vec![]), DeviceProblem::NoSuchKernel("many".to_owned()));
        device.launch(module, &launch("two", 1, 1, vec![address(at), vec![0; 12]])).unwrap();
        device.finish().unwrap();
    }
}

on_fake! {
    fn launches_are_within_the_device() {
        let mut device = open();
        let module = device.load(SMALL.as_bytes()).unwrap();
        let at = buffer(&mut device, &[0; 64]);
        let good = launch("count", 1, 1, vec![address(at)]);
        for wrong in [
            launch("count", 0, 1, good.args.clone()),
            launch("count", 1, 0, good.args.clone()),
            launch("count", 1, 2000, good.args.clone()),
        ] {
            let problem = device.launch(module, &wrong).unwrap_err();
            assert!(matches!(problem, DeviceProblem::InvalidLaunch(_)), "{problem:?}");
        }
        // More than 48 KiB is asked for, up to what there is.
        let mut large = good.clone();
        large.dynamic_shared_bytes = 200 << 10;
        device.launch(module, &large).unwrap();
        large.dynamic_shared_bytes = (227 << 10) + 1;
        assert!(matches!(device.launch(module, &large), Err(DeviceProblem::InvalidLaunch(_))));
        let mut together = good.clone();
        together.cooperative = true;
        device.launch(module, &together).unwrap();
        together.grid.x = 1000;
        assert!(matches!(device.launch(module, &together), Err(DeviceProblem::InvalidLaunch(_))));
        // None of them was the end.
        device.launch(module, &good).unwrap();
        device.finish().unwrap();
        assert_eq!(held(&mut device, at, 4), 3u32.to_le_bytes());
    }
}

on_fake! {
    fn what_a_kernel_does_wrong_comes_later_and_stays() {
        let mut device = open();
        let module = device.load(SMALL.as_bytes()).unwrap();
        device.launch(module, &launch("count", 1, 1, vec![address(0xdead_0000_0000)])).unwrap();
        let problem = device.finish().unwrap_err();
        let expected = "CUDA_ERROR_ILLEGAL_ADDRESS (700), of count";
        assert_eq!(problem, DeviceProblem::IllegalAddress(expected.to_owned()));
        let again = device.launch(module, &launch("trap", 1, 1, vec![address(0)])).unwrap_err();
        assert!(matches!(again, DeviceProblem::IllegalAddress(_)), "{again:?}");
        assert!(matches!(device.alloc(16), Err(DeviceProblem::IllegalAddress(_))));
        assert!(matches!(device.reset(), Err(DeviceProblem::IllegalAddress(_))));
    }
}

on_fake! {
    fn a_misaligned_address_is_one() {
        let mut device = open();
        let module = device.load(SMALL.as_bytes()).unwrap();
        let at = buffer(&mut device, &[0; 64]);
        device.launch(module, &launch("count", 1, 1, vec![address(at + 1)])).unwrap();
        assert!(matches!(device.finish(), Err(DeviceProblem::MisalignedAddress(_))));
    }
}

on_fake! {
    fn a_trap_is_a_launch_that_failed() {
        let mut device = open();
        let module = device.load(SMALL.as_bytes()).unwrap();
        device.launch(module, &launch("trap", 1, 1, vec![address(0)])).unwrap();
        let problem = device.finish().unwrap_err();
        assert_eq!(problem, DeviceProblem::LaunchFailed("error 719, of trap".to_owned()));
    }
}

on_fake! {
    fn images_that_are_none() {
        let mut device = open();
        for image in [&b"\x7fELF\x02\x01"[..], b"a\0b", b"", b"\xff\xfe\xfd", b"hello"] {
            let problem = device.load(image).unwrap_err();
            assert!(matches!(problem, DeviceProblem::ImageRejected(_)), "{problem:?}");
        }
        let broken = SMALL.replace("add.u32", "add.u31");
        let DeviceProblem::ImageRejected(text) = device.load(broken.as_bytes()).unwrap_err() else {
            panic!("an instruction that there is not");
        };
        assert!(text.contains("add.u31"), "what the compiler said: {text}");
        // An image that ends as C's texts do is the same.
        let mut ended = SMALL.as_bytes().to_vec();
        ended.push(0);
        assert_eq!(device.load(&ended), Ok(0));
    }
}

on_fake! {
    fn a_reset_gives_up_variables_and_numbers() {
        let mut device = open();
        for _ in 0..2 {
            let module = device.load(SMALL.as_bytes()).unwrap();
            assert_eq!(module, 0);
            let at = buffer(&mut device, &[0; 64]);
            let run = launch("count", 1, 1, vec![address(at)]);
            device.launch(module, &run).unwrap();
            device.launch(module, &run).unwrap();
            device.finish().unwrap();
            assert_eq!(held(&mut device, at, 4), 2u32.to_le_bytes());
            device.reset().unwrap();
            assert!(matches!(device.launch(0, &run), Err(DeviceProblem::Failed(_))));
        }
    }
}

on_fake! {
    fn a_reset_leaves_nothing_in_memory() {
        let mut device = open();
        let secret = buffer(&mut device, b"of another tenant");
        let part = buffer(&mut device, &[7; 1_000]);
        device.reset().unwrap();
        // The fake driver lets memory be read that was given back.
        assert_eq!(held(&mut device, secret, 17), [0; 17]);
        assert_eq!(held(&mut device, part, 1_000), [0; 1_000]);
    }
}

on_fake! {
    fn time_is_the_devices() {
        let mut device = open();
        let module = device.load(&fixture("vadd")).unwrap();
        let at = buffer(&mut device, &[0; 4096 * 4]);
        let args = vec![address(at), address(at), address(at), 4096i32.to_le_bytes().to_vec()];
        let run = launch("vadd", 128, 32, args);
        let mut timed = |runs: u32| {
            device.flush().unwrap();
            device.begin().unwrap();
            for _ in 0..runs {
                device.launch(module, &run).unwrap();
            }
            device.end().unwrap().unwrap()
        };
        let (empty, busy) = (timed(0), timed(8));
        assert!(busy > empty, "{busy} ns with kernels, {empty} ns without");
    }
}

on_fake! {
    fn memory_is_moved() {
        let mut device = open();
        let at = buffer(&mut device, b"0123456789abcdef");
        let to = buffer(&mut device, &[0; 16]);
        device.copy(to, at + 8, 8).unwrap();
        device.set(to + 8, 4, b'x').unwrap();
        device.finish().unwrap();
        assert_eq!(held(&mut device, to, 16), *b"89abcdefxxxx\0\0\0\0");
        assert!(matches!(device.alloc(1 << 50), Err(DeviceProblem::Limit(_))));
        device.alloc(0).unwrap();
    }
}

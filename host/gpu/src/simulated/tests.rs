use super::*;
use crate::device::{BufferTolerance, FillRule};
use crate::types::{Dim3, ElementType};

const VADD: &[u8] = include_bytes!("../../../ptx/fixtures/vadd.ptx");

fn one(x: u32) -> Dim3 {
    Dim3 { x, y: 1, z: 1 }
}

fn singles(device: &mut SimulatedDevice, values: &[f32]) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let at = device.alloc(bytes.len() as u64).unwrap();
    device.write(at, &bytes).unwrap();
    at
}

fn vadd(
    device: &mut SimulatedDevice,
    cooperative: bool,
    blocks: u32,
) -> Result<Vec<u8>, DeviceProblem> {
    let (a, b) = (singles(device, &[1.0, 2.0]), singles(device, &[0.5, 0.25]));
    let c = singles(device, &[0.0, 0.0]);
    let args = [a, b, c].map(|at| at.to_le_bytes().to_vec());
    let args = args.into_iter().chain([2i32.to_le_bytes().to_vec()]).collect();
    let (grid, block) = (one(blocks), one(32));
    let kernel = "vadd".to_owned();
    let launch = RawLaunch { kernel, grid, block, cooperative, dynamic_shared_bytes: 0, args };
    device.launch(0, &launch)?;
    let mut bytes = vec![0; 8];
    device.read(c, &mut bytes)?;
    Ok(bytes)
}

#[test]
fn a_kernel_is_loaded_described_and_run() {
    let mut device = SimulatedDevice::default();
    assert_eq!(device.load(VADD), Ok(0));
    let kernels = device.kernels(0).unwrap();
    let [kernel] = &kernels[..] else { panic!("one kernel") };
    let params: Vec<(u32, u32)> =
        kernel.params.iter().map(|param| (param.offset, param.bytes)).collect();
    assert_eq!((kernel.name.as_str(), kernel.registers, kernel.threads_max), ("vadd", 0, 1024));
    assert_eq!(params, [(0, 8), (8, 8), (16, 8), (24, 4)]);
    let want: Vec<u8> = [1.5f32, 2.25].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(vadd(&mut device, false, 1), Ok(want.clone()));
    assert_eq!(vadd(&mut device, true, 1), Ok(want));
    assert!(matches!(vadd(&mut device, true, 2), Err(DeviceProblem::Unsupported(_))));
    assert_eq!(device.end(), Ok(None));
}

#[test]
fn images_that_are_no_text_of_it_are_refused() {
    let mut device = SimulatedDevice::default();
    let refused = |device: &mut SimulatedDevice, image: &[u8]| device.load(image).unwrap_err();
    let DeviceProblem::ImageRejected(words) = refused(&mut device, b"\x7fELF\x02\x01\x00\xff")
    else {
        panic!("it is a cubin");
    };
    assert!(words.contains("compute_90"), "{words}");
    assert!(matches!(refused(&mut device, &VADD[..900]), DeviceProblem::ImageRejected(_)));
    let body = "{\nwgmma.fence.sync.aligned;\nret;\n}\n";
    let text = format!(".version 8.0\n.target sm_90a\n.address_size 64\n.entry k()\n{body}");
    let DeviceProblem::Unsupported(words) = refused(&mut device, text.as_bytes()) else {
        panic!("it is not simulated");
    };
    assert!(words.contains("wgmma"), "{words}");
    // Ended as C ends texts.
    assert_eq!(device.load(&[VADD, &[0]].concat()), Ok(0));
}

#[test]
fn what_may_be_run_is_bounded_and_counted() {
    let mut device = SimulatedDevice::default();
    device.load(VADD).unwrap();
    device.allow(10_000);
    vadd(&mut device, false, 1).unwrap();
    let used = 10_000 - device.allowed();
    assert!((64..2_000).contains(&used), "{used}");
    device.allow(used - 1);
    assert_eq!(vadd(&mut device, false, 1), Err(DeviceProblem::TimedOut));
    device.allow(used);
    vadd(&mut device, false, 1).unwrap();
    assert_eq!(device.allowed(), 0);
}

#[test]
fn memory_is_made_set_copied_compared_and_given_up() {
    let mut device = SimulatedDevice::default();
    let (a, b) = (device.alloc(64).unwrap(), device.alloc(64).unwrap());
    assert!(a.is_multiple_of(256) && b.is_multiple_of(256));
    device.set(a, 64, 7).unwrap();
    device.copy(b + 8, a, 8).unwrap();
    let mut read = [0; 24];
    device.read(b, &mut read).unwrap();
    assert_eq!((read[7], read[8], read[15], read[16]), (0, 7, 7, 0));
    assert_eq!(device.equal(a, b + 8, 8), Ok(true));
    assert_eq!(device.equal(a, b + 8, 9), Ok(false));
    let fill =
        Fill { dtype: ElementType::Fp32, count: 16, rule: FillRule::Poison, seed: 1, stream: 2 };
    device.fill(a, &fill).unwrap();
    device.set(b, 64, 0).unwrap();
    let tolerance = BufferTolerance {
        absolute: 0.0,
        relative: 0.0,
        matched_ratio: 1.0,
        allow_nonfinite: false,
    };
    let report = device.compare(&Compared { got: a, want: b, poison: fill, tolerance }).unwrap();
    assert_eq!((report.ok, report.mismatched, report.never_written), (false, 16, 16));
    assert!(matches!(device.set(a, 65, 0), Err(DeviceProblem::Failed(_))));
    assert!(matches!(device.alloc(u64::MAX), Err(DeviceProblem::Limit(_))));
    device.reset().unwrap();
    assert!(matches!(device.set(a, 1, 0), Err(DeviceProblem::Failed(_))));
    assert!(matches!(device.kernels(0), Err(DeviceProblem::Failed(_))));
}

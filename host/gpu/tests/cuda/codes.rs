//! The error for each code that a driver may return, from every function.

use assay_gpu::cuda::CudaDevice;
use assay_gpu::device::{Device, DeviceProblem};

use super::fake::{address, again, fixture, folder, is_inside, launch, name};

const MARK: &str = "the first problem: ";

/// All that a session does, until something goes wrong.
fn everything() -> Result<(), DeviceProblem> {
    let mut device = CudaDevice::open(0)?;
    let module = device.load(&fixture("vadd"))?;
    device.kernels(module)?;
    let held = device.alloc(4096)?;
    device.write(held, &[0; 4096])?;
    device.set(held, 16, 1)?;
    device.copy(held + 16, held, 16)?;
    device.flush()?;
    device.begin()?;
    let args = vec![address(held), address(held), address(held), 4i32.to_le_bytes().to_vec()];
    device.launch(module, &launch("vadd", 1, 32, args))?;
    device.end()?;
    device.finish()?;
    device.reset()
}

fn first_problem(error: &str) -> String {
    let test = name(module_path!(), "nothing_is_wrong_where_nothing_fails");
    let output = again(&test, folder().path(), error);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{error}: {text}");
    let at = text.find(MARK).unwrap_or_else(|| panic!("{error}: {text}"));
    text[at + MARK.len()..].lines().next().unwrap().to_owned()
}

fn check(error: &str, expected: &str) {
    let found = first_problem(error);
    assert!(found.starts_with(expected), "{error} became {found}, not {expected}");
}

#[test]
fn nothing_is_wrong_where_nothing_fails() {
    if !is_inside() {
        return check("", "none");
    }
    // The tests below read it as well.
    match everything() {
        Ok(()) => println!("\n{MARK}none"),
        Err(problem) => println!("\n{MARK}{problem:?}"),
    }
}

#[test]
fn what_a_kernel_does_is_the_kernels() {
    for (code, expected) in [
        (700, "IllegalAddress(\"CUDA_ERROR_ILLEGAL_ADDRESS (700), of vadd\")"),
        (717, "IllegalAddress"),
        (716, "MisalignedAddress"),
        (715, "IllegalInstruction"),
        (718, "IllegalInstruction"),
        (710, "Trapped"),
        (719, "LaunchFailed"),
        (714, "LaunchFailed"),
        (703, "LaunchFailed"),
        (721, "LaunchFailed"),
        (702, "TimedOut"),
    ] {
        check(&format!("cuEventElapsedTime:{code}"), expected);
        // The judge's flush is the first launch.
        check(&format!("cuLaunchKernelEx:{code}:1"), expected);
    }
}

#[test]
fn what_a_launch_cannot_be_is_said_at_once() {
    for code in [1, 701, 720, 912] {
        check(&format!("cuLaunchKernelEx:{code}:1"), "InvalidLaunch");
    }
    check("cuLaunchKernelEx:801:1", "Unsupported");
    check("cuMemAlloc_v2:2:1", "Limit");
}

#[test]
fn an_image_is_rejected_for_what_it_says_alone() {
    // The judge's kernels are the first two: their machine code, which this driver refuses, and their PTX.
    for code in [200, 218, 300, 302, 303, 500] {
        check(&format!("cuModuleLoadDataEx:{code}:2"), "ImageRejected");
    }
    check("cuModuleLoadDataEx:2:2", "Limit");
    // Another architecture, a newer PTX, no compiler: the platform's.
    for code in [209, 222, 221, 223] {
        check(&format!("cuModuleLoadDataEx:{code}:2"), "Failed");
    }
}

#[test]
fn no_kernel_is_blamed_for_the_machine() {
    for code in [3, 4, 46, 100, 201, 214, 220, 304, 400, 709, 802, 803, 999, 4711] {
        check(&format!("cuEventElapsedTime:{code}"), "Failed");
        check(&format!("cuLaunchKernelEx:{code}:1"), "Failed");
    }
    // The first and the third memory are the judge's, the third to flush the cache with.
    check("cuMemAlloc_v2:2", "Failed");
    check("cuMemAlloc_v2:2:2", "Failed");
    for function in [
        "cuInit",
        "cuDriverGetVersion",
        "cuDeviceGet",
        "cuDeviceGetName",
        "cuDeviceGetUuid_v2",
        "cuDeviceTotalMem_v2",
        "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent",
        "cuCtxSetLimit",
        "cuCtxResetPersistingL2Cache",
        "cuStreamCreate",
        "cuEventCreate",
        "cuMemAlloc_v2",
        "cuModuleLoadDataEx",
        "cuModuleGetFunctionCount",
        "cuModuleEnumerateFunctions",
        "cuFuncLoad",
        "cuFuncGetName",
        "cuFuncGetParamInfo",
    ] {
        check(&format!("{function}:999"), "Failed");
    }
}

#[test]
fn a_cache_that_keeps_nothing_is_no_error() {
    check("cuCtxSetLimit:215:1,cuCtxResetPersistingL2Cache:801", "none");
}

//! The properties of this machine's GPUs, read without starting anything on them.

use super::driver::{CUdevice_attribute as Attribute, Driver, DriverGpu};
use crate::device::{DeviceProblem, Properties};

pub fn properties(driver: Driver, gpu: DriverGpu) -> Result<Properties, DeviceProblem> {
    let number = |attribute| gpu.attribute(attribute);
    let major = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    let minor = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    let memory_khz = u64::from(number(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
    let bus_bits = u64::from(number(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
    Ok(Properties {
        name: gpu.name()?,
        uuid: gpu.uuid()?,
        arch: format!("sm_{major}{minor}"),
        driver: driver_text(driver)?,
        multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        clock_khz: number(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        memory_bytes: gpu.memory_bytes()?,
        l2_bytes: u64::from(number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)),
        shared_bytes_max: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        // Twice a clock: memory of GPUs gives data at both edges.
        peak_bytes_per_s: memory_khz * 1000 * 2 * (bus_bits / 8),
        reaches_host_memory: number(Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0,
        simulated: false,
    })
}

/// The driver's version as a text, such as `580.82.07, CUDA 13.0`; the first part is the kernel module's
/// version, if it is known.
fn driver_text(driver: Driver) -> Result<String, DeviceProblem> {
    let version = driver.version()?;
    let cuda = format!("CUDA {}.{}", version / 1000, version % 1000 / 10);
    Ok(match std::fs::read_to_string("/sys/module/nvidia/version") {
        Ok(module) => format!("{}, {cuda}", module.trim()),
        Err(_) => cuda,
    })
}

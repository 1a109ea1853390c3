//! The CPU level for which code is compiled. It is fixed for each architecture, whatever more the machine has, so that
//! code which one machine compiled runs on every other machine of that architecture, with the same results.

use assay_core::architecture::Architecture;
use wasmtime::Config;

/// A level of an architecture.
struct Level {
    name: &'static str,
    /// The target of compilations. A target that is named keeps wasmtime from using what else the CPU has.
    target: &'static str,
    features: &'static [Feature],
    /// Which CPUs have the level, as the end of "which ...".
    machines: &'static str,
}

/// A part of a level.
struct Feature {
    /// The name in Rust, and in `/proc/cpuinfo` but for punctuation.
    name: &'static str,
    /// The setting that lets Cranelift use it.
    setting: &'static str,
    /// Whether this machine's CPU has it, and its kernel saves the registers.
    detect: fn() -> bool,
}

macro_rules! features {
    ($($name:tt $setting:literal,)*) => {
        &[$(Feature {
            name: $name,
            setting: $setting,
            #[cfg(target_arch = "x86_64")]
            detect: || std::is_x86_feature_detected!($name),
            #[cfg(not(target_arch = "x86_64"))]
            detect: || false,
        }),*]
    };
}

/// Everything of x86-64-v3 for which Cranelift has a setting. Its preset of that name leaves out AVX.
const X86_64: Level = Level {
    name: "x86-64-v3",
    target: "x86_64-unknown-linux-gnu",
    features: features! {
        "sse3" "has_sse3",
        "ssse3" "has_ssse3",
        "sse4.1" "has_sse41",
        "sse4.2" "has_sse42",
        "popcnt" "has_popcnt",
        "cmpxchg16b" "has_cmpxchg16b",
        "avx" "has_avx",
        "avx2" "has_avx2",
        "fma" "has_fma",
        "bmi1" "has_bmi1",
        "bmi2" "has_bmi2",
        "lzcnt" "has_lzcnt",
    },
    machines: "Intel's CPUs have from Haswell (2013) on and AMD's from Excavator (2015) on",
};

/// The first version of the architecture, which every CPU has. LSE would change nothing: its instructions are for memory
/// that threads share, and a guest has one thread.
const AARCH64: Level = Level {
    name: "aarch64",
    target: "aarch64-unknown-linux-gnu",
    features: &[],
    machines: "every CPU has",
};

const fn level(architecture: Architecture) -> Level {
    match architecture {
        Architecture::X86_64 => X86_64,
        Architecture::Aarch64 => AARCH64,
    }
}

/// The level of this machine's architecture.
const OWN: Level = level(Architecture::own());

/// The level's name, which is part of the engine's id.
pub(crate) const fn level_name(architecture: Architecture) -> &'static str {
    level(architecture).name
}

/// The CPU lacks a part of the level: this machine can neither compile plugins nor run them.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "this machine's CPU has {}: plugins are compiled for {}, which {}; in a virtual machine, choose a CPU model that \
     has it, such as the host's own",
    none_of(.missing), OWN.name, OWN.machines
)]
pub struct UnfitCpu {
    /// The names of the missing features.
    missing: Vec<&'static str>,
}

/// Checks that this machine's CPU has the level.
pub fn check_cpu() -> Result<(), UnfitCpu> {
    check(OWN.features, |feature| (feature.detect)())
}

fn check(features: &[Feature], has: impl Fn(&Feature) -> bool) -> Result<(), UnfitCpu> {
    let missing: Vec<_> = features.iter().filter(|it| !has(it)).map(|it| it.name).collect();
    if missing.is_empty() { Ok(()) } else { Err(UnfitCpu { missing }) }
}

/// "no avx, no fma and no bmi1".
fn none_of(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("no {name}")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Has code compiled for the architecture's level, and for nothing beyond it.
pub(crate) fn compile_for(architecture: Architecture, config: &mut Config) {
    let level = level(architecture);
    config.target(level.target).expect("a target that Cranelift knows");
    for feature in level.features {
        // SAFETY: the setting adds instructions to the code and changes nothing else; wasmtime loads no code with
        // instructions that this machine's CPU lacks.
        #[expect(unsafe_code, reason = "a wrong setting could make wrong code")]
        unsafe {
            config.cranelift_flag_enable(feature.setting)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_the_level() {
        check_cpu().expect("the tests run plugins");
        let host = wasmtime::Engine::default().get_target();
        assert_eq!(host.as_deref(), Some(OWN.target));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn an_old_cpu_is_refused_in_words() {
        let refused = |features: &[&str]| {
            let refused = check(OWN.features, |it| features.contains(&it.name));
            refused.expect_err("parts are missing").to_string()
        };
        let westmere = ["sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cmpxchg16b"];
        assert_eq!(
            refused(&westmere),
            "this machine's CPU has no avx, no avx2, no fma, no bmi1, no bmi2 and no lzcnt: plugins are compiled for \
             x86-64-v3, which Intel's CPUs have from Haswell (2013) on and AMD's from Excavator (2015) on; in a virtual \
             machine, choose a CPU model that has it, such as the host's own"
        );
        let piledriver = [&westmere[..], &["avx", "fma", "bmi1", "lzcnt"]].concat();
        assert!(refused(&piledriver).contains(" has no avx2 and no bmi2: "));
        let masked = [&piledriver[..], &["bmi2"]].concat();
        assert!(refused(&masked).contains(" has no avx2: "));
        let haswell = [&masked[..], &["avx2", "movbe"]].concat();
        assert_eq!(check(OWN.features, |it| haswell.contains(&it.name)), Ok(()));
    }
}

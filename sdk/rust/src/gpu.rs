//! CUDA: compiled in boxes that need no GPU ([`compiler`]), run on a worker's own GPU or its simulation
//! ([`device`]): the capability `assay:gpu`, whose interface file says what each thing is.
//!
//! ```no_run
//! use assay_plugin::gpu::compiler;
//!
//! # fn stage(request: &compiler::Request) -> Result<(), assay_plugin::Error> {
//! match compiler::compile(request) {
//!     Ok(artifact) => assert_eq!(artifact.kernels[0].name, "softmax"),
//!     // The platform's faults leave by the question mark, so that the host tries again.
//!     Err(error) => match error.fault()? {
//!         compiler::Fault::Rejected(log) => panic!("it does not compile: {log}"),
//!         other => panic!("{other:?}"),
//!     },
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Only a component has a host to call: in a native test these functions panic.

pub use crate::bindings::assay::gpu::types::{
    Address, Arg, ByValue, CopyBytes, Dim3, Dtype, KernelInfo, Launch, Param, Patch, SetBytes, Step,
};

use crate::Error as PluginError;

impl Dtype {
    /// The size of one element, in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Fp64 | Self::I64 | Self::Ui64 => 8,
            Self::Fp32 | Self::I32 | Self::Ui32 => 4,
            Self::Fp16 | Self::Bf16 | Self::I16 | Self::Ui16 => 2,
            Self::I8 | Self::Ui8 => 1,
        }
    }
}

const OVER: &str = "the stage's time is over";

/// Turns sources into images, host functions into plans.
pub mod compiler {
    pub use crate::bindings::assay::gpu::compiler::{
        Argument, Artifact, BuildOption, Define, Error, FrontEnd, Recording, Request, Returned,
        Tensor, TextFile, Toolkit, Trace, compile, found, record_plan,
    };

    use super::{OVER, PluginError};

    /// A failure that the source or the recorded function caused.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Fault {
        /// The compiler's log.
        Rejected(String),
        TimedOut,
        OutOfMemory,
        Crashed(String),
        /// The size of the result in bytes, which is above a limit.
        TooLarge(u64),
    }

    impl Error {
        /// The failure, if the source caused it. A failure of the platform stays an error of the platform,
        /// and a malformed request is an error of the plugin.
        pub fn fault(self) -> Result<Fault, PluginError> {
            Err(match self {
                Self::Rejected(log) => return Ok(Fault::Rejected(log)),
                Self::TimedOut => return Ok(Fault::TimedOut),
                Self::OutOfMemory => return Ok(Fault::OutOfMemory),
                Self::Crashed(how) => return Ok(Fault::Crashed(how)),
                Self::TooLarge(bytes) => return Ok(Fault::TooLarge(bytes)),
                Self::BadRequest(problem) => PluginError::Internal(problem),
                Self::Cancelled => PluginError::Unavailable(OVER.into()),
                Self::Unavailable(problem) => PluginError::Unavailable(problem),
            })
        }
    }
}

/// Runs plans over buffers, compares and times them.
pub mod device {
    pub use crate::bindings::assay::gpu::device::{
        BufferSpec, CheckReport, Comparison, Error, Init, Integers, Limits, MeasureOptions,
        Measurement, Normal, Origin, Pair, Properties, Role, Session, Timing, Tolerance, Uniform,
        describe,
    };

    use super::{OVER, PluginError};

    /// A failure that a kernel, or its launch, caused.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Fault {
        /// True if this device cannot do what the kernel asks for; the kernel is not wrong for that.
        pub unsupported: bool,
        /// The kind of the failure, such as `illegal address`. Unlike the message it holds nothing that a kernel could choose.
        pub kind: &'static str,
        /// The failure in words, such as `illegal address: ...`.
        pub message: String,
    }

    impl Error {
        /// The failure, if the kernel caused it. A failure of the platform stays an error of the platform.
        /// A bad request is the fault of the plugin or of its reference; a plugin that can tell which must
        /// check before this call.
        pub fn fault(self) -> Result<Fault, PluginError> {
            let (kind, detail) = match self {
                Self::ImageRejected(detail) => ("the image is rejected", detail),
                Self::NoSuchKernel(detail) => ("no such kernel", detail),
                Self::BadArguments(detail) => ("bad arguments", detail),
                Self::InvalidLaunch(detail) => ("invalid launch", detail),
                Self::Limit(detail) => ("beyond a limit", detail),
                Self::Unsupported(detail) => {
                    return Ok(Fault { unsupported: true, kind: "unsupported", message: detail });
                }
                Self::IllegalAddress(detail) => ("illegal address", detail),
                Self::MisalignedAddress(detail) => ("misaligned address", detail),
                Self::IllegalInstruction(detail) => ("illegal instruction", detail),
                Self::Trapped(detail) => ("trapped", detail),
                Self::LaunchFailed(detail) => ("the launch failed", detail),
                Self::TimedOut(ms) => ("it did not end", format!("stopped after {ms} ms")),
                Self::BadRequest(problem) => return Err(PluginError::Internal(problem)),
                Self::Cancelled => return Err(PluginError::Unavailable(OVER.into())),
                Self::Unavailable(problem) => return Err(PluginError::Unavailable(problem)),
            };
            Ok(Fault { unsupported: false, kind, message: format!("{kind}: {detail}") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{compiler, device};
    use crate::Error;

    /// `I` where it is the plugin's own fault, `U` where it is the platform's, else the message.
    fn letter(error: Error) -> String {
        match error {
            Error::Internal(_) => "I".into(),
            Error::Unavailable(_) => "U".into(),
            other => panic!("{other:?} is neither"),
        }
    }

    #[test]
    fn a_compiler_s_errors_are_told_apart() {
        use compiler::Error as E;
        let check = |error: E, expected: &str| {
            let found = error.fault().map_or_else(letter, |fault| format!("{fault:?}"));
            assert_eq!(found, expected);
        };
        check(E::Rejected("log".into()), "Rejected(\"log\")");
        check(E::TimedOut, "TimedOut");
        check(E::OutOfMemory, "OutOfMemory");
        check(E::Crashed("how".into()), "Crashed(\"how\")");
        check(E::TooLarge(1), "TooLarge(1)");
        check(E::BadRequest(String::new()), "I");
        check(E::Cancelled, "U");
        check(E::Unavailable(String::new()), "U");
    }

    #[test]
    fn a_device_s_errors_are_told_apart() {
        use device::Error as E;
        let check = |error: E, expected: &str| {
            let found = error.fault().map_or_else(letter, |fault| {
                assert!(fault.unsupported || fault.message.starts_with(fault.kind));
                fault.message
            });
            assert_eq!(found, expected);
        };
        check(E::ImageRejected("a".into()), "the image is rejected: a");
        check(E::NoSuchKernel("a".into()), "no such kernel: a");
        check(E::BadArguments("a".into()), "bad arguments: a");
        check(E::InvalidLaunch("a".into()), "invalid launch: a");
        check(E::Limit("a".into()), "beyond a limit: a");
        check(E::Unsupported("a".into()), "a");
        check(E::IllegalAddress("a".into()), "illegal address: a");
        check(E::MisalignedAddress("a".into()), "misaligned address: a");
        check(E::IllegalInstruction("a".into()), "illegal instruction: a");
        check(E::Trapped("a".into()), "trapped: a");
        check(E::LaunchFailed("a".into()), "the launch failed: a");
        check(E::TimedOut(7), "it did not end: stopped after 7 ms");
        check(E::BadRequest("a".into()), "I");
        check(E::Cancelled, "U");
        check(E::Unavailable("a".into()), "U");
    }
}

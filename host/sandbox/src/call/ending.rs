//! How a call ended: what a plugin returned or did, as an outcome that its author can read.

use std::collections::BTreeMap;

use assay_core::limits;
use assay_core::outcome::{Artifact, ErrorCode, Scored, StageEnd, StageError};
use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::call::GuestCall;
use crate::call::bindings::assay::reward::types::{self, Error, Outcome};
use crate::clock::Interruption;
use crate::limiter::LimitReached;

/// A content type is a short word.
const CONTENT_TYPE_BYTES_MAX: usize = 256;
/// A guest keeps its own stack at the bottom of its memory and an overflow runs below address 0,
/// which is the top of the 32-bit address space; an instruction's own offset comes on top.
const BELOW_ZERO: std::ops::Range<u64> = 0xFF00_0000..0x1_0100_0000;

/// A failure of the machine in a function that can tell the guest none: it ends the call.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct MachineFailure(pub(crate) String);

/// A failed stage with a message that is cut to the limit.
pub(crate) fn failed(code: ErrorCode, message: impl AsRef<str>) -> StageEnd {
    let message = cut(message.as_ref(), limits::ERROR_MESSAGE_BYTES_MAX).to_owned();
    StageEnd::Failed(StageError { code, message })
}

/// The first bytes of a text, cut between characters.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Checks the plugin's result, which is hostile input.
pub(crate) fn returned(result: Result<Outcome, Error>, last: bool) -> StageEnd {
    match result {
        Ok(Outcome::Next(_)) if last => {
            failed(ErrorCode::BadOutcome, "the last stage must not end in `next`")
        }
        Ok(Outcome::Next(artifact)) => next(artifact),
        Ok(Outcome::Scored(end)) => match scored(end) {
            Ok(end) => StageEnd::Scored(end),
            Err(problem) => failed(ErrorCode::BadOutcome, problem),
        },
        Err(Error::BadRequest(message)) => failed(ErrorCode::BadRequest, message),
        Err(Error::BadSettings(message)) => failed(ErrorCode::BadSettings, message),
        Err(Error::Unavailable(message)) => failed(ErrorCode::Unavailable, message),
        Err(Error::Internal(message)) => failed(ErrorCode::PluginError, message),
    }
}

fn next(artifact: types::ArtifactResult) -> StageEnd {
    let bytes = artifact.bytes.len();
    if bytes > limits::ARTIFACT_BYTES_MAX {
        let max = limits::ARTIFACT_BYTES_MAX;
        let problem = format!("the artifact has {bytes} bytes, the limit is {max}");
        return failed(ErrorCode::BadOutcome, problem);
    }
    let bytes = artifact.content_type.len();
    if bytes > CONTENT_TYPE_BYTES_MAX {
        let problem = format!(
            "the artifact's content type has {bytes} bytes, the limit is {CONTENT_TYPE_BYTES_MAX}"
        );
        return failed(ErrorCode::BadOutcome, problem);
    }
    StageEnd::Next(Artifact { content_type: artifact.content_type, bytes: artifact.bytes })
}

fn scored(end: types::Scored) -> Result<Scored, String> {
    let mut components = BTreeMap::new();
    for component in end.components {
        if components.insert(component.name.clone(), component.value).is_some() {
            let name = cut(&component.name, limits::COMPONENT_NAME_BYTES_MAX);
            return Err(format!("two components are called `{name}`"));
        }
    }
    let scored = Scored {
        reward: end.reward,
        verdict: end.verdict,
        components,
        explanation: end.explanation,
    };
    scored.check()?;
    Ok(scored)
}

/// A call that did not return: the guest's fault, unless its time is over or a [`MachineFailure`] ended it.
pub(crate) fn broken(error: &wasmtime::Error, call: &GuestCall) -> StageEnd {
    let trap = error.downcast_ref::<Trap>().copied();
    if trap == Some(Trap::Interrupt) {
        return interrupted(&call.clock.interruption());
    }
    if let Some(MachineFailure(problem)) = error.downcast_ref::<MachineFailure>() {
        return failed(ErrorCode::Unavailable, problem);
    }
    if let Some(lacking) = call.limiter.lacking() {
        return failed(ErrorCode::LeaseExpired, lacks_memory(lacking));
    }
    if let Some(I32Exit(status)) = error.downcast_ref::<I32Exit>() {
        let problem = format!("the plugin left with exit status {status}");
        return failed(ErrorCode::PluginTrap, with_output(problem, call));
    }
    if let Some(met) = call.limiter.met() {
        return failed(ErrorCode::OutOfMemory, describe(met));
    }
    if trap == Some(Trap::StackOverflow) || ran_below_zero(error, trap) {
        return failed(ErrorCode::StackOverflow, "the plugin's stack overflowed");
    }
    let reason = match trap {
        Some(Trap::UnreachableCodeReached) => "it panicked or aborted".to_owned(),
        Some(trap) => trap.to_string(),
        // Says where in the guest it happened first; the cause comes last.
        None => error.root_cause().to_string(),
    };
    if trap.is_none() && error.downcast_ref::<WasmBacktrace>().is_none() {
        if call.is_starting {
            // An upload shows that it can be started, so the machine is at fault.
            return failed(ErrorCode::LeaseExpired, lacks_memory(&reason));
        }
        // The error did not happen in the guest, so its result is invalid.
        let problem = format!("the plugin's result cannot be read: {reason}");
        return failed(ErrorCode::BadOutcome, problem);
    }
    failed(ErrorCode::PluginTrap, with_output(format!("the plugin trapped: {reason}"), call))
}

fn interrupted(interruption: &Interruption) -> StageEnd {
    match interruption {
        Interruption::TimedOut => StageEnd::TimedOut,
        Interruption::Starved { used, wall, held_up } => {
            let (used, wall) = (used.as_millis(), wall.as_millis());
            let problem = match held_up.as_millis() {
                0 => format!(
                    "the machine is overloaded: after {wall} ms the stage had used {used} ms of its \
                     time, the rest was spent waiting for a processor"
                ),
                held_up => format!(
                    "Assay or the machine is overloaded: after {wall} ms the stage had used {used} ms \
                     of its time; for {held_up} ms it waited for an object, a toolchain or a device to \
                     be ready, the rest was spent waiting for a processor"
                ),
            };
            failed(ErrorCode::LeaseExpired, problem)
        }
    }
}

fn lacks_memory(reason: &str) -> String {
    format!(
        "the machine is overloaded: it did not give the memory that the plugin may have: {reason}"
    )
}

fn describe(met: LimitReached) -> String {
    match met {
        LimitReached::Memory { wanted, bytes_max } => {
            format!("the plugin wanted {wanted} bytes of memory, the limit is {bytes_max}")
        }
        LimitReached::Table { wanted } => format!(
            "the plugin wanted a table of {wanted} elements, the limit is {}",
            limits::GUEST_TABLE_ELEMENTS_MAX
        ),
    }
}

/// The engine says the address of a memory fault only in words.
fn ran_below_zero(error: &wasmtime::Error, trap: Option<Trap>) -> bool {
    trap == Some(Trap::MemoryOutOfBounds)
        && error.chain().any(|cause| {
            let text = cause.to_string();
            text.split_once("wasm address 0x")
                .and_then(|(_, rest)| rest.split(' ').next())
                .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                .is_some_and(|address| BELOW_ZERO.contains(&address))
        })
}

/// A panic's message is on standard error only.
fn with_output(problem: String, call: &GuestCall) -> String {
    if call.stderr.is_empty() {
        return problem;
    }
    format!("{problem}\n{}", call.stderr.text().trim_end())
}

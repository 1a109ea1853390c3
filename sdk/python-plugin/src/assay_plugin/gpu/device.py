"""Runs plans over buffers, compares and times them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wit_world.imports.device import (
    BufferSpec,
    CheckReport,
    Comparison,
    Error,
    Error_BadArguments,
    Error_BadRequest,
    Error_Cancelled,
    Error_IllegalAddress,
    Error_IllegalInstruction,
    Error_ImageRejected,
    Error_InvalidLaunch,
    Error_LaunchFailed,
    Error_Limit,
    Error_MisalignedAddress,
    Error_NoSuchKernel,
    Error_TimedOut,
    Error_Trapped,
    Error_Unavailable,
    Error_Unsupported,
    Init,
    Init_Integers,
    Init_Normal,
    Init_Permutation,
    Init_Uniform,
    Init_Uploaded,
    Init_Zeros,
    Integers,
    Limits,
    Measurement,
    MeasureOptions,
    Normal,
    Origin,
    Pair,
    Properties,
    Role,
    Session,
    Timing,
    Tolerance,
    Uniform,
    describe,
)

from .. import errors
from ..host import HostError, stands_for

_WORDS = {
    Error_ImageRejected: "the image is rejected",
    Error_NoSuchKernel: "no such kernel",
    Error_BadArguments: "bad arguments",
    Error_InvalidLaunch: "invalid launch",
    Error_Limit: "beyond a limit",
    Error_IllegalAddress: "illegal address",
    Error_MisalignedAddress: "misaligned address",
    Error_IllegalInstruction: "illegal instruction",
    Error_Trapped: "trapped",
    Error_LaunchFailed: "the launch failed",
}


@dataclass(frozen=True)
class Fault:
    """What a kernel, or who wrote its launch, did."""

    unsupported: bool
    """It asks for what this device cannot do, which does not make it wrong."""
    message: str


def fault(error: HostError[Any]) -> Fault:
    """What the kernel is to blame for; raises where it is the platform's fault or the plugin's own."""
    value = error.value
    if isinstance(value, Error_Unsupported):
        return Fault(True, value.value)
    if isinstance(value, Error_TimedOut):
        return Fault(False, f"it did not end: stopped after {value.value} ms")
    if type(value) in _WORDS:
        return Fault(False, f"{_WORDS[type(value)]}: {value.value}")
    raise error


stands_for(
    {
        Error_BadRequest: lambda error: errors.Internal(error.value),
        Error_Cancelled: lambda error: errors.Unavailable("the stage's time is over"),
        Error_Unavailable: lambda error: errors.Unavailable(error.value),
    }
)

__all__ = [
    "BufferSpec",
    "CheckReport",
    "Comparison",
    "Error",
    "Error_BadArguments",
    "Error_BadRequest",
    "Error_Cancelled",
    "Error_IllegalAddress",
    "Error_IllegalInstruction",
    "Error_ImageRejected",
    "Error_InvalidLaunch",
    "Error_LaunchFailed",
    "Error_Limit",
    "Error_MisalignedAddress",
    "Error_NoSuchKernel",
    "Error_TimedOut",
    "Error_Trapped",
    "Error_Unavailable",
    "Error_Unsupported",
    "Fault",
    "HostError",
    "Init",
    "Init_Integers",
    "Init_Normal",
    "Init_Permutation",
    "Init_Uniform",
    "Init_Uploaded",
    "Init_Zeros",
    "Integers",
    "Limits",
    "MeasureOptions",
    "Measurement",
    "Normal",
    "Origin",
    "Pair",
    "Properties",
    "Role",
    "Session",
    "Timing",
    "Tolerance",
    "Uniform",
    "describe",
    "fault",
]

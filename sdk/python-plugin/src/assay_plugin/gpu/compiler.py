"""Turns sources into images, host functions into plans."""

from __future__ import annotations

from typing import Any, Union

from wit_world.imports.compiler import (
    Argument,
    Argument_Boolean,
    Argument_Fp32,
    Argument_Fp64,
    Argument_I32,
    Argument_I64,
    Argument_Tensor,
    Artifact,
    BuildOption,
    BuildOption_Define,
    BuildOption_FastMath,
    BuildOption_LineInfo,
    BuildOption_NoFma,
    BuildOption_RegistersMax,
    BuildOption_Std,
    Define,
    Error,
    Error_BadRequest,
    Error_Cancelled,
    Error_Crashed,
    Error_OutOfMemory,
    Error_Rejected,
    Error_TimedOut,
    Error_TooLarge,
    Error_Unavailable,
    FrontEnd,
    Recording,
    Request,
    Returned,
    Tensor,
    TextFile,
    Toolkit,
    Trace,
    compile,
    found,
    record_plan,
)

from .. import errors
from ..host import HostError, stands_for

Fault = Union[Error_Rejected, Error_TimedOut, Error_OutOfMemory, Error_Crashed, Error_TooLarge]
"""What the source, or the recorded function, did."""


def fault(error: HostError[Any]) -> Fault:
    """What the source is to blame for; raises where it is the platform's fault or the plugin's own."""
    value = error.value
    if isinstance(
        value,
        (Error_Rejected, Error_TimedOut, Error_OutOfMemory, Error_Crashed, Error_TooLarge),
    ):
        return value
    raise error


stands_for(
    {
        Error_BadRequest: lambda error: errors.Internal(error.value),
        Error_Cancelled: lambda error: errors.Unavailable("the stage's time is over"),
        Error_Unavailable: lambda error: errors.Unavailable(error.value),
    }
)

__all__ = [
    "Argument",
    "Argument_Boolean",
    "Argument_Fp32",
    "Argument_Fp64",
    "Argument_I32",
    "Argument_I64",
    "Argument_Tensor",
    "Artifact",
    "BuildOption",
    "BuildOption_Define",
    "BuildOption_FastMath",
    "BuildOption_LineInfo",
    "BuildOption_NoFma",
    "BuildOption_RegistersMax",
    "BuildOption_Std",
    "Define",
    "Error",
    "Error_BadRequest",
    "Error_Cancelled",
    "Error_Crashed",
    "Error_OutOfMemory",
    "Error_Rejected",
    "Error_TimedOut",
    "Error_TooLarge",
    "Error_Unavailable",
    "Fault",
    "FrontEnd",
    "HostError",
    "Recording",
    "Request",
    "Returned",
    "Tensor",
    "TextFile",
    "Toolkit",
    "Trace",
    "compile",
    "fault",
    "found",
    "record_plan",
]

"""What kernels, buffers and launches are, for the compiler and the device alike."""

from __future__ import annotations

from wit_world.imports.gpu_types import (
    Address,
    Arg,
    Arg_Address,
    Arg_ByValue,
    Arg_Fp32,
    Arg_Fp64,
    Arg_I32,
    Arg_I64,
    ByValue,
    CopyBytes,
    Dim3,
    Dtype,
    KernelInfo,
    Launch,
    Param,
    Patch,
    SetBytes,
    Step,
    Step_Copy,
    Step_Launch,
    Step_Set,
)


def bytes_of(dtype: Dtype) -> int:
    """Of one element."""
    if dtype in (Dtype.FP64, Dtype.I64, Dtype.UI64):
        return 8
    if dtype in (Dtype.FP32, Dtype.I32, Dtype.UI32):
        return 4
    if dtype in (Dtype.FP16, Dtype.BF16, Dtype.I16, Dtype.UI16):
        return 2
    return 1


__all__ = [
    "Address",
    "Arg",
    "Arg_Address",
    "Arg_ByValue",
    "Arg_Fp32",
    "Arg_Fp64",
    "Arg_I32",
    "Arg_I64",
    "ByValue",
    "CopyBytes",
    "Dim3",
    "Dtype",
    "KernelInfo",
    "Launch",
    "Param",
    "Patch",
    "SetBytes",
    "Step",
    "Step_Copy",
    "Step_Launch",
    "Step_Set",
    "bytes_of",
]

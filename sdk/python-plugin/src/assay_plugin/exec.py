"""Programs nobody trusts, run by the host in boxes of their own: the capability `assay:exec/exec`.

    source = exec.Source("cpp17-gcc", [exec.text_file("main.cpp", "int main() { return 0; }")], "main.cpp", [])
    compiled = exec.compile(source, None).compiled
    if isinstance(compiled, exec.Compiled_Rejected):
        return Scored(0.0, "compile_failed", explanation=exec.to_text(compiled.value.stderr))

Importing this module is asking for the capability. Only a component has a host to call: natively these
functions raise `NotImplementedError`.
"""

from __future__ import annotations

from wit_world.imports.exec import (
    Artifact,
    Batch,
    CaseResult,
    Compare,
    Compare_Exact,
    Compare_Floats,
    Compare_Tokens,
    Compare_TrimLines,
    Compiled,
    Compiled_Ok,
    Compiled_Rejected,
    CompileResult,
    Dialogue,
    Expectation,
    Judging,
    Matched,
    Party,
    Source,
    StopAt,
    TestCase,
    Tolerance,
    Toolchain,
    check,
    compile,
    interact,
    run,
    toolchains,
)
from wit_world.imports.exec_types import (
    Blob,
    Blob_Inline,
    Blob_Stored,
    Captured,
    Ending,
    Ending_Exited,
    Ending_Limited,
    Ending_Signaled,
    Error,
    Error_BadRequest,
    Error_Cancelled,
    Error_MissingBlob,
    Error_Unavailable,
    Error_UnknownArtifact,
    Error_UnknownToolchain,
    File,
    LimitKind,
    Limits,
    Outcome,
    Usage,
)

from . import errors
from .host import HostError, stands_for


def text_blob(text: str) -> Blob:
    return Blob_Inline(text.encode())


def text_file(path: str, text: str) -> File:
    return File(path, text_blob(text))


def to_text(captured: Captured) -> str:
    """What was kept, with a mark for each byte that is no text."""
    return captured.data.decode("utf-8", "replace")


stands_for(
    {
        Error_Unavailable: lambda error: errors.Unavailable(error.value),
        Error_Cancelled: lambda error: errors.Unavailable("the stage's time is over"),
        Error_UnknownToolchain: lambda error: errors.BadRequest(
            f"there is no toolchain `{error.value}` here"
        ),
        Error_UnknownArtifact: lambda error: errors.Unavailable(
            f"the program {error.value} is not here any more"
        ),
        Error_MissingBlob: lambda error: errors.Unavailable(f"the object {error.value} is not here any more"),
        Error_BadRequest: lambda error: errors.Internal(error.value),
    }
)

__all__ = [
    "Artifact",
    "Batch",
    "Blob",
    "Blob_Inline",
    "Blob_Stored",
    "Captured",
    "CaseResult",
    "Compare",
    "Compare_Exact",
    "Compare_Floats",
    "Compare_Tokens",
    "Compare_TrimLines",
    "CompileResult",
    "Compiled",
    "Compiled_Ok",
    "Compiled_Rejected",
    "Dialogue",
    "Ending",
    "Ending_Exited",
    "Ending_Limited",
    "Ending_Signaled",
    "Error",
    "Error_BadRequest",
    "Error_Cancelled",
    "Error_MissingBlob",
    "Error_Unavailable",
    "Error_UnknownArtifact",
    "Error_UnknownToolchain",
    "Expectation",
    "File",
    "HostError",
    "Judging",
    "LimitKind",
    "Limits",
    "Matched",
    "Outcome",
    "Party",
    "Source",
    "StopAt",
    "TestCase",
    "Tolerance",
    "Toolchain",
    "Usage",
    "check",
    "compile",
    "interact",
    "run",
    "text_blob",
    "text_file",
    "to_text",
    "toolchains",
]

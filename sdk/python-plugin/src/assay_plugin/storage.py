"""Test cases and reference data, read-only, under roots that the operator granted to the tenant.

    statement = storage.get("judge/sum/problem.yaml")

Importing this module is asking for the capability. `get` gives an object's bytes, `locate` its SHA-256 for
`exec`, `names` lists a folder. Only a component has a host to call: natively these functions raise
`NotImplementedError`; a test replaces them (`unittest.mock.patch`).
"""

from __future__ import annotations

from wit_world.imports.storage import (
    Error,
    Error_Denied,
    Error_NotFound,
    Error_TooLarge,
    Error_Unavailable,
    get,
    locate,
    names,
)

from .errors import BadRequest, Unavailable
from .host import HostError, stands_for

stands_for(
    {
        Error_NotFound: lambda error: BadRequest(f"there is no object `{error.value}`"),
        Error_Denied: lambda error: BadRequest(error.value),
        Error_Unavailable: lambda error: Unavailable(error.value),
        Error_TooLarge: lambda error: BadRequest(
            f"the object has {error.value} bytes, too many to read at once"
        ),
    }
)

__all__ = [
    "Error",
    "Error_Denied",
    "Error_NotFound",
    "Error_TooLarge",
    "Error_Unavailable",
    "HostError",
    "get",
    "locate",
    "names",
]

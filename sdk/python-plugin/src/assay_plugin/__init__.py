"""Write reward plugins in Python: describe one, write its stages, call `export`, build.

    from assay_plugin import FunctionPlugin, Scored, export

    plugin = FunctionPlugin("exact", "0.1.0", summary="1 when the response is the label, else 0")

    @plugin.stage()
    def score(response: str, label: str) -> Scored:
        if response.strip() == label:
            return Scored(1.0, "success")
        return Scored(0.0, "wrong", explanation=f"expected {label}")

    export(plugin)

What a plugin sees is its request: no file, no network, no clock, and no randomness but the request's
seed. Whatever runs at the top of a module runs once, as the plugin is built; every call starts from there.

The capabilities are modules of their own, asked for by importing them: `assay_plugin.storage`,
`assay_plugin.exec`, `assay_plugin.gpu`.
"""

from .errors import BadRequest, BadSettings, Error, Internal, Unavailable, unknown_stage
from .plugin import FunctionPlugin, Plugin, export, settings_as
from .values import Artifact, Description, Outcome, Request, Scored, Stage

__all__ = [
    "Artifact",
    "BadRequest",
    "BadSettings",
    "Description",
    "Error",
    "FunctionPlugin",
    "Internal",
    "Outcome",
    "Plugin",
    "Request",
    "Scored",
    "Stage",
    "Unavailable",
    "export",
    "settings_as",
    "unknown_stage",
]

"""What the component imports: only the capabilities that the project uses, as each is to be granted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .problem import BuildFailed
from .sources import Import, Sources

NAME = "python-plugin"
_CAPABILITIES = {
    "assay_plugin.storage": ("storage",),
    "assay_plugin.http": ("wasi:http/outgoing-handler@0.2.0", "wasi:clocks/monotonic-clock@0.2.0"),
    "assay_plugin.exec": ("assay:exec/exec@0.1.0",),
    "assay_plugin.gpu.compiler": ("assay:gpu/compiler@0.1.0",),
    "assay_plugin.gpu.device": ("assay:gpu/device@0.1.0",),
    "assay_plugin.gpu.kernels": ("assay:gpu/compiler@0.1.0",),
}
MODULE_NAMES = {
    "assay:reward/types@0.1.0": "reward_types",
    "assay:exec/types@0.1.0": "exec_types",
    "assay:gpu/types@0.1.0": "gpu_types",
    "wasi:http/types@0.2.0": "http_types",
    "wasi:http/outgoing-handler@0.2.0": "http_handler",
    "wasi:io/streams@0.2.0": "io_streams",
    "wasi:io/poll@0.2.0": "io_poll",
    "wasi:io/error@0.2.0": "io_error",
    "wasi:clocks/monotonic-clock@0.2.0": "monotonic_clock",
}
"""What the generated modules are called, whichever of them there are."""


@dataclass(frozen=True)
class Imports:
    """The interface files, and the world that is added to them."""

    wit: Path
    world: str


def imports(found: Sources, sdk: Path) -> Imports:
    """The world of a project."""
    for wit in (sdk / "wit" / "reward", sdk.parent / "wit" / "reward"):
        if (wit / "reward.wit").is_file():
            return Imports(wit, world(wit, found.imports))
    raise BuildFailed(f"the interface files are missing: {sdk / 'wit' / 'reward'}")


def world(wit: Path, used: list[Import]) -> str:
    """The text of the world for what is imported."""
    modules = {one.module for one in used}
    wanted = [
        interface
        for module, interfaces in _CAPABILITIES.items()
        if module in modules or any(name.startswith(f"{module}.") for name in modules)
        for interface in interfaces
    ]
    package = re.search(r"^package .*;$", (wit / "reward.wit").read_text(encoding="utf-8"), re.MULTILINE)
    if package is None:
        raise BuildFailed(f"{wit / 'reward.wit'} names no package")
    lines = "".join(f"  import {interface};\n" for interface in ["log", *dict.fromkeys(wanted)])
    return f"{package[0]}\n\nworld {NAME} {{\n{lines}  export plugin;\n}}\n"


def has(imports: Imports, interface: str) -> bool:
    """Whether the world has the interface, or one that its imports use."""
    package = interface.split("/")[0]
    used = package in imports.world or (package == "wasi:io" and "wasi:http" in imports.world)
    return used or package == "assay:reward"

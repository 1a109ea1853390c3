"""What the builder finds and refuses before it builds, and what it says of a failure."""

import contextlib
import filecmp
import io
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from assay_plugin.build import command, component, explain, packages, reach, sources, tools, world
from assay_plugin.build.problem import BuildFailed

EXACT = """
from assay_plugin import FunctionPlugin, Scored, export
plugin = FunctionPlugin("exact", "0.1.0")
export(plugin)
"""


class Projects(unittest.TestCase):
    def setUp(self) -> None:
        self.said = io.StringIO()
        context = contextlib.ExitStack()
        self.addCleanup(context.close)
        self.folder = Path(context.enter_context(tempfile.TemporaryDirectory()))
        context.enter_context(contextlib.redirect_stderr(self.said))

    def write(self, name: str, text: str = "") -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def refused(self) -> str:
        with self.assertRaises(BuildFailed) as caught:
            sources.read(self.folder)
        return str(caught.exception)

    def test_what_belongs_to_a_project(self) -> None:
        self.write("plugin.py", EXACT)
        for name in ("parts/__init__.py", "parts/deep.py", "words.txt"):
            self.write(name)
        for name in ("test_plugin.py", "tests/more.py", "target/old.py", "vendor/sdk.py", ".hidden"):
            self.write(name)
        (self.folder / "link.txt").symlink_to("/etc/hostname")
        found = sources.read(self.folder)
        names = [path.relative_to(self.folder).as_posix() for path in found.files]
        self.assertEqual(names, ["parts/__init__.py", "parts/deep.py", "plugin.py", "words.txt"])
        self.assertEqual(found.modules(), ["parts", "parts.deep", "plugin"])

    def test_what_is_no_plugin_is_refused_at_once(self) -> None:
        self.assertIn("there is no plugin.py", self.refused())
        self.write("plugin.py", "x = 1")
        self.assertIn("exports no plugin", self.refused())

    def test_a_syntax_error_is_told_with_its_place(self) -> None:
        self.write("plugin.py", f"{EXACT}\ndef broken(:\n")
        try:
            sources.read(self.folder)
        except BuildFailed as problem:
            print(problem, file=self.said)
        else:
            self.assertIn("warning", self.said.getvalue())
        self.assertIn("plugin.py:6: ", self.said.getvalue())

    def test_what_cannot_work_is_told(self) -> None:
        self.write("plugin.py", f"{EXACT}\nimport subprocess\nfrom threading import Thread\n")
        sources.read(self.folder)
        self.assertIn("plugin.py:6: `subprocess`: no process can be started", self.said.getvalue())
        self.assertIn("plugin.py:7: `threading`: a component has one thread", self.said.getvalue())

    def test_an_import_that_nothing_satisfies_is_refused(self) -> None:
        for line, expected in (
            ("import numpy as np", "plugin.py:6: `numpy` cannot be imported: native code"),
            ("from ssl import SSLContext", "plugin.py:6: `ssl` cannot be imported: a plugin has no network"),
            ("import sympi.core", "name it in requirements.txt, if it is a package, or put `sympi` beside"),
        ):
            self.write("plugin.py", f"{EXACT}\n{line}\n")
            with self.assertRaises(BuildFailed) as caught:
                sources.read(self.folder).check_found(["sympy", "sympy.core"])
            self.assertIn(expected, str(caught.exception))
        # New in the Python inside a component, and no more in it.
        self.write("plugin.py", f"{EXACT}\nimport annotationlib\n")
        sources.read(self.folder).check_found([])
        self.write("plugin.py", f"{EXACT}\nimport asyncore\n")
        with self.assertRaises(BuildFailed) as caught:
            sources.read(self.folder).check_found([])
        self.assertIn("plugin.py:6: `asyncore` cannot be imported", str(caught.exception))
        self.write(
            "plugin.py",
            f"{EXACT}\nimport json, sympy.core\ntry:\n    import numpy\nexcept ImportError: ...\n",
        )
        sources.read(self.folder).check_found(["sympy", "sympy.core"])

    def test_only_what_is_used_is_asked_for(self) -> None:
        wit = command.SDK.parent / "wit" / "reward"
        for line, expected in (
            ("", ["log"]),
            ("from assay_plugin import storage", ["log", "storage"]),
            ("import assay_plugin.exec as boxes", ["log", "assay:exec/exec@0.1.0"]),
            (
                "from assay_plugin import http",
                ["log", "wasi:http/outgoing-handler@0.2.0", "wasi:clocks/monotonic-clock@0.2.0"],
            ),
            ("from assay_plugin.gpu import compiler", ["log", "assay:gpu/compiler@0.1.0"]),
            ("def late():\n    from assay_plugin.gpu.device import run", ["log", "assay:gpu/device@0.1.0"]),
        ):
            self.write("plugin.py", f"{EXACT}\n{line}\n")
            text = world.world(wit, sources.read(self.folder).imports)
            lines = [row.strip() for row in text.splitlines()]
            self.assertEqual(lines[0], "package assay:reward@0.1.0;")
            self.assertEqual(
                [row for row in lines if row.startswith("import ")],
                [f"import {interface};" for interface in expected],
            )

    def test_native_code_is_refused_by_name(self) -> None:
        folder = self.folder / "packages"
        (folder / "quick").mkdir(parents=True)
        (folder / "quick" / "_speed.cpython-314-x86_64-linux-gnu.so").write_bytes(b"")
        with self.assertRaises(BuildFailed) as caught:
            packages._refuse_native(folder, list(folder.rglob("*.so")))
        self.assertIn("the package `quick` has native code", str(caught.exception))

    def test_what_imports_lead_to_is_reached(self) -> None:
        for name, text in (
            ("a/__init__.py", "from .core import one"),
            ("a/core.py", "def late():\n    from . import lazy\n    import decimal, xml.dom"),
            ("a/lazy.py", "from . import deep"),
            ("a/deep/__init__.py", "from ..other import *"),
            ("a/other.py", "import b"),
            ("a/unused.py", "import c"),
            ("b.py", "import fractions"),
            ("c.py", ""),
            ("a/data-1.py", ""),
        ):
            self.write(f"packages/{name}", text)
        folder = self.folder / "packages"
        modules = packages.Installed(folder, sorted(folder.rglob("*.py"))).modules()
        self.assertIn("a.unused", modules)
        reached = reach.from_imports(["a.nothing"], modules)
        self.assertEqual(reached.packages, ["a", "a.core", "a.deep", "a.lazy", "a.other", "b"])
        self.assertEqual(reached.standard, ["decimal", "fractions", "xml", "xml.dom"])

    def test_requirements_without_a_version_are_told(self) -> None:
        path = self.folder / "requirements.txt"
        path.write_text("# why\nsympy==1.14.0  # exact\nmpmath\n\n", encoding="utf-8")
        self.assertEqual(packages._wanted(path), "sympy==1.14.0\nmpmath")
        self.assertIn("`mpmath` names no version", self.said.getvalue())
        self.assertNotIn("sympy", self.said.getvalue())


class Failures(unittest.TestCase):
    def explained(self, missing: str | None = None, kind: str = "ImportError", message: str = "") -> str:
        return explain.failure(
            {"kind": kind, "message": message, "missing": missing, "traceback": "Traceback\n"}
        )

    def test_each_says_what_to_do(self) -> None:
        for said, expected in (
            (self.explained("_ssl"), "a plugin has no network"),
            (self.explained("numpy.linalg"), "native code cannot be loaded"),
            (self.explained("sympi"), "name it in requirements.txt"),
            (self.explained(None, "RuntimeError", "can't start new thread"), "a component has one thread"),
            (self.explained(None, "NotImplementedError", "Exact has no `describe`"), "write `describe`"),
            (self.explained(None, "MemoryError"), "more memory than a component has"),
        ):
            self.assertTrue(said.startswith("Traceback\n"))
            self.assertIn(expected, said)

    def test_the_tool_s_own_trace_is_left_out(self) -> None:
        self.assertNotIn("frame", component._why("cannot link\nStack backtrace:\n  0: frame", {}))


class Stubs(unittest.TestCase):
    """The modules that stand for the host are those that componentize-py writes."""

    def test_are_up_to_date(self) -> None:
        given = os.environ.get("ASSAY_PYTHON_TOOLS")
        if not given:
            self.skipTest("ASSAY_PYTHON_TOOLS names no environment with componentize-py")
        names = [
            f"--import-interface-name={interface}={name}" for interface, name in world.MODULE_NAMES.items()
        ]
        with tempfile.TemporaryDirectory() as folder:
            wit = Path(folder) / "wit"
            shutil.copytree(command.SDK.parent / "wit" / "reward", wit)
            used = [sources.Import(module, "plugin.py", 1, True) for module in world._CAPABILITIES]
            (wit / "all.wit").write_text(world.world(wit, used), encoding="utf-8")
            subprocess.run(
                [
                    tools.Toolbox(Path(given)).program("componentize-py"),
                    f"--wit-path={wit}",
                    f"--world={world.NAME}",
                    *names,
                    "bindings",
                    folder,
                ],
                check=True,
                capture_output=True,
            )
            made = [path.relative_to(folder) for path in Path(folder).glob("wit_world/**/*.py")]
            self.assertTrue(made)
            for path in [*made, Path("componentize_py_types.py")]:
                self.assertTrue(
                    filecmp.cmp(Path(folder) / path, command.SDK / "src" / path, shallow=False),
                    f"src/{path} is not what componentize-py writes for sdk/wit: write it anew",
                )


if __name__ == "__main__":
    unittest.main()

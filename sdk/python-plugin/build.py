"""Builds the plugin project that this SDK is vendored in; `python3 build.py --help` tells the options.

Needs nothing but Python 3.11 or newer with `venv`: what else it needs it installs below the project's `target/`.
"""

import sys
from pathlib import Path

if sys.version_info < (3, 11):
    sys.exit("error: building a plugin needs Python 3.11 or newer")
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

from assay_plugin.build.command import main

if __name__ == "__main__":
    sys.exit(main())

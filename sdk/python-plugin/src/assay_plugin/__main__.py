"""`python -m assay_plugin build`: the builder, for who has the SDK installed."""

import sys

from .build.command import main

if __name__ == "__main__":
    if sys.argv[1:2] != ["build"]:
        sys.exit("usage: python -m assay_plugin build [options]")
    sys.exit(main(sys.argv[2:]))

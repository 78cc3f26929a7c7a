"""``python -m posetlib.broker`` is the command ``posetlib-broker``."""

import sys

from posetlib.broker.commands import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())

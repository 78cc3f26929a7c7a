"""`python -m posetlib` is the command ``posetlib``."""

import sys

from posetlib._cli import main

if __name__ == "__main__":
    sys.exit(main())

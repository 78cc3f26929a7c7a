"""`python -m workloads`: generate, build, validate, cover, match."""

import sys

from workloads.cli import main

if __name__ == "__main__":
    sys.exit(main())

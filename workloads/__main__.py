"""`python -m workloads`: generate, build, validate, cover, match, experiment."""

import sys


def main() -> int:
    """Say what is not there yet; exit status 2, as for any request that cannot be met."""
    print(
        "workloads: the Spark jobs are not part of this release yet; "
        "`python -m posetlib` shows what there is.",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())

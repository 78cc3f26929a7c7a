"""Drive all tables in lockstep for as long as you like: `python -m tests.tables.stress --help`.

The same operations and comparisons as the state machine of `test_lockstep`, from a seeded random
generator; a failure prints the seed and the step that reproduce it.
"""

from __future__ import annotations

import argparse
import random
import shlex
import sys
from collections.abc import Iterator, Sequence

from tests.tables.kinds import KINDS, WORLDS
from tests.tables.lockstep import Lockstep

INTERFACES = ("I1", "I2", "I3", "I4")


def run(world: str, steps: int, seed: int, kinds: tuple[str, ...] = tuple(KINDS)) -> int:
    """Take so many steps in episodes of some hundred; return how many were taken.

    An error has a note with the command that takes the same steps up to the one that failed.
    """
    rng = random.Random(f"{world}-{seed}")
    taken = 0
    try:
        while taken < steps:
            length = min(rng.choice((10, 50, 200)), steps - taken)
            for _ in _episode(Lockstep(WORLDS[world], kinds), rng, length):
                taken += 1
    except Exception as error:
        error.add_note(
            f"seed {seed}, step {taken + 1:,} in {world}: python -m tests.tables.stress "
            f"--world {shlex.quote(world)} --seed {seed} --steps {taken + 1} "
            f"--kinds {' '.join(kinds)}"
        )
        raise
    return taken


def _episode(lockstep: Lockstep, rng: random.Random, length: int) -> Iterator[None]:
    """Fill new tables, and yield after each step."""
    items = rng.sample(list(lockstep.world.items), min(len(lockstep.world.items), 24))
    interfaces = INTERFACES[: rng.randint(1, 4)]
    growing = rng.choice((0.4, 0.55, 0.7))
    for _ in range(length):
        item, interface = rng.choice(items), rng.choice(interfaces)
        chance = rng.random()
        if chance < growing:
            lockstep.add(item, interface)
        elif chance < 0.85:
            held = lockstep.local.entries()
            lockstep.remove(
                *(rng.choice(held) if held and rng.random() < 0.8 else (item, interface))
            )
        elif chance < 0.88:
            lockstep.discard(item, interface)
        elif chance < 0.90:
            lockstep.remove_covered(item, interface)
        elif chance < 0.91:
            lockstep.drop_interface(interface)
        elif chance < 0.93:
            lockstep.replace(lockstep.through_json)
        elif chance < 0.94:
            lockstep.replace(lockstep.through_pickle)
        elif chance < 0.95:
            lockstep.rebuild()
        elif chance < 0.97:
            lockstep.compare(item)
        elif chance < 0.98:
            lockstep.forwards(rng.sample(INTERFACES, rng.randint(0, 4)))
        else:
            lockstep.match(rng.choice(lockstep.world.notifications), rng.randint(0, 6))
        lockstep.check()
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tables.stress", description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="in each world (10,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--world", choices=[*WORLDS, "all"], default="all")
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    options = parser.parse_args(arguments)
    for world in WORLDS if options.world == "all" else [options.world]:
        taken = run(world, options.steps, options.seed, tuple(options.kinds))
        print(f"{world}: {taken:,} steps, seed {options.seed}: all tables agree", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

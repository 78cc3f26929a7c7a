"""Networks beside the oracle for as long as you like: `python -m tests.routing.soak --help`.

Every episode has a seed of its own, one more than that of the episode before, and draws everything
from it: tree, algorithm, operations, interleaving. A failure prints the line that repeats it.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence

from tests.routing.worlds import BREAKS, NAMES, World, draw_operation, draw_setup

#: Deliveries over links in one episode.
EPISODE = 5000
#: The most operations before a quiet point, and the most publications after it.
OPERATIONS = 60
PUBLICATIONS = 300


def episode(seed: int, *, breaks: bool) -> World:
    """One network, from its seed alone; returns it with all that was done in it."""
    rng = random.Random(f"soak-{seed}")
    world = World(draw_setup(rng.randint, rng.randrange(2**32)))
    names = BREAKS if breaks else NAMES
    quiet = 0
    # A tree of one broker has no links: an episode also ends after so many quiet points.
    while world.network.steps < EPISODE and quiet < 40:
        for _ in range(rng.randint(1, OPERATIONS)):
            world.do(draw_operation(rng.randint, names))
        publications = [
            (rng.randint(0, 4), rng.randint(0, 999), rng.randint(0, 3))
            for _ in range(rng.randint(1, PUBLICATIONS))
        ]
        quiet += 1
        # The network's own check costs as much as hundreds of deliveries.
        world.settle(publications, check=quiet % 4 == 1)
    world.network.check()
    return world


def digest(world: World) -> str:
    """A short text that two runs share if clients got the same in the same order."""
    got = {name: [each.number for each in world.network.deliveries(name)] for name in world.clients}
    text = repr((sorted(got.items()), sorted(world.network.messages.items()), world.setup))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def repeating(seed: int, *, breaks: bool) -> str:
    """The line that repeats an episode."""
    return f"python -m tests.routing.soak --seed {seed} --deliveries 1{' --breaks' * breaks}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run episodes until there were so many deliveries; 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.routing.soak", description=__doc__)
    parser.add_argument("--deliveries", type=int, default=100_000, help="over links, in all")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first episode")
    parser.add_argument("--breaks", action="store_true", help="links break and heal")
    parser.add_argument("--digest", action="store_true", help="print what each episode came to")
    options = parser.parse_args(arguments)
    started = shown = time.monotonic()
    seed, deliveries, notified = options.seed, 0, 0
    algorithms: Counter[str] = Counter()
    while deliveries < options.deliveries:
        try:
            world = episode(seed, breaks=options.breaks)
        except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
            print(f"{type(error).__name__}: {error}")
            print(f"repeat it with: {repeating(seed, breaks=options.breaks)}")
            return 1
        if options.digest:
            print(seed, digest(world), flush=True)
        seed += 1
        deliveries += max(world.network.steps, 1)
        notified += world.deliveries
        algorithms[world.setup.algorithm] += world.network.steps
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            rate = deliveries / (shown - started)
            print(f"{deliveries:,} deliveries over links, {rate:,.0f} a second", flush=True)
    print(
        f"{seed - options.seed:,} networks, {deliveries:,} deliveries over links, {notified:,} to "
        f"clients, no fault; by algorithm {dict(sorted(algorithms.items()))}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

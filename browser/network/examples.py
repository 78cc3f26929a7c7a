"""Runs worth looking at, ready to be opened."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from browser.network.player import Settings
from posetlib.simulation.recipes import RECIPES, Act, Recipe

__all__ = ["RUNS", "RunExample"]


class RunExample(NamedTuple):
    """A run as text, with a title and the settings that it is opened with."""

    title: str
    text: str
    settings: Settings = Settings()


def _large() -> str:
    """Return a tree of 40 brokers, each with up to three below it, and clients at its ends."""
    lines = ["# 40 brokers: each broker n hangs from broker (n + 1) // 3"]
    lines += [f"link B{(n + 1) // 3} B{n}" for n in range(2, 41)]
    ends = [f"B{n}" for n in range(14, 41)]
    readers = ends[::3]
    lines += [f"client r{i + 1} {broker}" for i, broker in enumerate(readers)]
    lines += ["client north B14", "client south B40", "client middle B1"]
    for i, _ in enumerate(readers):
        low = 10 * i
        lines.append(f"r{i + 1} subscribe x in [{low}, {low + 15}]")
        if i % 3 == 2:
            lines.append(f"r{i + 1} subscribe x in [0, 100] and y > {i}")
    lines += ["run"]
    lines += [f'{who} publish {{"x": {x}, "y": 5}}' for who, x in (("north", 12), ("south", 55))]
    lines += ["step 12", "r1 unsubscribe x in [0, 15]", 'middle publish {"x": 3, "y": 1}', "run"]
    return "\n".join(lines) + "\n"


def _recipe_text(recipe: Recipe) -> str:
    """Return a recipe as a run; its captions are comments above their lines."""
    lines = [f"# {recipe.title}.", *(f"link {one} {other}" for one, other in recipe.edges)]
    for act in recipe.acts:
        lines += [f"# {act.caption}", _line(act, recipe.protocol)]
    return "\n".join([*lines, f"# {recipe.moral}"]) + "\n"


def _line(act: Act, protocol: str) -> str:
    """Return an act as a line of a run."""
    first, *rest = act.arguments or ("",)
    if act.name == "step":
        return " ".join(("step", *first))
    if act.name == "attach":
        return f"client {first} {rest[0]}"
    if act.name == "run":
        return "run"
    if act.name == "publish":
        return f"{first} publish {json.dumps(rest[0])}"
    by = f" by {protocol}" if act.name in ("move", "leave", "arrive") else ""
    return f"{first} {act.name} {rest[0]}{by}"


RUNS: Final = {
    "forwards": RunExample(
        "A star of four: forwards sets (Tarkoma's thesis, figures 3.2 and 3.3)",
        """\
# The router R with its neighbours I1, I2 and I3; each has a client
link R I1
link R I2
link R I3
client ann I1
client ben I2
client eve I3
ann subscribe x in [0, 50]
ann subscribe x in [60, 100]
run
ben subscribe x in [10, 40]
ben subscribe x in [70, 90]
run
eve subscribe x in [20, 30]
run
eve publish {"x": 25}
run
ann unsubscribe x in [0, 50]
run
""",
    ),
    "orders": RunExample(
        "A forest forgets orders (Tarkoma's thesis, example 3.2)",
        """\
# F1 and F2 from c cover F3 from a, which covers F4 from b
link R a
link R b
link R c
client at-a a
client at-b b
client at-c c
at-c subscribe x in [0, 60]
at-c subscribe x in [20, 80]
run
at-a subscribe x in [20, 60]
run
at-b subscribe x in [30, 50]
run
# Without F3, c must be sent F4, from a forest that hung it under F2 as well
at-a unsubscribe x in [20, 60]
run
""",
        Settings(table="nrf"),
    ),
    "identity": RunExample(
        "Routing by identity (Conan's course notes, 3.4)",
        """\
# A filter goes on unless an equal one came from elsewhere
link B1 B2
link B2 B3
link B2 B4
client S1 B1
client S2 B3
client S3 B4
client S4 B1
client P B4
S1 subscribe price > 10
run
S2 subscribe price > 10
run
# F3 is covered by what is there, and not equal to it
S3 subscribe price in [20, 30]
run
S4 subscribe price > 10
run
P publish {"price": 25}
run
S1 unsubscribe price > 10
S4 unsubscribe price > 10
run
""",
        Settings(algorithm="identity"),
    ),
    "race": RunExample(
        "A publication overtakes a subscription",
        """\
# The first publication is not due to ann yet: her subscription has not come as far
link B1 B2
link B2 B3
client ann B1
client bob B3
ann subscribe x > 3
step
bob publish {"x": 5}
run
bob publish {"x": 7}
run
""",
    ),
    "advertisements": RunExample(
        "With advertisements",
        """\
# Subscriptions go only where something that overlaps was advertised
link B1 B2
link B2 B3
link B2 B4
link B4 B5
client ann B1
client shop B3
client store B5
shop advertise price in [0, 50]
run
ann subscribe price in [20, 30]
ann subscribe price in [60, 70]
run
store advertise price in [40, 90]
run
shop publish {"price": 25}
store publish {"price": 65}
# Outside of what it advertised
shop publish {"price": 65}
run
shop unadvertise price in [0, 50]
run
""",
        Settings(advertisements=True),
    ),
    "hierarchy": RunExample(
        "A hierarchy with a master",
        """\
# Subscriptions and notifications all go up to the master; notifications come down where asked for
master top
link top left
link top right
link left l1
link left l2
link right r1
client ann l1
client bob l2
client cid r1
ann subscribe x in [0, 9]
run
cid subscribe x in [5, 20]
run
bob publish {"x": 7}
run
cid publish {"x": 30}
run
""",
    ),
    "merging": RunExample(
        "Mergers stand for several filters",
        """\
# Two halves of a range go on as one filter, and come apart again
link B1 B2
link B2 B3
link B3 B4
client ann B1
client ben B1
client pat B4
ann subscribe x in [0, 10]
run
ben subscribe x in [10, 20]
run
pat publish {"x": 15}
run
ann unsubscribe x in [0, 10]
run
""",
        Settings(algorithm="merging"),
    ),
    "tree": RunExample("A tree of 40 brokers", _large()),
    "walk": RunExample(
        "A client walks through five brokers, and misses nothing",
        """\
# pat publishes while sue walks from B1 to B5 and back
link B1 B2
link B2 B3
link B3 B4
link B4 B5
link B3 B6
client sue B1
client pat B6
# pat announces x > 0, and sue subscribes to x > 3.
pat advertise x > 0
sue subscribe x > 3
run
pat publish {"x": 4}
step
# sue leaves: B1 keeps her session, and queues.
sue leave
pat publish {"x": 5}
step 4
# She arrives at B5, which asks B1 to hand over her session.
sue arrive B5 by update
step 2
pat publish {"x": 6}
step 3
# Before that is over, she goes on to B2; the handovers wait for one another.
sue move B2 by update
pat publish {"x": 7}
step 5
# And back to where she began.
sue move B1 by linger
pat publish {"x": 8}
# All handovers end, and nothing is left of her old sessions.
run
""",
        Settings(advertisements=True),
    ),
    **{
        f"recipe-{each.name}": RunExample(
            f"How {each.protocol} loses: {each.title}",
            _recipe_text(each),
            Settings(advertisements=bool(each.options.get("advertisements"))),
        )
        for each in RECIPES
    },
}

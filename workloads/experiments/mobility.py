"""Section 5.8: what a move of a subscriber costs, in messages and in time, by each variant.

A hundred brokers in a tree, one publisher, subscribers with one filter. Movers leave, half an hour
passes, and they arrive elsewhere: at a broker at the edge of the tree, or at any. Messages are
those of the handover over links between brokers; queues and direct messages do not count. The
latency is from arrival until the new session has the queue of the old one. Withdrawals and Done are
among the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from statistics import fmean
from typing import Any, Final, NamedTuple

import networkx as nx

from posetlib.generating.topologies import PROCESSING, waxman_tree
from posetlib.routing.mobility.costs import LATENCIES
from posetlib.simulation import Network
from workloads.experiments.experiment import (
    Experiment,
    Figure,
    Lines,
    Point,
    Row,
    Verdict,
    growth,
    random_of,
)

__all__ = ["EXPERIMENT", "VARIANTS", "Variant"]


class Variant(NamedTuple):
    """A protocol in a network with or without a rendezvous point, at which everything meets."""

    protocol: str
    rendezvous: bool
    #: Its row in the thesis' table of latencies (5.4), which says nothing of safety.
    latency: str


#: As the thesis names them. Those with "complete" skip what covering seems to make superfluous, and
#: "direct" lets the rendezvous point tell the old broker beside the tree, which is another reading
#: of the thesis' incomplete RP: both lose notifications.
VARIANTS: Final = {
    "ping/pong": Variant("ping-pong", False, "ping-pong"),
    "ping/pong, RP": Variant("ping-pong", True, "ping-pong RP"),
    "incomplete, flooding": Variant("flood", False, "incomplete acyclic"),
    "incomplete, addresses": Variant("update", False, "incomplete acyclic"),
    "complete, flooding (unsafe)": Variant("cover-flood", False, "complete acyclic"),
    "complete, addresses (unsafe)": Variant("cover", False, "complete acyclic"),
    "RP incomplete": Variant("rendezvous", True, "incomplete acyclic RP"),
    "RP incomplete, direct (unsafe)": Variant("rendezvous-direct", True, "incomplete acyclic RP"),
    "RP complete (unsafe)": Variant("cover", True, "complete acyclic RP"),
}
_FLOODING: Final = ("incomplete, flooding", "complete, flooding (unsafe)")
_SUBSCRIBERS: Final = (1, 10, 20, 50, 80, 120)
_USUAL: Final = 50
_BROKERS: Final = 100
_MOVES: Final = 60
#: A move takes half an hour.
_AWAY: Final = 1_800.0
#: What moving sends over links: filters, and the messages of handovers.
_MOVING: Final = (
    "subscribe", "unsubscribe", "advertise", "unadvertise", "relocate", "done", "ready",
)  # fmt: skip


@lru_cache(maxsize=2)
def _tree(brokers: int, seed: str) -> nx.Graph[int]:
    return waxman_tree(brokers, seed)


def points(scale: float) -> list[Point]:
    """Return a point for each variant, number of subscribers, and where clients go."""
    brokers, moves = max(round(_BROKERS * scale), 8), max(round(_MOVES * scale), 4)
    return [
        {
            "variant": variant,
            "subscribers": max(round(subscribers * scale), 1),
            "usual": subscribers == _USUAL,
            "goals": goals,
            "brokers": brokers,
            "moves": moves,
        }
        for goals in ("edge", "all")
        for subscribers in _SUBSCRIBERS
        for variant in VARIANTS
    ]


def measure(point: Point, seed: str) -> Iterator[Row]:
    """Let subscribers move, one at a time."""
    variant = VARIANTS[point["variant"]]
    net, movers, goals, rng = _network(point, variant, seed)
    before = net.messages.copy()
    for i in range(point["moves"]):
        mover = movers[i % len(movers)]
        target = rng.choice([each for each in goals if each != net.clients[mover]])
        net.leave(mover, variant.protocol, target)
        net.run(until=net.time + _AWAY)
        net.arrive(mover, target, variant.protocol)
        net.run()
    sent = net.messages - before
    # The pings and pongs of a handover are notifications; nobody publishes anything else.
    messages = sum(sent[name] for name in (*_MOVING, "notify"))
    waits = [each.ready_at - each.begun_at for each in net.handovers if each.ready_at is not None]
    at = point["subscribers"]
    yield Row(f"messages-{point['goals']}", point["variant"], at, messages / point["moves"])
    if point["variant"] in _FLOODING:
        each = messages / point["moves"]
        yield Row(f"subscribers-{point['goals']}", point["variant"], at, each)
        yield Row("goals", f"{point['variant']}, {point['goals']}", at, each)
    if waits:
        yield Row(f"latency-{point['goals']}", point["variant"], at, 1e3 * fmean(waits))


def _network(
    point: Point, variant: Variant, seed: str
) -> tuple[Network, list[str], list[int], Any]:
    """Return a network at rest, those who move, and where they go."""
    tree = _tree(point["brokers"], seed)
    rng = random_of("mobility", point["goals"], point["subscribers"], seed)
    inner = [each for each in tree if tree.degree[each] > 1]
    goals = [each for each in tree if tree.degree[each] == 1]
    goals = goals if point["goals"] == "edge" else list(tree)
    net = Network(
        tree,
        advertisements=True,
        delays="delay",
        processing=PROCESSING,
        rendezvous={rng.choice(inner): "true"} if variant.rendezvous else None,
        tracing=False,
        auditing=False,
    )
    net.attach("publisher", rng.choice(goals))
    net.advertise("publisher", "x > 0")
    movers = [f"s{i}" for i in range(point["subscribers"])]
    for each in movers:
        net.attach(each, rng.choice(goals))
        net.subscribe(each, "x > 0")
    net.run()
    return net, movers, goals, rng


# -- what the thesis says --------------------------------------------------------------------------


def _at_usual(lines: Lines) -> dict[str, float]:
    """Return the value of each variant near fifty subscribers."""
    return {
        name: min(line, key=lambda mean: abs(mean.x - _USUAL)).y for name, line in lines.items()
    }


def _ranking(lines: Lines) -> Verdict:
    """Judge that ping/pong is dearest, cheaper with RP, and complete cheaper than incomplete."""
    found = _at_usual(lines)
    ping, with_point, flood = (
        found[name] for name in ("ping/pong", "ping/pong, RP", "incomplete, flooding")
    )
    others = max(cost for name, cost in found.items() if not name.startswith("ping/pong"))
    is_cheaper = all(
        found[complete] < found[incomplete]
        for complete, incomplete in (
            ("complete, flooding (unsafe)", "incomplete, flooding"),
            ("complete, addresses (unsafe)", "incomplete, addresses"),
            ("RP complete (unsafe)", "RP incomplete"),
        )
    )
    says = ", ".join(f"{name} {cost:.1f}" for name, cost in found.items())
    agrees = ping > with_point > others and flood > found["incomplete, addresses"] and is_cheaper
    return Verdict(agrees, f"{says} (the thesis has plots without numbers)")


def _latency(lines: Lines) -> Verdict:
    """Judge the order of the latencies; the thesis' milliseconds are told beside ours."""
    found = _at_usual(lines)
    says = ", ".join(
        f"{name} {ms:.0f} ms (thesis {LATENCIES[VARIANTS[name].latency][0]})"
        for name, ms in found.items()
    )
    by_row: dict[str, list[float]] = {}
    for name, ms in found.items():
        by_row.setdefault(VARIANTS[name].latency.split()[0], []).append(ms)
    agrees = min(by_row["ping-pong"]) > max(by_row["incomplete"]) and all(
        found[complete] < found[incomplete]
        for complete, incomplete in (
            ("complete, addresses (unsafe)", "incomplete, addresses"),
            ("RP complete (unsafe)", "RP incomplete"),
        )
    )
    return Verdict(agrees, says)


def _subscribers(lines: Lines) -> Verdict:
    """Judge that flooding grows with subscribers, and that the complete one has a peak."""
    incomplete, complete = (lines[name] for name in _FLOODING)
    peak = max(complete, key=lambda mean: mean.y)
    agrees = growth(incomplete) > 1 and complete[0].x < peak.x < complete[-1].x
    says = (
        f"incomplete {incomplete[0].y:.1f} at {incomplete[0].x:.0f}, {incomplete[-1].y:.1f} at "
        f"{incomplete[-1].x:.0f}; complete {complete[0].y:.1f} at {complete[0].x:.0f}, at most "
        f"{peak.y:.1f} at {peak.x:.0f}, {complete[-1].y:.1f} at {complete[-1].x:.0f}"
    )
    return Verdict(agrees, says)


def _goals(lines: Lines) -> Verdict:
    """Judge that incomplete moves cost more between brokers at the edge, and complete ones less."""
    found = _at_usual(lines)
    incomplete, complete = (
        [found[f"{name}, {goals}"] for goals in ("edge", "all")] for name in _FLOODING
    )
    agrees = incomplete[0] > incomplete[1] and complete[0] < complete[1]
    says = ", ".join(f"{name} {cost:.1f}" for name, cost in found.items())
    return Verdict(agrees, says)


def _figures() -> Iterator[Figure]:
    dearest = (
        "ping/pong is dearest; a rendezvous point makes it much cheaper, and still dearer than all "
        "others; complete is cheaper than incomplete"
    )
    slowest = "ping/pong takes some 170 ms, incomplete 49, complete 39, with RP or without"
    grows = "incomplete grows with subscribers, as it floods; complete has a peak at 20, then falls"
    costs: tuple[tuple[str, str, str, str, Callable[[Lines], Verdict]], ...] = (
        ("messages", "Section 5.8", "messages of a move", dearest, _ranking),
        ("latency", "Table 5.4", "ms from arrival to the queue", slowest, _latency),
        ("subscribers", "Figure 5.13", "messages of a move", grows, _subscribers),
    )
    for goals, where in (("edge", "to brokers at the edge"), ("all", "to any broker")):
        for key, source, y, statement, judge in costs:
            yield Figure(f"{key}-{goals}", f"{source}: moves {where}", "subscribers", y,
                         statement, judge)  # fmt: skip
    yield Figure(
        "goals",
        "Figure 5.13: moves to the edge against moves to any broker",
        "subscribers",
        "messages of a move",
        "to the edge ways are longer, so incomplete costs more; complete less, as more is covered",
        _goals,
    )


EXPERIMENT: Final = Experiment(
    "mobility",
    "Section 5.8: moving subscribers, a hundred brokers, the eight variants of the thesis",
    points,
    measure,
    tuple(_figures()),
    replications=3,
)

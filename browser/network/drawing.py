"""A network at a moment as a drawing: brokers and clients, what is under way, what moves now."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import networkx as nx

from browser.elements import counted
from browser.network.hierarchy import tree_places
from browser.network.moving import (
    Stay,
    active_links,
    advertised_links,
    message_text,
    subscriptions_in,
)
from browser.network.player import Link
from browser.network.run import Flight, Run
from browser.network.script import Script
from browser.shortening import short

__all__ = ["network_drawing", "numbers_of", "places_of"]

Point = tuple[float, float]

#: The least distance of two neighbours on a ring, and from ring to ring, before the stretch.
_APART: Final = 92.0
_RING: Final = 150.0
#: Up to so many brokers and clients there is room for words on the links: rings are so far apart,
#: and clients are nearer to their brokers than the next ring.
_FEW: Final = 20
_WIDE_RING: Final = 215.0
_NEAR: Final = 0.65
#: A chain of more brokers than this goes to and fro in rows, so far apart across and down.
_LONG: Final = 6
_ROW: Final = (365.0, 130.0)
_CLIENT_ROW: Final = 50.0
#: How much wider than high it is: names and filters are wide.
_STRETCH: Final = 1.7
#: A cell of a hierarchy, which is drawn from above: of few, and of many.
_WIDE_CELL: Final = (290, 118)
_CELL: Final = (150, 84)
#: How far from the inner end of a link its load is written, where rings are and in a hierarchy.
_LOAD_AT: Final = 0.51
_LOAD_BELOW: Final = 0.66
_LOAD_CHARS: Final = 21
#: Below this zoom only names are written.
_FAR: Final = 0.55
_CLIENT_CHARS: Final = 11
#: How far a message beside the tree bows out from the straight way between two brokers; its words
#: are half as far. How far below a client its old session is, if it is at the same broker.
_BOW: Final = 240.0
_GHOST_BELOW: Final = 52.0


def numbers_of(script: Script) -> dict[str, int]:
    """Return the number of each broker and each client, from 1, by which it is chosen."""
    return {name: i for i, name in enumerate((*script.brokers, *script.clients), 1)}


def places_of(script: Script) -> dict[Hashable, Point]:
    """Return where to draw brokers, and clients by (client, broker).

    On rings around the middle of the tree; below its master, if there is one; a chain in rows.
    """
    graph: nx.Graph[Any] = script.graph()
    root = _root(script)
    for action in script.actions:
        if action.name in ("attach", "move", "leave", "arrive") and action.arguments[1]:
            client, broker = action.arguments[:2]
            graph.add_edge(broker, (client, broker))
    if script.master is not None:
        nodes = list(graph)
        index = {node: i for i, node in enumerate(nodes)}
        children: list[list[int]] = [[] for _ in nodes]
        for one, other in nx.bfs_edges(graph, root):
            children[index[one]].append(index[other])
        width, height = _WIDE_CELL if len(nodes) <= _FEW else _CELL
        found = tree_places(children, index[root], width=width, height=height)
        return {node: (float(found[i, 0]), float(found[i, 1])) for node, i in index.items()}
    if len(script.brokers) > _LONG and max(dict(script.graph().degree).values()) <= 2:
        return _rows(script, graph)
    return _rings(graph, root)


def _rows(script: Script, graph: Any) -> dict[Hashable, Point]:
    """Return places of a chain of brokers, to and fro in rows; clients below, two side by side."""
    tree = script.graph()
    start = next(each for each in script.brokers if tree.degree[each] == 1)
    chain = list(nx.dfs_preorder_nodes(tree, start))
    across = math.ceil(math.sqrt(len(chain)))
    clients = {
        broker: [each for each in graph.adj[broker] if isinstance(each, tuple)] for broker in chain
    }
    most = max(map(len, clients.values()))
    high = _ROW[1] + _CLIENT_ROW * math.ceil(most / 2)
    places: dict[Hashable, Point] = {}
    for i, broker in enumerate(chain):
        row, place = divmod(i, across)
        x = _ROW[0] * (place if row % 2 == 0 else across - 1 - place)
        places[broker] = (x, high * row)
        for k, client in enumerate(clients[broker]):
            side = 0.0 if len(clients[broker]) == 1 else 66.0 * (2 * (k % 2) - 1)
            places[client] = (x + side, high * row + 68 + _CLIENT_ROW * (k // 2))
    return places


def _root(script: Script) -> str:
    """Return the broker around which, or below which, all is drawn."""
    return script.master or str(nx.center(script.graph())[0])


def _rings(graph: Any, root: Hashable) -> dict[Hashable, Point]:
    """Return places on rings: each branch has a sector as wide as its ends need.

    >>> places = _rings(nx.path_graph(["B1", "B2", "B3"]), "B2")
    >>> places["B1"][0] < places["B2"][0] < places["B3"][0]
    True
    """
    children: dict[Hashable, list[Hashable]] = {root: []}
    depth = {root: 0}
    for parent, child in nx.bfs_edges(graph, root):
        children[parent].append(child)
        children[child] = []
        depth[child] = depth[parent] + 1
    ends: dict[Hashable, int] = {}
    for node in reversed(list(children)):  # children come after their parents
        ends[node] = sum(ends[each] for each in children[node]) or 1
    middle: dict[Hashable, float] = {root: 0.0}
    start: dict[Hashable, float] = {}
    unit = math.tau / ends[root]
    # The first branch goes to the left, the others follow clockwise.
    first = children[root][0] if children[root] else root
    start[root] = math.pi - ends[first] * unit / 2
    for node, below in children.items():
        at = start[node]
        for child in below:
            start[child] = at
            middle[child] = at + ends[child] * unit / 2
            at += ends[child] * unit
    few = len(children) <= _FEW
    radius = _radii(middle, depth, _WIDE_RING if few else _RING)
    places = {
        node: (
            _STRETCH * radius[depth[node]] * math.cos(middle[node]),
            radius[depth[node]] * math.sin(middle[node]),
        )
        for node in children
    }
    for node in children:
        if few and isinstance(node, tuple):
            places[node] = _between(places[node[1]], places[node], _NEAR)
    return places


def _between(one: Point, other: Point, share: float) -> Point:
    """Return the point that is a share of the way from one to another."""
    return one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])


def _radii(
    middle: Mapping[Hashable, float], depth: Mapping[Hashable, int], least: float
) -> list[float]:
    """Return the radius of each ring, so that neighbours on it keep their distance."""
    radii = [0.0]
    for ring in range(1, max(depth.values(), default=0) + 1):
        angles = sorted(middle[node] for node in depth if depth[node] == ring)
        gaps = [after - before for before, after in pairwise(angles)]
        gaps.append(angles[0] + math.tau - angles[-1])
        narrow = min(gaps)
        needed = _APART / (2 * math.sin(narrow / 2)) if narrow < math.pi else 0.0
        radii.append(max(radii[-1] + least, needed))
    return radii


def network_drawing(
    run: Run, number: int, followed: int | None = None, subscription: int | None = None
) -> dict[str, Any]:
    """Return a network after a moment.

    ``followed`` is the line of an operation to be marked, ``subscription`` that of a subscription:
    its client's links are active or not.
    """
    script = run.script
    places = places_of(script)
    moment = run.moments[number]
    ids = {name: str(each) for name, each in numbers_of(script).items()}
    ways = [each for each in run.followed(followed) if each.number <= number] if followed else []
    passed = {broker for each in ways for broker in each.brokers}
    crossed = {each.link for each in ways} | {each.link[::-1] for each in ways if each.link}
    sizes = run.sizes(number)
    elements = [
        _node(
            ids[broker],
            f"{broker}\n{counted(sizes[broker], 'filter')}",
            broker,
            places[broker],
            ["broker", *_classes(here=broker in moment.brokers, passed=broker in passed)],
            f"{broker}: {counted(sizes[broker], 'filter')} in its table",
        )
        for broker in script.brokers
    ]
    clients = run.clients(number)
    elements += _client_elements(run, number, ids, places)
    broken = run.broken(number)
    queues = run.queues(number)
    marks = _marks(run, number, subscription)
    busy = 0
    depth = nx.single_source_shortest_path_length(script.graph(), _root(script))
    load_at = _LOAD_AT if script.master is None else _LOAD_BELOW
    for one, other in script.links:
        look = _classes(broken=(one, other) in broken, way=(one, other) in crossed)
        look += marks.get((one, other), [])
        elements.append(_edge(ids, (one, other), ["link", *look]))
        lines: list[str] = []
        for link in ((one, other), (other, one)):
            moves = moment.link == link and moment.message is not None
            waiting = queues.get(link, [])
            busy += bool(waiting)
            if moves or waiting:
                arrow = _edge(ids, link, ["moving" if moves else "waiting"])
                elements.append(arrow)
                lines += _load(link, run, number, waiting, moves=moves)
        if lines:
            inner, outer = sorted((one, other), key=depth.__getitem__)
            place = _between(places[inner], places[outer], load_at)
            elements.append(_load_node(f"on {one} {other}", lines, place))
    beside = _direct_elements(run, number, queues, ids, places)
    under_way = sum(map(len, queues.values()))
    direct = sum(len(some) for link, some in queues.items() if len(link) == 3)
    where = f"under way on {counted(busy, 'link')}" if busy else "under way"
    if direct:
        where += f", {direct:,} of them direct" if direct < under_way else ", direct"
    return {
        "elements": elements + beside,
        "width": 150,
        "height": 70,
        "text": True,
        "far": _FAR,
        "nodes": len(script.brokers) + len(clients),
        "edges": len(script.links),
        "whole": True,
        "note": "",
        "stats": f"{counted(len(script.brokers), 'broker')} · {counted(len(clients), 'client')} · "
        + (f"{counted(under_way, 'message')} {where}" if under_way else "nothing is under way")
        + (" · links: thick active, dashed advertised, dotted neither" if marks else ""),
        "title": "Network",
        "about": f"Network of {len(script.brokers)} brokers and {len(clients)} clients. Arrow keys "
        "move it, plus and minus zoom, F fits. The list of brokers beside it has all of them.",
        "step": number,
    }


def _client_elements(
    run: Run, number: int, ids: Mapping[str, str], places: Mapping[Hashable, Point]
) -> list[dict[str, Any]]:
    """Return the clients where they are, and their old sessions where those are."""
    moment = run.moments[number]
    clients = run.clients(number)
    sessions = {each.client: each for each in run.stays(number) if each.is_last}
    movers = run.script.movers
    elements = []
    for client, broker in clients.items():
        notified = client in moment.clients
        stay = sessions.get(client)
        place = places[client, broker]
        state = stay.state if stay else ""
        if state == "away":
            # On its way: farther from the broker that it left than those that are there.
            place = _between(places[broker], place, 1.35)
        name = f"✓ {client}" if notified else client
        classes = _classes(
            matched=notified,
            actor=client == moment.actor,
            away=state == "away",
            arriving=state == "waiting",
            lost=stay is None and client in movers,
        )
        tip = f"{client}, a client of {broker}"
        if stay is not None and stay.state != "connected":
            tip += f"\n{stay}"
        elif "lost" in classes:
            tip += "\nno broker has a session for it"
        head = _with_queue(name, stay)
        elements.append(_node(ids[client], head, head, place, ["client", *classes], tip))
        elements.append(
            _edge(ids, (broker, client), ["attachment", *_classes(away=state == "away")])
        )
    at: dict[tuple[str, str], int] = {}
    for ghost in run.stays(number):
        if ghost.is_last:
            continue
        key = (ghost.client, ghost.broker)
        below = at.get(key, int(clients.get(ghost.client) == ghost.broker))
        at[key] = below + 1
        x, y = places[key]
        id_ = f"ghost {ghost.client} {ghost.epoch} {ghost.broker}"
        words = _with_queue(f"({ghost.client})", ghost)
        place = (x, y + below * _GHOST_BELOW)
        elements.append(
            _node(id_, words, words, place, ["client", "ghost", ghost.state], str(ghost))
        )
        line = _edge({**ids, id_: id_}, (ghost.broker, id_), ["attachment", "ghost"])
        elements.append(line)
    return elements


def _with_queue(name: str, stay: Stay | None) -> str:
    """Return the name of a client, with how much waits for it."""
    if stay is None or not stay.queued:
        return short(name, _CLIENT_CHARS)
    queue = f" ✉{stay.queued}"
    return short(name, _CLIENT_CHARS - len(queue)) + queue


def _marks(run: Run, number: int, subscription: int | None) -> dict[tuple[str, str], list[str]]:
    """Return how links look for a subscription: active with their direction, advertised, or idle.

    What the subscription asks for flows along an active one, ``forth`` from the end that the script
    names first, or ``back``.
    """
    wanted = subscriptions_in(run.script).get(subscription or 0)
    if wanted is None:
        return {}
    with run.network_at(number) as network:
        active = active_links(network, wanted[1])
        advertised = advertised_links(network, wanted[1])
    found = {}
    for link in run.script.links:
        there, back = link in active, link[::-1] in active
        announced = link in advertised or link[::-1] in advertised
        found[link] = _classes(
            active=there or back,
            forth=there,
            back=back,
            advertised=announced and not (there or back),
            idle=not (announced or there or back),
        )
    return found


def _direct_elements(
    run: Run,
    number: int,
    queues: Mapping[Link, Sequence[Flight]],
    ids: Mapping[str, str],
    places: Mapping[Hashable, Point],
) -> list[dict[str, Any]]:
    """Return the messages beside the tree: bows from broker to broker, with words."""
    moment = run.moments[number]
    links = [each for each in queues if len(each) == 3]
    if moment.link and len(moment.link) == 3 and moment.link not in links:
        links.append(moment.link)
    elements = []
    for link in links:
        moves = moment.link == link
        elements.append(_edge(ids, link, ["direct", "moving" if moves else "waiting"]))
        lines = _load(link, run, number, queues.get(link, ()), moves=moves)
        (x, y), (to_x, to_y) = places[link[0]], places[link[1]]
        long = math.hypot(to_x - x, to_y - y) or 1.0
        # To the left of who goes there, so that the way back bows to the other side.
        place = (
            (x + to_x) / 2 + _BOW / 2 * (to_y - y) / long,
            (y + to_y) / 2 - _BOW / 2 * (to_x - x) / long,
        )
        elements.append(_load_node(" ".join(("on", *link)), lines, place))
    return elements


def _classes(**wanted: bool) -> list[str]:
    return [name for name, is_so in wanted.items() if is_so]


def _load(
    link: Link, run: Run, number: int, waiting: Sequence[Flight], *, moves: bool
) -> list[str]:
    """Return what moves and what waits on one direction of a link, a line each."""
    lines = []
    message = run.moments[number].message
    if moves and message is not None:
        lines.append(f"▶ {link[1]}: {message_text(message)}")
    if waiting:
        more = f" +{len(waiting) - 1}" if len(waiting) > 1 else ""
        text = short(f"… {link[1]}: {message_text(waiting[0].message)}", _LOAD_CHARS - len(more))
        lines.append(text + more)
    return lines


def _load_node(id_: str, lines: Sequence[str], place: Point) -> dict[str, Any]:
    """Return the words on a link."""
    moving = any(each.startswith("▶") for each in lines)
    return _node(
        id_,
        "\n".join(short(each, _LOAD_CHARS) for each in lines),
        "▶" if moving else "…",
        place,
        ["load", *_classes(now=moving)],
        "\n".join(lines),
    )


def _node(
    id_: str, label: str, head: str, place: Point, classes: Sequence[str], tip: str
) -> dict[str, Any]:
    return {
        "data": {"id": id_, "label": label, "head": head, "tip": tip},
        "position": {"x": round(place[0], 1), "y": round(place[1], 1)},
        "classes": " ".join(classes),
    }


def _edge(ids: Mapping[str, str], link: Link, classes: Sequence[str]) -> dict[str, Any]:
    kind = classes[0] if classes[0] in ("link", "attachment", "direct") else "arrow"
    source, target = link[:2]
    return {
        "data": {
            "id": f"{kind} {source} {target}",
            "source": ids[source],
            "target": ids[target],
        },
        "classes": " ".join(classes),
    }

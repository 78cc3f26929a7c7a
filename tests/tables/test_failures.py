"""An operation that raises leaves the table as it was, wherever in it the error comes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from posetlib.tables import Table
from tests.tables.kinds import BOXES, KINDS, WORDS, World
from tests.tables.lockstep import picture


class Fragile:
    """A relation that raises at the k-th question from now."""

    def __init__(self, covers: Any, error: type[BaseException] = ZeroDivisionError) -> None:
        self.covers = covers
        self.error = error
        self.left: int | None = None

    def __call__(self, one: Any, other: Any) -> bool:
        if self.left is not None:
            if self.left == 0:
                raise self.error("in the middle of it")
            self.left -= 1
        return bool(self.covers(one, other))


def anatomy(table: Table) -> Any:
    """All that a table consists of, order included."""
    links, index = table._links, table._interface_index
    everyone = [links.top, *links.nodes.values()]
    return (
        picture(table),
        [(node.item, node.serial, list(node.interfaces.items())) for node in everyone],
        [[each.serial for each in node.parents] for node in everyone],
        [[each.serial for each in node.children] for node in everyone],
        [None if index is None else index.below(node) for node in everyone],
        [sorted(map(str, node.aliases)) for node in everyone],
        {part: [node.serial for node in roots] for part, roots in links.roots_by_part.items()},
        {each: {node.serial for node in nodes} for each, nodes in links.holders.items()},
        {item: node.serial for item, node in links.aliases.items()},
        [_rows(node) for node in everyone],
        links.clock,
        table._version,
        table._busy,
    )


def _rows(node: Any) -> Any:
    if node.extra is None:
        return None
    return [sorted(each.serial for each in row) for row in (node.extra.above, node.extra.below)]


def operations(world: World, rng: random.Random) -> list[tuple[str, tuple[Any, ...]]]:
    result: list[tuple[str, tuple[Any, ...]]] = []
    for _ in range(60):
        item, interface = rng.choice(world.items), rng.choice(("I1", "I2", "I3"))
        name = rng.choice(("add", "add", "add", "discard", "remove_covered", "drop_interface"))
        arguments = (interface,) if name == "drop_interface" else (item, interface)
        result.append((name, arguments))
    return result


@pytest.mark.parametrize("world", [BOXES, WORDS], ids=lambda world: world.name)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_at_every_question(kind: str, world: World, seed: int) -> None:
    fragile = Fragile(world.covers)
    cls, options = KINDS[kind]
    table = cls(covers=fragile, matches=world.matches, **options)
    failures = 0
    for name, arguments in operations(world, random.Random(seed)):
        before = anatomy(table)
        for k in range(1_000):
            fragile.left = k
            try:
                getattr(table, name)(*arguments)
            except ZeroDivisionError:
                failures += 1
                assert anatomy(table) == before
            else:
                break
            finally:
                fragile.left = None
        table.check()
    assert failures > 50


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupt_is_no_different(kind: str) -> None:
    fragile = Fragile(BOXES.covers, KeyboardInterrupt)
    cls, options = KINDS[kind]
    table = cls(covers=fragile, **options)
    table.add(((0, 1), (0, 1)), "I1")
    before = anatomy(table)
    fragile.left = 0
    with pytest.raises(KeyboardInterrupt):
        table.add(((0, 3), (0, 3)), "I1")
    fragile.left = None
    assert anatomy(table) == before
    assert table.add(((0, 3), (0, 3)), "I2").moved


@pytest.mark.parametrize("kind", ["pf", "bf", "pf-local"])
def test_in_the_middle_of_a_cascade(kind: str) -> None:
    """A removal that moves subtrees, eliminates along the new branch, and empties nodes there."""
    fragile = Fragile(frozenset.issuperset)
    cls, options = KINDS[kind]
    table = cls(covers=fragile, **options)
    for letters, interface in (
        ("abcx", "I1"),
        ("abcy", "I2"),
        ("abc", "I3"),
        ("ab", "I2"),
        ("bc", "I2"),
        ("b", "I4"),
    ):
        table.add(frozenset(letters), interface)
    before = anatomy(table)
    tests = table.counters.covering_tests
    for k in range(1_000):
        fragile.left = k
        try:
            table.remove(frozenset("abcx"), "I1")
        except ZeroDivisionError:
            assert anatomy(table) == before
        else:
            break
    assert k > 0
    assert table.counters.covering_tests > tests
    fragile.left = None
    table.check()


@pytest.mark.parametrize("kind", KINDS)
def test_a_relation_may_not_change_the_table(kind: str) -> None:
    cls, options = KINDS[kind]

    def covers(one: int, other: int) -> bool:
        if other == 3:
            table.add(99, "I9")
        return one >= other

    table = cls(covers=covers, **options)
    table.add(1, "I1")
    with pytest.raises(RuntimeError, match="own operation"):
        table.add(3, "I1")
    assert table.entries() == ((1, "I1"),)
    table.check()

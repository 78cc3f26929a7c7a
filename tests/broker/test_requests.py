"""What clients ask for, and how they are answered; in one process."""

from __future__ import annotations

import asyncio
import json
import random
import re
from typing import Any

import pytest

from posetlib.broker.settings import Limits, RouterOptions
from posetlib.filters.parsing import parse_filter

from .running import Wire, run, serving, until


def publish(**notification: Any) -> dict[str, Any]:
    return {"op": "publish", "n": notification}


def test_a_notification_goes_to_those_that_ask_for_it_and_to_nobody_else() -> None:
    async def main() -> None:
        async with serving() as broker:
            alice, bob = await Wire.open(broker.port), await Wire.open(broker.port)
            assert await alice.ask({"op": "hello", "client": "alice"}) == {
                "op": "welcome",
                "version": 1,
                "broker": broker.name,
                "client": "alice",
                "held": 0,
            }
            assert await alice.ask({"op": "subscribe", "filter": "x > 3", "id": 1}) == {
                "op": "ok",
                "id": 1,
            }
            bob.send(publish(x=1), publish(x=5), publish(y=9), publish(x=7))
            assert [await alice.read(), await alice.read()] == [publish(x=5), publish(x=7)]
            # Nobody else: bob's own answer is the first thing that he hears.
            assert await bob.ask({"op": "list", "id": "a"}) == {
                "op": "ok",
                "id": "a",
                "subscriptions": [],
                "advertisements": [],
            }

    run(main())


def test_notifications_travel_as_the_bytes_that_came_in_the_order_of_their_publisher() -> None:
    async def main() -> None:
        async with serving() as broker:
            alice, bob = await Wire.open(broker.port), await Wire.open(broker.port)
            await alice.ask({"op": "subscribe", "filter": "exists x", "id": 1})
            odd = b'{ "n" : {"x": 1.50, "s":"\\u00fc"},  "op":"publish" }'
            bob.writer.write(odd + b"\n")
            bob.send(*(publish(x=i) for i in range(2, 500)))
            # Some are no plain notifications: these are decoded one by one, in order all the same.
            bob.send({"op": "publish", "n": {"x": 500}, "id": 7}, publish(x=[501]))
            assert await alice.reader.readline() == odd + b"\n"
            found = [(await alice.read() or {})["n"]["x"] for _ in range(500)]
            assert found == [*range(2, 501), [501]]
            assert await bob.read() == {"op": "ok", "id": 7}

    run(main())


def test_many_clients_get_what_a_plain_scan_says() -> None:
    async def main() -> None:
        draw = random.Random(5)
        async with serving(router=RouterOptions(table="nrf")) as broker:
            wires = [await Wire.open(broker.port) for _ in range(8)]
            wanted = []
            for wire in wires:
                texts = [
                    f"x in [{low}, {low + draw.randrange(1, 9)}]"
                    for low in (draw.randrange(30) for _ in range(5))
                ]
                texts.append("exists end")
                wire.send(*({"op": "subscribe", "filter": text} for text in texts))
                await wire.ask({"op": "list", "id": 1})
                wanted.append([parse_filter(text) for text in texts])
            sent = [{"x": draw.randrange(40), "i": i} for i in range(400)]
            publisher = await Wire.open(broker.port)
            publisher.send(*({"op": "publish", "n": each} for each in sent), publish(end=True))
            for wire, filters in zip(wires, wanted, strict=True):
                got = []
                while (message := await wire.read()) != publish(end=True):
                    assert message is not None
                    got.append(message["n"])
                assert got == [each for each in sent if any(f.matches(each) for f in filters)]
            broker.router.check()

    run(main())


def test_a_subscription_ends_when_it_is_released_replaced_or_forgotten() -> None:
    async def main() -> None:
        async with serving() as broker:
            alice = await Wire.open(broker.port)
            table = broker.router.local_table

            async def held() -> Any:
                answer = await alice.ask({"op": "list", "id": 0})
                assert answer is not None
                return answer["subscriptions"]

            await alice.ask({"op": "subscribe", "filter": "x > 3", "id": 1})
            await alice.ask({"op": "subscribe", "filter": "y = 1", "id": 2})
            await alice.ask({"op": "subscribe", "filter": "x>3", "id": 3})
            assert await held() == ["x > 3", "y = 1"]
            await alice.ask({"op": "replace", "old": "x > 3", "filter": "x > 5", "id": 4})
            assert await held() == ["y = 1", "x > 5"]
            await alice.ask({"op": "unsubscribe", "filter": "y = 1", "id": 5})
            assert await held() == ["x > 5"]
            assert [str(each) for each in table] == ["x > 5"]
            await alice.ask({"op": "forget", "id": 6})
            assert await held() == []
            assert len(table) == 0

    run(main())


REFUSED: list[tuple[dict[str, Any] | bytes, str, str]] = [
    (b"nonsense", "line", "no JSON.*nonsense"),
    ({"op": "fly"}, "op", "there is no 'fly'; there are advertise, bye"),
    ({"op": ["list"]}, "op", "there is no"),
    ({"nop": 1}, "op", "there is no None"),
    ({"op": "subscribe"}, "field", "subscribe needs 'filter'"),
    ({"op": "subscribe", "filter": 3}, "field", "the text of a filter"),
    ({"op": "subscribe", "filter": "x >"}, "filter", "line 1, column"),
    ({"op": "subscribe", "filter": "x > 3", "ttl": 0}, "field", "'ttl' is a positive"),
    ({"op": "subscribe", "filter": "x > 3", "ttl": True}, "field", "'ttl' is a positive"),
    ({"op": "subscribe", "filter": "(" * 5_000 + "x > 3"}, "filter", "no filter"),
    ({"op": "unsubscribe", "filter": "x > 3"}, "not-held", "does not hold x > 3"),
    ({"op": "advertise", "filter": "x > 3"}, "option", "advertisements"),
    ({"op": "publish"}, "field", "publish needs 'n'"),
    ({"op": "publish", "n": 3}, "field", "publish needs 'n'"),
    ({"op": "hello", "client": "late"}, "hello", "in its first line"),
    ({"op": "list"}, "field", "needs an 'id'"),
    ({"op": "publish", "n": {"x": [[[[[[[[1]]]]]]]]}}, "line", "deeper than 6 levels"),
    (b'{"op":"publish","n":{"x":"' + b"y" * 30_000 + b'"}}', "too-long", "at most 20000 bytes"),
]


@pytest.mark.parametrize(("message", "code", "text"), REFUSED, ids=[str(r[1:]) for r in REFUSED])
def test_what_makes_no_sense_is_answered_and_survived(
    message: dict[str, Any] | bytes, code: str, text: str
) -> None:
    async def main() -> None:
        limits = Limits(line=20_000, depth=6)
        async with serving(limits=limits) as broker:
            wire = await Wire.open(broker.port)
            await wire.ask({"op": "subscribe", "filter": "exists ok", "id": 1})
            # In one read with good lines around it, which are served all the same.
            wire.send(publish(ok=1), message, publish(ok=2))
            assert await wire.read() == publish(ok=1)
            refused = await wire.read()
            assert refused is not None
            assert (refused["op"], refused["code"]) == ("error", code)
            assert re.search(text, refused["text"])
            assert await wire.read() == publish(ok=2)

    run(main())


def test_an_error_has_the_id_of_what_it_answers() -> None:
    async def main() -> None:
        async with serving() as broker:
            wire = await Wire.open(broker.port)
            answer = await wire.ask({"op": "subscribe", "filter": "x >", "id": 17})
            assert answer is not None
            assert answer["id"] == 17

    run(main())


def test_an_id_that_is_none_is_refused_and_not_left_without_an_answer() -> None:
    async def main() -> None:
        async with serving() as broker:
            alice = await Wire.open(broker.port)
            for wrong in (1.5, True, [1]):
                answer = await alice.ask({"op": "subscribe", "filter": "x > 3", "id": wrong})
                assert answer is not None
                assert answer["text"] == "'id' is a text or a whole number"
            listed = await alice.ask({"op": "list", "id": 1})
            assert listed is not None
            assert listed["subscriptions"] == []

    run(main())


def test_bad_lines_in_a_row_end_the_connection_and_good_ones_in_between_do_not() -> None:
    async def main() -> None:
        async with serving(limits=Limits(bad_lines=3)) as broker:
            wire = await Wire.open(broker.port)
            for _ in range(5):
                wire.send(b"bad", b"bad", {"op": "list", "id": 1})
            answers = [await wire.read() for _ in range(15)]
            assert [each["op"] for each in answers if each] == ["error", "error", "ok"] * 5
            wire.send(b"bad", b"bad", b"bad", publish(x=1))
            rest = await wire.rest()
            assert [each["code"] for each in rest] == ["line", "line", "line", "bad-lines"]
            assert broker.metrics.received == 0

    run(main())


def test_the_last_word_is_heard_by_one_that_is_still_sending() -> None:
    async def main() -> None:
        async with serving(limits=Limits(bad_lines=3)) as broker:
            wire = await Wire.open(broker.port)
            # To close with these unread would reset the connection, and take the answer along.
            wire.send(b"bad", b"bad", b"bad", *([b"bad" * 1_000] * 2_000))
            assert [each["code"] for each in await wire.rest()][-1] == "bad-lines"

    run(main())


def test_a_client_may_hold_so_many_filters() -> None:
    async def main() -> None:
        async with serving(limits=Limits(subscriptions=2)) as broker:
            wire = await Wire.open(broker.port)
            for i, expected in ((1, "ok"), (2, "ok"), (2, "ok"), (3, "error")):
                answer = await wire.ask({"op": "subscribe", "filter": f"x = {i}", "id": i})
                assert answer is not None
                assert answer["op"] == expected
            assert answer["code"] == "limit"
            await wire.ask({"op": "unsubscribe", "filter": "x = 1", "id": 4})
            answer = await wire.ask({"op": "subscribe", "filter": "x = 3", "id": 3})
            assert answer == {"op": "ok", "id": 3}

    run(main())


def test_so_many_connections_may_be_open() -> None:
    async def main() -> None:
        async with serving(limits=Limits(connections=2)) as broker:
            first, second = await Wire.open(broker.port), await Wire.open(broker.port)
            assert await first.ask({"op": "list", "id": 1})
            assert await second.ask({"op": "list", "id": 1})
            third = await Wire.open(broker.port)
            assert [each["code"] for each in await third.rest()] == ["limit"]
            second.close()
            await until(lambda: len(broker.connections) == 1, "the second is gone")
            assert await (await Wire.open(broker.port)).ask({"op": "list", "id": 1})

    run(main())


def test_a_named_client_finds_what_it_held_and_an_unnamed_one_leaves_nothing() -> None:
    async def main() -> None:
        async with serving() as broker:
            for name, kept in (("alice", 1), (None, 0)):
                wire = await Wire.open(broker.port)
                await wire.ask({"op": "hello", "client": name})
                await wire.ask({"op": "subscribe", "filter": "x > 3", "id": 1})
                wire.close()
                await until(lambda: not broker.connections, "it left")
                assert len(broker.router.local_table) == kept
                publisher = await Wire.open(broker.port)
                await publisher.ask({"op": "publish", "n": {"x": 5}, "id": 1})
                publisher.close()
                again = await Wire.open(broker.port)
                answer = await again.ask({"op": "hello", "client": name})
                assert answer is not None
                assert answer["held"] == kept
                # At most once: what was published meanwhile is not delivered later.
                assert (await again.ask({"op": "forget", "id": 9})) == {"op": "ok", "id": 9}
                again.close()
                await until(lambda: not broker.connections, "it left")
            assert broker.metrics.absent == 1
            assert len(broker.sessions) == 0

    run(main())


def test_a_name_is_taken_over_by_the_later_connection() -> None:
    async def main() -> None:
        async with serving() as broker:
            first, second = await Wire.open(broker.port), await Wire.open(broker.port)
            await first.ask({"op": "hello", "client": "alice"})
            await first.ask({"op": "subscribe", "filter": "x > 3", "id": 1})
            answer = await second.ask({"op": "hello", "client": "alice"})
            assert answer is not None
            assert answer["held"] == 1
            assert [each["code"] for each in await first.rest()] == ["replaced"]
            second.send(publish(x=5), {"op": "list", "id": 2})
            assert await second.read() == publish(x=5)
            assert (await second.read() or {})["subscriptions"] == ["x > 3"]

    run(main())


def test_clients_that_stay_away_are_forgotten() -> None:
    async def main() -> None:
        async with serving(keep=0.05, keepalive=0.4) as broker:
            wire = await Wire.open(broker.port)
            await wire.ask({"op": "hello", "client": "alice"})
            await wire.ask({"op": "subscribe", "filter": "x > 3", "id": 1})
            wire.close()
            await until(lambda: len(broker.sessions) == 0, "it is forgotten")
            assert len(broker.router.table) == 0
        async with serving(limits=Limits(absent=3)) as broker:
            for i in range(5):
                wire = await Wire.open(broker.port)
                await wire.ask({"op": "hello", "client": f"client {i}"})
                await wire.ask({"op": "subscribe", "filter": f"x = {i}", "id": 1})
                wire.close()
                await until(lambda: not broker.connections, "it left")
            assert broker.sessions.absent == 3
            held = sorted(str(each) for each in broker.router.local_table)
            assert held == ["x = 2", "x = 3", "x = 4"]

    run(main())


def test_a_subscription_with_a_time_to_live_ends_by_itself_unless_it_is_renewed() -> None:
    async def main() -> None:
        async with serving() as broker:
            wire = await Wire.open(broker.port)
            await wire.ask({"op": "hello", "client": "alice"})
            await wire.ask({"op": "subscribe", "filter": "x = 1", "ttl": 0.05, "id": 1})
            await wire.ask({"op": "subscribe", "filter": "x = 2", "ttl": 0.05, "id": 1})
            await wire.ask({"op": "subscribe", "filter": "x = 2", "id": 1})
            await wire.ask({"op": "subscribe", "filter": "x = 3", "ttl": 1_000, "id": 1})
            await until(lambda: len(broker.router.local_table) == 2, "one ended")
            answer = await wire.ask({"op": "list", "id": 1})
            assert answer is not None
            assert answer["subscriptions"] == ["x = 2", "x = 3"]

    run(main())


def test_with_advertisements_only_what_was_announced_is_routed() -> None:
    async def main() -> None:
        async with serving(router=RouterOptions(advertisements=True)) as broker:
            alice, bob = await Wire.open(broker.port), await Wire.open(broker.port)
            await alice.ask({"op": "subscribe", "filter": "exists x", "id": 1})
            await bob.ask({"op": "advertise", "filter": "x > 3", "id": 1})
            bob.send(publish(x=1), publish(x=5))
            await bob.ask({"op": "unadvertise", "filter": "x > 3", "id": 2})
            await bob.ask({"op": "publish", "n": {"x": 7}, "id": 3})
            assert await alice.read() == publish(x=5)
            assert (await alice.ask({"op": "list", "id": 1}) or {})["op"] == "ok"
            assert broker.router.dropped == 2

    run(main())


def test_bye_ends_the_connection_after_all_before_it() -> None:
    async def main() -> None:
        async with serving() as broker:
            alice, bob = await Wire.open(broker.port), await Wire.open(broker.port)
            await alice.ask({"op": "subscribe", "filter": "exists x", "id": 1})
            bob.send(*(publish(x=i) for i in range(100)), {"op": "bye", "id": 1}, publish(x=100))
            assert await bob.rest() == [{"op": "ok", "id": 1}]
            alice.send({"op": "bye"})
            assert await alice.rest() == [publish(x=i) for i in range(100)]

    run(main())


def test_pings_are_answered_and_silence_ends_a_connection() -> None:
    async def main() -> None:
        async with serving(keepalive=0.3) as broker:
            wire = await Wire.open(broker.port)
            assert await wire.ask({"op": "ping"}) == {"op": "pong"}
            # One that answers stays, for longer than silence may last.
            for _ in range(4):
                assert json.loads(await wire.reader.readline()) == {"op": "ping"}
                wire.send({"op": "pong"})
            assert broker.connections
            assert [each["code"] for each in await wire.rest()] == ["silent"]

    run(main())


def test_a_connection_that_never_says_hello_ends_where_a_token_is_asked_for() -> None:
    async def main() -> None:
        async with serving(keepalive=0.2, token="secret") as broker:
            wire = await Wire.open(broker.port)

            async def talk() -> None:
                while not wire.writer.is_closing():
                    wire.send({"op": "ping"})
                    await asyncio.sleep(0.02)

            talking = asyncio.create_task(talk())
            codes = [each.get("code") for each in await wire.rest()]
            talking.cancel()
            assert codes[-1] == "hello"

    run(main())


def test_a_document_that_cannot_be_read_is_refused_alone() -> None:
    """It used to end the connection as a fault of the broker; on a link, the link."""
    large = {"doc": {f"k{i}": 1 for i in range(50_001)}}

    async def main() -> None:
        async with (
            serving(name="A") as a,
            serving(name="B", neighbours={"A": ("127.0.0.1", a.port)}) as b,
        ):
            alice, bob = await Wire.open(b.port), await Wire.open(a.port)
            dora = await Wire.open(b.port)
            # Covered by the other one, so that A need not know of any path.
            for wire, text in ((alice, "true"), (dora, 'doc path "//k1"')):
                answer = await wire.ask({"op": "subscribe", "filter": text, "id": text})
                assert answer["op"] == "ok"
            await until(lambda: a.router.route({"x": 1}, "bob") == {"B"}, "the subscription at A")
            link = a.links.connection_to("B")
            bob.send(publish(x=1), publish(**large), publish(doc={"k1": 2}))
            assert [await alice.read(), await alice.read()] == [
                publish(x=1),
                publish(doc={"k1": 2}),
            ]
            assert a.links.connection_to("B") is link
            # At the broker itself the one who publishes is told, and the others arrive.
            carl = await Wire.open(b.port)
            refusal = await carl.ask({**publish(**large), "id": 7})
            assert (refusal["code"], refusal["id"]) == ("document", 7)
            carl.send(publish(x=2), publish(**large), publish(x=3))
            assert (await carl.read())["code"] == "document"
            assert [await alice.read(), await alice.read()] == [publish(x=2), publish(x=3)]

    run(main())


def test_documents_in_xml() -> None:
    """They are read where they come in, and travel on as they came."""

    async def main() -> None:
        async with (
            serving(name="A") as a,
            serving(name="B", neighbours={"A": ("127.0.0.1", a.port)}) as b,
        ):
            alice, bob = await Wire.open(b.port), await Wire.open(a.port)
            text = 'doc path "//cpu[@clock >= 700]"'
            answer = await alice.ask({"op": "subscribe", "filter": text, "id": 1})
            assert answer["op"] == "ok"
            fast = {"doc": {"$xml": "<item><cpu clock='800'/></item>"}}
            slow = {"doc": {"$xml": "<item><cpu clock='5'/></item>"}}
            await until(lambda: len(a.router.table) == 1, "the subscription at A")
            bob.send(publish(**slow), publish(**fast), publish(doc={"cpu": {"clock": 900}}))
            assert await alice.read() == publish(**fast)
            assert await alice.read() == publish(doc={"cpu": {"clock": 900}})
            for wrong, message in (
                ("<a>", "doc: not well-formed XML"),
                ("<!DOCTYPE a><a/>", "doc: a document type (DOCTYPE) is refused"),
                ("<a>" * 100_000, "doc: a document is at most 64 levels deep"),
                (f"<a k='{'x' * 1_000_000}'/>", "doc: a document in XML has at most"),
            ):
                refusal = await bob.ask({**publish(doc={"$xml": wrong}), "id": 7})
                assert (refusal["code"], refusal["id"]) == ("document", 7), refusal
                assert message in refusal["text"]
                bob.send(publish(doc={"$xml": wrong}), publish(**fast))
                assert (await bob.read())["code"] == "document"
                assert await alice.read() == publish(**fast)

    run(main())

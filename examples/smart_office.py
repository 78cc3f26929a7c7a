"""A day at a smart office [T 10]: anna moves through it, and nothing that is meant for her is lost.

Every place has a broker: home, the tram, the lobby, the desk, the meeting room and the café, all
around a core. anna is one client, whether she uses her phone or her laptop: changing the device is
a move. Her context is a subscription: as it changes, the new one is added, the old one dropped.
While she is on her way, others go on publishing.

    python examples/smart_office.py --seed 3 --protocol update
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import networkx as nx

import posetlib as pl

PLACES = ("home", "tram", "lobby", "desk", "meeting", "café")

#: What each person gets in a day, by who published it and in that order.
Diary = dict[str, dict[str, list[str]]]


class Office:
    """The network of the office and the people in it."""

    def __init__(self, seed: int, protocol: str, advertisements: bool) -> None:
        graph: nx.Graph[str] = nx.Graph([("core", place) for place in PLACES])
        self.net = pl.Network(graph, advertisements=advertisements, seed=seed, tracing=False)
        self.protocol = protocol
        self._random = random.Random(seed)
        self.contexts: dict[str, str] = {}
        self.story: list[str] = []
        for person, place in (
            ("anna", "home"),
            ("bo", "desk"),
            ("cid", "home"),
            ("agency", "core"),
        ):
            self.net.attach(person, place)
            if advertisements:
                self.net.advertise(person, "exists type")

    def wants(self, person: str, *filters: str) -> None:
        """Subscribe to something for the rest of the day."""
        for each in filters:
            self.net.subscribe(person, each)
        self.net.run()

    def enters(self, person: str, context: str) -> None:
        """Change a person's context: add the new one, and drop the old one once that is known."""
        self.net.subscribe(person, context)
        self.net.run()
        if person in self.contexts:
            self.net.unsubscribe(person, self.contexts[person])
        self.contexts[person] = context
        self.net.run()

    def says(self, person: str, text: str, **attributes: Any) -> None:
        """Publish something; a few messages travel, and others are still under way."""
        self.net.publish(person, {"text": text, **attributes})
        self.net.run(self._random.randrange(4))

    def goes(self, person: str, place: str, *meanwhile: tuple[str, str, dict[str, Any]]) -> None:
        """Move to a place; what others publish meanwhile comes while she is on her way."""
        self.story.append(f"{person} goes to the {place}")
        self.net.leave(person, self.protocol, place)
        for who, text, attributes in meanwhile:
            self.says(who, text, **attributes)
        self.net.arrive(person, place, self.protocol)
        for who, text, attributes in meanwhile:
            self.says(who, f"{text} (again)", **attributes)
        self.net.run(self._random.randrange(6))

    def diary(self) -> Diary:
        """Return what everybody got, by publisher."""
        found: Diary = {}
        for person in self.net.clients:
            got = found.setdefault(str(person), {})
            for each in self.net.deliveries(person):
                got.setdefault(str(each.publisher), []).append(each.notification["text"])
        return found


def day(seed: int = 0, protocol: str = "update", *, advertisements: bool = False) -> Office:
    """Let the day happen; at its end all has been delivered."""
    office = Office(seed, protocol, advertisements)
    office.wants("bo", 'type = "presence"', 'type = "im" and to = "bo"')
    office.wants("anna", 'type = "im" and to = "anna"', 'type = "sync" and project = "fuego"')
    office.enters("bo", 'type = "context" and project = "fuego" and place = "office"')
    office.enters("cid", 'type = "context" and project = "fuego" and place = "home"')

    # 1. On the tram she reads what is urgent.
    office.enters("anna", 'type = "news" and urgency >= 3')
    news: dict[str, Any] = {"type": "news"}
    office.goes(
        "anna",
        "tram",
        ("agency", "election called", {**news, "urgency": 5}),
        ("agency", "weather: mild", {**news, "urgency": 1}),
        ("agency", "tram strike over", {**news, "urgency": 3}),
    )
    # 2. In the lobby her presence changes, and bo hears of it.
    office.goes("anna", "lobby")
    office.says("anna", "anna is in", type="presence", status="free")
    # 3. At the desk the laptop takes the conversation over from the phone.
    office.goes("anna", "desk", ("bo", "coffee?", {"type": "im", "to": "anna"}))
    office.says("anna", "in a minute", type="im", to="bo")
    # 4. All who are present and belong to the project hear of the meeting.
    office.enters("anna", 'type = "context" and project = "fuego" and place = "office"')
    context = {"type": "context", "project": "fuego", "place": "office"}
    office.says("agency", "meeting in 10 minutes", **context)
    # 5. She takes the phone to the meeting, and is busy.
    office.goes("anna", "meeting", ("agency", "meeting room changed", context))
    office.says("anna", "anna is busy", type="presence", status="busy")
    # 6. The secretary lets the project synchronise.
    office.says("bo", "sync minutes.xml", type="sync", project="fuego")
    # 7. Off to lunch: whoever is at the office is asked.
    office.goes("anna", "café", ("bo", "pizza?", context))
    # 8. Home: her presence is gone, and her context.
    office.goes("anna", "home", ("bo", "last call", context))
    office.says("anna", "anna is gone", type="presence", status="gone")
    office.enters("anna", 'type = "context" and project = "fuego" and place = "home"')
    office.says("agency", "office is closed", **context)
    office.net.run()
    return office


def main() -> None:
    """Print what everybody got."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--protocol", default="update")
    parser.add_argument("--advertisements", action="store_true")
    options = parser.parse_args()
    office = day(options.seed, options.protocol, advertisements=options.advertisements)
    for line in office.story:
        print(line)
    for person, got in office.diary().items():
        for publisher, texts in got.items():
            print(f"{person} got from {publisher}: {'; '.join(texts)}")
    print(office.net.audit())


class _Plain(argparse.RawDescriptionHelpFormatter):
    """Shows the text as it stands."""


if __name__ == "__main__":
    main()

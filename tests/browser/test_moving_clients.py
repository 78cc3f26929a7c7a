"""Clients that move on the Network page: their runs as data, and then in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

import posetlib as pl
from browser.config import Limits
from browser.network.comparing import comparison, counts_of
from browser.network.drawing import network_drawing, places_of
from browser.network.examples import RUNS
from browser.network.moving import active_links, advertised_links, queued, stays
from browser.network.player import AS_WRITTEN, Player, Settings, settings_from
from browser.network.run import Run
from browser.network.script import read_script
from browser.pages import network as page
from browser.sources import SourceError
from posetlib.simulation import NETWORK_ALGORITHMS, PROTOCOLS, SAFE_PROTOCOLS
from posetlib.simulation.recipes import RECIPES, Recipe, play

from .driving import Visitor, serving

LIMITS = Limits()
CHAIN = "link B1 B2\nlink B2 B3\nclient ann B1\nclient bob B2\nann subscribe x > 3\nrun\n"


def run_of(text: str, settings: Settings | None = None) -> Run:
    return Run(read_script(text, LIMITS), settings or Settings(), LIMITS)


def example(name: str, **settings: object) -> Run:
    chosen = RUNS[name].settings
    return run_of(RUNS[name].text, Settings(advertisements=chosen.advertisements, **settings))  # type: ignore[arg-type]


def elements(run: Run, number: int, subscription: int | None = None) -> dict[str, dict[str, str]]:
    """Return the classes, label and place of all that is drawn, by id."""
    made = network_drawing(run, number, None, subscription)
    return {
        each["data"]["id"]: {
            "classes": each["classes"],
            "label": each["data"].get("label", ""),
            "tip": each["data"].get("tip", ""),
        }
        for each in made["elements"]
    }


def random_moves(random: Random) -> str:
    """Return a run in which three clients on a random tree move, leave, arrive and publish."""
    brokers = [f"B{i}" for i in range(random.randint(2, 6))]
    lines = [f"link B{random.randrange(i)} B{i}" for i in range(1, len(brokers))]
    here = dict.fromkeys("uvw", True)
    lines += [f"client {each} {random.choice(brokers)}" for each in here]
    for each in here:
        lines.append(f"{each} advertise x > {random.randint(0, 3)}")
        lines.append(f"{each} subscribe x > {random.randint(0, 6)}")
    for _ in range(25):
        who, kind = random.choice("uvw"), random.random()
        if kind < 0.25:
            lines.append(f"{who} {'move' if here[who] else 'arrive'} {random.choice(brokers)}")
            here[who] = True
        elif kind < 0.45 and here[who]:
            lines.append(f"{who} leave {random.choice([*brokers, ''])}")
            here[who] = False
        elif kind < 0.65:
            lines.append(f'{who} publish {{"x": {random.randint(0, 9)}}}')
        else:
            lines.append(f"step {random.randint(1, 4)}")
    return "\n".join(lines)


class TestTheText:
    def test_lines_about_moves(self) -> None:
        script = read_script(
            "# The tree.\nlink B1 B2\nrendezvous B1 x > 0\n# Who is there.\nclient ann B1\n"
            "# She goes,\n# and comes.\nann move B2\nann move B1 by linger\nann leave\n"
            "ann arrive B1\nann leave B2 by prepared\nann arrive B2\nstep B1 B2 direct\n# The end.",
            LIMITS,
        )
        assert [(each.name, each.arguments) for each in script.actions[1:]] == [
            ("move", ("ann", "B2", "")),
            ("move", ("ann", "B1", "linger")),
            ("leave", ("ann", "", "")),
            ("arrive", ("ann", "B1", "")),
            ("leave", ("ann", "B2", "prepared")),
            ("arrive", ("ann", "B2", "")),
            ("step", ("B1", "B2", "direct")),
        ]
        assert script.protocols == ("linger", "prepared")
        assert script.rendezvous == {"B1": (pl.parse_filter("x > 0"),)}
        assert (script.about, script.moral) == ("The tree. Who is there.", "The end.")
        assert [each.caption for each in script.actions] == [
            "",
            "She goes, and comes.",
            *[""] * 6,
        ]

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("ann move", "line 7: move takes a broker: ann move B2"),
            ("ann move B2 B3", "line 7: move takes a broker"),
            ("ann arrive by update", "line 7: arrive takes a broker"),
            ("ann move B9", "line 7: there is no broker B9"),
            ("ann move B2 by car", "line 7: the protocol is one of update"),
            ("step B1 B9 direct", "line 7: there is no broker B9"),
            ("step B1 B2 later", "line 7: step takes nothing"),
            ("rendezvous B1", "line 7: rendezvous takes a broker and a filter"),
            ("move B2", "line 7: who does that?"),
            ("client arrive B1", "line 7: arrive is a word of this text"),
        ],
    )
    def test_what_is_wrong_is_told_with_its_line(self, line: str, words: str) -> None:
        with pytest.raises(SourceError) as caught:
            read_script(CHAIN + line, LIMITS)
        assert words in str(caught.value)

    @pytest.mark.parametrize(
        ("lines", "words"),
        [
            ("ann arrive B2", "line 7: 'ann' is at 'B1'"),
            ("ann leave\nann leave", "line 8: 'ann' is on its way already"),
            ("ann leave\nann subscribe x > 9", "line 8: 'ann' is on its way"),
            ("ann leave B2 by prepared\nann arrive B3 by linger", "line 8: 'ann' left by prepared"),
        ],
    )
    def test_what_only_the_network_knows_has_its_line_too(self, lines: str, words: str) -> None:
        with pytest.raises(SourceError) as caught:
            run_of(CHAIN + lines)
        assert words in str(caught.value)


class TestRecipes:
    @pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each.name)
    def test_each_is_an_example_that_does_what_the_recipe_does(self, recipe: Recipe) -> None:
        network = recipe.network()
        acts = list(play(recipe, network))
        run = example(f"recipe-{recipe.name}")
        assert run.network.events == network.events
        assert run.moments[-1].audit == network.audit()
        assert run.moments[-1].audit.missed == 1
        told = [each.caption for each in run.moments]
        assert told[0].startswith(f"{recipe.title}.")
        assert told[-1].endswith(recipe.moral)
        assert all(told)
        for act in acts:
            assert any(act.caption in each for each in told), act

    @pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each.name)
    @pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
    def test_a_safe_protocol_loses_nothing_there(self, recipe: Recipe, protocol: str) -> None:
        for seed in range(3):
            run = example(f"recipe-{recipe.name}", protocol=protocol, seed=seed)
            audit = run.moments[-1].audit
            assert (audit.due, audit.delivered, audit.missed, audit.unfinished) == (1, 1, 0, 0)
            assert f"All moves are by {protocol} here." in run.notes[0]
            assert recipe.protocol in run.notes[0]


class TestTheRun:
    @pytest.mark.parametrize("protocol", [AS_WRITTEN, *PROTOCOLS])
    @pytest.mark.parametrize("name", ["walk", "recipe-path-update", "recipe-ready"])
    def test_every_moment_is_the_network_at_that_moment(self, name: str, protocol: str) -> None:
        run = example(name, protocol=protocol, seed=5)
        player = Player(run.script, run.settings)
        for moment in run.moments:
            if moment.number:
                assert player.forward() is not None
            network = player.network
            under_way = {
                link: [each.message for each in flights]
                for link, flights in run.queues(moment.number).items()
            }
            assert under_way == {link: list(some) for link, some in network.in_flight.items()}
            assert moment.audit == network.audit()
            assert moment.queued == queued(network)
            assert run.stays(moment.number) == stays(network, run.script.movers)
            assert run.clients(moment.number) == network.clients
            assert moment.reasons or not moment.number
            assert 0 <= moment.origin <= moment.number
        assert player.forward() is None

    @pytest.mark.parametrize("seed", range(24))
    def test_random_moves_are_shown_as_they_are(self, seed: int) -> None:
        random = Random(seed)
        settings = Settings(
            random.choice(NETWORK_ALGORITHMS),
            random.random() < 0.6,
            seed=seed,
            protocol=random.choice(PROTOCOLS),
        )
        run = run_of(random_moves(random), settings)
        player = Player(run.script, run.settings)
        line = int(page.chosen_subscription(run, ""))
        for moment in run.moments:
            if moment.number:
                player.forward()
            flights = run.queues(moment.number)
            under_way = {link: [each.message for each in some] for link, some in flights.items()}
            now = player.network.in_flight
            assert under_way == {link: list(some) for link, some in now.items()}
            drawn = elements(run, moment.number, line)
            assert {each for each in drawn if each.startswith("direct ")} >= {
                f"direct {link[0]} {link[1]}" for link in now if len(link) == 3
            }

    def test_due_is_queued_delivered_or_missed_at_rest_and_in_between(self) -> None:
        run = run_of(f'{CHAIN}ann leave\nbob publish {{"x": 5}}\nrun\nann arrive B3\nrun')
        left = next(each for each in run.moments if each.text == "ann leaves at B1")
        assert left.reasons == ("B1 keeps the session of ann, and queues for it.",)
        waits = next(each for each in run.moments if each.text == "B2 to B1: notify {x: 5}")
        assert (waits.queued, waits.audit.due, waits.audit.delivered) == (1, 1, 0)
        assert waits.reasons == ("It waits for ann, which subscribes to x > 3.",)
        assert not waits.clients
        brought = next(each for each in run.moments if "transfer 1 for ann" in each.text)
        assert brought.clients == ("ann",)
        assert (brought.queued, brought.audit.delivered) == (0, 1)
        assert run.moments[brought.number - 1].queued == 1

    def test_what_a_client_publishes_on_its_way_waits(self) -> None:
        run = run_of(f'{CHAIN}bob leave\nbob publish {{"x": 5}}\nbob arrive B3\nrun')
        moment = next(each for each in run.moments if "publishes" in each.text)
        assert moment.reasons == ("It waits in the outbox of bob until the handover is over.",)
        assert [dict(each.notification) for each in run.network.deliveries("ann")] == [{"x": 5}]

    def test_all_messages_of_a_handover_follow_from_the_move(self) -> None:
        run = run_of(f"{CHAIN}ann move B3\nrun")
        followed = run.followed(7)
        assert followed[0].text == "ann moves to B3"
        assert followed[0].reasons[0].startswith("By update: ")
        assert followed[0].brokers == ("B1", "B3")
        kinds = [each.text.partition(": ")[2].split()[0] for each in followed[1:]]
        assert sorted(kinds) == sorted(["relocate"] * 2 + ["directly,"] + ["done"] * 2)

    def test_a_repeated_ping_follows_from_the_move_too(self) -> None:
        # Without the advertisement of a publisher nothing else is under way when it is sent again.
        run = run_of(f"{CHAIN}ann move B3 by ping-pong\nrun")
        pings = [each for each in run.moments if "ping of ann" in each.text]
        assert pings
        move = next(each for each in run.moments if each.text == "ann moves to B3")
        assert {each.origin for each in pings} == {move.number}

    def test_an_announced_client_comes_from_where_it_left(self) -> None:
        run = run_of(f"{CHAIN}ann leave B3 by prepared\nrun\nann arrive B3\nrun")
        left = next(each for each in run.moments if each.text == "ann leaves at B1")
        assert any(each.startswith("To B3: directly, prepare ann") for each in left.reasons)
        came = next(each for each in run.moments if "arrives" in each.text)
        assert came.text == "ann arrives at B3, from B1"
        assert came.brokers == ("B1", "B3")
        assert came.reasons[0].startswith("By prepared: ")

    def test_a_client_that_comes_back(self) -> None:
        run = run_of(f"{CHAIN}ann leave\nann arrive B1\nann move B1\nrun")
        assert [each.reasons[-1] for each in run.moments[-2:]] == ["ann is at B1 again."] * 2
        assert len(run.network.handovers) == 0

    def test_by_way_of_a_rendezvous_point(self) -> None:
        text = (
            "link M P\nlink M a\nlink M b\nrendezvous M x > 0\nclient pat P\nclient sue a\n"
            "pat advertise x > 0\nsue subscribe x > 3\nrun\n"
            'pat publish {"x": 5}\nsue move b by rendezvous\nrun'
        )
        run = run_of(text, Settings(advertisements=True))
        assert run.network.options["rendezvous"] == {"M": (pl.parse_filter("x > 0"),)}
        assert run.moments[-1].audit.delivered == 1
        assert run.network.audit().faults == 0
        run.network.check()

    def test_settings(self) -> None:
        assert settings_from("covering", [], "fp", 0, "linger").protocol == "linger"
        with pytest.raises(SourceError, match="the protocol is one of as written, update"):
            settings_from("covering", [], "fp", 0, "car")
        assert run_of(CHAIN, Settings(protocol="linger")).notes == (
            "No client moves in this run: linger has no effect.",
        )

    def test_handovers_are_counted_for_every_algorithm(self) -> None:
        script = read_script(RUNS["walk"].text, LIMITS)
        found = counts_of(script, RUNS["walk"].settings)
        assert all(each.handover > 0 for each in found)
        assert "handover messages" in comparison(found, "covering")["columns"]
        without = counts_of(read_script(CHAIN, LIMITS), Settings())
        assert "handover messages" not in comparison(without, "covering")["columns"]


class TestTheDrawing:
    def test_a_client_travels_and_leaves_a_ghost(self) -> None:
        run = run_of(f'{CHAIN}ann leave\nbob publish {{"x": 5}}\nrun\nann arrive B3\nrun')
        number = {each.text: each.number for each in run.moments}
        places = places_of(run.script)

        def position(name: str, step: int) -> tuple[float, float]:
            made = network_drawing(run, step)["elements"]
            at = next(each["position"] for each in made if each["data"]["id"] == name)
            return at["x"], at["y"]

        def rounded(place: tuple[float, float]) -> tuple[float, float]:
            return round(place[0], 1), round(place[1], 1)

        ann = "4"
        assert position(ann, 1) == rounded(places["ann", "B1"])
        left = number["ann leaves at B1"]
        assert position(ann, left) != rounded(places["ann", "B1"])
        assert elements(run, left)[ann]["classes"] == "client actor away"
        waiting = elements(run, number["B2 to B1: notify {x: 5}"])
        assert waiting[ann]["label"] == "ann ✉1"
        arrived = number["ann arrives at B3, from B1"]
        assert position(ann, arrived) == rounded(places["ann", "B3"])
        seen = elements(run, arrived)
        assert seen[ann]["classes"] == "client actor arriving"
        ghost = "ghost ann 0 B1"
        assert (seen[ghost]["label"], seen[ghost]["classes"]) == ("(ann) ✉1", "client ghost away")
        assert position(ghost, arrived) == rounded(places["ann", "B1"])
        handed = next(each for each in number if each.startswith("B2 to B1: relocate ann"))
        closed = elements(run, number[handed])
        assert closed[ghost]["classes"] == "client ghost closed"
        assert not [each for each in elements(run, len(run)) if each.startswith("ghost")]
        assert elements(run, len(run))[ann]["classes"] == "client"

    def test_a_ghost_beside_a_client_that_is_back_and_one_without_a_session(self) -> None:
        run = example("recipe-epochs")
        back = next(each.number for each in run.moments if each.text == "sue moves to a")
        made = network_drawing(run, back)["elements"]
        at = {each["data"]["id"]: each.get("position") for each in made}
        ghosts = [each for each in at if each.startswith("ghost sue")]
        assert len(ghosts) == 2
        assert at["ghost sue 0 a"] != at["6"]
        sue = elements(run, len(run))["6"]
        assert "lost" in sue["classes"]
        assert "no broker has a session for it" in sue["tip"]

    def test_direct_messages_are_bows_beside_the_links(self) -> None:
        run = example("recipe-cover")
        asked = next(each.number for each in run.moments if each.text == "sue moves to b")
        seen = elements(run, asked)
        assert seen["direct b a"]["classes"] == "direct waiting"
        assert seen["on b a direct"]["label"].startswith("… a: request sue")
        assert seen["arrow b a"]["classes"] == "waiting"  # the notification, on the link itself
        made = network_drawing(run, asked)
        assert made["stats"].endswith("2 messages under way on 1 link, 1 of them direct")
        seen = elements(run, asked + 1)
        assert seen["direct b a"]["classes"] == "direct moving"
        assert seen["direct a b"]["classes"] == "direct waiting"

    def test_links_are_active_advertised_or_idle_for_a_subscription(self) -> None:
        run = example("advertisements")
        line = next(each.line for each in run.script.actions if each.text.endswith("[60, 70]"))

        def looks(step: int) -> dict[str, str]:
            seen = elements(run, step, line)
            return {name: each["classes"] for name, each in seen.items() if name[:5] == "link "}

        assert set(looks(0).values()) == {"link idle"}
        legend = "links: thick active, dashed advertised, dotted neither"
        assert network_drawing(run, 0, None, line)["stats"].endswith(legend)
        assert legend not in network_drawing(run, 0)["stats"]
        # The store at B5 advertised it to all; nobody at B3 asks for it.
        assert looks(len(run)) == {
            "link B1 B2": "link active back",
            "link B2 B3": "link advertised",
            "link B2 B4": "link active back",
            "link B4 B5": "link active back",
        }
        before = next(each.number for each in run.moments if "store advertises" in each.text)
        known = [looks(step)["link B4 B5"] for step in range(before, len(run) + 1)]
        assert known[0] == "link idle"
        assert "link advertised" in known
        assert known[-1] == "link active back"

    def test_active_is_what_the_routers_hold(self) -> None:
        run = example("walk")
        wanted = pl.parse_filter("x > 3")
        for number in range(len(run) + 1):
            with run.network_at(number) as network:
                for far, near in active_links(network, wanted):
                    assert any(
                        each.covers(wanted) for each in network.routers[far].subscriptions(near)
                    )
        with run.network_at(len(run)) as network:
            # At rest, what pat publishes at B6 flows to sue at B1, and nowhere else.
            assert active_links(network, wanted) == {("B6", "B3"), ("B3", "B2"), ("B2", "B1")}
            assert not active_links(network, pl.parse_filter("x > 2"))
            # pat's advertisement went from B6 to all others.
            assert advertised_links(network, pl.parse_filter("x = 1")) == {
                ("B6", "B3"),
                ("B3", "B2"),
                ("B2", "B1"),
                ("B3", "B4"),
                ("B4", "B5"),
            }
            assert not advertised_links(network, pl.parse_filter("x = -1"))


class TestThePage:
    def test_the_subscription_whose_links_are_marked(self) -> None:
        run = example("recipe-cover")
        assert page.chosen_subscription(run, "") == "11"
        assert page.chosen_subscription(run, "none") == "none"
        assert page.chosen_subscription(run, "99") == "11"
        options = page.subscription_options(run)
        assert [each["label"] for each in options] == ["no subscription", "sue: x > 0"]
        assert page.chosen_subscription(run_of(CHAIN), "") == "none"
        assert page.chosen_subscription(run_of(CHAIN), "5") == "5"
        assert page.chosen_subscription(example("recipe-ready"), "") != "none"

    def test_cards(self) -> None:
        run = example("recipe-cover")
        lost = str(page.audit_card(run.moments[-1].audit, 3))
        assert "✗ 1 fault" in lost
        assert "Strong('✗ 1')" in lost
        assert "Dt('queued'), Dd('3')" in lost
        asked = next(each.number for each in run.moments if each.text == "sue moves to b")
        card = str(page.client_card(run, "sue", asked, 9))
        assert "old session of sue (stay 0) at a: is not connected, and queues; queued 0" in card
        assert "session of sue (stay 1) at b: waits for the queue of the one before" in card

    def test_the_list_of_brokers_has_the_ghosts_too(self) -> None:
        run = example("recipe-cover")
        asked = next(each.number for each in run.moments if each.text == "sue moves to b")
        rows = {each[0]["text"]: each[2] for each in page.broker_list(run, asked, None)["rows"]}
        assert rows == {"P": "pat", "b": "sue", "a": "(sue)"}

    def test_the_protocol_is_in_the_address(self) -> None:
        view = {"network-protocol": "linger"}
        assert page._settings_of("example:walk", view).protocol == "linger"
        assert page._settings_of("example:walk", {}).protocol == AS_WRITTEN


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as found:
        yield found


@pytest.mark.needs("chromium")
class TestInTheBrowser:
    def test_a_recipe_step_by_step_and_by_a_safe_protocol(
        self, visitor: Visitor, address: str
    ) -> None:
        visitor.open(f"{address}/network")
        visitor.choose(".the-run button", "How cover loses")
        visitor.sees("#network-step_text", "Step 13 of 13")
        visitor.sees("#network-caption", "x = 1 comes to a after the session is closed there")
        visitor.sees("#network-audit", "✗ 1 fault")
        visitor.sees("#network-audit", "sue at b missed publication 1 of pat")
        for _ in range(4):
            visitor.click("#network-back")
        visitor.sees("#network-caption", "sue moves to b, which has subscribed for her already.")
        visitor.until(
            lambda: "arriving" in visitor.classes("network-map", 5), "sue waits for her queue"
        )
        visitor.until(
            lambda: "ghost" in visitor.classes("network-map", "ghost sue 0 a"), "the ghost"
        )
        visitor.tap("network-map", 5)
        visitor.sees("#network-detail", "old session of sue (stay 0) at a")
        visitor.open(
            f"{address}/network?network-run=example:recipe-cover&network-advertisements=yes"
            "&network-algorithm=covering&network-protocol=update"
        )
        visitor.sees("#network-notes", "All moves are by update here.")
        visitor.sees("#network-audit", "✓ no fault")
        assert "delivered" in visitor.text("#network-audit")

    def test_links_are_marked_for_the_chosen_subscription(
        self, visitor: Visitor, address: str
    ) -> None:
        query = "network-run=example:walk&network-step=20"
        visitor.open(f"{address}/network?{query}")
        visitor.draws("network-map", 8, 5)
        visitor.until(
            lambda: {"active", "back"} <= visitor.classes("network-map", "link B3 B6"), "marked"
        )
        visitor.open(f"{address}/network?{query}&network-subscription=none")
        visitor.draws("network-map", 8, 5)
        visitor.until(
            lambda: visitor.classes("network-map", "link B3 B6") == {"link"}, "not marked"
        )

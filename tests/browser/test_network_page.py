"""The Network page: its runs as data, without a browser, and then in a real one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, quote, urlsplit

import networkx as nx
import pytest
from selenium.webdriver.common.keys import Keys

import posetlib as pl
from browser.config import Config, Limits
from browser.network.comparing import bars, comparison, counts_of
from browser.network.drawing import network_drawing, numbers_of, places_of
from browser.network.examples import RUNS
from browser.network.player import Player, Settings, defined, settings_from
from browser.network.run import Run, held
from browser.network.script import read_script
from browser.pages import network as page
from browser.running_broker import Address, read_address, table_of
from browser.sources import SourceError
from browser.state import Library
from posetlib.simulation import NETWORK_ALGORITHMS

from .driving import Visitor, serving
from .files import snapshot_json

LIMITS = Limits()
CHAIN = "link B1 B2\nlink B2 B3\nclient ann B1\nclient bob B3\n"


def run_of(text: str, settings: Settings | None = None, limits: Limits = LIMITS) -> Run:
    return Run(read_script(text, limits), settings or Settings(), limits)


def example(name: str) -> Run:
    return run_of(RUNS[name].text, RUNS[name].settings)


# -- the text --------------------------------------------------------------------------------------


class TestTheText:
    def test_all_that_a_line_can_be(self) -> None:
        script = read_script(
            'types: {"StockQuote": ["Quote"]}\n'
            "# a comment\n\n"
            "master B1\nlink B1 B2\n  link B2 B3\n"
            "client ann B1\n"
            "ann subscribe type isa Quote\nann replace type isa Quote => x > 5\n"
            "ann unsubscribe x > 5\nann advertise y = 1\nann unadvertise y = 1\n"
            'ann publish {"x": 5, "name": "a b"}\n'
            "step\nstep 3\nstep B1 B2\nrun\nbreak B1 B2\nheal B1 B2\nann detach",
            LIMITS,
        )
        assert (script.brokers, script.master) == (("B1", "B2", "B3"), "B1")
        assert script.links == (("B1", "B2"), ("B2", "B3"))
        assert [each.name for each in script.actions] == (
            "attach subscribe replace unsubscribe advertise unadvertise publish step step step run "
            "break_link heal_link detach"
        ).split()
        assert [each.arguments for each in script.actions if each.name == "step"] == [
            (1,),
            (3,),
            ("B1", "B2"),
        ]
        assert script.actions[6].arguments == ("ann", {"x": 5, "name": "a b"})
        assert script.actions[6].line == 13

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "there is no broker"),
            ("link B1", "line 1: link takes two names: link B1 B2"),
            ("link B1 B1", "line 1: a link joins two brokers"),
            ("link B1 B2\nlink B2 B3\nlink B3 B1", "line 3: B3 and B1 are joined already"),
            ("link B1 B2\nlink B3 B4", "no links lead from B1 to B3"),
            ("link B1 B:2", "line 1: B:2 is no name"),
            (f"link B1 {'B' * 40}", "is no name"),
            ("broker", "line 1: broker takes one name"),
            ("broker B1\nmaster B2", "line 2: there is no broker B2"),
            ("broker B1\nmaster B1\nmaster B1", "line 3: B1 is the master already, by line 2"),
            ("broker B1\nclient ann B7", "line 2: there is no broker B7"),
            ("broker B1\nclient B1 B1", "line 2: B1 is a broker"),
            ("broker B1\nclient run B1", "line 2: run is a word of this text"),
            ("broker B1\nclient ann B1\nclient ann B1", "line 3: ann is at B1 already"),
            ("broker B1\nclient ann B1\nbroker ann", "line 3: ann is a client"),
            ("broker B1\nann subscribe x > 3", "line 2: there is no client ann"),
            ("broker B1\nsubscribe x > 3", "line 2: who does that?"),
            ("broker B1\nclient ann B1\nann detach\nann detach", "line 4: ann is gone"),
            ("broker B1\nclient ann B1\nann dances", "line 3: ann can subscribe"),
            ("broker B1\nclient ann B1\nann", "line 3: ann can subscribe"),
            ("broker B1\nclient ann B1\nann subscribe x >", "line 3, column 18"),
            ("broker B1\nclient ann B1\nann replace x > 3 by x > 5", "two filters: x > 3 => x > 5"),
            ("broker B1\nclient ann B1\nann replace x > 3 => x >", "line 3, column 25"),
            ("broker B1\nclient ann B1\nann publish {x: 3}", "line 3, column 14: Expecting"),
            ("broker B1\nclient ann B1\nann publish 3", "line 3: the notification cannot be read"),
            ("broker B1\nrun 3", "line 2: run takes nothing"),
            ("broker B1\nstep many", "line 2: step takes nothing, a number, or two"),
            ("link B1 B2\nstep B1 B9", "line 2: there is no link between B1 and B9"),
            ("link B1 B2\nbreak B1 B9", "line 2: there is no link between B1 and B9"),
            ("types: [1]\nbroker B1", "line 1: "),
        ],
    )
    def test_what_is_wrong_is_told_with_its_line(self, text: str, words: str) -> None:
        with pytest.raises(SourceError) as caught:
            read_script(text, LIMITS)
        assert words in str(caught.value)

    @pytest.mark.parametrize(
        ("limits", "words"),
        [
            (Limits(brokers=2), "line 2: more than 2 brokers"),
            (Limits(clients=1), "line 4: more than 1 clients"),
            (Limits(operations=1), "line 6: more than 1 operations"),
            (Limits(script_chars=20), "characters is longer than the 20"),
            (Limits(filter_chars=4), "line 5: a filter of 5 characters is too long"),
        ],
    )
    def test_what_is_too_much_is_refused(self, limits: Limits, words: str) -> None:
        with pytest.raises(SourceError) as caught:
            read_script(f"{CHAIN}ann subscribe x > 3\nrun", limits)
        assert words in str(caught.value)

    @pytest.mark.parametrize(
        ("lines", "words"),
        [
            ("ann unsubscribe x > 3", "line 5: "),
            ("heal B1 B2", "line 5: the link between 'B1' and 'B2' is not broken"),
            (
                "break B1 B2\nbreak B2 B1",
                "line 6: the link between 'B2'",
            ),
        ],
    )
    def test_what_only_the_network_knows_has_its_line_too(self, lines: str, words: str) -> None:
        with pytest.raises(SourceError) as caught:
            run_of(CHAIN + lines)
        assert words in str(caught.value)

    def test_too_many_deliveries_are_refused(self) -> None:
        text = f"{CHAIN}ann subscribe x > 3\nrun\nbob subscribe x > 4\nrun"
        assert len(run_of(text, limits=Limits(deliveries=4))) == 6
        with pytest.raises(SourceError, match="line 8: more than 3 messages over links"):
            run_of(text, limits=Limits(deliveries=3))


# -- the run ---------------------------------------------------------------------------------------


class TestTheRun:
    @pytest.mark.parametrize("name", RUNS)
    def test_it_is_what_the_network_does(self, name: str) -> None:
        run = example(name)
        script = run.script
        network = pl.Network(
            script.graph(),
            run.settings.algorithm,
            run.settings.advertisements,
            run.settings.seed,
            table=run.settings.table,
            master=script.master,
        )
        for action in script.actions:
            if action.name == "run":
                network.run()
            elif action.name == "step" and len(action.arguments) > 1:
                network.step(action.arguments)
            elif action.name == "step":
                network.run(*action.arguments)
            elif action.name == "leave":
                client, broker, protocol = action.arguments
                network.leave(client, protocol or None, broker or None)
            else:
                getattr(network, action.name)(*action.arguments)
        network.run()
        assert run.network.events == network.events
        assert [each.message for each in run.moments if each.link] == [
            each.message for each in network.events
        ]
        assert run.moments[-1].audit == network.audit()
        assert run.network.messages == network.messages
        for broker in script.brokers:
            assert run.held(broker, len(run)) == held(network.routers[broker])
        assert run.queues(len(run)) == {}

    @pytest.mark.parametrize("name", ["race", "advertisements", "merging", "walk"])
    def test_every_moment_is_the_network_at_that_moment(self, name: str) -> None:
        run = example(name)
        player = Player(run.script, run.settings)
        for moment in run.moments:
            if moment.number:
                assert player.forward() is not None
            network = player.network
            under_way = {
                link: tuple(each.message for each in flights)
                for link, flights in run.queues(moment.number).items()
            }
            assert under_way == network.in_flight
            assert moment.audit == network.audit()
            assert run.clients(moment.number) == network.clients
            assert run.sizes(moment.number) == {
                broker: len(router.table) for broker, router in network.routers.items()
            }
        assert player.forward() is None

    def test_going_back_finds_the_same_tables(self) -> None:
        run = example("forwards")
        at_the_end = run.held("R", len(run))
        first = [str(each.filter) for each in run.held("R", 3)]
        assert first == ["x in [0, 50]"]
        assert run.held("R", len(run)) == at_the_end

    def test_a_client_that_moves_and_a_link_that_breaks(self) -> None:
        run = run_of(
            f"{CHAIN}ann subscribe x > 3\nstep\nbreak B2 B3\nrun\nann detach\nclient ann B2\n"
            'ann subscribe x > 4\nheal B2 B3\nrun\nbob publish {"x": 5}'
        )
        texts = [each.text for each in run.moments]
        broke = next(i for i, each in enumerate(texts) if "breaks" in each)
        assert run.broken(broke) == {("B2", "B3"), ("B3", "B2")}
        assert run.broken(broke - 1) == frozenset()
        assert run.queues(broke) == {}
        assert run.queues(broke - 1)
        left = texts.index("ann leaves for good at B1")
        assert run.clients(left) == {"bob": "B3", "ann": "B2"}  # the next line attaches it again
        assert run.broken(len(run)) == frozenset()
        assert [dict(each.notification) for each in run.network.deliveries("ann")] == [{"x": 5}]

    def test_a_step_of_one_link_delivers_there(self) -> None:
        run = run_of(f"{CHAIN}ann subscribe x > 3\nbob subscribe y > 3\nstep B3 B2")
        assert run.moments[3].link == ("B3", "B2")
        assert run_of(f"{CHAIN}ann subscribe x > 3\nstep B3 B2").moments[2].link == ("B1", "B2")

    def test_each_delivery_is_traced_to_its_operation(self) -> None:
        run = example("forwards")
        assert [each.link for each in run.followed(14)] == [None, ("I3", "R")]
        published = run.followed(16)
        assert [each.link for each in published][1:] == [("I3", "R"), ("R", "I1"), ("R", "I2")]
        assert [each.clients for each in published] == [("eve",), (), ("ann",), ("ben",)]
        assert sum(len(run.followed(each.line)) for each in run.origins()) == len(run)


class TestReasons:
    def test_the_worked_example_of_the_forwards_sets(self) -> None:
        run = example("forwards")
        removal = next(
            each for each in run.moments if each.text == "I1 to R: unsubscribe x in [0, 50]"
        )
        covered = "nothing else that is sent there covers it."
        assert removal.reasons == (
            "To I2: unsubscribe x in [0, 50]: nobody asks for it any more.",
            f"To I2: subscribe x in [20, 30]: I3 asked for it; {covered}",
            "To I3: unsubscribe x in [0, 50]: nobody asks for it any more.",
            f"To I3: subscribe x in [10, 40]: I2 asked for it; {covered}",
        )
        before = {str(each.filter): each.sent_to for each in run.held("R", removal.number - 1)}
        assert before == {
            "x in [0, 50]": ("I2", "I3"),
            "x in [60, 100]": ("I2", "I3"),
            "x in [10, 40]": ("I1",),
            "x in [70, 90]": ("I1",),
            "x in [20, 30]": (),
        }
        after = {str(each.filter): each.sent_to for each in run.held("R", removal.number)}
        assert after["x in [10, 40]"] == ("I1", "I3")
        assert after["x in [20, 30]"] == ("I2",)

    @pytest.mark.parametrize("table", ["fp", "nrf"])
    def test_a_forest_forgets_orders_and_sends_the_same(self, table: str) -> None:
        run = run_of(RUNS["orders"].text, Settings(table=table))
        told = run.moments[-1].text
        assert told == "R to c: unsubscribe x in [20, 60]; subscribe x in [30, 50]"

    @pytest.mark.parametrize(
        ("name", "step", "words"),
        [
            ("identity", 6, "Not to B4: price > 10: it was sent there before."),
            ("identity", 9, "To B1: subscribe price in [20, 30]: B4 asked for it; nothing equal"),
            ("identity", 12, "Not to B2: price > 10: it was sent there before."),
            ("identity", 17, "Not to B2: price > 10: S4 asks for it still."),
            ("identity", 19, "To B3: unsubscribe price > 10: nobody but B3 asks for it any more."),
            ("race", 3, "It ends here: nobody else asked for it."),
            ("race", 5, "To B2, which asked for x > 3."),
            ("race", 7, "To ann, which subscribes to x > 3."),
            ("advertisements", 7, "Not to B2: price in [60, 70]: nothing that was advertised"),
            ("advertisements", 13, "ann asked for it; B2 advertised price in [40, 90]"),
            ("advertisements", 20, "It goes nowhere: shop has not advertised it."),
            ("advertisements", 27, "B3 advertises nothing any more that overlaps it."),
            ("hierarchy", 2, "Not to l2: x in [0, 9]: subscriptions go up to the master only."),
            ("hierarchy", 8, "To top, the master, which gets every notification."),
            ("merging", 5, "it stands for x in [0, 10] and x in [10, 20]"),
            ("merging", 13, "To B2: unsubscribe x in [0, 20]: nobody asks for all of it any more."),
        ],
    )
    def test_words_for_what_happens(self, name: str, step: int, words: str) -> None:
        assert any(words in each for each in example(name).moments[step].reasons)

    def test_flooding_tells_nobody_and_sends_everywhere(self) -> None:
        run = run_of(RUNS["race"].text, Settings("flooding"))
        assert run.moments[1].reasons == (
            "Nobody is told: with flooding every notification goes everywhere.",
        )
        assert "To B2: flooding sends every notification everywhere." in run.moments[2].reasons

    @pytest.mark.parametrize("algorithm", NETWORK_ALGORITHMS)
    @pytest.mark.parametrize("name", RUNS)
    def test_every_message_has_a_reason(self, name: str, algorithm: str) -> None:
        run = run_of(RUNS[name].text, Settings(algorithm, RUNS[name].settings.advertisements))
        for moment in run.moments[1:]:
            assert moment.reasons, moment
            sent = [each for each in run.flights if each.sent == moment.number]
            for flight in sent:
                named = [each for each in moment.reasons if each.startswith(f"To {flight.link[1]}")]
                assert named, (moment, flight)


class TestSettings:
    def test_combinations_that_are_not_defined_are_explained(self) -> None:
        script = read_script(RUNS["race"].text, LIMITS)
        used, note = defined(script, Settings("flooding", advertisements=True))
        assert used == Settings("flooding")
        assert "without advertisements, since flooding sends every notification" in note
        run = run_of(RUNS["hierarchy"].text, Settings(advertisements=True))
        assert not run.settings.advertisements
        assert "a router with a master" in run.notes[0]

    def test_notes_about_advertisements(self) -> None:
        assert run_of(RUNS["advertisements"].text, Settings()).notes == (
            "Without advertisements, 3 lines about them have no effect.",
        )
        assert "no line advertises" in run_of(CHAIN, Settings(advertisements=True)).notes[0]
        assert example("advertisements").notes == ()

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            (("quick", [], "fp", 0), "the algorithm is one of flooding"),
            (("simple", [], "pf", 0), "the table is one of fp, nrf"),
            (("simple", [], "fp", None), "the seed is a whole number"),
            (("simple", [], "fp", "12345678901"), "the seed is a whole number"),
            (("simple", [], "fp", -1), "the seed is a whole number"),
        ],
    )
    def test_what_is_no_setting(self, values: tuple[object, ...], words: str) -> None:
        with pytest.raises(SourceError, match=words):
            settings_from(*values)

    def test_the_seed_orders_the_deliveries(self) -> None:
        runs = [run_of(RUNS["forwards"].text, Settings(seed=seed)) for seed in range(6)]
        assert len({tuple(each.text for each in run.moments) for run in runs}) > 1
        assert len({run.network.audit().delivered for run in runs}) == 1


# -- what is seen ----------------------------------------------------------------------------------


class TestTheDrawing:
    def test_who_is_there_and_what_is_under_way(self) -> None:
        run = example("race")
        made = network_drawing(run, 2)
        by_id = {each["data"]["id"]: each for each in made["elements"]}
        numbers = numbers_of(run.script)
        assert numbers == {"B1": 1, "B2": 2, "B3": 3, "ann": 4, "bob": 5}
        assert by_id["2"]["classes"] == "broker here"
        assert by_id["2"]["data"]["label"] == "B2\n1 filter"
        assert by_id["arrow B1 B2"]["classes"] == "moving"
        assert by_id["arrow B2 B3"]["classes"] == "waiting"
        assert by_id["on B1 B2"]["data"]["label"] == "▶ B2: + x > 3"
        assert by_id["on B2 B3"]["data"]["label"] == "… B3: + x > 3"
        assert made["stats"] == "3 brokers · 2 clients · 1 message under way on 1 link"
        assert json.loads(json.dumps(made)) == made
        notified = network_drawing(run, len(run), followed=10)
        by_id = {each["data"]["id"]: each for each in notified["elements"]}
        assert by_id["4"]["classes"] == "client matched"
        assert by_id["4"]["data"]["label"] == "✓ ann"
        assert by_id["link B1 B2"]["classes"] == "link way"
        assert "passed" in by_id["3"]["classes"]
        assert notified["stats"].endswith("nothing is under way")
        half = {each["data"]["id"]: each for each in network_drawing(run, 2, 6)["elements"]}
        assert half["link B1 B2"]["classes"] == "link way"
        assert half["link B2 B3"]["classes"] == "link"

    def test_queues_are_counted_and_broken_links_seen(self) -> None:
        run = run_of(f"{CHAIN}ann subscribe x > 3\nann subscribe y > 3\nstep\nbreak B2 B3")
        by_id = {each["data"]["id"]: each for each in network_drawing(run, 2)["elements"]}
        assert by_id["on B1 B2"]["data"]["label"] == "… B2: + x > 3 +1"
        by_id = {each["data"]["id"]: each for each in network_drawing(run, 4)["elements"]}
        assert by_id["link B2 B3"]["classes"] == "link broken"

    @pytest.mark.parametrize("brokers", [1, 2, 7, 40, 60])
    @pytest.mark.parametrize("shape", ["path", "star", "random"])
    @pytest.mark.parametrize("master", [False, True])
    def test_no_two_lie_on_each_other(self, brokers: int, shape: str, *, master: bool) -> None:
        above = {"path": lambda n: n - 1, "star": lambda _: 0, "random": lambda n: (7 * n) % n}
        lines = ["broker B0", *(f"link B{above[shape](n)} B{n}" for n in range(1, brokers))]
        lines += [f"client c{n} B{n % brokers}" for n in range(brokers)]
        script = read_script("\n".join([*lines, *(["master B0"] if master else [])]), LIMITS)
        places = list(places_of(script).values())
        assert len(places) == 2 * brokers
        for i, (x, y) in enumerate(places):
            for other, below in places[:i]:
                # A broker is 120 wide and 64 high, a client 118 and 38.
                assert abs(x - other) > 100 or abs(y - below) > 40

    def test_a_hierarchy_is_drawn_from_above(self) -> None:
        places = places_of(read_script(RUNS["hierarchy"].text, LIMITS))
        assert places["top"][1] < places["left"][1] < places["l1"][1] < places["ann", "l1"][1]


class TestTheCounts:
    @pytest.mark.parametrize("name", ["forwards", "tree"])
    def test_they_are_the_networks_own(self, name: str) -> None:
        script = read_script(RUNS[name].text, LIMITS)
        found = counts_of(script, Settings())
        assert [each.algorithm for each in found] == list(NETWORK_ALGORITHMS)
        for each in found:
            network = run_of(RUNS[name].text, Settings(each.algorithm)).network
            assert each.control == sum(network.messages.values()) - network.messages["notify"]
            assert each.notifications == network.messages["notify"]
            assert each.held == sum(sum(size) for size in network.table_sizes().values())
            assert (each.delivered, each.faults) == (network.audit().delivered, 0)
        by_name = {each.algorithm: each for each in found}
        assert by_name["covering"].control < by_name["identity"].control
        assert by_name["flooding"].control == 0

    def test_rows_and_bars(self) -> None:
        script = read_script(RUNS["advertisements"].text, LIMITS)
        found = counts_of(script, Settings(advertisements=True))
        made = comparison(found, "covering")
        assert made["rows"][0][0] == "flooding *"
        assert "flooding sends every notification" in made["note"]
        assert "advertise" in made["columns"]
        assert made["classes"].count("picked") == 1
        assert "advertise" not in comparison(counts_of(script, Settings()), "simple")["columns"]
        drawn = bars(found, "notifications")
        assert max(share for _, _, share in drawn) == 1.0
        assert [value for _, value, _ in drawn] == [each.notifications for each in found]
        assert bars([], "held") == []


class TestThePage:
    def library(self) -> Library:
        return Library(Config())

    def test_a_run_is_computed_once(self) -> None:
        library = self.library()
        source = library.keep_run(RUNS["race"].text)
        assert library.run(source, Settings()) is library.run(source, Settings())
        assert library.run(source, Settings()) is not library.run(source, Settings(seed=1))
        assert library.counts(source, Settings()) is library.counts(source, Settings("simple"))

    def test_a_long_text_is_kept_by_its_hash(self) -> None:
        library = self.library()
        text = RUNS["tree"].text + "# more\n" * 400
        source = library.keep_run(text)
        assert source.startswith("doc:")
        assert library.run_text(source) == text
        with pytest.raises(SourceError, match="no longer held"):
            library.run_text("doc:0")
        with pytest.raises(SourceError, match="there is no run"):
            library.run_text("example:none")

    def test_what_an_address_cannot_show_is_told(self) -> None:
        view = {"network-run": "text:link B1"}
        made = str(page.layout(self.library(), {}, view))
        assert "cannot be shown: line 1: link takes two names" in made
        view = {"network-run": "example:race", "network-algorithm": "quick"}
        assert "the algorithm is one of" in str(page.layout(self.library(), {}, view))

    def test_the_link_to_the_tables_page_opens_that_table(self) -> None:
        library = self.library()
        run = example("forwards")
        address = page.table_address(run, run.held("R", 16))
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        story = library.story(query)
        assert len(story.frame("fp", len(story)).graph.nodes) == 5
        assert story.interfaces == ["I1", "I2", "I3"]
        assert page.table_address(run, []) == ""

    def test_types_go_along_to_the_tables_page(self) -> None:
        run = run_of('types: {"B": ["A"]}\nbroker B1\nclient ann B1\nann subscribe type isa B\n')
        address = page.table_address(run, run.held("B1", 1))
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert len(self.library().story(query)) == 1

    def test_the_settings_of_an_example_hold_until_one_is_chosen(self) -> None:
        read = page._settings_of
        assert read("example:advertisements", {}) == Settings(advertisements=True)
        assert read("example:advertisements", {"network-algorithm": "simple"}) == Settings("simple")
        assert read("example:orders", {"network-seed": "3"}) == Settings(table="nrf", seed=3)

    def test_cards(self) -> None:
        run = example("race")
        assert "2 steps of it still to come" in str(page.followed_card(run, 10, 5))
        assert "It has not begun yet" in str(page.followed_card(run, 10, 0))
        assert "delivered to ann" in str(page.moment_card(run.moments[-1]))
        assert "✓ no fault" in str(page.audit_card(run.moments[-1].audit))
        bad = str(page.audit_card(pl.Audit(due=2, missed=1, witnesses=("ann missed it",))))
        assert "✗ 1 fault" in bad
        assert "ann missed it" in bad
        card = str(page.client_card(run, "ann", len(run), 9))
        assert "publication 2 of bob" in card


# -- a broker that runs ----------------------------------------------------------------------------


class _Broker(BaseHTTPRequestHandler):
    """Stands for a broker: answers with what the test puts into ``answer``."""

    answer: tuple[int, bytes] = (200, b"")

    def do_GET(self) -> None:
        status, content = type(self).answer if self.path == "/table" else (404, b"")
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def broker() -> Iterator[Address]:
    with HTTPServer(("127.0.0.1", 0), _Broker) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Address("127.0.0.1", server.server_port)
        server.shutdown()
        thread.join()


class TestARunningBroker:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("7001", "is no address"),
            (":7001", "is no address"),
            ("127.0.0.1:", "has no port"),
            ("127.0.0.1:70000", "has no port"),
            ("127.0.0.1/x:80", "is no address"),
            ("user@127.0.0.1:80", "is no address"),
            ("203.0.113.9:80", "is not this machine"),
            ("broker.example:80", "is not this machine"),
        ],
    )
    def test_what_is_no_address_here(self, text: str, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            read_address(text)

    def test_addresses(self) -> None:
        assert read_address("localhost:80") == ("localhost", 80)
        assert str(read_address("[::1]:80")) == "[::1]:80"
        assert read_address("203.0.113.9:80", remote=True) == ("203.0.113.9", 80)

    def test_its_table_is_a_source(self, broker: Address) -> None:
        _Broker.answer = (200, snapshot_json("nrf").encode())
        library = Library(Config(broker=broker))
        recipe = library.ask_broker()
        story = library.story(recipe)
        assert len(story) == 5
        assert story.source.title == f"broker {broker}"
        assert story.source.snapshot is not None
        _Broker.answer = (200, snapshot_json("nrf", [("x > 1", "I1")]).encode())
        assert len(library.story(recipe)) == 5
        assert len(library.story(library.ask_broker())) == 1

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            ((500, b""), "answers 500 where its table should be"),
            ((302, b""), "answers 302"),
            ((200, b"x" * 2_000), "has a table of more than 1,000 bytes"),
        ],
    )
    def test_other_answers_are_told(
        self, broker: Address, answer: tuple[int, bytes], words: str
    ) -> None:
        _Broker.answer = answer
        with pytest.raises(SourceError, match=words):
            table_of(broker, Limits(broker_bytes=1_000))

    def test_what_is_no_snapshot_is_told(self, broker: Address) -> None:
        _Broker.answer = (200, b"hello")
        library = Library(Config(broker=broker))
        with pytest.raises(SourceError, match=f"broker {broker}: "):
            library.story(library.ask_broker())

    def test_one_that_is_not_there_or_says_nothing(self) -> None:
        with HTTPServer(("127.0.0.1", 0), _Broker) as server:
            address = Address("127.0.0.1", server.server_port)
            # It listens, and nobody answers.
            with pytest.raises(SourceError, match=r"did not answer within 0\.2 seconds"):
                table_of(address, Limits(broker_seconds=0.2))
        with pytest.raises(SourceError, match="does not answer"):
            table_of(address, LIMITS)

    def test_without_one_the_button_has_nothing_to_ask(self) -> None:
        with pytest.raises(SourceError, match="no broker was given"):
            Library(Config()).ask_broker()
        with pytest.raises(SourceError, match="no longer held"):
            Library(Config()).story({"from": "broker", "doc": "0"})


def test_a_large_run_stays_within_its_limits() -> None:
    lines = [f"link B{n // 2} B{n}" for n in range(2, 51)]
    lines += [f"client c{n} B{n}" for n in range(1, 51)]
    lines += [f"c{n % 50 + 1} subscribe x in [{n}, {n + 20}]" for n in range(40)]
    lines += ["run", *(f'c{n} publish {{"x": {2 * n}}}' for n in range(1, 21)), "run"]
    run = run_of("\n".join(lines))
    assert run.network.audit().faults == 0
    assert nx.is_tree(run.script.graph())
    assert len(network_drawing(run, len(run) // 2)["elements"]) > 150


# -- in a real browser -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain_address() -> Iterator[str]:
    with serving() as found:
        yield found


@pytest.mark.needs("chromium")
class TestInTheBrowser:
    def test_a_message_step_by_step(self, visitor: Visitor, plain_address: str) -> None:
        visitor.open(f"{plain_address}/network?network-run=example:race&network-step=4")
        visitor.draws("network-map", 5, 2)
        assert not visitor.one("#sources").is_displayed()
        visitor.sees("#network-step_text", "Step 4 of 7 (line 9): B2 to B3: subscribe x > 3")
        visitor.click("#network-forward")
        visitor.sees("#network-moment", "To B2, which asked for x > 3.")
        visitor.click("#network-last")
        visitor.sees("#network-moment", "✓ delivered to ann")
        visitor.until(lambda: "matched" in visitor.classes("network-map", 4), "ann is notified")
        visitor.sees("#network-audit", "✓ no fault")
        visitor.press("#network-step [role=slider]", Keys.HOME)
        visitor.sees("#network-moment", "Nothing has happened yet")
        visitor.click("#network-play")
        visitor.sees("#network-step_text", "Step 7 of 7")
        visitor.until(lambda: "network-step=7" in visitor.driver.current_url, "the URL")

    def test_tables_of_a_broker_by_pointer_and_list(
        self, visitor: Visitor, plain_address: str
    ) -> None:
        visitor.open(f"{plain_address}/network?network-run=example:forwards&network-step=16")
        visitor.draws("network-map", 7, 3)
        visitor.tap("network-map", 1)
        text = visitor.sees("#network-detail", "x in [60, 100]")
        assert "I2, I3" in text
        visitor.press("#network-rows tbody tr:nth-of-type(2) button", Keys.ENTER)
        visitor.sees("#network-detail", "ann")
        visitor.until(lambda: "network-node=2" in visitor.driver.current_url, "the URL")
        shared = visitor.driver.current_url
        visitor.open(shared)
        visitor.sees("#network-step_text", "Step 16 of 24")
        visitor.sees("#network-detail", "ann")
        visitor.choose("#network-detail a", "Open this table")
        visitor.draws("tables-fp", 4)

    def test_text_examples_and_settings(self, visitor: Visitor, plain_address: str) -> None:
        visitor.open(f"{plain_address}/network")
        visitor.sees("#network-comparison", "imperfect-merging")
        assert "Notifications over links" in visitor.text("#network-bars")
        visitor.choose(".the-run button", "With advertisements")
        visitor.sees("#network-step_text", "of 32")
        visitor.draws("network-map", 8, 4)
        visitor.click("#network-advertisements input")
        visitor.sees("#network-notes", "Without advertisements, 3 lines about them have no effect.")
        visitor.until(lambda: "network-advertisements" not in visitor.driver.current_url, "the URL")
        field = visitor.one("#network-script")
        field.click()
        field.send_keys(Keys.CONTROL, Keys.END)
        field.send_keys("\nann dances")
        visitor.click("#network-use_script")
        visitor.sees("#network-problem", "ann can subscribe")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys("link A B\nclient eve A\neve subscribe x > 1")
        visitor.click("#network-use_script")
        visitor.draws("network-map", 3, 1)
        visitor.sees("#network-step_text", "Step 2 of 2")
        assert visitor.text("#network-problem") == ""
        visitor.until(lambda: "eve+subscribe" in visitor.driver.current_url, "the text in the URL")

    def test_a_followed_operation(self, visitor: Visitor, plain_address: str) -> None:
        query = "network-run=example:forwards&network-step=20&network-follow=16"
        visitor.open(f"{plain_address}/network?{query}")
        visitor.draws("network-map", 7, 3)
        text = visitor.sees("#network-followed", "To ben, which subscribes to x in [10, 40].")
        assert "To I1, which asked for x in [0, 50]." in text
        assert "passed" in visitor.classes("network-map", 1)

    def test_what_cannot_be_shown_is_told(self, visitor: Visitor, plain_address: str) -> None:
        bad = quote("text:link A B\nann subscribe x > 3")
        visitor.open(f"{plain_address}/network?network-run={bad}")
        visitor.sees("#network-problem", "line 2: there is no client ann")
        visitor.draws("network-map", 7, 3)

    def test_a_running_broker_is_open_and_refreshed(
        self, visitor: Visitor, broker: Address
    ) -> None:
        _Broker.answer = (200, snapshot_json("fp").encode())
        with serving(broker=str(broker)) as found:
            visitor.open(found)
            visitor.draws("tables-file", 5, 3)
            visitor.sees("#source-title", f"broker {broker}")
            _Broker.answer = (200, snapshot_json("fp", [("x > 1", "I1"), ("x > 5", "I2")]).encode())
            visitor.click("#open-broker")
            visitor.draws("tables-file", 2, 1)
            _Broker.answer = (500, b"")
            visitor.click("#open-broker")
            visitor.told(f"the broker at {broker} answers 500")
            visitor.draws("tables-file", 2, 1)
            visitor.leave()

    def test_a_broker_that_is_not_there(self, visitor: Visitor) -> None:
        with HTTPServer(("127.0.0.1", 0), _Broker) as server:
            address = f"127.0.0.1:{server.server_port}"
        with serving(broker=address) as found:
            visitor.open(found)
            visitor.told(f"the broker at {address} does not answer")
            visitor.drawn("tables-fp")
            visitor.leave()

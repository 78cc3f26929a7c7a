"""Paths: what they match, their normal form, covering in both directions, mergers, witnesses."""

from __future__ import annotations

import itertools
import json
import pickle
import random

import pytest

import posetlib as pl
from tests.filters.lawbook import check_laws
from tests.models.oracle import (
    covers_exactly,
    forests,
    holds,
    random_document,
    random_path,
)

path = pl.DocumentPath


def random_paths(count: int, seed: int, **options: object) -> list[pl.DocumentPath]:
    draw = random.Random(seed)
    return [path(random_path(draw, **options)) for _ in range(count)]  # type: ignore[arg-type]


SEEDS = range(3)


class TestMatching:
    @pytest.mark.parametrize("seed", SEEDS)
    def test_one_pass_agrees_with_trying_every_place(self, seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(1_500):
            text = random_path(draw, branches=0.3, conditions=True)
            document = random_document(draw, nodes=9)
            assert path(text).matches(document) == holds(text, document), (
                seed,
                text,
                str(document),
            )

    def test_the_example_of_the_language(self) -> None:
        f = pl.parse_filter('type = "order" and doc path "//item[./cpu[clock >= 700]]/board"')
        good = pl.read_xml("<list><item><cpu clock='700'/><board/></item></list>")
        assert f.matches({"type": "order", "doc": good})
        assert not f.matches(
            {"type": "order", "doc": pl.read_xml("<item><cpu clock='700'/></item>")}
        )
        assert not f.matches({"type": "order", "doc": "<item/>"})
        assert f.matches({"type": "order", "doc": {"item": [{"cpu": {"clock": 701}, "board": 1}]}})

    def test_the_literal_decides_what_text_is_read_as(self) -> None:
        document = pl.read_xml("<a id='1234' clock='0700' price='19.99'>5</a>")
        for text in (
            "/a[@id = '1234']",
            "/a[@clock >= 700]",
            "/a[id = 1234]",
            "/a[. = 5]",
            "/a[. = '5']",
            "/a[price = 19.99]",
            "/a[price <= 19.99 and clock is number]",
        ):
            assert path(text).matches(document), text
        for text in ("/a[clock = '700']", "/a[id > 1234]", "/a[. is bool]", "/a[name = 'x']"):
            assert not path(text).matches(document), text

    def test_never_exponential(self) -> None:
        names = ["a"] * 40
        document = pl.Document(names, list(range(-1, 39)), [{} for _ in names])
        assert not path("//a//a//a//a//a//a//a//a//a//a//b").matches(document)

    def test_two_nodes_may_meet_two_conditions(self) -> None:
        # They are two paths, not one with both conditions: two cpus may share the work.
        both = pl.parse_filter('d path "//cpu[x = 1]" and d path "//cpu[y = 1]"')
        assert both.matches({"d": {"cpu": [{"x": 1}, {"y": 1}]}})
        assert not pl.parse_filter('d path "//cpu[x = 1 and y = 1]"').matches(
            {"d": {"cpu": [{"x": 1}, {"y": 1}]}}
        )

    def test_fields_of_one_element_of_a_list_belong_together(self) -> None:
        one = path("/person[./first[. = 'Anna']][./last[. = 'Jones']]")
        people = {"person": [{"first": "Anna", "last": "Smith"}, {"first": "Bo", "last": "Jones"}]}
        assert not one.matches(people)
        assert one.matches({"person": [{"first": ["Bo", "Anna"], "last": "Jones"}]})


class TestNormalForm:
    @pytest.mark.parametrize(
        ("written", "normal"),
        [
            ("/a/*//b", "/a//*/b"),
            ("/a//*/b", "/a//*/b"),
            ("//*", "/*"),
            ("/a//*", "/a/*"),
            ("/a/*/*", "/a/*/*"),
            ("/a[./b]", "/a/b"),
            ("/a[./b][.//b]", "/a/b"),
            ("/a[./b/c]/b", "/a/b/c"),
            ("/a[./*]/b", "/a/b"),
            ("/a[./b]//c", "/a[.//c]/b"),
            ("/*[./b]/c", "/*[./b]/c"),
            ("/a[@x = 1][y = 'q']", "/a[x = 1 and y = 'q']"),
            ("/`a b`/`{ns}c`", "/`a b`/`{ns}c`"),
            ("/a[x in [1, 5)]/b", "/a[x in [1, 5)]/b"),
            ("/a[s = 'it\\'s \"so\"']", "/a[s = 'it\\'s \"so\"']"),
            ("/a[true]", "/a"),
            ("/a[. = 5 or . = 7]", "/a[. in {5, 7}]"),
        ],
    )
    def test_text(self, written: str, normal: str) -> None:
        assert path(written).text == normal
        assert path(normal) == path(written)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_means_what_was_written(self, seed: int) -> None:
        draw = random.Random(100 + seed)
        for _ in range(250):
            text = random_path(draw, branches=0.4, conditions=True)
            normal = path(text).text
            assert path(normal).text == normal, (seed, text)
            for _ in range(5):
                document = random_document(draw)
                assert holds(text, document) == holds(normal, document), (seed, text, normal)

    def test_without_branches_and_conditions_one_meaning_has_one_form(self) -> None:
        forms = {path(text) for text in all_texts(3)}
        documents = list(forests(4, "abz"))
        meanings = {}
        for each in forms:
            key = tuple(each.matches(document) for document in documents)
            assert meanings.setdefault(key, each) == each
        assert len(meanings) == len(forms) > 100

    def test_round_trips(self) -> None:
        for each in random_paths(200, 7, branches=0.4, conditions=True):
            f = pl.Filter({"doc": each})
            assert pl.parse_filter(str(f)) == f
            assert pl.Filter.from_dict(json.loads(json.dumps(f.to_dict()))) == f
            assert pickle.loads(pickle.dumps(f)) == f


def all_texts(steps: int) -> list[str]:
    single = [axis + name for axis in ("/", "//") for name in "ab*"]
    found = []
    for count in range(1, steps + 1):
        found += ["".join(each) for each in itertools.product(single, repeat=count)]
    return found


class TestCovering:
    """docs/models.md says in which fragments covering is exact; everywhere it is sound."""

    @pytest.mark.parametrize(
        "options",
        [
            {"steps": 4},
            {"steps": 4, "branches": 0.4, "stars": False},
        ],
        ids=["one path", "branches without *"],
    )
    @pytest.mark.parametrize("seed", SEEDS)
    def test_exact(self, seed: int, options: dict[str, object]) -> None:
        paths = [each for each in random_paths(60, seed, **options) if each.text.count("//") <= 4]
        covering = 0
        for one, other in itertools.product(paths[:45], repeat=2):
            found = one.covers(other)
            covering += found
            assert found == covers_exactly(one, other), (seed, one.text, other.text)
        assert covering > len(paths)

    def test_exact_with_one_condition_in_each(self) -> None:
        draw = random.Random(5)
        for _ in range(1_500):
            one, other = (with_one_condition(draw) for _ in range(2))
            assert one.covers(other) == covers_exactly(one, other), (one.text, other.text)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_sound_with_everything(self, seed: int) -> None:
        draw = random.Random(200 + seed)
        paths = random_paths(70, seed, steps=3, branches=0.5, conditions=True)
        documents = [random_document(draw, nodes=7) for _ in range(250)]
        matched = [[each.matches(document) for document in documents] for each in paths]
        for (i, one), (j, other) in itertools.product(enumerate(paths), repeat=2):
            if one.covers(other):
                wrong = [d for d in range(len(documents)) if matched[j][d] and not matched[i][d]]
                assert not wrong, (seed, one.text, other.text, str(documents[wrong[0]]))

    @pytest.mark.parametrize("seed", SEEDS)
    def test_the_laws(self, seed: int) -> None:
        paths = random_paths(40, seed, steps=3, branches=0.5, conditions=True)
        check_laws([pl.Filter({"d": each}) for each in dict.fromkeys(paths)])

    def test_what_it_misses(self) -> None:
        # Two steps with conditions that split the values between them.
        one, other = path("//*[x <= 1]/a[x >= 1]"), path("//*[x <= 1]/a[x is number]/a[x >= 1]")
        assert covers_exactly(one, other)
        assert not one.covers(other)

    def test_a_step_of_any_name_with_two_branches_is_a_node(self) -> None:
        assert path("/*[./b]/c").covers(path("/a[./b]/c"))
        assert not path("/*[./b]/c").covers(path("/a[./b]//c"))

    def test_limits_are_in_the_making(self) -> None:
        path("/a" * 32)
        with pytest.raises(pl.FilterError, match="at most 32 steps"):
            path("/a" * 33)


def with_one_condition(draw: random.Random) -> pl.DocumentPath:
    text = random_path(draw, steps=3)
    parts = text.replace("/", " /").replace(" / /", " //").split()
    chosen = draw.randrange(len(parts))
    parts[chosen] += draw.choice(["[x = 1]", "[x <= 1]", "[x >= 1]", "[x in [0, 2]]"])
    return path("".join(parts))


class TestMerging:
    def test_conditions_of_one_step_unite(self) -> None:
        one, other = path("/a[x in [0, 5]]/b"), path("/a[x in [5, 9]]/b")
        assert one.merge(other) == path("/a[x in [0, 9]]/b")
        assert path("/a/b").merge(path("/a/c")) is None
        assert path("/a[x = 1]/b[x = 1]").merge(path("/a[x = 2]/b[x = 2]")) is None

    @pytest.mark.parametrize("seed", SEEDS)
    def test_mergers_and_hulls_against_documents(self, seed: int) -> None:
        draw = random.Random(300 + seed)
        documents = [random_document(draw, nodes=6) for _ in range(120)]
        paths = random_paths(60, seed, steps=3, branches=0.3, conditions=True)
        merged = hulls = 0
        for one, other in itertools.combinations(paths, 2):
            union, hull = one.merge(other), one.hull(other)
            if union is not None:
                merged += 1
                for each in documents:
                    assert union.matches(each) == (one.matches(each) or other.matches(each))
                assert union.covers(one)
                assert union.covers(other)
            if hull is not None:
                hulls += 1
                assert hull.covers(one), (one, other, hull)
                assert hull.covers(other), (one, other, hull)
        assert merged > 20
        assert hulls > merged


class TestWitnesses:
    @pytest.mark.parametrize("seed", SEEDS)
    def test_examples_match(self, seed: int) -> None:
        for each in random_paths(150, seed, branches=0.4, conditions=True):
            assert each.matches(each.example()), each.text

    def test_witnesses_against_covering(self) -> None:
        found = missing = 0
        paths = random_paths(45, 11, steps=3, branches=0.3, conditions=True)
        for one, other in itertools.product(paths, repeat=2):
            f, g = pl.Filter({"d": one}), pl.Filter({"d": other})
            if f.covers(g):
                continue
            why = f.why_not_covers(g)
            assert why is not None
            if why.witness is None:
                missing += 1
                continue
            found += 1
            assert g.matches(why.witness)
            assert not f.matches(why.witness)
        assert missing * 20 < found, (missing, found)

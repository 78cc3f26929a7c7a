"""Rules for semi-structured data in the course material, each with what is so."""

from __future__ import annotations

import posetlib as pl

path = pl.DocumentPath


def test_element_filters_without_a_shared_attribute_are_not_disjoint() -> None:
    one, other = pl.Filter({"d": path("/a[x = 1]")}), pl.Filter({"d": path("/a[y = 1]")})
    assert one.overlaps(other)
    both = {"d": {"a": {"x": 1, "y": 1}}}
    assert one.matches(both)
    assert other.matches(both)


def test_disjoint_selectors_and_element_filters_do_not_make_disjoint_paths() -> None:
    for first, second in (("/a", "/b"), ("//a[x = 1]", "//a[x = 2]")):
        one, other = pl.Filter({"d": path(first)}), pl.Filter({"d": path(second)})
        both = {"d": {"a": [{"x": 1}, {"x": 2}], "b": {}}}
        assert one.overlaps(other)
        assert one.matches(both)
        assert other.matches(both)


def test_without_an_element_filter_a_path_covers_longer_ones() -> None:
    assert path("//a").covers(path("/a/b"))
    assert not path("//a[x = 1]").covers(path("/a/b[x = 1]"))
    assert path("//a[x >= 1]").covers(path("/b/a[x = 1]"))


def test_selectors_with_inner_gaps_cover_what_is_neither_identical_nor_a_suffix() -> None:
    assert path("//b/c").covers(path("/a/b/c"))
    assert not path("/a/b").covers(path("/a/c"))
    assert path("/a//c").covers(path("/a/b/c"))
    assert path("/*/b").covers(path("/a/b"))


def test_several_paths_are_covered_one_by_one_only_if() -> None:
    one = pl.parse_filter('d path "/a[x = 1]" and d path "/a[y = 1]"')
    other = pl.parse_filter('d path "/a[x = 1 and y = 1]"')
    assert one.covers(other)
    assert not other.covers(one)
    two = {"d": {"a": [{"x": 1}, {"y": 1}]}}
    assert one.matches(two)
    assert not other.matches(two)


def test_one_root_of_xml_is_not_known_to_covering() -> None:
    # In XML /a and //b imply /a//b, since there is one root. Covering allows several.
    one, other = pl.parse_filter('d path "/a//b"'), pl.parse_filter('d path "/a" and d path "//b"')
    assert not one.covers(other)
    assert not one.matches({"d": {"a": {}, "c": {"b": {}}}})
    assert other.matches({"d": {"a": {}, "c": {"b": {}}}})


def test_negations_that_leave_nothing_out_still_want_the_attribute() -> None:
    for text in ("x = 5 or x != 5", "x not in {1, 2} or x not in {3}"):
        f = pl.parse_filter(text)
        assert str(f) == "x is number"
        assert not f.matches({})
        assert not f.matches({"x": "text"})
        assert pl.parse_filter("exists x").covers(f)
        assert not f.covers(pl.parse_filter("exists x"))


def test_two_disjoint_sets_do_not_unite_to_exists() -> None:
    one, other = pl.parse_filter('t disjoint {"a"}'), pl.parse_filter('t disjoint {"b"}')
    both = {"t": {"a", "b"}}
    assert not one.matches(both)
    assert not other.matches(both)
    merged = pl.merge(one, other)
    assert merged is None or not merged.matches(both)


def test_where_xpath_differs() -> None:
    # XPath's @x != 5 holds for text, and two p may share the work of one condition.
    assert not path("/a[x != 5]").matches(pl.read_xml("<a x='abc'/>"))
    assert not path("/a[./p[. > 5 and . < 9]]").matches({"a": {"p": [3, 10]}})

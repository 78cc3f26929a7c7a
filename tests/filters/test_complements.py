"""Complements beside other conditions on the same attribute."""

import pytest

import posetlib as pl


@pytest.mark.parametrize(
    "text",
    [
        # No condition on sets asks for an element that it does not name, as these do.
        "x is set and not (x subset {1, 2})",
        "x lacks 1 and not (x subset {1, 2})",
        "x overlaps {3, 4} and not (x subset {3})",
        "x disjoint {1} and not (x subset {1, 2})",
        "x has 1 and not (x subset {1})",
        # These have a condition that says the same.
        "x has 3 and not (x subset {1, 2})",
        "x is set and not (x disjoint {1})",
        "x lacks 1 and not (x has 2)",
        "x subset {1, 2} and not (x superset {1, 2})",
    ],
)
def test_sets_without_others_are_written_as_they_are_meant(text):
    filter = pl.parse_filter(text)
    wanted, denied = text.split(" and not (")
    wanted, denied = pl.parse_filter(wanted), pl.parse_filter(denied[:-1])
    again, read = pl.parse_filter(str(filter)), pl.Filter.from_dict(filter.to_dict())
    for value in ([], [1], [2], [3], [5], [1, 2], [1, 5], [3, 4], [3, 5], [1, 2, 3], [4], 1, "a"):
        notification = {"x": value}
        due = wanted.matches(notification) and not denied.matches(notification)
        assert filter.matches(notification) is due, value
        assert again.matches(notification) is due, value
    assert again == read == filter
    assert wanted.covers(filter)
    assert not denied.overlaps(filter) or not denied.covers(filter)

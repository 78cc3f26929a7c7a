"""Conditions on sets, compared by their elements alone: as their decision diagrams compare."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posetlib.constraints import multivalues
from posetlib.constraints.multivalues import ALL_SETS, MultiValues
from posetlib.errors import EmptyConstraintError

ELEMENTS = [0, 1, True, "a", 2.5]
FORMS: dict[str, Callable[[list[object]], MultiValues]] = {
    "superset": MultiValues.superset,
    "overlaps": MultiValues.overlapping,
    "subset": MultiValues.subset,
    "disjoint": MultiValues.disjoint,
}
elements = st.lists(st.sampled_from(ELEMENTS), unique_by=repr, max_size=4)


@st.composite
def conditions(draw: st.DrawFn) -> MultiValues:
    name = draw(st.sampled_from(list(FORMS)))
    chosen = draw(elements)
    return FORMS[name](chosen) if chosen or name != "overlaps" else ALL_SETS


#: Single conditions, and what two of them are together, which may be a single one again.
constraints = st.one_of(
    conditions(),
    st.builds(lambda a, b: MultiValues.union((a, b)), conditions(), conditions()),
)


def every_pair() -> list[tuple[MultiValues, MultiValues]]:
    """Each form with up to three of three elements, against each."""
    made = [
        make(list(some))
        for name, make in FORMS.items()
        for size in range(4)
        for some in combinations((1, 2, 3), size)
        if some or name != "overlaps"
    ]
    return [(one, other) for one in made for other in made]


def test_every_pair_of_forms_compares_as_its_diagrams_do() -> None:
    pairs = every_pair()
    assert len(pairs) == 31**2
    for one, other in pairs:
        assert one.covers(other) == multivalues._diagram_covers(one, other), (one, other)
        assert one.overlaps(other) == multivalues._diagrams_overlap(one, other), (one, other)


@given(one=constraints, other=constraints)
@example(one=MultiValues.overlapping([1]), other=MultiValues.superset([1]))
@example(one=MultiValues.subset([]), other=MultiValues.disjoint([1]))
def test_all_forms_compare_as_their_diagrams_do(one: MultiValues, other: MultiValues) -> None:
    assert one.covers(other) == multivalues._diagram_covers(one, other)
    assert one.overlaps(other) == multivalues._diagrams_overlap(one, other)
    assert one.overlaps(other) == other.overlaps(one)


@given(one=conditions(), other=conditions())
def test_a_form_is_found_however_the_constraint_was_made(
    one: MultiValues, other: MultiValues
) -> None:
    try:
        both = MultiValues.intersection((one, other))
    except EmptyConstraintError:
        assert not one.overlaps(other)
        return
    assert pickle.loads(pickle.dumps(both))._form == both._form
    for name, make in FORMS.items():
        # The same set of elements under each condition: equal constraints have equal forms.
        names = [each[1] for each in both.named]
        if names or name != "overlaps":
            again = make(names)
            if again == both:
                assert again._form == both._form
                assert both._form is not None


def test_single_conditions_need_no_diagram(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bool:
        raise AssertionError("a diagram was searched")

    monkeypatch.setattr(multivalues, "_diagram_covers", refuse)
    monkeypatch.setattr(multivalues, "_diagrams_overlap", refuse)
    for one, other in every_pair():
        one.covers(other)
        one.overlaps(other)
    mixed = MultiValues.intersection([MultiValues.superset([1]), MultiValues.disjoint([2])])
    with pytest.raises(AssertionError, match="a diagram"):
        mixed.covers(ALL_SETS)

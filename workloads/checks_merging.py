"""The invariants of a merged root set: it covers the roots, and if perfect matches nothing more.

Each filter of one set is held against the whole other set, so that one is spread over the workers
and the other is sent to all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import FilterError
from posetlib.filters import parse_filter
from posetlib.merging import MergeViolation
from posetlib.merging.checking import covering_violations, excess_violations
from workloads.errors import InputError
from workloads.merged_roots import root_rows
from workloads.opening import Opened
from workloads.reports import Outcome, not_applicable
from workloads.shares import worked_apart

if TYPE_CHECKING:
    from posetlib.merging.merged_file import MergedFile

__all__ = ["merge_covers", "merge_perfect"]

_NONE: Final = "there is no merged root set beside the table"
# Filters of one task: enough to make up for the index that each task builds.
_FILTERS_OF_A_TASK: Final = 2_000


def merge_covers(context: Opened) -> Outcome:
    """The merged set covers the root set."""
    merged = context.files.merged
    if merged is None:
        return not_applicable(_NONE)
    _check_texts(merged, context.types)
    check = partial(_uncovered, merged=merged.filters, types=context.types)
    return _outcome(context, _roots(context), check)


def merge_perfect(context: Opened) -> Outcome:
    """The merged set matches nothing that the root set does not match."""
    merged = context.files.merged
    if merged is None:
        return not_applicable(_NONE)
    if not merged.perfect:
        return not_applicable("an imperfect merged set may match more than the roots")
    _check_texts(merged, context.types)
    check = partial(_excessive, roots=_roots(context), types=context.types)
    return _outcome(context, list(merged.filters), check)


def _roots(context: Opened) -> list[str]:
    """Return the texts of the roots, read once for both invariants."""
    if "merging-roots" not in context.facts:
        rows = root_rows(context.files.nodes, context.files.edges).orderBy("id").collect()
        context.facts["merging-roots"] = [row["filter"] for row in rows]
    return list(context.facts["merging-roots"])


def _check_texts(merged: MergedFile, types: TypeHierarchy | None) -> None:
    for text in merged.filters:
        try:
            parse_filter(text, types=types)
        except FilterError as error:
            raise InputError(f"the merged set: {text!r} is no filter: {error}") from None


def _outcome(context: Opened, texts: list[str], check: Any) -> Outcome:
    """Hold some filters against the others, in as many tasks as they are worth."""
    starts = range(0, len(texts), _FILTERS_OF_A_TASK)
    parts = [texts[at : at + _FILTERS_OF_A_TASK] for at in starts]
    if len(parts) > 1:
        found = worked_apart(context.session, parts, partial(_listed, check=check))
    else:
        found = [list(check(part)) for part in parts]
    witnesses = [each for part in found for each in part]
    return Outcome(len(texts), len(witnesses), witnesses[: context.shown])


def _listed(texts: list[str], check: Any) -> list[dict[str, Any]]:
    return list(check(texts))


def _uncovered(
    texts: Iterable[str], merged: tuple[str, ...], types: TypeHierarchy | None
) -> Iterator[dict[str, Any]]:
    return map(_told, covering_violations(_read(texts, types), _read(merged, types)))


def _excessive(
    texts: Iterable[str], roots: list[str], types: TypeHierarchy | None
) -> Iterator[dict[str, Any]]:
    return map(_told, excess_violations(_read(roots, types), _read(texts, types)))


def _read(texts: Iterable[str], types: TypeHierarchy | None) -> list[Any]:
    return [parse_filter(text, types=types) for text in texts]


def _told(violation: MergeViolation) -> dict[str, Any]:
    told: dict[str, Any] = {"filter": str(violation.filter), "why": str(violation)}
    if violation.witness is not None:
        told["notification"] = {
            name: value if isinstance(value, int | float | str | list | None) else str(value)
            for name, value in violation.witness.items()
        }
    return told

"""What a job refuses, in one sentence for whoever called it."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["MARK", "InputError", "UnreadableFilterError", "is_unreadable", "sentence_of"]


class InputError(ValueError):
    """Bad parameters, or input that a job cannot use: the command says so and exits with 2."""


class UnreadableFilterError(InputError):
    """A text that is no filter, met by whoever came to it first."""


#: What a sentence begins with in a trace, whoever wrote it.
MARK: Final = f"workloads.errors.{InputError.__name__}: "
_RAISED: Final = re.compile(
    rf"workloads\.errors\.({InputError.__name__}|{UnreadableFilterError.__name__}): (.*)"
)


def sentence_of(text: str) -> str | None:
    r"""Return the sentence of an InputError that a worker raised, from the trace that came back.

    >>> sentence_of("Traceback ...\nworkloads.errors.InputError: no such column\n\n\tat org...")
    'no such column'
    """
    found = _RAISED.search(text)
    return found.group(2).strip() if found else None


def is_unreadable(error: BaseException) -> bool:
    """Return whether an error, here or in a worker, is about a text that is no filter."""
    if isinstance(error, UnreadableFilterError):
        return True
    found = _RAISED.search(str(error))
    return found is not None and found.group(1) == UnreadableFilterError.__name__

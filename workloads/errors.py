"""What a job refuses, in one sentence for whoever called it."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["InputError", "sentence_of"]

_MARK: Final = "workloads.errors.InputError: "


class InputError(ValueError):
    """Bad parameters, or input that a job cannot use: the command says so and exits with 2."""


def sentence_of(text: str) -> str | None:
    r"""Return the sentence of an InputError that a worker raised, from the trace that came back.

    >>> sentence_of("Traceback ...\nworkloads.errors.InputError: no such column\n\n\tat org...")
    'no such column'
    """
    found = re.search(re.escape(_MARK) + r"(.*)", text)
    return found.group(1).strip() if found else None

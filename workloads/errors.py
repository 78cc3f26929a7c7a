"""What a job refuses, in one sentence for whoever called it."""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "MARK",
    "InputError",
    "StartError",
    "UnreadableFilterError",
    "cause_of",
    "is_unreadable",
    "refusal_of",
    "sentence_of",
]


class InputError(ValueError):
    """Bad parameters, or input that a job cannot use: the command says so and exits with 2."""


class StartError(RuntimeError):
    """Spark cannot start, for a reason that is not in the input: the command exits with 3."""


class UnreadableFilterError(InputError):
    """A text that is no filter, met by whoever came to it first."""


#: What a sentence begins with in a trace, whoever wrote it.
MARK: Final = f"workloads.errors.{InputError.__name__}: "
_RAISED: Final = re.compile(
    rf"workloads\.errors\.({InputError.__name__}|{UnreadableFilterError.__name__}): (.*)"
)
#: A file that is not what its name says.
_UNREAD: Final = re.compile(
    r"\[FAILED_READ_FILE\S*\] Encountered error while reading file (\S+)\.\s"
)
#: What Spark adds to the sentence of an error that it was asked to raise.
_STATE: Final = re.compile(r" SQLSTATE: \w+$")


def sentence_of(text: str) -> str | None:
    r"""Return the sentence of an InputError that a worker raised, from the trace that came back.

    >>> sentence_of("Traceback ...\nworkloads.errors.InputError: no such column\n\n\tat org...")
    'no such column'
    """
    found = _RAISED.search(text)
    return _STATE.sub("", found.group(2)).strip() if found else None


def is_unreadable(error: BaseException) -> bool:
    """Return whether an error, here or in a worker, is about a text that is no filter."""
    if isinstance(error, UnreadableFilterError):
        return True
    found = _RAISED.search(str(error))
    return found is not None and found.group(1) == UnreadableFilterError.__name__


def refusal_of(error: BaseException) -> str | None:
    """Return what is wrong with the input, if that is what made a job fail."""
    told = sentence_of(str(error))
    file = _UNREAD.search(str(error))
    if told is None and file is not None:
        return f"{file.group(1)} cannot be read: {cause_of(error)}"
    return told


def cause_of(error: BaseException) -> str:
    """Return in one line what is at the bottom of an error, of Java's or of Python's."""
    cause = getattr(error, "java_exception", None)
    text = str(error)
    # A chain may be a ring; nobody nests errors that deep.
    for _ in range(20):
        if cause is None:
            break
        text = str(cause.toString())
        cause = cause.getCause()
    told = _last_of_trace(text) or _last_of_trace(str(error))
    if told is not None:
        return f"a Python worker failed: {told}"
    return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)


def _last_of_trace(text: str) -> str | None:
    r"""Return the line of a Python traceback that says what happened.

    >>> _last_of_trace("Traceback (most recent call last):\n  File ...\nKeyError: 'x'\n\n\tat org")
    "KeyError: 'x'"
    """
    _, found, trace = text.rpartition("Traceback (most recent call last):")
    if not found:
        return None
    told = None
    for line in trace.splitlines():
        if line.startswith("\tat "):
            break
        if line.strip() and not line[0].isspace():
            told = line.strip() if told is None or ":" in line else told
    return told

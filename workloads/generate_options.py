"""The options of `generate` on the command line, and the parameters that they name."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any, Final

from posetlib.generating import KINDS, SCENARIOS, Parameters
from posetlib.generating.auction import LAWS, AuctionParameters
from workloads.errors import InputError

__all__ = ["add_generate_options", "parameters_from", "sizes_of"]

#: The kind of load whose filters are expressions, with the options that it alone has.
_AUCTION: Final = "auction"
_AUCTION_OPTIONS: Final[dict[str, tuple[Any, str]]] = {
    "advertisements": (0, "how many advertisements"),
    "law": (LAWS[0], f"how operands are drawn: {', '.join(LAWS)}"),
    "books": (100.0, "auctions for each book (B_prop): the more, the more is covered"),
    "authors": (5.0, "books by each author (A_prop)"),
    "more_categories": (0.1, "the chance that an author writes in a further category"),
    "same_title": (0.01, "the chance that a title is used again"),
    "swap_labels": (False, "let «signed» and «first edition» change places"),
}
#: What the options of other kinds are called by an auction.
_AUCTION_NAMES: Final = {
    "filters": "subscriptions",
    "notifications": "events",
    "seed": "seed",
    "interfaces": "interfaces",
}


def add_generate_options(command: argparse.ArgumentParser) -> None:
    """Add the options that say which workload to generate."""
    helps = {
        "filters": "how many filters",
        "dims": "attributes of a filter",
        "interfaces": "how many interfaces",
        "notifications": "how many notifications",
        "seed": "the same seed gives the same rows",
        "schemas": "event types",
        "interface_skew": "exponent of a Zipf law over interfaces, 0 for in turns",
        "skew": "exponent of the Zipf law of the kinds zipf and strings",
        "low": "the least number",
        "high": "the greatest number",
        "decimals": "digits after the point",
        "width": "mean width of the kinds narrow and zipf",
        "operations": "removals, each with an add after it",
    }
    for each in dataclasses.fields(Parameters):
        option = f"--{each.name.replace('_', '-')}"
        if each.name in ("kind", "scenario"):
            choices = (*KINDS, _AUCTION) if each.name == "kind" else SCENARIOS
            command.add_argument(
                option, choices=choices, default=each.default, help=f"(default: {each.default})"
            )
        elif each.name == "filters":
            command.add_argument(option, type=int, required=True, metavar="N", help="how many")
        else:
            command.add_argument(
                option,
                type=type(each.default),
                default=each.default,
                metavar="N",
                help=f"{helps[each.name]} (default: {each.default})",
            )
    only = command.add_argument_group("of the kind auction alone, whose filters are expressions")
    for name, (default, text) in _AUCTION_OPTIONS.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(default, bool):
            only.add_argument(flag, action="store_true", help=text)
        else:
            kind = type(default)
            only.add_argument(
                flag,
                type=kind,
                default=default,
                metavar="N" if kind is not str else "NAME",
                help=f"{text} (default: {default})",
            )


def sizes_of(p: Parameters | AuctionParameters) -> tuple[int, int, int]:
    """Return the numbers of filters, notifications and further rows."""
    if isinstance(p, AuctionParameters):
        return p.subscriptions, p.events, p.advertisements
    return p.filters, p.notifications, p.operations


def parameters_from(options: argparse.Namespace) -> Parameters | AuctionParameters:
    """Return the parameters that options name; InputError if they are wrong."""
    names = [each.name for each in dataclasses.fields(Parameters)]
    defaults = {each.name: each.default for each in dataclasses.fields(Parameters)}
    auction = options.kind == _AUCTION
    # An option that says nothing about this kind is a mistake, and not left aside.
    for name in names if auction else _AUCTION_OPTIONS:
        usual = defaults[name] if auction else _AUCTION_OPTIONS[name][0]
        known = auction and (name == "kind" or name in _AUCTION_NAMES)
        if not known and getattr(options, name) != usual:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"{flag} says nothing about the kind {options.kind}")
    try:
        if auction:
            values = {to: getattr(options, name) for name, to in _AUCTION_NAMES.items()}
            values.update((name, getattr(options, name)) for name in _AUCTION_OPTIONS)
            return AuctionParameters(**values)
        return Parameters(**{name: getattr(options, name) for name in names})
    except ValueError as error:
        raise InputError(str(error)) from None

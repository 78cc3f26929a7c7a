"""Whether a subscription or an advertisement is complete: known wherever it must be, right now."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import pairwise

from posetlib.constraints.mixtures import conjunction
from posetlib.filters.filter import Filter
from posetlib.merging.union_covering import union_covers
from posetlib.routing import Router
from posetlib.simulation.topology import Tree
from posetlib.simulation.validity import advertisement_goes_to

__all__ = ["is_complete"]


def is_complete(
    broker: Hashable,
    subscribed: Filter | None,
    advertised: Filter | None,
    tree: Tree,
    routers: Mapping[Hashable, Router],
) -> bool:
    """Return whether what a client at a broker subscribes to, or advertises, is complete."""
    if subscribed is not None and not _is_subscription_complete(broker, subscribed, tree, routers):
        return False
    return advertised is None or _is_advertisement_complete(broker, advertised, tree, routers)


def _is_subscription_complete(
    broker: Hashable, subscription: Filter, tree: Tree, routers: Mapping[Hashable, Router]
) -> bool:
    with_advertisements = routers[broker].options["advertisements"]
    for place, router in routers.items():
        wanted = [subscription]
        if with_advertisements:
            announced = router.local_advertisement_table.roots()
            wanted = [both for each in announced if (both := _both(subscription, each))]
        path = tree.path(broker, place)
        for near, far in pairwise(path):
            if near in routers[far].always():
                continue
            held = routers[far].subscriptions(near)
            if not all(union_covers(held, each) for each in wanted):
                return False
    return True


def _both(one: Filter, other: Filter) -> Filter | None:
    """Return the filter that matches what both match, None if nothing is."""
    if not one.overlaps(other):
        return None
    asked = dict(one.constraints)
    for name, each in other.constraints.items():
        asked[name] = conjunction([asked[name], each]) if name in asked else each
    return Filter(asked)


def _is_advertisement_complete(
    broker: Hashable, advertisement: Filter, tree: Tree, routers: Mapping[Hashable, Router]
) -> bool:
    for place in tree.brokers:
        path = tree.path(broker, place)
        for near, far in pairwise(path):
            if not advertisement_goes_to(routers[near], advertisement, far):
                break  # it does not go there: towards rendezvous points alone
            if not any(each.covers(advertisement) for each in routers[far].advertisements(near)):
                return False
    return True

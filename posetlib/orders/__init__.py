"""Orders other than that of filters, each with an index of its own: worked examples of `Relation`.

Give one to any table, as ``relation=``. Each module is what a language of one's own needs to be as
fast as filters are: an order, boxes for the search, and a matcher.
"""

from posetlib.orders.ip_networks import IP_NETWORKS
from posetlib.orders.string_prefixes import STRING_PREFIXES

__all__ = ["IP_NETWORKS", "STRING_PREFIXES"]

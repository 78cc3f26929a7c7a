"""What a broker counts, as Prometheus reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from posetlib.broker.server import Broker

__all__ = ["Metrics"]


class Metrics(Collector):
    """Plain counts, which cost nothing to keep; they become metrics when somebody asks."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.accepted = 0
        self.received = 0
        self.batches = 0
        self.sent = 0
        self.absent = 0
        self.queued = 0
        self.refused = 0
        self.slow = 0
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def text(self) -> bytes:
        """Return all metrics in the text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield each metric; called by the registry."""
        broker = self._broker
        links, sessions = broker.links, broker.sessions
        for name, about, count in (
            ("connections", "Connections that were opened, from here or from there", self.accepted),
            ("notifications_received", "Notifications from clients and neighbours", self.received),
            ("batches", "Batches in which notifications were routed", self.batches),
            ("notifications_sent", "Notifications sent, one for each destination", self.sent),
            ("notifications_absent", "Notifications for clients that were away", self.absent),
            ("notifications_queued", "Notifications that waited for a moving client", self.queued),
            (
                "notifications_dropped",
                "Notifications outside the advertisements of their publisher",
                broker.router.dropped,
            ),
            ("refusals", "Lines that were answered with an error", self.refused),
            ("slow_connections", "Connections that were cut off for not reading", self.slow),
            ("link_attempts", "Calls to neighbours", links.attempts),
        ):
            yield CounterMetricFamily(f"posetlib_broker_{name}", about, count)
        for name, about, value in (
            ("connections_open", "Connections that are open", len(broker.connections)),
            ("neighbours", "Neighbours that are linked", len(links)),
            ("clients_absent", "Clients with a name that are away", sessions.absent),
            (
                "sessions",
                "Sessions of clients that move",
                0 if broker.moves is None else broker.moves.count,
            ),
            (
                "sessions_unsettled",
                "Sessions that the last broker of their client has not handed over",
                0 if broker.moves is None else broker.moves.unsettled,
            ),
            ("table_filters", "Filters in the external table", len(broker.router.table)),
            ("local_filters", "Filters of local clients", len(broker.router.local_table)),
            ("waiting_bytes", "Bytes that wait to be written", broker.waiting),
        ):
            yield GaugeMetricFamily(f"posetlib_broker_{name}", about, value)

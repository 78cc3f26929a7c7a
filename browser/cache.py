"""A bounded store of immutable values, shared by all users because nobody can change them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Cache"]

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """The values used last, up to a total size; safe for threads.

    >>> cache = Cache(capacity=2)
    >>> for key in "abc":
    ...     cache.put(key, key.upper())
    >>> cache.get("a"), cache.get("c")
    (None, 'C')
    """

    def __init__(self, capacity: int, size: Callable[[Value], int] = lambda _value: 1) -> None:
        self._capacity = capacity
        self._size = size
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """Return a value, which is then the one used last; None if it is not there."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value, and let go of those that were not used for longest."""
        with self._lock:
            if key in self._values:
                self._total -= self._size(self._values.pop(key))
            self._values[key] = value
            self._total += self._size(value)
            while self._total > self._capacity and len(self._values) > 1:
                _, gone = self._values.popitem(last=False)
                self._total -= self._size(gone)

    def made(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made if need be; two threads may both make it."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

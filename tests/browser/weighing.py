"""A client that asks as the page does, to count what is sent."""

from __future__ import annotations

import gzip
import re
from typing import Any

PACKED = {"Accept-Encoding": "gzip"}


class Asking:
    """A client that reads answers whole, and leaves no file open."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def get(self, path: str, **options: Any) -> Any:
        return self._client.get(path, buffered=True, **options)

    def post(self, path: str, **options: Any) -> Any:
        return self._client.post(path, buffered=True, **options)


def first_load(client: Any) -> int:
    """Return how many bytes the page and all that it loads at first have, as they are sent."""
    page = client.get("/", headers=PACKED)
    text = gzip.decompress(page.data).decode()
    paths = re.findall(r'(?:src|href)="(/[^"]+)"', text)
    paths += ["/_dash-layout", "/_dash-dependencies"]
    # What the components of the first page load later.
    suites = "/_dash-component-suites/dash/dcc/async-"
    paths += [f"{suites}{each}.js" for each in ("slider", "dropdown", "upload")]
    sent = len(page.data)
    for path in paths:
        answer = client.get(path, headers=PACKED)
        assert answer.status_code == 200, path
        sent += len(answer.data)
    return sent


def draw(client: Any, recipe: dict[str, str], step: int, structure: str = "pf") -> Any:
    """Ask for what the page asks for when the slider has moved."""
    dependencies = client.get("/_dash-dependencies").get_json()
    wanted = next(
        each
        for each in dependencies
        if "tables-drawings.data" in each["output"]
        and each["inputs"]
        and not each["clientside_function"]
    )
    values = {
        "tables-here": recipe,
        "tables-show": [structure],
        "tables-step": step,
        "tables-sideways": [],
        "tables-index": [],
        "tables-folds": "",
        "tables-room": [520, 420],
        "tables-look": "whole",
        "tables-reach": 2,
        "tables-centre": None,
        "tables-node": None,
        "tables-where": "",
        "tables-where_mode": "mark",
        "tables-mounted": [structure],
    }

    def filled(each: dict[str, str]) -> dict[str, Any]:
        return {**each, "value": values[each["id"]]}

    outputs = [
        {"id": name, "property": prop}
        for name, prop in (part.rsplit(".", 1) for part in wanted["output"].strip(".").split("..."))
    ]
    body = {
        "output": wanted["output"],
        "outputs": outputs,
        "inputs": [filled(each) for each in wanted["inputs"]],
        "state": [filled(each) for each in wanted["state"]],
        "changedPropIds": ["tables-step.value"],
    }
    answer = client.post("/_dash-update-component", json=body, headers=PACKED)
    assert answer.status_code == 200, answer.text
    return answer

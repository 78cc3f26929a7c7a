"""What a page shows, as short texts by name: the same in the address bar and in the page's store.

A *recipe* says which operations there are: a source, and edits by hand. It never holds content that
is large: documents are kept by the server under the hash of their content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl, urlencode

from browser.cache import Cache
from browser.config import Config
from browser.context.run import ContextRun
from browser.context.script import CONTEXTS, read_changes
from browser.directories import read_table, read_workload
from browser.examples import EXAMPLES
from browser.expressions.pruning_run import PruningRun, pruning_run
from browser.expressions.script import EXPRESSION_SETS, ExpressionSet, read_set
from browser.generating import generate, parameters_from
from browser.network.comparing import Counts, counts_of
from browser.network.examples import RUNS
from browser.network.player import Settings
from browser.network.run import Run
from browser.network.script import Script, read_script
from browser.running_broker import Address, table_of
from browser.sources import Source, SourceError, read_files, read_line, read_text
from browser.statistics import Series, series
from browser.story import Story

__all__ = [
    "RECIPE",
    "Library",
    "edits_of",
    "from_query",
    "recipe_of",
    "to_query",
    "with_edit",
    "without_edit",
]

Recipe = dict[str, str]
Files = tuple[tuple[str, bytes], ...]

#: The names that make up a recipe; all others are about how it is shown.
RECIPE: Final = frozenset(
    "from kind filters dims interfaces seed operations schemas decimals width skew interface_skew "
    "text doc example table around edits".split()
)
#: Begins the name of edits that are kept on the server.
_KEPT: Final = "doc:"
_QUERY_CHARS: Final = 16_000
#: Up to so many characters a typed text is in the address, and can be shared for good.
TEXT_CHARS: Final = 1_500


def from_query(query: str) -> dict[str, str]:
    """Return the names and values of an address; what is too long, or no query, is left out.

    >>> from_query("?from=workload&step=3")
    {'from': 'workload', 'step': '3'}
    """
    if len(query) > _QUERY_CHARS:
        return {}
    return dict(parse_qsl(query.removeprefix("?"), max_num_fields=60))


def to_query(values: Mapping[str, str]) -> str:
    """Return names and values as an address has them.

    >>> to_query({"from": "workload", "step": "3"})
    '?from=workload&step=3'
    """
    return "?" + urlencode(values)


def recipe_of(view: Mapping[str, str]) -> Recipe:
    """Return the part of a view that says which operations there are."""
    return {name: value for name, value in view.items() if name in RECIPE}


def edits_of(recipe: Mapping[str, str]) -> list[tuple[int, str]]:
    """Return the edits by hand as (step, line); SourceError if they are not that."""
    try:
        edits = json.loads(recipe.get("edits", "[]"))
        pairs = [(at, line) for at, line in edits]
    except (ValueError, TypeError):
        raise SourceError("the edits in the address cannot be read") from None
    for at, line in pairs:
        if not isinstance(at, int) or isinstance(at, bool) or not isinstance(line, str):
            raise SourceError("the edits in the address cannot be read")
    return pairs


def with_edit(recipe: Mapping[str, str], at: int, line: str) -> Recipe:
    """Return a recipe with one more operation, after so many others."""
    return {**recipe, "edits": json.dumps([*edits_of(recipe), (at, line)], ensure_ascii=False)}


def without_edit(recipe: Mapping[str, str]) -> Recipe:
    """Return a recipe without the last edit by hand.

    >>> without_edit(with_edit({"from": "workload"}, 3, "I1: x > 3"))
    {'from': 'workload'}
    """
    edits = edits_of(recipe)[:-1]
    rest = {name: value for name, value in recipe.items() if name != "edits"}
    return {**rest, "edits": json.dumps(edits, ensure_ascii=False)} if edits else rest


class Library:
    """The documents and stories that one app holds, for all its users: content, never state.

    Both are bounded. A document is found by the hash of its content, which only those know who sent
    it or were sent its address.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        limits = config.limits
        self._documents: Cache[Files] = Cache(
            limits.document_bytes, lambda files: sum(len(content) for _, content in files)
        )
        self._stories: Cache[Story] = Cache(
            limits.stories * limits.story_steps, lambda story: max(len(story), limits.story_steps)
        )
        self._series: Cache[list[Series]] = Cache(limits.stories)
        self._runs: Cache[Run] = Cache(limits.runs)
        self._counts: Cache[list[Counts]] = Cache(limits.runs)
        self._contexts: Cache[ContextRun] = Cache(limits.runs)
        self._expressions: Cache[ExpressionSet] = Cache(limits.runs)
        self._prunings: Cache[PruningRun] = Cache(limits.runs)

    def keep(self, files: Sequence[tuple[str, bytes]]) -> str:
        """Keep a document, and return the key to find it by."""
        digest = hashlib.sha256()
        for name, content in files:
            for part in (name.encode(errors="replace"), content):
                digest.update(len(part).to_bytes(8, "big"))
                digest.update(part)
        key = digest.hexdigest()
        self._documents.put(key, tuple(files))
        return key

    def document(self, key: str) -> Files:
        """Return a document; SourceError if it is no longer held."""
        files = self._documents.get(key)
        if files is None:
            raise SourceError("that upload is no longer held here; please upload it again")
        return files

    def ask_broker(self) -> Recipe:
        """Return the recipe of the table that the running broker has now."""
        if self.config.broker is None:
            raise SourceError("no broker was given on the command line: --broker HOST:PORT")
        address = Address(*self.config.broker)
        content = table_of(address, self.config.limits)
        return {"from": "broker", "doc": self.keep([(f"broker {address}", content)])}

    def edited(self, recipe: Mapping[str, str], at: int, line: str) -> Recipe:
        """Return a recipe with one more edit; many edits are kept here, for an address is short."""
        made = with_edit(self.resolved(recipe), at, line)
        return self._shortened(made)

    def undone(self, recipe: Mapping[str, str]) -> Recipe:
        """Return a recipe without the last edit by hand."""
        return self._shortened(without_edit(self.resolved(recipe)))

    def _shortened(self, recipe: Recipe) -> Recipe:
        text = recipe.get("edits", "")
        if len(text) <= TEXT_CHARS:
            return recipe
        return {**recipe, "edits": f"{_KEPT}{self.keep([('edits.json', text.encode())])}"}

    def resolved(self, recipe: Mapping[str, str]) -> Recipe:
        """Return a recipe with its edits in it, where they were kept apart."""
        text = recipe.get("edits", "")
        if not text.startswith(_KEPT):
            return dict(recipe)
        try:
            content = self.document(text.removeprefix(_KEPT))[0][1]
        except SourceError:
            raise SourceError("the edits of that address are no longer held here") from None
        return {**recipe, "edits": content.decode(errors="replace")}

    def keep_run(self, text: str) -> str:
        """Return what stands for the text of a run in an address: itself, if it is short."""
        if len(text) <= TEXT_CHARS:
            return f"text:{text}"
        return f"doc:{self.keep([('run.txt', text.encode())])}"

    def run_text(self, source: str) -> str:
        """Return the text of a run from what ``keep_run`` returned, or of "example:NAME"."""
        kind, _, rest = source.partition(":")
        if kind == "text":
            return rest
        if kind == "doc":
            return self.document(rest)[0][1].decode(errors="replace")
        if kind == "example" and rest in RUNS:
            return RUNS[rest].text
        raise SourceError(f"there is no run {source[:40]!r}")

    def script(self, source: str) -> Script:
        """Return what the text of a run says; SourceError names the line of what is wrong."""
        return read_script(self.run_text(source), self.config.limits)

    def run(self, source: str, settings: Settings) -> Run:
        """Return a run with all its moments; SourceError says why there is none."""
        limits = self.config.limits
        return self._runs.made(
            (source, settings), lambda: Run(self.script(source), settings, limits)
        )

    def counts(self, source: str, settings: Settings) -> list[Counts]:
        """Return what a run costs with every algorithm, and the other settings as they are."""
        common = replace(settings, algorithm="")
        return self._counts.made((source, common), lambda: counts_of(self.script(source), settings))

    def context_text(self, source: str) -> str:
        """Return the text of profiles and queries, of "example:NAME" or as ``keep_run`` has it."""
        return self._text_of(source, {name: each.text for name, each in CONTEXTS.items()})

    def _text_of(self, source: str, examples: Mapping[str, str]) -> str:
        kind, _, name = source.partition(":")
        if kind == "example" and name in examples:
            return examples[name]
        if kind == "example":
            raise SourceError(f"there is no example {name[:40]!r}")
        return self.run_text(source)

    def context(self, source: str, semantics: str) -> ContextRun:
        """Return profiles and queries with all changes; SourceError says why there are none."""
        return self._contexts.made(
            (source, semantics),
            lambda: ContextRun(
                read_changes(self.context_text(source), self.config.limits), semantics
            ),
        )

    def expressions_text(self, source: str) -> str:
        """Return the text of expressions, of "example:NAME" or as ``keep_run`` has it."""
        return self._text_of(source, {name: each.text for name, each in EXPRESSION_SETS.items()})

    def expressions(self, source: str) -> ExpressionSet:
        """Return expressions and events; SourceError says why there are none."""
        limits = self.config.limits
        return self._expressions.made(
            source, lambda: read_set(self.expressions_text(source), limits)
        )

    def prunings(self, source: str, rating: str) -> PruningRun:
        """Return what becomes of expressions that are pruned to the end; SourceError if nothing."""
        return self._prunings.made(
            (source, rating), lambda: pruning_run(self.expressions(source), rating)
        )

    def story(self, recipe: Mapping[str, str]) -> Story:
        """Return the story of a recipe; SourceError says why there is none."""
        recipe = recipe_of(recipe)
        key = json.dumps(recipe, sort_keys=True)
        return self._stories.made(key, lambda: self._told(recipe))

    def series(self, recipe: Mapping[str, str]) -> list[Series]:
        """Return the structures of a recipe along the steps, in numbers."""
        key = json.dumps(recipe_of(recipe), sort_keys=True)
        return self._series.made(key, lambda: series(self.story(recipe)))

    def _told(self, recipe: Recipe) -> Story:
        recipe = self.resolved(recipe)
        edits = edits_of(recipe)
        source = self._source(recipe)
        limits = self.config.limits
        if len(source.operations) + len(edits) > limits.steps:
            raise SourceError(f"more than {limits.steps:,} operations")
        return Story(
            source,
            [(at, read_line(line, limits, types=source.types)) for at, line in edits],
        )

    def _source(self, recipe: Recipe) -> Source:
        """Read the source itself, without edits; stories without edits share what it costs."""
        origin = recipe.get("from", "generate")
        limits = self.config.limits
        if origin == "generate":
            return generate(parameters_from(recipe))
        if origin == "text":
            return read_text(recipe.get("text", ""), limits)
        if origin == "document":
            return read_files(self.document(recipe.get("doc", "")), limits)
        if origin == "broker":
            return self._of_broker(recipe.get("doc", ""))
        if origin == "workload":
            if self.config.workload is None:
                raise SourceError("no workload was given on the command line")
            return read_workload(self.config.workload, limits)
        if origin == "table":
            return read_table(self.config, recipe.get("table", ""), recipe.get("around", ""))
        if origin == "example":
            example = EXAMPLES.get(recipe.get("example", ""))
            if example is None:
                raise SourceError(f"there is no example {recipe.get('example', '')[:40]!r}")
            read = read_text(example.text, limits, title=example.title)
            return replace(read, captions=example.captions)
        raise SourceError(f"there is no source {origin[:40]!r}")

    def _of_broker(self, key: str) -> Source:
        try:
            files = self.document(key)
        except SourceError:
            raise SourceError("that table of a broker is no longer held here") from None
        return read_files(files, self.config.limits)

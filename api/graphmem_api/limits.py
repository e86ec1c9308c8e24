"""Limits of GraphQL documents before the rules walk them, and of responses: no hidden concept leaves (spec 11).

Recall, contexts and replies leave out what is hidden where they are made; the veil catches the rest, such as lists of
memories, predictions and messages of errors, and whatever field is added after today.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLResolveInfo,
    GraphQLString,
    OperationDefinitionNode,
)
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types import ExecutionResult

from graphmem.app import Graphmem
from graphmem.errors import NotFound
from graphmem.flows.overlay import fog_of, hidden_in
from graphmem.model import Session
from graphmem.search.fog import BLANK, blanked

_LISTS = ("types", "directives", "fields", "inputFields", "interfaces", "possibleTypes", "enumValues")
INTROSPECTION = dict.fromkeys(("__schema", "__type", *_LISTS), 1) | {"args": 2}
"""Most selections of each list in a document that asks for the schema: those of the standard query."""


OPEN_TYPES = frozenset(["Concept"])
"""Types that speak of the world itself: what the overlay, the frontier and the institution's own lists show."""
OPEN_FIELDS = frozenset(
    [
        ("Context", "prompt"),  # made of what is clear, in our own words
        ("Turn", "reply"),  # judged sentence by sentence; what it says in danger must stay word for word
        ("TurnEvent", "token"),
        ("MemoryEvent", "kind"),
        ("Session", "token"),
        ("Mutation", "makeStudentToken"),
        ("Mutation", "exportStudent"),  # all that is kept is the student's to have
    ]
)
"""Fields of text that were judged before, or must not be changed."""
Place = tuple[dict[str, Any] | list[Any], Any]
"""An object or a list of a response, and the key or place of a text in it."""


Selections = tuple[Counter[str], Counter[str]]
"""Selections of one definition by name, its aliases as `:`, and how often it spreads each fragment."""


class CachedParsing(ParserCache):
    """Cached parsing that leaves documents with errors to the library.

    What an extension raises is no answer over a WebSocket, but a traceback with the document's text in the log. The
    library parses what is still not parsed, and answers with the error.
    """

    def on_parse(self) -> Iterator[None]:
        """Called by the library before it parses."""
        context = self.execution_context
        # Besides syntax errors: recursion, in very deep documents.
        with contextlib.suppress(GraphQLError, RecursionError):
            context.graphql_document = self.cached_parse_document(context.query, **context.parse_options)
        yield


class LimitedValidation(ValidationCache):
    """Cached validation of documents of a limited expanded size.

    The rules of depth and aliases walk a fragment again at each of its spreads, so that n levels of two spreads each
    take 2 ** n steps: what a document expands to has to be known before any rule runs.
    """

    def __init__(self, most_nodes: int, maxsize: int) -> None:
        super().__init__(maxsize)
        self.most_nodes = most_nodes

    def on_validate(self) -> Iterator[None]:
        """Called by the library before it validates; errors set here take the place of validation."""
        document = self.execution_context.graphql_document
        error = None if document is None else _size_error(document, self.most_nodes)
        if error is None:
            yield from super().on_validate()
        else:
            self.execution_context.pre_execution_errors = [error]
            yield


def _size_error(document: DocumentNode, most: int) -> GraphQLError | None:
    try:
        found = expanded(document)
    except CycleError:
        return GraphQLError("Fragments must not spread themselves.")
    if found.total() - found[":"] > most:
        return GraphQLError(f"The query expands to more than {most} fields.")
    # Each list within another multiplies the answer, and no rule of the library counts these fields.
    if (found["__schema"] or found["__type"]) and (
        found[":"] or any(found[name] > most for name, most in INTROSPECTION.items())
    ):
        return GraphQLError("The schema may be asked for once in a document, each list once, without aliases.")
    return None


def expanded(document: DocumentNode) -> Counter[str]:
    """Number of selections of all operations of a document once its fragments are expanded, by name; aliases as `:`.

    Each fragment is counted once, so this takes time proportional to the document, not to what it expands to.

    Raises
    ------
    graphlib.CycleError     a fragment spreads itself, directly or through others

    Examples
    --------
    >>> from graphql import parse
    >>> expanded(parse("{ ...A ...A } fragment A on Query { b c { d } }")).total()
    8
    """
    definitions = document.definitions
    fragments = {d.name.value: _selections(d) for d in definitions if isinstance(d, FragmentDefinitionNode)}
    sizes: dict[str, Counter[str]] = {}

    def size(own: Counter[str], spreads: Counter[str]) -> Counter[str]:
        total = own.copy()
        for spread, times in spreads.items():
            for name, count in sizes.get(spread, {}).items():
                total[name] += times * count
        return total

    for name in TopologicalSorter({name: spreads.keys() for name, (_, spreads) in fragments.items()}).static_order():
        if name in fragments:
            sizes[name] = size(*fragments[name])
    return sum((size(*_selections(d)) for d in definitions if isinstance(d, OperationDefinitionNode)), Counter())


def _selections(definition: OperationDefinitionNode | FragmentDefinitionNode) -> Selections:
    own, spreads, waiting = Counter[str](), Counter[str](), [definition.selection_set]
    while waiting:
        for selection in waiting.pop().selections:
            name = selection.name.value if isinstance(selection, FieldNode) else ""
            own[name if name in INTROSPECTION else ""] += 1
            own[":"] += isinstance(selection, FieldNode) and selection.alias is not None
            if isinstance(selection, FragmentSpreadNode):
                spreads[selection.name.value] += 1
            elif (inner := getattr(selection, "selection_set", None)) is not None:
                waiting.append(inner)
    return own, spreads


class VeiledText(str):
    """Text of a response that is not open."""


class MarkingExecution(StrawberryGraphQLCoreExecutionContext):
    """The library's execution, which marks each text that is not open."""

    def complete_value(self, return_type: Any, nodes: Any, info: GraphQLResolveInfo[Any], *more: Any) -> Any:
        """Called by the library with what a resolver returned."""
        value = super().complete_value(return_type, nodes, info, *more)
        if return_type is GraphQLString and isinstance(value, str):
            kind, name = info.parent_type.name, info.field_name
            is_schema = kind.startswith("__") or name.startswith("__")
            if not is_schema and kind not in OPEN_TYPES and (kind, name) not in OPEN_FIELDS:
                return VeiledText(value)
        return value


async def veil(gm: Graphmem, session: Session, response: ExecutionResult) -> None:
    """Blank out names of hidden concepts in all texts of a response.

    Parameters
    ----------
    gm : Graphmem
    session : Session whose student the response speaks of
    response : ExecutionResult, changed in place

    Raises
    ------
    Unavailable    the fog cannot be read: then nothing may be shown
    """
    try:
        fog = await fog_of(gm, session)
    except NotFound:
        # Erased meanwhile: whatever was read before is nobody's to see.
        fog = None
    if fog is not None and not fog:
        return
    places = list(_texts(response.data or {}))
    if fog is None:
        for holder, key in places:
            holder[key] = BLANK
        return
    errors = response.errors or []
    found = await hidden_in(gm, fog, [*(holder[key] for holder, key in places), *(each.message for each in errors)])
    for (holder, key), mentions in zip(places, found, strict=False):
        holder[key] = blanked(holder[key], mentions)
    for error, mentions in zip(errors, found[len(places) :], strict=True):
        error.message = blanked(error.message, mentions)


def _texts(data: Any) -> Iterator[Place]:
    """Yield the places of all texts that are not open."""
    for key, value in list(data.items() if isinstance(data, dict) else enumerate(data)):
        if isinstance(value, VeiledText):
            yield data, key
        elif isinstance(value, dict | list):
            yield from _texts(value)

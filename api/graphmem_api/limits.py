"""Parsing and validation of GraphQL documents, and limits that are checked before the rules walk them."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
)
from strawberry.extensions import ParserCache, ValidationCache

_LISTS = ("types", "directives", "fields", "inputFields", "interfaces", "possibleTypes", "enumValues")
INTROSPECTION = dict.fromkeys(("__schema", "__type", *_LISTS), 1) | {"args": 2}
"""Most selections of each list in a document that asks for the schema: those of the standard query."""


@dataclass
class _Selections:
    """Selections of one definition by name, its aliases as `:`, and how often it spreads each fragment."""

    own: Counter[str] = field(default_factory=Counter)
    spreads: Counter[str] = field(default_factory=Counter)


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

    def size(found: _Selections) -> Counter[str]:
        total = found.own.copy()
        for spread, times in found.spreads.items():
            for name, count in sizes.get(spread, {}).items():
                total[name] += times * count
        return total

    for name in TopologicalSorter({name: found.spreads.keys() for name, found in fragments.items()}).static_order():
        if name in fragments:
            sizes[name] = size(fragments[name])
    return sum((size(_selections(d)) for d in definitions if isinstance(d, OperationDefinitionNode)), Counter())


def _selections(definition: OperationDefinitionNode | FragmentDefinitionNode) -> _Selections:
    found, waiting = _Selections(), [definition.selection_set]
    while waiting:
        for selection in waiting.pop().selections:
            name = selection.name.value if isinstance(selection, FieldNode) else ""
            found.own[name if name in INTROSPECTION else ""] += 1
            found.own[":"] += isinstance(selection, FieldNode) and selection.alias is not None
            if isinstance(selection, FragmentSpreadNode):
                found.spreads[selection.name.value] += 1
            elif (inner := getattr(selection, "selection_set", None)) is not None:
                waiting.append(inner)
    return found

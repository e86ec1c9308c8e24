"""The last look at a response: whatever text it holds, no hidden concept's name leaves (spec 11).

Recall, contexts and replies leave out what is hidden where they are made; this catches the rest, such as lists of
memories, predictions and messages of errors, and whatever field is added after today.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    parse,
)
from strawberry.types import ExecutionResult

from graphmem.app import Graphmem
from graphmem.errors import NotFound
from graphmem.flows.fog import fog_of, hidden_in
from graphmem.model import Session
from graphmem.search.fog import BLANK, blanked

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


@dataclass(frozen=True)
class Executed:
    """An operation as it was executed: its document, and the name of the one that is meant; None: the only one."""

    document: str
    name: str | None


async def veil(
    gm: Graphmem, session: Session, schema: GraphQLSchema, operation: Executed, response: ExecutionResult
) -> None:
    """Blank out names of hidden concepts in all texts of a response.

    Parameters
    ----------
    gm : Graphmem
    session : Session whose student the response speaks of
    schema : GraphQLSchema
    operation : Executed that it answers
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
    places = list(_texts(schema, operation, response))
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


def _texts(schema: GraphQLSchema, operation: Executed, response: ExecutionResult) -> Iterator[Place]:
    """Places of all texts in a response that are not open."""
    if response.data is None:
        return
    document = parse(operation.document, no_location=True)
    fragments = {each.name.value: each for each in document.definitions if isinstance(each, FragmentDefinitionNode)}
    for each in document.definitions:
        if isinstance(each, OperationDefinitionNode) and operation.name in (None, each.name and each.name.value):
            root = schema.get_root_type(each.operation)
            if root is not None:
                yield from _of_object(root, each.selection_set, response.data, fragments)


def _of_object(
    kind: GraphQLObjectType,
    selections: SelectionSetNode,
    data: dict[str, Any],
    fragments: dict[str, FragmentDefinitionNode],
) -> Iterator[Place]:
    if kind.name in OPEN_TYPES:
        return
    for node in selections.selections:
        if isinstance(node, FragmentSpreadNode):
            yield from _of_object(kind, fragments[node.name.value].selection_set, data, fragments)
        elif isinstance(node, InlineFragmentNode):
            yield from _of_object(kind, node.selection_set, data, fragments)
        elif isinstance(node, FieldNode) and node.name.value in kind.fields:
            key = (node.alias or node.name).value
            if (kind.name, node.name.value) not in OPEN_FIELDS and key in data:
                yield from _of_value(get_named_type(kind.fields[node.name.value].type), node, data, key, fragments)


def _of_value(
    kind: Any, node: FieldNode, holder: Any, key: Any, fragments: dict[str, FragmentDefinitionNode]
) -> Iterator[Place]:
    value = holder[key]
    if isinstance(value, list):
        for i in range(len(value)):
            yield from _of_value(kind, node, value, i, fragments)
    elif isinstance(value, dict) and node.selection_set is not None:
        yield from _of_object(kind, node.selection_set, value, fragments)
    elif isinstance(value, str) and kind is GraphQLString:
        yield holder, key

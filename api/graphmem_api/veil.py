"""The last look at a response: whatever text it holds, no hidden concept's name leaves (spec 11).

Recall, contexts and replies leave out what is hidden where they are made; this catches the rest, such as lists of
memories, predictions and messages of errors, and whatever field is added after today.
"""

from collections.abc import Iterator
from typing import Any

from graphql import GraphQLResolveInfo, GraphQLString
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types import ExecutionResult

from graphmem.app import Graphmem
from graphmem.errors import NotFound
from graphmem.flows.overlay import fog_of, hidden_in
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

"""Descriptions of the arguments that several operations have."""

from datetime import datetime
from typing import Annotated, Any

import strawberry
from strawberry.types.arguments import StrawberryArgumentAnnotation

ID = strawberry.ID


def argument(description: str, graphql_type: Any = None) -> StrawberryArgumentAnnotation:
    """Return the description of an argument, and its type where it is an input of a dataclass."""
    return strawberry.argument(description=description, graphql_type=graphql_type)


StudentId = Annotated[ID, argument("Id of the student within the institution, 1 to 128 characters.")]
OneStudent = Annotated[ID | None, argument("Only of this student; null: of the whole institution.")]
First = Annotated[int | None, argument("Most items of the page, 1 to 200.")]
After = Annotated[str | None, argument("Where the page begins: `next` of the page before; null: the first page.")]
AsOf = Annotated[datetime | None, argument("Answer with what was known at that moment (UTC); null: now.")]
Text = Annotated[str, argument("What the student said, 1 to 32,000 characters.")]
TurnId = Annotated[
    ID,
    argument(
        "Id of the message, 1 to 128 characters; the same id and text again give the same answer and change nothing, "
        "another text gives CONFLICT."
    ),
]
At = Annotated[datetime | None, argument("When it was said (UTC), at most 300 s in the future; null: now.")]
TaskText = Annotated[
    str | None,
    argument(
        "The exercise or lesson the talk is about, at most 32,000 characters; kept for the session until another is "
        "given, never remembered as the student's words; null: as before, empty: none any more."
    ),
]
Opener = Annotated[
    str | None,
    argument("What the tutor said before this message and graphmem has not seen, 1 to 32,000 characters."),
]
Used = Annotated[
    list[ID] | None,
    argument("Ids of the memories that the app's own reply was built on, at most 100: they count as used."),
]
UncertaintyId = Annotated[ID, argument("Id of the uncertainty.")]
NONE_USED: list[ID] = []
Reply = Annotated[str | None, argument("The app's own reply, 1 to 32,000 characters; null: graphmem replies.")]
CompanionName = Annotated[str | None, argument("How the companion is called, 1 to 100 characters; null: as it is.")]
Persona = Annotated[
    str | None, argument("Who the companion is and how it speaks, 1 to 2,000 characters; null: as it is.")
]
Expertise = Annotated[
    list[str] | None,
    argument("Names or ids of concepts it knows best, at most 50; they count in importance; null: as they are."),
]

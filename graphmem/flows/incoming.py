"""Messages that come in: as the app sent them, and one try at their turn (spec 3)."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from graphmem.language.analysis import MessageAnalysis
from graphmem.model import (
    Author,
    Matrix,
    Message,
    Unlocked,
)
from graphmem.ports import OnToken
from graphmem.text.doc import Doc

OPENER_ROW = 1
"""Row of the opener among the embeddings of what came in."""


@dataclass(frozen=True)
class Incoming:
    """A message as the app sent it.

    reply : the app's own, where it writes its replies itself
    task : the exercise or lesson the talk is about, kept for the session until another is given; blank ends it
    opener : what the tutor said before the message, where graphmem has not seen it
    used : ids of the memories that the app's own reply was built on
    """

    turn_id: str
    text: str
    at: datetime
    reply: str | None = None
    task: str | None = None
    opener: str | None = None
    used: tuple[str, ...] = ()

    @cached_property
    def doc(self) -> Doc:
        """The annotations of the text."""
        return Doc(self.text)


@dataclass(frozen=True)
class TurnAttempt:
    """One try at a turn: what came in, what is held of the student, and who is shown the reply."""

    incoming: Incoming
    reading: asyncio.Future[MessageAnalysis]
    embedding: asyncio.Future[Matrix]
    held: Unlocked
    on_token: OnToken | None
    now: datetime


def opener_of(attempt: TurnAttempt) -> str | None:
    """What the tutor said before the message, unless it is the reply that is held already."""
    opener, last = attempt.incoming.opener, attempt.held.messages[-1:]
    return None if last and last[0].text == opener else opener


def messages_of(attempt: TurnAttempt, vectors: Matrix) -> tuple[Message, tuple[Message, ...], Message | None]:
    """The student's message, what opened the talk before it, and the app's own reply, with their embeddings."""
    incoming, opened = attempt.incoming, opener_of(attempt)
    message = Message(Author.STUDENT, incoming.text, incoming.at, vectors[0], incoming.doc)
    opener = () if opened is None else (Message(Author.COMPANION, opened, incoming.at, vectors[OPENER_ROW]),)
    if incoming.reply is None:
        return message, opener, None
    return message, opener, Message(Author.COMPANION, incoming.reply, incoming.at, vectors[-1])

"""The offline mind: rules and statistics, no model behind it, and honest about that (spec 17)."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphmem.errors import InvalidInput
from graphmem.model import (
    Analysis,
    Answer,
    Author,
    Conversation,
    Extraction,
    Heard,
    Lesson,
    Message,
    Mismatch,
    Prediction,
    Reflection,
    Remembered,
    Response,
    Surprising,
    Vector,
)
from graphmem.offline.exemplars import Bank, load_bank
from graphmem.offline.extraction import extract
from graphmem.offline.facts import keywords, lesson
from graphmem.offline.follow_ups import questions, reflection
from graphmem.offline.prediction import expected_answer, own_messages
from graphmem.offline.replies import chosen_move, worded
from graphmem.offline.surprise_analysis import analysis as analysed
from graphmem.ports import Embedder, OnToken
from graphmem.text.doc import doc_of
from graphmem.text.words import rarity

LONG = 1_000
"""Characters from which on a message is read off the event loop."""
NEEDED = 8
"""Most keywords of needed info."""


class OfflineMind:
    """Answers like any mind, from a bank of real situations, the conversation and rules; deterministic.

    It claims nothing it cannot know: its replies use the student's words and what is remembered of the student, its
    predictions are messages somebody really wrote, and come with their embedding. Its own replies come without:
    they say nothing that the student did not say, so nothing is foretold by them or compared with them.

    Source: spec 4, 17.
    """

    name = "offline"

    def __init__(self, bank: Bank, embedder: Embedder) -> None:
        self.bank = bank
        self.embedder = embedder

    async def predict(self, talk: Conversation) -> Answer[Prediction]:
        """The student's next message, from the conversation alone, and 1 to 8 keywords of what is at stake.

        Raises
        ------
        InvalidInput    the conversation is empty or does not end with the student
        """
        message, before = _newest(talk)
        asked = _last_of_companion(before)
        return Answer(self._prediction(asked, (*before, message), message))

    async def respond(
        self, talk: Conversation, remembered: Remembered, reply: Message | None, on_token: OnToken | None = None
    ) -> Answer[Response]:
        """A tutoring move in the student's own terms, or the app's own reply, and what is expected to follow it.

        `on_token` is called with each word of a reply of this mind, spaces included.

        Raises
        ------
        InvalidInput    the conversation is empty or does not end with the student
        """
        newest, before = _newest(talk)
        message = await self._embedded(newest)
        messages = (*before, message)
        if reply is None:
            text = worded(chosen_move(messages), messages, remembered)
            if remembered.question is not None:
                text = f"{text} {remembered.question}"
            if on_token is not None:
                for word in re.findall(r"\S+\s*", text):
                    await on_token(word)
            reply = Message(Author.COMPANION, text, message.at)
        else:
            reply = await self._embedded(reply)
        return Answer(Response(reply, self._prediction(reply, messages, message)))

    async def distil(self, mismatch: Mismatch) -> Answer[Lesson]:
        """One sentence on the difference, and 1 to 5 key phrases of what was said."""
        return Answer(lesson(mismatch))

    async def extract(self, heard: Heard) -> Answer[Extraction]:
        """What in a message is worth remembering, by the rules of `graphmem.offline.extraction`."""
        # Rules take a while over long texts, and nobody else should wait for them.
        long = len(heard.text) > LONG
        return Answer(await asyncio.to_thread(extract, heard) if long else extract(heard))

    async def analyse(self, surprising: Sequence[Surprising]) -> Answer[tuple[Analysis, ...]]:
        """What surprising episodes mean, by the rules of `graphmem.offline.surprise_analysis`."""
        return Answer(await asyncio.to_thread(lambda: tuple(map(analysed, surprising))))

    async def ask(self, surprising: Surprising, analysis: Analysis) -> Answer[tuple[str, ...]]:
        """1 to 3 follow-up questions in the student's own terms, by the rules of `graphmem.offline.follow_ups`."""
        return Answer(questions(surprising, analysis))

    async def reflect(self, surprising: Surprising, analysis: Analysis) -> Answer[Reflection]:
        """What was expected and heard, and what to do next time, by the rules of `graphmem.offline.follow_ups`."""
        return Answer(reflection(surprising, analysis))

    async def aclose(self) -> None:
        """Nothing to release; the embedder belongs to whoever made it."""

    def _prediction(self, asked: Message | None, messages: tuple[Message, ...], newest: Message) -> Prediction:
        expected = expected_answer(self.bank, _vector(asked), own_messages(messages))
        needed = keywords((doc_of(newest), *([doc_of(asked)] if asked else [])), NEEDED)
        if expected is None:
            return Prediction("", needed)
        return Prediction(expected.text, needed, expected.embedding)

    async def _embedded(self, message: Message) -> Message:
        if message.embedding is not None:
            return message
        (vector,) = await self.embedder.embed([message.text])
        return replace(message, embedding=vector)


async def make_offline_mind(embedder: Embedder) -> OfflineMind:
    """The offline mind with the bank that ships with graphmem, in the vectors of this embedder.

    Raises
    ------
    SetupError      the shipped vectors do not belong to the shipped texts

    Examples
    --------
    >>> import asyncio
    >>> from datetime import datetime, UTC
    >>> from graphmem.text.embedder import make_embedder
    >>> from graphmem.model import Companion
    >>> from graphmem.settings import Settings
    >>> async def reply(text: str) -> str:
    ...     embedder = make_embedder(Settings())
    ...     mind = await make_offline_mind(embedder)
    ...     talk = Conversation(Companion("Ada", "kind", 0.5), (Message(Author.STUDENT, text, datetime.now(UTC)),))
    ...     answer = await mind.respond(talk, Remembered(), None)
    ...     await embedder.aclose()
    ...     return answer.value.reply.text
    >>> "12 - 3 = 8" in asyncio.run(reply("Then 12 - 3 = 8 spoons."))
    True
    """
    bank = await load_bank(embedder)
    # The word list is read here, not in the first turn.
    rarity("word")
    return OfflineMind(bank, embedder)


def _newest(talk: Conversation) -> tuple[Message, tuple[Message, ...]]:
    """The student's newest message, and what was said before it."""
    if not talk.messages or talk.messages[-1].author is not Author.STUDENT:
        raise InvalidInput("A conversation must end with a message of the student.")
    return talk.messages[-1], talk.messages[:-1]


def _last_of_companion(messages: tuple[Message, ...]) -> Message | None:
    return next((m for m in reversed(messages) if m.author is Author.COMPANION), None)


def _vector(message: Message | None) -> Vector | None:
    if message is None or message.embedding is None:
        return None
    return np.asarray(message.embedding, dtype=np.float32)

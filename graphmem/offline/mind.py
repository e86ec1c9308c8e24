"""The offline mind: rules and statistics, no model behind it, and honest about that (spec 17)."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from graphmem.errors import InvalidInput
from graphmem.language.analysis import MessageAnalysis, generality
from graphmem.language.encoder import Encoder
from graphmem.model import (
    Answer,
    Author,
    Conversation,
    Digest,
    Heard,
    Lesson,
    Message,
    MindQuestion,
    Mismatch,
    Note,
    Notes,
    Predict,
    Prediction,
    Remember,
    Remembered,
    Respond,
    Response,
    Summarise,
)
from graphmem.offline.exemplars import Bank, load_bank
from graphmem.offline.formation import extract, notes_of
from graphmem.offline.prediction import expected_answer, keywords, own_statements
from graphmem.offline.replies import caring_reply, replied, trusted_question
from graphmem.ports import Embedder, OnToken
from graphmem.text.doc import Doc, doc_of, language_of
from graphmem.text.normalize import clipped
from graphmem.text.summary import summarised_memories
from graphmem.text.words import word_rarity

T = TypeVar("T")
THREAD_CHARACTERS = 1_000
"""Characters from which on a message is read off the event loop."""
NEEDED, LESSON_TAGS = 8, 5
"""Most keywords of needed info, and most tags of a lesson."""
LESSON_CHARACTERS = 220
"""Longest text of a lesson."""
LEAST_GENERAL = 0.4
"""Chance that a statement tells something lasting of the student from which a violated expectation teaches it."""


class OfflineMind:
    """Answers like any mind, from a bank of real situations, the conversation and rules; deterministic.

    It claims nothing it cannot know: its replies use the student's words and what is remembered of the student, its
    predictions are messages somebody really wrote, and come with their embedding. Its own replies come without:
    they say nothing that the student did not say, so nothing is foretold by them or compared with them.

    Source: spec 4, 17.
    """

    name = "offline"
    seconds = 0.0
    together = 1
    links = False
    failing: str | None = None

    def __init__(self, bank: Bank, embedder: Embedder, reader: Encoder) -> None:
        self.bank = bank
        self.embedder = embedder
        self.reader = reader

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        """See `Mind.ask`; `on_token` is called with each word of a reply, spaces included.

        Raises
        ------
        InvalidInput    a conversation is empty or does not end with the student
        """
        return Answer(await RULES[type(question)](self, question, on_token))

    async def aclose(self) -> None:
        """Release nothing: embedder and reader belong to their maker."""


async def _predict(mind: OfflineMind, question: Predict, _: OnToken | None) -> Prediction:
    newest, before = _newest(question.talk)
    return await _expected(mind, newest, _last_of_companion(before))


async def _expected(
    mind: OfflineMind, newest: Message, asked: Message | None, told: Remembered | None = None
) -> Prediction:
    """What a student is expected to answer to what was asked, and the keywords of what is at stake."""
    needed = _needed(newest, asked)
    if asked is None:
        return Prediction("", needed)
    asked = await _embedded(mind, asked)
    vector = np.asarray(asked.embedding, dtype=np.float32)
    # Memory answers a question only.
    known = own_statements(told) if told is not None and "?" in asked.text else []
    vectors = await mind.embedder.embed(known) if known else None
    found = await asyncio.to_thread(expected_answer, mind.bank, asked.text, vector, known, vectors)
    return Prediction("", needed) if found is None else Prediction(found.text, needed, found.embedding)


async def _respond(mind: OfflineMind, question: Respond, on_token: OnToken | None) -> Response:
    """Reply by rule, and expect nothing: a reply of ours asks nothing."""
    newest, before = _newest(question.talk)
    newest = await _embedded(mind, newest)
    messages = (*before, newest)
    if question.written is not None:
        return Response(question.written, await _expected(mind, newest, question.written, question.remembered))
    if question.danger is None:
        reading = await _reading(mind, newest.text, newest.reading)
        # To find what answers a question takes a while.
        text = await asyncio.to_thread(replied, messages, question.remembered, question.talk.task, reading)
        trusted = trusted_question(before, newest.at)
        text = " ".join([text, *([trusted] if trusted else _waiting(question.remembered))])
    else:
        said = [each.text for each in before if each.author is Author.COMPANION]
        text = caring_reply(question.danger, question.help, said[-3:], language_of(newest.text))
    if on_token is not None:
        for word in re.findall(r"\S+\s*", text):
            await on_token(word)
    return Response(Message(Author.COMPANION, text, newest.at), Prediction("", _needed(newest)))


def _waiting(remembered: Remembered) -> list[str]:
    """The question that waits, or else the one that would settle a contradiction."""
    if remembered.question is not None:
        return [remembered.question]
    return [each.question for each in remembered.weave[:1]]


async def _remember(mind: OfflineMind, question: Remember, _: OnToken | None) -> Notes:
    """Quote message by message; what is known is compared with them afterwards."""
    notes = tuple([await _noted(mind, heard, place) for place, heard in enumerate(question.heard)])
    lessons = [(place, await _lesson(mind, heard.violated)) for place, heard in enumerate(question.heard)]
    return Notes(notes, learned=tuple((place, lesson) for place, lesson in lessons if lesson is not None))


async def _lesson(mind: OfflineMind, mismatch: Mismatch | None) -> Lesson | None:
    """The student's own statement of something lasting, in their words; None where the message holds none."""
    if mismatch is None:
        return None
    read = await _reading(mind, mismatch.actual, mismatch.reading)
    told = [(each.scores, mismatch.actual[each.start : each.end]) for each in read.statements]
    lasting, text = max((generality(scores), text) for scores, text in told or [(read.scores, mismatch.actual)])
    return (
        Lesson(clipped(text, LESSON_CHARACTERS), keywords([Doc(text)], LESSON_TAGS) or ("student",))
        if lasting >= LEAST_GENERAL
        else None
    )


async def _noted(mind: OfflineMind, heard: Heard, place: int) -> tuple[Note, ...]:
    reading = await _reading(mind, heard.text, heard.reading)
    reply = (await mind.reader.read([heard.reply]))[0] if heard.reply.strip() else None
    # Rules take a while over long texts, which must not hold up the event loop.
    long = len(heard.text) > THREAD_CHARACTERS
    found = await asyncio.to_thread(extract, heard, reading, reply) if long else extract(heard, reading, reply)
    return notes_of(found, heard, place)


async def _summarise(_: OfflineMind, question: Summarise, __: OnToken | None) -> tuple[Digest, ...]:
    return await asyncio.to_thread(lambda: tuple(map(summarised_memories, question.groups)))


RULES: Mapping[type[MindQuestion[Any]], Callable[[OfflineMind, Any, OnToken | None], Awaitable[Any]]] = {
    Predict: _predict,
    Respond: _respond,
    Remember: _remember,
    Summarise: _summarise,
}
"""Rule for each kind of question."""


async def make_offline_mind(embedder: Embedder, reader: Encoder) -> OfflineMind:
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
    ...     embedder, reader = make_embedder(Settings()), Encoder()
    ...     mind = await make_offline_mind(embedder, reader)
    ...     talk = Conversation(Companion("Ada", "kind", 0.5), (Message(Author.STUDENT, text, datetime.now(UTC)),))
    ...     answer = await mind.ask(Respond(talk))
    ...     await embedder.aclose()
    ...     await reader.aclose()
    ...     return answer.value.reply.text
    >>> "12 - 3 = 8" in asyncio.run(reply("Then 12 - 3 = 8 spoons."))
    True
    """
    bank = await load_bank(embedder)
    # The word list is read here, not in the first turn.
    word_rarity("word")
    return OfflineMind(bank, embedder, reader)


def _newest(talk: Conversation) -> tuple[Message, tuple[Message, ...]]:
    """The student's newest message, and what was said before it."""
    if not talk.messages or talk.messages[-1].author is not Author.STUDENT:
        raise InvalidInput("A conversation must end with a message of the student.")
    return talk.messages[-1], talk.messages[:-1]


def _last_of_companion(messages: tuple[Message, ...]) -> Message | None:
    return next((m for m in reversed(messages) if m.author is Author.COMPANION), None)


def _needed(newest: Message, asked: Message | None = None) -> tuple[str, ...]:
    """Up to 8 keywords of what is at stake."""
    return keywords((doc_of(newest), *([doc_of(asked)] if asked else [])), NEEDED)


async def _reading(mind: OfflineMind, text: str, known: object) -> MessageAnalysis:
    """What the encoder tells of a message; it is not read again where that is known."""
    return known if isinstance(known, MessageAnalysis) else (await mind.reader.read([text]))[0]


async def _embedded(mind: OfflineMind, message: Message) -> Message:
    if message.embedding is not None:
        return message
    (vector,) = await mind.embedder.embed([message.text])
    return replace(message, embedding=vector)

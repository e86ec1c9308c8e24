"""Answers of the offline mind from memory: it quotes what the student said, or says that it does not know (spec 17)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from graphmem.model import AskedFor, Aspect, Author, LedgerCategory, Memory, Message, Recalled, Remembered, SourceKind
from graphmem.text.chunks import leans
from graphmem.text.contradiction import ANSWERS, NEAREST, about_odds, answer_fitness, asked_text, telling_stems
from graphmem.text.doc import Doc, doc_of
from graphmem.text.normalize import clean, quoted
from graphmem.text.profile import ASKED_AS_WHOLE, LAST_SESSION, SINCE, SUCCEEDS

READ_TOGETHER = 4
"""Statements that are read with a question, the likeliest: in the shipped chats twelve answer no more."""
SURELY = -0.1
"""Fitness from which a statement answers a message that may not ask memory at all: so 7 of 14 such questions of the
shipped chats are answered, and none wrongly."""
PAST_FIT = 0.6
"""How much less a statement fits that holds no longer."""
QUOTED_FROM = 0.4
"""Chance of being about a message from which an earlier statement is quoted in the reply; chosen on three talks of a
hundred messages, in which what was related had .43 and more, all else .28 and less."""
NEWER_WITHIN, MOST_NEWER = 1.5, 2
"""How much less than the best a newer statement may fit to be quoted beside it, lest what was so is all that is said;
and most of these. Chosen on 48 questions of six pupils of whom a third had changed."""
MOST_QUOTED = 5
"""Most statements that an overview quotes."""
QUOTED_CHARACTERS = 160
"""Longest quotation."""
FOUND = "You told me{when}: {quote}."
PAST = "You told me{when}, and it has changed since: {quote}."
ALL = "You told me: {quotes}."
LAST_TIME = "Last time,{when}, you told me: {quotes}."
YOUR_NAME = "Your name is {name}."
NOT_SURE = "I am not sure. You told me{when}: {quote}."
LATER = " And{when}: {quote}."
NOTHING = "I don't have that noted."
ANSWER_BEGINNINGS = ("You told me", "Last time", "Your name is")
"""Beginnings of replies that tell something from memory."""
_SHOWN = {AskedFor.STRUGGLES: Aspect.MISCONCEPTION, AskedFor.STRENGTHS: Aspect.UNDERSTANDING}


@dataclass(frozen=True)
class Statement:
    """A statement of the student, when it was made, and whether it still holds.

    about : log odds that it is about the question
    context : what it leans on, where it does
    id : of its memory or ledger entry, where there is one
    """

    text: str
    at: datetime
    about: float
    past: bool = False
    secret: bool = False
    context: str = ""
    id: str = ""


def earlier_statement(remembered: Remembered) -> str:
    """Return a quotation of what the student said on an earlier day about the matter of a message; else empty."""
    today = remembered.today
    able = [
        each
        for each in remembered.memories
        if each.chance >= QUOTED_FROM
        and each.memory.is_own_word
        and each.memory.invalid_at is None
        and each.memory.id not in remembered.secrets
        and today is not None
        and each.memory.timestamp.astimezone(today.tzinfo).date() < today.date()
    ]
    if not able:
        return ""
    return _quotation(_as_stated(max(able, key=lambda each: each.chance).memory), today)


def _as_stated(memory: Memory) -> Statement:
    return Statement(memory.quote or memory.content or "", memory.timestamp, 0.0)


def answer_from_memory(messages: Sequence[Message], remembered: Remembered) -> str:
    """Return a quotation that answers the newest message, or that nothing is noted; empty where memory is not asked.

    Parameters
    ----------
    messages : oldest first, the student's newest last, with embeddings where there are any
    remembered : `asked_for` says what the message asks for

    Examples
    --------
    >>> from datetime import UTC
    >>> said = [Message(Author.STUDENT, "What's my name?", datetime(2026, 1, 1, tzinfo=UTC))]
    >>> answer_from_memory(said, Remembered(name="Kim", asked_for=AskedFor.OWN))
    'Your name is Kim.'
    >>> answer_from_memory(said, Remembered(asked_for=AskedFor.OWN)), answer_from_memory(said, Remembered())
    ("I don't have that noted.", '')
    """
    doc, asked_for, today = doc_of(messages[-1]), remembered.asked_for, remembered.today
    if asked_for is AskedFor.OWN and remembered.name and doc.stems <= Doc("what is my name").stems:
        return YOUR_NAME.format(name=clean(remembered.name))
    if asked_for is AskedFor.LAST_TIME:
        return _listed(LAST_TIME, [each for each in _remembered(remembered) if LAST_SESSION in each.why], remembered)
    if asked_for is AskedFor.OVERVIEW:
        return _listed(ALL, _remembered(remembered), remembered)
    if aspect := _SHOWN.get(asked_for):
        shown = [each for each in _remembered(remembered) if each.memory.aspect is aspect or ASKED_AS_WHOLE in each.why]
        return _listed(ALL, shown, remembered)
    asked = telling_stems(doc) - Doc(remembered.name or "").stems
    fit = _fitting(doc, [*_statements(remembered, asked), *_said_before(messages, asked)])
    open_ones = [(fitness, each) for fitness, each in fit if not each.secret]
    if asked_for is AskedFor.OTHER:
        best = _best(open_ones, SURELY)
        return "" if best is None else _quotation(best, today)
    if (best := _best(fit, ANSWERS)) is not None:
        return _quotation(best, today) + _told_later(best, open_ones, remembered)
    if (near := _best(open_ones, NEAREST)) is None:
        return NOTHING
    said = NOT_SURE.format(when=_when(near, today), quote=_quote(near.text))
    return said + _told_later(near, open_ones, remembered)


def _remembered(remembered: Remembered) -> list[Recalled]:
    """The student's own statements that were recalled, each once."""
    own = (each for each in (*remembered.profile, *remembered.memories) if each.memory.is_own_word)
    return list({each.memory.id: each for each in own}.values())


def _statements(remembered: Remembered, asked: frozenset[str]) -> Iterable[Statement]:
    for entry in remembered.ledger:
        if entry.given_by is SourceKind.CHAT:
            text = entry.content or ""
            about = about_odds(asked, text, remembered.similarity.get(entry.id, 0.0))
            secret = entry.category is LedgerCategory.SECRET
            yield Statement(text, entry.created_at, about, secret=secret, id=entry.id)
    best = max((each.weight for each in remembered.memories), default=0.0) or 1.0
    for recalled in _remembered(remembered):
        memory = recalled.memory
        text = memory.quote or memory.content or ""
        yield Statement(
            text,
            memory.timestamp,
            about_odds(asked, text, recalled.similarity, min(1.0, recalled.weight / best)),
            past=memory.invalid_at is not None,
            secret=memory.id in remembered.secrets,
            context=_context(memory),
            id=memory.id,
        )
    if remembered.today is not None:
        for turn in remembered.turns:
            yield Statement(turn.text, remembered.today, about_odds(asked, turn.text, turn.similarity))


def _context(memory: Memory) -> str:
    return memory.before or "" if leans(Doc(memory.content or "")) else ""


def _said_before(messages: Sequence[Message], asked: frozenset[str]) -> Iterable[Statement]:
    """What the student said in the conversation itself without asking, which no context repeats."""
    vector = messages[-1].embedding
    for before, message in zip((None, *messages), messages[:-1], strict=False):
        if message.author is Author.STUDENT and message.embedding is not None and vector is not None:
            doc = doc_of(message)
            if not (doc.asks or message.text.rstrip().endswith("?")):
                context = before.text if before is not None and leans(doc) else ""
                about = about_odds(asked, doc, float(np.dot(vector, message.embedding)))
                yield Statement(message.text, message.at, about, context=context)


def _fitting(question: Doc, statements: Iterable[Statement]) -> list[tuple[float, Statement]]:
    """The statements likeliest to be about a question, each with the log odds that it answers it."""
    told = {each.text: each for each in statements if any(map(str.isalpha, each.text))}
    likely = sorted(told.values(), key=lambda each: -each.about)[:READ_TOGETHER]
    texts = [f"{each.context} {each.text}".strip() for each in likely]
    fitness = answer_fitness(asked_text(question), texts, [each.about for each in likely])
    return [(fit - PAST_FIT * each.past, each) for fit, each in zip(fitness, likely, strict=True)]


def _best(fit: Sequence[tuple[float, Statement]], least: float) -> Statement | None:
    """The statement that fits best, if as well as `least`; of equals the newest."""
    able = [(fitness, each) for fitness, each in fit if fitness >= least]
    return max(able, key=lambda pair: (pair[0], pair[1].at.timestamp()), default=(0.0, None))[1]


def _listed(wording: str, recalled: Sequence[Recalled], remembered: Remembered) -> str:
    """Quotations of several statements; secrets apart."""
    told = [each.memory for each in recalled if each.memory.id not in remembered.secrets]
    told = [memory for memory in told if memory.invalid_at is None][:MOST_QUOTED]
    if not told:
        return NOTHING
    quotes = "; ".join(_quote(memory.quote or memory.content or "") for memory in told)
    last = told[-1].timestamp.astimezone(told[-1].zone)
    return wording.format(quotes=quotes, when=f" on {last.day} {last:%B}")


def _quotation(statement: Statement, today: datetime | None) -> str:
    wording = PAST if statement.past else FOUND
    return wording.format(when=_when(statement, today), quote=_quote(statement.text))


def _told_later(best: Statement, fit: Sequence[tuple[float, Statement]], remembered: Remembered) -> str:
    """Return quotations of what the student said later on the matter of the best statement (spec 10, threads).

    It took its place or follows from it, or is a memory that fits the question nearly as well.
    """
    reasons = {f"{SINCE} {best.id}", f"{SUCCEEDS} {best.id}"}
    thread = (each.memory for each in remembered.memories if not reasons.isdisjoint(each.why))
    later = [_as_stated(memory) for memory in thread if memory.id not in remembered.secrets]
    least = max(NEAREST, max((fitness for fitness, each in fit if each is best), default=0.0) - NEWER_WITHIN)
    # What was said today, perhaps another question, stands in the conversation itself.
    newer = [each for fitness, each in fit if fitness >= least and each.at > best.at and each.id and not each.past]
    found = {each.text: each for each in (*later, *sorted(newer, key=lambda each: each.at)[-MOST_NEWER:])}
    told = sorted(found.values(), key=lambda each: each.at)
    return "".join(LATER.format(when=_when(each, remembered.today), quote=_quote(each.text)) for each in told)


def _when(statement: Statement, today: datetime | None) -> str:
    at = statement.at if today is None else statement.at.astimezone(today.tzinfo)
    return "" if today is None or at.date() == today.date() else f" on {at.day} {at:%B}"


def _quote(text: str) -> str:
    return quoted(text, QUOTED_CHARACTERS, 25)

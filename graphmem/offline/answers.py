"""Answers of the offline mind from memory: it quotes what the student said, or says that it does not know (spec 17)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from graphmem.model import AskedFor, Aspect, Author, LedgerCategory, Memory, Message, Recalled, Remembered, SourceKind
from graphmem.text.answering import answer_fitness, asked_text
from graphmem.text.clauses import leans
from graphmem.text.doc import Doc, doc_of
from graphmem.text.profile import ASKED_AS_WHOLE, LAST_SESSION
from graphmem.text.sanitize import clean, quoted

ANSWERS_FROM, NEAR_FROM = -1.8, -3.0
"""Fitness from which a statement is quoted as the answer, and as what comes nearest: chosen on six of the shipped
chats, where from -1.8 on as few questions for what was never told got an answer as from -0.8 on (5 of 18)."""
READ_TOGETHER = 16
"""Statements that are read with a question: the nearest by meaning and words."""
SURELY, SURELY_NEAR = 0.7, 0.3
"""Fitness, and cosine with the question, from which a statement answers a message that may not ask memory at all."""
NEARLY = 0.4
"""Difference of fitness within which the newer statement answers."""
PAST_FIT = 1.2
"""How much less a statement fits that holds no longer."""
MOST_QUOTED = 5
"""Most statements that an overview quotes."""
QUOTED_CHARACTERS = 160
"""Longest quotation."""
FOUND = "You told me{when}: {quote}."
PAST = "You told me{when}, and it has changed since: {quote}."
ALL = "You told me: {quotes}."
LAST_TIME = "Last time,{when}, you told me: {quotes}."
YOUR_NAME = "Your name is {name}."
NOT_SURE = "I am not sure that I have this noted. What comes nearest{when}: {quote}."
NOTHING = "I don't have that noted."
ANSWER_BEGINNINGS = ("You told me", "Last time", "Your name is")
"""Beginnings of replies that tell something from memory."""
_SHOWN = {AskedFor.STRUGGLES: Aspect.MISCONCEPTION, AskedFor.STRENGTHS: Aspect.UNDERSTANDING}


@dataclass(frozen=True)
class Statement:
    """A statement of the student, when it was made, how near it is to the question, and whether it still holds.

    context : what it leans on, where it does
    """

    text: str
    at: datetime
    cosine: float
    past: bool = False
    secret: bool = False
    context: str = ""


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
    fit = _fitting(doc, [*_statements(remembered), *_said_before(messages)])
    if asked_for is AskedFor.OTHER:
        sure = [(fitness, each) for fitness, each in fit if not each.secret and each.cosine >= SURELY_NEAR]
        best = _best(sure, SURELY)
        return "" if best is None else _quotation(best, today)
    if (best := _best(fit, ANSWERS_FROM)) is not None:
        return _quotation(best, today)
    near = _best([(fitness, each) for fitness, each in fit if not each.secret], NEAR_FROM)
    return NOTHING if near is None else NOT_SURE.format(when=_when(near, today), quote=_quote(near.text))


def _remembered(remembered: Remembered) -> list[Recalled]:
    """The student's own statements that were recalled, each once."""
    own = (each for each in (*remembered.profile, *remembered.memories) if each.memory.is_own_word)
    return list({each.memory.id: each for each in own}.values())


def _statements(remembered: Remembered) -> Iterable[Statement]:
    for entry in remembered.ledger:
        if entry.given_by is SourceKind.CHAT:
            secret = entry.category is LedgerCategory.SECRET
            yield Statement(
                entry.content or "", entry.created_at, remembered.similarity.get(entry.id, 0.0), secret=secret
            )
    for recalled in _remembered(remembered):
        memory = recalled.memory
        yield Statement(
            memory.quote or memory.content or "",
            memory.timestamp,
            recalled.similarity,
            past=memory.invalid_at is not None,
            secret=memory.id in remembered.secrets,
            context=_context(memory),
        )
    if remembered.today is not None:
        yield from (Statement(turn.text, remembered.today, turn.similarity) for turn in remembered.turns)


def _context(memory: Memory) -> str:
    return memory.before or "" if leans(Doc(memory.content or "")) else ""


def _said_before(messages: Sequence[Message]) -> Iterable[Statement]:
    """What the student said in the conversation itself without asking, which no context repeats."""
    asked = messages[-1].embedding
    for before, message in zip((None, *messages), messages[:-1], strict=False):
        if message.author is Author.STUDENT and message.embedding is not None and asked is not None:
            doc = doc_of(message)
            if not (doc.asks or message.text.rstrip().endswith("?")):
                context = before.text if before is not None and leans(doc) else ""
                yield Statement(message.text, message.at, float(np.dot(asked, message.embedding)), context=context)


def _fitting(question: Doc, statements: Iterable[Statement]) -> list[tuple[float, Statement]]:
    """The statements nearest to a question, each with the log odds that it answers it."""
    stems = question.stems

    def nearness(each: Statement) -> float:
        return each.cosine + len(stems & Doc(each.text).excerpt.stems) / (2 * max(1, len(stems)))

    near = sorted((each for each in statements if any(map(str.isalpha, each.text))), key=lambda each: -nearness(each))
    near = near[:READ_TOGETHER]
    texts = [f"{each.context} {each.text}".strip() for each in near]
    fitness = answer_fitness(asked_text(question), texts, [each.cosine for each in near])
    return [(fit - PAST_FIT * each.past, each) for fit, each in zip(fitness, near, strict=True)]


def _best(fit: Sequence[tuple[float, Statement]], least: float) -> Statement | None:
    """The statement that fits best, if as well as `least`; of those that nearly do, the newest."""
    top = max((fitness for fitness, _ in fit), default=least - 1)
    nearly = [each for fitness, each in fit if fitness >= max(least, top - NEARLY)]
    return max(nearly, key=lambda each: each.at.timestamp(), default=None) if top >= least else None


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


def _when(statement: Statement, today: datetime | None) -> str:
    at = statement.at if today is None else statement.at.astimezone(today.tzinfo)
    return "" if today is None or at.date() == today.date() else f" on {at.day} {at:%B}"


def _quote(text: str) -> str:
    return quoted(text, QUOTED_CHARACTERS, 25)

"""Lessons of violated expectations, by habits that are counted and by the reader; keywords of messages (spec 4)."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from graphmem.model import ANYONE, Lesson, MemoryKind, Mismatch
from graphmem.text.answers import with_mine_named
from graphmem.text.certainty import last_question
from graphmem.text.clauses import statement_spans
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc
from graphmem.text.habits import HABITS, Exchange, shown_habits, told
from graphmem.text.keyphrases import rarest_word
from graphmem.text.lexicon import ALONE, FIRST_PERSON
from graphmem.text.reader import KINDS, MessageReading
from graphmem.text.retelling import retold
from graphmem.text.sanitize import clean, clipped
from graphmem.text.slots import slot_of
from graphmem.text.words import word_rarity

LESSON_CHARACTERS = 220
"""Characters of the longest lesson."""
MAX_LESSON_TAGS = 5
"""Most tags of a lesson."""
LASTING_MONTHS = 2
"""Place in `MessageReading.lasting` from which on something holds for months."""
GENERAL = 0.4
"""Chance that a clause tells something lasting of the student's own from which it is general."""
TELLING_SNR = 400
"""SNR of a clause from which on it tells enough to stand alone."""


def lesson(mismatch: Mismatch, clauses: Sequence[str] = (), readings: Sequence[MessageReading] = ()) -> Lesson | None:
    """The general thing about a student which, had it been known, would have led to expecting what was said.

    Parameters
    ----------
    mismatch : Mismatch
    clauses, readings : `own_clauses` of what was said, and what the reader makes of each

    Returns
    -------
    Lesson of at most 220 characters on one line: something lasting that the student says of themselves, or else a habit
    that the message shows and the prediction did not, with its count; None where nothing general was shown

    Source: spec 4.

    Examples
    --------
    >>> from graphmem.model import HabitCount
    >>> counts = (HabitCount("bare", 4, 5),)
    >>> learned = lesson(Mismatch("I added 5, so it is 41.", "41", "How did you get there?", habits=counts))
    >>> learned.text, learned.tags
    ('The student gives the bare result when asked for reasons, 4 of 5 times.', ('explaining',))
    >>> lesson(Mismatch("41", "ok", "Shall we go on?")) is None
    True
    """
    who = mismatch.student or ANYONE
    return _stated(mismatch, who, clauses, readings) or _shown(mismatch, who)


def own_clauses(text: str, asked: str = "") -> list[str]:
    """The clauses of a message in which the student speaks of themselves; what is "mine" is named by the question."""
    doc = Doc(text)
    spans = [] if act_of(doc) is Act.UNREADABLE else statement_spans(doc)
    said = [last_question(asked), *(text[slice(*span)] for span in spans)]
    clauses = [Doc(with_mine_named(before, clause) or clause) for before, clause in pairwise(said)]
    return [c.text for c in clauses if not c.asks and not FIRST_PERSON.isdisjoint(c.plain_words)]


def _stated(mismatch: Mismatch, who: str, clauses: Sequence[str], readings: Sequence[MessageReading]) -> Lesson | None:
    """What the message says of the student that holds for long, in the third person."""
    able = [(clause, read) for clause, read in zip(clauses, readings, strict=True) if _is_general(clause, read)]
    best = max(able, key=lambda each: generality(each[1]), default=None)
    if best is None:
        return None
    text = clean(retold(best[0], who, mismatch.at))
    told = text.startswith(who) and not text.startswith((f"{who} says", f"{who} asks"))
    return Lesson(clipped(text, LESSON_CHARACTERS), _tags(Doc(best[0]))) if told else None


def _is_general(clause: str, reading: MessageReading) -> bool:
    """True of an attribute of the student's own, such as home, likes and fears, and of what holds for months.

    What "we all" do is mostly said of people in general.
    """
    doc = Doc(clause)
    attribute = (slot_of(doc) or "").startswith("self ")
    alone = not ALONE.isdisjoint(doc.plain_words)
    return attribute or (alone and generality(reading) >= GENERAL and reading.snr >= TELLING_SNR)


def generality(reading: MessageReading) -> float:
    """Chance that a clause tells something of the student's own that holds for months."""
    return (
        float(reading.lasting[LASTING_MONTHS:].sum() * reading.kind[KINDS.index(MemoryKind.TRAIT)]) * reading.about_self
    )


def _shown(mismatch: Mismatch, who: str) -> Lesson | None:
    """A habit that the message shows and that was not foreseen."""
    asked, before = Doc(mismatch.asked), Doc(mismatch.before)
    foreseen = Exchange(Doc(mismatch.predicted), asked, before)
    expected = {count.name for count in shown_habits(mismatch.habits, foreseen)}
    shown = shown_habits(mismatch.habits, Exchange(Doc(mismatch.actual), asked, before))
    count = next((each for each in shown if each.name not in expected), None)
    return None if count is None else Lesson(told(count, who), HABITS[count.name].tags, count.name)


def keywords(docs: Iterable[Doc], limit: int) -> tuple[str, ...]:
    """The key phrases of some texts, or else their rarest word; empty only where there is no letter or digit.

    Parameters
    ----------
    docs : the most important one first; each of the others adds at most half of `limit`
    limit : int >= 1, most keywords

    Returns
    -------
    tuple of str, none empty, none twice; bare numbers only where there is nothing else

    Examples
    --------
    >>> keywords([Doc("I got 12 spoons = 12"), Doc("How many spoons did Julia buy?")], 8)
    ('12 spoons', 'spoons', 'Julia buy')
    >>> keywords([Doc("12")], 8), keywords([Doc("is it so?")], 8), keywords([Doc(":-)")], 8)
    (('12',), ('so',), ())
    """
    docs = list(docs)
    if phrases := _phrases(docs, limit):
        return phrases
    words = [word for doc in docs if (word := rarest_word(doc.shown.excerpt.words))]
    return (max(words, key=word_rarity),) if words else ()


def _tags(doc: Doc) -> tuple[str, ...]:
    return keywords([doc], MAX_LESSON_TAGS) or ("student",)


def _phrases(docs: Sequence[Doc], limit: int) -> tuple[str, ...]:
    """The key phrases of some texts, bare numbers only where there is nothing else."""
    found: dict[str, str] = {}
    for i, doc in enumerate(docs):
        for phrase in doc.shown.key_phrases(limit if i == 0 else max(1, limit // 2)):
            found.setdefault(phrase.casefold(), phrase)
    named = [phrase for phrase in found.values() if _is_named(phrase)]
    return tuple((named or list(found.values()))[:limit])


def _is_named(phrase: str) -> bool:
    return any(c.isalpha() for c in phrase)

"""Ledger promotion by cue phrases: what the offline mind puts into the ledger (spec 8).

A sentence is one entry at most. `ledger_cues_told` and `ledger_cues_lasting` hold for each category what announces it,
and what takes that back: figures of speech, word problems, stories, games.
"""

import re
from typing import NamedTuple

from graphmem.model import Heard, LedgerCategory, Reminder, SourceKind
from graphmem.text.doc import Doc, doc_of
from graphmem.text.ledger_cue_parts import announced
from graphmem.text.ledger_cues_lasting import FACT_CUES, INSTRUCTIONS, NOTES, OBSERVATIONS
from graphmem.text.ledger_cues_told import DEBTS, PROMISES, SECRETS
from graphmem.text.normalize import straightened
from graphmem.text.sanitize import clipped
from graphmem.text.sentences import stripped
from graphmem.text.words import word_rarity

SUMMARY_CHARACTERS = 80
"""Longest summary; a longer one is cut between words."""
SPAN_CHARACTERS = 600
"""Longest span; of a longer sentence the part around the cue is taken."""
CUE_TRIGGERS = 6
"""Most triggers of an entry."""
NAME_CHARACTERS = 100
"""Longest trigger entity."""
TRIGGER_RARITY = 3.2
"""Rarity from which a word alone brings an entry back; commoner ones do so in phrases."""
SENTENCE_CHARACTERS = 1_000
"""Longest piece of an endless sentence."""
IMPORTANCE = {
    LedgerCategory.THREAT: 1.0,
    LedgerCategory.SECRET: 0.9,
    LedgerCategory.FACT: 0.8,
    LedgerCategory.PROMISE: 0.8,
    LedgerCategory.INSTRUCTION: 0.8,
    LedgerCategory.DEBT: 0.7,
    LedgerCategory.OBSERVATION: 0.6,
}
"""How much an entry of a category matters, 0..1."""

CUES = (*SECRETS, *DEBTS, *PROMISES, *INSTRUCTIONS, *FACT_CUES, *OBSERVATIONS, *NOTES)
"""A sentence goes to the first that it announces, what was told in confidence before everything."""

_LETTER = re.compile(r"[^\W\d_]")
_QUOTED = re.compile(r"[\"“”][^\"“”\n]{1,200}[\"“”]")
_CUE_WORDS = frozenset(
    """
    agreed anybody anyone back borrowed call clear confidence day days deal everybody everyone friday lent
    lesson lessons loan monday month months nobody note notice noticed noticing observation observed one owe
    owed owes paid pay people person pledged private promise promised promises promising realised realized
    record remembering remind repay return saturday secret secretly seems session sessions somebody someone stop
    sunday swear swore three thursday time times today tomorrow tonight tuesday two vowed wednesday week weeks
    whenever word worth year years yesterday
    """.split()  # noqa: SIM905
)


def reminders(heard: Heard) -> tuple[Reminder, ...]:
    """Extract the ledger entries of a message by cue phrases.

    Parameters
    ----------
    heard : Heard, in English; what was said before it is not read

    Returns
    -------
    tuple of Reminder, in the order of the message, their spans apart; content is the words of the span, a summary
    has at most 80 characters, triggers are 2 to 6 where the span has as many words that could bring it back

    Source: spec 8.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> said = "I owe it all to practice. I still owe Karim 5 euros for the cinema!"
    >>> [(r.category.value, r.content, r.trigger_entities) for r in reminders(Heard(said, at))]
    [('debt', 'I still owe Karim 5 euros for the cinema!', ('Karim',))]
    """
    doc = doc_of(heard)
    text = straightened(doc.text)
    noted = heard.kind in (SourceKind.TEACHER, SourceKind.SYSTEM)
    spans = _read_spans(doc)
    found: list[Reminder] = []
    end = 0
    for place in range(len(spans)):
        start, stop = spans[place]
        hit = _announced(text[start:stop], noted) if start >= end else None
        if hit is None:
            continue
        start, stop = _cut(text, *_whole(text, spans, place, hit, end), start + hit.start)
        found.append(_reminder(heard.text, start, stop, hit.category))
        end = stop
    return tuple(found)


def danger_reminder(doc: Doc) -> Reminder:
    """The ledger entry of a message that tells of danger: its words, up to 600 characters.

    Examples
    --------
    >>> danger_reminder(Doc("He said he will beat me.")).category.value
    'threat'
    """
    _, stop = _at_words(doc.text, 0, min(len(doc.text), SPAN_CHARACTERS), 0, len(doc.text))
    return _reminder(doc.text, 0, stop, LedgerCategory.THREAT)


def summary_of(content: str) -> str:
    """The beginning of a content on one line, at most 80 characters, cut between words.

    Examples
    --------
    >>> summary_of("I promised to\\nfeed the rabbits.")
    'I promised to feed the rabbits.'
    """
    return clipped(content, SUMMARY_CHARACTERS)


class _Hit(NamedTuple):
    """A category, and where in its sentence the announcement stands."""

    category: LedgerCategory
    start: int
    end: int


def _announced(sentence: str, noted: bool) -> _Hit | None:
    masked = _QUOTED.sub(lambda match: " " * len(match.group()), sentence)
    for cue in CUES:
        if cue.noted and not noted:
            continue
        # Somebody else's words in quotation marks announce nothing.
        if (span := announced(cue, masked)) is not None:
            return _Hit(cue.category, *span)
    return None


def _whole(text: str, spans: list[tuple[int, int]], place: int, hit: _Hit, free: int) -> tuple[int, int]:
    """The span that says all: the sentence itself, except for a secret whose sentence only asks for silence.

    What is to be kept silent then stands after it when it opens the message, else before it, unless that is part of
    an earlier entry (up to `free`).
    """
    start, stop = spans[place]
    rest = f"{text[start : start + hit.start]} . {text[start + hit.end : stop]}"
    if hit.category is LedgerCategory.SECRET and not Doc(rest).key_phrases(1):
        if place == 0 and len(spans) > 1:
            return start, spans[1][1]
        if place > 0 and spans[place - 1][0] >= free:
            return spans[place - 1][0], stop
    return start, stop


def _cut(text: str, start: int, stop: int, cue: int) -> tuple[int, int]:
    """A span that is not too long: of a very long one the part around the cue."""
    if stop - start <= SPAN_CHARACTERS:
        return start, stop
    around = max(start, min(cue - SPAN_CHARACTERS // 3, stop - SPAN_CHARACTERS))
    return _at_words(text, around, min(stop, around + SPAN_CHARACTERS), start, stop)


def _at_words(text: str, start: int, stop: int, first: int, last: int) -> tuple[int, int]:
    """A span moved inwards to where words begin and end, where it has blanks at all."""
    if start > first and " " in text[start : start + 60]:
        start = text.index(" ", start) + 1
    if stop < last and " " in text[stop - 60 : stop]:
        stop = text.rindex(" ", start, stop)
    return start, stop


def _reminder(text: str, start: int, stop: int, category: LedgerCategory) -> Reminder:
    content = text[start:stop]
    said = Doc(content)
    names = tuple(e.name for e in said.entities if e.name[0].isupper() and len(e.name) <= NAME_CHARACTERS)
    return Reminder(
        start=start,
        end=stop,
        category=category,
        content=content,
        summary=summary_of(content),
        importance=IMPORTANCE[category],
        triggers=_triggers(said, names),
        trigger_entities=names,
    )


def _triggers(content: Doc, names: tuple[str, ...]) -> tuple[str, ...]:
    """Trigger terms of an entry: its rare words alone, commoner ones in their phrase, rarest first."""
    named = {word.casefold() for name in names for word in name.split()}
    scored: dict[str, float] = {}
    spare: dict[str, float] = {}
    for phrase in content.key_phrases(12):
        words = [w for w in phrase.split() if w.casefold() not in named and w.casefold() not in _CUE_WORDS]
        common = [w for w in words if word_rarity(w) < TRIGGER_RARITY]
        scored |= {w: word_rarity(w) for w in words if word_rarity(w) >= TRIGGER_RARITY}
        spare |= {w: word_rarity(w) for w in common if not w[0].isdigit()}
        if len(common) > 1 and " ".join(common) in content.text:
            scored[" ".join(common)] = max(map(word_rarity, common))
    if len(scored) < 2:
        scored = spare | scored
    kept: dict[str, str] = {}
    for words_ in sorted(scored, key=lambda each: -scored[each]):
        kept.setdefault(words_.casefold(), words_)
    return tuple(kept.values())[:CUE_TRIGGERS]


def _read_spans(doc: Doc) -> list[tuple[int, int]]:
    """The spans of the sentences; an endless one in pieces, as patterns look far ahead."""
    spans = []
    for sentence in doc.sentences:
        start, stop = sentence.start, sentence.end
        while start < stop:
            end = stop
            if stop - start > SENTENCE_CHARACTERS:
                end = doc.text.rfind(" ", start + 1, start + SENTENCE_CHARACTERS) + 1 or start + SENTENCE_CHARACTERS
            if _LETTER.search(doc.text, start, end):
                spans.append(stripped(doc.text, start, end))
            start = end
    return spans

"""Ledger triggers: a word, a name or a meaning that brings an entry back (spec 8)."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from graphmem.model import LedgerCategory, LedgerEntry, Matrix, SourceKind, Vector
from graphmem.text.doc import Doc, terms
from graphmem.text.normalize import straightened
from graphmem.text.stems import stem

# Written without blanks (Thai, Lao, Burmese, Khmer, Kana, Han): where a word ends cannot be told from its letters.
_UNSPACED_SCRIPTS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_ALSO_WORDS = frozenset(
    """
    will may mark grace hope faith joy rose art bill jack june april august summer dawn ray pat rob sue drew grant chase
    max penny ivy lily daisy ruby amber jade olive violet heather holly frank rich gene bob chip duke guy king dean
    miles pearl robin jay china turkey star sunny angel destiny melody page reed brook river forest hunter mason
    """.split()  # noqa: SIM905
)


MOST_INSTRUCTIONS = 10
"""Most instructions that surface at once, the newest."""


@dataclass(frozen=True)
class Surfaced:
    """A ledger entry that fits a message, and why: `instruction`, `trigger: word`, `entity: Name`, `meaning 0.83`."""

    entry: LedgerEntry
    why: tuple[str, ...]


def surfacing(
    entries: Sequence[LedgerEntry],
    message: Doc,
    vector: Vector,
    vectors: Sequence[Vector | None] | Matrix,
    now: float,
) -> list[Surfaced]:
    """The ledger entries that a message brings back.

    Parameters
    ----------
    entries : sequence of LedgerEntry, of length n, opened
    message : Doc
    vector : float32 array of shape (d,), of length 1: the meaning of the message
    vectors : n of the same, of the entries' contents; None where there is none, which then never fits by meaning
    now : seconds since 1970

    Returns
    -------
    list of Surfaced, best first: instructions, then what was named by most triggers and names, then the nearest in
    meaning, then the most important. Nothing that is settled or has expired

    Notes
    -----
    Meaning is (1 + cosine) / 2 and fits from the entry's own threshold on.

    Source: spec 8.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> entry = LedgerEntry("ledger-1", LedgerCategory.PROMISE, "I promised Mia a fraction game.", "", 0.8,
    ...                     ("fraction game",), ("Mia",), 0.9, True, None, datetime(2026, 1, 1, tzinfo=UTC))
    >>> east, north = np.eye(2, dtype=np.float32)
    >>> [s.why for s in surfacing([entry], Doc("I like fraction games, says Mia!"), east, [north], now=0.0)]
    [('trigger: fraction game', 'entity: Mia')]
    >>> surfacing([entry], Doc("Hello"), east, [north], now=0.0)
    []
    """
    said = _read_message(message)
    ranked: list[tuple[tuple[bool, int, float, float], Surfaced]] = []
    for entry, own in zip(entries, vectors, strict=True):
        if not is_active(entry, now):
            continue
        bound = entry.category is LedgerCategory.INSTRUCTION
        named = [f"trigger: {t}" for t in entry.triggers if said.has(t)]
        named += [f"entity: {e}" for e in entry.trigger_entities if said.names(e)]
        meaning = 0.0 if own is None else closeness(vector, own)
        near = [f"meaning {meaning:.2f}"] if own is not None and meaning >= entry.trigger_threshold else []
        if bound or named or near:
            why = (*(["instruction"] if bound else []), *named, *near)
            ranked.append(((bound, len(named), meaning, entry.importance), Surfaced(entry, why)))
    ranked.sort(key=lambda each: each[0], reverse=True)
    instructions = [s.entry for _, s in ranked if s.entry.category is LedgerCategory.INSTRUCTION]
    # A teacher's, the institution's and an app's come before the student's own.
    older = sorted(instructions, key=_rank, reverse=True)[MOST_INSTRUCTIONS:]
    left_out = {entry.id for entry in older}
    return [surfaced for _, surfaced in ranked if surfaced.entry.id not in left_out]


def _rank(entry: LedgerEntry) -> tuple[bool, datetime]:
    return entry.given_by is not SourceKind.CHAT, entry.created_at


def is_active(entry: LedgerEntry, now: float) -> bool:
    """True if an entry is neither settled nor expired; `now` in seconds since 1970."""
    return entry.is_active and (entry.expires_at is None or entry.expires_at.timestamp() > now)


def active_at(entry: LedgerEntry, moment: datetime) -> LedgerEntry | None:
    """An entry as it was at a moment; None where it was not there yet, or settled, ended or expired by then."""
    # One that is not active though nobody settled it may have expired since.
    expired = entry.settled_at is None and entry.expires_at is not None
    held = entry.is_active or expired or (entry.settled_at is not None and entry.settled_at > moment)
    if entry.created_at > moment or not held or (entry.expires_at is not None and entry.expires_at <= moment):
        return None
    return replace(entry, is_active=True, settled_at=None, note=None)


def closeness(one: Vector, other: Vector) -> float:
    """Likeness in meaning, (1 + cosine) / 2, in [0, 1].

    Examples
    --------
    >>> east, north = np.eye(2, dtype=np.float32)
    >>> closeness(east, east), closeness(east, north), closeness(east, -east)
    (1.0, 0.5, 0.0)
    """
    return float(min(1.0, max(0.0, (1.0 + float(np.dot(one, other))) / 2.0)))


def _plain_text(text: str) -> str:
    return straightened(unicodedata.normalize("NFKC", text))


@dataclass(frozen=True)
class _Said:
    """A message as triggers and names are looked up in it: where each stem and each word stands."""

    text: str
    stems: dict[str, set[int]] = field(repr=False)
    places: dict[str, set[int]] = field(repr=False)
    capitals: frozenset[int] = field(repr=False)

    def has(self, trigger: str) -> bool:
        """True if a trigger occurs as whole words, in any case and any form of English.

        In other scripts it must be equal; what is written without blanks need only be contained.
        """
        if _is_dense(trigger):
            return _plain_text(trigger).casefold().strip() in self.text
        return bool(_adjacent([self.stems.get(stem(word), set()) for word in Doc(_plain_text(trigger)).terms]))

    def names(self, entity: str) -> bool:
        """True if an entity is named; a name that is also a common word has to be written as a name."""
        if _is_dense(entity):
            return _plain_text(entity).casefold().strip() in self.text
        words = Doc(_plain_text(entity)).terms
        starts = _adjacent([self.places.get(word, set()) for word in words])
        if len(words) == 1 and words[0] in _ALSO_WORDS:
            starts &= self.capitals
        return bool(starts)


def _is_dense(text: str) -> bool:
    """True of words that are written without blanks, and not of mere marks of such a script."""
    return _UNSPACED_SCRIPTS.search(text) is not None and any(map(str.isalnum, text))


def _adjacent(places: Sequence[set[int]]) -> set[int]:
    """Start positions at which words at these places are adjacent, in order."""
    if not places:
        return set()
    return set.intersection(*({place - i for place in each} for i, each in enumerate(places)))


def _read_message(message: Doc) -> _Said:
    text = _plain_text(message.text)
    doc = message if text == message.text else Doc(text)
    stems: dict[str, set[int]] = defaultdict(set)
    places: dict[str, set[int]] = defaultdict(set)
    capitals, place = set(), 0
    for sentence in doc.sentences:
        for i, word in enumerate(sentence.words):
            # A word that opens a sentence is written with a capital whatever it is.
            if i and word[0].isupper():
                capitals.add(place)
            for term in terms(word):
                places[term].add(place)
                stems[stem(term)].add(place)
                place += 1
    return _Said(text.casefold(), dict(stems), dict(places), frozenset(capitals))

"""When what must not be forgotten comes back: by a word, by a name, or by meaning (spec 8)."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from graphmem.model import LedgerCategory, LedgerEntry, Matrix, Vector

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?\n])\W*$")
# Written without blanks (Thai, Lao, Burmese, Khmer, Kana, Han): where a word ends cannot be told from its letters.
_DENSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_VOWEL = re.compile("[aeiouy]")
# A short syllable keeps no silent e: "hopping" comes from hop, "hoping" from hope.
_SHORT = re.compile(r"[^aeiouy]*[aeiouy][^aeiouywx]")
_WHOLE = frozenset(
    """
    news this his was is as us yes bus gas its thus evening morning nothing something anything everything during
    ceiling hundred naked sacred wicked need indeed bed wedding king thing
    """.split()  # noqa: SIM905
)
_FORMS = """
    be am is are was were been; have has had; do does did done; go goes went gone; say said; tell told; get got gotten
    give gave given; take took taken; make made; come came; see saw seen; know knew known; think thought; find found
    feel felt; leave left; keep kept; lend lent; pay paid; buy bought; bring brought; lose lost; forget forgot forgotten
    swear swore sworn; steal stole stolen; break broke broken; fight fought; beat beaten; write wrote written
    speak spoke spoken; teach taught; learn learnt; meet met; run ran; eat ate eaten; drink drank drunk
    drive drove driven; fly flew flown; fall fell fallen; hide hid hidden; hold held; sell sold; send sent; sit sat
    sleep slept; spend spent; stand stood; win won; wear wore worn; wake woke woken; throw threw thrown
    draw drew drawn; grow grew grown; sing sang sung; swim swam swum; begin began begun; choose chose chosen
    build built; catch caught; child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice
    goose geese; knife knives; life lives; wife wives; half halves; leaf leaves; wolf wolves; shelf shelves
    thief thieves; loaf loaves
"""
_IRREGULAR = {
    form: forms[0] for line in _FORMS.replace("\n", ";").split(";") if (forms := line.split()) for form in forms[1:]
}
_ALSO_WORDS = frozenset(
    """
    will may mark grace hope faith joy rose art bill jack june april august summer dawn ray pat rob sue drew grant chase
    max penny ivy lily daisy ruby amber jade olive violet heather holly frank rich gene bob chip duke guy king dean
    miles pearl robin jay china turkey star sunny angel destiny melody page reed brook river forest hunter mason
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Surfaced:
    """A ledger entry that fits a message, and why: `instruction`, `trigger: word`, `entity: Name`, `meaning 0.83`."""

    entry: LedgerEntry
    why: tuple[str, ...]


def surfacing(
    entries: Sequence[LedgerEntry],
    message: str,
    vector: Vector,
    vectors: Sequence[Vector | None] | Matrix,
    now: float,
) -> list[Surfaced]:
    """The ledger entries that a message brings back.

    Parameters
    ----------
    entries : sequence of LedgerEntry, of length n, opened
    message : str
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
    >>> [s.why for s in surfacing([entry], "I like fraction games, says Mia!", east, [north], now=0.0)]
    [('trigger: fraction game', 'entity: Mia')]
    >>> surfacing([entry], "Hello", east, [north], now=0.0)
    []
    """
    said = _read(message)
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
    return [surfaced for _, surfaced in ranked]


def is_active(entry: LedgerEntry, now: float) -> bool:
    """Whether an entry is neither settled nor expired; `now` in seconds since 1970."""
    return entry.is_active and (entry.expires_at is None or entry.expires_at.timestamp() > now)


def closeness(one: Vector, other: Vector) -> float:
    """Likeness in meaning, (1 + cosine) / 2, in [0, 1].

    Examples
    --------
    >>> east, north = np.eye(2, dtype=np.float32)
    >>> closeness(east, east), closeness(east, north), closeness(east, -east)
    (1.0, 0.5, 0.0)
    """
    return float(min(1.0, max(0.0, (1.0 + float(np.dot(one, other))) / 2.0)))


def triggered(trigger: str, message: str) -> bool:
    """Whether a word or phrase occurs in a message, as whole words, in any case and any inflection.

    Parameters
    ----------
    trigger, message : str, in any script; inflections are those of English, other scripts must be equal, and what
        is written without blanks need only be contained

    Source: spec 8.

    Examples
    --------
    >>> triggered("study", "She studies a lot"), triggered("promise", "You PROMISED!"), triggered("art", "a party")
    (True, True, False)
    >>> triggered("fraction game", "games with fractions"), triggered("分数", "我不懂分数")
    (False, True)
    """
    return _read(message).has(trigger)


@lru_cache(maxsize=20_000)
def base_forms(word: str) -> frozenset[str]:
    """What a word may be an inflection of, itself included; two words are forms of one where these meet.

    Parameters
    ----------
    word : str, case-folded

    Notes
    -----
    Plurals, the third person, past and -ing forms, with the spelling they bring (studies, hopping, hoping, dying), and
    a table of common irregular ones. Not comparatives, nor -ly, -er, -ment: those are other words. A base that does not
    exist does no harm, since nobody says it.

    Source: the ending rules are steps 1a and 1b of Porter 1980, An algorithm for suffix stripping, with the possible
    bases kept side by side instead of one stem, so that hope and hop stay apart.

    Examples
    --------
    >>> "study" in base_forms("studies") & base_forms("studying")
    True
    >>> base_forms("hoping") & base_forms("hop"), base_forms("thing") & base_forms("th")
    (frozenset(), frozenset())
    """
    forms = {word}
    if word in _IRREGULAR:
        forms.add(_IRREGULAR[word])
    if word.isascii() and word.isalpha() and word not in _WHOLE and len(word) > 3:
        forms |= set(_without_s(word)) | set(_without_verb_ending(word))
    return frozenset(forms)


def _without_s(word: str) -> Iterable[str]:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return
    yield word[:-1]
    if word.endswith("ies") and len(word) > 4:
        yield word[:-3] + "y"
    elif word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        yield word[:-2]


def _without_verb_ending(word: str) -> Iterable[str]:
    if word.endswith("ied") and len(word) > 4:
        yield word[:-3] + "y"
    elif word.endswith("eed") and len(word) > 5:
        yield word[:-1]
    ending = 3 if word.endswith("ing") else 2 if word.endswith("ed") and not word.endswith("eed") else 0
    stem = word[:-ending] if ending else ""
    if len(stem) < 2 or not _VOWEL.search(stem):
        return
    if word.endswith("ying"):
        yield stem[:-1] + "ie"
    if not _SHORT.fullmatch(stem):
        yield stem
    if len(stem) > 3 and stem[-1] == stem[-2]:
        yield stem[:-1]
    yield stem + "e"


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def _words(text: str) -> list[str]:
    """The words of a text, case-folded, without the possessive."""
    return [_own(word.casefold()) for word in _WORD.findall(text)]


def _own(word: str) -> str:
    return word[:-2] if word.endswith("'s") else word


@dataclass(frozen=True)
class _Said:
    """A message as triggers and names are looked up in it: where each base form and each word stands."""

    text: str
    forms: dict[str, set[int]] = field(repr=False)
    places: dict[str, set[int]] = field(repr=False)
    capitals: frozenset[int] = field(repr=False)

    def has(self, trigger: str) -> bool:
        """Whether a trigger occurs."""
        if _DENSE.search(trigger):
            return _plain(trigger).casefold().strip() in self.text
        places = []
        for word in _words(_plain(trigger)):
            stands = [self.forms[form] for form in base_forms(word) if form in self.forms]
            if not stands:
                return False
            places.append(set().union(*stands))
        return bool(_runs(places))

    def names(self, entity: str) -> bool:
        """Whether an entity is named; a name that is also a common word has to be written as a name."""
        if _DENSE.search(entity):
            return _plain(entity).casefold().strip() in self.text
        words = _words(_plain(entity))
        starts = _runs([self.places.get(word, set()) for word in words])
        if len(words) == 1 and words[0] in _ALSO_WORDS:
            starts &= self.capitals
        return bool(starts)


def _runs(places: Sequence[set[int]]) -> set[int]:
    """Where words that stand at these places follow on each other."""
    if not places:
        return set()
    return set.intersection(*({place - i for place in each} for i, each in enumerate(places)))


def _read(message: str) -> _Said:
    text = _plain(message)
    forms: dict[str, set[int]] = defaultdict(set)
    places: dict[str, set[int]] = defaultdict(set)
    capitals = set()
    for place, match in enumerate(_WORD.finditer(text)):
        word = _own(match.group().casefold())
        places[word].add(place)
        for form in base_forms(word):
            forms[form].add(place)
        # A word that opens a sentence is written with a capital whatever it is.
        if match.group()[0].isupper() and not _SENTENCE_START.search(text[max(0, match.start() - 8) : match.start()]):
            capitals.add(place)
    return _Said(text.casefold(), dict(forms), dict(places), frozenset(capitals))

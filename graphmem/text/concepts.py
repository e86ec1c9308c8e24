"""Concepts of the world recognised in a text: every name and alias in one pass, inflected, misspelled, spaced out.

The words of a text are looked up in one Aho-Corasick automaton over the stems of all names, so a text takes as long
with 100,000 concepts as with ten (spec 11).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import ahocorasick
from rapidfuzz.distance import OSA

from graphmem.model import Concept
from graphmem.text.stems import stem
from graphmem.text.words import common_words, fine_tokens, is_known

COMMON_RARITY = 3.5
"""Rarity below which a word is common: whether it means the concept of its name only what is around it tells."""
LONG_WORD = 5
"""Letters of the shortest word that is also recognised with one wrong letter."""
SPELLED_OUT = 3
"""Letters, each apart, from which on they are read as one word."""
GAP = 3
"""Most characters between two letters that are spelled out."""

_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


class _Word(NamedTuple):
    """A folded word and its place."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class NamedSpan:
    """A name of concepts in a text; concepts may share a name.

    start, end : its place
    word : the name, where it is one word that is common in English, too, so that the concept need not be meant
    """

    concept_ids: tuple[str, ...]
    start: int
    end: int
    word: str | None = None

    @property
    def is_common(self) -> bool:
        """True if the name is a common word, too."""
        return self.word is not None


class ConceptNames:
    """The names and aliases of concepts, to be found in texts; immutable once made.

    Parameters
    ----------
    concepts : Iterable of Concept

    Source: Aho & Corasick 1975, Efficient string matching; spec 11.

    Examples
    --------
    >>> names = ConceptNames([Concept("frac", "fraction", ("Bruch",)), Concept("set", "set"), Concept("e", "equation")])
    >>> text = "Set the table, then we add FRACTIONS."
    >>> [(text[m.start : m.end], m.concept_ids, m.is_common) for m in names.find(text)]
    [('Set', ('set',), True), ('FRACTIONS', ('frac',), False)]
    >>> [m.concept_ids for m in names.find("f-r-a-c-t-i-o-n, equatoin")], names.find("a friction")
    ([('frac',), ('e',)], ())
    """

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._ids: dict[str, int] = {}
        self._single: dict[str, str] = {}
        self._spellings: set[str] = set()
        self._near: dict[str, list[str]] = defaultdict(list)
        bearers: dict[tuple[int, ...], dict[str, None]] = defaultdict(dict)
        for concept in concepts:
            for name in (concept.name, *concept.aliases):
                bearers[self._key_of(name)][concept.id] = None
        bearers.pop((), None)
        single = (word for word in self._single.values() if stem(word) in _common_stems())
        common: dict[tuple[int, ...], str] = {(self._ids[stem(word)],): word for word in single}
        self._bearers = [(tuple(ids), len(key), common.get(key)) for key, ids in bearers.items()]
        self._automaton = _automaton(bearers)

    def _key_of(self, name: str) -> tuple[int, ...]:
        """A name as the numbers of its words' stems; each word is noted."""
        words = [word.text for word in _words(name)]
        if len(words) == 1:
            self._single |= {words[0]: words[0], f"{words[0]}s": words[0]}
        for word in words:
            if len(word) >= LONG_WORD and word not in self._spellings and word.isalpha():
                self._spellings.add(word)
                for less in (word, *_one_less(word)):
                    self._near[less].append(word)
        return tuple(self._ids.setdefault(stem(word), len(self._ids) + 1) for word in words)

    def __bool__(self) -> bool:
        return bool(self._bearers)

    @property
    def common_words(self) -> list[tuple[str, str]]:
        """The names that are common words, too, each with the concept that it names."""
        return [(concept_id, word) for ids, _, word in self._bearers if word is not None for concept_id in ids]

    def find(self, text: str) -> tuple[NamedSpan, ...]:
        """The mentions in a text by place, shorter names within longer ones included."""
        if not self._bearers:
            return ()
        words = list(_words(text))
        found: dict[NamedSpan, None] = {}
        for reading in (words, *_spelled_out(text, words), self._halves(words)):
            found |= dict.fromkeys(self._read(reading))
        return tuple(sorted(found, key=lambda m: (m.start, -m.end)))

    def _read(self, words: Sequence[_Word]) -> Iterator[NamedSpan]:
        if not words:
            return
        for last, number in self._automaton.iter(tuple(self._id_of(word.text) for word in words)):
            ids, length, word = self._bearers[number]
            yield NamedSpan(ids, words[last - length + 1].start, words[last].end, word)

    def _halves(self, words: Sequence[_Word]) -> list[_Word]:
        """The names of one word that are written as two; each is told apart from the next by a word of no name."""
        halves: list[_Word] = []
        for one, other in pairwise(words):
            whole = self._single.get(one.text + other.text) if other.start - one.end == 1 else None
            if whole is not None and len(whole) > LONG_WORD:
                halves += [_Word(whole, one.start, other.end), _Word("", other.end, other.end)]
        return halves

    def _id_of(self, word: str) -> int:
        """The number of a word's stem, or of the one that it is misspelled from; 0 where no name has it."""
        known = self._ids.get(stem(word))
        if known is not None or len(word) < LONG_WORD or is_known(word):
            return known or 0
        for meant in (word, word.removesuffix("s")):
            for near in (each for less in (meant, *_one_less(meant)) for each in self._near.get(less, ())):
                if OSA.distance(near, meant) <= 1:
                    return self._ids[stem(near)]
        return 0


def longest(mentions: Sequence[NamedSpan]) -> tuple[NamedSpan, ...]:
    """Mentions that stand within no longer one.

    Examples
    --------
    >>> [m.concept_ids for m in longest([NamedSpan(("prime number",), 0, 12), NamedSpan(("number",), 6, 12)])]
    [('prime number',)]
    """
    return tuple(m for m in mentions if not any(_holds(other, m) for other in mentions))


def hidden_mentions(mentions: Sequence[NamedSpan], known: Collection[str]) -> tuple[NamedSpan, ...]:
    """Mentions that name no known concept; what stands within the name of a known one is part of that name.

    Parameters
    ----------
    mentions : as `ConceptNames.find` gives them
    known : ids of the concepts that a student knows

    Examples
    --------
    >>> found = ConceptNames([Concept("p", "prime number"), Concept("n", "number")]).find("a prime number")
    >>> [m.concept_ids for m in hidden_mentions(found, {"n"})], hidden_mentions(found, {"p"})
    ([('p',)], ())
    """
    shown = [m for m in mentions if any(i in known for i in m.concept_ids)]
    hidden = [m for m in mentions if not any(i in known for i in m.concept_ids)]
    return tuple(m for m in hidden if not any(_holds(other, m) for other in shown))


def _holds(longer: NamedSpan, shorter: NamedSpan) -> bool:
    return (
        longer.start <= shorter.start
        and shorter.end <= longer.end
        and (longer.start, longer.end) != (shorter.start, shorter.end)
    )


@lru_cache(maxsize=1)
def _common_stems() -> frozenset[str]:
    return frozenset(map(stem, common_words(COMMON_RARITY)))


def _automaton(keys: Iterable[tuple[int, ...]]) -> ahocorasick.Automaton:
    """An automaton that finds keys, each by its number in their order."""
    automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS, ahocorasick.KEY_SEQUENCE)
    for number, key in enumerate(keys):
        automaton.add_word(key, number)
    # One without keys cannot be made; it is never asked.
    if len(automaton):
        automaton.make_automaton()
    return automaton


def _words(text: str) -> Iterator[_Word]:
    """The words of a text, folded, each with its place; what cannot be seen is passed over."""
    places = None
    if _UNSEEN.search(text):
        places = [i for i, c in enumerate(text) if not _UNSEEN.match(c)]
        text = "".join(text[i] for i in places)
    for token in fine_tokens(text):
        word, start, end = _folded(token.text), token.start, token.end
        if word == "s" and text[start - 1 : start] in ("'", "’"):
            continue
        yield _Word(word, start, end) if places is None else _Word(word, places[start], places[end - 1] + 1)


def _folded(word: str) -> str:
    """A word without case and accents."""
    word = word.casefold()
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)).casefold()


def _spelled_out(text: str, words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """The words read anew: letters that stand each apart as one word, and so the parts of what is hyphenated."""
    for gap in (1, GAP):
        letters = _joined(words, partial(_are_letters, gap=gap), SPELLED_OUT)
        if len(letters) < len(words):
            yield letters
    if "-" in text:
        hyphened = _joined(words, lambda a, b: text[a.end : b.start].strip() == "-", 2)
        if len(hyphened) < len(words):
            yield hyphened


def _are_letters(one: _Word, other: _Word, gap: int) -> bool:
    return len(one.text) == len(other.text) == 1 and other.start - one.end <= gap and (one.text + other.text).isalpha()


def _joined(words: Sequence[_Word], hang_together: Callable[[_Word, _Word], bool], least: int) -> list[_Word]:
    """The words, each run of at least `least` that hang together as one."""
    runs: list[list[_Word]] = []
    for word in words:
        if runs and hang_together(runs[-1][-1], word):
            runs[-1].append(word)
        else:
            runs.append([word])
    joined: list[_Word] = []
    for run in runs:
        whole = _Word("".join(word.text for word in run), run[0].start, run[-1].end)
        joined += [whole] if len(run) >= least else run
    return joined


def _one_less(word: str) -> Iterator[str]:
    """A word without one of its letters."""
    return (word[:i] + word[i + 1 :] for i in range(len(word)))

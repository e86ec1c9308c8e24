"""Concepts of the world recognised in a text: every name and alias, inflected, misspelled, spelled out, disguised.

The words of a text are looked up in one Aho-Corasick automaton over the stems of all names, so a text takes as long
with 100,000 concepts as with ten (spec 11).

Whether a common word means a concept of its name in a sentence is a logistic regression on four likenesses, made by
`scripts/train/sense.py`.
"""

import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import ahocorasick
from rapidfuzz.distance import OSA

from graphmem.errors import SetupError
from graphmem.model import Concept, Vector
from graphmem.text.disguises import Undisguised, backwards, decoded, rotated, squeezed, undisguised, unleeted
from graphmem.text.lexicon import word_set
from graphmem.text.stems import base, is_form_of, is_past, latin_plural, regular, stem, uninflected
from graphmem.text.words import common_words, fine_tokens, is_known

COMMON_RARITY = 3.5
"""Rarity below which a word is common: whether it means the concept of its name only what is around it tells."""
LONG_WORD = 5
"""Letters of the shortest word that is also recognised with one wrong letter."""
SPELLED_OUT = 3
"""Letters, each apart, from which on they are read as one word."""
GAPS = (1, 8)
"""Most characters between two letters that are spelled out: as one word or, with the wider gap, several."""
PIECES = 6
"""Most pieces in which a word is recognised that is written apart."""
PIECE_LETTERS = 4
"""Most letters of such a piece where there are more than two."""
FARTHER_WORD = 8
"""Letters of the shortest word that is also recognised with two wrong letters, where its consonants are right."""
COMPOUND_REST = 3
"""Letters that a German compound has beside the name at its beginning or end."""
MOST_CONTENT = 4
"""Most words of a name, without articles and prepositions, that is also recognised in another order."""

_NOT_LETTERS = re.compile(r"[\W\d_]*")
_WEAK_LETTERS = re.compile(r"[aeiouyh]")
_TWICE = re.compile(r"(.)\1")
SHORTEST_PREFIX = 3
"""Letters that tell whether pieces can be the beginning of a name."""
MAX_NAME = 40
"""Letters of the longest word that is read as several or pieced together."""
RUN_TOGETHER = 5
"""Most words of a name that is recognised without spaces."""
_LINKING_WORDS = word_set("a an the of to in de del la las el los en un una al der die das des dem den von ein eine")
"""Words that may stand between those of a name in another order."""
VERB_REACH = 8
"""Words before a common word that are looked at to tell a verb."""

# Closed classes of English that stand before a verb, and before a noun.
_BEFORE_VERB = word_set("""
    i you we they who to can could will would should may might must cannot ll t do does did really also just
""")
_DO = frozenset(["do", "does", "did", "doesn", "don", "didn"])
_THIRD_PERSONS = frozenset(["it", "that", "this", "which", "he", "she", "what", "who", "one"])
_ADVERBS = frozenset(["really", "also", "just", "only", "probably", "always", "usually", "actually", "still"])
_DETERMINERS = word_set("the a an my your his her its our their each every no any")


SENSE_FILE = Path(__file__).with_name("weights") / "sense" / "sense.json"


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
    is_verb : such a word is used as a verb ("what do you mean"), as far as the words around it tell
    """

    concept_ids: tuple[str, ...]
    start: int
    end: int
    word: str | None = None
    is_verb: bool = False

    @property
    def is_common(self) -> bool:
        """True if the name is a common word, too."""
        return self.word is not None


class _Surface(NamedTuple):
    """A name as it is written, in folded words; concepts may share it. `common`: it is a common word, too."""

    words: tuple[str, ...]
    concept_ids: tuple[str, ...]
    common: str | None


class ConceptNames:
    """The names and aliases of concepts, to be found in texts; immutable once made.

    Parameters
    ----------
    concepts : Iterable of Concept

    Notes
    -----
    A name is recognised inflected, misspelled, spelled out, in pieces, run together, in another order, in look-alike
    letters, leetspeak, markup and simple codes. A word that is only derived from one is none (`powerful`). A name of
    symbols, such as "√", is recognised as it is.

    Source: Aho & Corasick 1975, Efficient string matching; spec 11.

    Examples
    --------
    >>> names = ConceptNames([Concept("frac", "fraction", ("Bruch",)), Concept("set", "set"), Concept("e", "equation")])
    >>> text = "Set the table, then we add FRACTIONS."
    >>> [(text[m.start : m.end], m.concept_ids, m.is_common) for m in names.find(text)]
    [('Set', ('set',), True), ('FRACTIONS', ('frac',), False)]
    >>> [m.concept_ids for m in names.find("f-r-a-c-t-i-o-n, equatoin, fr4ct10n")], names.find("a friction")
    ([('frac',), ('e',), ('frac',)], ())
    """

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._ids: dict[str, int] = {}
        self._by_base: dict[str, int] = {}
        self._forms: dict[int, list[str]] = defaultdict(list)
        self._single: dict[str, str] = {}
        self._prefixes: set[str] = set()
        self._compounded: set[str] = set()
        self._spellings: set[str] = set()
        self._near: dict[str, list[str]] = defaultdict(list)
        self._skeletons: dict[str, list[str]] = defaultdict(list)
        self._symbols: dict[str, tuple[str, ...]] = {}
        bearers: dict[tuple[int, ...], dict[tuple[str, ...], dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
        for concept in concepts:
            for name in (concept.name, *concept.aliases):
                words = tuple(word.text for word in _folded_words(name))
                if words:
                    self._learn(name, words)
                    bearers[tuple(map(self._learnt_id, words))][words][concept.id] = None
                elif (symbol := name.strip()) and all(unicodedata.category(each).startswith("S") for each in symbol):
                    self._symbols[symbol] = (*self._symbols.get(symbol, ()), concept.id)
        self._surfaces = [[_surface(words, ids) for words, ids in names.items()] for names in bearers.values()]
        self._automaton = _automaton(bearers)
        self._unordered: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, names in enumerate(bearers.values()):
            for key in {self._content_key(words) for words in names}:
                if 2 <= len(key) <= MOST_CONTENT:
                    self._unordered[key].append(number)
        # Words come again and again, and what they mean here never changes.
        self._resolved = lru_cache(maxsize=20_000)(self._resolve)

    def _learn(self, name: str, words: tuple[str, ...]) -> None:
        """Note the words of a name, so that they are recognised as they are and misspelled."""
        if len(words) == 1:
            (word,) = words
            self._single |= {word: word, f"{word}s": word}
            self._prefixes.update({word[:SHORTEST_PREFIX], word[: SHORTEST_PREFIX - 1]})
            if name[:1].isupper() and len(word) >= LONG_WORD:
                self._compounded.add(word)
        for word in words:
            if len(word) >= LONG_WORD and word not in self._spellings and word.isalpha():
                self._spellings.add(word)
                self._forms[self._learnt_id(word)].append(word)
                for less in (word, *_one_less(word)):
                    self._near[less].append(word)
                if len(word) >= FARTHER_WORD:
                    self._skeletons[_skeleton(word)].append(word)

    def _learnt_id(self, word: str) -> int:
        """The number of a name's word, the same for all its forms."""
        known = self._ids.get(stem(word))
        if known is None:
            known = None if is_known(word) else self._by_base.get(base(word))
            known = self._ids[stem(word)] = known or len(self._ids) + 1
            self._by_base.setdefault(base(word), known)
            if (plural := latin_plural(word)) is not None:
                self._ids.setdefault(stem(plural), known)
        return known

    def _content_key(self, words: Iterable[str]) -> tuple[int, ...]:
        return tuple(sorted(self._learnt_id(word) for word in words if word not in _LINKING_WORDS))

    def __bool__(self) -> bool:
        return bool(self._surfaces or self._symbols)

    @property
    def common_words(self) -> list[tuple[str, str]]:
        """The names that are common words, too, each with the concept that it names."""
        names = (surface for surfaces in self._surfaces for surface in surfaces)
        return [(i, surface.common) for surface in names if surface.common is not None for i in surface.concept_ids]

    def find(self, text: str) -> tuple[NamedSpan, ...]:
        """The mentions in a text by place, shorter names within longer ones included."""
        if not (self._surfaces or self._symbols):
            return ()
        found = dict.fromkeys(self._found(Undisguised(text)))
        clear = undisguised(text)
        if clear.text != text:
            found |= dict.fromkeys(self._found(clear))
        for reading in unleeted(clear.text):
            found |= dict.fromkeys(self._found(replace(clear, text=reading)))
        # "noitcarF" is no camel.
        for way in dict.fromkeys((text, clear.text)):
            for turned in self._turned(clear if way == clear.text else Undisguised(text)):
                found |= dict.fromkeys(self._found(turned))
        for word, start, end in decoded(text):
            found |= {replace(m, start=start, end=end): None for m in self._found(Undisguised(word))}
        return tuple(sorted(found, key=lambda m: (m.start, -m.end)))

    def _found(self, text: Undisguised) -> Iterator[NamedSpan]:
        for symbol, ids in self._symbols.items():
            places = (place for place in range(len(text.text)) if text.text.startswith(symbol, place))
            yield from (NamedSpan(ids, *text.place(place, place + len(symbol))) for place in places)
        words = list(_folded_words(text.text))
        plain = (words, *_spelled_out(text.text, words))
        readings = (
            *plain,
            self._in_one_piece(text.text, words),
            *(self._undisguised(text.text, each) for each in plain),
        )
        for mention in (mention for reading in readings if reading for mention in self._read(reading)):
            start, end = text.place(mention.start, mention.end)
            is_there = (start, end) == (mention.start, mention.end)
            yield mention if is_there else replace(mention, start=start, end=end)

    def _turned(self, text: Undisguised) -> Iterator[Undisguised]:
        """A text as a whole backwards, and rotated by 13, where a word of it nobody knows is a word of a name so."""
        unknown = [word.text for word in _folded_words(text.text) if not self._is_plain(word.text)]
        for turn in (backwards, rotated):
            if any(stem(turn(Undisguised(word)).text) in self._ids for word in unknown):
                yield turn(text)

    def _read(self, words: Sequence[_Word]) -> Iterator[NamedSpan]:
        if not self._surfaces:
            return
        known = [self._resolved(word.text) for word in words]
        ids = tuple(number for number, _ in known)
        for last, number in self._automaton.iter(ids):
            first = last - len(self._surfaces[number][0].words) + 1
            fitting = self._fitting(number, [word for _, word in known[first : last + 1]])
            if fitting:
                common = fitting[0].common
                is_verb = common is not None and _is_made_verb(words, first, common)
                ids_named = tuple(dict.fromkeys(i for surface in fitting for i in surface.concept_ids))
                yield NamedSpan(ids_named, words[first].start, words[last].end, common, is_verb)
        yield from self._in_any_order(words, known)

    def _fitting(self, number: int, meant: Sequence[str]) -> list[_Surface]:
        """The names of a key whose words these are forms of; the very same words rather than other forms."""
        surfaces = self._surfaces[number]
        return [s for s in surfaces if s.words == tuple(meant)] or [
            s
            for s in surfaces
            # "time" is no form of a name "times".
            if all(map(is_form_of, meant, s.words)) and (s.common is None or len(meant[0]) >= len(s.common))
        ]

    def _in_any_order(self, words: Sequence[_Word], known: Sequence[tuple[int, str]]) -> Iterator[NamedSpan]:
        """Names whose words stand in another order, with only articles, prepositions and marks between them."""
        run: list[int] = []
        for place, (number, word) in enumerate(known):
            if word in _LINKING_WORDS or words[place].text in _LINKING_WORDS:
                continue
            run = [*run[1 - MOST_CONTENT :], place] if number else []
            for first in range(len(run) - 1):
                some = run[first:]
                # Words side by side are no inversion: "total area" is not the Spanish "área total".
                if all(words[b].start - words[a].end == 1 for a, b in pairwise(some)):
                    continue
                numbers = self._unordered.get(tuple(sorted(known[p][0] for p in some)), ())
                meant = {known[p][0]: known[p][1] for p in some}
                for surface in (surface for number in numbers for surface in self._surfaces[number]):
                    content = [each for each in surface.words if each not in _LINKING_WORDS]
                    if all(is_form_of(meant.get(self._ids[stem(each)], ""), each) for each in content):
                        yield NamedSpan(surface.concept_ids, words[some[0]].start, words[place].end, surface.common)

    def _in_one_piece(self, text: str, words: Sequence[_Word]) -> list[_Word]:
        """The names of one word that are written in pieces; each is told apart from the next by a word of no name."""
        whole: list[_Word] = []
        for first in range(len(words)):
            joined = words[first].text
            for piece in range(first + 1, min(first + PIECES, len(words))):
                one, other = words[piece - 1], words[piece]
                joined += other.text
                count = piece - first + 1
                if joined[:SHORTEST_PREFIX] not in self._prefixes:
                    break
                if len(joined) > MAX_NAME or (count > 2 and max(len(one.text), len(other.text)) > PIECE_LETTERS):
                    break
                if text[one.end : other.start].count(" ") > 1 or other.start - one.end > count:
                    break
                name = self._single.get(joined)
                if name is not None and len(name) > LONG_WORD:
                    whole += [_Word(name, words[first].start, other.end), _Word("", other.end, other.end)]
        return whole

    def _undisguised(self, text: str, words: Sequence[_Word]) -> list[_Word]:
        """The words, those that nobody knows as what they stand for; none where there are no such."""
        meant: list[_Word] = []
        changed = False
        for word in words:
            others = () if self._is_plain(word.text) else self._meanings(word.text, text[word.start : word.start + 1])
            changed = changed or bool(others)
            meant += [_Word(other, word.start, word.end) for other in others or (word.text,)]
        return meant if changed else []

    def _is_plain(self, word: str) -> bool:
        return len(word) < LONG_WORD or not word.isalpha() or is_known(word) or self._resolved(word)[0] > 0

    def _meanings(self, word: str, initial: str) -> Sequence[str]:
        """The words of names that an unknown word stands for; none where it is no disguise."""
        for other in squeezed(word):
            if stem(other) in self._ids:
                return (other,)
        if parts := self._parts(word):
            return parts
        if initial.isupper():
            for cut in range(LONG_WORD, len(word) - COMPOUND_REST + 1):
                if word[:cut] in self._compounded:
                    return word[:cut], ""
            for cut in range(COMPOUND_REST, len(word) - LONG_WORD + 1):
                if word[cut:] in self._compounded:
                    return word[cut:], ""
        return ()

    def _parts(self, word: str) -> tuple[str, ...]:
        """The words of one name that are run together."""
        if len(word) > MAX_NAME:
            return ()
        for parts in self._splits(word, RUN_TOGETHER):
            number = self._automaton.get(tuple(self._ids.get(stem(part), 0) for part in parts), None)
            if number is not None and any(all(map(is_form_of, parts, s.words)) for s in self._surfaces[number]):
                return parts
        return ()

    def _splits(self, word: str, most: int) -> Iterator[tuple[str, ...]]:
        if most > 1:
            for cut in range(1, len(word)):
                part = word[:cut]
                if part in _LINKING_WORDS or (cut > 2 and stem(part) in self._ids):
                    yield from ((part, *rest) for rest in self._splits(word[cut:], most - 1))
        if stem(word) in self._ids and most < RUN_TOGETHER:
            yield (word,)

    def _resolve(self, word: str) -> tuple[int, str]:
        """The number of a word's stem and the word, or those of what it is misspelled from; 0 where no name has it."""
        known = self._ids.get(stem(word), 0)
        if is_known(word) or not word or (known and any(is_form_of(word, form) for form in self._forms[known])):
            return known, word
        if (other := self._by_base.get(base(word))) is not None:
            return other, word
        if len(word) >= LONG_WORD:
            for meant in (word, word.removesuffix("s")):
                for near in (each for less in (meant, *_one_less(meant)) for each in self._near.get(less, ())):
                    if OSA.distance(near, meant) <= 1:
                        return self._ids[stem(near)], near
                for near in self._skeletons.get(_skeleton(meant), ()) if len(meant) >= FARTHER_WORD else ():
                    if OSA.distance(near, meant) <= 2:
                        return self._ids[stem(near)], near
        return known, word


def longest(mentions: Sequence[NamedSpan]) -> tuple[NamedSpan, ...]:
    """Mentions that stand within no longer one.

    Examples
    --------
    >>> [m.concept_ids for m in longest([NamedSpan(("prime number",), 0, 12), NamedSpan(("number",), 6, 12)])]
    [('prime number',)]
    """
    return tuple(m for m in mentions if not any(_contains(other, m) for other in mentions))


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
    return tuple(m for m in hidden if not any(_contains(other, m) for other in shown))


def _contains(longer: NamedSpan, shorter: NamedSpan) -> bool:
    return (
        longer.start <= shorter.start
        and shorter.end <= longer.end
        and (longer.start, longer.end) != (shorter.start, shorter.end)
    )


def _is_made_verb(words: Sequence[_Word], place: int, name: str) -> bool:
    """True if the words before a common word make a verb of it."""
    word, before = words[place].text, [each.text for each in words[max(0, place - VERB_REACH) : place]]
    if regular(word) != word and is_past(word):
        return True
    if not before or before[-1] in _DETERMINERS:
        return False
    if word == f"{name}s":
        return before[-1] in _THIRD_PERSONS or (
            before[-1] in _ADVERBS and before[-2:-1] != [] and before[-2] in _THIRD_PERSONS
        )
    asked = any(what == "what" and do in _DO for what, do in pairwise(before))
    told = before[-1] in _THIRD_PERSONS and before[-2:-1] != [] and before[-2] in _DO
    return word == name and (before[-1] in _BEFORE_VERB or asked or told)


def _surface(words: tuple[str, ...], concept_ids: Iterable[str]) -> _Surface:
    is_common = len(words) == 1 and uninflected(words[0]) in _common_forms()
    return _Surface(words, tuple(concept_ids), words[0] if is_common else None)


@lru_cache(maxsize=1)
def _common_forms() -> frozenset[str]:
    return frozenset(map(uninflected, common_words(COMMON_RARITY)))


def _automaton(keys: Iterable[tuple[int, ...]]) -> ahocorasick.Automaton:
    """An automaton that finds keys, each by its number in their order."""
    automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS, ahocorasick.KEY_SEQUENCE)
    for number, key in enumerate(keys):
        automaton.add_word(key, number)
    # One without keys cannot be made; it is never asked.
    if len(automaton):
        automaton.make_automaton()
    return automaton


def _folded_words(text: str) -> Iterator[_Word]:
    """The words of a text, folded, each with its place."""
    for token in fine_tokens(text):
        word = _folded(token.text)
        if word != "s" or text[token.start - 1 : token.start] not in ("'", "’"):
            yield _Word(word, token.start, token.end)


def _folded(word: str) -> str:
    """A word without case and accents."""
    word = word.casefold()
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)).casefold()


def _spelled_out(text: str, words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """The words read anew: letters that stand each apart as one word, and so the parts of what is hyphenated."""
    if sum(len(word.text) == 1 for word in words) >= SPELLED_OUT:
        # Letters may be numbered; a number between words is none of theirs.
        letters = [word for place, word in enumerate(words) if not _numbers_a_letter(words, place)]
        for gap, some in ((GAPS[0], words), (GAPS[1], letters)):
            joined = _runs_joined(some, partial(_are_letters, text, gap=gap), 2)
            if len(joined) < len(some):
                yield joined
    if "-" in text:
        hyphened = _runs_joined(words, lambda a, b: text[a.end : b.start].strip() == "-", 2)
        if len(hyphened) < len(words):
            yield hyphened


def _numbers_a_letter(words: Sequence[_Word], place: int) -> bool:
    beside = (*words[max(0, place - 1) : place], *words[place + 1 : place + 2])
    return words[place].text.isdigit() and any(len(word.text) == 1 for word in beside)


def _are_letters(text: str, one: _Word, other: _Word, gap: int) -> bool:
    return (
        len(one.text) == len(other.text) == 1
        and other.start - one.end <= gap
        and (one.text + other.text).isalpha()
        and _NOT_LETTERS.fullmatch(text, one.end, other.start) is not None
    )


def _runs_joined(words: Sequence[_Word], hang_together: Callable[[_Word, _Word], bool], least: int) -> list[_Word]:
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


def _skeleton(word: str) -> str:
    """The first letter of a word and its consonants, none of them twice: what bad spellers get right."""
    return word[:1] + _TWICE.sub(r"\1", _WEAK_LETTERS.sub("", word[1:]))


@dataclass(frozen=True)
class Sense:
    """What a word means as the name of a concept.

    meaning : embedding of the concept, its names included
    word : embedding of the word alone
    plainness : cosine of the word with the concept's description; high where the concept is what the word means anyway
    rarity : of the word, 0 to 7 (`graphmem.text.words.word_rarity`)
    is_action : the concept is something one does, such as division, so that the word may be meant as a verb
    """

    meaning: Vector = field(repr=False)
    word: Vector = field(repr=False)
    plainness: float
    rarity: float
    is_action: bool = True

    def features(self, sentence: Vector) -> tuple[float, float, float, float]:
        """What the decision rests on, given the embedding of a sentence that holds the word."""
        return float(self.meaning @ sentence), self.plainness, float(self.word @ sentence), self.rarity

    def excludes(self, is_verb: bool) -> bool:
        """True if the concept cannot be meant, as the word is used as a verb and the concept is nothing one does."""
        return is_verb and not self.is_action

    def chance(self, sentence: Vector) -> float:
        """Chance, 0 to 1, that the concept is meant in a sentence that holds the word.

        Examples
        --------
        >>> import numpy as np
        >>> one, other = np.eye(2, dtype=np.float32)
        >>> sense = Sense(meaning=one, word=one, plainness=0.3, rarity=2.5)
        >>> sense.chance(one) > sense.chance(other)
        True
        """
        weights, bias = _weights()
        score = sum(w * x for w, x in zip(weights, self.features(sentence), strict=True)) + bias
        return 1.0 / (1.0 + math.exp(-score))


def sense_texts(concept: Concept, name: str) -> tuple[str, str, str]:
    """What is embedded for a sense: the concept, its description, the word.

    Examples
    --------
    >>> sense_texts(Concept("m", "mean", ("average",), "A sum divided by a count."), "average")
    ('mean (average): A sum divided by a count.', 'A sum divided by a count.', 'average')
    """
    what = concept.description or concept.domain or concept.name
    also = f" ({', '.join(concept.aliases)})" if concept.aliases else ""
    return f"{concept.name}{also}: {what}", what, name


def is_action(concept: Concept) -> bool:
    """True if a concept's name is that of something one does.

    Examples
    --------
    >>> is_action(Concept("d", "division")), is_action(Concept("r", "rounding")), is_action(Concept("m", "mean"))
    (True, True, False)
    """
    return concept.name.casefold().endswith(("ing", "ion", "ment"))


@lru_cache(maxsize=1)
def _weights(path: Path = SENSE_FILE) -> tuple[tuple[float, ...], float]:
    try:
        made = json.loads(path.read_text("utf-8"))
        return tuple(map(float, made["weights"])), float(made["bias"])
    except (OSError, ValueError, KeyError) as error:
        raise SetupError(f"The weights in {path} cannot be loaded ({error}): install graphmem again.") from error

"""Extractive summaries: the sentences that cover what some memories say, as a tutor could say them (spec 13)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from graphmem.model import Digest, Memory
from graphmem.text.doc import Doc
from graphmem.text.lexicon import ACQUAINTANCES, ANIMALS, KIN, TIME_WORDS
from graphmem.text.likeness import gist, is_said_by
from graphmem.text.stems import is_past, stem
from graphmem.text.words import word_rarity

DIGEST_CHARACTERS = 400
"""Most characters of a summary."""
COVERED = 0.95
"""Share of what is told, weighed by rarity, from which on further sentences are left out."""
QUOTE_SENTENCES = 2
"""Most sentences that are quoted where none can be retold."""
SENTENCE_WORDS = 4
"""Words of a sentence that tells something."""
THINGS = 2
"""Content words before a pronoun, one of which it may stand for."""
NOT_RARE = 3.3
"""Rarity (`word_rarity`) below which a word that is no name is written small."""
_ARTICLES = frozenset({"a", "an", "the"})
_SOMEBODY = KIN | ACQUAINTANCES | ANIMALS
_RELATIVE = frozenset({"that", "who", "which"})
_EXCLAIMED = re.compile(r"!+$")
_BRACKETS = re.compile(r"\s*\[[^\]]*(?:\]|$)")
"""What was shown with a message, also where its end is cut off: no part of a sentence."""
_PICTURES = re.compile(r"[^\w\s.,;:!?'\"()\[\]%€$£¥°+*/=<>×÷–—…“”‘’&#-]+")
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself|you're|you've|you'll|let's|y'all)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'll|I'd|my|we|we're|our|us|me)\b")
_REPORTED = re.compile(r"^(?:says|asks|said|asked)\b(?P<that> that )?(?P<told>.*)", re.DOTALL)
_ANSWERS = re.compile(r"^Asked “[^”]*”: ")
_CALLED = re.compile(r"^(?:[A-Z]\w+[,!] )|,? (?<!and )(?<!or )(?<=, )[A-Z][a-z]+(?=[.!]?$)")
"""A name that is called at the beginning or the end of a sentence."""
_REFERS = frozenset(
    """
    it it's this that that's these those they they're them he he's she she's there such
    """.split()  # noqa: SIM905
)
"""Words that a sentence cannot begin with where nothing stands before it."""
_OPENS = frozenset(
    """
    a an the his her their some many most all both each every another one two three four five several no
    """.split()  # noqa: SIM905
)
"""Words that a subject other than the student may begin with."""
_LEADS = frozenset(
    """
    in on at during after before since when while for from by with because although if
    """.split()  # noqa: SIM905
)
"""Words that what stands before the subject may begin with."""
_FINITE = frozenset(
    """
    am is are was were has have had do does did can can't cannot could will won't would should must may might
    isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't couldn't wouldn't shouldn't
    it's that's he's she's there's they're they've they'll he'll she'll it'll what's who's everyone's
    """.split()  # noqa: SIM905
)
_POINTS = re.compile(
    r"\b(?:this|these|those)\b|\bthat (?:feeling|moment|kind|way|little|one|pic|name|the hard way)\b"
    r"|\b(?:with|like|for|to|of|on|in|into|at|about|by|from|hear) that\b"
    r"|\b(?:on|of|for|with|made|have|has|got|find) one\b(?! of)|\band (?:them|him|it)\b(?=[.,!]|$)"
    r"|(?<!^)\bthere\b(?!'s| is| are| was| were)|\b(?:of|to|for|with|at|on|from)(?: them)?[.!]?$"
    r"|, (?:and )?(?:take|look|check)\b",
    re.IGNORECASE,
)
"""Signs of something that is pointed at and not said, or of a sentence that is not whole."""
_OBJECT = re.compile(
    r"\b(?!that\b|and\b|but\b|when\b|if\b|because\b|so\b)[a-z]+ (?:it|them)\b(?!')(?! (?:is|was|will|would|has)\b)"
)
_FORMAL = re.compile(r"\b(?:find|finds|found|make|makes|made|think|thinks|thought) it (?:\w+ ){1,3}(?:to|that)\b")
"""An "it" that stands for what follows."""
_OTHERS = re.compile(r"\b(?:he|she|he's|she's|his|her|him|hers)\b", re.IGNORECASE)
_DEMONSTRATIVE = frozenset({"this", "that"})
_NEVER_LEANS = frozenset({"these", "those", "such", "there", "there's"})
_DROPPED = frozenset(
    """
    glad happy sorry proud sad sure excited thankful grateful lucky always never just been plus so
    """.split()  # noqa: SIM905
)
"""Words that a clause begins with whose "I am" or "I have" was left out."""
_SHOWN = re.compile(r"\bhere(?:'s| is| are)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Summarised:
    """What a summary is made of: a statement, and the words it comes from where it is not those words."""

    statement: str
    words: str | None = None


@dataclass(frozen=True)
class _Part:
    """A sentence, with the one after it that leans on it, of the statement of a place."""

    place: int
    order: int
    text: str
    tells: dict[str, float] = field(repr=False)


def summarised(told: Sequence[Summarised], subject: str) -> Digest:
    """A summary of what somebody told, in sentences of it and in their order; nothing is added.

    Parameters
    ----------
    told : 1 or more, oldest first
    subject : whom the statements speak of

    Returns
    -------
    Digest of at most `DIGEST_CHARACTERS`, or of one sentence. Taken are sentences that stand by themselves: they have
    a subject and a verb, address nobody and refer to nothing that is left out. Where there is none, the words
    themselves are quoted

    Notes
    -----
    Greedy cover (Nemhauser, Wolsey and Fisher, 1978): again and again the sentence that adds most rare words and
    numbers for its length, until nearly all is covered or there is no room.

    Examples
    --------
    >>> said = ("Mia has a dog called Rex.", "Mia walks Rex daily.", "Mia has a dog.")
    >>> digest = summarised([Summarised(each) for each in said], "Mia")
    >>> digest.text, digest.says
    ('Mia has a dog called Rex and walks Rex daily.', (0, 1))
    >>> summarised([Summarised("Bo says: love that colour!", "Love that colour! Is it new?")], "Bo").text
    'Bo said: “Love that colour!”'
    """
    parts = _without_copies([part for place, each in enumerate(told) for part in _parts(place, each, subject)])
    chosen = sorted(_covering(parts), key=lambda part: (part.place, part.order))
    if chosen:
        return Digest(_sentences([part.text for part in chosen], subject), _places(chosen))
    quotes = [part for place, each in enumerate(told) for part in _quotable(place, each)]
    chosen = sorted(_covering(quotes)[:QUOTE_SENTENCES], key=lambda part: (part.place, part.order))
    if chosen:
        return Digest(f"{subject} said: “{' '.join(part.text for part in chosen)}”", _places(chosen))
    # Nothing of it is a sentence: the longest statement as it is.
    place = max(range(len(told)), key=lambda i: len(told[i].statement))
    plain = _BRACKETS.sub("", told[place].statement).strip() or told[place].statement.strip()
    return Digest(_ended(plain[:DIGEST_CHARACTERS]), (place,))


def subject_of(memories: Sequence[Memory], student: str | None) -> str:
    """Whom the statements of some memories of one speaker speak of.

    Parameters
    ----------
    memories : 1 or more
    student : the student's name, where it is known
    """
    return memories[0].speaker or student or "The student"


def summarised_memories(memories: Sequence[Memory], student: str | None) -> Digest:
    """A summary of some opened memories of one speaker, oldest first; see `summarised`."""
    told = [Summarised(memory.content or "", memory.quote) for memory in memories]
    return summarised(told, subject_of(memories, student))


def _places(parts: Sequence[_Part]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(part.place for part in parts))


def _parts(place: int, told: Summarised, subject: str) -> Iterator[_Part]:
    """What of a statement can be said by itself: sentences, also with the one that leans on each."""
    head: str | None = None
    text = _PICTURES.sub("", _BRACKETS.sub("", _ANSWERS.sub("", told.statement)))
    for order, sentence in enumerate(Doc(text).sentences):
        plain = _tidied(_uncalled(sentence.text.strip()), subject)
        if not _is_said_plainly(plain, subject):
            head = None
        elif not _leans(plain, subject):
            head = plain if _stands_alone(plain, subject) else None
            if head is not None:
                yield _Part(place, order, head, _told(head))
        elif head is not None and _leans_clearly(plain):
            both = f"{_ended(head)} {plain}"
            yield _Part(place, order, both, _told(both))
            head = None


def _uncalled(sentence: str) -> str:
    """A sentence without the name of whom it calls."""
    text = _CALLED.sub("", sentence).strip(" ,")
    return f"{text[:1].upper()}{text[1:]}"


def _is_said_plainly(sentence: str, subject: str) -> bool:
    """True if a sentence tells something, of somebody who is not addressed, in the third person."""
    words = Doc(sentence).words
    asks = sentence.rstrip("\"'”’) ").endswith("?")
    addresses = any(sign.search(sentence) for sign in (_SECOND_PERSON, _FIRST_PERSON, _SHOWN))
    return len(words) >= SENTENCE_WORDS and not asks and not addresses and _clause(sentence, subject) is not None


def _clause(sentence: str, subject: str) -> str | None:
    """What a sentence tells, whoever says so; None where that is no clause."""
    own = sentence.removeprefix(f"{subject} ")
    reported = _REPORTED.match(own) if own != sentence else None
    if reported is None:
        return sentence
    # "says that love the colours": what was no clause does not become one.
    return reported["told"] if reported["that"] and _has_subject(reported["told"]) else None


def _has_subject(clause: str) -> bool:
    """True if a clause has a finite verb and something before it."""
    words = Doc(clause).plain_words
    verb = next((i for i, word in enumerate(words) if word in _FINITE or is_past(word)), None)
    if (verb and words[verb - 1] in _RELATIVE) or words[0] in _DROPPED or (verb == 1 and words[0].endswith("ly")):
        # "Invest in a blanket that has some weight": the verb is not the sentence's own.
        return False
    return verb is not None and (verb > 0 or "'" in words[0]) and not (verb > 1 and words[1] in _ARTICLES)


def _leans(sentence: str, subject: str) -> bool:
    """True if a sentence refers to the one before it."""
    told = _clause(sentence, subject) or sentence
    return Doc(told).plain_words[0] in _REFERS


def _leans_clearly(sentence: str) -> bool:
    """True if what a sentence refers to can only be what stands before it: "this was", not "this picture"."""
    first, *rest = Doc(sentence).plain_words
    clear = first not in _DEMONSTRATIVE or (bool(rest) and (rest[0] in _FINITE or is_past(rest[0])))
    return clear and first not in _NEVER_LEANS


def _stands_alone(sentence: str, subject: str) -> bool:
    """True if a sentence begins as one does, and refers to nothing outside it."""
    return _begins(sentence, subject) and not _lacks(sentence, subject)


def _begins(sentence: str, subject: str) -> bool:
    """True if a sentence begins with the subject, with when or where the subject did it, or with another subject."""
    if sentence.startswith(f"{subject} "):
        return True
    if sentence.startswith(f"{subject}'s "):
        return _has_subject(sentence.split(",")[0])
    first = Doc(sentence).plain_words[0]
    lead = re.match(rf"[A-Z][^,.;]{{2,40}}(?P<comma>,)? {re.escape(subject)}(?:'s)? ", sentence)
    when = first in _LEADS or (lead is not None and lead["comma"] and (first.endswith("ly") or first in TIME_WORDS))
    if lead is not None and when:
        return not any(word in _FINITE for word in Doc(lead.group().removesuffix(f"{subject} ")).plain_words)
    named = any(sentence.startswith(f"{each.name} ") for each in Doc(sentence).entities)
    return (first in _OPENS or named) and _has_subject(sentence)


def _lacks(sentence: str, subject: str) -> bool:
    """True if a sentence refers to something that is not said."""
    object_ = None if _FORMAL.search(sentence) else _OBJECT.search(sentence)
    other = _OTHERS.search(sentence)
    if other is not None and not _names_person(sentence[: other.start()], subject):
        return True
    if _POINTS.search(sentence) is not None:
        return True
    return object_ is not None and not _names_thing(sentence[: object_.start()], subject)


def _names_person(before: str, subject: str) -> bool:
    """True if the beginning of a sentence names somebody else that "he" or "she" can stand for."""
    named = any(each.name != subject for each in Doc(before).entities)
    return named or any(word in _SOMEBODY for word in Doc(before).plain_words)


def _names_thing(before: str, subject: str) -> bool:
    """True if the beginning of a sentence names something that a pronoun after it can stand for."""
    return len(Doc(before).stems - Doc(subject).stems) >= THINGS


def _tidied(sentence: str, subject: str) -> str:
    """A sentence as it is read out: what is reported begins small, nothing is exclaimed."""
    reported = re.match(rf"({re.escape(subject)} (?:says|thinks) that )([A-Z][a-z]+)\b", sentence)
    if reported is not None:
        word, rest = reported[2], sentence[reported.end() :]
        names = {part for each in Doc(f"{word}{rest}").entities for part in each.name.split()}
        if word not in names and word != subject and word_rarity(word) < NOT_RARE:
            sentence = f"{reported[1]}{word.lower()}{rest}"
    return _EXCLAIMED.sub(".", sentence)


def _quotable(place: int, told: Summarised) -> Iterator[_Part]:
    """Sentences of the words that can be quoted."""
    text = _PICTURES.sub("", _BRACKETS.sub("", told.words or told.statement))
    for order, sentence in enumerate(Doc(text).sentences):
        plain = sentence.text.strip()
        if len(sentence.words) > 2 and not plain.endswith("?") and "“" not in plain and not plain.endswith(":"):
            yield _Part(place, order, plain, _told(plain))


def _without_copies(parts: Sequence[_Part]) -> list[_Part]:
    """Parts but for those that another says and more; of equal ones the last stays."""
    gists = [gist(part.text) for part in parts]
    names = [frozenset(part.tells) for part in parts]

    def is_in(i: int, j: int) -> bool:
        return names[i] <= names[j] and is_said_by(gists[i], gists[j])

    def is_said_elsewhere(i: int) -> bool:
        others = (j for j in range(len(parts)) if parts[j].place != parts[i].place)
        return any(is_in(i, j) and (j > i or not is_in(j, i)) for j in others)

    return [part for i, part in enumerate(parts) if not is_said_elsewhere(i)]


def _covering(parts: Sequence[_Part]) -> list[_Part]:
    """Parts that cover what all of them tell, in the order in which they were chosen."""
    everything = {unit: weight for part in parts for unit, weight in part.tells.items()}
    wanted, covered, chosen, room = sum(everything.values()), set[str](), list[_Part](), DIGEST_CHARACTERS
    while sum(everything[unit] for unit in covered) < COVERED * wanted:
        free = [p for p in parts if not any(_overlap(p, c) for c in chosen) and (not chosen or len(p.text) + 2 <= room)]
        gains = [sum(w for unit, w in p.tells.items() if unit not in covered) / (20 + len(p.text)) for p in free]
        best = max(range(len(free)), key=lambda i: gains[i], default=None)
        if best is None or gains[best] <= 0:
            break
        chosen.append(free[best])
        covered |= free[best].tells.keys()
        room -= len(free[best].text) + 2
    return chosen


def _overlap(one: _Part, other: _Part) -> bool:
    """True if one part holds the other."""
    return one.place == other.place and (one.text in other.text or other.text in one.text)


def _told(text: str) -> dict[str, float]:
    """Stems, names and numbers of a sentence with their rarity."""
    doc = Doc(text)
    names = {entity.name.casefold(): 4.0 for entity in doc.entities}
    numbers = {str(number): 4.0 for number in doc.numbers}
    rarities = {stem(word): 1.0 + word_rarity(word) for word in doc.plain_words}
    return {each: rarities.get(each, 1.0) for each in doc.stems} | names | numbers


def _sentences(chosen: Sequence[str], subject: str) -> str:
    """Sentences; those in a row that begin with the subject as one."""
    plain = [each.rstrip(".") for each in chosen]
    parts: list[str] = []
    for own, group in groupby(plain, lambda each: each.startswith(f"{subject} ")):
        found = list(group)
        if own and len(found) > 1 and not any(map(_joins, found)) and _on_one_matter(found, subject):
            *most, last = [found[0], *(each.removeprefix(f"{subject} ") for each in found[1:])]
            parts.append(f"{', '.join(most)} and {last}")
        else:
            parts += found
    return " ".join(map(_ended, parts))


def _on_one_matter(sentences: Sequence[str], subject: str) -> bool:
    """True if each sentence has a word in common with the one before it."""
    stems = [Doc(each).stems - Doc(subject).stems for each in sentences]
    return all(one & other for one, other in pairwise(stems))


def _joins(sentence: str) -> bool:
    """True if a sentence has parts already, or reports, so that another part would confuse."""
    return any(mark in sentence for mark in (",", " and ", "!", "?", ":", ". ", " says that "))


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…", "”")) else f"{sentence}."

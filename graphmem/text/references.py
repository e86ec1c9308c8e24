"""References: whether a sentence points at something that it does not name (spec 7, 13)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from graphmem.model import EntityKind
from graphmem.text.doc import Doc
from graphmem.text.lexicon import ACQUAINTANCES, ANIMALS, KIN, STOP_WORDS
from graphmem.text.stems import is_past, is_plural

HELD_SHARE = 0.5
"""Share of a sentence's stems that the words it comes from hold at least."""
OBJECT_WITHIN = 3
"""Words after "that" within which a pronoun is the object of a verb: "something that really upset them"."""
CALLED_WITHIN = 6
"""Words after "this" within which it is told how what it shows is called."""
LEAD_WORDS = 3
"""Words before a noun, one of which shows that it names a thing."""

_SOMEBODY = KIN | ACQUAINTANCES | ANIMALS
_PERSON = frozenset({"he", "she", "him", "her", "his", "hers", "himself", "herself"})
_THING = frozenset({"it", "its", "itself"})
_SEVERAL = frozenset({"they", "them", "their", "theirs", "themselves", "em"})
_OBJECTS = frozenset({"them", "him", "her", "it", "me", "us", "themselves"})
_SHOWN = frozenset({"this", "these", "those", "here", "here's", "there", "that", "that's", "one"})
_CALLED = frozenset({"called", "named"})
_EXISTS = frozenset({"is", "are", "was", "were", "will", "has", "have", "isn't", "aren't", "wasn't", "weren't"})
_LEADS = frozenset({"a", "an", "the", "my", "our", "his", "her", "their", "some", "any", "every", "each", "no"})
"""Words that a noun follows."""
_BEFORE = frozenset(
    {"with", "like", "for", "to", "of", "on", "in", "into", "at", "about", "by", "from", "than", "after"}
)
"""Prepositions: what follows is no clause."""
FINITE = frozenset(
    """
    am is are was were has have had do does did can can't cannot could will won't would should must might may
    isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't couldn't wouldn't shouldn't
    """.split()  # noqa: SIM905
)
"""Verbs that have a subject, whatever follows."""
FOLLOWS_VERB = frozenset({"a", "an", "the", "them", "their", "it", "him", "her"})
"""Words before which what looks like a plural is a verb."""
_TITLE = re.compile(r"[\"“]([A-Z][^\"”]*)[\"”]")
"""What a film or a book is called."""
_NOT = re.compile(r"n't$|'(?:re|m|ll|d|ve)$")
_STANDS_FOR_CLAUSE = re.compile(
    r"\b(?:it(?:'s| is| was| feels| felt| means| meant| takes| took)|(?:find|found|make|made|think|feel|consider)s? it)"
    r"(?: \w+){0,3} (?:to(?! (?:me|us|them|him|her|you|it|the|an?|my|our|their|his)\b)|that|how)\b",
    re.IGNORECASE,
)
"""An "it" that stands for what follows."""


@dataclass
class _Named:
    """What has been named so far that a pronoun may stand for."""

    person: bool = False
    thing: bool = False
    several: bool = False


def is_whole(sentence: str, subject: str, words: str | None = None) -> bool:
    """True if all that a sentence points at is named in it.

    Parameters
    ----------
    sentence : a statement about somebody in the third person; also two sentences
    subject : whom it speaks of; "they" stands for the subject, unless it does not in the words
    words : the sentence comes from, where they are known

    Examples
    --------
    >>> is_whole("Mia has a dog, and it barks.", "Mia"), is_whole("Mia has fed it.", "Mia")
    (True, False)
    >>> is_whole("Mia reads to them.", "Mia", "I read to them."), is_whole("They praised Mia.", "Mia", "I did well.")
    (False, True)
    >>> is_whole("Mia's is papaya.", "Mia"), is_whole("Mia's dog is old.", "Mia")
    (False, True)
    """
    if any(_points(Doc(sentence), subject, own_several=True)):
        return False
    said = None if words is None else source_of(sentence, words)
    if said is None or any(_SEVERAL.isdisjoint(_plain(doc)) for doc in (Doc(sentence), said)):
        return True
    # "They told them": nobody knows who is who.
    several = [sum(word in _SEVERAL for word in _plain(doc)) for doc in (Doc(sentence), said)]
    return several[0] <= several[1] and not any(_points(said, subject, own_several=False))


def is_finite(word: str, follows: str) -> bool:
    """True if a word in lower case is a verb that has a subject, as the one that follows shows.

    Examples
    --------
    >>> is_finite("is", ""), is_finite("brings", "them"), is_finite("things", "that"), is_finite("mum's", "been")
    (True, True, False, True)
    """
    short = word.endswith("'s") and follows in ("been", "a", "an", "so", "not")
    return word in FINITE or is_past(word) or short or (is_plural(word) and word != "times" and follows in FOLLOWS_VERB)


def source_of(sentence: str, words: str) -> Doc:
    """The sentences of some words that a statement's come from."""
    told, found = Doc(words).sentences, list[str]()
    for each in Doc(sentence).sentences:
        stems = each.stems
        best = max(told, key=lambda one: len(one.stems & stems), default=None)
        if best is not None and len(best.stems & stems) >= HELD_SHARE * len(stems):
            found.append(best.text)
    return Doc(" ".join(dict.fromkeys(found)))


def _plain(doc: Doc) -> list[str]:
    """The words of a text in lower case, "it" of "it's"."""
    pronouns = _SEVERAL | _THING | _PERSON
    return [word.split("'")[0] if word.split("'")[0] in pronouns else word for word in doc.plain_words]


def _points(doc: Doc, subject: str, *, own_several: bool) -> Iterator[bool]:
    """For each pronoun of a text, whether nothing before it is what it stands for."""
    words, named = _plain(doc), _Named()
    others = [each for each in doc.entities if each.name != subject]
    names = {part.casefold(): each.kind for each in others for part in each.name.split()}
    names |= {part.casefold(): EntityKind.THING for title in _TITLE.findall(doc.text) for part in title.split()}
    own, whose = {"i", "we", *subject.casefold().split()}, f"{subject.casefold().split()[-1]}'s"
    formal = _STANDS_FOR_CLAUSE.search(doc.plain) is not None
    for i, word in enumerate(words):
        before, after = words[i - 1] if i else "", words[i + 1 :]
        if not own_several:
            if word in _SEVERAL:
                yield not named.several
        elif word in _PERSON:
            yield not named.person
        elif word in _THING:
            yield not (named.thing or formal)
        elif word in _SHOWN:
            yield _is_shown(word, before, after)
        elif word == whose and not FINITE.isdisjoint(after[:1]):
            # "Mia's is papaya."
            yield True
        if not after or after[0] in STOP_WORDS or _is_verb(after[0]):
            # The last word of a phrase is what it names: the leaves of "the yellow leaves".
            _name(named, word, words[max(0, i - LEAD_WORDS) : i], names, own)


def _is_shown(word: str, before: str, after: list[str]) -> bool:
    """True if "this", "that" or "there" stands for what is seen or was said."""
    follows = after[0] if after else ""
    if (word == "this" and not _CALLED.isdisjoint(after[:CALLED_WITHIN])) or (word == "that" == before):
        # "This film called Up" is named; of "says that that cat" the second one is shown.
        return word == "that"
    if word == "there":
        return follows not in _EXISTS
    if word == "those":
        return follows not in ("who", "with", "whose")
    if word == "one":
        return before in _BEFORE and (not after or follows in STOP_WORDS - {"of", "another"})
    if word == "that's":
        return before in STOP_WORDS or not before
    if word == "that":
        has_verb = any(_NOT.search(one) or is_finite(one, other) for one, other in pairwise([*after, ""]))
        # The object of a verb: not that of "that effect on them".
        objects = pairwise(after[:OBJECT_WITHIN])
        has_object = any(each in _OBJECTS and verb not in _BEFORE for verb, each in objects)
        return not before or before in _BEFORE or not (has_verb or has_object)
    return True


def _is_verb(word: str) -> bool:
    return word in FINITE or is_past(word)


def _name(named: _Named, word: str, lead: list[str], names: Mapping[str, EntityKind], own: set[str]) -> None:
    """Take note of what the last word of a phrase names."""
    named.person |= names.get(word) is EntityKind.PERSON or word in _SOMEBODY
    named.thing |= word in ANIMALS or names.get(word) is EntityKind.THING
    if word in STOP_WORDS or word in own or word in _SOMEBODY or _is_verb(word):
        return
    if is_plural(word) and own.isdisjoint(lead[-1:]):
        named.several = True
    elif word in names or not _LEADS.isdisjoint(lead) or any(each.endswith("'s") or each.isdigit() for each in lead):
        named.thing = True

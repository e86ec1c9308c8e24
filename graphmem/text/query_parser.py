"""Query parsing: the speakers a question names, and the words worth searching (spec 10.1)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graphmem.text.doc import Doc
from graphmem.text.lexicon import QUERY_STOP_WORDS
from graphmem.text.stems import stem
from graphmem.text.words import parts

ASKING_STEMS = frozenset(map(stem, "remember know tell told said say called still again think mention already".split()))  # noqa: SIM905
"""Stems of words that a question for memory is put in, and is not about."""


@dataclass(frozen=True)
class ParsedQuestion:
    """A question as it is searched.

    text : without the names of those who spoke and of the student, for its embedding
    words : its content words, in order, each once
    names : of those who spoke, the ones it names
    """

    text: str
    words: tuple[str, ...]
    names: tuple[str, ...]


def read_question(question: Doc, speakers: Iterable[str], student: str | None = None) -> ParsedQuestion:
    """Take the names of speakers and of the student out of a question, and find its words.

    What holds the name of somebody who takes part is what *others* said to them ("Hey Julia!"), so a name is no word
    to search for; it says whose memories are asked for. Names of others stay words like any.

    Parameters
    ----------
    question : Doc, any text
    speakers : names of all who spoke in the student's memories
    student : name of the student; its first word stands for it, too

    Returns
    -------
    ParsedQuestion

    Source: spec 10.1.

    Examples
    --------
    >>> read_question(Doc("When did Julia buy Bello's lead?"), ["Julia", "Tom"])
    ParsedQuestion(text="When did buy Bello's lead?", words=('buy', 'bello', 'lead'), names=('Julia',))
    >>> read_question(Doc("What does Jo's group eat?"), [], "Jo Hill")
    ParsedQuestion(text='What does group eat?', words=('group', 'eat'), names=())
    """
    text, names = question.text, []
    others, own = {s.strip() for s in speakers if s.strip()}, names_of(student)
    for name in sorted({*others, *own}, key=lambda n: (-len(n), n)):
        text, found = re.subn(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", " ", text, flags=re.IGNORECASE)
        if found and name in others:
            names.append(name)
    plain = " ".join(text.split())
    return ParsedQuestion(plain, query_words(question if plain == question.text else Doc(plain)), tuple(names))


def names_of(student: str | None) -> tuple[str, ...]:
    """Return what a student is called: the whole name and its first word; nothing where it is not known.

    Examples
    --------
    >>> names_of("Jo Hill"), names_of(None)
    (('Jo Hill', 'Jo'), ())
    """
    name = (student or "").strip()
    return tuple(dict.fromkeys((name, name.split()[0]))) if name else ()


def query_words(doc: Doc) -> tuple[str, ...]:
    """The words of a text that questions are not made of, in lower case, each once, in order.

    Examples
    --------
    >>> query_words(Doc("What did you say about the Apples, apples?"))
    ('say', 'apples')
    """
    # The index of words knows no apostrophes and no signs.
    words = (part for word in doc.plain_words for part in parts(word))
    return tuple(dict.fromkeys(word for word in words if word not in QUERY_STOP_WORDS))


def with_pronoun(question: str, name: str | None) -> str:
    """A question with "she" for the student's name: which name it is changes what a question seems to ask for.

    Parameters
    ----------
    question : str
    name : str, all of it; its first word stands for it, too

    Examples
    --------
    >>> with_pronoun("What does Jo still find hard? Is it Jo Hill's test?", "Jo Hill")
    'What does she still find hard? Is it her test?'
    >>> with_pronoun("When is my test?", None)
    'When is my test?'
    """
    for each in names_of(name):
        question = re.sub(rf"\b{re.escape(each)}\b(['’]s\b)?", lambda found: "her" if found[1] else "she", question)
    return question


def question_in(doc: Doc) -> Doc:
    """The sentence of a text that asks, of several the one that says most of what for; else the text itself.

    Examples
    --------
    >>> question_in(Doc("My cousin helps me. How should you teach me? I'll tell him.")).text
    'How should you teach me?'
    >>> question_in(Doc("What's my dog called? Do you remember?")).text, question_in(Doc("I cook.")).text
    ("What's my dog called?", 'I cook.')
    """
    asking = [sentence for sentence in doc.excerpt.sentences if sentence.asks]
    return max(reversed(asking), key=lambda each: len(each.stems - ASKING_STEMS), default=doc)

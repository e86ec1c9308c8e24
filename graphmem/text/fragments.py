"""Fragments: what means little without what was said before it."""

import re

from graphmem.text.chunks import is_small_talk
from graphmem.text.doc import Doc
from graphmem.text.lexicon import FIRST_PERSON, SECOND_PERSON
from graphmem.text.words import word_rarity

TELLING_RARITY = 3.0
"""Rarity of a word by which a short answer tells something."""
FRAGMENT_WORDS = 2
"""Most words of a fragment."""

_FINITE = re.compile(
    r"\b(?:is|are|am|was|were|has|have|had|do|does|did|will|would|can|could|should|must|may|\w+n't|\w{2,}(?:ed|es))\b"
    r"|\w's\b|\b(?:my|our|the) \w+ \w+[a-rt-z]s (?!to\b)\w",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"\W*(?:(?:and|but|so|oh|then|also|yes|yeah|well|ok|cause|because)\s+)*(?:it|it's"
    r"|its|he|he's|hes|she|she's|shes|they|they're|"
    r"that|that's|thats|this|these|those|only|not|because|cause|bc|cuz|which|even|with"
    r"|like|just|same|for that|them|her|him|"
    r"there|mind|else|such|in there)\b(?! (?:mum|dad)\b)",
    re.IGNORECASE,
)


def leans(clause: Doc) -> bool:
    """Return whether a clause means little without what was said just before it.

    Examples
    --------
    >>> leans(Doc("it is blue")), leans(Doc("two")), leans(Doc("I have two brothers"))
    (True, True, False)
    """
    return is_fragment(clause) or _LEANS.match(clause.text) is not None


def answers_question(doc: Doc, before: str) -> bool:
    """Return whether a message is a short answer to a question about its speaker, and tells something by it.

    Examples
    --------
    >>> answers_question(Doc("manhattan"), "Where do you live?"), answers_question(Doc("fine"), "How are you?")
    (True, False)
    """
    asked = [sentence for sentence in Doc(before).sentences if sentence.text.endswith("?")]
    personal = bool(asked) and not SECOND_PERSON.isdisjoint(asked[-1].plain_words)
    return personal and leans(doc) and any(word_rarity(word) >= TELLING_RARITY for word in doc.plain_words)


def is_fragment(clause: Doc) -> bool:
    """True of a word, or two without verb, number or speaker: what stands before it makes it a statement.

    Examples
    --------
    >>> is_fragment(Doc("numb.")), is_fragment(Doc("I'm dyslexic")), is_fragment(Doc("Thanks!"))
    (True, False, False)
    """
    words = clause.plain_words
    if not 0 < len(words) <= FRAGMENT_WORDS or clause.numbers or is_small_talk(clause):
        return False
    return len(words) == 1 or (FIRST_PERSON.isdisjoint(words) and _FINITE.search(clause.text) is None)

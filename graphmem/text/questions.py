"""Question detection."""

import re

from graphmem.text.lexicon import INTERROGATIVES

_WH = "|".join(sorted(INTERROGATIVES))
_AUX = "is|are|was|were|do|does|did|can|could|should|would|will|may|am i|have i|has|isn'?t|aren'?t|don'?t|doesn'?t"
_ASKS = re.compile(
    rf"(?:^|[.!,;:]\s+|\b(?:so|but|and|ok|okay|oh|wait|well|hm+|thanks|also) )(?:{_WH}|{_AUX}|any)\b[^.!]{{0,200}}\?"
    r"|^\W*(?:what|why|how|where|who|which)(?:'?s)?\b[^.!?]{0,90}$"
    r"|\bhow do (?:you|i|we) (?:say|write|do|find|get)\b|\bwhat(?:'s| is| does)\b[^.!]{0,200}\?"
)
_FILLERS = r"^\W*(?:(?:and|so|but|oh|ok|okay|hm+|also|wait|sorry|please)\W+)*"
_ONLY_ASKS = re.compile(
    rf"{_FILLERS}(?:{_WH}|{_AUX}|have|any|[^.!?]{{1,40}} (?:or|right))\b[^.!?]*\?\W*$"
    rf"|{_FILLERS}(?:what|why|who|which|how (?:do|to|many|much|is|are|about|come)"
    r"|(?:can|could|may|shall|should|would) (?:you|i|we)|do (?:you|i|we)|does"
    r"|is (?:it|that|this))\b[^.!?,]{0,80}$"
)


_OF_TELLING = re.compile(
    r"\b(?:(?:did|have|had) i (?:\w+ )?(?:tell|told|say|said|mention|mentioned|explain|explained|ask|asked)"
    r"|i (?:told|asked) (?:you|u)|(?:do|did|can) (?:you|u) (?:still |even )?remember)\b"
)


def asks_what_was_told(plain: str) -> bool:
    """True if a text, in lower case, speaks of what its speaker told the listener.

    Examples
    --------
    >>> asks_what_was_told("which day did i tell you?"), asks_what_was_told("can you tell me the day?")
    (True, False)
    """
    return _OF_TELLING.search(plain) is not None


def asks(plain: str) -> bool:
    """True if a text, in lower case, asks something.

    Examples
    --------
    >>> asks("i like red. do you?"), asks("what is a square"), asks("i know what it is")
    (True, True, False)
    """
    return _ASKS.search(plain) is not None


def only_asks(sentence: str) -> bool:
    """True if a sentence, in lower case, is a question and nothing else.

    Examples
    --------
    >>> only_asks("and how do you say red?"), only_asks("can we draw"), only_asks("i like red, do you?")
    (True, True, False)
    """
    return _ONLY_ASKS.search(sentence) is not None

"""Language of a message, by how common its words are in each: the small lists of wordfreq (Speer 2022)."""

import math
import re
from functools import cache

ENGLISH = "en"
LOOKED_UP = ("ar", "de", "en", "es", "fr", "hi", "it", "nl", "pl", "pt", "ru", "tr", "uk")
"""ISO 639-1 codes of the languages whose words are looked up; Chinese is told by its signs."""
LANGUAGE_CHARACTERS = 400
"""Characters of a message that are looked at."""
SURE_ENGLISH = 5.3
"""Mean Zipf frequency from which on words are English, whatever they may be besides: the other lists stay unread."""
SURE_LANGUAGE = 0.5
"""By how much the words are more common in the likeliest language than in any other, in the mean, where it is told."""
LEAST_ENGLISH = 3.3
"""Mean Zipf frequency in English from which on words may be English."""
ASCII_SHARE = 0.7
"""Share of the words without other letters than English has from which on a text may be English."""

_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def language_of(text: str) -> str:
    """ISO 639-1 code of the language of a text; empty where it cannot be told.

    Examples
    --------
    >>> language_of("Hallo, ich heiße Jonas und wohne in Köln."), language_of("My dad hits me when he is drunk.")
    ('de', 'en')
    >>> language_of("I love liquorice."), language_of("12 + 30 = 42")
    ('en', '')
    """
    seen = text[:LANGUAGE_CHARACTERS]
    words = [word.lower().replace("’", "'") for word in _LETTERS.findall(seen)]
    if _HAN.search(seen):
        return "zh"
    if not words:
        return ""
    if _commonness(words, ENGLISH) >= SURE_ENGLISH:
        return ENGLISH
    # What no list knows tells nothing: "I love liquorice".
    words = [word for word in words if any(word in _zipf(code) for code in LOOKED_UP)] or words
    if _commonness(words, ENGLISH) >= SURE_ENGLISH:
        return ENGLISH
    first, second = sorted(LOOKED_UP, key=lambda code: -_commonness(words, code))[:2]
    return first if _commonness(words, first) - _commonness(words, second) >= SURE_LANGUAGE else ""


def may_be_english(text: str) -> bool:
    """True if whoever reads only English may read a text: its script is Latin, and its words are no other language's.

    Examples
    --------
    >>> [may_be_english(text) for text in ("kms fr lol", "Я хочу спать", "Aku tidak mengerti pecahan", "ich bin müde")]
    [True, False, False, False]
    """
    words = [word.lower().replace("’", "'") for word in _LETTERS.findall(text[:LANGUAGE_CHARACTERS])]
    if not words or sum(word.isascii() for word in words) < ASCII_SHARE * len(words):
        return False
    return _commonness(words, ENGLISH) >= LEAST_ENGLISH and language_of(text) in ("", ENGLISH)


def english_words() -> dict[str, float]:
    """The common English words, in lower case, each with its Zipf frequency."""
    return _zipf(ENGLISH)


def _commonness(words: list[str], code: str) -> float:
    """Mean Zipf frequency (powers of ten per thousand million words) of words in a language; 0 of those it lacks."""
    known = _zipf(code)
    return sum(known.get(word, 0.0) for word in words) / len(words)


@cache
def _zipf(code: str) -> dict[str, float]:
    # wordfreq takes half a second to import, which a command that reads no message should not wait for.
    from wordfreq import get_frequency_dict

    return {word: 9.0 + math.log10(share) for word, share in get_frequency_dict(code, "small").items()}

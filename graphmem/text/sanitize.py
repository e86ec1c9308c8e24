"""Quotation: somebody's words in a sentence of ours, safely."""

import re
import unicodedata

SHOWN_CHARACTERS = 4_000
"""How much of a long text is looked at."""

# What stands between numbers is no markup: "3 < 5", "x^2".
_COMPARES, _RAISES = r"[<>](?!=? ?-?\d)|(?<![\w)%] )(?<![\w)%])[<>]", r"\^(?!-?[\w(])|(?<![\w)])\^"
_MARKUP = re.compile(rf"(?:[{{}}\[\]|\\`*_#~“”„«»\"]|{_COMPARES}|{_RAISES})+")
_TIMES = re.compile(r"(?<=\d) ?\* ?(?=\d)")
_TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s+[\w-]+=[^<>]*)?\s*/?>")


def clean(text: str) -> str:
    """A text on one line, without markup, quotation marks and what cannot be seen.

    Examples
    --------
    >>> clean('I <b>said</b>\\n"yes", 3 < 5')
    'I said yes, 3 < 5'
    >>> clean("**so** 12*7, x^2 >= 4 -> ^up^ < a")
    'so 12 x 7, x^2 >= 4 - up a'
    """
    text = _TIMES.sub(" x ", text[:SHOWN_CHARACTERS])
    text = _MARKUP.sub(" ", _TAG.sub(" ", text))
    if not text.isascii() or not text.isprintable():
        text = "".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in text)
    return re.sub(r" (?=[?!,])", "", " ".join(text.split()))


def clipped(text: str, characters: int, words: int = 10_000) -> str:
    """The beginning of a text, cut between words, with "…" where something was cut.

    Examples
    --------
    >>> clipped("one two three", 9), clipped("one two three", 20, words=1), clipped("one", 9)
    ('one two…', 'one…', 'one')
    """
    parts = text.split()
    whole = " ".join(parts)
    short = " ".join(parts[:words])
    if len(parts) <= words and len(whole) <= characters:
        return whole
    room = characters - 1
    if len(short) > room:
        cut = short[:room]
        short = cut.rsplit(" ", 1)[0] if short[room] != " " and " " in cut else cut
    return short.rstrip(" ,.;:-–") + "…"


def quoted(text: str, characters: int = 90, words: int = 12) -> str:
    """A short quotation in quotation marks; empty where nothing is left to quote.

    Examples
    --------
    >>> quoted("<i>12 - 3 = 9</i>")
    '“12 - 3 = 9”'
    >>> quoted("<>")
    ''
    """
    short = clipped(clean(text), characters, words).rstrip(" .,;:")
    return f"“{short}”" if short.strip("…") else ""

"""The sentences of a text, by their spans, and its apostrophes written in one way."""

import re

READ_CHARACTERS = 1_000
"""Longest piece of an endless sentence."""

_SENTENCE = re.compile(
    r"(?:[^.!?\n]|[.!?](?!\s|$)|(?<=\bMr)\.|(?<=\bMrs)\.|(?<=\b[MD][sr])\.|(?<=\bSt)\.|(?<=\b[ie]\.[ge])\.)+[.!?]*"
)
_LETTER = re.compile(r"[^\W\d_]")


def plain_apostrophes(text: str) -> str:
    """The text with straight apostrophes in the place of curly ones; no character moves."""
    return text.replace("’", "'").replace("‘", "'")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences, without outer blanks; an endless one in pieces, as patterns look far ahead.

    Examples
    --------
    >>> [("I met Mr. Brown. Bye!")[start:stop] for start, stop in sentence_spans("I met Mr. Brown. Bye!")]
    ['I met Mr. Brown.', 'Bye!']
    """
    spans = []
    for match in _SENTENCE.finditer(text):
        start, stop = match.span()
        while start < stop:
            end = stop
            if stop - start > READ_CHARACTERS:
                end = text.rfind(" ", start + 1, start + READ_CHARACTERS) + 1 or start + READ_CHARACTERS
            if _LETTER.search(text, start, end):
                spans.append(_trimmed(text, start, end))
            start = end
    return spans


def _trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    """A span without outer blanks."""
    said = text[start:stop]
    return stop - len(said.lstrip()), start + len(said.rstrip())

"""Quote location in a message: the proof that what a model remembers was said (spec 7).

Models copy almost, not quite: other quotation marks, other blanks, a capital letter, a slip mended. So a quote is
looked for as it is, then by its plain letters, then by its likeness; a number has to be the same in any case.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from rapidfuzz import fuzz

__all__ = ["Passage"]

LIKENESS = 90.0
"""Least `partial_ratio`, 0..100, at which a quote that was not copied exactly counts as found."""
FUZZY_QUOTE_LETTERS = 600
"""Most letters of a quote that is looked for by likeness, which takes time; a longer one has to be exact."""

# Marks that people and models set differently: they are left out of the comparison.
_QUOTE_MARKS = dict.fromkeys(map(ord, "'\"`´‘’‚‛“”„‟«»‹›′″*_"))
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_END_MARKS = " .,;:!?…"
# Prompts show angle brackets as these, and a model may copy them so.
_SIGN = re.compile("&lt;|&gt;|.", re.DOTALL)
_COPIED_BRACKETS = {"&lt;": "<", "&gt;": ">"}


@dataclass(frozen=True)
class _Plain:
    """A text in plain letters; letter i stands for the characters from starts[i] to ends[i] of the text."""

    text: str
    starts: list[int]
    ends: list[int]


@dataclass(frozen=True)
class Passage:
    """A text in which quotes are looked up.

    Examples
    --------
    >>> passage = Passage("My dog’s name is Bello,\\n and he is 3.")
    >>> passage.find('"My dog\\'s name is bello, and"')
    (0, 28)
    >>> passage.find("he is 4") is None
    True
    """

    text: str = field(repr=False)

    def find(self, quote: str) -> tuple[int, int] | None:
        """The span of the first place where a quote stands, or None.

        Parameters
        ----------
        quote : str                 as a model copied it; letter case, accents, blanks and quotation marks may differ,
                                    and a tenth of the letters, but no number

        Returns
        -------
        (start, end) in characters of the text, start < end; None also for a quote without letters and numbers

        Source: spec 7.
        """
        quote = quote.strip()
        if not any(map(str.isalnum, quote)):
            return None
        if exact := _place(quote, self.text):
            return exact
        needle = _folded(quote).text.strip(_END_MARKS)
        if not needle:
            return None
        if same := _place(needle, self._folded.text):
            return self._span(*same)
        return self._likeness(needle) if len(needle) <= FUZZY_QUOTE_LETTERS else None

    @cached_property
    def _folded(self) -> _Plain:
        return _folded(self.text)

    def _span(self, start: int, end: int) -> tuple[int, int]:
        return self._folded.starts[start], self._folded.ends[end - 1]

    def _likeness(self, needle: str) -> tuple[int, int] | None:
        text = self._folded.text
        found = fuzz.partial_ratio_alignment(needle, text, score_cutoff=LIKENESS)
        # A message much shorter than the quote may lie within it; that proves nothing.
        if found is None or found.dest_end - found.dest_start < LIKENESS / 100 * len(needle):
            return None
        start, end = _whole_words(text, found.dest_start, found.dest_end)
        return self._span(start, end) if _numbers(text[start:end]) == _numbers(needle) else None


def _place(needle: str, text: str) -> tuple[int, int] | None:
    """Span of a text in another: as whole words, else within words, as in languages that set no blanks."""
    if whole := re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", text):
        return whole.span()
    start = text.find(needle)
    return None if start < 0 else (start, start + len(needle))


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while text[start].isspace():
        start += 1
    while text[end - 1].isspace():
        end -= 1
    while start and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def _folded(text: str) -> _Plain:
    """Lower case, one blank for many, no accents, no quotation marks, nothing invisible."""
    letters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for sign in _SIGN.finditer(text):
        for letter in _letters(sign[0]):
            if letter == " " and letters[-1:] == [" "]:
                continue
            letters.append(letter)
            starts.append(sign.start())
            ends.append(sign.end())
    return _Plain("".join(letters), starts, ends)


@lru_cache(4096)
def _letters(sign: str) -> str:
    if sign.isspace():
        return " "
    plain = _COPIED_BRACKETS.get(sign, sign).translate(_QUOTE_MARKS).translate(_DASHES)
    if plain.isascii():
        return plain.lower() if plain.isprintable() else ""
    plain = unicodedata.normalize("NFKD", plain).casefold()
    return "".join(letter for letter in plain if letter.isprintable() and not unicodedata.combining(letter))

"""Checks of what a model writes: quotes found again in a message, fields read tolerantly, names (spec 7, 17).

Models copy nearly exactly: another kind of quotation mark, other blanks, a capital letter, a slip mended. So a quote is
looked for as it is, then by its words alone, then by its likeness; a number has to be the same in any case.

Schemas are lean and strict: every field is asked for, none has a default, and bounds are not sent. What comes is mended
where it can be, so that a wrong side field costs nothing but itself.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from itertools import groupby
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator
from rapidfuzz import fuzz

from graphmem.language.encoder import named_in
from graphmem.text.doc import Doc
from graphmem.text.normalize import abridged, cleaned_quote

LIKENESS = 90.0
"""Least `partial_ratio`, 0..100, at which a quote that was not copied exactly counts as found."""
FUZZY_QUOTE_LETTERS = 600
"""Most letters of a quote that is looked for by likeness, which takes time; a longer one has to be exact."""

_INNER_MARK = "'"
"""Stands for what people and models set differently within words: quotation marks, accents, what is invisible."""
_MARKS = frozenset("'\"`´‘’‚‛“”„‟«»‹›′″*")


_DIGITS = re.compile(r"\d+")
_AROUND = '.,;:!?()“”"'


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
        quote : str                 as a model copied it; letter case, accents, blanks and punctuation may differ,
                                    and a tenth of the letters, but no number

        Returns
        -------
        (start, end) in characters of the text, start < end; None also for a quote without letters and numbers

        Source: spec 7.
        """
        # Prompts show angle brackets as entities, and a model may copy them so.
        needle = _folded(unescape(quote)).strip(f" {_INNER_MARK}.,;:!?…")
        words = re.findall(r"\w+", needle.replace(_INNER_MARK, ""))
        if not words:
            return None
        loose = r"\W+".join(f"{_INNER_MARK}*".join(word) for word in words)
        exact = _place(re.escape(quote.strip()), self.text) or _place(loose, self._letters)
        return exact or (self._alike(needle) if len(needle) <= FUZZY_QUOTE_LETTERS else None)

    @cached_property
    def _letters(self) -> str:
        return _folded(self.text)

    def _alike(self, needle: str) -> tuple[int, int] | None:
        text = self._letters
        found = fuzz.partial_ratio_alignment(needle, text, score_cutoff=LIKENESS)
        # A message much shorter than the quote may lie within it; that proves nothing.
        if found is None or found.dest_end - found.dest_start < LIKENESS / 100 * len(needle):
            return None
        start, end = _whole_words(text, found.dest_start, found.dest_end)
        return (start, end) if re.findall(r"\d+", text[start:end]) == re.findall(r"\d+", needle) else None


def _place(pattern: str, text: str) -> tuple[int, int] | None:
    """Span of a pattern in a text: as whole words, else within words, as in languages that set no blanks."""
    found = re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text) or re.search(pattern, text)
    return None if found is None else found.span()


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


def _folded(text: str) -> str:
    """A text of the same length in plain lower-case letters, each mark within words as one sign."""
    return "".join(map(_letter, text))


def _letter(sign: str) -> str:
    if sign in _MARKS or unicodedata.category(sign) in ("Mn", "Cf"):
        return _INNER_MARK
    if sign == "_" or sign.isspace():
        return " "
    return unicodedata.normalize("NFKD", sign)[0].casefold()[:1]


def line(value: Any, most: int = 500) -> str:
    """Return a text on one line, at most so many characters; empty for a value that is no text."""
    text = " ".join(cleaned_quote(value).split()) if isinstance(value, str) else ""
    return text if len(text) <= most else abridged(text, most - len(" […]"))


def share(value: Any) -> float | None:
    """A share in [0, 1], from a number, a percentage or a text of either; None where it is none."""
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    try:
        number = float(text) if not isinstance(text, bool) else -1.0
    except (TypeError, ValueError):
        return None
    if not 0 <= number <= 100:
        return None
    return number / 100 if number > 1 else number


def bounded(most: int) -> AfterValidator:
    """Shortens a text and refuses an empty one."""

    def read(text: str) -> str:
        if not (cleaned := cleaned_quote(text)):
            raise ValueError("must not be empty")
        return cleaned if len(cleaned) <= most else abridged(cleaned, most - len(" […]"))

    return AfterValidator(read)


def filled(model: type[BaseModel], value: Any) -> Any:
    """An object with every field of a schema, absent ones None."""
    return dict.fromkeys(model.model_fields) | value if isinstance(value, dict) else value


def _as_texts(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [] if value is None else [value]
    texts = (" ".join(map(str, each.values())) if isinstance(each, dict) else str(each) for each in listed)
    return [text for text in map(line, texts) if text]


def _as_numbers(value: Any) -> list[int]:
    return [int(number) for text in _as_texts(value) for number in _DIGITS.findall(text)[:1] if len(number) < 9]


TextList = Annotated[list[str], BeforeValidator(_as_texts)]
"""A list of texts; one text stands for a list, an object for its values."""
NumberList = Annotated[list[int], BeforeValidator(_as_numbers)]


def names_in(text: str) -> Iterator[str]:
    """Yield what a text may name: names that the encoder finds, then words with a capital, which may be names, too.

    Examples
    --------
    >>> list(names_in("Ada has a four year old Labrador."))
    ['Ada', 'Labrador']
    """
    yield from (entity.name for entity in named_in(text))
    capitals = frozenset(Doc(text).capitals)
    words = (word.split("'")[0].strip(_AROUND) for word in text.split())
    for is_name, run in groupby(words, capitals.__contains__):
        if is_name:
            yield " ".join(run)

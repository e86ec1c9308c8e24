"""The tokeniser, the sentence splitter, and how common English words are."""

import math
import re
from functools import lru_cache
from typing import NamedTuple

UNKNOWN = 7.0
"""Rarity of a word outside the 30,000 most frequent ones."""
NUMBER_RARITY = 2.5
"""Rarity of a number: worth keeping beside its unit, little on its own."""

# Han and Kana are written without spaces: what is left between their particles and commonest characters are words.
DENSE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_HAN_STOPS = "的了是在我你他她它们這这那和就都也嗎吗呢吧不有個个為为與与及或很"
_NUMBER = r"[$€£¥]?\d+(?:[.,:]\d+)*"
_LETTER = rf"(?:(?![{DENSE}])[^\W\d_])"
# Between digits it multiplies.
_TIMES_SIGN = r"(?<=\d)x(?=\d)"
_MARK = r"[!?]+|[^\w\s]|\n"
_TOKEN = re.compile(rf"{_NUMBER}(?:%|[^\W\d_]++(?!\d))?|{_TIMES_SIGN}|[^\W\d_][^\W_]*(?:['’\-][^\W\d_]+)*|{_MARK}")
_WORD_PART = re.compile(r"[^\W_]+")
_CHARACTER = re.compile(r"\w")
_HAS_DENSE = re.compile(f"[{DENSE}]")
_MIXED_TOKEN = re.compile(
    rf"{_NUMBER}(?:%|{_LETTER}++(?!\d))?|(?:(?![{_HAN_STOPS}])[\u30a0-\u30ff\u3400-\u9fff\uf900-\ufaff])+"
    rf"|{_TIMES_SIGN}|{_LETTER}(?:{_LETTER}|\d)*(?:['’\-]{_LETTER}+)*|{_MARK}"
)


SentenceSpan = tuple[int, int]
"""Start and end in a text, in characters."""
# A run of marks is tried from its first mark only, so that a long one costs no more than its length.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*]*+(?=\s|$)|[。！？]+|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|st|prof|vs|no|approx|e\.g|i\.e|a\.m|p\.m|(?-i:[A-HJ-Z]))$", re.I
)


class Token(NamedTuple):
    """A word, a number or a mark, and its place in its text."""

    text: str
    start: int
    end: int


def tokens(text: str) -> tuple[Token, ...]:
    """The words, numbers and marks of a text, in order; a line break is a mark.

    A word keeps its inner apostrophes and hyphens, a number its currency and percent signs.

    Examples
    --------
    >>> [token.text for token in tokens("Isn't it 12.5% at 4pm?!")]
    ["Isn't", 'it', '12.5%', 'at', '4pm', '?!']
    """
    return tuple(Token(match.group(), *match.span()) for match in _token_of(text).finditer(text))


def token_texts(text: str) -> list[str]:
    """The texts of its tokens, found three times as fast as with their places.

    Examples
    --------
    >>> token_texts("Isn't it 12.5% at 4pm?!")
    ["Isn't", 'it', '12.5%', 'at', '4pm', '?!']
    """
    return _token_of(text).findall(text)


def _token_of(text: str) -> re.Pattern[str]:
    return _MIXED_TOKEN if _HAS_DENSE.search(text) else _TOKEN


def parts(token: str) -> list[str]:
    """The runs of letters and digits in a token.

    Examples
    --------
    >>> parts("mother-in-law's"), parts("12.5%")
    (['mother', 'in', 'law', 's'], ['12', '5'])
    """
    return _WORD_PART.findall(token)


def fine_tokens(text: str) -> list[Token]:
    """The runs of letters and digits in a text, each with its place; of scripts without spaces each character.

    Examples
    --------
    >>> [token.text for token in fine_tokens("f-r-a-c, Ann's 比例!")]
    ['f', 'r', 'a', 'c', 'Ann', 's', '比', '例']
    """
    found: list[Token] = []
    for token in tokens(text):
        if token.text.isascii() and token.text.isalnum():
            found.append(token)
            continue
        pattern = _CHARACTER if is_dense(token.text) else _WORD_PART
        parted = ((match.group(), *match.span()) for match in pattern.finditer(token.text))
        found += [Token(part, token.start + start, token.start + end) for part, start, end in parted]
    return found


def is_number(token: str) -> bool:
    """True if a token is a number, with or without a unit.

    Examples
    --------
    >>> is_number("$5"), is_number("12%"), is_number("five")
    (True, True, False)
    """
    return token[0].isdigit() or (token[0] in "$€£¥" and len(token) > 1)


def is_dense(token: str) -> bool:
    """True if a token is of a script that puts no spaces between its words."""
    return _HAS_DENSE.match(token) is not None


def word_rarity(word: str) -> float:
    """Rarity of a word in English: 8 minus its Zipf frequency (powers of ten per thousand million words).

    Returns
    -------
    float in [0, 7]; 7 for a word that is not among the 30,000 most frequent, 2.5 for a number

    Source: wordfreq (Speer 2022), its small English list.

    Examples
    --------
    >>> word_rarity("the") < word_rarity("people") < word_rarity("fraction") < word_rarity("numerator")
    True
    """
    if word[-1:].isdigit() or word[:1].isdigit():
        return NUMBER_RARITY
    return _word_rarities().get(word.lower(), UNKNOWN)


def is_known(word: str) -> bool:
    """True if a word is among the 30,000 most frequent English ones.

    Examples
    --------
    >>> is_known("fraction"), is_known("дроби")
    (True, False)
    """
    return word.lower() in _word_rarities()


def common_words(rarity: float) -> list[str]:
    """The English words that are less rare than that, most frequent first.

    Examples
    --------
    >>> common_words(1.0)[:3]
    ['the', 'to', 'and']
    """
    return [word for word, own in sorted(_word_rarities().items(), key=lambda each: each[1]) if own < rarity]


@lru_cache(maxsize=1)
def _word_rarities() -> dict[str, float]:
    # wordfreq takes half a second to import, which a command that asks no mind should not wait for.
    from wordfreq import get_frequency_dict

    return {word: max(0.0, -1.0 - math.log10(share)) for word, share in get_frequency_dict("en", "small").items()}


def sentence_spans(text: str) -> list[SentenceSpan]:
    """The sentences and lines of a text, without the white space around them; blank ones left out.

    Examples
    --------
    >>> [("I met Mr. Hill. At 3.30? Yes!")[a:b] for a, b in sentence_spans("I met Mr. Hill. At 3.30? Yes!")]
    ['I met Mr. Hill.', 'At 3.30?', 'Yes!']
    """
    spans, start = [], 0
    for match in _END.finditer(text):
        if match.group() == "." and _goes_on(text, start, match.start()):
            continue
        spans.append((start, match.end()))
        start = match.end()
    spans.append((start, len(text)))
    return [span for span in (stripped(text, *span) for span in spans) if span[0] < span[1]]


def _goes_on(text: str, start: int, end: int) -> bool:
    """True if a full stop at `end` belongs to an abbreviation, or to the number of a list."""
    return _ABBREVIATION.search(text, max(start, end - 7), end) is not None or (
        end - start < 5 and text[start:end].strip().isdecimal()
    )


def stripped(text: str, start: int, end: int) -> SentenceSpan:
    """A span without the white space at its ends.

    Examples
    --------
    >>> stripped(" a ", 0, 3)
    (1, 2)
    """
    part = text[start:end]
    if not part or part.isspace():
        return start, start
    return end - len(part.lstrip()), start + len(part.rstrip())

"""Disguised words in sentences, put plainly: what the fog undoes, safety undoes (spec 20).

Look-alike letters, full width, markup and what is not seen are undone by `graphmem.text.disguises`. Here words are put
in the place of leetspeak, of letters that stand apart and of words without blanks, where English words come out.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from graphmem.text.disguises import undisguised
from graphmem.text.language import english_words

LEAST_LETTERS = 8
"""Letters of the shortest run of words without blanks."""
MOST_LETTERS = 4_000
"""Letters of the longest run that is cut into words."""
LONGEST_WORD = 18
FOREIGN_SHARE = 0.1
"""Share of letters outside of Latin up to which look-alike letters are taken for a disguise, and not for a language."""
MOSTLY_LEET = 0.3
"""Share of the words in leetspeak from which on a whole text is."""
CUT_COMMONNESS = 4.5
"""Mean Zipf frequency of the words from which on a run is cut into them."""

_LEET_READINGS = tuple(str.maketrans("01345789@$!|+", letters) for letters in ("oieastbgasilt", "oleastbgasllt"))
_LEET_SIGN, _LETTER = re.compile(r"[01345789@$!|+]"), re.compile(r"[a-z]", re.IGNORECASE)
_MEASURED = re.compile(r"\W*\d+(?:st|nd|rd|th|s|m|k|h|b|x|g|kg|cm|mm|km|kms|pm|am|min|mins|e)\W*", re.IGNORECASE)
_UNBROKEN = re.compile(r"\S+")
_SPACED_LETTERS = re.compile(r"(?<!\w)[^\W\d_](?:[\s.*_/|~-]{1,4}[^\W\d_]){3,}(?!\w)")
_DOTTED = re.compile(r"(?<![\w.])[^\W\d_](?:[.*_|~][^\W\d_])+(?![\w])")
_LETTER_GAP = re.compile(r"[\s.*_/|~-]+")
_LONG = re.compile(rf"[a-z]{{{LEAST_LETTERS},{MOST_LETTERS}}}", re.IGNORECASE)
_SHORT_WORDS = frozenset("i a u".split())  # noqa: SIM905


def in_plain_words(text: str) -> str:
    """A text with the words that it stands for; the same where nothing is disguised.

    Examples
    --------
    >>> [in_plain_words(text) for text in ("i want to k1ll mys3lf", "i wаnt tо dіе", "h e  h i t s  m e", "iwanttodie")]
    ['i want to kill myself', 'i want to die', 'he hits me', 'i want to die']
    >>> in_plain_words("The 1st train is the B12, 3 + 4 = 7, and mp3 is a file.")
    'The 1st train is the B12, 3 + 4 = 7, and mp3 is a file.'
    """
    text = _in_latin(text)
    text = _SPACED_LETTERS.sub(lambda match: _spaced_letters(match.group()), text)
    text = _DOTTED.sub(lambda match: _spaced_letters(match.group()), text)
    if _LEET_SIGN.search(text):
        text = _unleeted(text)
    return _LONG.sub(lambda match: _cut_run(match.group()), text)


def _in_latin(text: str) -> str:
    """The text without look-alike letters, full width and markup; the same where that is no disguise."""
    clear = undisguised(text).text
    letters = [c for c in clear if c.isalpha()]
    changed = clear.replace(" ", "") != text.replace(" ", "")
    foreign = sum(not c.isascii() for c in letters)
    return clear if changed and letters and foreign <= FOREIGN_SHARE * len(letters) else text


def _unleeted(text: str) -> str:
    """The text with the words that leetspeak stands for; what is short is read so only beside what is longer."""
    runs = _UNBROKEN.findall(text)
    read = sum(_of_leet(run) is not None for run in runs if sum(map(str.isalnum, run)) > 2)
    if not read:
        return text
    if read > MOSTLY_LEET * len(runs):
        return text.lower().translate(_LEET_READINGS[0])
    return _UNBROKEN.sub(
        lambda match: _of_leet(match.group()) or {"1": "i", "4": "a"}.get(match.group(), match.group()), text
    )


def _of_leet(run: str) -> str | None:
    """The English word that a run of letters and signs stands for."""
    core = run.rstrip("!|.,;:?)+")
    if not (_LEET_SIGN.search(core) and _LETTER.search(core)) or _MEASURED.fullmatch(core):
        return None
    words = (core.lower().translate(table) for table in _LEET_READINGS)
    known = next((word for word in words if word in english_words()), None)
    return None if known is None else known + run[len(core) :]


def _spaced_letters(run: str) -> str:
    """Letters that stand apart as words; a wider gap than the narrowest parts two words."""
    gaps = _LETTER_GAP.findall(run)
    narrow = min(map(len, gaps))
    words = [""]
    for letter, gap in zip(_LETTER_GAP.split(run), [*gaps, ""], strict=True):
        words[-1] += letter
        if len(gap) > narrow:
            words.append("")
    made = " ".join(word if word.lower() in english_words() else _cut_run(word) for word in words)
    known = [word for word in made.lower().split() if word in english_words()]
    return made if 2 * sum(map(len, known)) > sum(map(len, words)) else run


def _cut_run(run: str) -> str:
    """The words that a run of letters without blanks is made of; the run itself where it is a word, or no words."""
    words, low = english_words(), run.lower()
    if low in words or len(run) > MOST_LETTERS:
        return run
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(low) + 1):
        best.append(min(_ways(low, end, best), default=(float("inf"), 0)))
    if best[-1][0] == float("inf"):
        return run
    ends = [len(low)]
    while ends[-1]:
        ends.append(best[ends[-1]][1])
    cuts = ends[::-1]
    pieces = [run[a:b] for a, b in pairwise(cuts)]
    mean = sum(words[piece.lower()] for piece in pieces) / len(pieces)
    return " ".join(pieces) if mean >= CUT_COMMONNESS else run


def _ways(text: str, end: int, best: list[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """Cost and beginning of each word that may end here: rare words cost more."""
    words = english_words()
    for start in range(max(0, end - LONGEST_WORD), end):
        word = text[start:end]
        if word in words and (len(word) > 2 or word in _SHORT_WORDS or (len(word) == 2 and words[word] >= 5.5)):
            yield best[start][0] + 9.0 - words[word], start

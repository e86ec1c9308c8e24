"""Disguised words in sentences, put plainly: what the fog undoes, safety undoes (spec 20).

Look-alike letters, full width, markup and what is not seen are undone by `graphmem.text.disguises`. Here words are put
in the place of leetspeak, of letters that stand apart and of words without blanks, where English words come out: the
likeliest by how common each is.
"""

import re
from functools import cache
from itertools import pairwise

from graphmem.text.disguises import LEET, LEET_TABLES, undisguised, word_in
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
UNKNOWN, UNKNOWN_LETTER = 6.0, 1.0
"""Surprise of a word that no list knows, and of each of its letters, in powers of ten."""
CUT_SURPRISE = 1.25
"""Most surprise of a letter, in the mean, at which a run is taken for words: 95 in 100 runs of messages without blanks
have less, and one in four of words that are merely rare."""
FEW, COMMON = 2, 4.5
"""Words of which each has to be so common, where a run is cut into no more: a rare word looks like two."""
APART_LETTERS = 4
"""Fewest letters that stand apart one by one."""
LEAST_DOTTED = 3
"""Characters of the shortest word whose letters are parted by a sign."""

_LATIN_LETTER = re.compile(r"[a-z]", re.IGNORECASE)
_MEASURED = re.compile(r"\W*\d+(?:st|nd|rd|th|s|m|k|h|b|x|g|kg|cm|mm|km|kms|pm|am|min|mins|e)\W*", re.IGNORECASE)
_UNBROKEN = re.compile(r"\S+")
_APART = re.compile(rf"(?<!\S)\S(?:\s{{1,4}}\S){{{APART_LETTERS - 1},}}(?!\S)")
_BLANKLESS = re.compile(rf"[a-z0-9'’]{{{LEAST_LETTERS},}}", re.IGNORECASE)
_PARTING = frozenset(".*_|~/-")
_SHORT_WORDS = frozenset("aiunrw0123456789")


def in_plain_words(text: str) -> str:
    """A text with the words that it stands for; the same where nothing is disguised.

    Examples
    --------
    >>> [in_plain_words(text) for text in ("i want to k1ll mys3lf", "i wаnt tо dіе", "h e  h i t s  m e", "iwanttodie")]
    ['i want to kill myself', 'i want to die', 'he hits me', 'i want to die']
    >>> in_plain_words("i.m s.o t.i.r.e.d itsallpointless,dontcallme")
    'im so tired its all pointless, dont call me'
    >>> in_plain_words("The 1st train is the B12, 3 + 4 = 7, and mp3 is a file.")
    'The 1st train is the B12, 3 + 4 = 7, and mp3 is a file.'
    """
    text = _in_latin(text)
    text = _APART.sub(lambda match: _letters_joined(match.group()), text)
    text = _UNBROKEN.sub(lambda match: _undotted(match.group()), text)
    if LEET.search(text):
        text = _unleeted(text)
    return _BLANKLESS.sub(_cut_run, text)


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
        return text.lower().translate(LEET_TABLES[0])
    return _UNBROKEN.sub(
        lambda match: _of_leet(match.group()) or {"1": "i", "4": "a"}.get(match.group(), match.group()), text
    )


def _of_leet(run: str) -> str | None:
    """The English word that a run of letters and signs stands for."""
    core = word_in(run)
    if not (LEET.search(core) and _LATIN_LETTER.search(core)) or _MEASURED.fullmatch(core):
        return None
    words = (core.lower().translate(table) for table in LEET_TABLES)
    known = next((word for word in words if word in english_words()), None)
    return None if known is None else known + run[len(core) :]


def _letters_joined(run: str) -> str:
    """Letters that stand apart as words; a wider gap than the narrowest parts two words."""
    if 2 * sum(map(str.isalpha, run)) <= sum(not each.isspace() for each in run):
        return run
    gaps = [len(gap) for gap in re.findall(r"\s+", run)]
    ends = [" " if gap > min(gaps) else "" for gap in gaps]
    made = "".join(map("".join, zip(run.split(), [*ends, ""], strict=True)))
    return made if _is_read(made) else run


def _undotted(run: str) -> str:
    """A word whose letters are parted by one sign, as "w.o.r.d", without it."""
    signs = set(run[1::2])
    if (
        len(run) < LEAST_DOTTED
        or len(signs) > 1
        or not signs <= _PARTING
        or not (run[0].isalpha() and run[2].isalpha())
    ):
        return run
    made = run[::2]
    return made if _is_read(made) else run


def _is_read(text: str) -> bool:
    """True if English words come out."""
    bare = (word.strip(",.;:!?\"'").lower() for word in text.split())
    found = [word in _surprises() or _words_in(word)[0] <= CUT_SURPRISE for word in bare if any(map(str.isalpha, word))]
    return 2 * sum(found) > len(found)


def _cut_run(found: re.Match[str]) -> str:
    """The words that a run without blanks is made of; the run itself where it is a word, or no words."""
    run = found.group()
    if run.lower() in _surprises() or len(run) > MOST_LETTERS or not any(map(str.isalpha, run)):
        return run
    surprise, pieces = _words_in(run)
    rare = len(pieces) <= FEW and max(_surprises().get(piece.lower(), UNKNOWN) for piece in pieces) > COMMON
    if surprise > CUT_SURPRISE or rare:
        return run
    # A mark stands before it where the run had no blank after one.
    return f"{' ' if found.start() and found.string[found.start() - 1] in ',.;:!?' else ''}{' '.join(pieces)}"


def _words_in(run: str) -> tuple[float, list[str]]:
    """The likeliest words that a run is made of, and how surprising they are for each letter, in powers of ten."""
    low, words = run.lower().replace("’", "'"), _surprises()
    best = [(0.0, 0)]
    for end in range(1, len(low) + 1):
        ways = ((start, low[start:end]) for start in range(max(0, end - LONGEST_WORD), end))
        unknown = UNKNOWN + UNKNOWN_LETTER * end
        best.append(
            min((best[start][0] + words.get(word, unknown - UNKNOWN_LETTER * start), start) for start, word in ways)
        )
    ends = [len(low)]
    while ends[-1]:
        ends.append(best[ends[-1]][1])
    return best[-1][0] / len(low), [run[a:b] for a, b in pairwise(ends[::-1])]


@cache
def _surprises() -> dict[str, float]:
    """The surprise of each common word, in powers of ten, also as it is typed without its apostrophe."""
    known = english_words()
    typed = {word.replace("'", ""): common for word, common in known.items() if "'" in word}
    found = {word: 9.0 - max(common, typed.get(word, 0.0)) for word, common in {**typed, **known}.items()}
    return {word: surprise for word, surprise in found.items() if len(word) > 1 or word in _SHORT_WORDS}

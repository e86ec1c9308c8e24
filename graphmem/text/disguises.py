"""Texts in which words are disguised, read as they are meant: look-alike letters, leetspeak, markup, simple codes.

Nothing is guessed here: each function gives one more reading, and who looks for names tries them all.

In sentences (`in_plain_words`, spec 20) words are put in the place of leetspeak, of letters that stand apart and of
words without blanks, where English words come out: the likeliest by how common each is.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise

from graphmem.text.doc import english_words

UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
"""Characters that are not seen, as the inside of a character class."""
LONG_RUN, LEET_LETTERS = 4, 2
"""Characters, and letters among them, of the shortest word that makes leetspeak of a text."""
LONGEST_TAG = 80
"""Most characters of a tag of markup or the address of a link."""

# Letters of Cyrillic and Greek that look like one of Latin, lower case; the more telling part of Unicode's confusables.
_LOOK_ALIKE = str.maketrans(
    "аеорсухіјѕһԁԛԝкмтвнгпиӏьёαβγεηικμνορστυχωϲϳ", "aeopcyxijshdqwkmtbhrnulbeabyenikuvopotuxwcj"
)  # fmt: skip
_NAME_OF_LETTER = re.compile(r"(?:LATIN (?:SMALL |CAPITAL )?LETTER|SMALL CAPITAL|SYMBOL LETTER) ([A-Z])$")
_CHANGED = re.compile(rf"[*_~`<\]\\&{UNSEEN}]|(?<=[a-z])[A-Z]")
_PIECE = re.compile(
    r"(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,10});|\\u[0-9a-fA-F]{4})"
    rf"|(?P<gone></?[a-zA-Z][^<>]{{0,{LONGEST_TAG}}}>|\]\([^()\s]{{0,{LONGEST_TAG}}}\)|[*_~`{UNSEEN}]+)"
    r"|(?P<hump>(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]))|(?P<kept>(?s:.))"
)
_RUN = re.compile(r"\S+")
LEET = re.compile(r"[01345789@$!|+]")
LEET_TABLES = tuple(str.maketrans("01345789@$!|+", letters) for letters in ("oieastbgasilt", "oleastbgasllt"))
"""What signs and digits stand for in leetspeak: a 1 is an i, or an l."""
_STRETCHED = re.compile(r"(.)\1{2,}")
_BASE64 = re.compile(r"(?<![\w+/])(?=[a-z]*[A-Z0-9])[A-Za-z0-9+/]{8,}={0,2}(?![\w+/=])")
_HEX = re.compile(r"(?<!\w)(?:(?:0x|\\x|%)?[0-9a-fA-F]{2}[\s,:-]{0,2}){4,}(?!\w)")
_BINARY = re.compile(r"(?<!\w)(?:[01]{8}[\s,]{0,2}){4,}(?!\w)")
_NUMBERED = re.compile(r"(?<!\w)\d{1,2}(?:[\s,.-]{1,3}\d{1,2}){3,}(?!\w)")
_MORSE = re.compile(r"[.-]{1,4}(?:[ /|]{1,3}[.-]{1,4}){3,}")
_MORSE_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE_LETTERS = dict(zip(_MORSE_SIGNS.split(), "abcdefghijklmnopqrstuvwxyz", strict=True))


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


@dataclass(frozen=True)
class Undisguised:
    """A text made plain, and for each of its characters where it stands in the text as written.

    starts, ends : of each character; None: the characters are those of the text
    """

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of it stands in the text as written."""
        if self.starts is None or self.ends is None:
            return start, end
        first, last = start, end - 1
        # In a text that is read backwards the last comes first.
        return min(self.starts[first], self.starts[last]), max(self.ends[first], self.ends[last])


def undisguised(text: str) -> Undisguised:
    """A text without markup and what is not seen, escapes and look-alike letters resolved, `twoWords` apart.

    Examples
    --------
    >>> [undisguised(text).text for text in ("fr**act**ion", "fr&#97;ction", "frаction", "primeNumber")]
    ['fraction', 'fraction', 'fraction', 'prime Number']
    >>> undisguised("ⓕⓡⓐⓒⓣⓘⓞⓝ").text
    'fraction'
    """
    starts = ends = None
    if _CHANGED.search(text):
        kept = [
            ("" if m.lastgroup == "gone" else " " if m.lastgroup == "hump" else _unescaped(m.group()), *m.span())
            for m in _PIECE.finditer(text)
        ]
        starts = [start for piece, start, _ in kept for _ in piece]
        ends = [end for piece, _, end in kept for _ in piece]
        text = "".join(piece for piece, *_ in kept)
    if not text.isascii():
        text = "".join(c if c.isascii() else _plain_letter(c) for c in text)
    return Undisguised(text, starts, ends)


def unleeted(text: str) -> Iterator[str]:
    """A text of the same length with all digits and signs read as letters, where some word needs it.

    Examples
    --------
    >>> list(unleeted("fr4ct10n, 3 + 4"))
    ['fraction, e + a', 'fractlon, e + a']
    """
    if not any(_is_leet(match.group(), LONG_RUN) for match in _RUN.finditer(text)):
        return
    for table in LEET_TABLES:

        def letters(match: re.Match[str], table: dict[int, int] = table) -> str:
            core = word_in(match.group())
            return core.translate(table) + match.group()[len(core) :]

        changed = _RUN.sub(letters, text)
        if changed == text:
            return
        yield changed


def word_in(run: str) -> str:
    """A run of characters without the marks at its end."""
    return run.rstrip("!|.,;:?)+")


def _is_leet(run: str, length: int) -> bool:
    """True if a run of characters mixes letters with signs that stand for some."""
    core = word_in(run)
    return len(core) >= length and sum(c.isalpha() for c in core) >= LEET_LETTERS and LEET.search(core) is not None


def squeezed(word: str) -> Iterator[str]:
    """A word whose stretched letters stand once, and twice; nothing where none is stretched.

    Examples
    --------
    >>> list(squeezed("fraaaction")), list(squeezed("fraction"))
    (['fraction', 'fraaction'], [])
    """
    for less in (r"\1", r"\1\1"):
        other = _STRETCHED.sub(less, word)
        if other != word:
            yield other


def backwards(text: Undisguised) -> Undisguised:
    """A text from its last character to its first, each in its place.

    Examples
    --------
    >>> backwards(Undisguised("toor erauqs")).text
    'square root'
    """
    length = len(text.text)
    starts = text.starts or list(range(length))
    ends = text.ends or list(range(1, length + 1))
    return Undisguised(text.text[::-1], starts[::-1], ends[::-1])


def rotated(text: Undisguised) -> Undisguised:
    """A text with its letters rotated by 13.

    Examples
    --------
    >>> rotated(Undisguised("senpgvba")).text
    'fraction'
    """
    return replace(text, text=codecs.encode(text.text, "rot13"))


def decoded(text: str) -> Iterator[tuple[str, int, int]]:
    """What stands in a text in base64, hexadecimal, binary, Morse or as numbers of letters, each with its place.

    Examples
    --------
    >>> [word for word, *_ in decoded("ZnJhY3Rpb24= and 66 72 61 63, that is ..-. .-. .- -.-.")]
    ['fraction', 'frac', 'frac']
    >>> list(decoded("6-18-1-3"))
    [('frac', 0, 8)]
    """
    for pattern, read in _CODES:
        for match in pattern.finditer(text):
            word = read(match.group())
            if word is not None:
                yield word, *match.span()


def _of_base64(code: str) -> str | None:
    try:
        return _as_text(base64.b64decode(code + "=" * (-len(code) % 4), validate=True))
    except binascii.Error:
        return None


def _of_hex(code: str) -> str | None:
    return _as_text(bytes(int(pair, 16) for pair in re.findall(r"[0-9a-fA-F]{2}", re.sub(r"0x|\\x|%", " ", code))))


def _of_binary(code: str) -> str | None:
    return _as_text(bytes(int(octet, 2) for octet in re.findall(r"[01]{8}", code)))


def _of_numbers(code: str) -> str | None:
    numbers = [int(number) for number in re.findall(r"\d+", code)]
    return "".join(chr(96 + n) for n in numbers) if all(1 <= n <= 26 for n in numbers) else None


def _of_morse(code: str) -> str | None:
    letters = [_MORSE_LETTERS.get(sign) for sign in re.findall(r"[.-]+", code)]
    return "".join(letter for letter in letters if letter is not None) if None not in letters else None


_CODES: tuple[tuple[re.Pattern[str], Callable[[str], str | None]], ...] = (
    (_BASE64, _of_base64),
    (_HEX, _of_hex),
    (_BINARY, _of_binary),
    (_NUMBERED, _of_numbers),
    (_MORSE, _of_morse),
)


def _as_text(code: bytes) -> str | None:
    try:
        text = code.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() and 2 * sum(c.isalpha() for c in text) > len(text) else None


def _unescaped(piece: str) -> str:
    if len(piece) == 1:
        return piece
    return chr(int(piece[2:], 16)) if piece.startswith("\\u") else html.unescape(piece)


@lru_cache(maxsize=4_096)
def _plain_letter(character: str) -> str:
    """The Latin letter that a character looks like, without its accent only where it is a styled one; else itself."""
    shown = unicodedata.normalize("NFKC", character)
    if len(shown) == 1 and shown.isascii():
        return shown
    named = _NAME_OF_LETTER.search(unicodedata.name(character, ""))
    if named is not None:
        return named.group(1).lower()
    alike = character.casefold().translate(_LOOK_ALIKE)
    return alike if len(alike) == 1 and alike.isascii() else character


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
    least = min(gaps)
    ends = [" " if gap > least else "" for gap in gaps]
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

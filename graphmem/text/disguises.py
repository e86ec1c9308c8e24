"""Texts in which words are disguised, read as they are meant: look-alike letters, leetspeak, markup, simple codes.

Nothing is guessed here: each function gives one more reading, and who looks for names tries them all.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

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

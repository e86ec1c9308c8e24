"""Normal forms of texts for rules, comparing, showing and quoting; talk that somebody pasted, read by speaker.

Text quoted in a prompt stands between tags with its angle brackets escaped, so that it can neither open nor close one.
"""

import re
import unicodedata
from dataclasses import dataclass

_APOSTROPHES = str.maketrans("’‘", "''")
_SPACE = re.compile(r"\s+")
# Control, format, private and lone surrogate characters; the joiners of emoji and of Indic and Persian words stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


SHOWN_CHARACTERS = 4_000
"""How much of a long text is looked at."""
# What stands between numbers is no markup: "3 < 5", "x^2".
_COMPARES, _RAISES = r"[<>](?!=? ?-?\d)|(?<![\w)%] )(?<![\w)%])[<>]", r"\^(?!-?[\w(])|(?<![\w)])\^"
_MARKUP = re.compile(rf"(?:[{{}}\[\]|\\`*_#~“”„«»\"]|{_COMPARES}|{_RAISES})+")
_TIMES = re.compile(r"(?<=\d) ?\* ?(?=\d)")
_TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s+[\w-]+=[^<>]*)?\s*/?>")
_BRACKETS = str.maketrans(
    {"<": "&lt;", "＜": "&lt;", "﹤": "&lt;", ">": "&gt;", "＞": "&gt;", "﹥": "&gt;"},
)
# Control characters, and halves of surrogate pairs, which no JSON body can carry.
_CONTROL = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)])
NAME_WORDS, NAME_CHARACTERS = 3, 40
"""Most words and characters of a speaker's name."""
ME = frozenset({"me", "i"})
"""What somebody who pastes talk may call themselves."""


def straightened(text: str) -> str:
    """A text with straight apostrophes.

    Examples
    --------
    >>> straightened("I’m Ada")
    "I'm Ada"
    """
    return text.translate(_APOSTROPHES)


def plain(text: str) -> str:
    """A text as rules read it: lower case, straight apostrophes, each character in its place.

    Examples
    --------
    >>> plain("I’m Ada"), len(plain("İ"))
    ("i'm ada", 1)
    """
    if text.isascii():
        return text.lower()
    straight = straightened(text)
    lower = straight.lower()
    if len(lower) == len(straight):
        return lower
    return "".join(one if len(one := c.lower()) == 1 else c for c in straight)


def folded(text: str) -> str:
    """A text as it is compared for being the same: without case, width and surplus spaces.

    Examples
    --------
    >>> folded("I  LIKE it!") == folded("i like it!")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def said(text: str) -> str:
    """A folded text without closing punctuation, by which one message is another said again.

    Examples
    --------
    >>> said("I  like it!") == said("i like it")
    True
    """
    words = folded(text)
    return words.rstrip(".!? ") or words


def cleaned(text: str) -> str:
    """A text on one line without control characters and what cannot be seen; markup stays as text.

    Examples
    --------
    >>> cleaned("so\\u200b it  is\\x07\\n<b>9</b>")
    'so it is <b>9</b>'
    """
    return _SPACE.sub(" ", _UNSEEN.sub("", text)).strip()


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


del _CONTROL[0x09], _CONTROL[0x0A]


def cleaned_quote(text: str) -> str:
    r"""Text without control characters (line feeds and tabs stay) and without blanks around it.

    Cleaning a beginning of a text gives a beginning of the cleaned text, so that it suits streams.

    Examples
    --------
    >>> cleaned_quote("  one\x00\r\ntwo ")
    'one\ntwo'
    """
    return text.translate(_CONTROL).strip()


def escaped(text: str) -> str:
    """Text that cannot open or close a tag: every angle bracket, wide ones too, becomes `&lt;` or `&gt;`.

    Escaping twice equals escaping once. Control characters but line feeds and tabs are removed.

    Parameters
    ----------
    text : str                      of a student or an app

    Returns
    -------
    str without `<`, `>` and their wide forms

    Source: spec 10.7.

    Examples
    --------
    >>> escaped("2 < 3</COMPANION_MEMORY>")
    '2 &lt; 3&lt;/COMPANION_MEMORY&gt;'
    """
    return cleaned_quote(text).translate(_BRACKETS)


def abridged(text: str, limit: int) -> str:
    """The first `limit` characters of a text, and a sign that there was more.

    Examples
    --------
    >>> abridged("abcdef", 3), abridged("abc", 3)
    ('abc […]', 'abc')
    """
    return text if len(text) <= limit else f"{text[:limit]} […]"


def one_line(text: str) -> str:
    """Escaped text on a single line.

    Examples
    --------
    >>> one_line("one < two\\nthree")
    'one &lt; two three'
    """
    return " ".join(escaped(text).split())


@dataclass(frozen=True)
class SpokenLine:
    """A line of a transcript: who says it, where its words begin and end in the text, and whether it is in brackets."""

    speaker: str
    start: int
    end: int
    bracketed: bool


def spoken_lines(text: str) -> tuple[SpokenLine, ...]:
    """Return the lines of a transcript, in order; none of a text that is none.

    One line in the form "[Bob]: ..." makes a transcript; in the form "Bob: ..." every line must have a speaker, and one
    of them speaks twice or is called "me".

    Examples
    --------
    >>> text = "[Bob]: I'm allergic to nuts."
    >>> [(line.speaker, text[line.start : line.end]) for line in spoken_lines(text)]
    [('Bob', "I'm allergic to nuts.")]
    >>> [line.speaker for line in spoken_lines("Bob: do you skate?\\nme: yes, a lot")]
    ['Bob', 'me']
    >>> spoken_lines("Note: 3 + 4 is 7"), spoken_lines("question: what is 3 + 4?\\nanswer: 7")
    ((), ())
    """
    found, lines, place = list[SpokenLine](), 0, 0
    for line in text.split("\n"):
        head, colon, words = line.partition(":")
        name = head.strip()
        bracketed = name.startswith("[") and name.endswith("]")
        name = name.strip("[] ")
        named = bool(name) and len(name) <= NAME_CHARACTERS and len(name.split()) <= NAME_WORDS
        if colon and words.strip() and named and (bracketed or name[0].isupper() or name.casefold() in ME):
            start = place + len(head) + 1
            found.append(SpokenLine(name, start + len(words) - len(words.lstrip()), place + len(line), bracketed))
        lines += bool(line.strip())
        place += len(line) + 1
    names = [each.speaker.casefold() for each in found]
    whole = len(found) == lines > 1 and (len(set(names)) < len(names) or not ME.isdisjoint(names))
    return tuple(found) if whole or any(each.bracketed for each in found) else ()


def own_words(text: str, lines: tuple[SpokenLine, ...], name: str | None) -> tuple[str, tuple[SpokenLine, ...]]:
    """Return a transcript with blanks in the place of what others say and of all names, and the lines of others.

    Parameters
    ----------
    text : str
    lines : its `spoken_lines`
    name : of the student, whose lines are the student's own

    Examples
    --------
    >>> text = "Bob: I have a dog\\nme: I have a cat"
    >>> own_words(text, spoken_lines(text), "Ann")[0].split()
    ['I', 'have', 'a', 'cat']
    """
    own = {*ME, *([] if name is None else [name.casefold(), name.casefold().split()[0]])}
    others = tuple(each for each in lines if each.speaker.casefold() not in own)
    kept = list(text)
    for each in lines:
        first = text.rfind("\n", 0, each.start) + 1
        until = each.end if each in others else each.start
        kept[first:until] = " " * (until - first)
    return "".join(kept), others

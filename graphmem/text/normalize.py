"""Normal forms of texts: one for rules, one for comparing, one for showing."""

import re
import unicodedata

_APOSTROPHES = str.maketrans("’‘", "''")
_SPACE = re.compile(r"\s+")
# Control, format, private and lone surrogate characters; the joiners of emoji and of Indic and Persian words stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


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

"""Text of students and apps made safe to quote in a prompt.

Quoted text stands between tags with its angle brackets escaped, so that it can neither open nor close a tag.
"""

__all__ = ["abridged", "cleaned_quote", "escaped", "one_line"]

_BRACKETS = str.maketrans(
    {"<": "&lt;", "＜": "&lt;", "﹤": "&lt;", ">": "&gt;", "＞": "&gt;", "﹥": "&gt;"},
)
# Control characters, and halves of surrogate pairs, which no JSON body can carry.
_CONTROL = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)])
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

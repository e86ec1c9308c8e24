"""Numbers of a text by their value: digits, fractions, percentages and words."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

QUANTITY_CHARACTERS = 4_000
"""How much of a text is read."""
LONGEST_DIGITS = 15
"""Digits of the longest number that is read as one."""

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_DECADES = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {name: 10 * tens for tens, name in enumerate(_DECADES.split(), 2)}
_SMALL = {word: value for value, word in enumerate(_UNITS.split())} | _TENS
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4,
    "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8, "tenth": 10, "tenths": 10,
}  # fmt: skip
_SIGNS = {"½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3)}

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+"
_NAMED = "|".join(sorted((*_SMALL, *_LARGE, *_PARTS), key=len, reverse=True))
_NUMBER_PIECE = re.compile(
    rf"(?P<whole>\d+)\s+(?P<over>\d+)/(?P<under>\d+)"
    rf"|(?P<top>{_DIGITS})\s?/\s?(?P<bottom>{_DIGITS})"
    rf"|(?P<digits>{_DIGITS})"
    rf"|(?P<sign>[{''.join(_SIGNS)}])"
    rf"|\b(?P<named>(?:{_NAMED})\b(?:[\s-]+(?:and|a|{_NAMED})\b)*)"
    r"|(?P<mark>[=%.,;:!?)\n]|per ?cent\b)"
)
_NAME_OF = re.compile(r"[a-z]+")
_NEGATIVE = re.compile(r"(?:^|[=(,:;]\s*|\bis\s+|\bx\s*=\s*)[-−]\s?[$€£]?$")
_OPERATED = re.compile(r"\s*(?:[-+*/x×÷·−^]\s*[$€£(]?\.?\d)")


class Quantity(NamedTuple):
    """A number of a text: its value, whether it is what an equals sign led to, and its place.

    percent : written as a percentage; the value is that of the number before the sign
    """

    value: Fraction
    result: bool
    start: int
    percent: bool = False


def quantities(text: str) -> tuple[Quantity, ...]:
    """The numbers of a text in order, whichever way they are written.

    Parameters
    ----------
    text : str; the first 4,000 characters are read

    Returns
    -------
    tuple of Quantity; `1/2`, `0.5`, `½` and `a half` have one value, and so have `1,200` and `twelve hundred`. A result
    stands alone after an equals sign

    Examples
    --------
    >>> [str(q.value) for q in quantities("1/2 is 0.5 or a half, not two thirds of 1,200")]
    ['1/2', '1/2', '1/2', '2/3', '1200']
    >>> [(str(q.value), q.result) for q in quantities("$99 + $5 = $104 in nineteen fourteen")]
    [('99', False), ('5', False), ('104', True), ('1914', False)]
    """
    text = text[:QUANTITY_CHARACTERS].lower()
    found: list[Quantity] = []
    equal = False
    for match in _NUMBER_PIECE.finditer(text):
        if match["mark"]:
            equal = match["mark"] == "="
            if match["mark"][0] in "%p" and found:
                found[-1] = found[-1]._replace(percent=True)
        elif match["named"]:
            found += _spoken(
                [(word.group(), match.start() + word.start()) for word in _NAME_OF.finditer(match["named"])]
            )
        else:
            found += _in_digits(match, text, equal)
            equal = False
    return tuple(found)


def _in_digits(match: re.Match[str], text: str, equal: bool) -> Iterator[Quantity]:
    value = _digits_value(match)
    if value is not None:
        negative = _NEGATIVE.search(text, max(0, match.start() - 12), match.start())
        result = equal and not _OPERATED.match(text, match.end())
        yield Quantity(-value if negative else value, result, match.start())


def _digits_value(match: re.Match[str]) -> Fraction | None:
    """The value of a number in digits; None where it is none, such as 1/0."""
    parts = [
        part.replace(",", "")
        for name, part in match.groupdict().items()
        if part and name not in ("sign", "named", "mark")
    ]
    if match["sign"]:
        return _SIGNS[match["sign"]]
    if any(len(part) > LONGEST_DIGITS for part in parts):
        return None
    numbers = [Fraction(part) for part in parts]
    try:
        if match["whole"]:
            return numbers[0] + numbers[1] / numbers[2]
        return numbers[0] / numbers[1] if match["top"] else numbers[0]
    except ZeroDivisionError:
        return None


def _spoken(words: Sequence[tuple[str, int]]) -> Iterator[Quantity]:
    """The numbers of a run of number words; "a" and "and" only join."""
    names = [word for word, _ in words]
    i = 0
    while i < len(names):
        start = i
        whole, i = _whole_number_at(names, i)
        part, after = _part_at(names, i, joined=whole is not None)
        if part is not None:
            counted = whole is not None and names[i] in _PARTS and names[i] != "half"
            value = (whole or 0) * part if counted else (whole or 0) + part
            yield Quantity(value, False, words[start][1])
            i = after
        elif whole is not None:
            yield Quantity(Fraction(whole), False, words[start][1])
        else:
            i += 1


def _whole_number_at(names: Sequence[str], i: int) -> tuple[int | None, int]:
    """The whole number that begins at a word, if one does, and the place after it."""
    low, i = _below_hundred(names, i)
    if low is not None and low >= 10:  # nineteen fourteen
        years, after = _below_hundred(names, i)
        if years is not None and years >= 10:
            return low * 100 + years, after
    if low is None and (i >= len(names) or names[i] not in _LARGE):
        return None, i
    total, current = 0, low
    while i < len(names):
        name = names[i]
        joins = name == "and" and (total or (current or 0) >= 100)
        low, after = _below_hundred(names, i + 1 if joins else i)
        if name in _LARGE and current is not None and current < 100 and name == "hundred":
            current, i = current * 100, i + 1
        elif name in _LARGE:
            total, current, i = total + (1 if current is None else current) * _LARGE[name], None, i + 1
        elif low is not None and (current is None or current % 100 == 0):
            current, i = (current or 0) + low, after
        else:
            break
    return total + (current or 0), i


def _below_hundred(names: Sequence[str], i: int) -> tuple[int | None, int]:
    value = _SMALL.get(names[i]) if i < len(names) else None
    if value is None:
        return None, i
    unit = _SMALL.get(names[i + 1]) if value >= 20 and i + 1 < len(names) else None
    return (value + unit, i + 2) if unit is not None and 0 < unit < 10 else (value, i + 1)


def _part_at(names: Sequence[str], i: int, *, joined: bool) -> tuple[Fraction | None, int]:
    """The part of a whole that stands at a word: `half`, `third`; after a number also `and a half`."""
    if i < len(names) and names[i] in _PARTS:
        return Fraction(1, _PARTS[names[i]]), i + 1
    if not joined or names[i : i + 1] != ["and"] or i + 2 >= len(names) or names[i + 2] not in _PARTS:
        return None, i
    count = 1 if names[i + 1] == "a" else _SMALL.get(names[i + 1])
    return (None, i) if count is None else (Fraction(count, _PARTS[names[i + 2]]), i + 3)


def equal_values(one: Quantity, other: Quantity) -> bool:
    """True if two numbers say the same: equal to a thousandth, a percentage also as its share.

    Examples
    --------
    >>> half, share = quantities("0.5")[0], quantities("50%")[0]
    >>> equal_values(half, share), equal_values(quantities("0.333")[0], quantities("1/3")[0])
    (True, True)
    """
    if _close(one.value, other.value):
        return True
    if one.percent == other.percent:
        return False
    return _close(one.value / 100, other.value) if one.percent else _close(one.value, other.value / 100)


def _close(one: Fraction, other: Fraction) -> bool:
    # In whole numbers: arithmetic of Fractions would look for common divisors each time, of which no turn has need.
    (top, bottom), (other_top, other_bottom) = one.as_integer_ratio(), other.as_integer_ratio()
    left, right = top * other_bottom, other_top * bottom
    return 1000 * abs(left - right) <= max(abs(left), abs(right))

"""Numbers of a text by their value, comparisons of two, and simple arithmetic, checked exactly."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from graphmem.text.doc import Doc

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


COMPARISON_CHARACTERS = 400
"""Characters of a question that are looked at, from its end."""
_QUANTITY = r"[$€£]?\d+(?:[.,]\d+)*(?:\s?/\s?\d+)?%?"
_MORE = re.compile(r"\b(?:bigger|larger|greater|more|longer|higher|heavier|biggest|largest|greatest)\b", re.IGNORECASE)
_LESS = re.compile(r"\b(?:smaller|less|shorter|lower|lighter|fewer|smallest|least)\b", re.IGNORECASE)
_STATED = re.compile(
    rf"(?<![\w.,$€£/])(?P<one>{_QUANTITY})\s*(?:(?:is|are|was|were)(?P<denied>n't| not)?(?: (?:a lot|much|even|way))? "
    rf"(?:(?P<more>{_MORE.pattern})|{_LESS.pattern}) than|(?P<sign>[<>]))\s*(?P<other>{_QUANTITY})"
    r"(?=\s*(?:$|[.,;!?)](?!\d))|\s+(?:because|cause|cuz|cos|since|so|and|but|as|now)\b)",
    re.IGNORECASE,
)
_ASKED_MORE = re.compile(
    rf"^\W*(?:so,? )?(?:is|are) (?P<one>{_QUANTITY}) (?:a lot |much |even )?(?P<how>{_MORE.pattern}|{_LESS.pattern}) "
    rf"than (?P<other>{_QUANTITY})\s*\?*$",
    re.IGNORECASE,
)
_ASKED_WHICH = re.compile(
    rf"^\W*(?:so,? )?(?:which(?: one)?|what) is (?P<how>(?!\w+est\b)(?:{_MORE.pattern}|{_LESS.pattern}))[,:]? "
    rf"(?P<one>{_QUANTITY}) or (?P<other>{_QUANTITY})\s*\?*$",
    re.IGNORECASE,
)
_AFTER_OPERATOR = re.compile(r"[-+*/x×÷=^(]\s*$")
ARITHMETIC_CHARACTERS = 4_000
"""How much of a message is looked at."""
_AMOUNT = r"-?[$€£]?\d{1,12}(?:,\d{3})*(?:\.\d{1,6})?"
_OPERATOR = r"\s{0,3}[-+*/x×÷·−]\s{0,3}"
_SIDE = rf"{_AMOUNT}(?:{_OPERATOR}{_AMOUNT}){{0,7}}"
_EQUATION = re.compile(rf"(?<![\w.,$€£])({_SIDE})\s{{0,3}}=\s{{0,3}}({_SIDE})(?![\w%])(?![.,]\d)")
_EQUATION_PIECE = re.compile(rf"({_AMOUNT})|([-+*/x×÷·−])")
# What stands before or after an equation and makes it part of something larger, which is not read.
_OPEN_BEFORE = re.compile(
    r"(?:[-+*/x×÷·−^=(\[%√<>≤≥≠~≈\d]|\b(?:mod|of|times|plus|minus|over|root|squared|cubed|log|sin|cos|tan|x|y|z))\s*$",
    re.IGNORECASE,
)
_OPEN_AFTER = re.compile(
    r"\s*(?:[-+*/x×÷·−^=)\]!<>≤≥≠~≈]"
    r"|(?:hundred|thousand|million|billion|dozen|remainder|percent|times|plus|minus|over|mod|and a half|[a-z]\b))",
    re.IGNORECASE,
)
# Where numbers mean something else than usual.
_OTHER_RULES = re.compile(r"\b(?:binary|hex\w*|octal|base|mod|modul\w*|clock|o'clock|round\w*|about|approx\w*)\b", re.I)
_SUMS = str.maketrans({"x": "*", "×": "*", "·": "*", "÷": "/", "−": "-", ",": None, "$": None, "€": None, "£": None})
_SPOKEN_SIGNS = {"times": "x", "multiplied by": "x", "plus": "+", "minus": "-", "divided by": "/", "over": "/"}
_SPOKEN_WORD = re.compile(r"(?<=\d)\s+(multiplied by|divided by|times|plus|minus|over)\s+(?=[$€£]?\d)", re.IGNORECASE)
_SHARE_OF = re.compile(r"(?<=\d/)(\d{1,6}) of (?=[$€£]?\d)", re.IGNORECASE)
_SPOKEN_EQUALS = re.compile(r"(?<=\d)\s+(?:is|are|equals|makes|gives)\s+(?=-?[$€£]?\d)", re.IGNORECASE)
_QUESTION_START = (
    r"^\W*(?:(?:so|and) )?(?:(?:what(?:'s| is| are)|whats|how much (?:is|are)|calculate|can you tell me what"
    r"|is (?:it|that))\s+)?"
)
_ASKED_SUM = re.compile(
    rf"{_QUESTION_START}({_SIDE})\s*=?\s*(?:is|are)?\s*\??\s*$",
    re.IGNORECASE,
)
_ASKED_PART = re.compile(
    rf"{_QUESTION_START}({_AMOUNT})\s?(?:%|per ?cent) of ({_AMOUNT})\s*=?\s*(?:is|are)?\s*\??\s*$", re.IGNORECASE
)
_PART_IS = re.compile(
    rf"(?<![\w.,$€£])({_AMOUNT})\s?(?:%|per ?cent) of ({_AMOUNT})"
    rf"(?:\s{{0,3}}=|\s{{1,3}}(?:is|are|equals|makes|gives)\s)\s{{0,3}}({_AMOUNT})(?![\w%])"
    r"(?![.,]\d)",
    re.IGNORECASE,
)


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


@dataclass(frozen=True)
class Comparison:
    """A verdict on which of two numbers is greater or less: both numbers, and whether it holds."""

    text: str
    holds: bool


def stated_comparisons(text: str) -> tuple[Comparison, ...]:
    """The comparisons of two numbers that a text states, its first 400 characters, in order.

    Examples
    --------
    >>> stated_comparisons("I think 1/8 is bigger than 1/4 because 8 is bigger than 4.")
    (Comparison(text='1/8 or 1/4', holds=False), Comparison(text='8 or 4', holds=True))
    >>> stated_comparisons("0.3 isn't less than 0.25, is 5 more than 3 times 2?")
    (Comparison(text='0.3 or 0.25', holds=True),)
    """
    found = []
    plain = Doc(text[:COMPARISON_CHARACTERS]).shown.text.replace("’", "'")
    for match in _STATED.finditer(plain):
        if _AFTER_OPERATOR.search(plain[: match.start()]):
            continue
        one, other = (quantities(match[side]) for side in ("one", "other"))
        if len(one) == len(other) == 1 and not equal_values(one[0], other[0]):
            more = match["more"] is not None if match["sign"] is None else match["sign"] == ">"
            holds = (one[0].value > other[0].value) is (more is (match["denied"] is None))
            found.append(Comparison(f"{match['one']} or {match['other']}", holds))
    return tuple(found)


def is_mended(before: str, after: str) -> bool:
    """True if a text compares two numbers rightly that an earlier one compared wrongly.

    Examples
    --------
    >>> is_mended("I think 1/8 is bigger than 1/4.", "So 1/4 is bigger than 1/8, I was wrong.")
    True
    """
    wrong = {frozenset(each.text.split(" or ")) for each in stated_comparisons(before) if not each.holds}
    return any(each.holds and frozenset(each.text.split(" or ")) in wrong for each in stated_comparisons(after))


def asked_comparison(text: str) -> str:
    """The answer to a message that asks to compare two numbers and nothing else; empty where it does not.

    Examples
    --------
    >>> asked_comparison("is 3/4 bigger than 5/8?"), asked_comparison("Is 0.3 less than 0.25?")
    ('Yes, 3/4 is bigger than 5/8', 'No, 0.25 is less than 0.3')
    >>> asked_comparison("Which is bigger, 1/8 or 1/4?"), asked_comparison("Is 2/4 more than 1/2?")
    ('1/4 is bigger than 1/8', '2/4 and 1/2 are equal')
    >>> asked_comparison("Is 5 more than 3 times 2?"), asked_comparison("Are 3 or 4 apples more?")
    ('', '')
    """
    plain = " ".join(text[:COMPARISON_CHARACTERS].split())
    match = _ASKED_MORE.match(plain) or _ASKED_WHICH.match(plain)
    if match is None:
        return ""
    one, other = (quantities(match[side]) for side in ("one", "other"))
    if len(one) != 1 or len(other) != 1:
        return ""
    names = (match["one"], match["other"])
    if equal_values(one[0], other[0]):
        return f"{names[0]} and {names[1]} are equal"
    so = (one[0].value > other[0].value) is (_MORE.match(match["how"]) is not None)
    first, second = names if so else names[::-1]
    said = "" if match.re is _ASKED_WHICH else "Yes, " if so else "No, "
    return f"{said}{first} is {match['how'].lower()} than {second}"


@dataclass(frozen=True)
class Equation:
    """An equation of a message as it was written, and whether it holds."""

    text: str
    holds: bool


def equations(text: str) -> list[Equation]:
    """The equations of a message that can be decided exactly.

    Parameters
    ----------
    text : str, e.g. "12 - 3 = 9, so $5 x 3 = $16"; only the first 4,000 characters are read

    Returns
    -------
    list of Equation, in order; numbers with + - * / and their usual precedence on both sides. Left out is whatever
    leaves room for doubt: unknowns, brackets, powers, percentages, chains (1 + 2 = 3 + 4 = 7), a quotient written
    as a whole number or rounded (fractions on both sides are exact), commas that could be decimal, other bases,
    modular or rounded reckoning

    Examples
    --------
    >>> equations("So 12 - 3 = 9 and $5 x 3 = $16.")
    [Equation(text='12 - 3 = 9', holds=True), Equation(text='$5 x 3 = $16', holds=False)]
    >>> equations("x + 5 + 3 = 9, 10 / 3 = 3, 2 x (3 + 4) = 14, 1,5 + 1,5 = 3")
    []
    """
    text = text[:ARITHMETIC_CHARACTERS]
    if "=" not in text or _OTHER_RULES.search(text):
        return []
    found = []
    for match in _EQUATION.finditer(text):
        holds = _sides_equal(match[1], match[2])
        if holds is None or _OPEN_BEFORE.search(text[max(0, match.start() - 12) : match.start()]):
            continue
        if not _OPEN_AFTER.match(text, match.end()):
            found.append(Equation(" ".join(match.group().split()), holds))
    return found


def _sides_equal(left: str, right: str) -> bool | None:
    """True if two sides are equal; None where that cannot be told, or where nothing was calculated."""
    a, b = _pieces(left), _pieces(right)
    if len(a) == 1 and len(b) == 1:
        return None
    value, other = _calculated(a), _calculated(b)
    if value is None or other is None:
        return None
    if value == other:
        return True
    # A fraction is exact where both sides are written with one; a decimal or whole number may be rounded.
    divided = "/" in a + b and not ("/" in a and "/" in b)
    doubtful = "," in left + right or (divided and not (value.denominator == 1 == other.denominator))
    return None if doubtful else False


def _pieces(side: str) -> list[str]:
    """Numbers and operators in turn, in plain notation; a minus after a number subtracts."""
    pieces: list[str] = []
    position = 0
    while match := _EQUATION_PIECE.search(side, position):
        text = match.group()
        if match[1] and text[0] == "-" and len(pieces) % 2 == 1:
            text = "-"
            position = match.start() + 1
        else:
            position = match.end()
        pieces.append(text.translate(_SUMS))
    return pieces


def _calculated(pieces: list[str]) -> Fraction | None:
    """The value of numbers and operators in turn; None on a division by zero."""
    terms = [Fraction(pieces[0])]
    for operator, number in zip(pieces[1::2], map(Fraction, pieces[2::2]), strict=True):
        if operator == "*":
            terms[-1] *= number
        elif operator == "/":
            if number == 0:
                return None
            terms[-1] /= number
        else:
            terms.append(number if operator == "+" else -number)
    return sum(terms, Fraction(0))


def _parts_of(text: str) -> list[Equation]:
    """What is said to be so many percent of something; left alone where the result may be rounded."""
    found = []
    for match in _PART_IS.finditer(text):
        share, whole, said = (Fraction(each.translate(_SUMS)) for each in match.groups())
        value = share * whole / 100
        doubtful = "," in match.group() or value.denominator != 1
        if (value == said or not doubtful) and not _OPEN_AFTER.match(text, match.end()):
            found.append(Equation(f"{match[1]}% of {match[2]} = {match[3]}", value == said))
    return found


def spoken_equations(text: str) -> list[Equation]:
    """The equations of a message, those in words too, in plain notation.

    Examples
    --------
    >>> spoken_equations("3/4 of 24 is 18 and 10 minus 3 is 6")
    [Equation(text='3/4 x 24 = 18', holds=True), Equation(text='10 - 3 = 6', holds=False)]
    >>> spoken_equations("The number 5 is 7 of 9"), spoken_equations("20% of 50 is 15")
    ([], [Equation(text='20% of 50 = 15', holds=False)])
    """
    parts = _parts_of(text[:ARITHMETIC_CHARACTERS])
    plain = _SPOKEN_WORD.sub(lambda match: f" {_SPOKEN_SIGNS[match[1].lower()]} ", text[:ARITHMETIC_CHARACTERS])
    return [*equations(_SPOKEN_EQUALS.sub(" = ", _SHARE_OF.sub(r"\1 x ", plain))), *parts]


def reckoned_answer(text: str) -> str:
    """The value of a sum that a message asks for and nothing else, such as `7 x 8 = 56`; empty where it does not.

    Examples
    --------
    >>> reckoned_answer("What is 7 times 8?"), reckoned_answer("what's 1 / 3 ?"), reckoned_answer("How old is 7 of 9?")
    ('7 x 8 = 56', '1 / 3 = 1/3', '')
    >>> reckoned_answer("what is 15% of 80?"), reckoned_answer("is it 3*4?"), reckoned_answer("what's 3/4 of 24")
    ('15% of 80 = 12', '3*4 = 12', '3/4 x 24 = 18')
    """
    if (part := _ASKED_PART.match(text[:ARITHMETIC_CHARACTERS].strip())) is not None and "," not in part.group():
        share, whole = (Fraction(each.translate(_SUMS)) for each in part.groups())
        return f"{part[1]}% of {part[2]} = {_number_text(share * whole / 100)}"
    plain = _SPOKEN_WORD.sub(lambda match: f" {_SPOKEN_SIGNS[match[1].lower()]} ", text[:ARITHMETIC_CHARACTERS].strip())
    match = _ASKED_SUM.match(_SHARE_OF.sub(r"\1 x ", plain))
    pieces = _pieces(match[1]) if match else []
    if match is None or len(pieces) == 1 or "," in match[1]:
        return ""
    value = _calculated(pieces)
    return "" if value is None else f"{' '.join(match[1].split())} = {_number_text(value)}"


def _number_text(value: Fraction) -> str:
    """A value as a decimal where it has a short one, else as a fraction."""
    decimal = f"{float(value):.6f}".rstrip("0").rstrip(".")
    return decimal if Fraction(decimal) == value else str(value)

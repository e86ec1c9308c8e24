"""Simple arithmetic in a message, checked exactly or left alone."""

import re
from dataclasses import dataclass
from fractions import Fraction

ARITHMETIC_CHARACTERS = 4_000
"""How much of a message is looked at."""


@dataclass(frozen=True)
class Equation:
    """An equation of a message as it was written, and whether it holds."""

    text: str
    holds: bool


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


_SUMS = str.maketrans({"x": "*", "×": "*", "·": "*", "÷": "/", "−": "-", ",": None, "$": None, "€": None, "£": None})


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

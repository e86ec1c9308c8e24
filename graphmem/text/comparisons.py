"""Comparison of two numbers, asked for or stated, decided exactly or left alone."""

import re
from dataclasses import dataclass

from graphmem.text.doc import Doc
from graphmem.text.quantities import equal_values, quantities

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

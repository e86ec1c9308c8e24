"""Comparison of two numbers that a question asks for, decided exactly or left alone."""

import re
from dataclasses import dataclass

from graphmem.text.doc import Doc
from graphmem.text.quantities import equal_values, quantities

COMPARISON_CHARACTERS = 400
"""Characters of a question that are looked at, from its end."""
ANSWER_WORDS = 5
"""Words within which an answer names its number."""

_NUMBER = r"[$€£]?\d+(?:[.,]\d+)*(?:\s?/\s?\d+)?%?"
_ALTERNATIVES = re.compile(rf"(?P<one>{_NUMBER})(?: [a-z]+){{0,2}},? or (?P<other>{_NUMBER})(?!\s?[-+*/x×÷=<>])")
_MORE = re.compile(r"\b(?:bigger|larger|greater|more|longer|higher|heavier|biggest|largest|greatest)\b", re.IGNORECASE)
_LESS = re.compile(r"\b(?:smaller|less|shorter|lower|lighter|fewer|smallest|least)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Comparison:
    """An answer to which of two numbers is greater or less: both numbers, and whether it holds."""

    text: str
    holds: bool


def compared(question: str, answer: str) -> Comparison | None:
    """The verdict on an answer to "Which is bigger, 1/4 or 1/8?" and its like; None where there is room for doubt.

    Parameters
    ----------
    question : str, what was asked; its last sentence with a question mark counts
    answer : str, which names one of the two numbers among its first words

    Examples
    --------
    >>> compared("Which is bigger, 1/4 or 1/8 of the cake?", "1/8 obviously cause 8 is more")
    Comparison(text='1/4 or 1/8', holds=False)
    >>> compared("Is 0.3 or 0.25 smaller?", "0.25, since it has less").holds, compared("3 or 4 apples?", "4")
    (True, None)
    """
    asked = next((s.text for s in reversed(Doc(question[-COMPARISON_CHARACTERS:]).sentences) if "?" in s.text), "")
    found = list(_ALTERNATIVES.finditer(asked))
    more, less = _MORE.search(asked) is not None, _LESS.search(asked) is not None
    if len(found) != 1 or more == less or len(quantities(asked)) != 2:
        return None
    one, other = quantities(asked)
    said = Doc(answer[:COMPARISON_CHARACTERS])
    if said.negates or said.text.rstrip().endswith("?"):
        return None
    named = quantities(" ".join(said.text.split()[:ANSWER_WORDS]))
    if not named or equal_values(one, other):
        return None
    chosen = [each for each in (one, other) if equal_values(each, named[0])]
    both = all(any(equal_values(each, number) for number in named) for each in (one, other))
    if len(chosen) != 1 or both:
        return None
    best = max(one, other) if more else min(one, other)
    match = found[0]
    return Comparison(f"{match['one']} or {match['other']}", equal_values(chosen[0], best))

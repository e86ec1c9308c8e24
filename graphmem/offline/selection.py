"""Selection of the statements of a message that are worth a place in memory, alone or with the one before (spec 7)."""

from collections.abc import Sequence
from typing import NamedTuple

from graphmem.text.statement_judge import VERDICTS, load_statement_judge

LEAST_ALONE = 0.08
"""Chance that a statement is worth its place in memory from which it is kept: about 94 % of good ones have it, of rows
that the judge has not learned from; chosen with labelled talk (`bench formation`) in view."""
LEAST_IN_DOUBT = 0.5
"""The same of what is said of an exercise, which the judge has hardly seen, its matter being told otherwise, and of
what ends by pointing at something."""
LEAST_TOGETHER = 0.6
"""The same of two statements in a row, of which the second points at what the first names."""
MOST_LOST = 0.1
"""By how much less two are worth their place together than the first alone, at most: else the second adds nothing."""
_GOOD, _TRIVIAL, _POINTING = map(VERDICTS.index, ("good", "trivial", "pointing"))


class SelectedStatement(NamedTuple):
    """A statement that is kept, of the places `first` to `last` of those that were looked at, and its worth, 0..1."""

    first: int
    last: int
    text: str
    worth: float


def select_statements(statements: Sequence[str], least: Sequence[float], subject: str) -> list[SelectedStatement]:
    """The statements of one message that are worth a place in memory, in order.

    Parameters
    ----------
    statements : about somebody, in the third person, as they follow each other
    least : for each, the chance that it is worth its place from which it is kept; with 0 it is however it is judged
    subject : how they name whom they speak of

    Returns
    -------
    list of SelectedStatement; what only points at something is joined with the one before it where both together stand

    Examples
    --------
    >>> told = ["Mia has a turtle.", "Mia named him Leo.", "Mia guesses so!"]
    >>> [each.text for each in select_statements(told, [LEAST_ALONE] * 3, "Mia")]
    ['Mia has a turtle. Mia named him Leo.']
    """
    judge, found, waiting = load_statement_judge(), list[SelectedStatement](), None
    for place, statement in enumerate(statements):
        chances = judge.chances(statement, subject)
        own = SelectedStatement(place, place, statement, float(chances[_GOOD]))
        if own.worth >= least[place]:
            found.append(own)
            waiting = None
            continue
        points = chances[_POINTING] > chances[_TRIVIAL]
        before = found[-1] if found and found[-1].last == place - 1 else waiting
        joined = _together(before, own, subject) if points else None
        if joined is not None:
            found = [each for each in found if each is not before]
            found.append(joined)
        waiting = own if points and joined is None else None
    return found


def _together(one: SelectedStatement | None, other: SelectedStatement, subject: str) -> SelectedStatement | None:
    """Two statements in a row as one; None where they do not stand together."""
    if one is None or one.first != one.last or one.last != other.first - 1:
        return None
    text = f"{one.text if one.text.endswith(('.', '!', '?', '…')) else f'{one.text}.'} {other.text}"
    worth = load_statement_judge().worth(text, subject)
    stands = worth >= LEAST_TOGETHER and worth >= one.worth - MOST_LOST
    return SelectedStatement(one.first, other.last, text, worth) if stands else None

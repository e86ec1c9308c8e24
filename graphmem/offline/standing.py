"""Which statements of a message stand: alone, or together with the one beside them (spec 7)."""

from collections.abc import Sequence
from typing import NamedTuple

from graphmem.text.statement_judge import VERDICTS, load_statement_judge

STANDS_ALONE = 0.15
"""Chance that a statement is worth its place in memory from which it is kept: nineteen in twenty good ones have it, of
rows that the judge has not learned from."""
STAND_TOGETHER = 0.6
"""The same of two statements in a row, of which the second points at what the first names."""
MOST_LOST = 0.1
"""By how much less two are worth their place together than the first alone, at most: else the second adds nothing."""
_GOOD, _TRIVIAL, _POINTING = map(VERDICTS.index, ("good", "trivial", "pointing"))


class Stands(NamedTuple):
    """A statement that stands, of the places `first` to `last` of those that were looked at, and its worth, 0..1."""

    first: int
    last: int
    text: str
    worth: float


def standing(statements: Sequence[str], anyway: Sequence[bool], subject: str) -> list[Stands]:
    """The statements of one message that are worth a place in memory, in order.

    Parameters
    ----------
    statements : about somebody, in the third person, as they follow each other
    anyway : for each, whether it is kept however it is judged
    subject : how they name whom they speak of

    Returns
    -------
    list of Stands; what only points at something is joined with the statement before it where both together stand

    Examples
    --------
    >>> told = ["Mia has a turtle.", "Mia named him Leo.", "Mia guesses so!"]
    >>> [each.text for each in standing(told, [False, False, False], "Mia")]
    ['Mia has a turtle. Mia named him Leo.']
    """
    judge, found, waiting = load_statement_judge(), list[Stands](), None
    for place, statement in enumerate(statements):
        chances = judge.chances(statement, subject)
        own = Stands(place, place, statement, float(chances[_GOOD]))
        if anyway[place] or own.worth >= STANDS_ALONE:
            found.append(own)
            waiting = None
            continue
        points = chances[_POINTING] > chances[_TRIVIAL]
        before = found.pop() if found and found[-1].last == place - 1 else None
        joined = _together(before or waiting, own, subject) if points else None
        found += [each for each in (joined or before,) if each is not None]
        waiting = own if joined is None and points else None
    return found


def _together(one: Stands | None, other: Stands, subject: str) -> Stands | None:
    """Two statements in a row as one; None where they do not stand together."""
    if one is None or one.first != one.last or one.last != other.first - 1:
        return None
    text = f"{one.text if one.text.endswith(('.', '!', '?', '…')) else f'{one.text}.'} {other.text}"
    worth = load_statement_judge().worth(text, subject)
    stands = worth >= STAND_TOGETHER and worth >= one.worth - MOST_LOST
    return Stands(one.first, other.last, text, worth) if stands else None

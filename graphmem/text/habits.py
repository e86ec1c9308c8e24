"""Habits of a student at work: ways to answer that can be read off a message and what it answers, and counted (spec 4).

A habit has its moments: only where a tutor asks for reasons can somebody give a bare result instead. What is said of a
student is how often a habit was shown, of how many such moments, so that a tutor can judge it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from graphmem.model import HabitCount
from graphmem.text.arithmetic import Equation, equations
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc
from graphmem.text.worth import rejects

LEAST_SHOWN = 3
"""Times that a way was shown before it is a habit."""
LEAST_SHARE = 0.7
"""Share of its moments from which on a way is a habit."""
BARE_WORDS = 4
"""Words of the longest bare answer."""
EXPLAINED_WORDS = 20
"""Words from which on an answer explains."""
HABIT_CHARACTERS = 2_000
"""Characters of a message that are looked at."""

_ASKS_WHY = re.compile(
    r"\b(?:why|explain|how (?:did|do|would|have|come)|(?:walk|talk|take|guide) me|show me how|reason\w*"
    r"|your (?:thinking|approach|steps|method|solution|process))\b",
    re.IGNORECASE,
)
_REASONS = re.compile(r"\b(?:because|since|so|therefore|cause|cos|thus|means)\b", re.IGNORECASE)
_SORRY = re.compile(r"\b(?:sorry|apologi[sz]e|my (?:bad|mistake|apologies))\b", re.IGNORECASE)
_UNKNOWN = re.compile(r"\blet(?:'s)? (?:\w+ )?[a-z] (?:be|=|equal)|(?<![\w'])[a-z]\s?[-+*/=]\s?\d", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,/]\d+)*")


@dataclass(frozen=True, eq=False)
class Exchange:
    """A student's message with what it answers, and what the student had said before that."""

    said: Doc
    asked: Doc
    before: Doc

    @cached_property
    def asks(self) -> bool:
        """True if the tutor asks something."""
        return "?" in self.asked.text

    @cached_property
    def asks_why(self) -> bool:
        """True if the tutor asks for reasons or steps."""
        return _ASKS_WHY.search(self.asked.text[-HABIT_CHARACTERS:]) is not None

    @cached_property
    def is_rejected(self) -> bool:
        """True if the tutor says of a result that it is not right."""
        return result(self.before) != "" and rejects(self.asked.text)

    @cached_property
    def act(self) -> Act:
        """Act of the message."""
        return act_of(self.said)

    @cached_property
    def is_bare(self) -> bool:
        """True if the message is a word or a number and nothing else."""
        return len(self.said.plain_words) <= BARE_WORDS and self.act in {Act.STEP, Act.STATEMENT}

    @cached_property
    def explains(self) -> bool:
        """True if the message gives steps or reasons."""
        several = len(self.said.sentences) > 1 or _REASONS.search(self.said.text) is not None
        return several and len(self.said.plain_words) >= EXPLAINED_WORDS

    @cached_property
    def sums(self) -> list[Equation]:
        """Sums that the message writes out."""
        return equations(self.said.text)


@dataclass(frozen=True)
class Habit:
    """A way to answer.

    text : what a student with it does, in the third person
    tags : what it is found by
    moment : whether an exchange is a moment for it
    shown : whether it is shown in such a moment
    strong : whether it speaks for what the student can do, and not of what is hard for them
    """

    text: str
    tags: tuple[str, ...]
    moment: Callable[[Exchange], bool]
    shown: Callable[[Exchange], bool]
    strong: bool = False


def result(doc: Doc) -> str:
    """The last number of a message; empty where it has none.

    Examples
    --------
    >>> result(Doc("18 x 2 = 36, so it is 36 hotdogs.")), result(Doc("No idea"))
    ('36', '')
    """
    return next(reversed(_NUMBER.findall(doc.text[-HABIT_CHARACTERS:])), "")


def _keeps(exchange: Exchange) -> bool:
    return result(exchange.said) == result(exchange.before)


def _changes(exchange: Exchange) -> bool:
    return result(exchange.said) not in {"", result(exchange.before)}


HABITS = {
    "bare": Habit(
        "gives the bare result when asked for reasons", ("explaining",), lambda e: e.asks_why, lambda e: e.is_bare
    ),
    "keep": Habit("stays with a result that was called wrong", ("being corrected",), lambda e: e.is_rejected, _keeps),
    "redo": Habit(
        "comes up with another result when one was called wrong",
        ("being corrected",),
        lambda e: e.is_rejected,
        _changes,
        strong=True,
    ),
    "rue": Habit(
        "says sorry when a result was called wrong",
        ("being corrected",),
        lambda e: e.is_rejected,
        lambda e: _SORRY.search(e.said.text) is not None,
    ),
    "lost": Habit(
        "says that they do not know when asked", ("being stuck",), lambda e: e.asks, lambda e: e.act is Act.CONFUSION
    ),
    "asks": Habit(
        "answers questions with a question", ("questions",), lambda e: e.asks, lambda e: e.act is Act.QUESTION
    ),
    "nods": Habit(
        "agrees when asked, without an answer of their own",
        ("agreeing",),
        lambda e: e.asks,
        lambda e: e.act is Act.AGREEMENT,
    ),
    "word": Habit(
        "answers in a word or a number",
        ("short answers",),
        lambda e: e.asks and not e.asks_why,
        lambda e: e.is_bare,
    ),
    "slip": Habit(
        "makes slips in the sums",
        ("sums", "slips"),
        lambda e: bool(e.sums),
        lambda e: not all(each.holds for each in e.sums),
    ),
    "how": Habit(
        "explains in steps when asked for reasons",
        ("explaining",),
        lambda e: e.asks_why,
        lambda e: e.explains,
        strong=True,
    ),
    "more": Habit(
        "gives steps and reasons unasked",
        ("explaining",),
        lambda e: e.asks and not e.asks_why,
        lambda e: e.explains,
        strong=True,
    ),
    "alg": Habit(
        "sets up equations with unknowns",
        ("equations",),
        lambda e: bool(e.sums) or _UNKNOWN.search(e.said.text) is not None,
        lambda e: _UNKNOWN.search(e.said.text) is not None,
        strong=True,
    ),
    "sums": Habit(
        "gets the sums right that they write out",
        ("sums",),
        lambda e: bool(e.sums),
        lambda e: all(each.holds for each in e.sums),
        strong=True,
    ),
}
"""The habits that are counted, what a tutor has to know first; names are stored in clear and are no words of talk."""


def counted(counts: Sequence[HabitCount], exchange: Exchange) -> tuple[HabitCount, ...]:
    """The counts of habits after one exchange more.

    Examples
    --------
    >>> exchange = Exchange(Doc("36"), Doc("How did you get there?"), Doc(""))
    >>> [(c.name, c.shown, c.moments) for c in counted((), exchange) if c.shown]
    [('bare', 1, 1)]
    """
    known = {count.name: count for count in counts}
    for name, habit in HABITS.items():
        if habit.moment(exchange):
            before = known.get(name) or HabitCount(name, 0, 0)
            known[name] = HabitCount(name, before.shown + habit.shown(exchange), before.moments + 1)
    return tuple(known.values())


def shown_habits(counts: Sequence[HabitCount], exchange: Exchange) -> Iterator[HabitCount]:
    """Habits of the student that a message shows, most telling first; `counts` hold it already."""
    known = {count.name: count for count in counts}
    for name, habit in HABITS.items():
        count = known.get(name)
        if count is not None and is_habit(count) and habit.moment(exchange) and habit.shown(exchange):
            yield count


def is_habit(count: HabitCount) -> bool:
    """True if something was shown often enough, and in most of its moments.

    Examples
    --------
    >>> is_habit(HabitCount("bare", 3, 4)), is_habit(HabitCount("bare", 2, 2)), is_habit(HabitCount("bare", 3, 6))
    (True, False, False)
    """
    return count.shown >= LEAST_SHOWN and count.shown >= LEAST_SHARE * count.moments


def told(count: HabitCount, who: str) -> str:
    """A habit in words, with its count.

    Examples
    --------
    >>> told(HabitCount("bare", 4, 5), "Mo")
    'Mo gives the bare result when asked for reasons, 4 of 5 times.'
    """
    return f"{who} {HABITS[count.name].text}, {count.shown} of {count.moments} times."


def is_at_work(doc: Doc) -> bool:
    """True if a message is work on a task, so that habits of working tell something.

    Examples
    --------
    >>> is_at_work(Doc("So it is 36?")), is_at_work(Doc("I don't get it")), is_at_work(Doc("My dog is ill."))
    (True, True, False)
    """
    return bool(doc.numbers) or act_of(doc) is Act.CONFUSION

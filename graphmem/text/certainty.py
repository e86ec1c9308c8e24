"""Certainty of a statement by its wording, and whether a text only asks."""

import re
from functools import lru_cache

from graphmem.text.arithmetic import Equation, equations
from graphmem.text.doc import Doc
from graphmem.text.questions import only_asks

TYPE_CHARACTERS = 600
"""Characters of a piece that are read: what it is, it says early."""

STATED_CONFIDENCE = 0.9
"""Confidence in what is stated."""
CHECKED = 0.95
"""Confidence in a reckoning that holds."""
WRONG_CONFIDENCE = 0.7
"""Confidence in a statement with a reckoning that does not hold: it was said, yet hardly meant."""
HEDGED = 0.6
"""Confidence in what is said with a doubt (I think, maybe)."""
ASKED = 0.5
"""Confidence in what is only asked."""


QUESTION_WORDS = 16
"""Words of the longest question that an answer is kept with."""
ASIDE = 3
"""Most words told beside a question for a message to be nothing but the question."""
_HEDGE = re.compile(
    r"\b(?:i think|i guess|i believe|i suppose|maybe|perhaps|probably|possibly|might|not sure|unsure"
    r"|i thought|kind of|kinda|sort of|idk"
    r"|it could|could be|i feel like|seems?)\b"
)


def is_question(doc: Doc) -> bool:
    """True if a text only asks.

    Examples
    --------
    >>> is_question(Doc("and how do you say red?")), is_question(Doc("i like red. you too?"))
    (True, False)
    """
    read = [sentence for sentence in doc.sentences if sentence.start < TYPE_CHARACTERS]
    told = [sentence for sentence in read if not only_asks(sentence.plain[:TYPE_CHARACTERS])]
    return len(told) < len(read) and sum(len(sentence.text.split()) for sentence in told) <= ASIDE


def last_question(before: str) -> str:
    """The last question of what was said before, for an answer that says too little alone; empty where it is long.

    Examples
    --------
    >>> last_question("Hi! How was the trip? Tell me."), last_question("Hi!")
    ('How was the trip?', '')
    """
    last = next((s.text.strip() for s in reversed(Doc(before).sentences) if s.text.rstrip().endswith("?")), "")
    return last if 0 < len(last.split()) <= QUESTION_WORDS else ""


def confidence(doc: Doc) -> float:
    """Confidence of a statement, by its wording, in [0, 1]: the constants of this module.

    Examples
    --------
    >>> [confidence(Doc(t)) for t in ("It is red.", "12 - 3 = 9", "12 - 3 = 8", "Maybe red.", "Is it red?")]
    [0.9, 0.95, 0.7, 0.6, 0.5]
    """
    plain = doc.plain[:TYPE_CHARACTERS]
    if is_question(doc) or (plain.rstrip().endswith("?") and "." not in plain):
        return ASKED
    if _HEDGE.search(plain):
        return HEDGED
    reckoned = _equations(plain)
    if not reckoned:
        return STATED_CONFIDENCE
    return CHECKED if all(equation.holds for equation in reckoned) else WRONG_CONFIDENCE


@lru_cache(maxsize=16)
def _equations(plain: str) -> tuple[Equation, ...]:
    return tuple(equations(plain))

"""Surprise analysis by rules and statistics that say what they rest on (spec 5)."""

import math
from collections.abc import Iterable, Iterator

from rapidfuzz import fuzz, utils

from graphmem.model import Analysis, BeliefUpdate, Lesson, Level, Strategy, Surprising
from graphmem.offline.beliefs import belief_updates
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc, doc_of
from graphmem.text.lexicon import LESSON_WORDS
from graphmem.text.sanitize import clipped, quoted
from graphmem.text.slots import slot_of
from graphmem.text.statements import Statement, statements
from graphmem.text.words import word_rarity

EXPECTATION_MET = 0.6
"""Match from which on an expectation is met (spec 4)."""
MAX_FACT_TAGS = 5
"""Most tags of a fact."""
FACT_CHARACTERS = 160
"""Longest quotation in a fact."""
SAME_SENTENCE_SCORE = 90.0
"""Fuzzy score from which on two sentences say the same."""
SUBSTANCE = 2
"""Content words, or numbers with at least one of them, that a sentence needs to teach anything."""
MUCH_LONGER, MUCH_SHORTER = 3.0, 1 / 3
"""A message this many times as long as the earlier ones is named as unusual."""
COMPARED = 3
"""Earlier messages needed to say what length is usual."""

ACTS = {
    Act.INSTRUCTION: "an instruction",
    Act.SORROW: "something sad",
    Act.FRUSTRATION: "frustration",
    Act.CONFUSION: "confusion",
    Act.QUESTION: "a question",
    Act.STEP: "a step of the solution",
    Act.GOODBYE: "a goodbye",
    Act.THANKS: "thanks",
    Act.GREETING: "a greeting",
    Act.AGREEMENT: "an agreement",
    Act.DISCLOSURE: "something personal",
    Act.STATEMENT: "a statement",
    Act.UNREADABLE: "something in other words than English",
}
"""How each act of a student is called in an explanation."""
_NEEDS_CARE = {Act.SORROW, Act.FRUSTRATION, Act.CONFUSION}
_UNUSUAL = {
    "topic": "it had little to do with what was said just before",
    "gap": "the time it took was unusual",
    "author": "somebody wrote who had not written lately",
    "length": "its length was unusual",
}


def analysis(surprising: Surprising) -> Analysis:
    """Analysis of a surprising message by rules.

    Parameters
    ----------
    surprising : Surprising, in English as far as belief updates go

    Returns
    -------
    Analysis; facts quote distinct sentences of the student, belief updates come with a reason of
    `graphmem.offline.beliefs`, the explanation names only what can be read off the messages

    Source: spec 5.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> asked = "Why is the area of a circle not a square?"
    >>> found = analysis(Surprising(Level.BOUNDARY, 0.7, 0.2, "Yes, I see.", "So it is 12.", asked, at, most_facts=10))
    >>> print(found.explanation)
    Expected an agreement (“Yes, I see”), heard a question about “circle”: the two have little in common (match 0.20).
    >>> found.strategy, found.updates
    (<Strategy.NONE: 'none'>, ())
    """
    updates = belief_updates(surprising)
    facts = learned(surprising)
    explanation = _explanation(surprising, updates)
    return Analysis(explanation, updates, _strategy(surprising, updates, facts), facts)


def about(doc: Doc) -> str:
    """Topic of a message: its rarest key phrase with a word in it, quoted; empty if there is none.

    Examples
    --------
    >>> about(Doc("Why is 12 the area of a circle?")), about(Doc("ok 12"))
    ('“circle”', '')
    """
    phrases = sorted(doc.shown.key_phrases(), key=lambda phrase: -max(map(word_rarity, phrase.split())))
    return next((quoted(phrase) for phrase in phrases if any(map(_is_topic, phrase.split()))), "")


def _is_topic(word: str) -> bool:
    return word.isalpha() and word.lower() not in LESSON_WORDS


def learned(surprising: Surprising) -> tuple[Lesson, ...]:
    """Distinct sentences of the student's messages, the most telling ones, in the order they were said.

    Parameters
    ----------
    surprising : Surprising; at most `most_facts` are taken

    Returns
    -------
    tuple of Lesson with 1 to 5 tags each; no questions, no small talk, nothing twice, and fewer than `most_facts`
    rather than fillers

    Source: spec 5; what is telling (rare words, names and numbers, first person) as measured on LoCoMo for spec 13.
    """
    docs = (*map(Doc, surprising.talk), doc_of(surprising))
    said = [s for doc in docs for s in statements(doc) if _has_substance(s)]
    distinct: list[Statement] = []
    # The latest wording counts: it is what the student came to.
    for statement in reversed(said):
        if not any(_same(statement, other) for other in distinct):
            distinct.append(statement)
    distinct.reverse()
    telling = sorted(range(len(distinct)), key=lambda i: (-_telling(distinct[i]), -i))[: surprising.most_facts]
    return tuple(_fact(distinct[i]) for i in sorted(telling))


def _has_substance(said: Statement) -> bool:
    if slot_of(said.doc) or said.calculations:
        return True
    return len(said.stems) >= SUBSTANCE or (bool(said.stems) and bool(said.numbers))


def _same(one: Statement, other: Statement) -> bool:
    if one.numbers != other.numbers or one.denies != other.denies:
        return False
    return fuzz.token_sort_ratio(one.text, other.text, processor=utils.default_process) >= SAME_SENTENCE_SCORE


def _telling(said: Statement) -> float:
    """Rare words, numbers and names, and the student's own affairs, with fewer points for the length it takes."""
    words = said.doc.key_phrases()
    mass = sum(word_rarity(word) for phrase in words for word in phrase.split() if word[-1].isalpha())
    own = 3.0 if slot_of(said.doc) else 0.0
    return math.sqrt(mass) + own + 0.5 * min(4, len(said.numbers)) + (1.0 if " i " in f" {said.plain} " else 0.0)


def _fact(said: Statement) -> Lesson:
    text = clipped(said.doc.shown.text, FACT_CHARACTERS).rstrip(" .,;:")
    phrases = [p for p in said.doc.shown.key_phrases(2 * MAX_FACT_TAGS) if any(map(str.isalpha, p))]
    tags = tuple(phrases[:MAX_FACT_TAGS]) or said.doc.words[:1]
    return Lesson(f"The student said “{text}”.", tags or (ACTS[act_of(said.doc)],))


# Why


def _explanation(surprising: Surprising, updates: tuple[BeliefUpdate, ...]) -> str:
    reasons = [*_prediction_failed(surprising), *_out_of_the_ordinary(surprising)]
    if updates:
        other = "is no longer so" if updates[0].evolution else "is put differently now"
        reasons.append(f"what was held before, {quoted(updates[0].prior)}, {other}")
    why = f": {'; '.join(reasons)}" if reasons else f": it stood out with a signal of {surprising.signal:.2f}"
    return f"{_expected_and_heard(surprising)}{why}."


def _expected_and_heard(surprising: Surprising) -> str:
    heard = _named(doc_of(surprising))
    if not surprising.predicted:
        return f"There was no expectation to go by; heard {heard}"
    said = quoted(surprising.predicted, 60, 10)
    return f"Expected {ACTS[act_of(Doc(surprising.predicted))]}{f' ({said})' if said else ''}, heard {heard}"


def _named(doc: Doc) -> str:
    act = ACTS[act_of(doc)]
    if topic := about(doc):
        return f"{act} about {topic}"
    said = quoted(doc.text, 60, 10)
    return f"{act}, {said}" if said else act


def _prediction_failed(surprising: Surprising) -> Iterator[str]:
    if surprising.match is None or not surprising.predicted:
        return
    if surprising.match >= EXPECTATION_MET:
        yield f"the expectation was met (match {surprising.match:.2f}), so what surprised was how it came"
    else:
        shared = Doc(surprising.predicted).stems & doc_of(surprising).stems
        common = "only partly the same" if shared else "the two have little in common"
        yield f"{common} (match {surprising.match:.2f})"


def _out_of_the_ordinary(surprising: Surprising) -> Iterator[str]:
    yield from (_UNUSUAL[name] for name in surprising.unusual if name in _UNUSUAL)
    if "length" not in surprising.unusual and len(surprising.talk) >= COMPARED:
        usual = sum(map(len, surprising.talk)) / len(surprising.talk)
        share = len(surprising.actual) / usual if usual else 1.0
        if share >= MUCH_LONGER:
            yield "it was much longer than the student's messages before"
        elif share <= MUCH_SHORTER:
            yield "it was much shorter than the student's messages before"


# What to do


def _strategy(surprising: Surprising, updates: Iterable[BeliefUpdate], facts: Iterable[Lesson]) -> Strategy:
    """Choose the strategy by surprise level and message; each level keeps what the one before it can choose."""
    if surprising.level is Level.NORMAL:
        return Strategy.NONE
    deep = Strategy.DEEP_EXTRACTION if tuple(facts) else Strategy.NONE
    if surprising.level is Level.BOUNDARY:
        return deep
    if surprising.danger is not None or act_of(doc_of(surprising)) in _NEEDS_CARE:
        return Strategy.ASK_FOLLOW_UP_QUESTIONS
    if tuple(updates):
        shift = surprising.level is Level.PARADIGM_SHIFT
        return Strategy.SELF_REFLECT if shift else Strategy.CONNECT_PRIOR
    if _related(surprising):
        return Strategy.CONNECT_PRIOR
    return Strategy.ASK_FOLLOW_UP_QUESTIONS if surprising.level is Level.PARADIGM_SHIFT else deep


def _related(surprising: Surprising) -> bool:
    said = doc_of(surprising).stems
    return any(len(said & Doc(belief.content).stems) >= SUBSTANCE for belief in surprising.beliefs)

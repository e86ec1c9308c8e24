"""Surprise analysis by rules and statistics that say what they rest on (spec 5)."""

from collections.abc import Iterable, Iterator

from graphmem.model import Analysis, BeliefUpdate, Level, Strategy, Surprising
from graphmem.offline.beliefs import belief_updates
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc, doc_of
from graphmem.text.lexicon import LESSON_WORDS
from graphmem.text.sanitize import quoted
from graphmem.text.slots import slot_of
from graphmem.text.statements import Statement, statements
from graphmem.text.words import is_known, word_rarity

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
    Analysis without facts, which the turn has distilled already; belief updates come with a reason of
    `graphmem.offline.beliefs`, the explanation names only what can be read off the messages

    Source: spec 5.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> asked = "Why is the area of a circle not a square?"
    >>> found = analysis(Surprising(Level.BOUNDARY, 0.7, 0.2, "Yes, I see.", "So it is 12.", asked, at))
    >>> print(found.explanation)
    Expected an agreement (“Yes, I see”), heard a question about “circle”: the two have little in common (match 0.20).
    >>> found.strategy, found.updates
    (<Strategy.NONE: 'none'>, ())
    """
    updates = belief_updates(surprising)
    return Analysis(_explanation(surprising, updates), updates, _strategy(surprising, updates))


def about(doc: Doc) -> str:
    """Topic of a message: its rarest key phrase with a word in it, quoted; empty if there is none.

    Examples
    --------
    >>> about(Doc("Why is 12 the area of a circle?")), about(Doc("ok 12"))
    ('“circle”', '')
    """
    phrases = sorted(doc.shown.key_phrases(), key=lambda phrase: -max(map(word_rarity, phrase.split())))
    named = [phrase for phrase in phrases if all(map(_is_word, phrase.split()))]
    return next((quoted(phrase) for phrase in named if any(map(_is_topic, phrase.split()))), "")


def _is_topic(word: str) -> bool:
    return word.isalpha() and word.lower() not in LESSON_WORDS


def _is_word(word: str) -> bool:
    """False of what is drawn out or misspelt; names may be any."""
    return is_known(word.lower()) or word[:1].isupper() or not word.isalpha()


def _has_substance(said: Statement) -> bool:
    if slot_of(said.doc) or said.calculations:
        return True
    return len(said.stems) >= SUBSTANCE or (bool(said.stems) and bool(said.numbers))


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


def _strategy(surprising: Surprising, updates: Iterable[BeliefUpdate]) -> Strategy:
    """Choose the strategy by surprise level and message; each level keeps what the one before it can choose."""
    if surprising.level is Level.NORMAL:
        return Strategy.NONE
    telling = any(map(_has_substance, statements(doc_of(surprising))))
    deep = Strategy.DEEP_EXTRACTION if telling else Strategy.NONE
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

"""Follow-up questions and reflections after a surprise, by rule (spec 5)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rapidfuzz import fuzz, utils

from graphmem.model import Analysis, BeliefUpdate, Level, Reflection, Surprising
from graphmem.offline.surprise_analysis import ACTS, about, analysis
from graphmem.text.arithmetic import spoken_equations
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc, doc_of
from graphmem.text.lexicon import FIRST_PERSON
from graphmem.text.sanitize import quoted

MAX_FOLLOW_UPS = 3
"""Most follow-up questions."""
SAME_FOLLOW_UP_SCORE = 80.0
"""Fuzzy score from which on two questions are the same."""

# {said} the student's words, {topic} what they are about; a wording is left out where what it needs is missing.
# They are asked some turns later: what they are about must be named.
_QUESTIONS: dict[Act, tuple[str, ...]] = {
    Act.SORROW: ("Would you like to tell me more about {topic}?", "How are things with {topic} by now?"),
    Act.FRUSTRATION: (
        "What about {topic} bothers you most?",
        "Which part of {topic} would you like us to make smaller?",
    ),
    Act.CONFUSION: (
        "What do you already know about {topic}?",
        "Which part of {topic} is the first that does not make sense to you?",
    ),
    Act.QUESTION: ("What made you wonder about {topic}?", "You asked {said}: what would be your own best guess?"),
    Act.STEP: ("How did you get to {said}?", "How could you check {said}?"),
    Act.DISCLOSURE: ("Would you like to tell me more about {topic}?", "How do you feel about {topic}?"),
    Act.AGREEMENT: ("You said {said}: can you say in your own words what you agreed with?",),
    Act.STATEMENT: ("What makes you think so about {topic}?", "Where did you come across {topic}?"),
}
_TRUSTED = "Is there a grown-up you trust whom you could tell about this today?"
_ALWAYS = (
    "You said {said}: can you tell me a little more about it?",
    "When you said {said}, what were you thinking of?",
    "Which part of what you said matters most to you: {said}?",
)

# {topic} what the message was about; what is to be done next time.
_PROCEDURES: dict[Act, str] = {
    Act.SORROW: "Ask how things are with {topic} before going on with the task.",
    Act.FRUSTRATION: "Make the next step smaller when {topic} comes up, and ask what bothers the student about it.",
    Act.CONFUSION: "Ask what is already clear about {topic} before explaining more.",
    Act.QUESTION: "Ask what the student wants to know about {topic} before going on.",
    Act.DISCLOSURE: "Ask about {topic} when it comes up; it matters to the student.",
}
_AFTER_CORRECTION = "Ask how the student got there when it is about {topic}, before going on."
_AFTER_CHANGE = "Ask whether {topic} is still so before building on it."


def analysed(episodes: Sequence[Surprising]) -> tuple[Analysis, ...]:
    """Analyses of some surprising episodes; a paradigm shift is asked about and reflected on, too (spec 5).

    Parameters
    ----------
    episodes : sequence of Surprising; what is asked of one is not asked of a later one

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> told = Surprising(Level.PARADIGM_SHIFT, 0.95, 0.1, "Yes", "Ready?", "I don't understand the denominator.", at)
    >>> first, second = analysed((told, told))
    >>> len(first.questions), set(first.questions) & set(second.questions)
    (3, set())
    """
    found: list[Analysis] = []
    for episode in episodes:
        made = analysis(episode)
        if episode.level is Level.PARADIGM_SHIFT:
            before = tuple(question for each in found for question in each.questions)
            asked = questions(replace(episode, asked=(*episode.asked, *before)), made)
            made = replace(made, questions=asked, reflection=reflection(episode, made))
        found.append(made)
    return tuple(found)


def questions(surprising: Surprising, analysis: Analysis) -> tuple[str, ...]:
    """Follow-up questions to a surprise, ready to be put to the student.

    Parameters
    ----------
    surprising : Surprising; what it tells as asked, or was asked just before, is not asked again
    analysis : Analysis of it

    Returns
    -------
    tuple of 1 to 3 distinct questions, first those about what changed, then those that suit what the student did

    Source: spec 5.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from graphmem.model import Level
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> told = Surprising(Level.PARADIGM_SHIFT, 0.95, 0.1, "Yes", "Ready?", "I don't understand the denominator.", at)
    >>> for question in questions(told, Analysis("")):
    ...     print(question)
    What do you already know about “denominator”?
    Which part of “denominator” is the first that does not make sense to you?
    You said “I don't understand the denominator”: can you tell me a little more about it?
    """
    known = [*surprising.asked, *(sentence.text for sentence in Doc(surprising.before).sentences)]
    chosen: list[str] = []
    for question in _possible(surprising, analysis):
        if len(chosen) < MAX_FOLLOW_UPS and not _asked(question, [*known, *chosen]):
            chosen.append(question)
    # Where every wording was used lately, what is quoted makes the question another one.
    return tuple(chosen) or (f"Looking back at {quoted(surprising.actual) or 'your message'}: what stands out to you?",)


def reflection(surprising: Surprising, analysis: Analysis) -> Reflection:
    """Reflection of the companion on a surprise: what it expected, what it heard, and what to do next time.

    Parameters
    ----------
    surprising : Surprising
    analysis : Analysis of it

    Returns
    -------
    Reflection; a procedure only where the message is about something that can be named, and calls for something

    Source: spec 5.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from graphmem.model import Level
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> told = Surprising(Level.PARADIGM_SHIFT, 0.95, 0.1, "Yes", "Ready?", "I don't understand the denominator.", at)
    >>> reflection(told, Analysis("")).procedure
    'Ask what is already clear about “denominator” before explaining more.'
    """
    heard = ACTS[act_of(doc_of(surprising))]
    topic = about(doc_of(surprising))
    expected = f"expected {ACTS[act_of(Doc(surprising.predicted))]}" if surprising.predicted else "had no expectation"
    parts = [f"I {expected} and heard {heard}{f' about {topic}' if topic else ''}."]
    if analysis.updates:
        first = analysis.updates[0]
        parts.append(f"I should no longer build on {quoted(first.prior)}, but on {quoted(first.new)}.")
    procedure = _procedure(surprising, analysis.updates, topic)
    parts.append(f"Next time: {procedure}" if procedure else "Next time I should ask before I assume.")
    return Reflection(" ".join(parts), procedure)


def _procedure(surprising: Surprising, updates: tuple[BeliefUpdate, ...], topic: str) -> str | None:
    if updates and (changed := about(Doc(updates[0].new))):
        return (_AFTER_CHANGE if updates[0].evolution else _AFTER_CORRECTION).format(topic=changed)
    wording = _PROCEDURES.get(_act(surprising))
    return wording.format(topic=topic) if wording and topic else None


def _act(surprising: Surprising) -> Act:
    """What a message does, as far as one asks on.

    What is said of oneself is told, and no claim; and without an exercise there is no step of work.
    """
    doc = doc_of(surprising)
    act = act_of(doc)
    if act is Act.STEP and not surprising.task and not spoken_equations(doc.text):
        act = Act.STATEMENT
    return Act.DISCLOSURE if act is Act.STATEMENT and not FIRST_PERSON.isdisjoint(doc.plain_words) else act


def _possible(surprising: Surprising, analysis: Analysis) -> Iterator[str]:
    act = _act(surprising)
    if surprising.danger is not None:
        yield _TRUSTED
    for update in analysis.updates:
        yield from _about_change(update)
    wordings = (*_QUESTIONS.get(act, ()), *_ALWAYS)
    slots = {"topic": about(doc_of(surprising)), "said": quoted(surprising.actual.strip().rstrip("?"))}
    for wording in wordings:
        if all(value or f"{{{name}}}" not in wording for name, value in slots.items()):
            yield wording.format(**slots)


def _about_change(update: BeliefUpdate) -> Iterator[str]:
    if update.evolution:
        yield f"Before it was {quoted(update.prior)}, now {quoted(update.new)}: when did that change?"
    else:
        yield f"First you said {quoted(update.prior)}, now {quoted(update.new)}: what made you change your mind?"


def _asked(question: str, known: Iterable[str]) -> bool:
    return any(fuzz.ratio(question, other, processor=utils.default_process) >= SAME_FOLLOW_UP_SCORE for other in known)

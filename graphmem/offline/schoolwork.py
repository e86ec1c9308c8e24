"""What a turn of schoolwork shows of what is understood, said generally (spec 5, 7)."""

import re
from typing import NamedTuple

from graphmem.model import Aspect, Heard
from graphmem.text.arithmetic import equations
from graphmem.text.clauses import statement_spans
from graphmem.text.discourse import content_words
from graphmem.text.doc import Doc
from graphmem.text.generalising import OPERATION, generalised
from graphmem.text.matters import subject_matter
from graphmem.text.operations import AFTER_HINT, BY_STEP, IN_TOPIC, INFLECTED, advised, operations, topic_of
from graphmem.text.retelling import retold
from graphmem.text.sentences import SentenceSpan
from graphmem.text.worth import TutoringTurn, accepts, doubts, load_worth, rejects

SHOWN_FROM = {Aspect.MISCONCEPTION: 0.45, Aspect.UNDERSTANDING: 0.3}
"""Chance from which a turn of work shows this."""
STEP_WORDS = 3
"""Content words that a step of a solution has at least, with its operation."""
STEP_FROM, STEP_TO = 15, 120
"""Characters of a step that is told."""

_SEES = re.compile(r"\b(?:oh|ah|i see|i understand(?! that)|i get it|got it|now i)\b")
"""Words by which somebody shows to have seen something."""
_CONCEDED = re.compile(r"\b(?:should(?:'ve| have)|forgot|didn't (?:realize|realise|notice|take)|instead of|mistake)\b")


class ShownAtWork(NamedTuple):
    """Something misunderstood or understood: the words that show it, and a statement without the exercise's numbers."""

    span: SentenceSpan
    content: str
    aspect: Aspect


def aspect_at_work(doc: Doc, heard: Heard) -> Aspect | None:
    """Misconception or understanding, whichever a turn of the student's work shows; None where it shows neither."""
    if heard.speaker is not None:
        return None
    wrong, right = load_worth().of_turn(TutoringTurn(doc.text, heard.before, heard.reply))[1:]
    aspect = Aspect.MISCONCEPTION if wrong >= right else Aspect.UNDERSTANDING
    if aspect is Aspect.UNDERSTANDING and not heard.reply and not _SEES.search(doc.plain):
        # Nobody says that it was right.
        return None
    # At work on a task a question is doubt enough; in talk what is wrong is called so.
    said_wrong = doubts(heard.reply) if heard.task else rejects(heard.reply)
    if aspect is Aspect.MISCONCEPTION and not said_wrong and all(each.holds for each in equations(doc.text)):
        return None
    return aspect if max(wrong, right) >= SHOWN_FROM[aspect] else None


def shown_at_work(doc: Doc, heard: Heard, who: str, aspect: Aspect | None, *, told: bool) -> ShownAtWork | None:
    """What a turn of the student's work shows; None where nothing can be said of it beyond the exercise.

    A step that is owned up to as missed, an operation taken for another, a slip in one operation, or only how it went
    with the matter of the task, whichever comes first; the last not where the turn tells something else.

    Parameters
    ----------
    aspect : of the turn, see `aspect_at_work`
    told : the turn's clauses tell something that is kept
    """
    if aspect is None or not doc.text.strip() or doc.text.rstrip().endswith("?"):
        return None
    if _CONCEDED.search(doc.plain):
        if step := _conceded(doc, heard, who, aspect):
            return step
        said = ""
    else:
        said = _chosen_operation(doc, heard, who, aspect)
    said = _in_topic(said or _slip(doc, who, aspect), heard.task)
    if not said and not told:
        said = _with_step(_in_topic(_outcome(doc, heard, who, aspect), heard.task), doc, heard, who)
    return ShownAtWork((0, len(doc.text.rstrip())), said, aspect) if said else None


def _chosen_operation(doc: Doc, heard: Heard, who: str, aspect: Aspect) -> str:
    """An operation taken for another, as the tutor's next words say, or seen by those before; else empty."""
    used = operations(doc.text)
    wanted = advised(heard.reply)
    if aspect is Aspect.MISCONCEPTION and wanted and len(used) == 1 and wanted not in used:
        return f"{who} {INFLECTED[min(used)][0]} where one has to {wanted}."
    told = advised(heard.before)
    if aspect is Aspect.UNDERSTANDING and told in used and rejects(heard.before) and not rejects(heard.reply):
        return f"{who} has understood where one has to {told}, after a hint."
    return ""


def _conceded(doc: Doc, heard: Heard, who: str, aspect: Aspect) -> ShownAtWork | None:
    """The first step that is owned up to as missed or mistaken, without its numbers."""
    for span, step in _steps(doc):
        if _CONCEDED.search(step.lower()) is None:
            continue
        general = _general(step, heard, who)
        if general and content_words(Doc(general)) > STEP_WORDS:
            return ShownAtWork(span, _in_topic(f"{general}.", heard.task), aspect)
    return None


def _slip(doc: Doc, who: str, aspect: Aspect) -> str:
    """That the one wrong sum is a slip in its one operation; else empty."""
    wrong = [each.text for each in equations(doc.text) if not each.holds]
    if aspect is not Aspect.MISCONCEPTION or len(wrong) != 1:
        return ""
    used = operations(wrong[0])
    return f"{who} makes a slip when {INFLECTED[min(used)][1]}." if len(used) == 1 else ""


def _outcome(doc: Doc, heard: Heard, who: str, aspect: Aspect) -> str:
    """How it went with the matter of the task: wrong, or right in the end, where the tutor asks no more; else empty."""
    matter = subject_matter(heard.task)
    if aspect is Aspect.MISCONCEPTION:
        return f"{who} goes wrong with {matter}." if matter and not accepts(heard.reply) else ""
    if not _is_right_in_the_end(doc, heard) or not _has_own_number(doc, heard) or not (matter or topic_of(heard.task)):
        return ""
    hinted = rejects(heard.before) or _SEES.search(doc.plain) is not None
    after = AFTER_HINT if hinted else ""
    return f"{who} gets {matter} right{after}." if matter else f"{who} found the right answer{after}."


def _is_right_in_the_end(doc: Doc, heard: Heard) -> bool:
    """True where the tutor accepts it and asks no more; where nobody answers, of what was seen in sums that hold."""
    if heard.reply:
        return accepts(heard.reply) and not heard.reply.rstrip().endswith("?")
    sums = equations(doc.text)
    return _SEES.search(doc.plain) is not None and bool(sums) and all(each.holds for each in sums)


def _has_own_number(doc: Doc, heard: Heard) -> bool:
    """True if a message has a number that neither the exercise nor the tutor's line before it has."""
    return not set(doc.numbers) <= {*Doc(heard.task).numbers, *Doc(heard.before).numbers}


def _with_step(statement: str, doc: Doc, heard: Heard, who: str) -> str:
    """How it went, and the step it went so with, where one can be said without its numbers; empty as it is."""
    reply = Doc(heard.reply).stems
    steps = [step for _, step in _steps(doc)] if statement else []
    for step in sorted(steps, key=lambda each: -_telling(each, reply)):
        # "To find the cost, Mo multiplied ...": what was done.
        done = _general(step, heard, who).rpartition(f"{who} ")[2]
        if (
            STEP_FROM <= len(done) <= STEP_TO
            and OPERATION.search(f"to {done}")
            and content_words(Doc(done)) >= STEP_WORDS
        ):
            return f"{statement.rstrip('.')}{BY_STEP}{done})."
    return statement


def _steps(doc: Doc) -> list[tuple[SentenceSpan, str]]:
    """The clauses that name an operation, with their places."""
    clauses = [(span, doc.text[slice(*span)]) for span in statement_spans(doc)]
    return [(span, clause) for span, clause in clauses if OPERATION.search(clause)]


def _general(step: str, heard: Heard, who: str) -> str:
    """A step told of whose it is, without its numbers and the full stop; empty where that cannot be."""
    return retold(generalised(step, heard.task), who, heard.at).rstrip(".!")


def _telling(step: str, reply: frozenset[str]) -> float:
    """How much a step says, and how much of it the tutor takes up."""
    doc = Doc(step)
    return min(8, content_words(doc)) / 8 + 2 * len(doc.stems & reply) / (1 + len(reply))


def _in_topic(statement: str, task: str) -> str:
    """A statement about work, with what the work was about where it does not say so."""
    topic = topic_of(task) if statement else ""
    if not topic or Doc(topic).stems <= Doc(statement).stems:
        return statement
    return f"{statement.rstrip('.')}{IN_TOPIC}{topic}."

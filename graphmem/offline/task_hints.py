"""Questions about a student's step that the numbers of the task give rise to."""

from collections.abc import Iterator, Sequence

from graphmem.model import Author, Message
from graphmem.text.doc import Doc, doc_of
from graphmem.text.quantities import Quantity, equal_values, quantities
from graphmem.text.sanitize import quoted

EXERCISE_WORDS = 6
"""Words that a task has at least where it is an exercise and not the title of a lesson."""


def task_hint(messages: Sequence[Message], task: str) -> str:
    """A question about the numbers of the student's last message; empty without a task or where none arises.

    Parameters
    ----------
    messages : sequence of Message, oldest first, the student's newest last
    task : str, the exercise as the app gave it

    Returns
    -------
    str, one sentence: where a number comes from that neither the task nor the talk has named, or what of the task has
    not been spoken of. It judges nothing: a number may come from the head, and a task may tell more than is needed

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> said = [Message(Author.STUDENT, "The answer is 9.", datetime(2026, 1, 1, tzinfo=UTC))]
    >>> task_hint(said, "Tom has three boxes of 4 pens.")
    'Where does the 9 come from?'
    >>> task_hint(said, "Tom has 9 pens. He buys 3 more.")
    'The task also says “He buys 3 more”: have you used that?'
    """
    doc, given = doc_of(messages[-1]), Doc(task)
    told = quantities(doc.text)
    if len(given.words) < EXERCISE_WORDS or not told:
        return ""
    before = (each for message in messages[:-1] for each in quantities(message.text))
    known = [*quantities(task), *before, *(each for each in told if each.result)]
    new = [each for each in told if not each.result and not _among(each, known)]
    if new:
        return f"Where does the {_written(new[0])} come from?"
    return next(_unused(messages, given), "")


def _unused(messages: Sequence[Message], given: Doc) -> Iterator[str]:
    """A question for each sentence of a task of which the student has used no number."""
    said = [each for message in messages if message.author is Author.STUDENT for each in quantities(message.text)]
    for sentence in given.sentences:
        numbers = quantities(sentence.text)
        if numbers and not sentence.asks and not any(_among(each, said) for each in numbers):
            yield f"The task also says {quoted(sentence.text, 120, 20)}: have you used that?"


def _among(one: Quantity, others: Sequence[Quantity]) -> bool:
    return any(equal_values(one, other) for other in others)


def _written(quantity: Quantity) -> str:
    value = quantity.value
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"

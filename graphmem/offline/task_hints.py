"""Questions about a student's step that the numbers of the task give rise to."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from graphmem.model import Author, Message
from graphmem.text.doc import Doc, doc_of
from graphmem.text.quantities import Quantity, equal_values, quantities
from graphmem.text.sanitize import quoted

EXERCISE_WORDS = 12
"""Words that a task without a question has at least where it is an exercise and not the title of a lesson."""
COUNTED_AT_SIGHT = 2
"""Greatest number that needs no origin: one counts to it at sight."""
PLAIN_DENOMINATOR = 20
"""Greatest denominator of a fraction that is written as one."""
CITED_WORDS = 12
"""Words of the longest answer that only repeats what the task gives."""
SHARED_WORDS = 2
"""Content words that an answer, or its question, shares with the sentence of the task it comes from."""

_OPERATION = re.compile(r"^[$€£]?(?P<first>\d[\d.,]*)\s*(?P<sign>[-+*/x×÷·−])\s*[$€£]?(?P<second>\d[\d.,]*)\s*=[^=]*$")
_VERBS = {"+": "add", "-": "subtract", "−": "subtract", "/": "divide", "÷": "divide"}


def task_hint(messages: Sequence[Message], task: str, equation: str = "", *, stuck: bool = False) -> str:
    """A question about the student's last message that the task gives rise to; empty without a task or where none does.

    Parameters
    ----------
    messages : sequence of Message, oldest first, the student's newest last
    task : str, the exercise as the app gave it
    equation : str, a sum of the message that is right
    stuck : the student does not know how to go on

    Returns
    -------
    str, one sentence, none that the companion has said before: where a number comes from that neither the task nor the
    talk gives, what of the task has not been spoken of, or why a sum reckons as it does. It judges nothing: a number
    may come from the head, and a task may tell more than is needed

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> said = [Message(Author.STUDENT, "The answer is 8.", datetime(2026, 1, 1, tzinfo=UTC))]
    >>> task_hint(said, "Tom has three boxes of 4 pens. How many pens?")
    'Where does the 8 come from?'
    >>> task_hint(said, "Tom has 8 pens. He buys 3 more. How many?")
    'The task also says “He buys 3 more”: have you used that?'
    """
    given = Doc(task)
    if "?" not in task and len(given.words) < EXERCISE_WORDS:
        return ""
    told = [message.text for message in messages if message.author is Author.COMPANION]
    hints = _first_steps(messages, given) if stuck else _on_numbers(messages, given, equation)
    return next((hint for hint in hints if not any(hint in text for text in told)), "")


def cited_sentence(said: Doc, asked: str, task: str) -> str:
    """The sentence of the task that a short answer repeats, quoted; empty where it says something of its own.

    Examples
    --------
    >>> cited_sentence(Doc("The ticket cost $100."), "", "Ken buys a ticket, which costs $100. He has 3 cards.")
    '“Ken buys a ticket, which costs $100”'
    """
    numbers = quantities(said.text)
    if len(said.words) > CITED_WORDS or len(numbers) != 1 or "?" in said.text:
        return ""
    about = said.stems | (Doc(asked).sentences[-1].stems if asked.strip().endswith("?") else frozenset())
    for sentence in Doc(task).sentences:
        gives = any(equal_values(numbers[0], each) for each in quantities(sentence.text))
        if gives and not sentence.asks and len(about & sentence.stems) >= SHARED_WORDS:
            return quoted(sentence.text, 160, 28)
    return ""


def _on_numbers(messages: Sequence[Message], given: Doc, equation: str) -> Iterator[str]:
    told = quantities(doc_of(messages[-1]).text)
    if told:
        new = _unexplained(messages, told, given)
        if new is not None:
            yield f"Where does the {_written(new)} come from?"
        yield from _unused(messages, given)
    if equation:
        yield from _reason(equation, messages, given)


def _first_steps(messages: Sequence[Message], given: Doc) -> Iterator[str]:
    """For a student who is stuck: what is asked, then one sentence of the task after the other."""
    for sentence in given.sentences:
        if not sentence.asks and sentence.numbers:
            yield f"Take this sentence first: {quoted(sentence.text, 160, 28)}. What does it tell you?"


def _unexplained(messages: Sequence[Message], told: Sequence[Quantity], given: Doc) -> Quantity | None:
    """The first number in figures that task and talk neither name nor lead to at sight."""
    text = doc_of(messages[-1]).text
    before = (each for message in messages[:-1] for each in quantities(message.text))
    known = [*quantities(given.text), *before, *(each for each in told if each.result)]
    steps = _reachable([each.value for each in known])
    return next(
        (
            each
            for each in told
            if not each.result
            and not (each.value.denominator == 1 and abs(each.value) <= COUNTED_AT_SIGHT)
            and text[each.start].isdigit()
            and not _among(each, known)
            and each.value not in steps
        ),
        None,
    )


def _reachable(values: Sequence[Fraction]) -> frozenset[Fraction]:
    """Numbers that follow from others at sight: the rest of a whole, one more."""
    return frozenset(each for value in values for each in (1 - value, 100 - value, value + 1))


def _unused(messages: Sequence[Message], given: Doc) -> Iterator[str]:
    """A question for each sentence of a task of which the student has used no number."""
    said = [each for message in messages if message.author is Author.STUDENT for each in quantities(message.text)]
    for sentence in given.sentences:
        # "One day" counts nothing.
        numbers = [each for each in quantities(sentence.text) if each.value != 1]
        if numbers and not sentence.asks and not any(equal_values(each, own) for each in numbers for own in said):
            yield f"The task also says {quoted(sentence.text, 120, 20)}: have you used that?"


def _reason(equation: str, messages: Sequence[Message], given: Doc) -> Iterator[str]:
    """A question why a sum of two numbers, both of the task or found before, reckons as it does."""
    match = _OPERATION.match(equation)
    if match is None:
        return
    first, second = quantities(match["first"]), quantities(match["second"])
    found = (each for m in messages if m.author is Author.STUDENT for each in quantities(m.text) if each.result)
    known = [*quantities(given.text), *found]
    if not first or not _among(first[0], known):
        return
    verb = _VERBS.get(match["sign"], "multiply")
    for sentence in given.sentences:
        if second and not sentence.asks and _among(second[0], quantities(sentence.text)):
            yield f"The task says {quoted(sentence.text, 120, 20)}: why do you {verb} there?"


def _among(one: Quantity, others: Sequence[Quantity]) -> bool:
    return any(equal_values(one, other) for other in others)


def _written(quantity: Quantity) -> str:
    value = quantity.value
    return str(value) if value.denominator <= PLAIN_DENOMINATOR else f"{float(value):.6g}"

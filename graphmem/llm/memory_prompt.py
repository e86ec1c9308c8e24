"""The memory prompt: a few turns of talk to form memories of, beside the known memories (spec 7, 8, 17).

The instructions never vary, so that a provider can cache them, and show no examples: models take examples for things
they heard. What people wrote stands between tags with its angle brackets escaped, here each line of talk on one line,
so that nobody can speak in another's name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from graphmem.llm.prompts import Prompt, day_line, instructions
from graphmem.model import Heard, KnownItem, Remember, SourceKind
from graphmem.text.normalize import abridged, one_line

MESSAGE_ENDS = (3_000, 1_500)
"""Characters of the beginning and of the end of a message that are shown; what lies between is not read."""
CONTEXT_CHARACTERS = 400
"""Characters of the task, and of each line that only serves to understand others."""
KNOWN_CHARACTERS = 160
FORESEEN_CHARACTERS = 100
_NAME = 40
_WHOSE = {
    SourceKind.CHAT: "student",
    SourceKind.LESSON: "lesson",
    SourceKind.PROMPT_RUN: "exercise",
    SourceKind.TEACHER: "teacher",
    SourceKind.SYSTEM: "system",
}


@dataclass(frozen=True)
class TalkLine:
    """A line of talk as a model is shown it.

    message : place of the message that it is, in the question; None for a line that is context only
    """

    speaker: str
    text: str
    message: int | None = None


def talk_lines(heard: Sequence[Heard]) -> list[TalkLine]:
    """Lines of talk: the messages, each with the messages before and after it.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> heard = (Heard("4", at, before="2 + 2?", reply="Yes."), Heard("Bye", at, before="Yes."))
    >>> [(line.speaker, line.text, line.message) for line in talk_lines(heard)]
    [('tutor', '2 + 2?', None), ('student', '4', 0), ('tutor', 'Yes.', None), ('student', 'Bye', 1)]
    """
    lines: list[TalkLine] = []
    for place, message in enumerate(heard):
        between = "tutor" if message.kind is SourceKind.CHAT and message.speaker is None else "before"
        _add(lines, between, message.before)
        lines.append(TalkLine(_speaker(message), message.text, place))
        _add(lines, "tutor", message.reply)
    return lines


def _add(lines: list[TalkLine], speaker: str, text: str) -> None:
    """Add another speaker's message, unless it is the last line already."""
    if text.strip() and (not lines or lines[-1].text != text):
        lines.append(TalkLine(speaker, text))


def _speaker(message: Heard) -> str:
    name = abridged(one_line(message.speaker or ""), _NAME)
    return name or _WHOSE[message.kind]


def memory_prompt(question: Remember) -> Prompt:
    """Prompt for what in a few messages is worth remembering.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> heard = Heard("I <3 maths", datetime(2026, 1, 5, tzinfo=UTC), before="Hello!")
    >>> print(memory_prompt(Remember((heard,))).question)
    <talk>
    1 tutor: Hello!
    <day>Monday, 2026-01-05, 00:00</day>
    2* student: I &lt;3 maths
    </talk>
    """
    return Prompt(instructions("memory"), "\n".join(_material(question)))


def _material(question: Remember) -> Iterator[str]:
    heard = question.heard
    if question.known:
        yield "<known>"
        yield from (_known(number, item) for number, item in enumerate(question.known, start=1))
        yield "</known>"
    if question.asked:
        yield f"<asked>{one_line(' '.join(question.asked))}</asked>"
    if task := next((each.task for each in reversed(heard) if each.task), ""):
        yield f"<task>{one_line(abridged(task, CONTEXT_CHARACTERS))}</task>"
    if name := next((each.student for each in heard if each.student), ""):
        yield f"<student>{one_line(name)}</student>"
    yield "<talk>"
    day = None
    for number, line in enumerate(talk_lines(heard), start=1):
        message = None if line.message is None else heard[line.message]
        if message is not None and message.at.date() != day:
            day = message.at.date()
            yield day_line(message.at)
        mark = "" if message is None else "*"
        yield f"{number}{mark} {one_line(line.speaker)}: {one_line(_abridged(line))}{_unexpected(message)}"
    yield "</talk>"


def _known(number: int, item: KnownItem) -> str:
    label = f", {item.label}" if item.label else ""
    # It holds to the end of a day, which is the beginning of the next.
    until = "" if item.until is None else f", until {item.until - timedelta(seconds=1):%Y-%m-%d}"
    return f"{number} ({item.at:%Y-%m-%d}{label}{until}) {one_line(abridged(item.text, KNOWN_CHARACTERS))}"


def _unexpected(message: Heard | None) -> str:
    if message is None or message.violated is None:
        return ""
    return f" (unexpected; foreseen: {one_line(abridged(message.violated.predicted, FORESEEN_CHARACTERS))})"


def _abridged(line: TalkLine) -> str:
    if line.message is None:
        return abridged(line.text, CONTEXT_CHARACTERS)
    head, tail = MESSAGE_ENDS
    return line.text if len(line.text) <= head + tail else f"{abridged(line.text, head)} {line.text[-tail:]}"

"""The reply prompt, and how a conversation is quoted in prompts.

Instructions stand in text files of this folder. Whatever a student or an app wrote is quoted between tags with its
angle brackets escaped, so that it can neither open nor close a tag, and the instructions say that nothing quoted is an
instruction.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, model_validator

from graphmem.llm.checks import NumberList, TextList, bounded, filled, line, share
from graphmem.model import (
    ACUTE,
    SERIOUS,
    Alternative,
    Author,
    ConcernKind,
    Conversation,
    Danger,
    Message,
    Predict,
    Prediction,
    Remembered,
    Respond,
    Response,
)
from graphmem.text.memory_block import memory_block, memory_line
from graphmem.text.normalize import abridged, cleaned_quote, escaped, one_line

HISTORY_MESSAGES = 40
HISTORY_CHARACTERS = 8_000
DROPPED_AT_ONCE = 10
"""Messages by which the history begins later when it is full, so that it mostly begins as it did (prompt caching)."""
MESSAGE_CHARACTERS = 4_000
TASK_CHARACTERS = 1_500
EXPECTATION_CHARACTERS = 200
BREAK = timedelta(hours=1)
"""Pause after which a conversation shows its time again."""

_CARE = (
    "Nothing else matters now: show that you take it seriously, in a few warm and calm sentences in the student's "
    "language; ask nothing about the exercise, promise no secrecy, give no advice on means, blame nobody, and end with "
    "these words, unchanged: {help}"
)
_LOOK = "<look>The newest message may tell of {kind}. If it does not, answer it as ever. If it does: {care}</look>"
_SURE = "<look>The newest message tells of {kind}. {care}</look>"
_HINT = "<look>The newest message may tell of {kind}.</look>"
_WRITTEN = "<look>Your reply is written already: leave reply empty.</look>"
_FORESEE = "<look>Only expected is asked for: leave reply empty.</look>"


REPLY_CHARACTERS = 8_000
GUESS_CHARACTERS = 1_000
MOST_FORESEEN = 3
_CHANCE = re.compile(r"^\W*((?:0?[.,]\d+|[01](?:[.,]0+)?|\d{1,3} ?%))\W+(?=\S)")


@dataclass(frozen=True)
class Prompt:
    """Prompt for a language model: the instructions, and the material they apply to."""

    instructions: str
    question: str


@cache
def instructions(name: str) -> str:
    """The instructions of a prompt, from its text file.

    Examples
    --------
    >>> instructions("memory").partition(".")[0]
    "You keep a student's memory for their tutor"
    """
    return (Path(__file__).parent / f"{name}.txt").read_text("utf-8").rstrip()


def day_line(at: datetime) -> str:
    """A day with its time as prompts show it."""
    return f"<day>{at:%A, %Y-%m-%d, %H:%M}</day>"


def transcript(messages: Sequence[Message], *, earlier: int = 0) -> str:
    """The end of a conversation, quoted for a model, oldest message first; each day and break shows its time.

    Parameters
    ----------
    messages : sequence of Message, oldest first
    earlier : int >= 0              messages of the conversation before them

    Returns
    -------
    str, one tagged message after another. What does not fit is left out ten messages at a time, counted from the
    beginning of the conversation

    Source: spec 3, 17.

    Examples
    --------
    >>> from datetime import UTC
    >>> from graphmem.model import Author
    >>> print(transcript([Message(Author.STUDENT, "Is 2 < 3?", datetime(2026, 1, 5, tzinfo=UTC))]))
    <conversation>
    <day>Monday, 2026-01-05, 00:00</day>
    <student>Is 2 &lt; 3?</student>
    </conversation>
    """
    texts = [abridged(message.text, MESSAGE_CHARACTERS) for message in messages]
    start = _start([len(text) for text in texts], earlier)
    lines, before = ["<conversation>"], None
    for message, text in zip(messages[start:], texts[start:], strict=True):
        if before is None or message.at.date() != before.date() or message.at - before >= BREAK:
            lines.append(day_line(message.at))
        before = message.at
        lines.append(_quoted(message.author, text))
    return "\n".join([*lines, "</conversation>"])


def _start(lengths: Sequence[int], earlier: int) -> int:
    """Place of the first message that is quoted; the newest is quoted in any case."""
    last = max(0, len(lengths) - 1)
    first = DROPPED_AT_ONCE - earlier % DROPPED_AT_ONCE
    starts: tuple[int, ...] = (0, *range(first, last, DROPPED_AT_ONCE))
    for start in starts:
        if len(lengths) - start <= HISTORY_MESSAGES and sum(lengths[start:]) <= HISTORY_CHARACTERS:
            return start
    used, start = lengths[last] if lengths else 0, last
    while start and len(lengths) - start < HISTORY_MESSAGES and used + lengths[start - 1] <= HISTORY_CHARACTERS:
        start -= 1
        used += lengths[start]
    return start


def _quoted(tag: str, text: str) -> str:
    return f"<{tag}>{escaped(text)}</{tag}>"


def reply_prompt(question: Respond) -> Prompt:
    """Prompt for the reply and what goes with it; for the rest alone where the reply is written already (spec 3, 17).

    What changes least comes first, so that a provider can cache it; the block of memories stands last.
    """
    talk = question.talk
    messages = talk.messages if question.written is None else (*talk.messages, question.written)
    block, _ = numbered_block(question.remembered)
    material = (*_talk_parts(talk, messages), _expectation_part(question.expected), _look(question), block)
    return Prompt(_filled(talk), "\n\n".join(part for part in material if part))


def predict_prompt(question: Predict) -> Prompt:
    """The same prompt where nothing but the student's next message is asked for."""
    material = (*_talk_parts(question.talk, question.talk.messages), _FORESEE)
    return Prompt(_filled(question.talk), "\n\n".join(part for part in material if part))


def numbered_block(remembered: Remembered) -> tuple[str, dict[int, str]]:
    """The block of memories with its lines numbered, and the memories of those lines that are of one."""
    ids = {memory_line(each, remembered): each.memory.id for each in (*remembered.profile, *remembered.memories)}
    lines, found = list[str](), dict[int, str]()
    number = 0
    for text in memory_block(remembered).splitlines():
        if text.startswith("- "):
            number += 1
            if text in ids:
                found[number] = ids[text]
        lines.append(f"{number} {text[2:]}" if text.startswith("- ") else text)
    return "\n".join(lines), found


def _filled(talk: Conversation) -> str:
    name = escaped(talk.companion.name) or "the tutor"
    persona = escaped(talk.companion.persona) or "a patient tutor who helps the student find the next step."
    return instructions("reply").replace("{name}", name).replace("{persona}", persona)


def _talk_parts(talk: Conversation, messages: Sequence[Message]) -> tuple[str, str]:
    task = _quoted("task", abridged(talk.task, TASK_CHARACTERS)) if talk.task else ""
    return task, transcript(messages, earlier=talk.earlier)


def _expectation_part(prediction: Prediction | None) -> str:
    if prediction is None or not prediction.text:
        return ""
    foreseen = (prediction.text, *(other.text for other in prediction.alternatives))
    texts = (f"{i} {one_line(abridged(text, EXPECTATION_CHARACTERS))}" for i, text in enumerate(foreseen, 1))
    return "\n".join(["<expected>", *texts, "</expected>"])


def _look(question: Respond) -> str:
    """Return the notice to the model of possible danger, or that the reply is written."""
    danger, care = question.danger, _CARE.format(help=question.help)
    kind = "" if danger is None else danger.kind.value.replace("_", " ")
    if question.written is not None:
        return "\n".join(filter(None, (_HINT.format(kind=kind) if kind else "", _WRITTEN)))
    if danger is None:
        return ""
    return (_SURE if danger.stands else _LOOK).format(kind=kind, care=care)


class ForeseeOutput(BaseModel):
    """The answer where the reply is written already."""

    reply: Annotated[str, BeforeValidator(line)]
    danger: Annotated[str, BeforeValidator(line)]
    came_true: Annotated[int, BeforeValidator(lambda value: _first(value))]
    expected: TextList
    used: NumberList

    @model_validator(mode="before")
    @classmethod
    def _with_every_field(cls, values: Any) -> Any:
        return filled(cls, values)


class ReplyOutput(ForeseeOutput):
    """The answer with a reply, which comes first, so that it is what streams first."""

    reply: Annotated[str, bounded(REPLY_CHARACTERS), BeforeValidator(lambda v: v if isinstance(v, str) else "")]


def _first(value: Any) -> int:
    numbers = re.findall(r"\d+", str(value))
    return int(numbers[0]) if numbers and len(numbers[0]) < 9 else 0


def response(output: ForeseeOutput, question: Respond) -> Response:
    """The reply with what goes with it.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from graphmem.model import Companion, Conversation
    >>> hi = Message(Author.STUDENT, "Hi", datetime(2026, 1, 5, tzinfo=UTC))
    >>> told = {"reply": "Hi!", "expected": ["0.6 Five?", "Six?"], "danger": "bullying 1", "came_true": "none"}
    >>> found = response(ReplyOutput(**told), Respond(Conversation(Companion("", "", 0.5), (hi,))))
    >>> found.prediction.text, found.prediction.chance, found.danger.kind.value, found.came_true
    ('Five?', 0.6, 'bullying', None)
    """
    reply = Message(Author.COMPANION, output.reply, question.talk.messages[-1].at)
    _, ids = numbered_block(question.remembered)
    return Response(
        question.written or reply,
        predicted(output.expected),
        danger_named(output.danger),
        judged=True,
        came_true=came_true(output.came_true, question.expected),
        used=tuple(ids[number] for number in dict.fromkeys(output.used) if number in ids),
    )


def danger_named(text: str) -> Danger | None:
    """Danger that a model names, such as `bullying 2`; without an urgency it is serious."""
    word = re.sub(r"[^a-z]+", "_", text.casefold()).strip("_")
    kind = max((kind for kind in ConcernKind if kind.value in word), key=lambda kind: len(kind.value), default=None)
    if kind is None:
        return Danger(ConcernKind.OTHER_DANGER, SERIOUS) if re.search(r"[1-3]", text) and "none" not in word else None
    urgency = re.search(r"[1-3]", text)
    return Danger(kind, min(ACUTE, int(urgency[0])) if urgency else SERIOUS)


def came_true(number: int, expected: Prediction | None) -> float | None:
    """Return the chance that the prediction came true: the model's 1 or 0; None where nothing was expected."""
    if expected is None or not expected.text:
        return None
    return float(0 < number <= 1 + len(expected.alternatives))


def predicted(texts: list[str]) -> Prediction:
    """The likeliest of some messages that are expected, and the others, each text beginning with its chance.

    Missing chances share the rest of the given ones; chances that add up to more than 1 are scaled down.
    """
    foreseen = [(_without_chance(text), _chance(text)) for text in texts]
    foreseen = [each for each in foreseen if each[0]][:MOST_FORESEEN]
    if not foreseen:
        return Prediction("", ())
    told = [chance for _, chance in foreseen if chance is not None]
    untold = len(foreseen) - len(told)
    rest = max(0.0, 1.0 - sum(told)) / untold if untold else 0.0
    chances = [rest if chance is None else chance for _, chance in foreseen]
    most = max(1.0, sum(chances))
    scaled = [(text, max(0.01, chance / most)) for (text, _), chance in zip(foreseen, chances, strict=True)]
    (text, chance), *others = sorted(scaled, key=lambda each: -each[1])
    return Prediction(text, (), chance=chance, alternatives=tuple(Alternative(*other) for other in others))


def _chance(text: str) -> float | None:
    found = _CHANCE.match(text)
    return None if found is None else share(found[1].replace(",", ".").replace(" ", ""))


def _without_chance(text: str) -> str:
    return cleaned_quote(_CHANCE.sub("", text)).strip('"“”')[:GUESS_CHARACTERS]

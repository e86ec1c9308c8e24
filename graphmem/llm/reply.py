"""Schema of the answer to the reply prompt, and its conversion to our values (spec 3, 4, 20)."""

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, model_validator

from graphmem.llm.fields import NumberList, TextList, bounded, filled, line, share
from graphmem.llm.prompts import numbered_block
from graphmem.model import (
    ACUTE,
    SERIOUS,
    Alternative,
    Author,
    ConcernKind,
    Danger,
    Message,
    Prediction,
    Respond,
    Response,
)
from graphmem.text.normalize import cleaned_quote

REPLY_CHARACTERS = 8_000
GUESS_CHARACTERS = 1_000
MOST_FORESEEN = 3
_CHANCE = re.compile(r"^\W*((?:0?[.,]\d+|[01](?:[.,]0+)?|\d{1,3} ?%))\W+(?=\S)")


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

"""Schemas of the answers of a turn and of its lesson, and their conversion to our values.

Schemas are lean and strict: every field is asked for, none has a default, and bounds are not sent. What comes is mended
where it can be, so that nobody waits for a second request: lists are cut, long texts shortened, chances read.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)

from graphmem.model import Alternative, Lesson, Prediction
from graphmem.text.quoting import abridged, cleaned_quote

T = TypeVar("T")

__all__ = ["DistilOutput", "PredictOutput", "RespondOutput", "lessons", "predicted"]
# The other names without an underscore are shared with the other modules of schemas.

CONTENT = 500
"""Most characters of what is remembered."""
SENTENCE = 300
MOST_FORESEEN = 3
MOST_KEYWORDS = 8
MOST_TAGS = 5
REPLY = 8_000
_PHRASE = 80
_GUESS = 1_000


def distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def bare(value: Any) -> str:
    """A word of a closed list as models write it."""
    return value.strip().strip("\"'").lower() if isinstance(value, str) else ""


def cleaned_field(value: Any) -> Any:
    return cleaned_quote(value) if isinstance(value, str) else value


def shortened(most: int) -> Callable[[Any], Any]:
    def short(value: Any) -> Any:
        return abridged(value, most - len(" […]")) if isinstance(value, str) and len(value) > most else value

    return short


def a_line(value: Any) -> Any:
    return " ".join(cleaned_quote(value).split()) if isinstance(value, str) else value


def up_to(most: int) -> Callable[[Any], Any]:
    return lambda values: values[:most] if isinstance(values, list) else values


def phrases(most: int) -> Callable[[Any], Any]:
    """Reads short phrases: blank ones are dropped, long ones cut, one text stands for a list with commas."""

    def read(values: Any) -> Any:
        listed = values.split(",") if isinstance(values, str) else values
        if not isinstance(listed, list):
            return []
        texts = (a_line(value)[:_PHRASE].strip() for value in listed if isinstance(value, str))
        return distinct(text for text in texts if text)[:most]

    return read


def share(value: Any) -> float | None:
    """A share in [0, 1], from a number, a percentage or a text of either; None where it is none."""
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    try:
        number = float(text) if not isinstance(text, bool) else -1.0
    except (TypeError, ValueError):
        return None
    if not 0 <= number <= 100:
        return None
    return number / 100 if number > 1 else number


def sameness(content: str) -> str:
    return content.casefold().rstrip(" .!")


def something_left(items: Sequence[object]) -> None:
    """Refuse an answer of which every item is refused; a text stands for an item and says why.

    Raises
    ------
    ValueError      with the reasons, for the model to read
    """
    refused = [item for item in items if isinstance(item, str)]
    if items and len(refused) == len(items):
        raise ValueError(f"nothing of this can be used ({'; '.join(distinct(refused)[:5])})")


def listed_as(kind: type[BaseModel]) -> WithJsonSchema:
    """Schema of a list of some items, written out in place: a reference costs more than it saves."""
    schema = {name: part for name, part in kind.model_json_schema().items() if name != "title"}
    return WithJsonSchema({"type": "array", "items": schema})


def read_as(kind: type[BaseModel]) -> PlainValidator:
    """Reads an item of a list, or says in few words why it is refused."""

    def item_or_reason(value: Any, info: ValidationInfo) -> BaseModel | str:
        try:
            return kind.model_validate(value, context=info.context)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            return f"{'.'.join(map(str, first['loc'])) or 'item'}: {first['msg']}"

    return PlainValidator(item_or_reason, json_schema_input_type=kind)


# Bounds that are checked and not sent: of several such validators the last one comes first.
_SomeText = AfterValidator(lambda text: _not_blank(text))
Sentence = Annotated[str, _SomeText, BeforeValidator(shortened(SENTENCE)), BeforeValidator(cleaned_field)]
Content = Annotated[str, _SomeText, BeforeValidator(shortened(CONTENT)), BeforeValidator(a_line)]
_Guess = Annotated[str, BeforeValidator(shortened(_GUESS)), BeforeValidator(cleaned_field)]
_Reply = Annotated[str, _SomeText, BeforeValidator(shortened(REPLY)), BeforeValidator(cleaned_field)]
_Keywords = Annotated[list[str], BeforeValidator(phrases(MOST_KEYWORDS))]
Tags = Annotated[list[str], AfterValidator(lambda tags: _some(tags)), BeforeValidator(phrases(MOST_TAGS))]


def _not_blank(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def _some(values: list[T]) -> list[T]:
    if not values:
        raise ValueError("must not be empty")
    return values


class ForeseenItem(BaseModel):
    text: _Guess
    chance: Annotated[float | None, PlainValidator(share, json_schema_input_type=float)]


def _foreseen(values: Any) -> Any:
    """Messages with or without a chance, as far as they are any."""
    listed = values if isinstance(values, list) else [values]
    items = [{"text": value, "chance": None} if isinstance(value, str) else value for value in listed]
    dicts: list[dict[str, Any]] = [item for item in items if isinstance(item, dict)]
    told = [{"text": item.get("text"), "chance": item.get("chance")} for item in dicts]
    return [item for item in told if isinstance(item["text"], str) and item["text"].strip()][:MOST_FORESEEN]


_Foreseen = Annotated[
    list[ForeseenItem],
    AfterValidator(lambda items: _some(items)),
    BeforeValidator(_foreseen),
    listed_as(ForeseenItem),
]


class PredictOutput(BaseModel):
    predictions: _Foreseen
    needed_info: _Keywords


class RespondOutput(BaseModel):
    reply: _Reply  # first, so that it is what streams first
    predictions: _Foreseen
    needed_info: _Keywords


class DistilledItem(BaseModel):
    case: int
    fact: Sentence
    tags: Tags


def _cases(value: Any) -> Any:
    """Items that can be read; a wrong one costs nothing but itself."""
    items = value if isinstance(value, list) else []
    return [item for item in items if _is_valid(DistilledItem, item)]


def _is_valid(model: type[BaseModel], value: Any) -> bool:
    try:
        model.model_validate(value)
    except ValidationError:
        return False
    return True


class DistilOutput(BaseModel):
    facts: Annotated[list[DistilledItem], BeforeValidator(_cases), listed_as(DistilledItem)]


def lessons(output: DistilOutput, cases: int) -> tuple[Lesson | None, ...]:
    """The first fact of each case; None where there is none.

    Examples
    --------
    >>> written = {"facts": [{"case": 2, "fact": "Skates at weekends.", "tags": ["skating"]}, {"case": "?"}]}
    >>> lessons(DistilOutput.model_validate(written), 2)
    (None, Lesson(text='Skates at weekends.', tags=('skating',), habit=''))
    """
    found: dict[int, Lesson] = {}
    for item in output.facts:
        found.setdefault(item.case, Lesson(item.fact, tuple(item.tags)))
    return tuple(found.get(number) for number in range(1, cases + 1))


def predicted(answer: PredictOutput | RespondOutput) -> Prediction:
    """The prediction in an answer: the likeliest message, and the others.

    Chances that are not told share what the told ones leave; chances that add up to more than 1 are scaled down.

    Examples
    --------
    >>> answer = PredictOutput(predictions=[{"text": "Six?", "chance": 0.2}, " Five? "], needed_info=["adding"])
    >>> predicted(answer)
    Prediction(text='Five?', needed_info=('adding',), chance=0.8, alternatives=(Alternative(text='Six?', chance=0.2),))
    """
    told = [item.chance for item in answer.predictions if item.chance is not None]
    untold = len(answer.predictions) - len(told)
    rest = max(0.0, 1.0 - sum(told)) / untold if untold else 0.0
    chances = [rest if item.chance is None else item.chance for item in answer.predictions]
    most = max(1.0, sum(chances))
    foreseen = [(item.text, max(0.01, chance / most)) for item, chance in zip(answer.predictions, chances, strict=True)]
    (text, chance), *others = sorted(foreseen, key=lambda each: -each[1])
    alternatives = tuple(Alternative(*other) for other in others)
    return Prediction(text, tuple(answer.needed_info), chance=chance, alternatives=alternatives)

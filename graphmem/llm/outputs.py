"""Schemas that language model answers are validated against, and their conversion to our values.

What a message holds is read item by item. One item that is not valid, or whose quote does not stand in the
message, is refused and the others are kept; where all are refused the whole answer is, with the reasons, so that
the model is asked to repair it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from graphmem.llm.quotes import Passage
from graphmem.model import (
    Domain,
    EdgeType,
    Entity,
    EntityKind,
    Extract,
    Extraction,
    LedgerCategory,
    MemoryKind,
    Modality,
    Prediction,
    Relation,
    Reminder,
)
from graphmem.text.quoting import abridged, cleaned_quote

T = TypeVar("T")

__all__ = ["DistilOutput", "ExtractOutput", "PredictOutput", "RespondOutput", "extraction", "predicted"]
# The other names without an underscore are shared with `graphmem.llm.surprise_outputs`.

MAX_EXTRACTED = 12
"""Most memories, and most reminders, that are taken from one message."""
MAX_RELATIONS = 24
ENTITIES = 8
CONTENT = 500
"""Most characters of what is remembered."""
_PHRASE = 80
_NO_SLOT = {"", "null", "none", "n/a", "-"}


def distinct(words: list[str]) -> list[str]:
    return list(dict.fromkeys(words))


def cleaned_field(value: Any) -> Any:
    return cleaned_quote(value) if isinstance(value, str) else value


Sentence = Annotated[str, BeforeValidator(cleaned_field), Field(min_length=1, max_length=300)]
_Guess = Annotated[str, BeforeValidator(cleaned_field), Field(min_length=1, max_length=1000)]
_Reply = Annotated[str, BeforeValidator(cleaned_field), Field(min_length=1, max_length=8000)]
_Keyword = Annotated[str, BeforeValidator(cleaned_field), Field(min_length=1, max_length=80)]
_Keywords = Annotated[list[_Keyword], Field(min_length=1, max_length=8), AfterValidator(distinct)]
Tags = Annotated[list[_Keyword], Field(min_length=1, max_length=5), AfterValidator(distinct)]


class PredictOutput(BaseModel):
    """What the student says next."""

    prediction: _Guess
    needed_info: _Keywords


class RespondOutput(BaseModel):
    """The companion's message, and what the student says next."""

    reply: _Reply  # first, so that it is what streams first
    prediction: _Guess
    needed_info: _Keywords


class DistilOutput(BaseModel):
    """What was learned about the student."""

    fact: Sentence
    tags: Tags


def predicted(answer: PredictOutput | RespondOutput) -> Prediction:
    """The prediction in an answer.

    Examples
    --------
    >>> predicted(PredictOutput(prediction=" Five? ", needed_info=["adding", "adding"]))
    Prediction(text='Five?', needed_info=('adding',))
    """
    return Prediction(answer.prediction, tuple(answer.needed_info))


def _in_passage(quote: Any, info: ValidationInfo) -> tuple[int, int]:
    if not isinstance(info.context, Passage):
        raise TypeError("validate with the message as context: `context=Passage(text)`")
    span = info.context.find(quote) if isinstance(quote, str) else None
    if span is None:
        raise ValueError("does not stand in <message>: copy the words exactly as they are there, in one piece")
    return span


def _one_line(value: Any) -> Any:
    return " ".join(cleaned_quote(value).split()) if isinstance(value, str) else value


def _short(text: str) -> str:
    return text if len(text) <= CONTENT else abridged(text, CONTENT - len(" […]"))


def word(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _relation_type(value: Any) -> Any:
    return "_".join(value.upper().split()) if isinstance(value, str) else value


def _or_other(value: Any) -> Any:
    return value if value in list(Domain) else Domain.OTHER


def _or_thing(value: Any) -> Any:
    return value if value in list(EntityKind) else EntityKind.THING


def _slot(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    slot = _one_line(value).casefold()
    return None if slot in _NO_SLOT or len(slot) > _PHRASE else slot


def up_to(most: int) -> Callable[[Any], Any]:
    return lambda values: values[:most] if isinstance(values, list) else values


def or_empty(values: Any) -> Any:
    return [] if values is None else values


def _phrases(most: int) -> Callable[[Any], Any]:
    def chosen(values: Any) -> Any:
        if not isinstance(values, list):
            return or_empty(values)
        phrases = (_one_line(value) for value in values if isinstance(value, str))
        return _unlike((phrase for phrase in phrases if 0 < len(phrase) <= _PHRASE), str.casefold)[:most]

    return chosen


def _unlike(items: Iterable[T], key: Callable[[T], object]) -> list[T]:
    """The first item of each key."""
    firsts: dict[object, T] = {}
    for item in items:
        firsts.setdefault(key(item), item)
    return list(firsts.values())


def all_asked_for(schema: dict[str, Any]) -> None:
    """Have a model write every field, though an answer that lacks one is taken."""
    schema["required"] = list(schema["properties"])


def read_as(kind: type[BaseModel]) -> PlainValidator:
    """Reads an item of a list, or says in few words why it is refused."""

    def item_or_reason(value: Any, info: ValidationInfo) -> BaseModel | str:
        try:
            return kind.model_validate(value, context=info.context)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            return f"{'.'.join(map(str, first['loc'])) or 'item'}: {first['msg']}"

    return PlainValidator(item_or_reason, json_schema_input_type=kind)


_Quote = Annotated[tuple[int, int], PlainValidator(_in_passage, json_schema_input_type=str)]
Content = Annotated[str, BeforeValidator(_one_line), Field(min_length=1), AfterValidator(_short)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_About = Annotated[list[str], BeforeValidator(_phrases(3)), Field(max_length=3)]
_Triggers = Annotated[list[str], BeforeValidator(_phrases(8)), Field(max_length=8)]
_BetweenMemories = Literal[
    EdgeType.PRECEDES,
    EdgeType.CAUSES,
    EdgeType.ENABLES,
    EdgeType.RELATES_TO,
    EdgeType.CONTRADICTS,
    EdgeType.SUPPORTS,
    EdgeType.REFINES,
    EdgeType.ABSTRACTS,
    EdgeType.EVOKES,
    EdgeType.REMINDS_OF,
]


class EntityItem(BaseModel):
    """A person, place or thing; an animal or a group is a thing."""

    name: _Keyword
    kind: Annotated[EntityKind, BeforeValidator(_or_thing), BeforeValidator(word)]


_EntityItem = Annotated[EntityItem | str, read_as(EntityItem)]
# Of several such validators the last one comes first.
_Entities = Annotated[
    list[_EntityItem], BeforeValidator(up_to(ENTITIES)), BeforeValidator(or_empty), Field(max_length=ENTITIES)
]


class MemoryItem(BaseModel):
    """One thing worth remembering."""

    model_config = ConfigDict(json_schema_extra=all_asked_for)

    quote: _Quote
    content: Content
    modality: Annotated[Modality, BeforeValidator(word)]
    kind: Annotated[MemoryKind, BeforeValidator(word)]
    domain: Annotated[Domain, BeforeValidator(_or_other), BeforeValidator(word)] = Domain.OTHER
    confidence: Share = 0.7
    slot: Annotated[str | None, BeforeValidator(_slot)] = None
    entities: _Entities = []
    about: _About = []


class RelationItem(BaseModel):
    """How two memories hang together; null stands for what came just before the message."""

    source: int | None
    target: int | None
    type: Annotated[_BetweenMemories, BeforeValidator(_relation_type)]
    weight: Share


class LedgerItem(BaseModel):
    """One thing that must not be forgotten."""

    model_config = ConfigDict(json_schema_extra=all_asked_for)

    quote: _Quote
    category: Annotated[LedgerCategory, BeforeValidator(word)]
    content: Content
    summary: Content
    importance: Share
    triggers: _Triggers = []
    trigger_entities: _Triggers = []


_MemoryItem = Annotated[MemoryItem | str, read_as(MemoryItem)]
_RelationItem = Annotated[RelationItem | str, read_as(RelationItem)]
_LedgerItem = Annotated[LedgerItem | str, read_as(LedgerItem)]
_Relations = Annotated[
    list[_RelationItem],
    BeforeValidator(up_to(MAX_RELATIONS)),
    BeforeValidator(or_empty),
    Field(max_length=MAX_RELATIONS),
]
_Reminders = Annotated[
    list[_LedgerItem], BeforeValidator(up_to(MAX_EXTRACTED)), BeforeValidator(or_empty), Field(max_length=MAX_EXTRACTED)
]


class ItemwiseOutput(BaseModel):
    """An answer whose items are read one by one: refused where all of them are."""

    @property
    def items(self) -> list[BaseModel | str]:
        """Every item, or the reason why it is refused."""
        raise NotImplementedError

    @property
    def refused(self) -> list[str]:
        """Reasons of refused items, one for each."""
        return [item for item in self.items if isinstance(item, str)]

    @model_validator(mode="after")
    def _something_is_left(self) -> "ItemwiseOutput":
        if self.items and len(self.refused) == len(self.items):
            raise ValueError(f"nothing of this can be used ({'; '.join(distinct(self.refused)[:5])})")
        return self


class ExtractOutput(ItemwiseOutput):
    """What is worth remembering in a message."""

    model_config = ConfigDict(json_schema_extra=all_asked_for)

    memories: Annotated[list[_MemoryItem], BeforeValidator(up_to(MAX_EXTRACTED)), Field(max_length=MAX_EXTRACTED)]
    relations: _Relations = []
    reminders: _Reminders = []

    @property
    def items(self) -> list[BaseModel | str]:
        """Memories and reminders."""
        return [*self.memories, *self.reminders]


def extraction(reading: ExtractOutput) -> Extraction:
    """Convert a validated answer to values; a memory or relation that says the same as an earlier one is dropped.

    Parameters
    ----------
    reading : ExtractOutput               validated with the message as context, `context=Passage(text)`

    Returns
    -------
    Extraction                      relations only between memories it holds, by their places in it

    Source: spec 7.

    Examples
    --------
    >>> noted = {"quote": "i skate", "content": "The student skates.", "modality": "semantic", "kind": "trait"}
    >>> reading = ExtractOutput.model_validate({"memories": [noted, noted]}, context=Passage("Look, I skate!"))
    >>> [(memory.start, memory.end, memory.content) for memory in extraction(reading).memories]
    [(6, 13, 'The student skates.')]
    """
    kept: dict[str, Extract] = {}
    places: dict[int, int] = {}
    for i, noted in enumerate(reading.memories):
        if isinstance(noted, MemoryItem):
            key = sameness(noted.content)
            kept.setdefault(key, _extract(noted))
            places[i] = list(kept).index(key)
    relations = _unlike(_relations(reading.relations, places), lambda item: replace(item, weight=0.0))
    reminders = (_reminder(item) for item in reading.reminders if isinstance(item, LedgerItem))
    unlike = _unlike(reminders, lambda item: (item.category, sameness(item.content)))
    return Extraction(tuple(kept.values()), tuple(relations), tuple(unlike))


def sameness(content: str) -> str:
    return content.casefold().rstrip(" .!")


def _extract(noted: MemoryItem) -> Extract:
    entities = (Entity(item.name, item.kind) for item in noted.entities if isinstance(item, EntityItem))
    return Extract(
        *noted.quote,
        noted.content,
        noted.modality,
        noted.kind,
        noted.domain,
        noted.confidence,
        # Only what lasts can be replaced by what comes later.
        noted.slot if noted.kind is MemoryKind.TRAIT else None,
        tuple(_unlike(entities, lambda entity: entity.name.casefold())),
        tuple(noted.about),
    )


def _relations(items: Iterable[RelationItem | str], places: dict[int, int]) -> Iterator[Relation]:
    for item in items:
        if isinstance(item, str) or not {item.source, item.target} <= {None, *places}:
            continue
        source, target = (None if i is None else places[i] for i in (item.source, item.target))
        if source is not None and source != target:
            yield Relation(source, target, item.type, item.weight)
        elif target is not None and source is None:
            yield Relation(target, None, item.type, item.weight, reverse=True)


def _reminder(item: LedgerItem) -> Reminder:
    return Reminder(
        *item.quote,
        item.category,
        item.content,
        item.summary,
        item.importance,
        tuple(item.triggers),
        tuple(item.trigger_entities),
    )

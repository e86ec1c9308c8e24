"""Schemas of language model answers about surprising episodes, and their conversion to our values (spec 5).

As in `graphmem.llm.outputs` single belief updates and facts that are not valid, or whose quote does not stand in what
the student wrote, are refused and the others kept; where all are refused the whole answer is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
)
from rapidfuzz import fuzz, utils

from graphmem.llm.outputs import (
    Content,
    ItemwiseOutput,
    Sentence,
    Share,
    Tags,
    all_asked_for,
    cleaned_field,
    or_empty,
    read_as,
    sameness,
    up_to,
    word,
)
from graphmem.llm.quotes import Passage
from graphmem.model import Analysis, BeliefUpdate, Lesson, MemoryKind, Modality, Reflection, Strategy, Surprising
from graphmem.text.doc import Doc

__all__ = ["AnalyseOutput", "AskedEpisodes", "FollowUpOutput", "ReflectOutput", "analyses", "reflected"]

UPDATES = 6
"""Most belief updates that are taken from one episode."""
MAX_FACTS = 30
SAME_QUESTION_SCORE = 80.0
"""Fuzzy score from which on two questions are the same."""
_NOTHING = {"", "null", "none", "n/a", "-"}


@dataclass(frozen=True)
class AskedEpisodes:
    """Validation context of the answers: the episodes asked about."""

    asked: tuple[Surprising, ...]


@dataclass(frozen=True)
class _Episode:
    """One episode while its part of an answer is read: where quotes are looked up, and how many beliefs there are."""

    actual: Passage
    talk: Passage
    beliefs: int


def _in_actual(quote: Any, info: ValidationInfo) -> tuple[int, int]:
    span = _episode(info).actual.find(quote) if isinstance(quote, str) else None
    if span is None:
        raise ValueError("does not stand in <said>: copy the words exactly as they are there, in one piece")
    return span


def _in_talk(quote: Any, info: ValidationInfo) -> tuple[int, int]:
    span = _episode(info).talk.find(quote) if isinstance(quote, str) else None
    if span is None:
        raise ValueError("does not stand in <earlier> or <said>: copy the words exactly, in one piece")
    return span


def _episode(info: ValidationInfo) -> _Episode:
    if not isinstance(info.context, _Episode):
        raise TypeError("validate with the episodes as context: `context=AskedEpisodes(...)`")
    return info.context


def _belief(prior: Any, info: ValidationInfo) -> int | None:
    if prior is None:
        return None
    if not isinstance(prior, int) or isinstance(prior, bool) or not 0 <= prior < _episode(info).beliefs:
        raise ValueError("is no number of a belief in <beliefs>; null where the assumption is none of them")
    return prior


def _strategy(value: Any) -> Any:
    return "_".join(value.lower().replace("-", " ").split()) if isinstance(value, str) else value


def _or_none(value: Any) -> Any:
    return None if isinstance(value, str) and cleaned_field(value).casefold() in _NOTHING else value


def _asks(question: str) -> str:
    if not question.endswith(("?", "？", "؟", ";", "՞")):
        raise ValueError("must be a question that can be put to the student as it is")
    return question


_Explanation = Annotated[str, BeforeValidator(cleaned_field), Field(min_length=1, max_length=600)]
_Delta = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
_Question = Annotated[str, BeforeValidator(cleaned_field), Field(min_length=1, max_length=300), AfterValidator(_asks)]
_Procedure = Annotated[str, BeforeValidator(cleaned_field), Field(min_length=1, max_length=200)]


class UpdateItem(BaseModel):
    """A prior assumption that no longer holds, and what takes its place."""

    model_config = ConfigDict(json_schema_extra=all_asked_for)

    prior: Annotated[int | None, PlainValidator(_belief, json_schema_input_type=int | None)]
    assumption: Content
    quote: Annotated[tuple[int, int], PlainValidator(_in_actual, json_schema_input_type=str)]
    new: Content
    kind: Annotated[Literal[MemoryKind.TRAIT, MemoryKind.CONCEPT], BeforeValidator(word)]
    modality: Annotated[Modality, BeforeValidator(word)] = Modality.SEMANTIC
    delta: _Delta
    confidence: Share = 0.7
    evolution: bool = False


class FactItem(BaseModel):
    """One fact about the student, with the words it rests on."""

    quote: Annotated[tuple[int, int], PlainValidator(_in_talk, json_schema_input_type=str)]
    fact: Sentence
    tags: Tags


_Updates = Annotated[
    list[Annotated[UpdateItem | str, read_as(UpdateItem)]],
    BeforeValidator(up_to(UPDATES)),
    BeforeValidator(or_empty),
    Field(max_length=UPDATES),
]
_Facts = Annotated[
    list[Annotated[FactItem | str, read_as(FactItem)]],
    BeforeValidator(up_to(MAX_FACTS)),
    BeforeValidator(or_empty),
    Field(max_length=MAX_FACTS),
]


class AnalysisItem(BaseModel):
    """What one episode means."""

    model_config = ConfigDict(json_schema_extra=all_asked_for)

    explanation: _Explanation
    updates: _Updates = []
    strategy: Annotated[Strategy, BeforeValidator(_strategy)] = Strategy.NONE
    facts: _Facts = []


def _each_by_its_episode(values: Any, info: ValidationInfo) -> list[AnalysisItem]:
    if not isinstance(info.context, AskedEpisodes):
        raise TypeError("validate with the episodes as context: `context=AskedEpisodes(...)`")
    asked = info.context.asked
    if not isinstance(values, list) or len(values) != len(asked):
        raise ValueError(f"must be a list of exactly {len(asked)}, one for each episode, in their order")
    found = []
    for place, (value, episode) in enumerate(zip(values, asked, strict=True)):
        talk = Passage("\n".join((*episode.talk, episode.actual)))
        context = _Episode(Passage(episode.actual), talk, len(episode.beliefs))
        try:
            found.append(AnalysisItem.model_validate(value, context=context))
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "item"
            raise ValueError(f"episode {place}: {where}: {first['msg']}") from None
    return found


_Analyses = Annotated[
    list[AnalysisItem], PlainValidator(_each_by_its_episode, json_schema_input_type=list[AnalysisItem])
]


class AnalyseOutput(ItemwiseOutput):
    """What each episode means, in the order they were shown."""

    analyses: Annotated[
        list[AnalysisItem], PlainValidator(_each_by_its_episode, json_schema_input_type=list[AnalysisItem])
    ]

    @property
    def items(self) -> list[BaseModel | str]:
        """Updates and facts."""
        return [item for each in self.analyses for item in (*each.updates, *each.facts)]


def _new_questions(questions: list[str], info: ValidationInfo) -> list[str]:
    if not isinstance(info.context, AskedEpisodes):
        raise TypeError("validate with the episode as context: `context=AskedEpisodes((surprising,))`")
    (episode,) = info.context.asked
    known = [*episode.asked, *(sentence.text for sentence in Doc(episode.before).sentences)]
    chosen: list[str] = []
    for question in questions:
        if not any(
            fuzz.ratio(question, one, processor=utils.default_process) >= SAME_QUESTION_SCORE
            for one in [*known, *chosen]
        ):
            chosen.append(question)
    if not chosen:
        raise ValueError("every one of these was asked just before: ask something else")
    return chosen


class FollowUpOutput(BaseModel):
    """Questions to be put to the student."""

    questions: Annotated[
        list[_Question], BeforeValidator(up_to(3)), Field(min_length=1, max_length=3), AfterValidator(_new_questions)
    ]


class ReflectOutput(BaseModel):
    """What the companion takes from a surprise."""

    model_config = ConfigDict(json_schema_extra=all_asked_for)

    reflection: _Explanation
    procedure: Annotated[_Procedure | None, BeforeValidator(_or_none)] = None


def analyses(answer: AnalyseOutput, asked: Sequence[Surprising]) -> tuple[Analysis, ...]:
    """Convert an answer to values; one update a belief, one fact a saying, no more facts than are wanted.

    Parameters
    ----------
    answer : AnalyseOutput               validated with the episodes as context, `context=AskedEpisodes(asked)`
    asked : the episodes, in the same order

    Returns
    -------
    tuple of Analysis, one for each episode. What was held before is worded as the belief itself, where it is one

    Source: spec 5.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> from graphmem.model import Level
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> asked = (Surprising(Level.BOUNDARY, 0.7, 0.1, "Yes", "", "I skate!", at, most_facts=10),)
    >>> fact = {"quote": "i skate", "fact": "The student skates.", "tags": ["skating"]}
    >>> written = {"analyses": [{"explanation": "A hobby came up.", "facts": [fact, fact]}]}
    >>> analyses(AnalyseOutput.model_validate(written, context=AskedEpisodes(asked)), asked)[0].facts
    (Lesson(text='The student skates.', tags=('skating',)),)
    """
    return tuple(_analysis(each, episode) for each, episode in zip(answer.analyses, asked, strict=True))


def reflected(answer: ReflectOutput) -> Reflection:
    """Convert a reflection answer to a value.

    Examples
    --------
    >>> found = reflected(ReflectOutput(reflection="I took it for granted. ", procedure="None"))
    >>> found.text, found.procedure
    ('I took it for granted.', None)
    """
    return Reflection(answer.reflection, answer.procedure)


def _analysis(answer: AnalysisItem, episode: Surprising) -> Analysis:
    updates: dict[object, BeliefUpdate] = {}
    for item in answer.updates:
        if isinstance(item, UpdateItem):
            key = sameness(item.assumption) if item.prior is None else item.prior
            updates.setdefault(key, _update(item, episode))
    facts: dict[str, Lesson] = {}
    for fact in answer.facts:
        if isinstance(fact, FactItem):
            facts.setdefault(sameness(fact.fact), Lesson(fact.fact, tuple(fact.tags)))
    kept = tuple(facts.values())[: episode.most_facts]
    return Analysis(answer.explanation, tuple(updates.values()), answer.strategy, kept)


def _update(item: UpdateItem, episode: Surprising) -> BeliefUpdate:
    belief = None if item.prior is None else episode.beliefs[item.prior]
    return BeliefUpdate(
        None if belief is None else belief.id,
        item.assumption if belief is None else belief.content,
        item.new,
        *item.quote,
        item.kind,
        item.modality,
        item.delta,
        item.confidence,
        item.evolution,
    )

"""Schemas of language model answers about surprising episodes, and their conversion to our values (spec 5).

As in `graphmem.llm.outputs` single belief updates and facts that are not valid, or whose quote does not stand in what
the student wrote, are refused and the others kept; where all are refused the whole answer is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from rapidfuzz import fuzz, utils

from graphmem.llm.outputs import (
    Content,
    Sentence,
    Tags,
    bare,
    cleaned_field,
    listed_as,
    read_as,
    sameness,
    share,
    shortened,
    something_left,
)
from graphmem.llm.quotes import Passage
from graphmem.model import Analysis, BeliefUpdate, Lesson, Level, MemoryKind, Modality, Reflection, Strategy, Surprising
from graphmem.text.doc import Doc

__all__ = [
    "AnalyseOutput",
    "AskedEpisodes",
    "analysed_items",
    "analyses",
    "lean_analyses",
]

UPDATES = 6
"""Most belief updates that are taken from one episode."""
MAX_FACTS = 30
QUESTIONS = 3
"""Most questions to the student that are taken from one episode."""
SAME_QUESTION_SCORE = 80.0
"""Fuzzy score from which on two questions are the same."""
UNKNOWN_BEFORE = "Nothing was known of it."
"""What was held before, where it was none of the beliefs shown."""
CONFIDENT = 0.8
"""Confidence in what a student plainly says to hold now."""
UNSURE_DELTA = 0.5
"""How far confidence in what was held before falls, where a model does not say so."""
_NOTHING = {"", "null", "none", "n/a", "-"}
_QUESTION_MARKS = ("?", "？", "؟", ";", "՞")


@dataclass(frozen=True)
class AskedEpisodes:
    """Validation context of the answers: the episodes asked about."""

    asked: tuple[Surprising, ...]


@dataclass(frozen=True)
class _Episode:
    """One episode while its part of an answer is read: where quotes are looked up, and how many beliefs there are."""

    actual: Passage
    beliefs: int


def _in_actual(quote: Any, info: ValidationInfo) -> tuple[int, int]:
    span = _episode(info).actual.find(quote) if isinstance(quote, str) else None
    if span is None:
        raise ValueError("does not stand in <said>: copy the words exactly as they are there, in one piece")
    return span


def _episode(info: ValidationInfo) -> _Episode:
    if not isinstance(info.context, _Episode):
        raise TypeError("validate with the episodes as context: `context=AskedEpisodes(...)`")
    return info.context


_Strategies = Literal["none", "deep_extraction", "connect_prior", "ask_follow_up_questions", "self_reflect"]


def _belief(prior: Any, info: ValidationInfo) -> int | None:
    number = isinstance(prior, int) and not isinstance(prior, bool)
    return prior if number and 0 <= prior < _episode(info).beliefs else None


def _strategy(value: Any) -> Strategy:
    name = "_".join(bare(value).replace("-", " ").split())
    return Strategy(name) if name in list(Strategy) else Strategy.NONE


def _belief_kind(value: Any) -> MemoryKind:
    return MemoryKind.CONCEPT if bare(value) == MemoryKind.CONCEPT else MemoryKind.TRAIT


def _delta(value: Any) -> float:
    sign = -1.0 if isinstance(value, int | float) and value < 0 else 1.0
    told = share(abs(value) if isinstance(value, int | float) and not isinstance(value, bool) else value)
    return -UNSURE_DELTA if told is None else sign * told


def _listed(most: int) -> BeforeValidator:
    return BeforeValidator(lambda values: values[:most] if isinstance(values, list) else [])


def _or_none(value: Any) -> Any:
    told = isinstance(value, str) and cleaned_field(value).casefold() not in _NOTHING
    return value if told else None


def _asking(values: Any) -> list[str]:
    """Those of some values that are questions."""
    texts = [cleaned_field(value) for value in values if isinstance(value, str)] if isinstance(values, list) else []
    return [text for text in texts if text.endswith(_QUESTION_MARKS)]


_Explanation = Annotated[str, BeforeValidator(shortened(600)), BeforeValidator(cleaned_field)]
_Procedure = Annotated[str, BeforeValidator(shortened(200)), BeforeValidator(cleaned_field)]


class UpdateItem(BaseModel):
    prior: Annotated[int | None, PlainValidator(_belief, json_schema_input_type=int)]
    quote: Annotated[tuple[int, int], PlainValidator(_in_actual, json_schema_input_type=str)]
    new: Content
    kind: Annotated[MemoryKind, PlainValidator(_belief_kind, json_schema_input_type=Literal["trait", "concept"])]
    delta: Annotated[float, PlainValidator(_delta, json_schema_input_type=float)]
    evolution: Annotated[bool, PlainValidator(lambda value: value is True, json_schema_input_type=bool)]


class FactItem(BaseModel):
    quote: Annotated[tuple[int, int], PlainValidator(_in_actual, json_schema_input_type=str)]
    fact: Sentence
    tags: Tags


_Updates = Annotated[list[Annotated[UpdateItem | str, read_as(UpdateItem)]], _listed(UPDATES), listed_as(UpdateItem)]
_Facts = Annotated[list[Annotated[FactItem | str, read_as(FactItem)]], _listed(MAX_FACTS), listed_as(FactItem)]


class BoundaryItem(BaseModel):
    explanation: _Explanation
    facts: _Facts


class DissonanceItem(BoundaryItem):
    updates: _Updates
    strategy: Annotated[Strategy, PlainValidator(_strategy, json_schema_input_type=_Strategies)]


class AnalysisItem(DissonanceItem):
    questions: Annotated[list[str], BeforeValidator(_asking)]
    reflection: Annotated[_Explanation | None, BeforeValidator(_or_none)]
    procedure: Annotated[_Procedure | None, BeforeValidator(_or_none)]


def _each_by_its_episode(values: Any, info: ValidationInfo) -> list[AnalysisItem]:
    if not isinstance(info.context, AskedEpisodes):
        raise TypeError("validate with the episodes as context: `context=AskedEpisodes(...)`")
    asked = info.context.asked
    if not isinstance(values, list) or len(values) != len(asked):
        raise ValueError(f"must be a list of exactly {len(asked)}, one for each episode, in their order")
    found = []
    for place, (value, episode) in enumerate(zip(values, asked, strict=True)):
        context = _Episode(Passage(episode.actual), len(episode.beliefs))
        try:
            found.append(AnalysisItem.model_validate(_completed(value), context=context))
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "item"
            raise ValueError(f"episode {place}: {where}: {first['msg']}") from None
    return found


def _completed(value: Any) -> Any:
    nothing: dict[str, Any] = {
        "updates": [],
        "strategy": "none",
        "facts": [],
        "questions": [],
        "reflection": None,
        "procedure": None,
    }
    return nothing | value if isinstance(value, dict) else value


class AnalyseOutput(BaseModel):
    analyses: Annotated[list[AnalysisItem], PlainValidator(_each_by_its_episode), listed_as(AnalysisItem)]

    @model_validator(mode="after")
    def _something_is_left(self) -> Self:
        something_left(analysed_items(self))
        return self


# At a boundary nothing that was believed is in question. A docstring would be sent to the model.
class BoundaryOutput(AnalyseOutput):
    analyses: Annotated[list[AnalysisItem], PlainValidator(_each_by_its_episode), listed_as(BoundaryItem)]


class DissonanceOutput(AnalyseOutput):
    analyses: Annotated[list[AnalysisItem], PlainValidator(_each_by_its_episode), listed_as(DissonanceItem)]


def lean_analyses(episodes: Sequence[Surprising]) -> type[AnalyseOutput] | None:
    """Schema that asks for less than everything, where no episode is surprising enough; else None (spec 5)."""
    levels = {episode.level for episode in episodes}
    if Level.PARADIGM_SHIFT in levels:
        return None
    return DissonanceOutput if Level.COGNITIVE_DISSONANCE in levels else BoundaryOutput


def analysed_items(output: AnalyseOutput) -> list[UpdateItem | FactItem | str]:
    """Updates and facts, or the reason why one is refused."""
    return [item for each in output.analyses for item in (*each.updates, *each.facts)]


def _new_questions(questions: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    chosen: list[str] = []
    for question in questions:
        if not any(
            fuzz.ratio(question, one, processor=utils.default_process) >= SAME_QUESTION_SCORE
            for one in (*known, *chosen)
        ):
            chosen.append(question)
    return tuple(chosen[:QUESTIONS])


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
    (Lesson(text='The student skates.', tags=('skating',), habit=''),)
    """
    found: list[Analysis] = []
    for each, episode in zip(answer.analyses, asked, strict=True):
        questions = [question for analysis in found for question in analysis.questions]
        found.append(_analysis(each, episode, questions))
    return tuple(found)


def _analysis(answer: AnalysisItem, episode: Surprising, others: Sequence[str]) -> Analysis:
    updates: dict[object, BeliefUpdate] = {}
    for item in answer.updates:
        if isinstance(item, UpdateItem):
            updates.setdefault(sameness(item.new) if item.prior is None else item.prior, _update(item, episode))
    facts: dict[str, Lesson] = {}
    for fact in answer.facts:
        if isinstance(fact, FactItem):
            facts.setdefault(sameness(fact.fact), Lesson(fact.fact, tuple(fact.tags)))
    kept = tuple(facts.values())[: episode.most_facts]
    shifted = episode.level is Level.PARADIGM_SHIFT
    known = [*episode.asked, *others, *(sentence.text for sentence in Doc(episode.before).sentences)]
    return Analysis(
        answer.explanation,
        tuple(updates.values()),
        answer.strategy,
        kept,
        _new_questions(answer.questions, known) if shifted else (),
        Reflection(answer.reflection, answer.procedure) if shifted and answer.reflection else None,
    )


def _update(item: UpdateItem, episode: Surprising) -> BeliefUpdate:
    belief = None if item.prior is None else episode.beliefs[item.prior]
    modality = Modality.SEMANTIC if item.kind is MemoryKind.TRAIT else Modality.PROCEDURAL
    start, end = item.quote
    return BeliefUpdate(
        None if belief is None else belief.id,
        UNKNOWN_BEFORE if belief is None else belief.content,
        item.new,
        start,
        end,
        item.kind,
        modality,
        item.delta,
        CONFIDENT,
        item.evolution,
    )

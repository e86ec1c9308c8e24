"""Results of operations, typed; the fields of each class are what is asked for."""

from datetime import datetime
from enum import Enum
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_serializer, field_validator
from pydantic.alias_generators import to_camel

from graphmem.model import (
    Aspect,
    CompressionTrigger,
    ConcernKind,
    DetectionContext,
    Domain,
    EdgeType,
    JobState,
    LedgerCategory,
    Level,
    MemoryKind,
    MemoryRole,
    Modality,
    QuestionState,
    Reliability,
    Resolution,
    Severity,
    SourceKind,
    UncertaintyState,
    UncertaintyType,
)


class Result(BaseModel):
    """Part of an answer; its fields are what is asked for."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    @field_validator("*", mode="before")
    @classmethod
    def _by_name(cls, value: Any, info: ValidationInfo) -> Any:
        """Take a value of an enum by its name, as GraphQL has it."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        for each in (annotation, *get_args(annotation)):
            if isinstance(value, str) and isinstance(each, type) and issubclass(each, Enum):
                return each[value]
        return value

    @field_serializer("*")
    def _as_name(self, value: Any) -> Any:
        return value.name if isinstance(value, Enum) else value


class CompanionResult(Result):
    """The companion assigned to a student: who it is, and what it knows best."""

    name: str
    persona: str = Field(repr=False)
    expertise: tuple[str, ...]


class StudentResult(Result):
    """A student; `display_name` and `companion` are None while locked."""

    id: str
    created_at: datetime
    locked: bool
    tolerance: float
    display_name: str | None
    companion: CompanionResult | None = None
    memory_count: int
    waiting_jobs: int
    recoveries: tuple[datetime, ...] = ()
    time_zone: str | None = None


class SessionResult(Result):
    """An open session; it ends at `expires_at` if it is not used any more, and at `ends_at` at the latest."""

    token: str = Field(repr=False)
    expires_at: datetime
    ends_at: datetime


class SourceResult(Result):
    """Source of a memory."""

    id: str
    kind: SourceKind
    ref: str | None
    at: datetime


class EdgeResult(Result):
    """A relationship of the memory graph."""

    type: EdgeType
    weight: float
    from_id: str
    to_id: str
    to_label: str
    created_at: datetime
    reliability: Reliability


class MemoryResult(Result):
    """A memory; `content`, `speaker` and `quote` are None without the student's session."""

    id: str
    modality: Modality
    kind: MemoryKind
    domain: Domain
    content: str | None = Field(None, repr=False)
    speaker: str | None = Field(None, repr=False)
    quote: str | None = Field(None, repr=False)
    role: MemoryRole
    aspect: Aspect | None
    gravity: float
    salience: float
    confidence: float
    strength: float
    valence: float
    importance: float
    surprise: float | None
    surprise_level: Level | None
    flashbulb: bool
    consolidated: bool
    in_ledger: bool
    snr: int
    reliability: Reliability
    reinforcement_count: int
    access_count: int
    timestamp: datetime
    last_accessed: datetime
    valid_at: datetime | None
    invalid_at: datetime | None
    content_hash: str
    merged_count: int
    sources: tuple[SourceResult, ...]


class MemoryPageResult(Result):
    """Some memories, how many there are, and where the next page begins."""

    items: tuple[MemoryResult, ...]
    total: int
    next: str | None


class NeighbourhoodResult(Result):
    """Memories and the edges between them."""

    memories: tuple[MemoryResult, ...]
    edges: tuple[EdgeResult, ...]


class RecalledResult(Result):
    """A memory that fits, how well, and why it is there."""

    memory: MemoryResult
    weight: float
    why: tuple[str, ...]
    source_refs: tuple[str, ...]


class FactResult(Result):
    """Fact learned from a violated expectation."""

    id: str
    text: str = Field(repr=False)
    tags: tuple[str, ...] = Field(repr=False)
    created_at: datetime
    why: tuple[str, ...] = ()


class LedgerEntryResult(Result):
    """Entry of the ledger of information that must not be forgotten."""

    id: str
    category: LedgerCategory
    content: str | None = Field(repr=False)
    summary: str | None = Field(repr=False)
    importance: float
    triggers: tuple[str, ...] | None = Field(repr=False)
    trigger_entities: tuple[str, ...] | None = Field(repr=False)
    trigger_threshold: float
    is_active: bool
    expires_at: datetime | None
    created_at: datetime
    given_by: SourceKind | None = None
    why: tuple[str, ...] = ()


class RelationshipSideResult(Result):
    """A relationship in doubt; the side's memory is the one it starts from."""

    type: EdgeType
    to_id: str


class UncertaintyResult(Result):
    """A doubt about a memory, or between two; its texts are None without the student's session."""

    id: str
    type: UncertaintyType
    severity: Severity
    detection_context: DetectionContext
    a: MemoryResult
    b: MemoryResult | None
    a_relationship: RelationshipSideResult | None
    b_relationship: RelationshipSideResult | None
    reasoning: str | None = Field(repr=False)
    temporal_signal: bool
    surface_context: str | None = Field(repr=False)
    state: UncertaintyState
    resolution: Resolution | None
    resolution_detail: str | None = Field(repr=False)
    surfaced_count: int
    created_at: datetime
    resolved_at: datetime | None


class ActionCheckResult(Result):
    """Advice on an action that rests on memories."""

    proceed: bool
    confidence: float
    reliability_warning: str | None
    question: str | None = Field(repr=False)
    unreliable: tuple[MemoryResult, ...]


class ContextMessageResult(Result):
    """A message of a conversation as frameworks for language models take it."""

    role: str
    content: str = Field(repr=False)


class ContextResult(Result):
    """Context for answering a message: a block for the companion's prompt, and the items in it."""

    prompt: str = Field(repr=False)
    messages: tuple[ContextMessageResult, ...] = ()
    tokens: int
    memories: tuple[RecalledResult, ...]
    ledger: tuple[LedgerEntryResult, ...]
    facts: tuple[FactResult, ...]
    weave: tuple[UncertaintyResult, ...] = ()


class PredictionResult(Result):
    """Prediction of the student's next message, and the information needed to answer it."""

    text: str = Field(repr=False)
    needed_info: tuple[str, ...] = Field(repr=False)


class AttentionResult(Result):
    """One feature's part in an importance score."""

    feature: str
    value: float
    weight: float


class RecalledTurnResult(Result):
    """An earlier turn of the session that fits the message."""

    seq: int
    text: str = Field(repr=False)
    reply: str = Field(repr=False)
    similarity: float


class PromptUsageResult(Result):
    """Model calls for one kind of question to a mind."""

    prompt: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float


class UsageResult(Result):
    """Model calls, their tokens, and what they cost in US dollars."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    prompts: tuple[PromptUsageResult, ...] = ()


class ServiceTokenResult(Result):
    """A bearer token that lives long and can be revoked; the token itself is kept nowhere."""

    id: str
    name: str
    role: str
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    revoked_at: datetime | None


class ErasedResult(Result):
    """How much was deleted of a student."""

    memories: int
    edges: int
    ledger: int
    facts: int
    uncertainties: int
    jobs: int
    other: int


class IntegrityResult(Result):
    """What was altered by hand in the database: ids, and the properties as id.property."""

    intact: bool
    hash: str
    altered: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    fields: tuple[str, ...]


class ImportedStudentResult(Result):
    """An exported student that was made anew."""

    student_id: str
    nodes: int
    edges: int
    left_out: int
    repeated: bool


class LossResult(Result):
    """What there is less of one modality than before."""

    modality: Modality
    nodes: int
    entropy: float
    gravity: float
    edge_weight: float


class CompressionResult(Result):
    """A compression that was done, or would be: then without id, time and hash."""

    id: str | None
    at: datetime | None
    trigger: CompressionTrigger
    nodes_before: int
    nodes_after: int
    edges_before: int
    edges_after: int
    pruned: int
    merged: int
    cycles: int
    loss: tuple[LossResult, ...]
    integrity_hash: str | None


class ConceptResult(Result):
    """A concept of the institution's world."""

    id: str
    name: str
    aliases: tuple[str, ...]
    description: str | None
    domain: str | None
    grade: int | None
    misconceptions: tuple[str, ...]


class ConceptPageResult(Result):
    """Some concepts, how many there are in all, and where the next page begins."""

    items: tuple[ConceptResult, ...]
    total: int
    next: str | None


class KnownResult(Result):
    """A concept that a student knows."""

    concept: ConceptResult
    attitude: float
    familiarity: float
    notes: str | None
    since: datetime


class ProgressResult(Result):
    """How a student is getting on with a known concept."""

    concept: ConceptResult
    familiarity: float
    trend: float
    last_practised: datetime | None
    due_at: datetime | None
    fades_at: datetime | None
    evidence: tuple[str, ...]


class ProgressPageResult(Result):
    """Progress with some concepts, how many there are in all, and where the next page begins."""

    items: tuple[ProgressResult, ...]
    total: int
    next: str | None


class OverlayPageResult(Result):
    """Some known concepts, how many there are in all, all edges found, and where the next page begins."""

    items: tuple[KnownResult, ...]
    total: int
    edge_ids: tuple[str, ...]
    next: str | None


class ImportedResult(Result):
    """How much an import held."""

    concepts: int
    edges: int


class JobResult(Result):
    """A piece of background work."""

    id: str
    kind: str
    student_id: str
    state: JobState
    attempts: int
    error: str | None
    created_at: datetime
    run_after: datetime | None


class JobPageResult(Result):
    """Some jobs, how many there are in all, and where the next page begins."""

    items: tuple[JobResult, ...]
    total: int
    next: str | None


class ConcernResult(Result):
    """Danger that a message tells of; nothing of what was said."""

    id: str
    kind: ConcernKind
    urgency: int
    about: str
    at: datetime
    help: str
    person_should_look: bool
    corrected_at: datetime | None


class TurnResult(Result):
    """A message answered: what was expected, how surprising it was, what was learned and recalled."""

    turn_id: str
    reply: str = Field(repr=False)
    degraded: bool
    matched: bool | None
    match: float | None
    parrot_match: float | None
    learned_fact: FactResult | None
    surprise: float
    level: Level
    importance: float
    threshold: float
    attention: tuple[AttentionResult, ...]
    recalled: tuple[RecalledResult, ...]
    ledger: tuple[LedgerEntryResult, ...]
    recalled_facts: tuple[FactResult, ...]
    recalled_turns: tuple[RecalledTurnResult, ...]
    weave: tuple[UncertaintyResult, ...] = ()
    next_prediction: PredictionResult
    jobs: tuple[JobResult, ...]
    usage: UsageResult
    repeated: bool
    kept: bool | None = None
    concern: ConcernResult | None


class QuestionResult(Result):
    """Question that the companion wants to ask the student because of a surprise."""

    id: str
    text: str = Field(repr=False)
    created_at: datetime
    state: QuestionState


class AnalysisResult(Result):
    """What an analysis found: rows of structure and numbers."""

    rows: list[dict[str, Any]]
    truncated: bool


class TurnEventResult(Result):
    """A piece of the reply while it is written; in the last event the whole turn."""

    token: str | None = Field(repr=False)
    turn: TurnResult | None


class MemoryEventResult(Result):
    """Something that happened to a memory; of a concern `memory_id` is its own id."""

    kind: str
    memory_id: str
    at: datetime

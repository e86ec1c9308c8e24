"""The contract's types of memories, the ledger, doubts and jobs, field by field."""

from datetime import datetime
from typing import Self

import strawberry

from graphmem import model
from graphmem.errors import Locked
from graphmem.flows import memories
from graphmem.flows import surprise as surprise_response
from graphmem.flows.gravity import gravity_now
from graphmem.jobs.admin import count_jobs
from graphmem.store.memories import Filter
from graphmem_api.access import Context, in_session

for enum in (
    model.DetectionContext,
    model.Domain,
    model.EdgeType,
    model.JobState,
    model.LedgerCategory,
    model.MemoryKind,
    model.Modality,
    model.QuestionState,
    model.Reliability,
    model.Resolution,
    model.Severity,
    model.SourceKind,
    model.Strategy,
    model.UncertaintyState,
    model.UncertaintyType,
    model.Verdict,
):
    strawberry.enum(enum)
strawberry.enum(model.Level, name="SurpriseLevel")

ID = strawberry.ID
Info = strawberry.Info[Context, None]


@strawberry.type
class Source:
    """Where a memory came from."""

    id: ID
    kind: model.SourceKind
    ref: str | None
    at: datetime

    @classmethod
    def of(cls, source: model.Source) -> Self:
        return cls(id=ID(source.id), kind=source.kind, ref=source.ref, at=source.at)


@strawberry.type
class BeliefUpdate:
    """What was believed before a surprise, and after it; ids where it is remembered."""

    prior_id: ID | None
    new_id: ID
    prior_assumption: str
    new_understanding: str
    confidence_delta: float

    @classmethod
    def of(cls, revision: model.Revision) -> Self:
        return cls(
            prior_id=None if revision.prior_id is None else ID(revision.prior_id),
            new_id=ID(revision.new_id),
            prior_assumption=revision.prior_assumption,
            new_understanding=revision.new_understanding,
            confidence_delta=revision.confidence_delta,
        )


@strawberry.type
class SurpriseAction:
    """Something a surprise led to."""

    kind: str
    fact_count: int | None
    episode_ids: list[ID] | None
    questions: list[str] | None
    reflection: str | None

    @classmethod
    def of(cls, action: model.SurpriseAction) -> Self:
        return cls(
            kind=action.kind,
            fact_count=action.fact_count,
            episode_ids=[ID(memory_id) for memory_id in action.episode_ids],
            questions=list(action.questions),
            reflection=action.reflection,
        )


@strawberry.type
class SurpriseResponse:
    """What a surprise meant and what it led to; `offline` where the offline mind judged, as past a budget."""

    level: model.Level
    signal: float
    explanation: str
    strategy: model.Strategy
    belief_updates: list[BeliefUpdate]
    actions: list[SurpriseAction]
    offline: bool

    @classmethod
    def of(cls, response: model.SurpriseResponse) -> Self:
        return cls(
            level=response.level,
            signal=response.signal,
            explanation=response.explanation,
            strategy=response.strategy,
            belief_updates=[BeliefUpdate.of(revision) for revision in response.revisions],
            actions=[SurpriseAction.of(action) for action in response.actions],
            offline=response.offline,
        )


@strawberry.type
class Question:
    """What the companion wants to ask the student since a surprise."""

    id: ID
    text: str
    created_at: datetime
    state: model.QuestionState

    @classmethod
    def of(cls, question: model.Question) -> Self:
        return cls(id=ID(question.id), text=question.text, created_at=question.created_at, state=question.state)


@strawberry.type
class Edge:
    """A relationship of the memory graph."""

    type: model.EdgeType
    weight: float
    from_id: ID
    to_id: ID
    to_label: str
    created_at: datetime

    @classmethod
    def of(cls, edge: model.Edge) -> Self:
        return cls(
            type=edge.type,
            weight=edge.weight,
            from_id=ID(edge.from_id),
            to_id=ID(edge.to_id),
            to_label=edge.to_label,
            created_at=edge.created_at,
        )


@strawberry.type
class Memory:
    """Something remembered; gravity is of now."""

    who: strawberry.Private[model.Who]
    opened: strawberry.Private[str | None]
    role: strawberry.Private[model.MemoryRole]
    id: ID
    modality: model.Modality
    kind: model.MemoryKind
    domain: model.Domain
    gravity: float
    salience: float
    confidence: float
    strength: float
    valence: float
    importance: float
    surprise: float | None
    surprise_level: model.Level | None
    flashbulb: bool
    consolidated: bool
    in_ledger: bool
    snr: int
    reliability: model.Reliability
    reinforcement_count: int
    access_count: int
    timestamp: datetime
    last_accessed: datetime
    valid_at: datetime | None
    invalid_at: datetime | None
    content_hash: str
    merged_count: int

    @classmethod
    def of(cls, who: model.Who, memory: model.Memory, now: datetime) -> Self:
        return cls(
            who=who,
            opened=memory.content,
            role=memory.role,
            id=ID(memory.id),
            modality=memory.modality,
            kind=memory.kind,
            domain=memory.domain,
            gravity=gravity_now(memory, now),
            salience=memory.salience,
            confidence=memory.confidence,
            strength=memory.strength,
            valence=memory.valence,
            importance=memory.importance,
            surprise=memory.surprise,
            surprise_level=memory.surprise_level,
            flashbulb=memory.flashbulb,
            consolidated=memory.consolidated,
            in_ledger=memory.in_ledger,
            snr=memory.snr,
            reliability=memory.reliability,
            reinforcement_count=memory.reinforcement_count,
            access_count=memory.access_count,
            timestamp=memory.timestamp,
            last_accessed=memory.last_accessed,
            valid_at=memory.valid_at,
            invalid_at=memory.invalid_at,
            content_hash=memory.content_hash,
            merged_count=memory.merged_count,
        )

    @strawberry.field(description="What is remembered; null with LOCKED without the student's session.")
    async def content(self) -> str | None:
        if self.opened is None:
            raise Locked
        return self.opened

    @strawberry.field(
        description="What the surprise led to that this episode begins with; null for any other memory, and with "
        "LOCKED without the student's session."
    )
    async def surprise_response(self, info: Info) -> SurpriseResponse | None:
        if self.role is not model.MemoryRole.EPISODE:
            return None
        if self.opened is None:
            raise Locked
        found = await surprise_response.response_of(info.context.gm, in_session(info, self.who.student_id), self.id)
        return None if found is None else SurpriseResponse.of(found)

    @strawberry.field(description="Where it came from, oldest first.")
    async def sources(self, info: Info) -> list[Source]:
        return [Source.of(s) for s in await memories.list_sources(info.context.gm, self.who, self.id)]

    @strawberry.field(description="Its edges, strongest first.")
    async def edges(self, info: Info, type: model.EdgeType | None = None, min_weight: float | None = 0.0) -> list[Edge]:
        found = await memories.list_edges(info.context.gm, self.who, self.id, type, min_weight or 0.0)
        return [Edge.of(edge) for edge in found]


@strawberry.type
class Recalled:
    """A memory that fits, how well, and why it is there."""

    memory: Memory
    weight: float
    why: list[str]
    source_refs: list[str]

    @classmethod
    def of(cls, who: model.Who, recalled: model.Recalled, now: datetime) -> Self:
        return cls(
            memory=Memory.of(who, recalled.memory, now),
            weight=recalled.weight,
            why=list(recalled.why),
            source_refs=list(recalled.memory.source_refs),
        )


async def _counted_memories(root: "MemoryPage", info: Info) -> int:
    return await memories.count_memories(info.context.gm, root.who, root.wanted)


@strawberry.type
class MemoryPage:
    """Some memories, how many there are, and where the next page begins."""

    who: strawberry.Private[model.Who]
    wanted: strawberry.Private[Filter]
    items: list[Memory]
    # Counted only where it is asked for.
    total: int = strawberry.field(resolver=_counted_memories)
    next: str | None


@strawberry.type
class Graph:
    """Memories and the edges between them."""

    memories: list[Memory]
    edges: list[Edge]


@strawberry.type
class LedgerEntry:
    """What must not be forgotten."""

    id: ID
    category: model.LedgerCategory
    content: str | None
    summary: str | None
    importance: float
    triggers: list[str] | None
    trigger_entities: list[str] | None
    trigger_threshold: float
    is_active: bool
    expires_at: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, entry: model.LedgerEntry) -> Self:
        return cls(
            id=ID(entry.id),
            category=entry.category,
            content=entry.content,
            summary=entry.summary,
            importance=entry.importance,
            triggers=list(entry.triggers),
            trigger_entities=list(entry.trigger_entities),
            trigger_threshold=entry.trigger_threshold,
            is_active=entry.is_active,
            expires_at=entry.expires_at,
            created_at=entry.created_at,
        )


@strawberry.type
class Uncertainty:
    """A doubt about one memory, or between two."""

    id: ID
    type: model.UncertaintyType
    severity: model.Severity
    detection_context: model.DetectionContext
    a: Memory
    b: Memory | None
    reasoning: str | None
    temporal_signal: bool
    surface_context: str | None
    state: model.UncertaintyState
    resolution: model.Resolution | None
    resolution_detail: str | None
    surfaced_count: int
    created_at: datetime
    resolved_at: datetime | None


@strawberry.type
class Job:
    """A piece of work that follows a turn; its id is unique within the institution."""

    id: ID
    kind: str
    student_id: ID
    state: model.JobState
    attempts: int
    error: str | None
    created_at: datetime
    run_after: datetime | None

    @classmethod
    def of(cls, job: model.Job) -> Self:
        return cls(
            id=ID(job.ref),
            kind=job.kind,
            student_id=ID(job.student_id),
            state=job.state,
            attempts=job.attempts,
            error=job.error,
            created_at=job.created_at,
            run_after=job.run_after,
        )


async def _counted_jobs(root: "JobPage", info: Info) -> int:
    return await count_jobs(info.context.gm, *root.owner, root.state)


@strawberry.type
class JobPage:
    """Some jobs, how many there are in all, and where the next page begins."""

    owner: strawberry.Private[tuple[str, str | None]]
    state: strawberry.Private[model.JobState | None]
    items: list[Job]
    # Counted only where it is asked for.
    total: int = strawberry.field(resolver=_counted_jobs)
    next: str | None

"""The contract's types of memories, the ledger, doubts and jobs, field by field.

A turn speaks of them; until memories are formed its lists of them are empty.
"""

from datetime import datetime

import strawberry

from graphmem import model

for enum in (
    model.DetectionContext,
    model.EdgeType,
    model.JobState,
    model.LedgerCategory,
    model.MemoryKind,
    model.Modality,
    model.Reliability,
    model.Resolution,
    model.Severity,
    model.SourceKind,
    model.Strategy,
    model.UncertaintyState,
    model.UncertaintyType,
):
    strawberry.enum(enum)
strawberry.enum(model.Level, name="SurpriseLevel")

ID = strawberry.ID


@strawberry.type
class Source:
    """Where a memory came from."""

    id: ID
    kind: model.SourceKind
    ref: str | None
    at: datetime


@strawberry.type
class BeliefUpdate:
    """What was believed before a surprise, and after it."""

    prior_assumption: str
    new_understanding: str
    confidence_delta: float


@strawberry.type
class SurpriseAction:
    """Something a surprise led to."""

    kind: str
    fact_count: int | None
    episode_ids: list[ID] | None
    questions: list[str] | None
    reflection: str | None


@strawberry.type
class SurpriseResponse:
    """What a surprise meant and what it led to."""

    level: model.Level
    signal: float
    explanation: str
    strategy: model.Strategy
    belief_updates: list[BeliefUpdate]
    actions: list[SurpriseAction]


@strawberry.type
class Memory:
    """Something remembered; gravity is of now."""

    id: ID
    modality: model.Modality
    kind: model.MemoryKind
    content: str | None
    gravity: float
    salience: float
    confidence: float
    strength: float
    valence: float
    importance: float
    surprise: float | None
    surprise_level: model.Level | None
    surprise_response: SurpriseResponse | None
    flashbulb: bool
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
    sources: list[Source]


@strawberry.type
class Recalled:
    """A memory that fits, how well, and why it is there."""

    memory: Memory
    weight: float
    why: list[str]
    source_refs: list[str]


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
    """A piece of work that follows a turn."""

    id: ID
    kind: str
    student_id: ID
    state: model.JobState
    attempts: int
    error: str | None
    created_at: datetime
    run_after: datetime | None

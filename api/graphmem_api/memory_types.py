"""The contract's types of memories, the ledger, doubts and jobs, field by field."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Self

import strawberry

from graphmem import model
from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows import memories
from graphmem.flows.gravity import gravity_now
from graphmem.flows.uncertainty import memories_of_uncertainties
from graphmem.jobs.admin import count_jobs
from graphmem.store.memories import Filter
from graphmem_api.access import Info, in_session
from graphmem_api.arguments import ID, argument
from graphmem_api.enums import register_enums

# Before the classes, which refer to them.
register_enums()


@strawberry.type(name="Source")
class SourceType:
    """Source of a memory."""

    id: ID = strawberry.field(description="Id within the student.")
    kind: model.SourceKind = strawberry.field(description="Kind of source.")
    ref: str | None = strawberry.field(description="Id given by the app: the turnId, or the ref of the observation.")
    at: datetime = strawberry.field(description="When it was said or observed (UTC).")

    @classmethod
    def of(cls, source: model.Source) -> Self:
        return cls(id=ID(source.id), kind=source.kind, ref=source.ref, at=source.at)


@strawberry.type(name="BeliefUpdate")
class BeliefUpdateType:
    """Revision of a belief by a surprise: the prior and the new one, with the ids of their memories."""

    prior_id: ID | None = strawberry.field(description="Id of the memory that no longer holds, if there is one.")
    new_id: ID = strawberry.field(description="Id of the memory that holds now.")
    prior_assumption: str = strawberry.field(description="What was believed.")
    new_understanding: str = strawberry.field(description="What is so now.")
    confidence_delta: float = strawberry.field(
        description="Confidence of the new belief minus that of the old one, -1 to 1."
    )

    @classmethod
    def of(cls, revision: model.Revision) -> Self:
        return cls(
            prior_id=None if revision.prior_id is None else ID(revision.prior_id),
            new_id=ID(revision.new_id),
            prior_assumption=revision.prior_assumption,
            new_understanding=revision.new_understanding,
            confidence_delta=revision.confidence_delta,
        )


@strawberry.type(name="SurpriseAction")
class SurpriseActionType:
    """Something a surprise led to."""

    kind: str = strawberry.field(description="Kind of action.")
    fact_count: int | None = strawberry.field(description="Facts that were learned, 0 to 30.")
    episode_ids: list[ID] | None = strawberry.field(description="Ids of the episodes concerned.")
    questions: list[str] | None = strawberry.field(description="Questions to the student.")
    reflection: str | None = strawberry.field(description="Lesson for the companion itself.")

    @classmethod
    def of(cls, action: model.SurpriseAction) -> Self:
        return cls(
            kind=action.kind,
            fact_count=action.fact_count,
            episode_ids=[ID(memory_id) for memory_id in action.episode_ids],
            questions=list(action.questions),
            reflection=action.reflection,
        )


@strawberry.type(name="SurpriseResponse")
class SurpriseResponseType:
    """Analysis of a surprise and the response to it; `offline` if the offline mind judged, as past a budget."""

    level: model.Level = strawberry.field(description="Level of the surprise when it was analysed.")
    signal: float = strawberry.field(description="Surprise signal, 0 to 1.")
    explanation: str = strawberry.field(description="Which prediction failed, and why.")
    strategy: model.Strategy = strawberry.field(description="What the surprise suggests to do.")
    belief_updates: list[BeliefUpdateType] = strawberry.field(description="Beliefs that changed.")
    actions: list[SurpriseActionType] = strawberry.field(description="What was done.")
    offline: bool = strawberry.field(description="Whether the offline mind analysed it.")

    @classmethod
    def of(cls, response: model.SurpriseResponse) -> Self:
        return cls(
            level=response.level,
            signal=response.signal,
            explanation=response.explanation,
            strategy=response.strategy,
            belief_updates=[BeliefUpdateType.of(revision) for revision in response.revisions],
            actions=[SurpriseActionType.of(action) for action in response.actions],
            offline=response.offline,
        )


@strawberry.type(name="Question")
class QuestionType:
    """Question that the companion wants to ask the student because of a surprise."""

    id: ID = strawberry.field(description="Id within the student.")
    text: str = strawberry.field(description="The question.")
    created_at: datetime = strawberry.field(description="When it came up (UTC).")
    state: model.QuestionState = strawberry.field(description="Whether it waits, was asked or was answered.")

    @classmethod
    def of(cls, question: model.Question) -> Self:
        return cls(id=ID(question.id), text=question.text, created_at=question.created_at, state=question.state)


@strawberry.type(name="Edge")
class GraphEdgeType:
    """A relationship of the memory graph."""

    type: model.EdgeType = strawberry.field(description="Type of the relationship.")
    weight: float = strawberry.field(description="Strength, 0 to 1.")
    from_id: ID = strawberry.field(description="Id of the node it starts from.")
    to_id: ID = strawberry.field(description="Id of the node it leads to.")
    to_label: str = strawberry.field(description="Label of that node: Memory, Entity or Concept.")
    created_at: datetime = strawberry.field(description="When it was formed (UTC).")
    reliability: model.Reliability = strawberry.field(description="How far it can be relied on.")

    @classmethod
    def of(cls, edge: model.Edge) -> Self:
        return cls(
            type=edge.type,
            weight=edge.weight,
            from_id=ID(edge.from_id),
            to_id=ID(edge.to_id),
            to_label=edge.to_label,
            created_at=edge.created_at,
            reliability=edge.reliability,
        )


@strawberry.type(name="Entity")
class EntityType:
    """A person, place or thing that memories speak of."""

    id: ID = strawberry.field(description="Id within the student.")
    kind: model.EntityKind = strawberry.field(description="Person, place or thing.")
    name: str | None = strawberry.field(description="What it is called; null while locked.")


@strawberry.type(name="Memory")
class MemoryType:
    """Something remembered; gravity is of now."""

    who: strawberry.Private[model.Who]
    opened: strawberry.Private[str | None]
    id: ID = strawberry.field(description="Id within the student.")
    modality: model.Modality = strawberry.field(description="In what way it is remembered.")
    kind: model.MemoryKind = strawberry.field(description="Trait, concept or episode.")
    domain: model.Domain = strawberry.field(description="Part of the student's life.")
    gravity: float = strawberry.field(description="How present it is now, 0 to 1; halves every 7 days without use.")
    salience: float = strawberry.field(
        description="How much it stood out when it was formed, 0 to 1; gravity stays above a tenth of it."
    )
    confidence: float = strawberry.field(description="How sure it is, 0 to 1.")
    strength: float = strawberry.field(description="How firmly it is held, 0 to 1.")
    valence: float = strawberry.field(description="Feeling, -1 (bad) to 1 (good).")
    importance: float = strawberry.field(description="Importance of the message it comes from, 0 to 1.")
    surprise: float | None = strawberry.field(
        description="Surprise signal of that message, 0 to 1; null where it had none."
    )
    surprise_level: model.Level | None = strawberry.field(description="Level of that surprise; null where it had none.")
    flashbulb: bool = strawberry.field(description="Whether it never fades.")
    consolidated: bool = strawberry.field(description="Whether it was kept in full at the end of its session.")
    in_ledger: bool = strawberry.field(description="Whether a ledger entry keeps it.")
    snr: int = strawberry.field(description="Information of its source, 0 to 1000.")
    reliability: model.Reliability = strawberry.field(description="How far it can be relied on.")
    reinforcement_count: int = strawberry.field(description="Times it was said again, 0 or more.")
    access_count: int = strawberry.field(description="Times it was used, 0 or more.")
    timestamp: datetime = strawberry.field(description="When it was said or observed (UTC).")
    last_accessed: datetime = strawberry.field(description="When it was last used (UTC).")
    valid_at: datetime | None = strawberry.field(description="From when on it holds (UTC), if that is known.")
    invalid_at: datetime | None = strawberry.field(description="Until when it held (UTC); null while it holds.")
    speaker: str | None = strawberry.field(
        description="Who said it, where that was not the student; null while locked."
    )
    quote: str | None = strawberry.field(
        description="The words it comes from, as they were said; null while locked, and where they are the content."
    )
    role: model.MemoryRole = strawberry.field(description="Whether it was said, or made of what was said.")
    aspect: model.Aspect | None = strawberry.field(description="What else it tells beside its kind.")
    content_hash: str = strawberry.field(description="Keyed hash of the content, hexadecimal.")
    merged_count: int = strawberry.field(description="Other memories merged into it, 0 or more.")

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
            speaker=memory.speaker,
            quote=memory.quote,
            aspect=memory.aspect,
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
    async def surprise_response(self, info: Info) -> SurpriseResponseType | None:
        if self.role is not model.MemoryRole.EPISODE:
            return None
        if self.opened is None:
            raise Locked
        session = in_session(info, self.who.student_id)
        found = await info.context.loaders.responses.load((session, self.id))
        return None if found is None else SurpriseResponseType.of(found)

    @strawberry.field(description="Where it came from, oldest first.")
    async def sources(self, info: Info) -> list[SourceType]:
        return [SourceType.of(source) for source in await info.context.loaders.sources.load((self.who, self.id))]

    @strawberry.field(description="Doubts about it, newest first; their texts are null while locked.")
    async def uncertainties(
        self, info: Info
    ) -> list[Annotated["GraphUncertaintyType", strawberry.lazy("graphmem_api.memory_types")]]:
        session = None if self.opened is None else in_session(info, self.who.student_id)
        found = await info.context.loaders.uncertainties.load((session or self.who, self.id))
        return await shown_uncertainties(info.context.gm, self.who, session, found)

    @strawberry.field(description="People, places and things it speaks of; their names are null while locked.")
    async def entities(self, info: Info) -> list[EntityType]:
        session = None if self.opened is None else in_session(info, self.who.student_id)
        found = await info.context.loaders.entities.load((session or self.who, self.id))
        return [EntityType(id=ID(each.id), kind=each.kind, name=each.name) for each in found]

    @strawberry.field(description="Its edges, strongest first.")
    async def edges(
        self,
        info: Info,
        type: Annotated[model.EdgeType | None, argument("Only edges of this type; null: of any.")] = None,
        min_weight: Annotated[float | None, argument("Least weight, 0 to 1.")] = 0.0,
    ) -> list[GraphEdgeType]:
        found = await info.context.loaders.edges.load((self.who, self.id))
        return [GraphEdgeType.of(edge) for edge in memories.chosen_edges(found, type, min_weight or 0.0)]


@strawberry.type(name="Recalled")
class RecalledType:
    """A memory that fits, how well, and why it is there."""

    memory: MemoryType = strawberry.field(description="The memory.")
    weight: float = strawberry.field(description="How well it fits, 0 or more; the higher the better.")
    why: list[str] = strawberry.field(description="Reasons, such as meaning, words or an edge.")
    source_refs: list[str] = strawberry.field(description="Refs of its sources.")

    @classmethod
    def of(cls, who: model.Who, recalled: model.Recalled, now: datetime) -> Self:
        return cls(
            memory=MemoryType.of(who, recalled.memory, now),
            weight=recalled.weight,
            why=list(recalled.why),
            source_refs=list(recalled.memory.source_refs),
        )


async def _counted_memories(root: "MemoryPageType", info: Info) -> int:
    return await memories.count_memories(info.context.gm, root.who, root.wanted)


@strawberry.type(name="MemoryPage")
class MemoryPageType:
    """Some memories, how many there are, and where the next page begins."""

    who: strawberry.Private[model.Who]
    wanted: strawberry.Private[Filter]
    items: list[MemoryType] = strawberry.field(description="Memories of this page, newest first.")
    # Counted only where it is asked for.
    total: int = strawberry.field(resolver=_counted_memories, description="Memories in all pages, 0 or more.")
    next: str | None = strawberry.field(description="Value of `after` for the next page; null on the last.")


@strawberry.type(name="Graph")
class GraphType:
    """Memories and the edges between them."""

    memories: list[MemoryType] = strawberry.field(description="Memories, nearest first, at most 200.")
    edges: list[GraphEdgeType] = strawberry.field(description="Edges between them.")


@strawberry.type(name="LedgerEntry")
class LedgerEntryType:
    """Entry of the ledger of information that must not be forgotten."""

    id: ID = strawberry.field(description="Id within the student.")
    category: model.LedgerCategory = strawberry.field(description="What it is.")
    content: str | None = strawberry.field(description="What must not be forgotten.")
    summary: str | None = strawberry.field(description="Short form.")
    importance: float = strawberry.field(description="Importance, 0 to 1.")
    triggers: list[str] | None = strawberry.field(description="Words that bring it up.")
    trigger_entities: list[str] | None = strawberry.field(description="Names that bring it up.")
    trigger_threshold: float = strawberry.field(
        description="Cosine similarity from which on a message brings it up, 0 to 1."
    )
    is_active: bool = strawberry.field(description="Whether it still comes up: not settled, and not expired.")
    expires_at: datetime | None = strawberry.field(description="When it ceases to come up (UTC); null: never.")
    created_at: datetime = strawberry.field(description="When it was added (UTC).")
    given_by: model.SourceKind | None = strawberry.field(
        description="Kind of source it comes from, of several the one that counts most; null: an app has added it."
    )
    why: list[str] = strawberry.field(
        description="Why it is in a context, such as `trigger: homework` or `meaning 0.83`; empty elsewhere."
    )

    @classmethod
    def of(cls, entry: model.LedgerEntry, why: Sequence[str] = ()) -> Self:
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
            given_by=entry.given_by,
            why=list(why),
        )


@strawberry.type(name="RelationshipSide")
class RelationshipSideType:
    """A relationship in doubt; the side's memory is the one it starts from."""

    type: model.EdgeType = strawberry.field(description="Type of the relationship.")
    to_id: ID = strawberry.field(description="Id of the memory it leads to.")

    @classmethod
    def of(cls, side: model.RelationshipSide | None) -> Self | None:
        """None where the memory itself is in doubt."""
        return None if side is None else cls(type=side.type, to_id=ID(side.to_id))


@strawberry.type(name="Uncertainty")
class GraphUncertaintyType:
    """A doubt about one memory, or between two."""

    id: ID = strawberry.field(description="Id within the student.")
    type: model.UncertaintyType = strawberry.field(description="Why it is not sure.")
    severity: model.Severity = strawberry.field(description="How much it matters.")
    detection_context: model.DetectionContext = strawberry.field(description="When it was noticed.")
    a: MemoryType = strawberry.field(description="The memory in doubt.")
    b: MemoryType | None = strawberry.field(description="The other memory, where two do not agree.")
    a_relationship: RelationshipSideType | None = strawberry.field(
        description="The relationship in doubt that starts from `a`; null where the memory itself is in doubt."
    )
    b_relationship: RelationshipSideType | None = strawberry.field(description="The same of `b`.")
    reasoning: str | None = strawberry.field(description="Why they are in doubt.")
    temporal_signal: bool = strawberry.field(description="Whether time may explain it.")
    surface_context: str | None = strawberry.field(description="When to raise it.")
    state: model.UncertaintyState = strawberry.field(description="Where it stands.")
    resolution: model.Resolution | None = strawberry.field(description="How it was settled; null while it is open.")
    resolution_detail: str | None = strawberry.field(description="Details of the resolution.")
    surfaced_count: int = strawberry.field(description="Times it was raised, 0 or more.")
    created_at: datetime = strawberry.field(description="When it was noticed (UTC).")
    resolved_at: datetime | None = strawberry.field(description="When it was settled (UTC); null while it is open.")

    @classmethod
    def of(
        cls, who: model.Who, doubt: model.Uncertainty, held: Mapping[str, model.Memory], now: datetime
    ) -> Self | None:
        """None where the memory in doubt is gone."""
        if doubt.a_id not in held:
            return None
        other = held.get(doubt.b_id or "")
        return cls(
            id=ID(doubt.id),
            type=doubt.type,
            severity=doubt.severity,
            detection_context=doubt.detection_context,
            a=MemoryType.of(who, held[doubt.a_id], now),
            b=None if other is None else MemoryType.of(who, other, now),
            a_relationship=RelationshipSideType.of(doubt.a_edge),
            b_relationship=RelationshipSideType.of(doubt.b_edge),
            reasoning=doubt.reasoning,
            temporal_signal=doubt.temporal_signal,
            surface_context=doubt.surface_context,
            state=doubt.state,
            resolution=doubt.resolution,
            resolution_detail=doubt.detail,
            surfaced_count=doubt.surfaced_count,
            created_at=doubt.created_at,
            resolved_at=doubt.resolved_at,
        )


async def shown_uncertainties(
    gm: Graphmem, who: model.Who, session: model.Session | None, doubts: Sequence[model.Uncertainty]
) -> list[GraphUncertaintyType]:
    """Uncertainties with their memories, read at once."""
    held = await memories_of_uncertainties(gm, who, session, doubts)
    shown = (GraphUncertaintyType.of(who, doubt, held, gm.clock()) for doubt in doubts)
    return [each for each in shown if each is not None]


@strawberry.type(name="ActionCheck")
class ActionCheckType:
    """Advice on an action that rests on memories."""

    proceed: bool = strawberry.field(description="Whether to go on; false: clarify first.")
    confidence: float = strawberry.field(
        description="Confidence of the action, cut by 40 % where a memory is in doubt."
    )
    reliability_warning: str | None = strawberry.field(description="What cannot be relied on, if anything.")
    question: str | None = strawberry.field(description="What to ask the student first, if anything.")
    unreliable: list[MemoryType] = strawberry.field(description="The memories in doubt.")


@strawberry.type(name="Job")
class JobType:
    """A piece of work that follows a turn; its id is unique within the institution."""

    id: ID = strawberry.field(description="Id within the institution.")
    kind: str = strawberry.field(description="Kind of work.")
    student_id: ID = strawberry.field(description="Id of the student it is for.")
    state: model.JobState = strawberry.field(description="Where it stands.")
    attempts: int = strawberry.field(description="Attempts so far, 0 to 5.")
    error: str | None = strawberry.field(description="Why the last attempt failed, if one did.")
    created_at: datetime = strawberry.field(description="When it was made (UTC).")
    run_after: datetime | None = strawberry.field(description="When it is tried again (UTC); null: at once.")

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


async def _counted_jobs(root: "JobPageType", info: Info) -> int:
    return await count_jobs(info.context.gm, *root.owner, root.state)


@strawberry.type(name="JobPage")
class JobPageType:
    """Some jobs, how many there are in all, and where the next page begins."""

    owner: strawberry.Private[tuple[str, str | None]]
    state: strawberry.Private[model.JobState | None]
    items: list[JobType] = strawberry.field(description="Jobs of this page, newest first.")
    # Counted only where it is asked for.
    total: int = strawberry.field(resolver=_counted_jobs, description="Jobs in all pages, 0 or more.")
    next: str | None = strawberry.field(description="Value of `after` for the next page; null on the last.")

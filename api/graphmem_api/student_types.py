"""The contract's types of a student: all that can be asked of one, its companion and sessions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self

import strawberry

from graphmem import model
from graphmem.flows import context as contexts
from graphmem.flows import memories
from graphmem.flows.compression import list_compressions
from graphmem.flows.consolidation import find_kept
from graphmem.flows.facts import list_facts
from graphmem.flows.fading import list_fading
from graphmem.flows.integrity import verify_integrity
from graphmem.flows.ledger import list_entries
from graphmem.flows.overlay import find_frontier, list_overlay, list_progress
from graphmem.flows.surprise import list_questions
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.metrics import recall_seconds
from graphmem.store.memories import Filter
from graphmem_api.access import Info, in_running_session, in_session, running_session_to_read, session_to_read
from graphmem_api.arguments import ID, After, AsOf, First, argument
from graphmem_api.memory_types import (
    GraphEdgeType,
    GraphType,
    GraphUncertaintyType,
    LedgerEntryType,
    MemoryPageType,
    MemoryType,
    QuestionType,
    RecalledType,
    shown_uncertainties,
)
from graphmem_api.turn_types import ContextMessageType, ContextType, FactType
from graphmem_api.upkeep_types import CompressionType, IntegrityType
from graphmem_api.world_types import ConceptType, OverlayPageType, ProgressPageType, ProgressType


@strawberry.type(name="Session")
class SessionType:
    """An open session: send the token in X-Graphmem-Session."""

    token: str = strawberry.field(description="Session token; keep it secret.")
    expires_at: datetime = strawberry.field(
        description="When the session ends (UTC) if it is not used any more; each use lets it end later."
    )
    ends_at: datetime = strawberry.field(description="When the session ends at the latest (UTC).")


@strawberry.type(name="Companion")
class CompanionType:
    """The companion assigned to a student: who it is, and what it knows best."""

    name: str = strawberry.field(description="How it is called.")
    persona: str = strawberry.field(description="Who it is and how it speaks.")
    expertise: list[str] = strawberry.field(description="Concepts it knows best; they count in importance.")

    @classmethod
    def of(cls, companion: model.Companion) -> Self:
        return cls(name=companion.name, persona=companion.persona, expertise=list(companion.expertise))


@strawberry.type(name="Student")
class StudentType:
    """A student; sealed fields need the student's session."""

    institution: strawberry.Private[str]
    id: ID = strawberry.field(description="Id within the institution.")
    created_at: datetime = strawberry.field(description="When the student was enrolled (UTC).")
    locked: bool = strawberry.field(
        description="Whether this request cannot open what is sealed, for lack of the student's running session."
    )
    display_name: str | None = strawberry.field(
        description="How the student is called; null while locked, or where no name was given."
    )
    tolerance: float = strawberry.field(description="Tolerance of the companion for uncertainty, 0.2 to 0.8.")
    companion: CompanionType | None = strawberry.field(description="The student's companion; null while locked.")
    recoveries: list[datetime] = strawberry.field(
        description="When a new password was set with the institution's recovery key (UTC), oldest first."
    )

    @classmethod
    def of(cls, student: model.Student, *, locked: bool) -> Self:
        return cls(
            institution=student.institution,
            id=ID(student.id),
            created_at=student.created_at,
            locked=locked,
            display_name=student.display_name,
            tolerance=student.tolerance,
            companion=None if student.companion is None else CompanionType.of(student.companion),
            recoveries=list(student.recoveries),
        )

    @strawberry.field(description="Memories there are, 0 or more.")
    async def memory_count(self, info: Info) -> int:
        memories_there, _ = await info.context.loaders.counts.load(self._who)
        return memories_there

    @strawberry.field(description="Jobs that are not done yet, or wait for a session; 0 or more.")
    async def waiting_jobs(self, info: Info) -> int:
        _, waiting = await info.context.loaders.counts.load(self._who)
        return waiting

    @strawberry.field(description="Facts, newest first.")
    async def facts(
        self, info: Info, first: Annotated[int | None, argument("Most facts, 1 to 200.")] = 200, as_of: AsOf = None
    ) -> list[FactType]:
        session = in_session(info, self.id)
        found = await list_facts(info.context.gm, session, 200 if first is None else first, as_of)
        return [FactType.of(fact) for fact in found]

    @strawberry.field(description="A page of memories, newest first.")
    async def memories(
        self,
        info: Info,
        modality: Annotated[model.Modality | None, argument("Only of this modality; null: any.")] = None,
        kind: Annotated[model.MemoryKind | None, argument("Only of this kind; null: any.")] = None,
        reliability: Annotated[model.Reliability | None, argument("Only of this reliability; null: any.")] = None,
        min_gravity: Annotated[float | None, argument("Least gravity of now, 0 to 1.")] = None,
        as_of: AsOf = None,
        first: First = 20,
        after: After = None,
    ) -> MemoryPageType:
        gm, wanted = info.context.gm, Filter(modality, kind, reliability, min_gravity or 0.0, as_of)
        session = session_to_read(info, self.id, model.Role.AUDITOR)
        page = await memories.list_memories(gm, self._who, wanted, 20 if first is None else first, after, session)
        return MemoryPageType(who=self._who, wanted=wanted, items=self._shown(info, page.items), next=page.next)

    @strawberry.field(
        description="Of each turn asked for, in the same order, also after its session has ended: whether a memory "
        "formed of the message was consolidated; null while that is not judged, and where the message left none."
    )
    async def kept(
        self, info: Info, turn_ids: Annotated[list[ID], argument("The turnIds that the app gave, at most 200.")]
    ) -> list[bool | None]:
        await running_session_to_read(info, self.id, model.Role.AUDITOR)
        return list(await find_kept(info.context.gm, self._who, turn_ids))

    @strawberry.field(description="A memory and what is a few edges away from it.")
    async def around(
        self,
        info: Info,
        memory_id: Annotated[ID, argument("Id of the memory.")],
        hops: Annotated[int | None, argument("Most edges on the way, 0 to 3.")] = 2,
        min_weight: Annotated[float | None, argument("Least weight of each edge on the way, 0 to 1.")] = 0.0,
        as_of: AsOf = None,
    ) -> GraphType:
        session, most = session_to_read(info, self.id, model.Role.AUDITOR), 2 if hops is None else hops
        found, edges = await memories.find_around(
            info.context.gm, self._who, memory_id, most, min_weight or 0.0, session, as_of
        )
        return GraphType(memories=self._shown(info, found), edges=[GraphEdgeType.of(edge) for edge in edges])

    @strawberry.field(description="The memories that fit a question, best first, and why.")
    async def recall(
        self,
        info: Info,
        query: Annotated[str, argument("The question, 1 to 32,000 characters.")],
        limit: Annotated[int | None, argument("Most memories, 1 to 100.")] = 20,
        as_of: AsOf = None,
        roles: Annotated[
            list[model.MemoryRole] | None, argument("Only memories of these roles, such as LESSON; null or []: all.")
        ] = None,
    ) -> list[RecalledType]:
        gm, session = info.context.gm, in_session(info, self.id)
        with recall_seconds.time():
            found = await contexts.recall(gm, session, query, 20 if limit is None else limit, as_of, roles or ())
        return [RecalledType.of(session, each, gm.clock()) for each in found]

    @strawberry.field(description="What a companion should know for a message, within a token budget.")
    async def context(
        self,
        info: Info,
        query: Annotated[str, argument("The message, 1 to 32,000 characters.")],
        token_budget: Annotated[int | None, argument("Most tokens of the prompt, 1 to 32,000.")] = 2000,
        as_of: AsOf = None,
        history: Annotated[
            int | None,
            argument(
                "Latest turns of the session that stand in `messages`, 0 to 50; what was said in them is left out of "
                "the prompt."
            ),
        ] = 0,
    ) -> ContextType:
        gm, session = info.context.gm, in_session(info, self.id)
        with recall_seconds.time():
            budget = 2000 if token_budget is None else token_budget
            found = await contexts.context(gm, session, query, budget, as_of, history or 0)
        return ContextType(
            prompt=found.prompt,
            messages=[ContextMessageType(role=each.role, content=each.content) for each in found.messages],
            tokens=found.tokens,
            memories=[RecalledType.of(session, each, gm.clock()) for each in found.memories],
            ledger=[LedgerEntryType.of(entry, found.why.get(entry.id, ())) for entry in found.ledger],
            facts=[FactType.of(fact, found.why.get(fact.id, ())) for fact in found.facts],
            weave=await shown_uncertainties(gm, session, session, found.weave),
        )

    @strawberry.field(description="The ledger, newest first.")
    async def ledger(
        self,
        info: Info,
        category: Annotated[model.LedgerCategory | None, argument("Only of this category; null: any.")] = None,
        active: Annotated[bool | None, argument("Only active entries, or only the others; null: all.")] = None,
        as_of: AsOf = None,
    ) -> list[LedgerEntryType]:
        found = await list_entries(info.context.gm, in_session(info, self.id), category, active, as_of)
        return [LedgerEntryType.of(entry) for entry in found]

    @strawberry.field(
        description="Doubts about memories, newest first, at most 500; their texts are null while locked."
    )
    async def uncertainties(
        self,
        info: Info,
        state: Annotated[model.UncertaintyState | None, argument("Only of this state; null: any.")] = None,
        severity: Annotated[model.Severity | None, argument("Only of this severity; null: any.")] = None,
        topic: Annotated[
            str | None,
            argument("Only what has to do with this, 1 to 2,000 characters; needs the student's session; null: any."),
        ] = None,
        as_of: AsOf = None,
    ) -> list[GraphUncertaintyType]:
        gm, session = info.context.gm, session_to_read(info, self.id, model.Role.AUDITOR)
        found = await list_uncertainties(gm, self._who, session, state, severity, topic, as_of)
        return await shown_uncertainties(gm, self._who, session, found)

    @strawberry.field(description="Compressions of the memories, newest first: counts and losses.")
    async def compressions(
        self, info: Info, first: Annotated[int | None, argument("Most compressions, 1 to 200.")] = 20
    ) -> list[CompressionType]:
        await running_session_to_read(info, self.id, model.Role.AUDITOR)
        found = await list_compressions(info.context.gm, self._who, 20 if first is None else first)
        return [CompressionType.of(each) for each in found]

    @strawberry.field(
        description="Compare all that is kept of the student with what the service wrote: what was altered, removed or "
        "added by hand in the database. Needs no key of the student."
    )
    async def verify_integrity(self, info: Info) -> IntegrityType:
        await running_session_to_read(info, self.id, model.Role.AUDITOR, model.Role.ADMIN)
        return IntegrityType.of(await verify_integrity(info.context.gm, self._who))

    @strawberry.field(description="Questions that surprises left open and nobody has answered, longest waiting first.")
    async def questions(self, info: Info) -> list[QuestionType]:
        session = await in_running_session(info, self.id)
        return [QuestionType.of(question) for question in await list_questions(info.context.gm, session)]

    @strawberry.field(description="The concepts of the world that the student knows, by id. Needs the session.")
    async def overlay(self, info: Info, first: First = 100, after: After = None) -> OverlayPageType:
        session = await in_running_session(info, self.id)
        found = await list_overlay(info.context.gm, session, 100 if first is None else first, after, session)
        return OverlayPageType.of(found)

    @strawberry.field(
        description="Unknown concepts all of whose prerequisites are known, for the app alone: names that the "
        "companion may not say yet. Needs the session."
    )
    async def frontier(
        self, info: Info, limit: Annotated[int | None, argument("Most concepts, 1 to 200.")] = 10
    ) -> list[ConceptType]:
        session = await in_running_session(info, self.id)
        found = await find_frontier(info.context.gm, session, 10 if limit is None else limit)
        return [ConceptType.of(each) for each in found]

    @strawberry.field(
        description="How the student is getting on with known concepts: what should be practised soonest first, what "
        "never was last. Numbers and concepts, nothing that was said: for teachers, too; an app needs the session."
    )
    async def progress(
        self,
        info: Info,
        first: Annotated[int | None, argument("Most concepts, 1 to 200.")] = 200,
        after: Annotated[
            ID | None, argument("Id of the last concept of the page before; null: the first page.")
        ] = None,
    ) -> list[ProgressType]:
        await running_session_to_read(info, self.id, model.Role.TEACHER)
        found = await list_progress(info.context.gm, self._who, 200 if first is None else first, after)
        return [ProgressType.of(each) for each in found]

    @strawberry.field(
        description="Known concepts about to be forgotten, the soonest first: their chance of recall falls below 0.7 "
        "within some days. For teachers, too; an app needs the session."
    )
    async def fading(
        self,
        info: Info,
        days: Annotated[int | None, argument("Days that are looked ahead, 1 to 365.")] = 7,
        first: First = 20,
        after: After = None,
    ) -> ProgressPageType:
        await running_session_to_read(info, self.id, model.Role.TEACHER)
        ahead, most = 7 if days is None else days, 20 if first is None else first
        return ProgressPageType.of(await list_fading(info.context.gm, self._who, ahead, most, after))

    @property
    def _who(self) -> model.Who:
        return model.Who(self.institution, self.id)

    def _shown(self, info: Info, found: Sequence[model.Memory]) -> list[MemoryType]:
        now = info.context.gm.clock()
        return [MemoryType.of(self._who, memory, now) for memory in found]


@strawberry.type(name="StudentSummary")
class StudentSummaryType:
    """A student in the institution's list: counts, and nothing that was said."""

    id: ID = strawberry.field(description="Id within the institution.")
    created_at: datetime = strawberry.field(description="When the student was enrolled (UTC).")
    memory_count: int = strawberry.field(description="Memories there are, 0 or more.")
    waiting_jobs: int = strawberry.field(description="Jobs that are not done yet, or wait for a session; 0 or more.")


@strawberry.type(name="StudentPage")
class StudentPageType:
    """Some students, how many there are, and where the next page begins."""

    items: list[StudentSummaryType] = strawberry.field(description="Students of this page, by id.")
    total: int = strawberry.field(description="Students in all pages, 0 or more.")
    next: str | None = strawberry.field(description="Value of `after` for the next page; null on the last.")

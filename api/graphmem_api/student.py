"""The type of a student: all that can be asked of one."""

from collections.abc import Sequence
from typing import Annotated

import strawberry

from graphmem import model
from graphmem.flows import context as contexts
from graphmem.flows import memories
from graphmem.flows.compression import list_compressions
from graphmem.flows.consolidation import find_kept
from graphmem.flows.facts import list_facts
from graphmem.flows.integrity import verify_integrity
from graphmem.flows.ledger import list_entries
from graphmem.flows.overlay import OverlayPage, ProgressPage, find_frontier, list_fading, list_overlay, list_progress
from graphmem.flows.surprise import list_questions
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.metrics import recall_seconds
from graphmem.store.memories import Filter
from graphmem_api.access import Info, in_running_session, in_session, running_session_to_read, session_to_read
from graphmem_api.arguments import ID, After, AsOf, First, argument
from graphmem_api.mapper import Shown, shows
from graphmem_api.types import (
    ContextType,
    DoubtType,
    FactType,
    GraphType,
    LedgerEntryType,
    MemoryPageType,
    MemoryType,
    RecalledType,
    shown_uncertainties,
)


@shows(model.Student)
class StudentType(Shown[model.Student]):
    """A student; sealed fields need the student's session.

    Beside it is whether the request cannot open what is sealed.
    """

    @strawberry.field(
        description="Whether this request cannot open what is sealed, for lack of the student's running session."
    )
    def locked(self) -> bool:
        return bool(self.beside)

    @strawberry.field(description="Memories there are, 0 or more.")
    async def memory_count(self, info: Info) -> int:
        memories_there, _ = await info.context.loaders.counts.load(self.who)
        return memories_there

    @strawberry.field(description="Jobs that are not done yet, or wait for a session; 0 or more.")
    async def waiting_jobs(self, info: Info) -> int:
        _, waiting = await info.context.loaders.counts.load(self.who)
        return waiting

    @strawberry.field(description="Facts, newest first.")
    async def facts(
        self, info: Info, first: Annotated[int | None, argument("Most facts, 1 to 200.")] = 200, as_of: AsOf = None
    ) -> list[FactType]:
        session = in_session(info, self.who.student_id)
        found = await list_facts(info.context.gm, session, 200 if first is None else first, as_of)
        return [FactType(session, each) for each in found]

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
        session = session_to_read(info, self.who.student_id, model.Role.AUDITOR)
        page = await memories.list_memories(gm, self.who, wanted, 20 if first is None else first, after, session)
        return MemoryPageType(who=self.who, wanted=wanted, items=self._shown(page.items), next=page.next)

    @strawberry.field(
        description="Of each turn asked for, in the same order, also after its session has ended: whether a memory "
        "formed of the message was consolidated; null while that is not judged, and where the message left none."
    )
    async def kept(
        self, info: Info, turn_ids: Annotated[list[ID], argument("The turnIds that the app gave, at most 200.")]
    ) -> list[bool | None]:
        await running_session_to_read(info, self.who.student_id, model.Role.AUDITOR)
        return list(await find_kept(info.context.gm, self.who, turn_ids))

    @strawberry.field(description="A memory and what is a few edges away from it.")
    async def around(
        self,
        info: Info,
        memory_id: Annotated[ID, argument("Id of the memory.")],
        hops: Annotated[int | None, argument("Most edges on the way, 0 to 3.")] = 2,
        min_weight: Annotated[float | None, argument("Least weight of each edge on the way, 0 to 1.")] = 0.0,
        as_of: AsOf = None,
    ) -> GraphType:
        session, most = session_to_read(info, self.who.student_id, model.Role.AUDITOR), 2 if hops is None else hops
        found, edges = await memories.find_around(
            info.context.gm, self.who, memory_id, most, min_weight or 0.0, session, as_of
        )
        return GraphType(memories=self._shown(found), edges=edges)

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
        gm, session = info.context.gm, in_session(info, self.who.student_id)
        with recall_seconds.time():
            found = await contexts.recall(gm, session, query, 20 if limit is None else limit, as_of, roles or ())
        return [RecalledType(session, each) for each in found]

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
        gm, session = info.context.gm, in_session(info, self.who.student_id)
        with recall_seconds.time():
            budget = 2000 if token_budget is None else token_budget
            return ContextType(session, await contexts.context(gm, session, query, budget, as_of, history or 0))

    @strawberry.field(description="The ledger, newest first.")
    async def ledger(
        self,
        info: Info,
        category: Annotated[model.LedgerCategory | None, argument("Only of this category; null: any.")] = None,
        active: Annotated[bool | None, argument("Only active entries, or only the others; null: all.")] = None,
        as_of: AsOf = None,
    ) -> list[LedgerEntryType]:
        found = await list_entries(info.context.gm, in_session(info, self.who.student_id), category, active, as_of)
        return [LedgerEntryType(self.who, each) for each in found]

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
    ) -> list[DoubtType]:
        gm, session = info.context.gm, session_to_read(info, self.who.student_id, model.Role.AUDITOR)
        found = await list_uncertainties(gm, self.who, session, state, severity, topic, as_of)
        return await shown_uncertainties(gm, self.who, session, found)

    @strawberry.field(description="Compressions of the memories, newest first: counts and losses.")
    async def compressions(
        self, info: Info, first: Annotated[int | None, argument("Most compressions, 1 to 200.")] = 20
    ) -> list[model.Compression]:
        await running_session_to_read(info, self.who.student_id, model.Role.AUDITOR)
        return await list_compressions(info.context.gm, self.who, 20 if first is None else first)

    @strawberry.field(
        description="Compare all that is kept of the student with what the service wrote: what was altered, removed or "
        "added by hand in the database. Needs no key of the student."
    )
    async def verify_integrity(self, info: Info) -> model.Integrity:
        await running_session_to_read(info, self.who.student_id, model.Role.AUDITOR, model.Role.ADMIN)
        return await verify_integrity(info.context.gm, self.who)

    @strawberry.field(description="Questions that surprises left open and nobody has answered, longest waiting first.")
    async def questions(self, info: Info) -> list[model.Question]:
        session = await in_running_session(info, self.who.student_id)
        return await list_questions(info.context.gm, session)

    @strawberry.field(description="The concepts of the world that the student knows, by id. Needs the session.")
    async def overlay(self, info: Info, first: First = 100, after: After = None) -> OverlayPage:
        session = await in_running_session(info, self.who.student_id)
        return await list_overlay(info.context.gm, session, 100 if first is None else first, after, session)

    @strawberry.field(
        description="Unknown concepts all of whose prerequisites are known, for the app alone: names that the "
        "companion may not say yet. Needs the session."
    )
    async def frontier(
        self, info: Info, limit: Annotated[int | None, argument("Most concepts, 1 to 200.")] = 10
    ) -> list[model.Concept]:
        session = await in_running_session(info, self.who.student_id)
        return await find_frontier(info.context.gm, session, 10 if limit is None else limit)

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
    ) -> list[model.ConceptProgress]:
        await running_session_to_read(info, self.who.student_id, model.Role.TEACHER)
        return await list_progress(info.context.gm, self.who, 200 if first is None else first, after)

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
    ) -> ProgressPage:
        await running_session_to_read(info, self.who.student_id, model.Role.TEACHER)
        ahead, most = 7 if days is None else days, 20 if first is None else first
        return await list_fading(info.context.gm, self.who, ahead, most, after)

    def _shown(self, found: Sequence[model.Memory]) -> list[MemoryType]:
        return [MemoryType(self.who, memory) for memory in found]

"""The type of a student: all that can be asked of one."""

from collections.abc import Sequence
from datetime import datetime

import strawberry

from graphmem import model
from graphmem.flows import context as contexts
from graphmem.flows import memories
from graphmem.flows.compression import list_compressions
from graphmem.flows.consolidation import find_kept
from graphmem.flows.facts import list_facts
from graphmem.flows.ledger import list_entries
from graphmem.flows.overlay import OverlayPage, ProgressPage, find_frontier, list_fading, list_overlay, list_progress
from graphmem.flows.students import verify_integrity
from graphmem.flows.surprise import list_questions
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.metrics import recall_seconds
from graphmem.store.memories import Filter
from graphmem_api import types
from graphmem_api.access import Info, in_running_session, in_session, running_session_to_read, session_to_read
from graphmem_api.mapper import ID, Shown, shows


@shows(model.Student)
class StudentType(Shown[model.Student]):
    """A student; sealed fields need the student's session.

    Beside it is whether the request cannot open what is sealed.
    """

    @strawberry.field
    def locked(self) -> bool:
        """Whether this request cannot open what is sealed, for lack of the student's running session."""
        return bool(self.beside)

    @strawberry.field
    async def memory_count(self, info: Info) -> int:
        """Memories there are, 0 or more."""
        memories_there, _ = await info.context.loaders.counts.load(self.who)
        return memories_there

    @strawberry.field
    async def waiting_jobs(self, info: Info) -> int:
        """Jobs that are not done yet, or wait for a session; 0 or more."""
        _, waiting = await info.context.loaders.counts.load(self.who)
        return waiting

    @strawberry.field
    async def facts(self, info: Info, first: int | None = 200, as_of: datetime | None = None) -> list[types.FactType]:
        """Facts, newest first.

        Parameters
        ----------
        first : Most facts, 1 to 200.
        """
        session = in_session(info, self.who.student_id)
        found = await list_facts(info.context.gm, session, 200 if first is None else first, as_of)
        return [types.FactType(session, each) for each in found]

    @strawberry.field
    async def memories(
        self,
        info: Info,
        modality: model.Modality | None = None,
        kind: model.MemoryKind | None = None,
        reliability: model.Reliability | None = None,
        min_gravity: float | None = None,
        as_of: datetime | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> types.MemoryPageType:
        """A page of memories, newest first.

        Parameters
        ----------
        modality : Only of this modality; null: any.
        kind : Only of this kind; null: any.
        reliability : Only of this reliability; null: any.
        min_gravity : Least gravity of now, 0 to 1.
        """
        gm, wanted = info.context.gm, Filter(modality, kind, reliability, min_gravity or 0.0, as_of)
        session = session_to_read(info, self.who.student_id, model.Role.AUDITOR)
        page = await memories.list_memories(gm, self.who, wanted, 20 if first is None else first, after, session)
        return types.MemoryPageType(who=self.who, wanted=wanted, items=self._shown(page.items), next=page.next)

    @strawberry.field
    async def kept(self, info: Info, turn_ids: list[ID]) -> list[bool | None]:
        """Of each turn asked for, in the same order, also after its session has ended: whether a memory formed of the
        message was consolidated; null while that is not judged, and where the message left none.

        Parameters
        ----------
        turn_ids : The turnIds that the app gave, at most 200.
        """
        await running_session_to_read(info, self.who.student_id, model.Role.AUDITOR)
        return list(await find_kept(info.context.gm, self.who, turn_ids))

    @strawberry.field
    async def around(
        self,
        info: Info,
        memory_id: ID,
        hops: int | None = 2,
        min_weight: float | None = 0.0,
        as_of: datetime | None = None,
    ) -> types.GraphType:
        """A memory and what is a few edges away from it.

        Parameters
        ----------
        memory_id : Id of the memory.
        hops : Most edges on the way, 0 to 3.
        min_weight : Least weight of each edge on the way, 0 to 1.
        """
        session, most = session_to_read(info, self.who.student_id, model.Role.AUDITOR), 2 if hops is None else hops
        found, edges = await memories.find_around(
            info.context.gm, self.who, memory_id, most, min_weight or 0.0, session, as_of
        )
        return types.GraphType(memories=self._shown(found), edges=edges)

    @strawberry.field
    async def recall(
        self,
        info: Info,
        query: str,
        limit: int | None = 20,
        as_of: datetime | None = None,
        roles: list[model.MemoryRole] | None = None,
    ) -> list[types.RecalledType]:
        """The memories that fit a question, best first, and why.

        Parameters
        ----------
        query : The question, 1 to 32,000 characters.
        limit : Most memories, 1 to 100.
        roles : Only memories of these roles, such as LESSON; null or []: all.
        """
        gm, session = info.context.gm, in_session(info, self.who.student_id)
        with recall_seconds.time():
            found = await contexts.recall(gm, session, query, 20 if limit is None else limit, as_of, roles or ())
        return [types.RecalledType(session, each) for each in found]

    @strawberry.field
    async def context(
        self,
        info: Info,
        query: str,
        token_budget: int | None = 2000,
        as_of: datetime | None = None,
        history: int | None = 0,
    ) -> types.ContextType:
        """What a companion should know for a message, within a token budget.

        Parameters
        ----------
        query : The message, 1 to 32,000 characters.
        token_budget : Most tokens of the prompt, 1 to 32,000.
        history : Latest turns of the session that stand in `messages`, 0 to 50; what was said in them is left out of
            the prompt.
        """
        gm, session = info.context.gm, in_session(info, self.who.student_id)
        with recall_seconds.time():
            budget = 2000 if token_budget is None else token_budget
            return types.ContextType(session, await contexts.context(gm, session, query, budget, as_of, history or 0))

    @strawberry.field
    async def ledger(
        self,
        info: Info,
        category: model.LedgerCategory | None = None,
        active: bool | None = None,
        as_of: datetime | None = None,
    ) -> list[types.LedgerEntryType]:
        """The ledger, newest first.

        Parameters
        ----------
        category : Only of this category; null: any.
        active : Only active entries, or only the others; null: all.
        """
        found = await list_entries(info.context.gm, in_session(info, self.who.student_id), category, active, as_of)
        return [types.LedgerEntryType(self.who, each) for each in found]

    @strawberry.field
    async def uncertainties(
        self,
        info: Info,
        state: model.UncertaintyState | None = None,
        severity: model.Severity | None = None,
        topic: str | None = None,
        as_of: datetime | None = None,
    ) -> list[types.DoubtType]:
        """Doubts about memories, newest first, at most 500; their texts are null while locked.

        Parameters
        ----------
        state : Only of this state; null: any.
        severity : Only of this severity; null: any.
        topic : Only what has to do with this, 1 to 2,000 characters; needs the student's session; null: any.
        """
        gm, session = info.context.gm, session_to_read(info, self.who.student_id, model.Role.AUDITOR)
        found = await list_uncertainties(gm, self.who, session, state, severity, topic, as_of)
        return await types.shown_uncertainties(gm, self.who, session, found)

    @strawberry.field
    async def compressions(self, info: Info, first: int | None = 20) -> list[model.Compression]:
        """Compressions of the memories, newest first: counts and losses.

        Parameters
        ----------
        first : Most compressions, 1 to 200.
        """
        await running_session_to_read(info, self.who.student_id, model.Role.AUDITOR)
        return await list_compressions(info.context.gm, self.who, 20 if first is None else first)

    @strawberry.field
    async def verify_integrity(self, info: Info) -> model.Integrity:
        """Compare all that is kept of the student with what the service wrote: what was altered, removed or added by
        hand in the database. Needs no key of the student."""
        await running_session_to_read(info, self.who.student_id, model.Role.AUDITOR, model.Role.ADMIN)
        return await verify_integrity(info.context.gm, self.who)

    @strawberry.field
    async def questions(self, info: Info) -> list[model.Question]:
        """Questions that surprises left open and nobody has answered, longest waiting first."""
        session = await in_running_session(info, self.who.student_id)
        return await list_questions(info.context.gm, session)

    @strawberry.field
    async def overlay(self, info: Info, first: int | None = 100, after: str | None = None) -> OverlayPage:
        """The concepts of the world that the student knows, by id. Needs the session."""
        session = await in_running_session(info, self.who.student_id)
        return await list_overlay(info.context.gm, session, 100 if first is None else first, after, session)

    @strawberry.field
    async def frontier(self, info: Info, limit: int | None = 10) -> list[model.Concept]:
        """Unknown concepts all of whose prerequisites are known, for the app alone: names that the companion may not
        say yet. Needs the session.

        Parameters
        ----------
        limit : Most concepts, 1 to 200.
        """
        session = await in_running_session(info, self.who.student_id)
        return await find_frontier(info.context.gm, session, 10 if limit is None else limit)

    @strawberry.field
    async def progress(
        self, info: Info, first: int | None = 200, after: ID | None = None
    ) -> list[model.ConceptProgress]:
        """How the student is getting on with known concepts: what should be practised soonest first, what never was
        last. Numbers and concepts, nothing that was said: for teachers, too; an app needs the session.

        Parameters
        ----------
        first : Most concepts, 1 to 200.
        after : Id of the last concept of the page before; null: the first page.
        """
        await running_session_to_read(info, self.who.student_id, model.Role.TEACHER)
        return await list_progress(info.context.gm, self.who, 200 if first is None else first, after)

    @strawberry.field
    async def fading(
        self, info: Info, days: int | None = 7, first: int | None = 20, after: str | None = None
    ) -> ProgressPage:
        """Known concepts about to be forgotten, the soonest first: their chance of recall falls below 0.7 within some
        days. For teachers, too; an app needs the session.

        Parameters
        ----------
        days : Days that are looked ahead, 1 to 365.
        """
        await running_session_to_read(info, self.who.student_id, model.Role.TEACHER)
        ahead, most = 7 if days is None else days, 20 if first is None else first
        return await list_fading(info.context.gm, self.who, ahead, most, after)

    def _shown(self, found: Sequence[model.Memory]) -> list[types.MemoryType]:
        return [types.MemoryType(self.who, memory) for memory in found]

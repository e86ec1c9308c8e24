"""The operations on what is remembered of a student: the ledger, corrections, doubts, what is forgotten."""

from typing import Annotated

import strawberry

from graphmem import model
from graphmem.app import Graphmem
from graphmem.errors import NotFound
from graphmem.flows.forgetting import delete_fact, delete_observation, forget_memory
from graphmem.flows.ledger import Draft, add_entry, correct_concern, delete_entry, settle_entry
from graphmem.flows.memories import find_memories
from graphmem.flows.overlay import set_attitude
from graphmem.flows.surprise import answer_question, correct_surprise
from graphmem.flows.uncertainty import check_action, correct_memory, reconcile, resolve_uncertainty, undo_resolution
from graphmem.flows.uncertainty_plan import Settling
from graphmem.jobs.dispatch import start_jobs
from graphmem.jobs.runner import compress_within_budget
from graphmem.jobs.webhooks import start_notices
from graphmem.model import Compression, Erased, Known, Resolution, Session, Verdict
from graphmem.validation import checked_id
from graphmem_api.access import Info, in_running_session, in_session
from graphmem_api.mapper import ID
from graphmem_api.types import ActionCheckType, DoubtType, LedgerEntryType, LedgerInput, MemoryType, shown_uncertainties


@strawberry.type
class MemoryMutation:
    """Mutations of the ledger, memories, doubts, surprises, concerns and attitudes; what is forgotten for good."""

    @strawberry.mutation
    async def add_ledger_entry(
        self, info: Info, student_id: ID, entry: Annotated[Draft, strawberry.argument(graphql_type=LedgerInput)]
    ) -> LedgerEntryType:
        """Keep what must not be forgotten; an active equal entry stays as it is. A threat raises a concern.

        Parameters
        ----------
        entry : What is to be kept.
        """
        session, gm = in_session(info, student_id), info.context.gm
        added = await add_entry(gm, session, entry)
        start_notices(gm, session.institution)
        return LedgerEntryType(session, added)

    @strawberry.mutation
    async def settle_ledger_entry(self, info: Info, student_id: ID, id: ID, note: str | None = None) -> LedgerEntryType:
        """Settle a promise or a debt.

        Parameters
        ----------
        id : Id of the ledger entry.
        note : What is to be said of it.
        """
        session, gm = in_session(info, student_id), info.context.gm
        return LedgerEntryType(session, await settle_entry(gm, session, id, note))

    @strawberry.mutation
    async def correct_concern(self, info: Info, student_id: ID, id: ID, note: str | None = None) -> bool:
        """Say that a concern was a false alarm: its flag is marked, its ledger entry no longer active, the surprise as
        it would have been, and the like of the message raises no concern again unless it is acute. Twice is as once.

        Parameters
        ----------
        id : Id of the concern.
        note : Why, 1 to 2,000 characters.
        """
        return await correct_concern(info.context.gm, in_session(info, student_id), id, note)

    @strawberry.mutation
    async def correct_surprise(
        self, info: Info, student_id: ID, memory_id: ID, verdict: Verdict, note: str | None = None
    ) -> MemoryType:
        """Say that a surprise was important, or was not: its level, flashbulb and belief updates follow, and so do the
        thresholds of later surprises. Twice is as once; the other verdict may follow. This needs the student's session,
        so a teacher's verdict comes from the app.

        Parameters
        ----------
        memory_id : Id of a memory of the surprising message.
        verdict : Whether it was important.
        note : What is to be said of it.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        changed = await correct_surprise(gm, session, checked_id("memoryId", memory_id), verdict, note or "")
        return MemoryType(session, changed)

    @strawberry.mutation
    async def correct_memory(self, info: Info, student_id: ID, id: ID, content: str) -> MemoryType:
        """Put what the student says in the place of a memory: the memory holds no longer, what is so is remembered. It
        can be undone as the resolution of the uncertainty that is kept of it. Twice is as once.

        Parameters
        ----------
        id : Id of the memory that is wrong, or is no longer so.
        content : What is so, 1 to 2,000 characters.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        return MemoryType(session, await correct_memory(gm, session, id, content))

    @strawberry.mutation
    async def resolve_uncertainty(
        self,
        info: Info,
        student_id: ID,
        id: ID,
        resolution: Resolution,
        winner_id: ID | None = None,
        detail: str | None = None,
    ) -> DoubtType:
        """Settle an uncertainty: the winner is relied on again, the loser holds no longer, or is uncertain where only
        confidence decides. What was said never yields to what was inferred, but by user_clarified and manual, which
        need winnerId. Twice is as once.

        Parameters
        ----------
        id : Id of the uncertainty.
        resolution : How it is settled.
        winner_id : Id of the memory that holds, where a person decides.
        detail : What was said of it, 1 to 2,000 characters.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        by = Settling(resolution, winner_id, detail)
        return await _shown(gm, session, await resolve_uncertainty(gm, session, id, by))

    @strawberry.mutation
    async def undo_resolution(self, info: Info, student_id: ID, id: ID) -> DoubtType:
        """Undo a resolution: the uncertainty is open, its memories as they were before.

        Parameters
        ----------
        id : Id of the uncertainty.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        return await _shown(gm, session, await undo_resolution(gm, session, id))

    @strawberry.mutation
    async def check_action(
        self, info: Info, student_id: ID, memory_ids: list[ID], action: str, confidence: float
    ) -> ActionCheckType:
        """Ask, before an action, whether the memories it rests on can be relied on.

        Parameters
        ----------
        memory_ids : Ids of the memories it rests on, 1 to 100.
        action : What is to be done, 1 to 2,000 characters; it is not kept.
        confidence : How sure whoever is to act is, 0 to 1.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        found = await check_action(gm, session, memory_ids, action, confidence)
        held = {memory.id: memory for memory in await find_memories(gm, session, found.unreliable)}
        return ActionCheckType(session, found, [held[i] for i in found.unreliable if i in held])

    @strawberry.mutation
    async def answer_question(self, info: Info, student_id: ID, id: ID, text: str) -> bool:
        """Take the student's answer to a question; it is remembered as said to the companion.

        Parameters
        ----------
        id : Id of the question.
        text : The answer, 1 to 32,000 characters.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        answered = await answer_question(gm, session, checked_id("id", id), text)
        start_jobs(gm, session)
        return answered

    @strawberry.mutation
    async def reconcile(self, info: Info, student_id: ID) -> list[DoubtType]:
        """Run a drift cycle now: a few memories, recent and often used ones first, are compared with their nearest; the
        doubts it found, those that it settled by itself included. At the end of a session one runs by itself, at most
        every half hour."""
        session, gm = await in_running_session(info, student_id), info.context.gm
        found = await reconcile(gm, session, by_hand=True)
        return await shown_uncertainties(gm, session, session, found)

    @strawberry.mutation
    async def compress(
        self, info: Info, student_id: ID, preview: bool | None = False, to: int | None = None
    ) -> Compression:
        """Make a student's memories fewer: what has faded and tells least is pruned, clusters of what belongs together
        become one summary each. Flashbulbs, what the ledger rests on, sides of open uncertainties and the running
        session are never touched. By itself this happens above MEMORIES_LIMIT.

        Parameters
        ----------
        preview : Only tell what would be done.
        to : Memories to be left, 1 or more; null: 0.618 of MEMORIES_LIMIT.
        """
        session = await in_running_session(info, student_id)
        return await compress_within_budget(info.context.gm, session, to=to, preview=bool(preview))

    @strawberry.mutation
    async def set_attitude(
        self,
        info: Info,
        student_id: ID,
        concept_id: ID,
        attitude: float | None = None,
        familiarity: float | None = None,
        notes: str | None = None,
    ) -> Known:
        """Set what a student thinks of a known concept and how well it is known; null leaves what is there.

        Parameters
        ----------
        concept_id : Id of a concept that the student knows.
        attitude : How the student feels about it, -1 to 1.
        familiarity : How well the student knows it, 0 to 1.
        notes : Notes, 1 to 2,000 characters; sealed.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        return await set_attitude(gm, session, concept_id, attitude, familiarity, notes)

    @strawberry.mutation
    async def delete_ledger_entry(self, info: Info, student_id: ID, id: ID) -> bool:
        """Delete a ledger entry for good; false where there is none, so twice is as once.

        Parameters
        ----------
        id : Id of the ledger entry.
        """
        return await delete_entry(info.context.gm, in_session(info, student_id), id)

    @strawberry.mutation
    async def forget(self, info: Info, student_id: ID, memory_id: ID) -> Erased:
        """Forget a memory, what it fed and what tells the same, for good: facts, episodes, beliefs, summaries, ledger
        entries, uncertainties, questions, raw turns; what was deleted. It is not formed again of the same message.

        Parameters
        ----------
        memory_id : Id of the memory.
        """
        return await forget_memory(info.context.gm, in_session(info, student_id), memory_id)

    @strawberry.mutation
    async def delete_fact(self, info: Info, student_id: ID, id: ID) -> bool:
        """Delete a fact for good; false where there is none, so twice is as once.

        Parameters
        ----------
        id : Id of the fact.
        """
        return await delete_fact(info.context.gm, in_session(info, student_id), id)

    @strawberry.mutation
    async def delete_observation(self, info: Info, student_id: ID, id: ID) -> Erased:
        """Delete what was observed, for good: its words, the memories that come from it alone with what they fed, its
        waiting job; what was deleted. The same observation sent again changes nothing.

        Parameters
        ----------
        id : Id of its source, as observe gives it.
        """
        return await delete_observation(info.context.gm, in_session(info, student_id), id)


async def _shown(gm: Graphmem, session: Session, doubt: model.Uncertainty) -> DoubtType:
    found = await shown_uncertainties(gm, session, session, [doubt])
    if not found:
        raise NotFound("The memory in doubt is gone.")
    return found[0]

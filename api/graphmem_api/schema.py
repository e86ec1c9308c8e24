"""The operations of the contract: each resolver parses, calls a flow and returns."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from copy import copy
from datetime import datetime
from functools import partial
from time import monotonic
from typing import Annotated, Any, cast

import strawberry
from graphql import GraphQLError
from strawberry.extensions import MaxAliasesLimiter, MaxTokensLimiter, QueryDepthLimiter
from strawberry.scalars import JSON
from strawberry.types import ExecutionContext, ExecutionResult, has_object_definition
from strawberry.types.graphql import OperationType

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError, InvalidInput, NotFound
from graphmem.flows import students
from graphmem.flows.analysis import analyse, declared, list_queries
from graphmem.flows.concern import correct_concern, wellbeing
from graphmem.flows.erasure import erase_student
from graphmem.flows.export import export_text
from graphmem.flows.forgetting import delete_fact, delete_observation, forget_memory
from graphmem.flows.ledger import add_entry, delete_entry, settle_entry
from graphmem.flows.memories import find_memories, find_memory
from graphmem.flows.memory_events import memory_events
from graphmem.flows.observation import observe
from graphmem.flows.overlay import reveal, set_attitude
from graphmem.flows.reconciliation import reconcile
from graphmem.flows.recovery import decoded_recovery_key, recover_student
from graphmem.flows.renewal import renew_if_due
from graphmem.flows.service_tokens import list_tokens, revoke_token
from graphmem.flows.student_import import import_student
from graphmem.flows.surprise import answer_question, correct_surprise
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.flows.uncertainty import check_action, correct_memory, resolve_uncertainty, undo_resolution
from graphmem.flows.uncertainty_plan import Settling
from graphmem.flows.world import find_concept, import_world, list_concepts
from graphmem.jobs.admin import list_jobs, retry_job, spent, student_of_job
from graphmem.jobs.compressing import compress_within_budget
from graphmem.jobs.dispatch import start_jobs
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.jobs.webhooks import start_notices
from graphmem.logs import log_ids
from graphmem.metrics import count_turn, measured_turn
from graphmem.model import MAIN_WORLD, JobState, Resolution, Role, Uncertainty, Verdict
from graphmem.model import Session as OpenSession
from graphmem.ports import OnToken
from graphmem.settings import Settings
from graphmem.store.bookmarks import bookmarked
from graphmem.validation import checked_id
from graphmem_api import inputs, memory_types, types, world_types
from graphmem_api.access import (
    RequestContext,
    allowed,
    check_kinds,
    check_observations,
    check_request,
    in_running_session,
    in_session,
    is_locked,
    maybe_in_session,
    of_student,
    running_session,
    running_session_to_read,
    session_to_read,
    student_in_reach,
)
from graphmem_api.arguments import (
    ID,
    NONE_USED,
    After,
    At,
    CompanionName,
    Expertise,
    First,
    OneStudent,
    Opener,
    Persona,
    Reply,
    StudentId,
    TaskText,
    Text,
    TurnId,
    UncertaintyId,
    Used,
    argument,
)
from graphmem_api.enums import plain_value
from graphmem_api.errors import code, log_unexpected
from graphmem_api.inputs import LedgerInput, ObservationInput
from graphmem_api.limits import CachedParsing, LimitedValidation
from graphmem_api.memory_types import (
    ActionCheckType,
    GraphUncertaintyType,
    JobPageType,
    JobType,
    LedgerEntryType,
    MemoryType,
    SourceType,
    shown_uncertainties,
)
from graphmem_api.types import (
    AnalysisQueryType,
    AnalysisType,
    CompanionType,
    CompressionType,
    ErasedType,
    ImportedStudentType,
    Info,
    MemoryEventType,
    ServiceTokenType,
    SessionType,
    StudentPageType,
    StudentSummaryType,
    StudentType,
    TurnEventType,
    TurnType,
    UsageType,
    WellbeingType,
)
from graphmem_api.veil import Executed, veil
from graphmem_api.world_types import (
    ConceptInput,
    ConceptPageType,
    ConceptType,
    ImportedType,
    KnownType,
    OverlayPageType,
    WorldEdgeInput,
    draft_of,
)


@strawberry.type
class Query:
    """Queries: operations that read data."""

    @strawberry.field(description="A student, or null if there is none of this id.")
    async def student(self, info: Info, id: StudentId) -> StudentType | None:
        who = of_student(info, id, Role.APP, Role.TEACHER, Role.AUDITOR, Role.ADMIN)
        found = await students.find_student(info.context.gm, who, running_session(info, id))
        if found is None:
            return None
        return StudentType.of(found, locked=is_locked(info, found))

    @strawberry.field(description="The institution's students by id: counts, and nothing that was said.")
    async def students(self, info: Info, first: First = 20, after: After = None) -> StudentPageType:
        caller, gm = allowed(info, Role.ADMIN, Role.ANALYST, Role.AUDITOR), info.context.gm
        page = await students.list_students(gm, caller.institution, 20 if first is None else first, after)
        items = [
            StudentSummaryType(
                id=ID(each.id),
                created_at=each.created_at,
                memory_count=each.memory_count,
                waiting_jobs=each.waiting_jobs,
            )
            for each in page.items
        ]
        return StudentPageType(items=items, total=page.total, next=page.next)

    @strawberry.field(description="The institution's service tokens, the newest first; revoked and expired ones too.")
    async def service_tokens(self, info: Info) -> list[ServiceTokenType]:
        caller = allowed(info, Role.ADMIN)
        return [ServiceTokenType.of(each) for each in await list_tokens(info.context.gm, caller.institution)]

    @strawberry.field(description="A memory, or null if there is none of this id.")
    async def memory(
        self, info: Info, student_id: StudentId, id: Annotated[ID, argument("Id of the memory.")]
    ) -> MemoryType | None:
        who = of_student(info, student_id, Role.APP, Role.AUDITOR)
        found = await find_memory(info.context.gm, who, id, session_to_read(info, student_id, Role.AUDITOR))
        return None if found is None else MemoryType.of(who, found, info.context.gm.clock())

    @strawberry.field(description="A concept of the institution's world, or null if there is none of this id.")
    async def concept(self, info: Info, id: Annotated[ID, argument("Id of the concept.")]) -> ConceptType | None:
        caller = allowed(info, Role.APP, Role.TEACHER, Role.ANALYST, Role.ADMIN)
        found = await find_concept(info.context.gm, caller.institution, id)
        return None if found is None else ConceptType.of(found)

    @strawberry.field(description="The concepts of the institution's world: by id, or what a search finds, best first.")
    async def concepts(
        self,
        info: Info,
        search: Annotated[str | None, argument("Words of names or descriptions, or what is meant; null: all.")] = None,
        domain: Annotated[str | None, argument("Only of this domain; null: of all.")] = None,
        first: First = 20,
        after: After = None,
    ) -> ConceptPageType:
        caller = allowed(info, Role.APP, Role.TEACHER, Role.ANALYST, Role.ADMIN)
        most = 20 if first is None else first
        return ConceptPageType.of(await list_concepts(info.context.gm, caller.institution, search, domain, most, after))

    @strawberry.field(description="The named queries that `analysis` runs. For analysts.")
    async def analyses(self, info: Info) -> list[AnalysisQueryType]:
        allowed(info, Role.ANALYST)
        return [
            AnalysisQueryType(
                name=name,
                description=query.description,
                params=_json({each: type_ for each, type_ in declared(query).items() if each != "institution"}),
            )
            for name, query in list_queries().items()
        ]

    @strawberry.field(
        description="Run a named query on what is clear of the token's institution; it only reads. For analysts."
    )
    async def analysis(
        self,
        info: Info,
        name: Annotated[str, argument("Name of the query, as `analyses` lists it.")],
        params: Annotated[JSON | None, argument("Values of its parameters by name; `now` may be left out.")] = None,
    ) -> AnalysisType:
        caller = allowed(info, Role.ANALYST)
        if not isinstance(params, dict | None):
            raise InvalidInput("params must be an object with a value for each parameter.")
        found = await analyse(info.context.gm, caller.institution, name, params or {})
        return AnalysisType(rows=_json(found.rows), truncated=found.truncated)

    @strawberry.field(
        description="How a student has fared lately, for auditors and apps: counts, means and concerns, nothing "
        "that was said."
    )
    async def wellbeing(
        self,
        info: Info,
        student_id: StudentId,
        weeks: Annotated[int | None, argument("Weeks up to now, 1 to 104.")] = 12,
    ) -> WellbeingType:
        who, gm = of_student(info, student_id, Role.AUDITOR, Role.APP), info.context.gm
        await running_session_to_read(info, student_id, Role.AUDITOR)
        found = await wellbeing(gm, who, 12 if weeks is None else weeks)
        return WellbeingType.of(student_id, found, gm.settings.help_of(who.institution))

    @strawberry.field(
        description="Background work, newest first: of the institution, or of one student. An app sees that of the "
        "student whose session it sends."
    )
    async def jobs(
        self,
        info: Info,
        student_id: OneStudent = None,
        state: Annotated[JobState | None, argument("Only jobs that stand so; null: all.")] = None,
        first: First = 20,
        after: After = None,
    ) -> JobPageType:
        gm, owner = info.context.gm, await student_in_reach(info, student_id, Role.AUDITOR, Role.ADMIN)
        found = await list_jobs(gm, *owner, state, 20 if first is None else first, after)
        items = [JobType.of(job) for job in found.items]
        return JobPageType(owner=owner, state=state, items=items, next=found.next)

    @strawberry.field(
        description="What language models cost since a day (UTC), of the institution or of one student. An app sees "
        "that of the student whose session it sends."
    )
    async def usage(
        self,
        info: Info,
        student_id: OneStudent = None,
        since: Annotated[datetime | None, argument("First day (UTC); null: since ever.")] = None,
    ) -> UsageType:
        owner = await student_in_reach(info, student_id, Role.AUDITOR, Role.ADMIN)
        return UsageType.of(await spent(info.context.gm, *owner, since))


@strawberry.type
class Mutation:
    """Mutations: operations that change data."""

    @strawberry.mutation(description="Enrol a student; the password opens everything that is ever sealed.")
    async def enrol_student(
        self,
        info: Info,
        id: StudentId,
        password: Annotated[str, argument("The password, 8 to 1000 characters; nothing can be opened without it.")],
        display_name: Annotated[str | None, argument("How the student is called, 1 to 200 characters.")] = None,
    ) -> StudentType:
        who = of_student(info, id, Role.ADMIN)
        return StudentType.of(await students.enrol(info.context.gm, who, password, display_name), locked=True)

    @strawberry.mutation(
        description="Unlock a student with a session of its own, such as of one device; others of the student go on."
    )
    async def open_session(
        self, info: Info, student_id: StudentId, password: Annotated[str, argument("The student's password.")]
    ) -> SessionType:
        who = of_student(info, student_id, Role.APP)
        token, session = await students.open_session(info.context.gm, who, password, info.context.tried_by)
        start_jobs(info.context.gm, session)
        return SessionType(token=token, expires_at=info.context.gm.until(session), ends_at=session.expires_at)

    @strawberry.mutation(
        description="Let the session end later, as each use does; the token stays the same. For apps that wait long."
    )
    async def renew_session(self, info: Info, student_id: StudentId) -> SessionType:
        session = in_session(info, student_id)
        expires_at = await students.renew_session(info.context.gm, session)
        return SessionType(token=info.context.session_token, expires_at=expires_at, ends_at=session.expires_at)

    @strawberry.mutation(
        description="End the session that is sent; with the student's last one the keys and the raw turns go."
    )
    async def close_session(self, info: Info, student_id: StudentId) -> bool:
        await close_session(info.context.gm, in_session(info, student_id))
        return True

    @strawberry.mutation(description="Change the password; nothing has to be sealed again.")
    async def change_password(
        self,
        info: Info,
        student_id: StudentId,
        old: Annotated[str, argument("The password so far.")],
        new: Annotated[str, argument("The new password, 8 to 1000 characters.")],
        end_sessions: Annotated[bool | None, argument("End the student's sessions, but the one that is sent.")] = False,
    ) -> bool:
        who = of_student(info, student_id, Role.APP)
        own = running_session(info, student_id)
        await students.change_password(
            info.context.gm,
            who,
            old,
            new,
            caller=info.context.tried_by,
            end_sessions=bool(end_sessions),
            session=own,
        )
        return True

    @strawberry.mutation(
        description="Replace the student's key: all is sealed anew, sessions end. Values that were sealed, 0 or more."
    )
    async def rotate_key(
        self,
        info: Info,
        student_id: StudentId,
        password: Annotated[str, argument("The student's password; it stays.")],
        end_sessions: Annotated[
            bool | None, argument("End other sessions of the student, too; else they are in the way (CONFLICT).")
        ] = False,
    ) -> int:
        who = of_student(info, student_id, Role.APP)
        return await students.rotate_key(
            info.context.gm,
            who,
            password,
            caller=info.context.tried_by,
            end_sessions=bool(end_sessions),
            session=running_session(info, student_id),
        )

    @strawberry.mutation(
        description="Set a new password with the institution's recovery key, if it has chosen one; noted in recoveries."
    )
    async def recover_student(
        self,
        info: Info,
        student_id: StudentId,
        recovery_key: Annotated[str, argument("The secret recovery key, in base64; put together of its shares.")],
        password: Annotated[str, argument("The new password, 8 to 1000 characters.")],
    ) -> StudentType:
        who = of_student(info, student_id, Role.ADMIN)
        key = decoded_recovery_key(recovery_key)
        return StudentType.of(await recover_student(info.context.gm, who, key, password), locked=True)

    @strawberry.mutation(description="Revoke a service token, for good: within seconds no server accepts it any more.")
    async def revoke_token(
        self, info: Info, id: Annotated[ID, argument("Id of the service token.")]
    ) -> ServiceTokenType:
        caller = allowed(info, Role.ADMIN)
        return ServiceTokenType.of(await revoke_token(info.context.gm, caller.institution, id))

    @strawberry.mutation(description="Set name, persona and expertise of a student's companion.")
    async def set_companion(
        self,
        info: Info,
        student_id: StudentId,
        name: CompanionName = None,
        persona: Persona = None,
        expertise: Expertise = None,
    ) -> StudentType:
        session, gm = in_session(info, student_id), info.context.gm
        change = students.CompanionChange(name, persona, expertise)
        return StudentType.of(await students.set_companion(gm, session, change), locked=False)

    @strawberry.mutation(description="Set the companion that the institution's new students get.")
    async def set_default_companion(
        self, info: Info, name: CompanionName = None, persona: Persona = None, expertise: Expertise = None
    ) -> CompanionType:
        caller, gm = allowed(info, Role.ADMIN), info.context.gm
        change = students.CompanionChange(name, persona, expertise)
        return CompanionType.of(await students.set_default_companion(gm, caller.institution, change))

    @strawberry.mutation(description="Answer a message, learn from it and predict the next. Repeat with the same id.")
    async def handle_turn(
        self,
        info: Info,
        student_id: StudentId,
        turn_id: TurnId,
        text: Text,
        at: At = None,
        reply: Reply = None,
        task: TaskText = None,
        opener: Opener = None,
        used: Used = NONE_USED,
    ) -> TurnType:
        session, gm = in_session(info, student_id), info.context.gm
        incoming = Incoming(turn_id, text, at or gm.clock(), reply, task, opener, tuple(used or ()))
        return await _answered(gm, session, incoming)

    @strawberry.mutation(
        description="Note lessons, teachers' remarks, other speakers; also while locked. An app notes CHAT, LESSON and "
        "PROMPT_RUN, a teacher LESSON and TEACHER, an admin LESSON, TEACHER and SYSTEM."
    )
    async def observe(
        self,
        info: Info,
        student_id: StudentId,
        observations: Annotated[list[ObservationInput], argument("What was observed, at most 200 at once.")],
    ) -> list[SourceType]:
        who, gm = of_student(info, student_id, Role.APP, Role.TEACHER, Role.ADMIN), info.context.gm
        # Whoever is refused has written nothing.
        check_kinds(info, (each.kind for each in observations))
        session = maybe_in_session(info, student_id)
        check_observations(info, who, len(observations))
        noted = await observe(gm, who, [each.observation(gm.clock()) for each in observations])
        if session is not None:
            start_jobs(gm, session)
        start_notices(gm, who.institution)
        return [SourceType.of(source) for source in noted]

    @strawberry.mutation(
        description="Keep what must not be forgotten; an active equal entry stays as it is. A threat raises a concern."
    )
    async def add_ledger_entry(
        self, info: Info, student_id: StudentId, entry: Annotated[LedgerInput, argument("What is to be kept.")]
    ) -> LedgerEntryType:
        session, gm = in_session(info, student_id), info.context.gm
        added = await add_entry(gm, session, entry.draft())
        start_notices(gm, session.institution)
        return LedgerEntryType.of(added)

    @strawberry.mutation(description="Settle a promise or a debt.")
    async def settle_ledger_entry(
        self,
        info: Info,
        student_id: StudentId,
        id: Annotated[ID, argument("Id of the ledger entry.")],
        note: Annotated[str | None, argument("What is to be said of it.")] = None,
    ) -> LedgerEntryType:
        session, gm = in_session(info, student_id), info.context.gm
        return LedgerEntryType.of(await settle_entry(gm, session, id, note))

    @strawberry.mutation(
        description="Say that a concern was a false alarm: its flag is marked, its ledger entry no longer active, the "
        "surprise as it would have been, and the like of the message raises no concern again unless it is acute. "
        "Twice is as once."
    )
    async def correct_concern(
        self,
        info: Info,
        student_id: StudentId,
        id: Annotated[ID, argument("Id of the concern.")],
        note: Annotated[str | None, argument("Why, 1 to 2,000 characters.")] = None,
    ) -> bool:
        return await correct_concern(info.context.gm, in_session(info, student_id), id, note)

    @strawberry.mutation(
        description="Say that a surprise was important, or was not: its level, flashbulb and belief updates follow, "
        "and so do the thresholds of later surprises. Twice is as once; the other verdict may follow. This needs the "
        "student's session, so a teacher's verdict comes from the app."
    )
    async def correct_surprise(
        self,
        info: Info,
        student_id: StudentId,
        memory_id: Annotated[ID, argument("Id of a memory of the surprising message.")],
        verdict: Annotated[Verdict, argument("Whether it was important.")],
        note: Annotated[str | None, argument("What is to be said of it.")] = None,
    ) -> MemoryType:
        session, gm = await in_running_session(info, student_id), info.context.gm
        changed = await correct_surprise(gm, session, checked_id("memoryId", memory_id), verdict, note or "")
        return MemoryType.of(session, changed, gm.clock())

    @strawberry.mutation(
        description="Put what the student says in the place of a memory: the memory holds no longer, what is so is "
        "remembered. It can be undone as the resolution of the uncertainty that is kept of it. Twice is as once."
    )
    async def correct_memory(
        self,
        info: Info,
        student_id: StudentId,
        id: Annotated[ID, argument("Id of the memory that is wrong, or is no longer so.")],
        content: Annotated[str, argument("What is so, 1 to 2,000 characters.")],
    ) -> MemoryType:
        session, gm = await in_running_session(info, student_id), info.context.gm
        return MemoryType.of(session, await correct_memory(gm, session, id, content), gm.clock())

    @strawberry.mutation(
        description="Settle an uncertainty: the winner is relied on again, the loser holds no longer, or is uncertain "
        "where only confidence decides. What was said never yields to what was inferred, but by user_clarified and "
        "manual, which need winnerId. Twice is as once."
    )
    async def resolve_uncertainty(
        self,
        info: Info,
        student_id: StudentId,
        id: UncertaintyId,
        resolution: Annotated[Resolution, argument("How it is settled.")],
        winner_id: Annotated[ID | None, argument("Id of the memory that holds, where a person decides.")] = None,
        detail: Annotated[str | None, argument("What was said of it, 1 to 2,000 characters.")] = None,
    ) -> GraphUncertaintyType:
        session, gm = await in_running_session(info, student_id), info.context.gm
        by = Settling(resolution, winner_id, detail)
        return await _shown(gm, session, await resolve_uncertainty(gm, session, id, by))

    @strawberry.mutation(description="Undo a resolution: the uncertainty is open, its memories as they were before.")
    async def undo_resolution(self, info: Info, student_id: StudentId, id: UncertaintyId) -> GraphUncertaintyType:
        session, gm = await in_running_session(info, student_id), info.context.gm
        return await _shown(gm, session, await undo_resolution(gm, session, id))

    @strawberry.mutation(description="Ask, before an action, whether the memories it rests on can be relied on.")
    async def check_action(
        self,
        info: Info,
        student_id: StudentId,
        memory_ids: Annotated[list[ID], argument("Ids of the memories it rests on, 1 to 100.")],
        action: Annotated[str, argument("What is to be done, 1 to 2,000 characters; it is not kept.")],
        confidence: Annotated[float, argument("How sure whoever is to act is, 0 to 1.")],
    ) -> ActionCheckType:
        session, gm = await in_running_session(info, student_id), info.context.gm
        found = await check_action(gm, session, memory_ids, action, confidence)
        held = {memory.id: memory for memory in await find_memories(gm, session, found.unreliable)}
        return ActionCheckType(
            proceed=found.proceed,
            confidence=found.confidence,
            reliability_warning=found.warning,
            question=found.question,
            unreliable=[MemoryType.of(session, held[i], gm.clock()) for i in found.unreliable if i in held],
        )

    @strawberry.mutation(
        description="Take the student's answer to a question; it is remembered as said to the companion."
    )
    async def answer_question(
        self,
        info: Info,
        student_id: StudentId,
        id: Annotated[ID, argument("Id of the question.")],
        text: Annotated[str, argument("The answer, 1 to 32,000 characters.")],
    ) -> bool:
        session, gm = await in_running_session(info, student_id), info.context.gm
        answered = await answer_question(gm, session, checked_id("id", id), text)
        start_jobs(gm, session)
        return answered

    @strawberry.mutation(
        description="Run a drift cycle now: a few memories, recent and often used ones first, are compared with their "
        "nearest; the doubts it found, those that it settled by itself included. At the end of a session one runs by "
        "itself, at most every half hour."
    )
    async def reconcile(self, info: Info, student_id: StudentId) -> list[GraphUncertaintyType]:
        session, gm = await in_running_session(info, student_id), info.context.gm
        found = await reconcile(gm, session, by_hand=True)
        return await shown_uncertainties(gm, session, session, found)

    @strawberry.mutation(
        description="Make a student's memories fewer: what has faded and tells least is pruned, clusters of what "
        "belongs together become one summary each. Flashbulbs, what the ledger rests on, sides of open uncertainties "
        "and the running session are never touched. By itself this happens above MEMORIES_LIMIT."
    )
    async def compress(
        self,
        info: Info,
        student_id: StudentId,
        preview: Annotated[bool | None, argument("Only tell what would be done.")] = False,
        to: Annotated[int | None, argument("Memories to be left, 1 or more; null: 0.618 of MEMORIES_LIMIT.")] = None,
    ) -> CompressionType:
        session = await in_running_session(info, student_id)
        return CompressionType.of(await compress_within_budget(info.context.gm, session, to=to, preview=bool(preview)))

    @strawberry.mutation(
        description="Set what a student thinks of a known concept and how well it is known; null leaves what is there."
    )
    async def set_attitude(
        self,
        info: Info,
        student_id: StudentId,
        concept_id: Annotated[ID, argument("Id of a concept that the student knows.")],
        attitude: Annotated[float | None, argument("How the student feels about it, -1 to 1.")] = None,
        familiarity: Annotated[float | None, argument("How well the student knows it, 0 to 1.")] = None,
        notes: Annotated[str | None, argument("Notes, 1 to 2,000 characters; sealed.")] = None,
    ) -> KnownType:
        session, gm = await in_running_session(info, student_id), info.context.gm
        return KnownType.of(await set_attitude(gm, session, concept_id, attitude, familiarity, notes))

    @strawberry.mutation(description="Delete a ledger entry for good; false where there is none, so twice is as once.")
    async def delete_ledger_entry(
        self, info: Info, student_id: StudentId, id: Annotated[ID, argument("Id of the ledger entry.")]
    ) -> bool:
        return await delete_entry(info.context.gm, in_session(info, student_id), id)

    @strawberry.mutation(
        description="Forget a memory, what it fed and what tells the same, for good: facts, episodes, beliefs, "
        "summaries, ledger entries, uncertainties, questions, raw turns; what was deleted. It is not formed again of "
        "the same message."
    )
    async def forget(
        self, info: Info, student_id: StudentId, memory_id: Annotated[ID, argument("Id of the memory.")]
    ) -> ErasedType:
        return ErasedType.of(await forget_memory(info.context.gm, in_session(info, student_id), memory_id))

    @strawberry.mutation(description="Delete a fact for good; false where there is none, so twice is as once.")
    async def delete_fact(
        self, info: Info, student_id: StudentId, id: Annotated[ID, argument("Id of the fact.")]
    ) -> bool:
        return await delete_fact(info.context.gm, in_session(info, student_id), id)

    @strawberry.mutation(
        description="Delete what was observed, for good: its words, the memories that come from it alone with what "
        "they fed, its waiting job; what was deleted. The same observation sent again changes nothing."
    )
    async def delete_observation(
        self, info: Info, student_id: StudentId, id: Annotated[ID, argument("Id of its source, as observe gives it.")]
    ) -> ErasedType:
        return ErasedType.of(await delete_observation(info.context.gm, in_session(info, student_id), id))

    @strawberry.mutation(
        description="All that is kept of a student, readable, as one JSON document; waiting jobs are done before."
    )
    async def export_student(self, info: Info, student_id: StudentId) -> str:
        session, gm = await in_running_session(info, student_id), info.context.gm
        await run_jobs(gm, session)
        return await export_text(gm, session)

    @strawberry.mutation(
        description="Make an exported student anew, sealed with a new key that the new password opens: all of it or "
        "nothing. The document is checked first. The same document again changes nothing. For large ones: "
        "`graphmem import`."
    )
    async def import_student(
        self,
        info: Info,
        id: StudentId,
        password: Annotated[str, argument("The new student's password, 8 to 1000 characters.")],
        document: Annotated[str, argument("The document, as `exportStudent` gives it.")],
        skip_unknown: Annotated[
            bool | None, argument("Leave out concepts that the institution's world does not have.")
        ] = False,
    ) -> ImportedStudentType:
        who, gm = of_student(info, id, Role.ADMIN), info.context.gm
        done = await import_student(gm, who, password, document, skip_unknown=bool(skip_unknown))
        return ImportedStudentType.of(done)

    @strawberry.mutation(
        description="Add concepts and edges to the institution's world, or change those of the same ids. All is "
        "checked first; where anything is wrong every fault is named and nothing is imported. Safe to repeat."
    )
    async def import_world(
        self,
        info: Info,
        concepts: Annotated[list[ConceptInput], argument("Concepts.")],
        edges: Annotated[list[WorldEdgeInput], argument("Edges between these or known concepts, without a cycle.")],
        world: Annotated[str | None, argument("Name of the world that they belong to.")] = MAIN_WORLD,
        replace: Annotated[bool | None, argument("Whether what this world has beside them is removed.")] = False,
    ) -> ImportedType:
        caller, draft = allowed(info, Role.ADMIN), draft_of(concepts, edges)
        name = MAIN_WORLD if world is None else world
        gm = info.context.gm
        return ImportedType.of(await import_world(gm, caller.institution, draft, name=name, replace=bool(replace)))

    @strawberry.mutation(description="Put concepts, and edges between known ones, into what a student knows.")
    async def reveal(
        self,
        info: Info,
        student_id: StudentId,
        concept_ids: Annotated[list[ID], argument("Ids of concepts, at most 200.")],
        edge_ids: Annotated[list[ID] | None, argument("Ids of edges of the world, at most 200.")] = NONE_USED,
        through_grade: Annotated[int | None, argument("All of this and lower grades as well, 1 to 20.")] = None,
    ) -> OverlayPageType:
        session, gm = await in_running_session(info, student_id), info.context.gm
        return OverlayPageType.of(await reveal(gm, session, concept_ids, edge_ids or (), through_grade=through_grade))

    @strawberry.mutation(
        description="Erase a student: all that is kept, the key first; what was deleted. The app needs the student's "
        "session, an admin does not. What is cut short is finished by itself, or by asking again."
    )
    async def erase_student(self, info: Info, student_id: StudentId) -> ErasedType:
        who = of_student(info, student_id, Role.APP, Role.ADMIN)
        if info.context.caller.role is Role.APP:
            await in_running_session(info, student_id)
        return ErasedType.of(await erase_student(info.context.gm, who))

    @strawberry.mutation(
        description="Start a dead job again; it runs when the student's session does. An app needs that session."
    )
    async def retry_job(self, info: Info, id: Annotated[ID, argument("Id of the job, as it is listed.")]) -> JobType:
        institution, _ = await student_in_reach(info, student_of_job(id), Role.ADMIN)
        return JobType.of(await retry_job(info.context.gm, institution, id))


def _json(value: Any) -> JSON:
    """A value that is written as it is; the library's type is a name for any."""
    return cast(JSON, value)


async def _shown(gm: Graphmem, session: OpenSession, doubt: Uncertainty) -> GraphUncertaintyType:
    found = await shown_uncertainties(gm, session, session, [doubt])
    if not found:
        raise NotFound("The memory in doubt is gone.")
    return found[0]


@strawberry.type
class Subscription:
    """Subscriptions: streams of events."""

    @strawberry.subscription(description="The reply while it is written, then the turn.")
    async def turn_stream(
        self,
        info: Info,
        student_id: StudentId,
        turn_id: TurnId,
        text: Text,
        at: At = None,
        reply: Reply = None,
        task: TaskText = None,
        opener: Opener = None,
    ) -> AsyncIterator[TurnEventType]:
        session, gm = in_session(info, student_id), info.context.gm
        incoming = Incoming(turn_id, text, at or gm.clock(), reply, task, opener)
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        async def answered() -> TurnType:
            try:
                return await _answered(gm, session, incoming, pieces.put)
            finally:
                await pieces.put(None)

        # A listener that goes away must not end a turn half way: the turn is the process' own.
        handled = asyncio.create_task(answered())
        _keep(gm, handled)
        while (piece := await pieces.get()) is not None:
            yield TurnEventType(token=piece)
        yield TurnEventType(turn=await handled)

    @strawberry.subscription(
        description="What happens to a student's memories from now on, within EVENTS_SECONDS, until the session ends: "
        "then LOCKED."
    )
    async def memory_events(self, info: Info, student_id: StudentId) -> AsyncIterator[MemoryEventType]:
        session = in_session(info, student_id)
        async with aclosing(memory_events(info.context.gm, session)) as events:
            async for event in events:
                yield MemoryEventType.of(event)


def _keep(gm: Graphmem, task: asyncio.Task[Any]) -> None:
    """Hold a task until it ends, and take its error, which is lost where its listener has gone."""

    def ended(task: asyncio.Task[Any]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, GraphmemError):
            log_unexpected(error)

    gm.background.keep(task)
    task.add_done_callback(ended)


async def _answered(
    gm: Graphmem, session: OpenSession, incoming: Incoming, on_token: OnToken | None = None
) -> TurnType:
    """Handle a turn and count it; what follows from it is done after the reply."""
    caller = {"institution": session.institution, "student": session.student_id}
    gm.rates.check("turns", 1, monotonic(), **caller)
    gm.rates.check("tokens", 1, monotonic(), **caller)
    with log_ids(student=session.student_id, turn=incoming.turn_id), measured_turn():
        outcome = await handle_turn(gm, session, incoming, on_token=on_token)
    if not outcome.repeated:
        gm.rates.charge("tokens", outcome.usage.input_tokens + outcome.usage.output_tokens, monotonic(), **caller)
        count_turn(outcome.usage, degraded=outcome.degraded)
        if outcome.jobs:
            start_jobs(gm, session)
        if outcome.concern is not None:
            start_notices(gm, session.institution)
    return TurnType.of(session, outcome)


class Schema(strawberry.Schema):
    """The library's schema, where every error gets its code; its own log would quote what students wrote."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Called by the library with the errors of every operation, before they are sent."""
        for error in errors:
            code(error)

    async def execute(self, query: str | None, *args: Any, **kwargs: Any) -> ExecutionResult:
        """See the library's; it would let in subscriptions, which have no single result."""
        allowed_types = set(kwargs.get("allowed_operation_types") or OperationType)
        kwargs["allowed_operation_types"] = allowed_types - {OperationType.SUBSCRIPTION}
        context: RequestContext | None = kwargs.get("context_value")
        if context is not None:
            await context.look_up_caller()
        if refused := self._refused(kwargs):
            return refused
        try:
            with bookmarked("" if context is None else context.bookmark) as trail:
                result = await super().execute(query, *args, **kwargs)
                await self._veil(query, kwargs, result)
        except InvalidInput as error:
            result = ExecutionResult(data=None, errors=[GraphQLError(str(error), original_error=error)])
            self.process_errors(result.errors or [])
            return result
        if context is not None:
            context.wrote(trail.text)
        if context is not None and context.used_session is not None:
            await renew_if_due(context.gm, context.used_session)
        return result

    async def stream(self, query: str | None, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """See the library's."""
        context: RequestContext | None = kwargs.get("context_value")
        if context is not None:
            await context.look_up_caller()
        results = await super().stream(query, *args, **kwargs)

        async def veiled() -> AsyncGenerator[Any, None]:
            async with aclosing(results):
                async for result in results:
                    if isinstance(result, ExecutionResult):
                        await self._veil(query, kwargs, result)
                    yield result

        return veiled()

    def _refused(self, asked: Mapping[str, Any]) -> ExecutionResult | None:
        """The answer to a request of which there are too many."""
        context: RequestContext | None = asked.get("context_value")
        try:
            if context is not None:
                check_request(context)
        except GraphmemError as error:
            result = ExecutionResult(None, [GraphQLError(str(error), original_error=error)])
            self.process_errors(result.errors or [])
            return result
        return None

    async def _veil(self, query: str | None, asked: Mapping[str, Any], result: ExecutionResult) -> None:
        """Take out of a result what its student has not met; without a session nothing of a student is in it."""
        context: RequestContext | None = asked.get("context_value")
        session = None if context is None else context.used_session
        if context is None or session is None or not query:
            return
        try:
            operation = Executed(query, asked.get("operation_name"))
            await veil(context.gm, session, self._schema, operation, result)
        except GraphmemError as error:
            result.data, result.errors = None, [GraphQLError(str(error), original_error=error)]
            self.process_errors(result.errors)


def make_schema(settings: Settings) -> Schema:
    """The schema with the limits of the settings."""
    extensions = [
        QueryDepthLimiter(max_depth=settings.query_depth),
        MaxAliasesLimiter(max_alias_count=settings.query_aliases),
        MaxTokensLimiter(max_token_count=settings.query_tokens),
        CachedParsing(maxsize=500),
        LimitedValidation(settings.query_nodes, maxsize=500),
    ]
    for each in (Query, Mutation, Subscription, *_types()):
        each.__strawberry_definition__.description = plain_value(each)
    # Each operation gets copies: their caches and rules are shared, what they hold of the operation is not.
    return Schema(Query, Mutation, Subscription, extensions=[partial(copy, each) for each in extensions])


def _types() -> Iterator[Any]:
    """Every type and input of the schema."""
    for module in (types, memory_types, world_types, inputs):
        yield from (each for each in vars(module).values() if has_object_definition(each))
